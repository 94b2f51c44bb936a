#!/usr/bin/env python3
"""Times whole decision trees on the CPU, grown until leaves are pure. stope grows by discernibility (its own measure)
and by Gini impurity, in turn with scikit-learn's DecisionTreeClassifier by Gini impurity on the same float32 array.
scikit-learn grows one tree on one thread. stope is timed with one thread and with all, in wall time and in CPU time,
which a loaded machine changes less. All rows are distinct, so every tree has to be right on all of them.

--rseslib takes a class path of Rseslib 3.6 and Weka (built with Maven from Rseslib's own source). Its local
discretisation, which grows stope's tree, is then timed once on the wide tables, and the number of leaves is compared.

Writes every sample to bench/results/tree_<cpu>_<date>.json.

  python3 bench/tree.py BUILD_FOLDER [--repeats 5] [--threads 2] [--only NAME] [--rseslib CLASSPATH]
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

# name, rows, columns, classes, kind. The wide ones are the shapes of work 004 (bench/README.md).
CASES = (
    ("161 x 61,359, normal, 2 classes", 161, 61359, 2, "noise"),
    ("247 x 54,675, normal, 2 classes", 247, 54675, 2, "noise"),
    ("180 x 54,675, normal, 2 classes", 180, 54675, 2, "noise"),
    ("100,000 x 20, 5 classes", 100_000, 20, 5, "rule"),
    ("1,000,000 x 10, 3 classes", 1_000_000, 10, 3, "rule"),
    ("100,000 x 20, whole numbers, 2 classes", 100_000, 20, 2, "integers"),
)


def make(case):
    """noise: classes are independent of the values. rule: classes follow the sum of three columns, and a tenth is
    wrong."""
    _, rows, columns, classes, kind = case
    random = np.random.default_rng(1)
    if kind == "integers":
        x = random.integers(0, 1000, (rows, columns)).astype(np.float32)
    else:
        x = random.standard_normal((rows, columns), dtype=np.float32)
    if kind == "noise":
        return x, random.integers(0, classes, rows)
    score = x[:, 0] + x[:, 1] - x[:, 2]
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    wrong = random.random(rows) < 0.1
    y[wrong] = random.integers(0, classes, int(wrong.sum()))
    return x, y


def ours(args, folder, criterion, threads):
    command = [args.build / "bench" / "tree_bench", f"x={folder}/x.npy", f"y={folder}/y.npy", f"criterion={criterion}", f"threads={threads}", "repeats=3"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def theirs(x, y):
    from sklearn.tree import DecisionTreeClassifier
    tree = DecisionTreeClassifier(random_state=0)
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    tree.fit(x, y)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {"wall_ms": [1e3 * (time.perf_counter() - wall)],
            "processor_ms": [1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)], "leaves": int(tree.get_n_leaves()), "depth": int(tree.get_depth()),
            "right": int((tree.predict(x) == y).sum())}


def rseslib(args, folder):
    command = ["java", "-Xmx8g", "-cp", args.rseslib, ROOT / "bench" / "support" / "RseslibTree.java", f"{folder}/x.npy", f"{folder}/y.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def measure(args, case, folder):
    name, rows, columns, classes, kind = case
    x, y = make(case)
    np.save(f"{folder}/x.npy", x)
    np.save(f"{folder}/y.npy", y.astype(np.int32).reshape(-1, 1))
    runs = {f"stope, {criterion}, {threads} threads": (criterion, threads) for criterion in ("discernibility", "gini") for threads in {1, args.threads}}
    result = {"name": name, "rows": rows, "columns": columns, "classes": classes, "runs": {}}
    for turn in range(args.repeats):
        for run, (criterion, threads) in runs.items():
            add(result, run, ours(args, folder, criterion, threads))
        if turn < args.sklearn_repeats:
            add(result, "scikit-learn, gini, 1 thread", theirs(x, y))
    if args.rseslib and kind == "noise":
        found = rseslib(args, folder)
        add(result, "Rseslib, discernibility, 1 thread", found)
        if found["leaves"] != result["runs"]["stope, discernibility, 1 threads"]["leaves"]:
            sys.exit(f"{name}: Rseslib's tree has {found['leaves']} leaves")
    for run, found in result["runs"].items():
        if found.get("right", rows) != rows:
            sys.exit(f"{name}, {run}: wrong on {rows - found['right']} training rows")
    rival = result["runs"]["scikit-learn, gini, 1 thread"]
    for run, found in result["runs"].items():
        wall, processor = min(found["wall_ms"]), min(found["processor_ms"])
        found["rival_over_wall"], found["rival_over_processor"] = min(rival["wall_ms"]) / wall, min(rival["processor_ms"]) / processor
        print(f"{name}, {run}: {wall:.1f} ms ({found['rival_over_wall']:.1f} x faster), processor {processor:.1f} ms "
              f"({found['rival_over_processor']:.1f} x), {found['leaves']} leaves", flush=True)
    return result


def add(result, run, found):
    kept = result["runs"].setdefault(run, found | {"wall_ms": [], "processor_ms": []})
    kept["wall_ms"] += found["wall_ms"]
    kept["processor_ms"] += found["processor_ms"]
    for key in ("leaves", "depth", "right"):
        if kept.get(key) != found.get(key):
            sys.exit(f"{result['name']}, {run}: {key} is {found[key]}, before {kept[key]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sklearn-repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="the cases whose name contains this; writes no file")
    parser.add_argument("--folder", help="for the tables")
    parser.add_argument("--rseslib", help="class path of Rseslib and Weka")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    import sklearn
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        cases = [measure(args, case, folder) for case in CASES if args.only in case[0]]
    if not args.only:
        print(f"wrote {write_result(args.results, 'tree', {'sklearn': sklearn.__version__, 'threads': args.threads, 'cases': cases})}")


if __name__ == "__main__":
    main()
