"""How much memory this process may still use."""

import os
from pathlib import Path

__all__ = ["available_bytes"]

_CGROUP = Path("/sys/fs/cgroup")


def _number(path):
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None  # "max", or no such file


def _of_group():
    """What the innermost limited control group has left, or None."""
    try:
        line = next(line for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    except (OSError, StopIteration):
        return None
    folder, left = _CGROUP / line[3:].lstrip("/"), None
    while folder == _CGROUP or _CGROUP in folder.parents:
        most, now = _number(folder / "memory.max"), _number(folder / "memory.current")
        if most is not None and now is not None:
            left = max(most - now, 0) if left is None else min(left, max(most - now, 0))
        if folder == _CGROUP:
            break
        folder = folder.parent
    return left


def available_bytes() -> int:
    """Bytes that the machine and the control group let this process have now."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    of_group = _of_group()
    return free if of_group is None else min(free, of_group)
