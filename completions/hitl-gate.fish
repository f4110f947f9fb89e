# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_hitl_gate_global_optspecs
    string join \n tty= color= ask= approver remember= notify= answers= timeout= hold= hold-limit= rules= agent= audit= refuse-as= events= records= max-line= max-depth= h/help V/version
end

function __fish_hitl_gate_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_hitl_gate_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_hitl_gate_using_subcommand
    set -l cmd (__fish_hitl_gate_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l tty -d 'The person\'s terminal [default: /dev/tty, where there is one]' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l color -d 'Colour on the person\'s terminal' -r -f -a "auto\t'On a terminal that can, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l ask -d 'Who is asked. `client` also has the MCP client ask its own user (elicitation), and believes what the client answers' -r -f -a "person\t'The person at the terminal or in `hitl-gate attach`, or a program on --answers'
client\t'The user of the MCP client as well, where the client supports that'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l remember -d 'Offer to write a rule that allows calls for the session to this rules file as well' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l notify -d 'Run this program when a call begins to wait, unless it still runs; it is split into words as by a shell, and has no input' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l answers -d 'Take answers from a FIFO as well; `stdin` lets the side that makes the calls answer' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l timeout -d 'Reject a call that nobody has answered for after this time; 0 is for ever' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l hold -d 'Which calls wait while a person is asked about one' -r -f -a "all\t'All that come behind it, so that calls pass in their order'
call\t'Only those that a person is to be asked about'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l hold-limit -d 'Answer a JSON-RPC call that has been held for so long: it is to be repeated, and the person\'s answer counts for the repetition. Most MCP clients give up after 60 s; 0 is for ever' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l rules -d 'Judge by the rules in this TOML file as well' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l agent -d 'The name of the agent that makes the calls, for rules with `agent`; what a call itself says of its agent does not count' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l audit -d 'Write every question and answer to this file before it takes effect, each line chained to the one before by its hash; `policy-check verify` reads it' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l refuse-as -d 'How a JSON-RPC call that does not pass is answered' -r -f -a "result\t'A result with `isError`, whose text a model reads'
error\t'A JSON-RPC error, which most clients raise as an exception'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l events -d 'Where records about calls are written: a file (appended to), `stderr`, or `-` for stdout [default: stdout in a pipe, none with CMD]' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l records -d 'Which records the gate itself writes to stdout in a pipe' -r -f -a "all\t'All records about calls'
errors\t'Answers to calls that do not pass, and notices that a call waits for a person'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l max-line -d 'Longest line that is looked into, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l max-depth -d 'Deepest nesting of arrays and objects that is looked into; a deeper line is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l approver -d 'Ask in `hitl-gate attach`, which runs in any other terminal of this user, and may be started later; no terminal is opened then but that of --tty'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -s V -l version -d 'Print version'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -a "attach" -d 'Answer, at this terminal, what all gates of this user that run with --approver ask'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -l tty -d 'The person\'s terminal [default: /dev/tty]' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -l color -d 'Colour on the person\'s terminal' -r -f -a "auto\t'On a terminal that can, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -l max-line -d 'Longest line that is looked into, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -l max-depth -d 'Deepest nesting of arrays and objects that is looked into; a deeper line is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand help; and not __fish_seen_subcommand_from attach help" -f -a "attach" -d 'Answer, at this terminal, what all gates of this user that run with --approver ask'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand help; and not __fish_seen_subcommand_from attach help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
