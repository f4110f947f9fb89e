complete -c mcp-serve -l tools -d 'Take the tools from this file, a tool_list record, for a world that does not list them itself' -r -F
complete -c mcp-serve -l http -d 'Serve any number of clients over HTTP at this address (MCP\'s Streamable HTTP, at the path /mcp) instead of one on stdin and stdout; each request must carry the token' -r
complete -c mcp-serve -l token-file -d 'Read the token, which clients must send, from this file; by default, from the variable MCP_SERVE_TOKEN. If neither is given, a new token is printed on stderr' -r -F
complete -c mcp-serve -l start-timeout -d 'How long the world may take to list its tools; 0 means no limit' -r
complete -c mcp-serve -l max-result -d 'Longest line that is read from the world, in bytes (K, M, G for powers of 1024)' -r
complete -c mcp-serve -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c mcp-serve -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c mcp-serve -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcp-serve -s V -l version -d 'Print version'
