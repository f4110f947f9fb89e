complete -c llm-pipe -s m -l model -d 'The model: PROVIDER/NAME' -r
complete -c llm-pipe -l base-url -d 'The server\'s address, for anything that speaks the provider\'s API: http://127.0.0.1:8080/v1' -r
complete -c llm-pipe -l key-env -d 'Take the key from this environment variable instead of the provider\'s usual one' -r
complete -c llm-pipe -l key-file -d 'Take the key from this file, which nobody else may be able to read' -r -F
complete -c llm-pipe -l history -d 'With --bare: put the last N prompts and their answers before each prompt' -r
complete -c llm-pipe -l system -d 'The system prompt, for requests without one; @FILE is the text of a file' -r
complete -c llm-pipe -l schema -d 'The JSON Schema of the answer\'s text, for requests without one. A model whose answer does not match is asked again, at most twice' -r
complete -c llm-pipe -l tools -d 'The tools that the model may call, for requests without tools: a tool_list record, as `tool-call --list --json-out` prints it' -r -F
complete -c llm-pipe -l max-output-tokens -d 'The most tokens of an answer, for requests that do not say' -r
complete -c llm-pipe -l images -d 'The folder that images are read from; paths in requests are relative to it and cannot leave it' -r -F
complete -c llm-pipe -s j -l jobs -d 'How many requests are at the provider at once' -r
complete -c llm-pipe -l retries -d 'How often a request is sent again that failed for a reason that passes: a rate limit, a lost connection, a server\'s fault' -r
complete -c llm-pipe -l timeout -d 'How long one attempt may take' -r
complete -c llm-pipe -l idle-timeout -d 'How long the provider may send nothing' -r
complete -c llm-pipe -l deadline -d 'Overall time limit; requests without an answer fail with `timeout` (exit status 124)' -r
complete -c llm-pipe -l max-line -d 'Longest line, in bytes (K, M, G for powers of 1024); a longer one is refused' -r
complete -c llm-pipe -l text -d 'Each line is a prompt'
complete -c llm-pipe -l bare -d 'Each line is a prompt, and its answer is one line of text: line feeds are written as \\n, and a failure is an object with "error" and "kind". For programs that wait for each answer'
complete -c llm-pipe -l unordered -d 'Give each answer as soon as it is there, not in the order of the requests'
complete -c llm-pipe -l stream -d 'Also print the answer while it is written, as assistant_message records'
complete -c llm-pipe -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llm-pipe -s V -l version -d 'Print version'
