#!/usr/bin/env python3
"""Times three scikit-learn programs as they are, and in zero-change mode (python -m stope.accel): neighbours by brute
force, KNNImputer, PCA. Both take turns. Times are those of the calls, without imports and data; the first call of each
process is left out. Checks that the answers agree. Writes every sample to bench/results/accel_<cpu>_<date>.json.

  python3 bench/accel.py BUILD_FOLDER [--repeats 3] [--threads 2] [--small]

BUILD_FOLDER/python has the package; scripts/build.sh makes it. --small: a tenth of the rows, to try the script.
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

FRAME = """
import json, sys, time
import numpy as np
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
out, n = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(1)
X = rng.normal(size=(n, {columns}))
def work():
    {work}
def prepare():
    {prepare}
prepare()
times = dict(seconds=[], cpu_seconds=[])
for i in range(3):
    s, c = time.perf_counter(), time.process_time()
    answer = work()
    if i:
        times["seconds"].append(time.perf_counter() - s)
        times["cpu_seconds"].append(time.process_time() - c)
np.save(out, answer)
print(json.dumps(times))
"""
MISSING = "X[rng.random(X.shape) < 0.1] = np.nan"

# name: (rows, columns, preparation, the timed work)
CASES = {
    "kneighbors, brute": (20_000, 50, "pass", "return NearestNeighbors(n_neighbors=10, algorithm='brute').fit(X).kneighbors(X)[0]"),
    "KNeighborsClassifier, auto": (20_000, 8, "pass", "return KNeighborsClassifier().fit(X, X[:, 0] > 0).predict_proba(X)"),
    "KNNImputer, 10 % missing": (4_000, 50, MISSING, "return KNNImputer().fit_transform(X)"),
    "PCA, full": (5_000, 400, "pass", "return PCA(50, svd_solver='full').fit_transform(X)"),
    "PCA, wide": (400, 4_000, "pass", "return PCA(0.9).fit_transform(X)"),
}


def run(script, mode, out, rows, build, threads):
    env = dict(os.environ, PYTHONPATH=str(pathlib.Path(build).resolve() / "python"))
    env |= {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    command = [sys.executable, *(["-m", "stope.accel"] if mode == "stope" else []), script, out, rows]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    if mode == "stope" and any(not line.split()[-1].isdigit() for line in done.stderr.splitlines()[2:]):
        raise RuntimeError(f"scikit-learn answered:\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    results = []
    for name, (rows, columns, prepare, work) in CASES.items():
        rows = rows // 10 if arguments.small else rows
        case = {"name": name, "rows": rows, "columns": columns, "work": work}
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            script = folder / "script.py"
            script.write_text(FRAME.format(columns=columns, prepare=prepare, work=work))
            for _ in range(arguments.repeats):
                for mode in ("sklearn", "stope"):
                    times = run(script, mode, folder / f"{mode}.npy", rows, arguments.build, arguments.threads)
                    for key, values in times.items():
                        case.setdefault(mode, {}).setdefault(key, []).extend(values)
            ours, theirs = np.load(folder / "stope.npy"), np.load(folder / "sklearn.npy")
        case["difference"] = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        if not case["difference"] <= 1e-7:
            raise RuntimeError(f"{name}: the answers differ by {case['difference']}")
        for mode in ("sklearn", "stope"):
            for key in ("seconds", "cpu_seconds"):
                case[mode]["median_" + key] = statistics.median(case[mode][key])
        print(f"{name:28} {rows:6} x {columns:5}  scikit-learn {case['sklearn']['median_seconds']:8.3f} s (cpu "
              f"{case['sklearn']['median_cpu_seconds']:8.3f})  stope {case['stope']['median_seconds']:8.3f} s (cpu "
              f"{case['stope']['median_cpu_seconds']:8.3f})", flush=True)
        results.append(case)
    print(write_result(ROOT / "bench" / "results", "accel", {"threads": arguments.threads, "cases": results}))


if __name__ == "__main__":
    main()
