"""Description of the machine and of package versions, and memory measurements."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def num_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def describe_machine(packages: tuple[str, ...]) -> str:
    """Processor, cores, memory, Python, and versions of the given packages if installed."""
    cpu = _lines_of("/proc/cpuinfo").get("model name", platform.machine())
    memory = int(_lines_of("/proc/meminfo")["MemTotal"].split()[0]) / 2**20
    flags = _lines_of("/proc/cpuinfo").get("flags", "").split()
    known = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if flag in flags]
    found = [f"Python {platform.python_version()}"]
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return f"{cpu} ({' '.join(known)}), {num_cores()} cores, {memory:.0f} GiB; " + ", ".join(found)


def available_memory() -> int:
    """Available memory of the system, in bytes."""
    return int(_lines_of("/proc/meminfo")["MemAvailable"].split()[0]) * 1024


def process_memory(process: int | str = "self", what: str = "VmRSS") -> int:
    """Memory of a process in bytes: resident, its peak (`"VmHWM"`), or reserved (`"VmSize"`)."""
    return int(_lines_of(f"/proc/{process}/status")[what].split()[0]) * 1024


def private_and_shared(process: int | str = "self") -> tuple[float, float]:
    """MiB of a process: private memory, as containers count, and pages of files such as libraries.

    Several processes share the second, and the system drops these pages when it needs memory.
    """
    lines = _lines_of(f"/proc/{process}/status")
    private, *shared = (
        int(lines[name].split()[0]) / 1024 for name in ("RssAnon", "RssFile", "RssShmem")
    )
    return private, sum(shared)


def _lines_of(path: str) -> dict[str, str]:
    """First value of each name in a /proc file of lines `name: value`."""
    found: dict[str, str] = {}
    for line in Path(path).read_text().splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found
