complete -c mcp-pipe -l url -d 'Reach a server over HTTP (MCP\'s Streamable HTTP) instead of starting one' -r
complete -c mcp-pipe -l config -d 'Take the server of this name from an mcpServers file; without a name, all of its servers in one session, their tools called SERVER__TOOL. ${VAR} is replaced from the environment' -r
complete -c mcp-pipe -s j -l jobs -d 'How many calls a server works on at once' -r
complete -c mcp-pipe -l allow -d 'Only tools whose names match; `*` stands for any text; may be given more than once' -r
complete -c mcp-pipe -l deny -d 'No tools whose names match' -r
complete -c mcp-pipe -l status-from -d 'For a server whose tools report errors in their content: a jq filter that sees each result and gives "error", {"status":"error","error","data"} or {"status":"ok","data"}; with anything else the result stays as it is' -r
complete -c mcp-pipe -l setup -d 'Make the calls in this file first, each time the server is started' -r -F
complete -c mcp-pipe -l timeout -d 'How long a call may take; then it is cancelled; 0 is for ever' -r
complete -c mcp-pipe -l start-timeout -d 'How long the server may take to greet and to list its tools' -r
complete -c mcp-pipe -l deadline -d 'How long all may take; what isn\'t answered then is answered as late, and the status is 124' -r
complete -c mcp-pipe -l answer-timeout -d 'How long whoever is asked may take; then the question is cancelled; 0 is for ever' -r
complete -c mcp-pipe -l probe -d 'Ask a server that has had nothing to do for so long whether it is there; one that answers neither that nor for its tools, each within that time, is started again' -r
complete -c mcp-pipe -l restart-after-timeouts -d 'After a call that timed out, ping the server before the next one; start it again when so many requests in a row (the call and the pings) got no answer; 0 is never' -r
complete -c mcp-pipe -l restart -d 'How often a server that is lost is started again; earned back by a minute without a loss' -r
complete -c mcp-pipe -l protocol -d 'Speak this version of the protocol only: 2025-11-25 or 2026-07-28' -r
complete -c mcp-pipe -l env -d 'Set a variable for the server; without =VALUE, it is ours' -r
complete -c mcp-pipe -l header -d 'Send this header (\'Name: value\') with every request to --url; ${VAR} is replaced from the environment; may be given more than once' -r
complete -c mcp-pipe -l events -d 'Give what the server tells besides (progress, logs, stderr, noise, restarts) as observations: to a file (appended), `stderr`, or `-` for stdout, between the results' -r
complete -c mcp-pipe -l save-media -d 'Write images, sounds and blobs of results to files in this folder, and give their paths instead' -r -F
complete -c mcp-pipe -l max-result -d 'Longest line of the server\'s that is read' -r
complete -c mcp-pipe -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c mcp-pipe -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c mcp-pipe -l list -d 'Print the server\'s tools, one a line, with their schemas, and end'
complete -c mcp-pipe -l list-resources -d 'Print the server\'s resources and resource templates, one a line, and end; {"tool":"resources/read","args":{"uri":...}} reads one'
complete -c mcp-pipe -l unordered -d 'Give each result as soon as it is there, not in the order of the calls'
complete -c mcp-pipe -l no-check -d 'Send arguments unchecked, and tools that the server doesn\'t list; else both are held against its list first'
complete -c mcp-pipe -l interactive -d 'Let the server ask while it works: each question leaves as {"type":"input_request","request_id",...}, and is answered on stdin by {"type":"input_response","request_id","action":"accept|decline|cancel","content"?}'
complete -c mcp-pipe -l clean-env -d 'Start the server with no variables but PATH, HOME and their like, and those of --env'
complete -c mcp-pipe -s v -l verbose -d 'Show what the server says on stderr'
complete -c mcp-pipe -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mcp-pipe -s V -l version -d 'Print version'
