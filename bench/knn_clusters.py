#!/usr/bin/env python3
"""Times searches of one kept table of 1M x 128 on a GPU, rows in 1,000 clusters and uniform: as the plan of clusters has
them (nothing set), with all tiles (STOPE_BLOCK_ORDER=table) and in clusters from the first search on (=near). The ways
take turns. A "run" is the first 300 searches of 10,000 queries, "one search" has a million queries. The plan may cost
2 % of a uniform run. Answers are compared with the CPU's, bit for bit. Writes bench/results/knn_clusters_<gpu>_<date>.json.

  python3 bench/knn_clusters.py BUILD_FOLDER [--rounds 3] [--searches 300] [--only TEXT] [--results FOLDER]
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

M = 1_000_000
WAYS = {"plan": "", "all tiles": "table", "clusters": "near"}
MOST_LOSS = 1.02  # of a uniform run


def run(args, way, data, queries, searches):
    command = [args.build / "bench" / "knn_gpu_bench", M, queries, 128, 10, data, searches - 1, "fits=2", "checked=64"]
    setting = os.environ | {"STOPE_BLOCK_ORDER": WAYS[way],
                            "STOPE_CUDA_PLUGIN": str((args.build / "libstope_cuda.so").resolve())}
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=args.limit,
                              check=False, env=setting)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {args.limit} s"}
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-300:] or f"exit {done.returncode}"}
    found = json.loads(done.stdout)
    found["total_ms"] = found["first_ms"] + sum(found["searches_ms"])
    found["searches_total_ms"] = sum(found["searches_ms"])
    return found


def show(name, rows):
    """One line a way: the middle of its rounds. Returns the middle total by way."""
    totals = {}
    for way in WAYS:
        found = [row["found"] for row in rows if row["case"] == name and row["way"] == way]
        errors = [one["error"] for one in found if "error" in one]
        if errors or not found:
            print(f"{name}, {way}: {errors[:1]}", flush=True)
            continue
        totals[way] = statistics.median(one["searches_total_ms"] or one["total_ms"] for one in found)
        last = found[-1]
        later = statistics.median(statistics.median(one["searches_ms"][-20:] or [one["first_ms"]]) for one in found)
        print(f"{name}, {way}: total {totals[way]:.1f} ms, last searches {later:.2f} ms, GPU {last['gpu_ms']['sum']:.2f} ms, "
              f"{last['method']} ({last['method_reason']}), exact {last['exact']}/{last['checked']}", flush=True)
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--only", default="", help="the cases whose name contains this")
    parser.add_argument("--limit", type=float, default=90, help="seconds of a process")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    there = gpus()
    if not there:
        print("knn_clusters: there is no GPU here")
        return
    cases = [(f"{data}, {kind}", data, queries, searches) for data in ("clusters", "uniform")
             for kind, queries, searches in (("run", 10_000, args.searches), ("one search", M, 1))]
    rows, failed = [], False
    for name, data, queries, searches in cases:
        if args.only not in name:
            continue
        for _ in range(args.rounds):
            for way in WAYS:
                rows.append({"case": name, "way": way, "found": run(args, way, data, queries, searches)})
        totals = show(name, rows)
        if name == "uniform, run" and len(totals) == len(WAYS):
            share = totals["plan"] / totals["all tiles"]
            print(f"{name}: the plan takes {share:.4f} of all tiles, at most {MOST_LOSS} wanted", flush=True)
            failed |= share > MOST_LOSS
        failed |= any("error" in row["found"] or row["found"]["exact"] < row["found"]["checked"] for row in rows)
        path = write_result(args.results, "knn_clusters", {"cases": rows}, there[0])
    if rows:
        print(f"wrote {path}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
