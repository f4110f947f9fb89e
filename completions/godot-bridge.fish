# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_godot_bridge_global_optspecs
    string join \n launch= attach= godot= window lockstep seed= allow-edit output= movie= transport= start-timeout= timeout= quit-timeout= v/verbose events= max-line= max-depth= h/help V/version
end

function __fish_godot_bridge_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_godot_bridge_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_godot_bridge_using_subcommand
    set -l cmd (__fish_godot_bridge_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l launch -d 'Start this project (a folder that contains a project.godot)' -r -F
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l attach -d 'Attach to a running game by its session folder, and leave it running at the end' -r -F
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l godot -d 'The Godot engine to run [default: godot or godot4 on PATH]' -r
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l seed -d 'Seed the global random number generator before the game\'s nodes are created [default with --lockstep: 0]' -r
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l output -d 'The folder for screenshots and other files that the game writes for a command; created if missing' -r -F
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l movie -d 'Record the window as a video, with all frames of the same length: FILE ends in .avi, .ogv or .png (one picture per frame)' -r -F
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l transport -d 'How the bridge and the game communicate: over files, or over a socket that the game connects to' -r -f -a "file\t'cmd.jsonl and resp.jsonl in a private folder'
tcp\t'A TCP port on this machine that accepts only the session\'s token'
unix\t'A Unix socket in a private folder'"
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l start-timeout -d 'How long the game may take to start and complete the handshake; 0 means no limit' -r
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l timeout -d 'Time limit of a command without a `timeout` argument, with --lockstep in the game\'s time; a game that has not answered two seconds after that is lost; 0 means no limit' -r
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l quit-timeout -d 'How long the game may take to end after a quit request; then it is killed; 0 means no limit' -r
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l events -d 'Also write the game\'s events as observations when they occur: to a file (appended to), `stderr`, or `-` for stdout, between the answers' -r
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l window -d 'Show the game in a window; by default it runs headless'
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l lockstep -d 'Freeze the game from its first frame on: it advances only while a command needs frames, all of the same length'
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -l allow-edit -d 'Allow the commands that change properties, call methods and run code'
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -s v -l verbose -d 'Copy the engine\'s output to stderr'
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -s V -l version -d 'Print version'
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -a "install" -d 'Install the addon in a project and its autoload in project.godot; print what changed'
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -a "tree" -d 'Print the game\'s scene tree in a form for people'
complete -c godot-bridge -n "__fish_godot_bridge_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand install" -l remove -d 'Remove the addon instead'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand install" -s h -l help -d 'Print help'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l launch -d 'Start this project (a folder that contains a project.godot)' -r -F
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l attach -d 'Attach to a running game by its session folder, and leave it running at the end' -r -F
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l godot -d 'The Godot engine to run [default: godot or godot4 on PATH]' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l seed -d 'Seed the global random number generator before the game\'s nodes are created [default with --lockstep: 0]' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l output -d 'The folder for screenshots and other files that the game writes for a command; created if missing' -r -F
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l movie -d 'Record the window as a video, with all frames of the same length: FILE ends in .avi, .ogv or .png (one picture per frame)' -r -F
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l transport -d 'How the bridge and the game communicate: over files, or over a socket that the game connects to' -r -f -a "file\t'cmd.jsonl and resp.jsonl in a private folder'
tcp\t'A TCP port on this machine that accepts only the session\'s token'
unix\t'A Unix socket in a private folder'"
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l start-timeout -d 'How long the game may take to start and complete the handshake; 0 means no limit' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l timeout -d 'Time limit of a command without a `timeout` argument, with --lockstep in the game\'s time; a game that has not answered two seconds after that is lost; 0 means no limit' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l quit-timeout -d 'How long the game may take to end after a quit request; then it is killed; 0 means no limit' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l root -d 'The node to begin at: a path or a selector' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l depth -d 'The number of levels to print [default: all]' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l window -d 'Show the game in a window; by default it runs headless'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l lockstep -d 'Freeze the game from its first frame on: it advances only while a command needs frames, all of the same length'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -l allow-edit -d 'Allow the commands that change properties, call methods and run code'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -s v -l verbose -d 'Copy the engine\'s output to stderr'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand tree" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand help; and not __fish_seen_subcommand_from install tree help" -f -a "install" -d 'Install the addon in a project and its autoload in project.godot; print what changed'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand help; and not __fish_seen_subcommand_from install tree help" -f -a "tree" -d 'Print the game\'s scene tree in a form for people'
complete -c godot-bridge -n "__fish_godot_bridge_using_subcommand help; and not __fish_seen_subcommand_from install tree help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
