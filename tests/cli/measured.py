"""Runs the program and tells the memory and the CPU time that it took."""

import json
import subprocess
import sys
from dataclasses import dataclass

from program import PROGRAM, environment

# A process of its own: its children's peak would otherwise be at least that of the tests, which fork with all their pages.
MEASURE = """
import json, resource, subprocess, sys
limit = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), limit))
done = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime,
                  done.stderr[:100_000].decode("utf-8", "replace")]))
"""


@dataclass
class Measured:
    code: int
    peak: int  # bytes of memory, mapped files included
    cpu: float  # seconds
    err: str


def measured(words, folder, address_space=16 << 30, timeout=600):
    """The exit code, peak memory, CPU time and text on stderr of `stope WORDS`. `address_space` keeps a failing test
    from taking the machine's memory."""
    command = [PROGRAM, *map(str, words), "--progress", "no", "-j", "2"]
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, str(address_space), *command], cwd=folder, env=environment(),
                          stdout=subprocess.PIPE, check=True, timeout=timeout)
    return Measured(*json.loads(done.stdout))
