complete -c replay -l speed -d 'Times as fast as recorded, or `max` for no waiting; 1 by default, and max when a side is played' -r
complete -c replay -l idle-limit -d 'Shorten longer pauses to this' -r
complete -c replay -l max-line -d 'Longest line that is read, in bytes (K, M, G for powers of 1024)' -r
complete -c replay -l max-depth -d 'Deepest nesting of arrays and objects that is read' -r
complete -c replay -l time -d 'Where plain NDJSON has its time: a path such as .event.at, to an ISO 8601 text or a number since 1970' -r
complete -c replay -l dir -d 'Only messages of these directions of a log: in, out, err' -r -f -a "in\t'To the child; in a pipe, what came on stdin'
out\t'From the child\'s stdout'
err\t'From the child\'s stderr'"
complete -c replay -l from -d 'Begin here: a seq (120; in plain NDJSON a line), a time since the first message (90s, 1.5m), or a time of day in ISO 8601' -r
complete -c replay -l to -d 'End behind this' -r
complete -c replay -l where -d 'Only messages that this jq filter is true of; it sees the message as `.`, and $dir, $t and $seq' -r
complete -c replay -l break -d 'Stop before messages that this filter is true of, and ask at the terminal' -r
complete -c replay -l tty -d 'The terminal to ask at' -r -F
complete -c replay -l as -d 'The side to play' -r -f -a "agent\t'Takes observations, gives calls'
world\t'Takes calls, gives results and observations'"
complete -c replay -l child -d 'Which part the recorded child played, where the log doesn\'t say' -r -f -a "agent\t'Takes observations, gives calls'
world\t'Takes calls, gives results and observations'"
complete -c replay -l session -d 'Which session of the log, from 1; the last by default' -r
complete -c replay -l ignore -d 'Differences at this path don\'t count, such as .ts or .items[].id; may be given more than once' -r
complete -c replay -l normalise -d 'What both sides\' lines go through before they are compared; a line that it gives nothing for is compared as it is' -r
complete -c replay -l report -d 'Write what was found as NDJSON: each difference, each turn (not with --any-order), and the sum of all' -r -F
complete -c replay -l timeout -d 'How long a turn waits for what was recorded before it goes on without' -r
complete -c replay -l settle -d 'How long a line that differs waits for another that explains it' -r
complete -c replay -l step -d 'Ask at the terminal before every message: n next, r run on, q quit'
complete -c replay -s f -l follow -d 'Wait for more at the end of the files'
complete -c replay -l any-order -d 'Answer each call, or JSON-RPC request (MCP), by what it asks, not in the recorded order'
complete -c replay -l include-rejected -d 'With --as agent, also make the calls that a gate refused, that a person rejected or edited, or that still waited for a person at the end; otherwise they are left out, with what was said about them'
complete -c replay -s q -l quiet -d 'Don\'t show each difference, only how many there were'
complete -c replay -s h -l help -d 'Print help (see more with \'--help\')'
complete -c replay -s V -l version -d 'Print version'
