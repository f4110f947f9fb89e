complete -c replay -l speed -d 'Play N times as fast as recorded, or `max` for no pauses [default: 1; with --as, max]' -r
complete -c replay -l idle-limit -d 'The longest pause; longer pauses are shortened to it' -r
complete -c replay -l max-line -d 'Longest line that is read, in bytes (K, M, G for powers of 1024)' -r
complete -c replay -l max-depth -d 'Deepest nesting of arrays and objects that is read' -r
complete -c replay -l time -d 'Where lines of plain NDJSON have their time, as a path such as .event.at. A time is ISO 8601 text, or the seconds, milliseconds, microseconds or nanoseconds since 1970' -r
complete -c replay -l dir -d 'Play only messages of these directions, separated by commas' -r -f -a "in\t'Written to the stdin of the recorded command; in a pipe, read from stdin'
out\t'Read from the stdout of the recorded command'
err\t'Read from the stderr of the recorded command'"
complete -c replay -l from -d 'Begin here: a seq (120; a line number in plain NDJSON), a time since the first message (90s, 1.5m), or a date and time in ISO 8601' -r
complete -c replay -l to -d 'End after this place, given as for --from' -r
complete -c replay -l where -d 'Play only messages for which this jq filter is true; its input is the message, with $dir, $t and $seq' -r
complete -c replay -l break -d 'Stop before messages for which this jq filter is true, and ask at the terminal' -r
complete -c replay -l tty -d 'The terminal for --step and --break' -r -F
complete -c replay -l as -d 'The side to play' -r -f -a "agent\t'Reads observations, writes calls'
world\t'Reads calls, writes results and observations'"
complete -c replay -l child -d 'The part that the recorded child played, if the log does not record it' -r -f -a "agent\t'Reads observations, writes calls'
world\t'Reads calls, writes results and observations'"
complete -c replay -l session -d 'The session of the log to play, from 1; the last by default' -r
complete -c replay -l ignore -d 'Ignore differences at this path, such as .ts or .items[].id; may be repeated' -r
complete -c replay -l normalise -d 'Apply this jq filter to the lines of both sides before they are compared; a line without output is compared unchanged' -r
complete -c replay -l report -d 'Write the results as NDJSON: each difference, each turn (not with --any-order), and a summary' -r -F
complete -c replay -l timeout -d 'How long a turn waits for the recorded lines of the other side before it continues without them' -r
complete -c replay -l settle -d 'How long to wait for a later line that explains a difference (as an extra or missing line)' -r
complete -c replay -l step -d 'Ask at the terminal before every message: n for the next, r to continue without asking, q to quit'
complete -c replay -s f -l follow -d 'At the end of the files, wait for more messages'
complete -c replay -l any-order -d 'Answer each call or JSON-RPC request (MCP) by its content, not in the recorded order'
complete -c replay -l include-rejected -d 'With --as agent, also make the calls that a gate refused, that a person rejected or edited, or that were still waiting for a person at the end; by default they are left out, together with the records about them'
complete -c replay -s q -l quiet -d 'Do not show each difference, only their number'
complete -c replay -s h -l help -d 'Print help (see more with \'--help\')'
complete -c replay -s V -l version -d 'Print version'
