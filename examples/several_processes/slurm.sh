#!/usr/bin/env bash
# Train on two nodes with four GPUs each: sbatch slurm.sh [options of train.py]
#
# A process for each GPU. If a process fails, Slurm ends the others; if a node fails, Slurm also puts
# the job back into the queue. The same command resumes from the last checkpoint.
#SBATCH --job-name=ja-en
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail
export KERAS_BACKEND=jax
export KERAS_DISTRIBUTION_NUM_PROCESSES=$SLURM_NTASKS
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
export KERAS_DISTRIBUTION_JOB_ADDRESSES=${nodes[0]}:$((12000 + SLURM_JOB_ID % 1000))
# The number of a task is known to the task only.
srun --kill-on-bad-exit=1 bash -c \
    'KERAS_DISTRIBUTION_PROCESS_ID=$SLURM_PROCID exec python train.py "$@"' train "$@"
