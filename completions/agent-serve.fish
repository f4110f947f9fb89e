complete -c agent-serve -l replay -d 'Show the session that this log of jsonl-record\'s, or file of records, has, without an agent' -r
complete -c agent-serve -l listen -d 'Listen at this address; clients have to name it' -r
complete -c agent-serve -l public -d 'The origin at which a reverse proxy serves it, such as https://agents.example.org' -r
complete -c agent-serve -l token-file -d 'The token: the content of this file, else of the variable AGENT_SERVE_TOKEN, else a new one, which is printed on stderr' -r -F
complete -c agent-serve -l max-sessions -d 'So many sessions are open at once' -r
complete -c agent-serve -l max-connections -d 'So many connections are open at once' -r
complete -c agent-serve -l idle-timeout -d 'Close a session that no client shows and whose agent does nothing after this time; 0 never does' -r
complete -c agent-serve -l buffer -d 'So many bytes of records are kept of each session, for clients that connect later or again' -r
complete -c agent-serve -l slow -d 'What becomes of a client that reads too slowly, once what it has not read is not kept any more' -r -f -a "drop\t'A gap record stands for what it misses'
disconnect\t'The same, and it is disconnected'"
complete -c agent-serve -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c agent-serve -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c agent-serve -s h -l help -d 'Print help (see more with \'--help\')'
complete -c agent-serve -s V -l version -d 'Print version'
