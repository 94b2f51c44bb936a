#!/usr/bin/env python3
"""Times searches within a radius, without excluded groups, of more than 128 neighbours, and by RapidMiner's ties on a GPU,
in one run: through a filter, by the formula alone (STOPE_SCAN=formula, which is what such searches were), and on the CPU.
The hash of all lists must be the same. Writes bench/results/knn_varied_<gpu>_<date>.json.

  python3 bench/knn_varied.py BUILD_FOLDER [--repeats 7] [--only TEXT] [--results FOLDER]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import gpus, write_result  # noqa: E402

# name, rows, queries, columns, words
CASES = [
    ("radius, products", 1_000_000, 10_000, 128, ["near=20"]),
    ("radius, products, near 100", 1_000_000, 10_000, 32, ["near=100"]),
    ("radius, products, long lists", 1_000_000, 10_000, 32, ["near=300"]),
    ("radius, differences, long lists", 1_000_000, 10_000, 50, ["near=300", "metric=manhattan"]),
    ("radius, cosine", 1_000_000, 10_000, 64, ["near=20", "metric=cosine"]),
    ("radius, differences", 1_000_000, 10_000, 50, ["near=20", "metric=manhattan"]),
    ("radius, boxes", 1_000_000, 100_000, 3, ["near=20"]),
    ("groups of 20, products", 1_000_000, 10_000, 128, ["groups=50000"]),
    ("groups of 500, products", 1_000_000, 10_000, 32, ["groups=2000"]),
    ("k 300, differences", 1_000_000, 10_000, 50, ["k=300", "plain=1", "metric=manhattan"]),
    ("k 300, RapidMiner's ties", 1_000_000, 4_000, 32, ["k=300", "compat=rapidminer"]),
    ("k 10, RapidMiner's ties, differences", 1_000_000, 10_000, 50, ["k=10", "compat=rapidminer", "metric=manhattan"]),
]
WAYS = {"filter": {}, "formula": {"STOPE_SCAN": "formula"}, "cpu": {}}


def run(program, case, way, repeats, limit):
    _, rows, queries, columns, words = case
    device = ["device=cpu" if way == "cpu" else "device=cuda"]
    command = [program, *map(str, (rows, queries, columns, repeats)), *words, *device]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=os.environ | WAYS[way])
        return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()[-300:]}
    except subprocess.TimeoutExpired:
        return {"error": f"more than {limit} s"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default="filter,formula,cpu")
    parser.add_argument("--limit", type=int, default=120, help="seconds of a process")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    options = parser.parse_args()
    program = options.build / "bench" / "knn_varied_bench"
    cases, failed = [], False
    for case in CASES:
        if options.only not in case[0]:
            continue
        found = {}
        for way in options.ways.split(","):
            repeats = options.repeats if way == "filter" else min(2, options.repeats)
            found[way] = run(program, case, way, repeats, options.limit)
        hashes = {result["hash"] for result in found.values() if "hash" in result}
        failed |= len(hashes) != 1
        times = []
        for way, result in found.items():
            if "error" in result:
                times.append(f"{way} {result['error']}")
                continue
            median = statistics.median(result["searches_ms"])
            on_gpu = sum(ms for step, ms in result["gpu_ms"].items() if step != "table images")
            times.append(f"{way} {median:.2f} ms" + (f" ({on_gpu:.2f} on the GPU, {result['method']}, "
                                                     f"{result['uncertified']} uncertified)" if way == "filter" else ""))
        print(f"{case[0]}: {'; '.join(times)}; {'same' if len(hashes) == 1 else 'DIFFERENT'}", flush=True)
        cases.append({"name": case[0], "found": found})
        write_result(options.results, "knn_varied", {"repeats": options.repeats, "cases": cases}, (gpus() or ["cpu"])[0])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
