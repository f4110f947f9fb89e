complete -c agent-serve -l replay -d 'Show a recorded session without an agent: a log of jsonl-record, or a file of records' -r
complete -c agent-serve -l listen -d 'Listen at this address; the Host header of requests must name it' -r
complete -c agent-serve -l public -d 'The origin that browsers use if a reverse proxy forwards requests, such as https://agents.example.org' -r
complete -c agent-serve -l token-file -d 'Read the token, which clients must send, from this file; by default, from the variable AGENT_SERVE_TOKEN. If neither is given, a new token is printed on stderr' -r -F
complete -c agent-serve -l max-sessions -d 'The highest number of open sessions' -r
complete -c agent-serve -l max-connections -d 'The highest number of open connections' -r
complete -c agent-serve -l idle-timeout -d 'Close a session after this time if no client shows it and its agent does nothing; 0 disables this' -r
complete -c agent-serve -l buffer -d 'Keep this many bytes of records per session, for clients that connect later or reconnect' -r
complete -c agent-serve -l slow -d 'What to do if a client is so slow that records it has not read are discarded (see --buffer)' -r -f -a "drop\t'Send a gap record in place of the missed records'
disconnect\t'Send a gap record, then disconnect the client'"
complete -c agent-serve -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c agent-serve -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c agent-serve -s h -l help -d 'Print help (see more with \'--help\')'
complete -c agent-serve -s V -l version -d 'Print version'
