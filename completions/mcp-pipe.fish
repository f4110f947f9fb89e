complete -c mcp-pipe -l url -d 'Connect to a server over HTTP (MCP\'s Streamable HTTP) instead of starting one' -r
complete -c mcp-pipe -l config -d 'Use the server NAME from this mcpServers file (the configuration of an MCP client). Without a name, use all of its servers in one session; their tools are then named SERVER__TOOL. ${VAR} is replaced from the environment' -r
complete -c mcp-pipe -s j -l jobs -d 'How many calls to a server may be in progress at the same time' -r
complete -c mcp-pipe -l allow -d 'Use only tools whose names match; `*` and `?` are wildcards; may be repeated' -r
complete -c mcp-pipe -l deny -d 'Do not use tools whose names match; may be repeated' -r
complete -c mcp-pipe -l status-from -d 'For a server whose tools report errors in their content: a jq filter that is applied to each result and outputs "error", {"status":"error","error","data"} or {"status":"ok","data"}; any other output leaves the result unchanged' -r
complete -c mcp-pipe -l setup -d 'Make the calls in this file first, whenever the server is started' -r -F
complete -c mcp-pipe -l timeout -d 'Time limit of a call, which is then cancelled; 0 means no limit' -r
complete -c mcp-pipe -l start-timeout -d 'How long the server may take for the handshake and for listing its tools; 0 means no limit' -r
complete -c mcp-pipe -l deadline -d 'Overall time limit; unanswered calls fail with `timeout` (exit status 124)' -r
complete -c mcp-pipe -l answer-timeout -d 'How long an answer to a question (--interactive) may take; the question is then cancelled; 0 means no limit' -r
complete -c mcp-pipe -l probe -d 'Ping a server that has been idle for this time. If it answers neither the ping nor a request for its tools, each within this time, it is restarted' -r
complete -c mcp-pipe -l restart-after-timeouts -d 'After a call that timed out, ping the server before the next call. Restart it when this many requests in a row (the call and the pings) got no answer; 0 disables this' -r
complete -c mcp-pipe -l restart -d 'How many times a lost server is restarted; a minute without a loss resets the count' -r
complete -c mcp-pipe -l protocol -d 'Use only this version of the protocol: 2025-11-25 or 2026-07-28' -r
complete -c mcp-pipe -l env -d 'Set an environment variable for the server; without =VALUE, copy it from mcp-pipe\'s environment; may be repeated' -r
complete -c mcp-pipe -l header -d 'Send this header (\'Name: value\') with every request to --url; ${VAR} is replaced from the environment; may be repeated' -r
complete -c mcp-pipe -l events -d 'Also write the server\'s other messages (progress, logs, stderr, noise, restarts) as observations: to a file (appended to), `stderr`, or `-` for stdout, between the results' -r
complete -c mcp-pipe -l save-media -d 'Save images, sounds and blobs (other binary content) of results in this folder; the results have the paths instead' -r -F
complete -c mcp-pipe -l max-result -d 'Longest line that is read from the server, in bytes (K, M, G for powers of 1024)' -r
complete -c mcp-pipe -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c mcp-pipe -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c mcp-pipe -l list -d 'Print the server\'s tools with their schemas, one per line, and exit'
complete -c mcp-pipe -l list-resources -d 'Print the server\'s resources and resource templates, one per line, and exit; {"tool":"resources/read","args":{"uri":...}} reads one'
complete -c mcp-pipe -l unordered -d 'Print each result when it arrives, not in the order of the calls'
complete -c mcp-pipe -l no-check -d 'Send calls unchecked. By default, calls of unlisted tools and arguments that do not match the tool\'s schema are refused'
complete -c mcp-pipe -l interactive -d 'Let the server ask questions during a call: each is printed as {"type":"input_request","request_id",...}, and answered on stdin by {"type":"input_response","request_id","action":"accept|decline|cancel","content"?}'
complete -c mcp-pipe -l clean-env -d 'Start the server with a minimal environment: PATH, HOME and the like, and the variables of --env'
complete -c mcp-pipe -s v -l verbose -d 'Copy the server\'s stderr to stderr'
complete -c mcp-pipe -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcp-pipe -s V -l version -d 'Print version'
