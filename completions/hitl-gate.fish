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

complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l tty -d 'The person\'s terminal [default: /dev/tty, if there is one]' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l color -d 'Colour on the person\'s terminal' -r -f -a "auto\t'On a terminal that supports it, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l ask -d 'Who is asked. `client` also lets the MCP client ask its own user (elicitation), and trusts the client\'s answer' -r -f -a "person\t'The person at the terminal or in `hitl-gate attach`, or a program on --answers'
client\t'The user of the MCP client as well, where the client supports that'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l remember -d 'If the person allows calls for the session, offer to write that rule to this rules file as well' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l notify -d 'Run this program when a call begins to wait for a person, unless it is still running; the text is split into words as by a shell, but no shell runs it; stdin is empty' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l answers -d 'Also read answers from this FIFO; `stdin` lets the caller itself answer' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l timeout -d 'Reject a call that nobody has answered within this time; 0 means no limit' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l hold -d 'Which calls are held while a person is asked about one' -r -f -a "all\t'All that follow it, so that calls pass in their order'
call\t'Only those that need a person\'s approval'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l hold-limit -d 'Answer a JSON-RPC call that has been held for this long: the client is asked to repeat it, and the person\'s answer counts for the repetition. Most MCP clients give up after 60 s; 0 means no limit' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l rules -d 'Also judge by the rules in this TOML file' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l agent -d 'The name of the agent that makes the calls, for rules with `agent`; an agent named in a call does not count' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l audit -d 'Write every question and answer to this file before it takes effect. Each line holds the hash of the line before; check the file with `policy-check verify`' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l refuse-as -d 'How a JSON-RPC call that does not pass is answered' -r -f -a "result\t'A result with `isError`, whose text a model reads'
error\t'A JSON-RPC error, which most clients raise as an exception'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l events -d 'Write records about calls to a file (appended to), `stderr`, or `-` for stdout [default: stdout in a pipe, none with CMD]' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l records -d 'Which of the gate\'s own records are written to stdout in a pipe' -r -f -a "all\t'All records about calls'
errors\t'Answers to calls that do not pass, and notices that a call waits for a person'"
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -l approver -d 'Ask in `hitl-gate attach`, which runs in any other terminal of this user and may be started later. The gate then opens no terminal of its own, unless --tty names one'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -s V -l version -d 'Print version'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -a "attach" -d 'Answer the questions of this user\'s gates that run with --approver, at this terminal'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -a "hook" -d 'Ask about the call that a harness\'s hook gets on stdin (Claude Code, Codex, ...), and answer the harness. Without an approver: no opinion'
complete -c hitl-gate -n "__fish_hitl_gate_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -l tty -d 'The person\'s terminal [default: /dev/tty]' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -l color -d 'Colour on the person\'s terminal' -r -f -a "auto\t'On a terminal that supports it, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l for -d 'The harness that runs the hook [default: recognised by its input]' -r -f -a "claude\t''
codex\t''
gemini\t''
qwen\t''
copilot\t''
opencode\t''
cline\t''
cursor\t''"
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l rules -d 'Also judge by the rules in this TOML file' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l agent -d 'The name of the agent that makes the calls, for rules with `agent`; an agent named in a call does not count' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l timeout -d 'Deny a call that nobody has answered within this time, which is less than the harness\'s own limit [default: 5 s less than the limit that the harness has without settings]' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l audit -d 'Write every question and answer to this file before it takes effect. Several hooks may share it' -r -F
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l notify -d 'Run this program when a call begins to wait for a person' -r
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -l required -d 'Deny a call that needs approval if no approver is connected, in place of leaving it to the harness'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand hook" -s h -l help -d 'Print help'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand help; and not __fish_seen_subcommand_from attach hook help" -f -a "attach" -d 'Answer the questions of this user\'s gates that run with --approver, at this terminal'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand help; and not __fish_seen_subcommand_from attach hook help" -f -a "hook" -d 'Ask about the call that a harness\'s hook gets on stdin (Claude Code, Codex, ...), and answer the harness. Without an approver: no opinion'
complete -c hitl-gate -n "__fish_hitl_gate_using_subcommand help; and not __fish_seen_subcommand_from attach hook help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
