# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_llm_pipe_global_optspecs
    string join \n m/model= base-url= key-env= key-file= set= text bare history= system= schema= tools= max-output-tokens= images= j/jobs= unordered cache= stream retries= busy-timeout= timeout= idle-timeout= deadline= max-line= h/help V/version
end

function __fish_llm_pipe_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_llm_pipe_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_llm_pipe_using_subcommand
    set -l cmd (__fish_llm_pipe_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -s m -l model -d 'The model: PROVIDER/NAME, or a name in models.toml' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l base-url -d 'The server\'s address, for any server with the provider\'s API: http://127.0.0.1:8080/v1' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l key-env -d 'Take the key from this environment variable instead of the provider\'s usual one' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l key-file -d 'Take the key from this file, which no other user may be able to read' -r -F
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l set -d 'A setting of every request: temperature, top_p, seed, stop, reasoning_effort, or another field of the request\'s body; VALUE is JSON, or else a text. May be repeated' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l history -d 'With --bare: put the last N prompts and their answers in front of each prompt' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l system -d 'The system prompt, for requests without one; @FILE reads it from a file' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l schema -d 'The JSON Schema of the answer\'s text, for requests without one. If the answer does not match, the model is asked again, at most twice' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l tools -d 'The tools that the model may call, for requests without tools: a tool_list record, as printed by `tool-call --list --json-out`' -r -F
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l max-output-tokens -d 'The highest number of tokens in an answer, reasoning included, for requests that do not set it; 0 means no limit [default: 16384, or what fits]' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l images -d 'The folder that images are read from; paths in requests are relative to it and cannot leave it' -r -F
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -s j -l jobs -d 'How many requests may be in progress at the same time' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l cache -d 'Store turns in this folder, and answer repeated requests from it' -r -F
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l retries -d 'How many times a request is repeated after a temporary failure: a rate limit, a lost connection, a server error' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l busy-timeout -d 'How long a request is repeated while the server is overloaded, limits the rate or loads its model; 0 means not at all' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l timeout -d 'Time limit of one attempt; 0 means no limit' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l idle-timeout -d 'How long the provider may send nothing; 0 means no limit' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l deadline -d 'Overall time limit; unanswered requests fail with `timeout` (exit status 124)' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l max-line -d 'Longest line, in bytes (K, M, G for powers of 1024); a longer one is refused' -r
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l text -d 'Each line of stdin is a prompt in plain text, not JSON'
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l bare -d 'Each line of stdin is a prompt in plain text, and its answer is one line of text. Line feeds are written as \\n; a failure is an object with "error" and "kind". For programs that wait for each answer'
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l unordered -d 'Print each answer when it arrives, not in the order of the requests'
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -l stream -d 'Also print the answer while it arrives, as assistant_message records'
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -s V -l version -d 'Print version'
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -a "models" -d 'Print the models of a server, or those in models.toml and the providers'
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -a "check" -d 'Send small requests, and print what works: text, streaming, tools, schema, images'
complete -c llm-pipe -n "__fish_llm_pipe_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand models" -s m -l model -d 'The model: PROVIDER/NAME, or a name in models.toml' -r
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand models" -l base-url -d 'The server\'s address, for any server with the provider\'s API: http://127.0.0.1:8080/v1' -r
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand models" -l key-env -d 'Take the key from this environment variable instead of the provider\'s usual one' -r
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand models" -l key-file -d 'Take the key from this file, which no other user may be able to read' -r -F
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand models" -l set -d 'A setting of every request: temperature, top_p, seed, stop, reasoning_effort, or another field of the request\'s body; VALUE is JSON, or else a text. May be repeated' -r
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand models" -s h -l help -d 'Print help'
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand check" -s m -l model -d 'The model: PROVIDER/NAME, or a name in models.toml' -r
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand check" -l base-url -d 'The server\'s address, for any server with the provider\'s API: http://127.0.0.1:8080/v1' -r
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand check" -l key-env -d 'Take the key from this environment variable instead of the provider\'s usual one' -r
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand check" -l key-file -d 'Take the key from this file, which no other user may be able to read' -r -F
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand check" -l set -d 'A setting of every request: temperature, top_p, seed, stop, reasoning_effort, or another field of the request\'s body; VALUE is JSON, or else a text. May be repeated' -r
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand check" -l save -d 'Write what was found into models.toml, so that it is not tried again with each request'
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand check" -s h -l help -d 'Print help'
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand help; and not __fish_seen_subcommand_from models check help" -f -a "models" -d 'Print the models of a server, or those in models.toml and the providers'
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand help; and not __fish_seen_subcommand_from models check help" -f -a "check" -d 'Send small requests, and print what works: text, streaming, tools, schema, images'
complete -c llm-pipe -n "__fish_llm_pipe_using_subcommand help; and not __fish_seen_subcommand_from models check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
