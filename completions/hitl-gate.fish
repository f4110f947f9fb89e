complete -c hitl-gate -l tty -d 'The person\'s terminal [default: /dev/tty, where there is one]' -r -F
complete -c hitl-gate -l color -d 'Colour on the person\'s terminal' -r -f -a "auto\t'On a terminal that can, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c hitl-gate -l ask -d 'Who is asked. `client` also has the MCP client ask its own user (elicitation), and believes what the client answers' -r -f -a "person\t'Whoever is at the terminal, or answers on --answers'
client\t'The user of the MCP client as well, where the client supports that'"
complete -c hitl-gate -l answers -d 'Take answers from a FIFO as well; `stdin` lets the side that makes the calls answer' -r -F
complete -c hitl-gate -l timeout -d 'Reject a call that nobody has answered for after this time; 0 is for ever' -r
complete -c hitl-gate -l hold -d 'Which calls wait while a person is asked about one' -r -f -a "all\t'All that come behind it, so that calls pass in their order'
call\t'Only those that a person is to be asked about'"
complete -c hitl-gate -l hold-limit -d 'Answer a JSON-RPC call that has been held for so long: it is to be repeated, and the person\'s answer counts for the repetition. Most MCP clients give up after 60 s; 0 is for ever' -r
complete -c hitl-gate -l rules -d 'Judge by the rules in this TOML file as well' -r -F
complete -c hitl-gate -l agent -d 'The name of the agent that makes the calls, for rules with `agent`; what a call itself says of its agent does not count' -r
complete -c hitl-gate -l audit -d 'Write every question and answer to this file before it takes effect, each line chained to the one before by its hash; `policy-check verify` reads it' -r -F
complete -c hitl-gate -l refuse-as -d 'How a JSON-RPC call that does not pass is answered' -r -f -a "result\t'A result with `isError`, whose text a model reads'
error\t'A JSON-RPC error, which most clients raise as an exception'"
complete -c hitl-gate -l events -d 'Where records about calls are written: a file (appended to), `stderr`, or `-` for stdout [default: stdout in a pipe, none with CMD]' -r
complete -c hitl-gate -l records -d 'What is written to stdout in a pipe, beside what passes' -r -f -a "all\t'All records about calls'
errors\t'Answers to calls that do not pass, and notices that a call waits for a person'"
complete -c hitl-gate -l max-line -d 'Longest line that is looked into, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c hitl-gate -l max-depth -d 'Deepest nesting of arrays and objects that is looked into; a deeper line is reported and not acted on' -r
complete -c hitl-gate -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hitl-gate -s V -l version -d 'Print version'
