#!/usr/bin/env bash
# Many runs over several machines, with GNU parallel over ssh: a log for each run, collected here. A batch that was interrupted goes on
# with the runs that are missing when the same command is given again; a run whose machine was lost is made again on another one.
#
# usage: batch.sh RUNS HOSTS FOLDER        such as: batch.sh 1000 4/host1,4/host2 runs
#
# HOSTS are names for ssh, each with how many runs it has at once (N/HOST). Each has our commands in the PATH of `ssh HOST COMMAND`, and the
# checkout at the same place as here. FOLDER gets NUMBER.jsonl and NUMBER.jsonl.err for each run, and batch.joblog: host, time and exit
# status of each. `--filter-hosts` leaves out hosts that cannot be reached at the start.
# A host that does not answer for 15 s is given up. Ends with the number of runs that failed, at most 101.
set -euo pipefail
run=$(cd "$(dirname "$0")" && pwd)/one-run.sh
mkdir -p "$3"
export PARALLEL_SSH='ssh -o ServerAliveInterval=5 -o ServerAliveCountMax=2 -o ConnectTimeout=5'
seq "$1" | parallel --sshlogin "$2" --filter-hosts --retries 3 --resume-failed --joblog "$3/batch.joblog" --results "$3/{}.jsonl" \
    "$run" {} >/dev/null
