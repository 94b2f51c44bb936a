#!/usr/bin/env python3
"""Times both sides of every crossover in src/knn/search/method.cpp and prints where they meet. It always times the
first search of a fresh index, which makes the images and looks at the sample. Writes
bench/results/knn_crossovers_<cpu>_<date>.json.

  python3 bench/knn_crossovers.py BUILD_FOLDER [--threads 2] [--repeats 5]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402

REFERENCE = {"STOPE_BACKEND": "reference"}
DIFFERENCES = {"STOPE_SCAN": "differences"}
PRODUCTS = {"STOPE_SCAN": "products"}
BYTES = {"STOPE_SCAN": "bytes"}
TABLE = {"STOPE_BLOCK_ORDER": "table"}
NEAR = {"STOPE_BLOCK_ORDER": "near"}
AUTO = {}


def crossovers():
    """(name, what varies, [(value, n, m, d, k, metric)], the ways compared)"""
    filtered = {"filter": {**DIFFERENCES, "forced": True}, "reference": REFERENCE, "auto": AUTO}
    yield ("pairs, many queries", "rows = queries",
           [(n, n, n, 10, 3, "euclidean") for n in (16, 32, 64, 128, 256, 512, 1024)], filtered)
    yield ("pairs, one query", "rows",
           [(n, n, 1, 10, 3, "euclidean") for n in (1000, 4000, 16000, 64000, 256000)], filtered)
    yield ("queries of 100,000 rows", "queries",
           [(m, 100_000, m, 20, 3, "euclidean") for m in (1, 2, 4, 8, 16, 32)], filtered)
    yield ("share of the rows that are neighbours", "rows / k",
           [(share, 20_000, 200, 20, 20_000 // share, "euclidean") for share in (128, 32, 16, 8, 4, 2)], filtered)
    kinds = {"differences": DIFFERENCES, "products": PRODUCTS, "bytes": BYTES, "auto": AUTO}
    yield ("rows and queries from which a sample pays, 50 columns", "rows = queries",
           [(n, n, n, 50, 10, "euclidean") for n in (512, 1024, 2048, 4096, 8192, 16384)], kinds)
    yield ("rows from which a sample pays, 100 queries", "rows",
           [(n, n, 100, 50, 10, "euclidean") for n in (1024, 4096, 8192, 16384, 65536)], kinds)
    yield ("columns from which products pay", "columns",
           [(d, 50_000, 1_000, d, 10, "euclidean") for d in (2, 4, 6, 8, 10, 12, 16, 32)], kinds)
    yield ("columns from which byte differences pay", "columns",
           [(d, 50_000, 1_000, d, 10, "manhattan") for d in (2, 4, 6, 8, 10, 12, 16, 32)],
           {"differences": DIFFERENCES, "bytes": BYTES, "auto": AUTO})
    yield ("columns up to which blocks pay", "columns",
           [(d, 200_000, 5_000, d, 10, "euclidean") for d in (2, 3, 4, 6, 8, 10, 12, 16, 20, 24)],
           {"table": TABLE, "near": NEAR, "auto": AUTO})


def first_search(build, folder, case, way, arguments):
    _, n, m, d, k, metric = case
    rng = np.random.default_rng(1)
    for name, rows in (("train", n), ("query", m)):
        np.save(folder / f"{name}.npy", rng.random((rows, d), dtype=np.float32))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STOPE_")}
    environment |= {key: value for key, value in way.items() if key != "forced"}
    if way.get("forced"):
        environment["STOPE_BACKEND"] = arguments.backend
    times = []
    for _ in range(arguments.repeats):
        done = subprocess.run([build / "bench" / "knn_cpu_bench", folder / "train.npy", folder / "query.npy", metric,
                               str(k), str(arguments.threads), "0", folder / "out"], env=environment,
                              capture_output=True, text=True, check=True)
        times.append(json.loads(done.stdout)["first"])
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--backend", default="avx512vnni")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for name, varies, cases, ways in crossovers():
            print(f"{name}\n  {varies:>16} " + "".join(f"{way:>14}" for way in ways))
            rows = []
            for case in cases:
                times = {way: first_search(arguments.build, pathlib.Path(folder), case, setting, arguments)
                         for way, setting in ways.items()}
                rows.append({varies: case[0], "n": case[1], "m": case[2], "d": case[3], "k": case[4],
                             "metric": case[5], "milliseconds": {way: 1e3 * t for way, t in times.items()}})
                print(f"  {case[0]:>16} " + "".join(f"{1e3 * t:>11.3f} ms" for t in times.values()), flush=True)
            result.append({"crossover": name, "rows": rows})
    print(write_result(arguments.results, "knn_crossovers", {"threads": arguments.threads, "results": result}))


if __name__ == "__main__":
    main()
