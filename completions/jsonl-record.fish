complete -c jsonl-record -l child -d 'The part that CMD plays in the conversation; `replay --as` needs it' -r -f -a "agent\t'Reads observations, writes calls'
world\t'Reads calls, writes results and observations'"
complete -c jsonl-record -l sync -d 'When to sync the log to disk, against power loss: `each` time before data is passed on, within a duration such as 500ms, or `never`' -r
complete -c jsonl-record -l rotate -d 'Start a new file when FILE would exceed this size (K, M, G for powers of 1024); the full file becomes FILE.1' -r
complete -c jsonl-record -l keep -d 'The number of rotated files to keep' -r
complete -c jsonl-record -l where -d 'Record only messages for which this jq filter is true; everything is passed on. Its input is the message, with $dir' -r
complete -c jsonl-record -l redact -d 'Record the output of this jq filter for each message, such as del(.params.password); no output records nothing. The input of a text line (one that is not JSON) is a string' -r
complete -c jsonl-record -l redact-text -d 'Record the output of this jq filter for each text line: a string, or nothing. Its input is a string; `.` keeps all text lines' -r
complete -c jsonl-record -l redact-keys -d 'Replace the values of these keys anywhere in a message with "[redacted]". Any spelling matches: api_key also means apiKey and API-Key' -r
complete -c jsonl-record -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c jsonl-record -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c jsonl-record -l must-record -d 'Stop if something cannot be recorded, before it is passed on; by default the stream continues and lost messages are counted'
complete -c jsonl-record -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jsonl-record -s V -l version -d 'Print version'
