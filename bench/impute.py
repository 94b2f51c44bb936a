#!/usr/bin/env python3
"""Times stope's KNNImputer against scikit-learn's: fit of all rows and transform of the same rows, numeric tables; and the
command line's `stope impute` on a mixed table, which has no rival. Checks the answers. Writes every sample to
bench/results/impute_<cpu>_<date>.json.

  python3 bench/impute.py BUILD_FOLDER [--repeats 3] [--threads 2] [--rival-rows 2000] [--small]

scikit-learn's transform of 100,000 rows takes many minutes. It is timed on a share of the rows (--rival-rows) after a
fit of all of them, and scaled: its work is proportional to the rows that are transformed. The file says so
(`rival_rows`, `scaled`). stope transforms all rows. A process runs one of them, both with as many threads, in turn.
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

# rows, columns, share of missing values
CASES = [(n, 50, share) for n in (10_000, 100_000) for share in (0.01, 0.05, 0.2)]
MIXED = (20_000, 12, 6, 0.05)  # rows, numeric and nominal columns, share

SCRIPT = """
import json, sys, time
import numpy as np
who, out, n, d, share, rows = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:])
n, d, rows = int(n), int(d), int(rows)
rng = np.random.default_rng(1)
X = rng.normal(size=(n, d))
X[rng.random(X.shape) < share] = np.nan
if who == "stope":
    from stope import KNNImputer
else:
    from sklearn.impute import KNNImputer
KNNImputer().fit(X[:200]).transform(X[:20])
s, c = time.perf_counter(), time.process_time()
imputer = KNNImputer().fit(X)
fitted = time.perf_counter() - s
filled = imputer.transform(X[:rows])
times = {"seconds": time.perf_counter() - s, "cpu_seconds": time.process_time() - c, "fit_seconds": fitted}
if who == "stope":
    times["report"] = dict(imputer.report_)
    times["report"].pop("columns", None)
np.save(out, filled[:1000])
print(json.dumps(times))
"""


def environment(build, threads):
    env = dict(os.environ, PYTHONPATH=str(pathlib.Path(build).resolve() / "python"))
    return env | {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def run(who, out, case, rows, env):
    words = [sys.executable, "-c", SCRIPT, who, out, *case, rows]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def numeric_case(case, arguments, folder, env):
    n, d, share = case
    rival_rows = min(n, arguments.rival_rows)
    result = {"rows": n, "columns": d, "missing": share, "rival_rows": rival_rows, "scaled": n / rival_rows}
    for _ in range(arguments.repeats):
        for who, rows in (("sklearn", rival_rows), ("stope", n)):
            times = run(who, folder / f"{who}.npy", case, rows, env)
            result.setdefault(who, []).append(times)
    m = min(1000, rival_rows)
    ours, theirs = np.load(folder / "stope.npy")[:m], np.load(folder / "sklearn.npy")[:m]
    result["difference"] = float(np.abs(ours - theirs).max())
    if not result["difference"] <= 1e-7:
        raise RuntimeError(f"{case}: the answers differ by {result['difference']}")
    for key in ("seconds", "cpu_seconds"):
        mine = statistics.median(times[key] for times in result["stope"])
        rival = statistics.median(
            times["fit_seconds"] + (times[key] - times["fit_seconds"]) * result["scaled"] for times in result["sklearn"]
        )
        result[f"stope_{key}"], result[f"sklearn_{key}"], result[f"ratio_{key}"] = mine, rival, rival / mine
    print(f"{n:7} x {d}, {100 * share:3.0f} %  scikit-learn {result['sklearn_seconds']:9.2f} s (cpu "
          f"{result['sklearn_cpu_seconds']:9.2f})  stope {result['stope_seconds']:7.2f} s (cpu "
          f"{result['stope_cpu_seconds']:7.2f})  {result['ratio_seconds']:6.1f} times (cpu "
          f"{result['ratio_cpu_seconds']:6.1f})", flush=True)
    return result


def mixed_case(arguments, folder):
    n, n_numeric, n_nominal, share = MIXED
    n = n // 10 if arguments.small else n
    rng = np.random.default_rng(2)
    columns = [np.char.mod("%.6f", rng.normal(size=n)) for _ in range(n_numeric)]
    columns += [np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, n)] for _ in range(n_nominal)]
    for column in columns:
        column[rng.random(n) < share] = ""
    path = folder / "mixed.csv"
    names = [f"c{i}" for i in range(len(columns))]
    path.write_text(",".join(names) + "\n" + "\n".join(map(",".join, zip(*columns))) + "\n")
    result = {"rows": n, "numeric": n_numeric, "nominal": n_nominal, "missing": share, "samples": []}
    program = pathlib.Path(arguments.build) / "cli" / "stope"
    for _ in range(arguments.repeats):
        done = subprocess.run(
            [str(word) for word in (program, "impute", path, "--normalize", "range", "--threads", arguments.threads,
                                    "--json", "-o", folder / "filled.csv")],
            capture_output=True, text=True, check=True)
        said = json.loads(done.stdout)
        result["samples"].append(said["plan"]["seconds"])
    filled = (folder / "filled.csv").read_text().splitlines()
    if len(filled) != n + 1 or any("" in line.split(",") for line in filled):
        raise RuntimeError("the mixed table has missing values left")
    result["seconds"] = statistics.median(result["samples"])
    print(f"{n:7} x {n_numeric} + {n_nominal}, mixed: stope impute {result['seconds']:.2f} s", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rival-rows", type=int, default=2000)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    env = environment(arguments.build, arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        cases = [(n // 10 if arguments.small else n, d, share) for n, d, share in CASES]
        numeric = [numeric_case(case, arguments, folder, env) for case in cases]
        mixed = mixed_case(arguments, folder)
    result = {"threads": arguments.threads, "cases": numeric, "mixed": mixed}
    print(write_result(ROOT / "bench" / "results", "impute", result))


if __name__ == "__main__":
    main()
