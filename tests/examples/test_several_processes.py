"""The files that start several processes set what each process reads."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "examples" / "several_processes"
VARIABLES = {
    "KERAS_BACKEND",
    "KERAS_DISTRIBUTION_JOB_ADDRESSES",
    "KERAS_DISTRIBUTION_NUM_PROCESSES",
    "KERAS_DISTRIBUTION_PROCESS_ID",
}


def test_scripts_start_train_py_in_each_process(tmp_path):
    python = tmp_path / "python"
    # One write for the whole line: the processes run at the same time.
    python.write_text('#!/bin/sh\necho "$(env | grep ^KERAS_ | sort | tr "\\n" " ")" "$@"\n')
    srun = tmp_path / "srun"  # two tasks
    srun.write_text('#!/bin/sh\nshift\nfor i in 0 1; do SLURM_PROCID=$i "$@"; done\n')
    scontrol = tmp_path / "scontrol"
    scontrol.write_text("#!/bin/sh\necho node7; echo node8\n")
    for command in (python, srun, scontrol):
        command.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "SLURM_NTASKS": "2",
        "SLURM_JOB_NODELIST": "node[7-8]",
        "SLURM_JOB_ID": "4321",
    }
    hosts = {"two_processes.sh": "127.0.0.1:12345", "slurm.sh": "node7:12321"}
    for name, host in hosts.items():
        printed = subprocess.run(
            ["bash", str(FOLDER / name), "--minutes", "9 9"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for process, line in enumerate(sorted(printed.splitlines())):
            *settings, script, flag, nine, again = line.split()
            assert script.endswith("train.py") and (flag, nine, again) == ("--minutes", "9", "9")
            assert dict(setting.split("=") for setting in settings) == {
                "KERAS_BACKEND": "jax",
                "KERAS_DISTRIBUTION_JOB_ADDRESSES": host,
                "KERAS_DISTRIBUTION_NUM_PROCESSES": "2",
                "KERAS_DISTRIBUTION_PROCESS_ID": str(process),
            }
        assert len(printed.splitlines()) == 2


@pytest.mark.parametrize(
    ("num_cores", "shares"), [(1, {"all"}), (2, {"0-0", "1-1"}), (5, {"0-1", "2-3"})]
)
def test_two_processes_share_the_cores(num_cores, shares, tmp_path):
    programs = {
        "nproc": f"echo {num_cores}",
        "taskset": 'shift; CORES=$1; export CORES; shift; exec "$@"',
        "python": 'echo "${CORES:-all}"',
    }
    for name, line in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    command = ["bash", str(FOLDER / "two_processes.sh")]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert len(printed.stdout.splitlines()) == 2
    assert set(printed.stdout.split()) == shares


def test_ctrl_c_reaches_each_of_two_processes_once(tmp_path):
    python = tmp_path / "python"
    python.write_text(
        """#!/bin/sh
trap 'echo interrupted' INT
echo started
for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done
exit 130
"""
    )
    python.chmod(0o755)
    script = subprocess.Popen(
        ["bash", str(FOLDER / "two_processes.sh")],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
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
    assert set(values) == VARIABLES
    assert spec["completionMode"] == "Indexed"
    number = int(values["KERAS_DISTRIBUTION_NUM_PROCESSES"])
    assert spec["completions"] == spec["parallelism"] == number
    name = jobset["metadata"]["name"]
    host, port = values["KERAS_DISTRIBUTION_JOB_ADDRESSES"].split(":")
    assert host == f"{name}-{job['name']}-0-0.{name}"
    assert container["ports"] == [{"containerPort": int(port)}]
