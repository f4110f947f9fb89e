complete -c jsonl-mask -l rules -d 'Also mask what the rules in this TOML file describe' -r -F
complete -c jsonl-mask -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c jsonl-mask -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c jsonl-mask -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jsonl-mask -s V -l version -d 'Print version'
