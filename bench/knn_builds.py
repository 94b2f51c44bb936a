#!/usr/bin/env python3
"""Times k-NN on the CPU with two builds of knn_cpu_bench, in turns: whether a change made anything slower. Both see the
same tables and must give the same answers, bit for bit. Writes bench/results/knn_builds_<cpu>_<date>.json.

  python3 bench/knn_builds.py OLD_FOLDER NEW_FOLDER [--threads 2] [--rounds 5] [--only WORD]

The folders are build folders that have compiled knn_cpu_bench. The least of all rounds counts, of wall time.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.knn_sizes import make, one  # noqa: E402
from bench.support.machine import write_result  # noqa: E402

# rows, queries, columns, k, measure, data
CASES = {f"{columns} columns, {data}, k = {k}": (rows, queries, columns, k, "euclidean", data)
         for columns, rows, queries in ((8, 200_000, 10_000), (12, 200_000, 10_000), (16, 200_000, 10_000))
         for data, k in (("clusters", 10), ("uniform", 10), ("clusters", 1))}
CASES["8 columns, clusters, manhattan"] = (200_000, 10_000, 8, 10, "manhattan", "clusters")
CASES["16 columns, clusters, 1M rows"] = (1_000_000, 10_000, 16, 10, "euclidean", "clusters")


def commit_of(build):
    found = subprocess.run(["git", "-C", build, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip()


def measure(name, case, programs, folder, arguments):
    make(folder, case)
    samples = {build: [] for build in programs}
    for turn in range(arguments.rounds):
        for build in list(programs)[:: 1 if turn % 2 else -1]:
            samples[build].append(one(folder, case, programs[build], {}, arguments))
    if len({sample.pop("answer") for found in samples.values() for sample in found}) != 1:
        sys.exit(f"{name}: the answers differ")
    least = {build: {figure: min(sample[figure] for sample in found) for figure in ("whole", "wall")}
             for build, found in samples.items()}
    old, new = least["old"], least["new"]
    print(f"{name:36} whole {1e3 * old['whole']:8.1f} -> {1e3 * new['whole']:8.1f} ms ({old['whole'] / new['whole']:.2f})"
          f"   again {1e3 * old['wall']:8.1f} -> {1e3 * new['wall']:8.1f} ms ({old['wall'] / new['wall']:.2f})", flush=True)
    return {"case": name, "shape": dict(zip(("rows", "queries", "columns", "k", "metric", "data"), case)), "least_s": least, "samples": samples}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--searches", type=int, default=2, help="after the first, in each process")
    parser.add_argument("--only", default="", help="cases that have this word")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    programs = {"old": arguments.old / "bench" / "knn_cpu_bench", "new": arguments.new / "bench" / "knn_cpu_bench"}
    with tempfile.TemporaryDirectory() as folder:
        cases = [measure(name, case, programs, pathlib.Path(folder), arguments) for name, case in CASES.items() if arguments.only in name]
    found = {"threads": arguments.threads, "rounds": arguments.rounds, "old": commit_of(arguments.old), "new": commit_of(arguments.new), "cases": cases}
    print(f"wrote {write_result(arguments.results, 'knn_builds', found)}")


if __name__ == "__main__":
    main()
