#!/usr/bin/env python3
"""Measures what `--device auto` weighs (src/knn/search/auto_device.cpp): the same k-NN jobs, from host memory to host
memory, on the CPU and on a GPU, in a fresh process, with the driver started, and with the table on the GPU. Prints
where each pays and writes bench/results/knn_device_<gpu>_<date>.json.

  python3 bench/knn_device.py BUILD_FOLDER [--repeats 5] [--seconds 1e9] [--skip CASES] [--only TEXT] [--results FOLDER]
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402

FILTERED = "euclidean"  # images and matrix units on either side
EXACT = "mahalanobis"   # every distance by the formula
PROCESSOR = [  # back end, rows, queries, columns, k, metric, to measure the cost of a pair
    *((backend, 50_000, 2_000, 20, 10, metric) for backend in ("avx512vnni", "avx512", "avx2", "scalar")
      for metric in (FILTERED, "chebyshev")),
    *(("reference", 10_000, 500, 20, 10, metric) for metric in
      (FILTERED, "chebyshev", "cosine", "cosine-similarity", EXACT, "minkowski", "kl", "kernel-euclidean", "dtw")),
]
CASES = [  # rows, queries, columns, k, metric
    *((n, n, 20, 10, FILTERED) for n in (1_000, 10_000, 30_000, 100_000)),
    *((100_000, m, 50, 10, FILTERED) for m in (1, 10, 100, 1_000, 10_000)),
    *((1_000_000, m, 50, 10, FILTERED) for m in (1, 100, 1_000)),
    *((n, n, 20, 10, "chebyshev") for n in (1_000, 10_000, 30_000)),
    *((n, n, 20, 10, EXACT) for n in (1_000, 3_000)),
    *((n, n, 20, 10, "dtw") for n in (300, 1_000)),
    *((n, n, 20, 10, "kl") for n in (1_000, 3_000, 10_000)),
]


def measure(build, case, device, repeats, warm, backend=None):
    words = [build / "bench" / "knn_device_bench", *case, device, repeats, *(["warm"] if warm else [])]
    environment = {key: value for key, value in os.environ.items() if key != "STOPE_BACKEND"}
    if device == "cuda":
        backend = "cuda"  # uses images even if the job is small
    if backend:
        environment["STOPE_BACKEND"] = backend
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no case after this long")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first so many cases")
    parser.add_argument("--only", default="")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    os.environ.setdefault("STOPE_CUDA_PLUGIN", str((arguments.build / "libstope_cuda.so").resolve()))
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True,
                         text=True).stdout.splitlines()[0].strip()
    print(f"{'rows':>8} {'queries':>8} {'cols':>5} {'metric':>12} | {'cpu first':>9} {'next':>9} | "
          f"{'fresh':>9} {'warm':>9} {'next':>9} {'gpu':>9}  ms")
    began, rows, processor = time.monotonic(), [], []
    for case in CASES[arguments.skip:]:
        if arguments.only not in case[4] or time.monotonic() - began > arguments.seconds:
            continue
        cpu = measure(arguments.build, case, "cpu", arguments.repeats, False)
        fresh = measure(arguments.build, case, "cuda", 1, False)
        warm = measure(arguments.build, case, "cuda", arguments.repeats, True)
        rows.append({"cpu": cpu, "fresh": fresh, "warm": warm})
        print(f"{case[0]:>8} {case[1]:>8} {case[2]:>5} {case[4]:>12} | {cpu['first_ms']:>9.2f} {cpu['next_ms']:>9.2f} | "
              f"{fresh['first_ms']:>9.2f} {warm['first_ms']:>9.2f} {warm['next_ms']:>9.2f} {warm['gpu_ms']:>9.2f}",
              flush=True)
    for backend, *case in PROCESSOR:
        if arguments.only not in case[4] or time.monotonic() - began > arguments.seconds:
            continue
        row = measure(arguments.build, case, "cpu", arguments.repeats, False, backend)
        processor.append(row)
        per_thread = 1e6 * row["least_ms"] * row["threads"] / case[0] / case[1]
        print(f"{backend:>12} {case[0]:>8} x {case[1]} x {case[2]} {case[4]:>18}: {row['least_ms']:>8.2f} ms, "
              f"{per_thread:.3f} ns a pair and thread", flush=True)
    slug = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    print(write_result(arguments.results, f"knn_device_{slug}", {"gpu": gpu, "results": rows, "processor": processor}))


if __name__ == "__main__":
    main()
