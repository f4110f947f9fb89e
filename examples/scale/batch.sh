#!/usr/bin/env bash
# Many runs on several machines, with GNU parallel over ssh. The log of each run is collected here. To continue an interrupted batch, give
# the same command again: it makes the runs that are missing. A run whose machine was lost is started again on another one.
#
# usage: batch.sh RUNS HOSTS FOLDER        such as: batch.sh 1000 4/host1,4/host2 runs
#
# HOSTS are names for ssh, each with its number of simultaneous runs (N/HOST). Each needs our commands in the PATH of `ssh HOST COMMAND`,
# and the checkout at the same path as here. FOLDER gets NUMBER.jsonl and NUMBER.jsonl.err for each run, and batch.joblog: host, time and exit
# status of each. `--filter-hosts` leaves out hosts that cannot be reached at the start.
# A host that does not answer for 15 s is given up. The exit status is the number of runs that failed, at most 101.
set -euo pipefail
run=$(cd "$(dirname "$0")" && pwd)/one-run.sh
mkdir -p "$3"
export PARALLEL_SSH='ssh -o ServerAliveInterval=5 -o ServerAliveCountMax=2 -o ConnectTimeout=5'
seq "$1" | parallel --sshlogin "$2" --filter-hosts --retries 3 --resume-failed --joblog "$3/batch.joblog" --results "$3/{}.jsonl" \
    "$run" {} >/dev/null
