complete -c replay -l speed -d 'Play N times as fast as recorded, or `max` for no pauses; 1 by default, `max` when a side is played' -r
complete -c replay -l idle-limit -d 'Shorten longer pauses to this length' -r
complete -c replay -l max-line -d 'Longest line that is read, in bytes (K, M, G for powers of 1024)' -r
complete -c replay -l max-depth -d 'Deepest nesting of arrays and objects that is read' -r
complete -c replay -l time -d 'Path of the time in plain NDJSON, such as .event.at: an ISO 8601 text, or a number counted from 1970' -r
complete -c replay -l dir -d 'Only messages of these directions of a log: in, out, err' -r -f -a "in\t'To the child; in a pipe, what came on stdin'
out\t'From the child\'s stdout'
err\t'From the child\'s stderr'"
complete -c replay -l from -d 'Begin here: a seq (120; a line number in plain NDJSON), a time since the first message (90s, 1.5m), or a date and time in ISO 8601' -r
complete -c replay -l to -d 'End after this place, given as for --from' -r
complete -c replay -l where -d 'Only messages for which this jq filter is true; its input is the message, with $dir, $t and $seq' -r
complete -c replay -l break -d 'Stop before messages for which this filter is true, and ask at the terminal' -r
complete -c replay -l tty -d 'The terminal for --step and --break' -r -F
complete -c replay -l as -d 'The side to play' -r -f -a "agent\t'Takes observations, gives calls'
world\t'Takes calls, gives results and observations'"
complete -c replay -l child -d 'The part that the recorded child played, if the log does not record it' -r -f -a "agent\t'Takes observations, gives calls'
world\t'Takes calls, gives results and observations'"
complete -c replay -l session -d 'The session of the log to play, from 1; the last by default' -r
complete -c replay -l ignore -d 'Ignore differences at this path, such as .ts or .items[].id; may be given more than once' -r
complete -c replay -l normalise -d 'Apply this filter to the lines of both sides before they are compared; a line without output is compared unchanged' -r
complete -c replay -l report -d 'Write the results as NDJSON: each difference, each turn (not with --any-order), and a summary' -r -F
complete -c replay -l timeout -d 'How long a turn waits for recorded lines before it continues without them' -r
complete -c replay -l settle -d 'How long to wait for a later line that explains a difference (as an extra or missing line)' -r
complete -c replay -l step -d 'Ask at the terminal before every message: n for the next, r to run on, q to quit'
complete -c replay -s f -l follow -d 'At the end of the files, wait for more messages'
complete -c replay -l any-order -d 'Answer each call or JSON-RPC request (MCP) by its content, not in the recorded order'
complete -c replay -l include-rejected -d 'With --as agent, also make the calls that a gate refused, that a person rejected or edited, or that were still waiting for a person at the end; by default they are left out, together with the records about them'
complete -c replay -s q -l quiet -d 'Do not show each difference, only their number'
complete -c replay -s h -l help -d 'Print help (see more with \'--help\')'
complete -c replay -s V -l version -d 'Print version'
