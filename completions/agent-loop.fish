# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_agent_loop_global_optspecs
    string join \n goal= m/model= base-url= set= busy-timeout= llm= compact-at= profile= allow= deny= start-timeout= max-steps= turn-steps= deadline= max-tokens= max-cost= max-repeats= max-unchanged= max-result= max-line= max-depth= session= steps= log= session-id= agent-id= role= chain-id= h/help V/version
end

function __fish_agent_loop_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_agent_loop_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_agent_loop_using_subcommand
    set -l cmd (__fish_agent_loop_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c agent-loop -n "__fish_agent_loop_needs_command" -l goal -d 'The goal: what the agent is to do' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -s m -l model -d 'Use this model: short for --llm \'llm-pipe --model PROVIDER/NAME\'' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l base-url -d 'The address of the model\'s server, as for llm-pipe' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l set -d 'A setting of every request, as for llm-pipe: temperature=0.2; may be repeated' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l busy-timeout -d 'How long to wait for a server that is overloaded, limits the rate or loads its model, as for llm-pipe' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l llm -d 'The command that answers model_request records; the text is split into words as by a shell, but no shell runs it' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l compact-at -d 'After a request of more than N tokens, start a new conversation with a summary of the old one. This also happens when the model refuses a request as too long' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l profile -d 'How the world is observed and used: browser, playwright, godot or mcp, or a file of your own (`agent-loop profile NAME` prints a built-in one)' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l allow -d 'Offer the model only tools whose names match; `*` and `?` are wildcards; may be repeated' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l deny -d 'Do not offer the model tools whose names match; may be repeated' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l start-timeout -d 'How long the world may take to list its tools; 0 means no limit' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l max-steps -d 'The highest number of model turns for the goal; without --goal, for each message' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l turn-steps -d 'The highest number of calls that the model may choose for each message; it then sums up, and the person is asked whether to continue [default without --goal: 10]' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l deadline -d 'Time limit of the goal; without --goal, of each message (exit status 124). Time spent waiting for a person does not count' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l max-tokens -d 'The highest number of input and output tokens in total' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l max-cost -d 'The highest cost in US dollars in total; llm-pipe takes prices from models.toml (see llm-pipe(1))' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l max-repeats -d 'After N equal calls with equal outcomes in a row (or two that alternate), tell the model; the second time, end the run. 0 means never' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l max-unchanged -d 'The same after N actions in a row that change nothing visible; a result that differs from the last one counts as a change. 0 means never' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l max-result -d 'Longest line that is read from the world or the model command, in bytes (K, M, G for powers of 1024); pictures are in files and do not count' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l session -d 'Keep the session in this file, so that it can be continued, even after a crash; pictures are kept in the folder FILE.images' -r -F
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l steps -d 'Append an event for each step to this file (`-` is stderr): the call, its outcome, and the world\'s location (such as the URL); masked, without the content of pages. At 10 MiB the file is renamed; four older ones are kept' -r -F
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l log -d 'Append the reasoning that the model reports to this file, masked (see jsonl-mask(1)); `-` is stderr' -r -F
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l session-id -d 'The session\'s id. Every record has it, and the values of --agent-id, --role and --chain-id' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l agent-id -d 'The agent\'s name in a chain of agents' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l role -d 'The agent\'s role in the chain' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -l chain-id -d 'The chain\'s id' -r
complete -c agent-loop -n "__fish_agent_loop_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c agent-loop -n "__fish_agent_loop_needs_command" -s V -l version -d 'Print version'
complete -c agent-loop -n "__fish_agent_loop_needs_command" -a "profile" -d 'Print a built-in profile, as a starting point for your own'
complete -c agent-loop -n "__fish_agent_loop_needs_command" -a "show" -d 'Print the events of a session, step by step'
complete -c agent-loop -n "__fish_agent_loop_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c agent-loop -n "__fish_agent_loop_using_subcommand profile" -s h -l help -d 'Print help'
complete -c agent-loop -n "__fish_agent_loop_using_subcommand show" -s h -l help -d 'Print help'
complete -c agent-loop -n "__fish_agent_loop_using_subcommand help; and not __fish_seen_subcommand_from profile show help" -f -a "profile" -d 'Print a built-in profile, as a starting point for your own'
complete -c agent-loop -n "__fish_agent_loop_using_subcommand help; and not __fish_seen_subcommand_from profile show help" -f -a "show" -d 'Print the events of a session, step by step'
complete -c agent-loop -n "__fish_agent_loop_using_subcommand help; and not __fish_seen_subcommand_from profile show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
