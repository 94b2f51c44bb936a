#!/usr/bin/env python3
"""Times k-NN calls of 1, 10 and 100 rows on a fitted table of 100,000 rows and 50 columns, with 1, 2 and 64 threads
asked for, and one large call. The rival is an earlier build (--before), in turn with this one; both must give the same
answers. The floor is one read of the images by one thread. Writes bench/results/small_calls_<cpu>_<date>.json.

  python3 bench/small_calls.py BUILD_FOLDER [--before PROGRAM] [--rounds 3] [--seconds 0.5] [--large 10000]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402

ROWS, COLUMNS = 100_000, 50
TABLES = (  # words of small_calls_bench, the back end that STOPE_BACKEND names
    ("a thousand clusters", ("kind=clusters",), ""),
    ("uniform", ("kind=uniform",), ""),
    ("uniform, AVX2", ("kind=uniform",), "avx2"),
    ("uniform, half of the columns nominal", ("kind=uniform", "nominal=25"), ""),
)
IMAGES = (("floats", 4 * COLUMNS), ("bytes", COLUMNS + 2), ("nibbles", (COLUMNS + 6) // 2))  # bytes of a row's image


def read_microseconds(n_bytes):
    """The least time in which one thread reads so many bytes that it has just read."""
    values = np.zeros(n_bytes // 8, dtype=np.int64)
    times = []
    for _ in range(50):
        start = time.perf_counter()
        values.max()
        times.append(time.perf_counter() - start)
    return 1e6 * min(times)


def run(program, words, backend, arguments):
    command = [program, *words, f"rows={ROWS}", f"columns={COLUMNS}", f"seconds={arguments.seconds}", f"large={arguments.large}"]
    environment = os.environ | ({"STOPE_BACKEND": backend} if backend else {})
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def best(rounds):
    """One result from several: each case with its round of the least median, since the machine may be shared."""
    result = rounds[0]
    for i, case in enumerate(result["cases"]):
        of_rounds = [found["cases"][i] for found in rounds]
        if len({found["answer"] for found in of_rounds}) != 1:
            sys.exit(f"{case}: the answer changes from run to run")
        case |= min(of_rounds, key=lambda found: found["median_us"])
    return result


def measure(name, words, backend, arguments):
    programs = {"before": arguments.before, "after": arguments.build / "bench" / "small_calls_bench"}
    rounds = {which: [] for which, program in programs.items() if program}
    for _ in range(arguments.rounds):
        for which, found in rounds.items():
            found.append(run(programs[which], words, backend, arguments))
    result = {"name": name} | {which: best(found) for which, found in rounds.items()}
    print(f"{name}\n  {'call':<10} {'rows':>6} {'threads':>7} | " + " | ".join(f"{which:>10}: median, least, threads" for which in rounds))
    for i, case in enumerate(result["after"]["cases"]):
        of_each = [result[which]["cases"][i] for which in rounds]
        if len({found["answer"] for found in of_each}) != 1:
            sys.exit(f"{name}, {case}: the answers differ")
        print(f"  {case['call']:<10} {case['rows']:>6} {case['threads']:>7} | " +
              " | ".join(f"{found['median_us']:>14.1f} {found['least_us']:>11.1f} {found['threads_started']:>8.1f}" for found in of_each), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path, help="small_calls_bench of an earlier build")
    parser.add_argument("--before-commit", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each case")
    parser.add_argument("--large", type=int, default=10_000, help="rows of the large call")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    floors = {kind: read_microseconds(ROWS * size) for kind, size in IMAGES}
    print("one read of the images by one thread: " + ", ".join(f"{floor:.0f} us as {kind}" for kind, floor in floors.items()))
    tables = [measure(*table, arguments) for table in TABLES]
    print(f"wrote {write_result(arguments.results, 'small_calls', {'before_commit': arguments.before_commit, 'read_us': floors, 'tables': tables})}")


if __name__ == "__main__":
    main()
