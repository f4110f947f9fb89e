# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_jsonl_log_global_optspecs
    string join \n max-line= max-depth= time= h/help V/version
end

function __fish_jsonl_log_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_jsonl_log_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_jsonl_log_using_subcommand
    set -l cmd (__fish_jsonl_log_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -l max-line -d 'Longest line that is read, in bytes (K, M, G for powers of 1024)' -r
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -l max-depth -d 'Deepest nesting of arrays and objects that is read' -r
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -l time -d 'Where lines of plain NDJSON have their time, as a path such as .event.at. A time is ISO 8601 text, or the seconds, milliseconds, microseconds or nanoseconds since 1970' -r
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -s V -l version -d 'Print version'
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -f -a "check" -d 'Count records, sessions, gaps, torn lines and lost messages, as one JSON object'
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -f -a "recover" -d 'Write every readable record, byte for byte'
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -f -a "csv" -d 'Write one CSV row per message, with the given columns'
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -f -a "summary" -d 'Print counts, sizes and answer times, by direction and type, and by turn'
complete -c jsonl-log -n "__fish_jsonl_log_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand check" -l max-line -d 'Longest line that is read, in bytes (K, M, G for powers of 1024)' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand check" -l max-depth -d 'Deepest nesting of arrays and objects that is read' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand check" -l time -d 'Where lines of plain NDJSON have their time, as a path such as .event.at. A time is ISO 8601 text, or the seconds, milliseconds, microseconds or nanoseconds since 1970' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand check" -s h -l help -d 'Print help'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand recover" -l max-line -d 'Longest line that is read, in bytes (K, M, G for powers of 1024)' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand recover" -l max-depth -d 'Deepest nesting of arrays and objects that is read' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand recover" -l time -d 'Where lines of plain NDJSON have their time, as a path such as .event.at. A time is ISO 8601 text, or the seconds, milliseconds, microseconds or nanoseconds since 1970' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand recover" -s h -l help -d 'Print help'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand csv" -l where -d 'Write only messages for which this jq filter is true; its input is the message, with $dir, $t and $seq' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand csv" -l max-line -d 'Longest line that is read, in bytes (K, M, G for powers of 1024)' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand csv" -l max-depth -d 'Deepest nesting of arrays and objects that is read' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand csv" -l time -d 'Where lines of plain NDJSON have their time, as a path such as .event.at. A time is ISO 8601 text, or the seconds, milliseconds, microseconds or nanoseconds since 1970' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand csv" -s h -l help -d 'Print help'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand summary" -l format -d 'The output format' -r -f -a "table\t'For people'
csv\t'For spreadsheets'
json\t'For programs: one JSON object per row'"
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand summary" -l max-line -d 'Longest line that is read, in bytes (K, M, G for powers of 1024)' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand summary" -l max-depth -d 'Deepest nesting of arrays and objects that is read' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand summary" -l time -d 'Where lines of plain NDJSON have their time, as a path such as .event.at. A time is ISO 8601 text, or the seconds, milliseconds, microseconds or nanoseconds since 1970' -r
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand summary" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand help; and not __fish_seen_subcommand_from check recover csv summary help" -f -a "check" -d 'Count records, sessions, gaps, torn lines and lost messages, as one JSON object'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand help; and not __fish_seen_subcommand_from check recover csv summary help" -f -a "recover" -d 'Write every readable record, byte for byte'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand help; and not __fish_seen_subcommand_from check recover csv summary help" -f -a "csv" -d 'Write one CSV row per message, with the given columns'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand help; and not __fish_seen_subcommand_from check recover csv summary help" -f -a "summary" -d 'Print counts, sizes and answer times, by direction and type, and by turn'
complete -c jsonl-log -n "__fish_jsonl_log_using_subcommand help; and not __fish_seen_subcommand_from check recover csv summary help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
