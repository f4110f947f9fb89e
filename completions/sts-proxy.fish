complete -c sts-proxy -l tty -d 'The person\'s terminal' -r -F
complete -c sts-proxy -l color -d 'Colour on the person\'s terminal' -r -f -a "auto\t'On a terminal that supports it, unless NO_COLOR is set or TERM is `dumb`'
always\t'Always'
never\t'Never'"
complete -c sts-proxy -l protocol -d 'What the agent reads and writes' -r -f -a "lines\t'A line per decision, with valid_actions, and one answer for each'
mod\t'The mod\'s own messages and commands, for a bot that was written for the mod'"
complete -c sts-proxy -l fallback -d 'Play on when the agent is lost for good; such decisions have "by":"fallback" in their records' -r -f -a "first\t'The first legal action, in the order of the ids'
random\t'Any legal action; the same seed of the run gives the same ones'
end\t'The end of the turn if it is legal, else the first'"
complete -c sts-proxy -l agent-timeout -d 'How long an agent may take to answer before it is asked again; a later answer is not sent unless it names the decision; 0: no limit' -r
complete -c sts-proxy -l attempts -d 'How often an agent is asked for one decision before it is given up; with 1, at its first illegal, late or missing answer' -r
complete -c sts-proxy -l restart -d 'How often an agent that has ended, or was given up, is restarted; after that the run ends' -r
complete -c sts-proxy -l start -d 'Start runs from the menu: class, ascension (0-20) and seed (A-Z, 0-9)' -r
complete -c sts-proxy -l games -d 'End when this many games are over and the menu is back' -r
complete -c sts-proxy -l idle -d 'What to send while there is nothing to decide' -r -f -a "silent\t'Nothing: the mod sends each stable state by itself'
wait\t'`wait 30` in a run, so that the mod answers after 30 frames'
state\t'`state` at once, about 80 times a second'"
complete -c sts-proxy -l watchdog -d 'Ask for the state when nothing has come from the game for this long; 0: never' -r
complete -c sts-proxy -l data-dir -d 'Where records go [default: pipewright/spire in the XDG data folder]' -r
complete -c sts-proxy -l sync -d 'When records are forced to the disk' -r -f -a "each\t'Each one, before the next command is sent'
never\t'Never: a power failure may cost the last records'"
complete -c sts-proxy -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c sts-proxy -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c sts-proxy -l pass-illegal -d 'With --protocol mod, send commands that are not legal too; their records have "legal":false'
complete -c sts-proxy -l no-record -d 'Record nothing'
complete -c sts-proxy -l full-state -d 'Record the complete state, not only hand, player, monsters and turn, or the choices'
complete -c sts-proxy -s q -l quiet -d 'Report only faults'
complete -c sts-proxy -s h -l help -d 'Print help (see more with \'--help\')'
complete -c sts-proxy -s V -l version -d 'Print version'
