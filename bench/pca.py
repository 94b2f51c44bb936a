#!/usr/bin/env python3
"""Times PCA and ridge on tall, wide and square tables: stope and scikit-learn (its own choice of solver) take turns in
one run. Measures wall times and, for a machine that is not idle, CPU times. Checks variances (1e-9 of the total) and
coefficients (1e-7 of the largest). Writes every sample to bench/results/pca_<cpu>_<date>.json.

  python3 bench/pca.py BUILD_FOLDER [--repeats 3] [--threads 2] [--small] [--cases NAME,NAME]

--small: a tenth of the rows or columns, to try the script. scikit-learn: pip install scikit-learn.
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

# name: (job, rows, columns, components or alpha). 0 components = all. Ridge has one more column, the target.
CASES = {
    "pca tall, all": ("pca", 10_000_000, 50, 0),
    "pca tall, 10": ("pca", 100_000, 300, 10),
    "pca 1000 columns, 10": ("pca", 50_000, 1000, 10),
    "pca square, 10": ("pca", 4000, 4000, 10),
    "pca wide, all": ("pca", 200, 50_000, 0),
    "pca wide, 20": ("pca", 500, 500_000, 20),
    "ridge tall": ("ridge", 10_000_000, 50, 1.0),
    "ridge 300 columns": ("ridge", 100_000, 300, 1.0),
    "ridge wide": ("ridge", 500, 500_000, 1.0),
    "least squares, 300 columns": ("ridge", 30_000, 300, 0.0),
}

SKLEARN = """
import json, sys, time
import numpy as np, sklearn
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, Ridge
job, path, parameter, repeats, out = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
x = np.load(path)
times = {"seconds": [], "cpu_seconds": []}
if job == "pca":
    times |= {"transform_seconds": [], "transform_cpu_seconds": []}
def measure(work, prefix=""):
    s, c = time.perf_counter(), time.process_time()
    result = work()
    times[prefix + "seconds"].append(time.perf_counter() - s)
    times[prefix + "cpu_seconds"].append(time.process_time() - c)
    return result
if job == "ridge":
    y, x = x[:, -1].copy(), np.ascontiguousarray(x[:, :-1])
for _ in range(repeats):
    if job == "pca":
        model = measure(lambda: PCA(int(parameter) or None, random_state=0).fit(x))
        measure(lambda: model.transform(x), "transform_")
        values, method = model.explained_variance_, model._fit_svd_solver
    else:
        model = measure(lambda: (Ridge(parameter) if parameter else LinearRegression()).fit(x, y))
        values, method = model.coef_, getattr(model, "solver_", "lstsq")
np.asarray(values, dtype=np.float64).tofile(out)
print(json.dumps(times | {"method": method, "version": sklearn.__version__}))
"""


def made(folder, job, n, p):
    """Makes a table of fifteen latent dimensions and noise; for ridge it adds a target that depends on them."""
    random = np.random.default_rng(1)
    columns = p + (job == "ridge")
    path = folder / f"{job}_{n}_{p}.npy"
    x = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, columns))
    loads = random.normal(size=(15, columns)) * np.linspace(2, 0.3, 15)[:, None]
    for begin in range(0, n, 100_000):
        end = min(begin + 100_000, n)
        x[begin:end] = random.normal(size=(end - begin, 15)) @ loads + random.normal(size=(end - begin, columns)) + 3
    x.flush()
    return path


def run(command, threads):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    return json.loads(done.stdout)


def check(job, ours, theirs, method):
    """How far apart the answers are; the answer of an inexact solver is not compared."""
    if job == "pca":
        if method == "randomized":
            return None
        k = min(len(ours), len(theirs))
        off = np.abs(ours[:k] - theirs[:k]).max() / theirs.sum()
        limit = 1e-9
    else:
        off = np.abs(ours - theirs).max() / np.abs(theirs).max()
        limit = 1e-7
    if not off <= limit:
        raise RuntimeError(f"the answers differ by {off}")
    return float(off)


def extend(into, new):
    for key, value in new.items():
        if isinstance(value, list):
            into.setdefault(key, []).extend(value)
        else:
            into[key] = value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--cases", default=",".join(CASES).replace(", ", ";"))
    arguments = parser.parse_args()
    wanted = [name.replace(";", ", ") for name in arguments.cases.split(",")]
    results = []
    for name in wanted:
        job, n, p, parameter = CASES[name]
        if arguments.small:
            n, p = (n // 10, p) if n >= p else (n, p // 10)
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
            folder = pathlib.Path(folder)
            data = made(folder, job, n, p)
            case = {"name": name, "job": job, "rows": n, "columns": p, "parameter": parameter, "stope": {}, "sklearn": {}}
            for _ in range(arguments.repeats):
                extend(case["stope"], run([pathlib.Path(arguments.build) / "bench" / "pca_bench", job, data, parameter,
                                           arguments.threads, 1, folder / "a"], arguments.threads))
                extend(case["sklearn"], run([sys.executable, "-c", SKLEARN, job, data, parameter, 1, folder / "b"],
                                            arguments.threads))
            case["difference"] = check(job, np.fromfile(folder / "a"), np.fromfile(folder / "b"), case["sklearn"]["method"])
        for who in ("stope", "sklearn"):
            for key in [k for k in case[who] if k.endswith("seconds")]:
                case[who]["median_" + key] = statistics.median(case[who][key])
        ours, theirs = case["stope"], case["sklearn"]
        print(f"{name:28} stope {ours['median_seconds']:8.3f} s (cpu {ours['median_cpu_seconds']:8.3f}) {ours['method']:16} "
              f"scikit-learn {theirs['median_seconds']:8.3f} s (cpu {theirs['median_cpu_seconds']:8.3f}) {theirs['method']}",
              flush=True)
        results.append(case)
    path = write_result(ROOT / "bench" / "results", "pca", {"threads": arguments.threads, "cases": results})
    print(path)


if __name__ == "__main__":
    main()
