#!/usr/bin/env bash
# Many runs as a Slurm job array: a log for each run in a folder that all nodes share. If the command is repeated, it submits only the runs
# whose logs have no `final` record. Slurm itself restarts runs whose node has failed (--requeue).
#
# usage: slurm-array.sh RUNS FOLDER [OPTIONS OF sbatch]        such as: slurm-array.sh 1000 /shared/runs --time=10
#
# At most MaxArraySize - 1 runs (scontrol show config; 1,000 by default) are submitted at once. Prints the id of the job.
set -euo pipefail
run=$(cd "$(dirname "$0")" && pwd)/one-run.sh
mkdir -p "$2"
missing=$(for number in $(seq "$1"); do grep -qs '"type":"final"' "$2/$number.jsonl" || echo "$number"; done | paste -sd,)
[ -n "$missing" ] || exit 0
sbatch --parsable --array="$missing" --requeue --open-mode=truncate --output="$2/%a.jsonl" --error="$2/%a.err" "${@:3}" \
    --wrap "$run \$SLURM_ARRAY_TASK_ID"
