# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_policy_check_global_optspecs
    string join \n rules= agent= confirm= mode= trust-hints explain audit= refuse-as= events= records= max-line= max-depth= h/help V/version
end

function __fish_policy_check_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_policy_check_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_policy_check_using_subcommand
    set -l cmd (__fish_policy_check_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c policy-check -n "__fish_policy_check_needs_command" -l rules -d 'Also judge by the rules in this TOML file' -r -F
complete -c policy-check -n "__fish_policy_check_needs_command" -l agent -d 'The name of the agent that makes the calls, for rules with `agent`; an agent named in a call does not count' -r
complete -c policy-check -n "__fish_policy_check_needs_command" -l confirm -d 'What to do with a call that needs a person\'s approval: mark it for the hitl-gate that follows, or refuse it. By default a JSON-RPC call is refused, since a server that does not know about marks would carry it out' -r -f -a "mark\t'Mark it, for a hitl-gate that follows or a world that refuses marked calls'
refuse\t'Answer it with an error'"
complete -c policy-check -n "__fish_policy_check_needs_command" -l mode -d 'Whether verdicts take effect. `observe` prints a summary of each tool\'s calls and verdicts on stderr at the end' -r -f -a "enforce\t'Calls are marked or refused as judged'
observe\t'Every line passes unchanged, and verdicts are counted'"
complete -c policy-check -n "__fish_policy_check_needs_command" -l audit -d 'Write every verdict to this file before it takes effect. Each line holds the hash of the line before; check the file with `policy-check verify`' -r -F
complete -c policy-check -n "__fish_policy_check_needs_command" -l refuse-as -d 'How a JSON-RPC call that does not pass is answered' -r -f -a "result\t'A result with `isError`, whose text a model reads'
error\t'A JSON-RPC error, which most clients raise as an exception'"
complete -c policy-check -n "__fish_policy_check_needs_command" -l events -d 'Write records about calls to a file (appended to), `stderr`, or `-` for stdout [default: stdout in a pipe, none with CMD]' -r
complete -c policy-check -n "__fish_policy_check_needs_command" -l records -d 'Which of the gate\'s own records are written to stdout in a pipe' -r -f -a "all\t'All records about calls'
errors\t'Answers to calls that do not pass, and notices that a call waits for a person'"
complete -c policy-check -n "__fish_policy_check_needs_command" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c policy-check -n "__fish_policy_check_needs_command" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c policy-check -n "__fish_policy_check_needs_command" -l trust-hints -d 'Trust the wrapped server: do not ask about a tool that it annotates with "readOnlyHint": true, unless the tool\'s name contains a word for deleting, sending, paying or the like. Also do not ask about a tool without annotations whose name has no verb'
complete -c policy-check -n "__fish_policy_check_needs_command" -l explain -d 'Print each verdict, with its reason, on stderr'
complete -c policy-check -n "__fish_policy_check_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c policy-check -n "__fish_policy_check_needs_command" -s V -l version -d 'Print version'
complete -c policy-check -n "__fish_policy_check_needs_command" -a "classify" -d 'Classify elements of a page ({"role"?,"name","value"?,"locale"?,"context"?}, one per line): whether activating them is destructive, of what kind, and why'
complete -c policy-check -n "__fish_policy_check_needs_command" -a "hook" -d 'Judge the call that a harness\'s hook gets on stdin (Claude Code, Codex, Gemini CLI, ...): ask, deny, or leave it to the harness'
complete -c policy-check -n "__fish_policy_check_needs_command" -a "hooks" -d 'Settings with which harnesses run the hook'
complete -c policy-check -n "__fish_policy_check_needs_command" -a "doctor" -d 'Show which harnesses run the hook, and try it with a harmless and a dangerous call as each harness would'
complete -c policy-check -n "__fish_policy_check_needs_command" -a "verify" -d 'Check that audit files are unchanged, and that no call passed without its approval'
complete -c policy-check -n "__fish_policy_check_needs_command" -a "tools" -d 'Print how each tool of a server, or of a list, is judged, and why'
complete -c policy-check -n "__fish_policy_check_needs_command" -a "test" -d 'Try rules on cases ({"call","verdict","rule"?}, one per line), and count the cases that match each rule'
complete -c policy-check -n "__fish_policy_check_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c policy-check -n "__fish_policy_check_using_subcommand classify" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c policy-check -n "__fish_policy_check_using_subcommand classify" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c policy-check -n "__fish_policy_check_using_subcommand classify" -s h -l help -d 'Print help'
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l for -d 'The harness that runs the hook [default: recognised by its input]' -r -f -a "claude\t''
codex\t''
gemini\t''
qwen\t''
copilot\t''
opencode\t''
cline\t''
cursor\t''"
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l rules -d 'Also judge by the rules in this TOML file' -r -F
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l agent -d 'The name of the agent that makes the calls, for rules with `agent`; an agent named in a call does not count' -r
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l audit -d 'Write every verdict to this file before it takes effect, as the gate in a pipe does. Several hooks may share it' -r -F
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l events -d 'Write a record about each call that needs approval to a file (appended to) or `stderr`; `-` is refused, since stdout has the answer' -r
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l allow-reads -d 'Allow calls that only read, in place of leaving them to the harness\'s own settings; never files that hold secrets, and never what contacts another machine'
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -l unattended -d 'Nobody is there to be asked (a run without a terminal, CI): deny calls that would be asked about'
complete -c policy-check -n "__fish_policy_check_using_subcommand hook" -s h -l help -d 'Print help'
complete -c policy-check -n "__fish_policy_check_using_subcommand hooks; and not __fish_seen_subcommand_from install help" -s h -l help -d 'Print help'
complete -c policy-check -n "__fish_policy_check_using_subcommand hooks; and not __fish_seen_subcommand_from install help" -f -a "install" -d 'Print the settings of a harness that runs the hook, or write them'
complete -c policy-check -n "__fish_policy_check_using_subcommand hooks; and not __fish_seen_subcommand_from install help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c policy-check -n "__fish_policy_check_using_subcommand hooks; and __fish_seen_subcommand_from install" -l project -d 'Use the file of this project\'s folder, and not the user\'s' -r -F
complete -c policy-check -n "__fish_policy_check_using_subcommand hooks; and __fish_seen_subcommand_from install" -l write -d 'Merge the settings into the file, and keep a copy of the former file beside it'
complete -c policy-check -n "__fish_policy_check_using_subcommand hooks; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help'
complete -c policy-check -n "__fish_policy_check_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "install" -d 'Print the settings of a harness that runs the hook, or write them'
complete -c policy-check -n "__fish_policy_check_using_subcommand hooks; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c policy-check -n "__fish_policy_check_using_subcommand doctor" -l project -d 'The folder of the project whose settings are read besides the user\'s' -r -F
complete -c policy-check -n "__fish_policy_check_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c policy-check -n "__fish_policy_check_using_subcommand verify" -s h -l help -d 'Print help'
complete -c policy-check -n "__fish_policy_check_using_subcommand tools" -l trust-hints -d 'Trust "readOnlyHint": true, as the gate does with this option'
complete -c policy-check -n "__fish_policy_check_using_subcommand tools" -l starter-rules -d 'Print a rules file instead: a rule for each tool whose name requires approval, for you to edit'
complete -c policy-check -n "__fish_policy_check_using_subcommand tools" -s h -l help -d 'Print help'
complete -c policy-check -n "__fish_policy_check_using_subcommand test" -s h -l help -d 'Print help'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and not __fish_seen_subcommand_from classify hook hooks doctor verify tools test help" -f -a "classify" -d 'Classify elements of a page ({"role"?,"name","value"?,"locale"?,"context"?}, one per line): whether activating them is destructive, of what kind, and why'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and not __fish_seen_subcommand_from classify hook hooks doctor verify tools test help" -f -a "hook" -d 'Judge the call that a harness\'s hook gets on stdin (Claude Code, Codex, Gemini CLI, ...): ask, deny, or leave it to the harness'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and not __fish_seen_subcommand_from classify hook hooks doctor verify tools test help" -f -a "hooks" -d 'Settings with which harnesses run the hook'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and not __fish_seen_subcommand_from classify hook hooks doctor verify tools test help" -f -a "doctor" -d 'Show which harnesses run the hook, and try it with a harmless and a dangerous call as each harness would'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and not __fish_seen_subcommand_from classify hook hooks doctor verify tools test help" -f -a "verify" -d 'Check that audit files are unchanged, and that no call passed without its approval'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and not __fish_seen_subcommand_from classify hook hooks doctor verify tools test help" -f -a "tools" -d 'Print how each tool of a server, or of a list, is judged, and why'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and not __fish_seen_subcommand_from classify hook hooks doctor verify tools test help" -f -a "test" -d 'Try rules on cases ({"call","verdict","rule"?}, one per line), and count the cases that match each rule'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and not __fish_seen_subcommand_from classify hook hooks doctor verify tools test help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c policy-check -n "__fish_policy_check_using_subcommand help; and __fish_seen_subcommand_from hooks" -f -a "install" -d 'Print the settings of a harness that runs the hook, or write them'
