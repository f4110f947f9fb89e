complete -c agent-chat -l log -d 'Append the reasoning that the model reports to this file, masked (see jsonl-mask(1)); `-` is stderr' -r -F
complete -c agent-chat -l color -d 'Colour on the terminal' -r -f -a "auto\t'On a terminal that supports it, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c agent-chat -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c agent-chat -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c agent-chat -l chat -d 'Start in chat mode'
complete -c agent-chat -s h -l help -d 'Print help (see more with \'--help\')'
complete -c agent-chat -s V -l version -d 'Print version'
