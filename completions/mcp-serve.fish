complete -c mcp-serve -l tools -d 'The tools of a world that does not list them itself: a file with a tool_list record' -r -F
complete -c mcp-serve -l http -d 'Serve any number of clients over HTTP at this address (MCP\'s Streamable HTTP, at the path /mcp) instead of one on stdin and stdout; each has to know the token' -r
complete -c mcp-serve -l token-file -d 'The token: the content of this file, else of the variable MCP_SERVE_TOKEN, else a new one that is printed on stderr' -r -F
complete -c mcp-serve -l start-timeout -d 'How long the world may take to list its tools' -r
complete -c mcp-serve -l max-result -d 'Longest line of the world\'s that is read' -r
complete -c mcp-serve -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c mcp-serve -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c mcp-serve -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcp-serve -s V -l version -d 'Print version'
