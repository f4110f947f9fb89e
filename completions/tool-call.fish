complete -c tool-call -l json -d 'All arguments of the tool, as a JSON object' -r
complete -c tool-call -l session -d 'Call the world of this session' -r
complete -c tool-call -l start -d 'Start the world in the background, as a session of this name; done when it has listed its tools' -r
complete -c tool-call -l idle-timeout -d 'End a session of --start that has had no call for so long; 0 is never' -r
complete -c tool-call -l stop -d 'End a session' -r
complete -c tool-call -l serve -d 'The process in the background that --start starts' -r
complete -c tool-call -l owner -d 'The process whose end ends it' -r
complete -c tool-call -l list -d 'Print the world\'s tools as a table: name, first sentence of the description, and arguments; [KEY=TYPE] may be left out'
complete -c tool-call -l detach -d 'Keep the session of --start when the shell, or whatever leads the terminal\'s session, has ended; else it ends then, too'
complete -c tool-call -l sessions -d 'Print the sessions that are running: name, process, age and command'
complete -c tool-call -l text -d 'Print the text of the result, also where stdout is not a terminal'
complete -c tool-call -l json-out -d 'Print the tool_result record (with --list, the tool_list record), also on a terminal'
complete -c tool-call -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tool-call -s V -l version -d 'Print version'
