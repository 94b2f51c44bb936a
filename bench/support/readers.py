"""Programs that read a text table, each in a process of its own: what bench/csv.py and bench/csv_wide.py share.

A rival is Python code. It leaves the wall time from s to e, the CPU time from cs to ce, and `rows` and `version`.
"""
import importlib.util
import json
import subprocess
import sys

PROLOGUE = """
import json, re, time
"""
EPILOGUE = """
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
print(json.dumps({"seconds": e - s, "cpu_seconds": ce - cs, "rows": rows, "version": version, "peak_bytes": peak}))
"""


class Failed(SystemExit):
    """A program ended with an error, or took longer than it may. Ends the script, unless it is caught."""


def run(command, patience=None):
    """The last line that the program prints, which is JSON. It may take `patience` seconds."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(words[:3])} takes longer than {patience} s") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(words[:3])} failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_rival(code, file, threads, patience=None):
    return run([sys.executable, "-c", PROLOGUE + code.format(file=file, threads=threads) + EPILOGUE], patience)


def missing_of(rivals):
    """Those that are not installed, which are left out."""
    missing = [name for name in rivals if importlib.util.find_spec(name) is None]
    for name in missing:
        print(f"{name} is not installed: left out")
    return missing
