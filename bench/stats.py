#!/usr/bin/env python3
"""Times statistics of arrays on the CPU: everything in one pass, and only extremes and missing values. The floor is a
plain read of the same array by as many threads, in the same process, turn by turn. The rival is NumPy: two calls, min
and max, on the same file. Checks the answers against NumPy's. Measures wall times and, for a machine that is not idle,
CPU times. Writes every sample to bench/results/stats_<cpu>_<date>.json.

  python3 bench/stats.py BUILD_FOLDER [--gigabytes 1] [--repeats 7] [--threads 2] [--backends avx512,avx2,scalar]
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402

# name, type, columns (0: all values in one column), layout, share of missing values
CASES = (
    ("1-D float32", "float32", 1, "rows", 0.0),
    ("1-D float32, 5 % missing", "float32", 1, "rows", 0.05),
    ("1-D float64", "float64", 1, "rows", 0.0),
    ("1-D int32", "int32", 1, "rows", 0.0),
    ("1-D int64", "int64", 1, "rows", 0.0),
    ("row-major, 256 columns, float32", "float32", 256, "rows", 0.0),
    ("row-major, 20 columns, float64", "float64", 20, "rows", 0.0),
    ("column-major, 256 columns, float32", "float32", 256, "columns", 0.0),
)


def make(case, gigabytes, path):
    """Makes values in [-1, 1) (integers: of the type's whole range). 2^20 values are repeated with other signs, which
    is fast and makes every page different."""
    name, kind, columns, _, missing = case
    rows = int(gigabytes * 1e9) // np.dtype(kind).itemsize // columns // 8192 * 8192
    random = np.random.default_rng(1)
    values = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(rows * columns,))
    step = 1 << 22
    for begin in range(0, len(values), step):
        n = min(step, len(values) - begin)
        if kind.startswith("int"):
            limits = np.iinfo(kind)
            values[begin:begin + n] = random.integers(limits.min, limits.max, n, dtype=kind)
        else:
            block = random.random(n, dtype=kind) * 2 - 1
            if missing:
                block[random.random(n, dtype=np.float32) < missing] = np.nan
            values[begin:begin + n] = block
    values.flush()
    return rows


def numpy_samples(path, case, rows, repeats):
    """Times min and max of the file in memory: of one column over everything, else by column; with missing values,
    nanmin and nanmax."""
    _, _, columns, layout, missing = case
    values = np.load(path)
    matrix = values.reshape((rows, columns) if layout == "rows" else (columns, rows))
    axis = None if columns == 1 else 0 if layout == "rows" else 1
    low, high = (np.nanmin, np.nanmax) if missing else (np.min, np.max)
    samples = {"wall_ms": [], "processor_ms": []}
    for _ in range(repeats):
        wall, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        mins, maxs = low(matrix, axis=axis), high(matrix, axis=axis)
        after = resource.getrusage(resource.RUSAGE_SELF)
        samples["wall_ms"].append(1e3 * (time.perf_counter() - wall))
        samples["processor_ms"].append(1e3 * (after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime))
    first = matrix[:, 0] if layout == "rows" else matrix[0]
    facts = {"min": float(np.atleast_1d(mins)[0]), "max": float(np.atleast_1d(maxs)[0]),
             "missing": int(np.isnan(first).sum()) if missing else 0,
             "mean": float(np.nanmean(first, dtype=np.float64)), "variance": float(np.nanvar(first, dtype=np.float64, ddof=1))}
    return samples, facts


def check(name, ours, facts):
    for key in ("min", "max", "missing"):
        if ours[key] != facts[key]:
            sys.exit(f"{name}: {key} is {ours[key]}, NumPy has {facts[key]}")
    if abs(ours["mean"] - facts["mean"]) > 1e-6 * abs(facts["variance"]) ** 0.5 or abs(ours["variance"] / facts["variance"] - 1) > 1e-9:
        sys.exit(f"{name}: mean or variance differ: {ours}, {facts}")


def measure(args, case, folder):
    name, kind, columns, layout, _ = case
    path = pathlib.Path(folder) / "values.npy"
    rows = make(case, args.gigabytes, path)
    offset = path.stat().st_size - rows * columns * np.dtype(kind).itemsize
    result = {"name": name, "rows": rows, "columns": columns, "backends": {}}
    for backend in args.backends.split(","):
        command = [args.build / "bench" / "stats_bench", f"file={path}", f"offset={offset}", f"type={kind}", f"rows={rows}",
                   f"columns={columns}", f"layout={layout}", f"threads={args.threads}", f"repeats={args.repeats}"]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"STOPE_BACKEND": backend})
        if done.returncode != 0:
            print(f"{name}, {backend}: left out: {done.stderr.strip()}")
            continue
        result["backends"][backend] = json.loads(done.stdout)
    result["numpy"], facts = numpy_samples(path, case, rows, min(args.repeats, 3))
    for backend, found in result["backends"].items():
        check(f"{name}, {backend}", found["columns"][0], facts)
    report(result)
    path.unlink()
    return result


def report(result):
    for backend, found in result["backends"].items():
        size = found["bytes"]
        texts = []
        for what in ("wall_ms", "processor_ms"):
            read, few, everything = (min(found[part][what]) for part in ("read", "extremes", "all"))
            numpy = min(result["numpy"][what])
            found[what.split("_")[0]] = {"extremes_of_read": read / few, "all_of_read": read / everything, "numpy_over_all": numpy / everything}
            texts.append(f"{what[:-3]}: read {size / read / 1e6:.1f} GB/s, extremes {read / few:.2f} of it, all {read / everything:.2f}, "
                         f"NumPy's time {numpy / everything:.2f} x all")
        print(f"{result['name']}, {backend}: " + "; ".join(texts), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backends", default="avx512,avx2,scalar")
    parser.add_argument("--only", default="", help="the cases whose name contains this; writes no file")
    parser.add_argument("--folder", help="for the file of values")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        cases = [measure(args, case, folder) for case in CASES if args.only in case[0]]
    if not args.only:
        print(f"wrote {write_result(args.results, 'stats', {'numpy': np.__version__, 'threads': args.threads, 'cases': cases})}")


if __name__ == "__main__":
    main()
