complete -c tool-call -l json -d 'All arguments of the tool, as a JSON object' -r
complete -c tool-call -l session -d 'Call the world of this session' -r
complete -c tool-call -l start -d 'Start the world in the background, as a session of this name; returns when the world has listed its tools' -r
complete -c tool-call -l idle-timeout -d 'With --start: end the session after this time without a call; 0 disables this' -r
complete -c tool-call -l stop -d 'End a session' -r
complete -c tool-call -l serve -d 'Run as the background process of --start' -r
complete -c tool-call -l owner -d 'End with this process' -r
complete -c tool-call -l list -d 'Print the world\'s tools as a table: name, first sentence of the description, and arguments; optional ones are in brackets'
complete -c tool-call -l detach -d 'With --start: keep the session after the shell (the leader of the terminal\'s session) has ended'
complete -c tool-call -l sessions -d 'Print the sessions that are running: name, process, age and command'
complete -c tool-call -l text -d 'Print the text of the result, even if stdout is not a terminal'
complete -c tool-call -l json-out -d 'Print the tool_result record (with --list, the tool_list record), even on a terminal'
complete -c tool-call -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tool-call -s V -l version -d 'Print version'
