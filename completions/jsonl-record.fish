complete -c jsonl-record -l child -d 'Which part CMD plays; `replay` needs to know it to play a side' -r -f -a "agent\t'Takes observations, gives calls'
world\t'Takes calls, gives results and observations'"
complete -c jsonl-record -l sync -d 'When the log is forced to the disk, for power loss: `each` time before anything is passed on, within a duration such as 500ms, `never`' -r
complete -c jsonl-record -l rotate -d 'Begin a new file where this one would become longer (K, M, G for powers of 1024); the full one becomes FILE.1' -r
complete -c jsonl-record -l keep -d 'How many rotated files are kept' -r
complete -c jsonl-record -l where -d 'Write only messages that this jq filter is true of; everything is passed on. It sees the message as `.`, and $dir' -r
complete -c jsonl-record -l redact -d 'Write what this jq filter makes of each message, such as del(.params.password), and nothing where it makes nothing. It sees a text line (one that is no JSON) as a string' -r
complete -c jsonl-record -l redact-text -d 'Write what this jq filter makes of each text line, which it sees as a string: a string, or nothing; `.` keeps them all' -r
complete -c jsonl-record -l redact-keys -d 'Replace the values of these keys, wherever they stand in a message, by "[redacted]", in any spelling: api_key is apiKey and API-Key, too' -r
complete -c jsonl-record -l max-line -d 'Longest line that is looked into, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c jsonl-record -l max-depth -d 'Deepest nesting of arrays and objects that is looked into; a deeper line is reported and not acted on' -r
complete -c jsonl-record -l must-record -d 'Stop where something can\'t be recorded, before it is passed on; else the stream goes on and the loss is counted'
complete -c jsonl-record -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jsonl-record -s V -l version -d 'Print version'
