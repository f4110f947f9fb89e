complete -c valid-actions -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c valid-actions -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c valid-actions -l bare -d 'Print only {"action_ids":[...]} for each message; with --text, its text as one line'
complete -c valid-actions -l text -d 'Print each message as text for people: the state, and the legal actions with their ids (those in the message, if it has them)'
complete -c valid-actions -l strict -d 'Stop at the first line that cannot be read'
complete -c valid-actions -s h -l help -d 'Print help (see more with \'--help\')'
complete -c valid-actions -s V -l version -d 'Print version'
