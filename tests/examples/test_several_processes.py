"""The files that start several processes set what each process reads."""

import os
import signal
import subprocess
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[2] / "examples" / "several_processes"
SCRIPT = FOLDER / "two_processes.sh"


def start(folder, script, commands, *arguments, **variables):
    """Process of a script that finds commands in `folder`: the given lines of the shell."""
    for name, lines in commands.items():
        (folder / name).write_text(f"#!/bin/sh\n{lines}\n")
        (folder / name).chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", **variables}
    return subprocess.Popen(
        ["bash", str(script), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Where a shell started pytest in the background, the signal is ignored, also by children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def test_scripts_start_train_py_in_each_process(tmp_path):
    commands = {
        # One write for the whole line: the processes run at the same time.
        "python": 'echo "$(env | grep ^KERAS_ | sort | tr "\\n" " ")" "$@"',
        "srun": 'shift; for i in 0 1; do SLURM_PROCID=$i "$@"; done',  # two tasks
        "scontrol": "echo node7; echo node8",
    }
    slurm = {"SLURM_NTASKS": "2", "SLURM_JOB_NODELIST": "node[7-8]", "SLURM_JOB_ID": "4321"}
    hosts = {"two_processes.sh": "127.0.0.1:12345", "slurm.sh": "node7:12321"}
    for name, host in hosts.items():
        process = start(tmp_path, FOLDER / name, commands, "--minutes", "9 9", **slurm)
        printed = sorted(process.communicate()[0].splitlines())
        assert (process.returncode, len(printed)) == (0, 2)
        for number, line in enumerate(printed):
            *settings, script, flag, nine, again = line.split()
            assert script.endswith("train.py") and (flag, nine, again) == ("--minutes", "9", "9")
            assert dict(setting.split("=") for setting in settings) == {
                "KERAS_BACKEND": "jax",
                "KERAS_DISTRIBUTION_JOB_ADDRESSES": host,
                "KERAS_DISTRIBUTION_NUM_PROCESSES": "2",
                "KERAS_DISTRIBUTION_PROCESS_ID": str(number),
            }


def test_two_processes_share_the_cores(tmp_path):
    for num_cores, shares in {1: {"all"}, 2: {"0-0", "1-1"}, 5: {"0-1", "2-3"}}.items():
        commands = {
            "nproc": f"echo {num_cores}",
            "taskset": 'shift; CORES=$1; export CORES; shift; exec "$@"',
            "python": 'echo "${CORES:-all}"',
        }
        printed, _ = start(tmp_path, SCRIPT, commands).communicate()
        assert len(printed.splitlines()) == 2
        assert set(printed.split()) == shares


def test_ctrl_c_reaches_each_of_two_processes_once(tmp_path):
    python = """trap 'echo interrupted' INT
echo started
for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done
exit 130"""
    script = start(tmp_path, SCRIPT, {"python": python})
    assert [script.stdout.readline() for _ in range(2)] == ["started\n"] * 2
    os.killpg(script.pid, signal.SIGINT)  # as a terminal does
    output, _ = script.communicate(timeout=20)
    assert output.splitlines() == ["interrupted"] * 2
    assert script.returncode == 130


def test_jobset_has_a_process_for_each_pod():
    jobset = yaml.safe_load((FOLDER / "jobset.yaml").read_text(encoding="utf-8"))
    (job,) = jobset["spec"]["replicatedJobs"]
    spec = job["template"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    values = {one["name"]: one.get("value") for one in container["env"]}
    of_keras = ("JOB_ADDRESSES", "NUM_PROCESSES", "PROCESS_ID")
    assert set(values) == {"KERAS_BACKEND", *(f"KERAS_DISTRIBUTION_{name}" for name in of_keras)}
    assert spec["completionMode"] == "Indexed"
    number = int(values["KERAS_DISTRIBUTION_NUM_PROCESSES"])
    assert spec["completions"] == spec["parallelism"] == number
    name = jobset["metadata"]["name"]
    host, port = values["KERAS_DISTRIBUTION_JOB_ADDRESSES"].split(":")
    assert host == f"{name}-{job['name']}-0-0.{name}"
    assert container["ports"] == [{"containerPort": int(port)}]
