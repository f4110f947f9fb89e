complete -c sts-proxy -l tty -d 'The person\'s terminal' -r -F
complete -c sts-proxy -l color -d 'Colour on the person\'s terminal' -r -f -a "auto\t'On a terminal that supports it, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c sts-proxy -l protocol -d 'What the agent reads and writes' -r -f -a "lines\t'A line per decision, with valid_actions, and one answer for each'
mod\t'The mod\'s own messages and commands, for a bot that was written for the mod'"
complete -c sts-proxy -l fallback -d 'How to play on after the agent is lost for good; these decisions have "by":"fallback" in their records' -r -f -a "first\t'The first legal action, in the order of the ids'
random\t'Any legal action; runs with the same seed get the same ones'
end\t'The end of the turn if it is legal, else the first'"
complete -c sts-proxy -l agent-timeout -d 'How long an agent may take to answer before it is asked again; a later answer is not sent unless it names the decision; 0 means no limit' -r
complete -c sts-proxy -l attempts -d 'How many times an agent is asked for one decision before it is given up; 1 gives it up after the first illegal, late or missing answer' -r
complete -c sts-proxy -l restart -d 'How many times an agent that has ended or was given up is restarted; after that, the run ends' -r
complete -c sts-proxy -l start -d 'Start runs from the menu: class, ascension (0-20) and seed (A-Z, 0-9)' -r
complete -c sts-proxy -l games -d 'End when this many games are over and the menu is back' -r
complete -c sts-proxy -l idle -d 'What to send while there is nothing to decide' -r -f -a "silent\t'Nothing: the mod sends each stable state by itself'
wait\t'`wait 30` in a run, so that the mod answers after 30 frames'
state\t'`state` at once, about 80 times a second'"
complete -c sts-proxy -l watchdog -d 'Request the state when the game has sent nothing for this long; 0 disables this' -r
complete -c sts-proxy -l data-dir -d 'The folder for records [default: pipewright/spire in the XDG data folder]' -r
complete -c sts-proxy -l sync -d 'When to sync records to disk, against power loss' -r -f -a "each\t'After each record, before the next command is sent'
never\t'Never: a power loss may lose the last records'"
complete -c sts-proxy -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c sts-proxy -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c sts-proxy -l pass-illegal -d 'With --protocol mod, send commands that are not legal too; their records have "legal":false'
complete -c sts-proxy -l no-record -d 'Record nothing'
complete -c sts-proxy -l full-state -d 'Record the complete state, not only hand, player, monsters and turn, or the choices'
complete -c sts-proxy -s q -l quiet -d 'Report only errors on stderr'
complete -c sts-proxy -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sts-proxy -s V -l version -d 'Print version'
