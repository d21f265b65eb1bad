#!/usr/bin/env bash
# Train with two processes on this machine: bash two_processes.sh [options of train.py]
#
# Each process computes on one half of the cores. To resume, run the same command again.
set -euo pipefail
export KERAS_BACKEND=jax
export KERAS_DISTRIBUTION_JOB_ADDRESSES=127.0.0.1:${PORT:-12345}
export KERAS_DISTRIBUTION_NUM_PROCESSES=2
train=$(dirname "$0")/../../train.py
half=$(($(nproc) / 2)) # 0 on a single core, which the processes share
started=()
set -m # Ctrl-C in the terminal reaches this script alone, and a process gets it once
trap 'kill -INT $(jobs -p)' INT TERM
for process in 0 1; do
    pin=()
    if ((half)); then
        pin=(taskset --cpu-list "$((process * half))-$(((process + 1) * half - 1))")
    fi
    KERAS_DISTRIBUTION_PROCESS_ID=$process "${pin[@]}" python "$train" "$@" &
    started+=($!)
done
status=0
for pid in "${started[@]}"; do
    wait "$pid" || status=$?
done
exit "$status"
