#!/usr/bin/env python3
"""Times exact k-NN on the CPU in one run: stope (every back end of the machine, and its reference) against scikit-learn
(brute force, kd_tree, ball_tree), FAISS's flat index and, for mixed tables, Gower distances in NumPy. Every answer is
checked: stope's must equal its reference's bit for bit. For rivals the share of queries with the right neighbours is
reported. Writes bench/results/knn_cpu_<cpu>_<date>.json and a plot of time against rows and columns.

  python3 bench/knn_cpu.py BUILD_FOLDER [--threads 2] [--repeats 5] [--only NAME] [--quick]

Rivals that are not installed are left out with a message: pip install scikit-learn faiss-cpu matplotlib.
"""
import argparse
import dataclasses
import importlib.util
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

CHECKED = 64  # queries whose answer is compared


@dataclasses.dataclass
class Case:
    name: str
    n: int
    m: int
    d: int
    k: int = 10
    metric: str = "euclidean"
    data: str = "uniform"
    rivals: tuple = ("sklearn-brute", "faiss")
    backends: tuple = ("avx512vnni",)
    threads: int = 0


ALL = ("avx512vnni", "avx512", "avx2", "scalar")
TREES = ("sklearn-kd_tree", "sklearn-ball_tree", "faiss")
CASES = [
    Case("100k x 1k x 8", 100_000, 1_000, 8, rivals=("sklearn-brute", "sklearn-kd_tree", "faiss"), backends=ALL),
    Case("100k x 1k x 50", 100_000, 1_000, 50, backends=ALL),
    Case("100k x 1k x 128", 100_000, 1_000, 128, backends=ALL),
    Case("100k x 1k x 768", 100_000, 1_000, 768, backends=ALL),
    Case("100k x 1k x 50, k 1", 100_000, 1_000, 50, k=1),
    Case("100k x 1k x 50, k 100", 100_000, 1_000, 50, k=100),
    Case("100k x 1k x 50, one thread", 100_000, 1_000, 50, threads=1),
    Case("100k x 1k x 50, normal", 100_000, 1_000, 50, data="normal"),
    Case("1M x 1k x 50", 1_000_000, 1_000, 50),
    Case("20k x 20k x 50", 20_000, 20_000, 50),
    Case("1M x 100k x 2", 1_000_000, 100_000, 2, rivals=TREES[:2]),
    Case("1M x 100k x 3", 1_000_000, 100_000, 3, rivals=TREES[:2]),
    Case("1M x 100k x 8", 1_000_000, 100_000, 8, rivals=("sklearn-kd_tree",)),
    Case("100k x 10k x 50, 1,000 clusters", 100_000, 10_000, 50, data="clusters", rivals=("sklearn-brute", "sklearn-kd_tree", "faiss")),
    Case("100k x 1k x 50, manhattan", 100_000, 1_000, 50, metric="manhattan", rivals=("sklearn-brute", "faiss-l1")),
    Case("mixed 100k x 1k x 25 + 25, gower", 100_000, 1_000, 50, metric="gower", data="mixed", rivals=("numpy-gower",)),
    Case("mixed 100k x 1k x 25 + 25, mixed-euclidean", 100_000, 1_000, 50, metric="mixed-euclidean", data="mixed", rivals=()),
]
AXES = ([Case(f"rows {n}", n, 1_000, 50) for n in (5_000, 20_000, 80_000, 320_000)] +
        [Case(f"columns {d}", 50_000, 1_000, d) for d in (2, 4, 8, 16, 32, 64, 128, 256)])

# A rival runs in a process of its own. It has the arrays T and Q, k, threads and repeats, and prints build and search
# seconds.
SEARCH = {
    "sklearn-brute": "nn = NearestNeighbors(n_neighbors=k, algorithm='brute', metric=metric, n_jobs=threads).fit(T)",
    "sklearn-kd_tree": "nn = NearestNeighbors(n_neighbors=k, algorithm='kd_tree', n_jobs=threads).fit(T)",
    "sklearn-ball_tree": "nn = NearestNeighbors(n_neighbors=k, algorithm='ball_tree', n_jobs=threads).fit(T)",
    "faiss": "nn = faiss.IndexFlatL2(T.shape[1]); nn.add(T)",
    "faiss-l1": "nn = faiss.IndexFlat(T.shape[1], faiss.METRIC_L1); nn.add(T)",
    "numpy-gower": "nn = Gower(T)",
}
RIVAL = """
import json, sys, time
import numpy as np
T, Q = np.load(sys.argv[1]), np.load(sys.argv[2])
k, threads, repeats, metric = {k}, {threads}, {repeats}, "{metric}"
if "{name}".startswith("faiss"):
    import faiss
    faiss.omp_set_num_threads(threads)
    version = faiss.__version__
elif "{name}".startswith("sklearn"):
    import sklearn
    from sklearn.neighbors import NearestNeighbors
    version = sklearn.__version__
else:
    version = np.__version__
class Gower:  # 25 numeric columns, then nominal codes; NaN = missing; one query at a time, whole columns at once
    def __init__(self, T):
        self.T = T.T.copy()
        numeric = self.T[:25]
        self.range = (np.nanmax(numeric, axis=1) - np.nanmin(numeric, axis=1))[:, None]
    def search(self, q):
        terms = np.empty_like(self.T)
        terms[:25] = np.abs(self.T[:25] - q[:25, None]) / self.range
        terms[25:] = self.T[25:] != q[25:, None]
        present = ~(np.isnan(self.T) | np.isnan(q)[:, None])
        d = np.where(present, terms, 0).sum(axis=0) / present.sum(axis=0)
        i = np.argpartition(d, k)[:k]
        return i[np.lexsort((i, d[i]))]
s = time.perf_counter()
{build}
build = time.perf_counter() - s
times = []
for _ in range(repeats):
    s = time.perf_counter()
    if "{name}".startswith("faiss"):
        I = nn.search(Q, k)[1]
    elif "{name}".startswith("sklearn"):
        I = nn.kneighbors(Q)[1]
    else:
        I = np.array([nn.search(q) for q in Q[:{limit}]])
    times.append((time.perf_counter() - s) * len(Q) / len(I))
np.save(sys.argv[3], I[:{checked}])
print(json.dumps({{"build": build, "searches": times, "version": version}}))
"""


def generate(case, folder):
    """Makes training and query arrays: float32, as the rivals take them, and mixed ones also as CSV for stope."""
    g = np.random.default_rng(1)

    def draw(rows, centres):
        if case.data == "uniform":
            return g.random((rows, case.d), dtype=np.float32)
        if case.data == "normal":
            return g.standard_normal((rows, case.d), dtype=np.float32)
        if case.data == "clusters":
            return (centres[g.integers(len(centres), size=rows)] +
                    g.standard_normal((rows, case.d), dtype=np.float32) * 0.02).astype(np.float32)
        table = g.random((rows, case.d), dtype=np.float32)
        table[:, 25:] = g.integers(8, size=(rows, case.d - 25))
        table[g.random((rows, case.d)) < 0.05] = np.nan
        return table

    centres = g.random((1000, case.d), dtype=np.float32)
    files = {}
    for name, rows in (("train", case.n), ("query", case.m)):
        array = draw(rows, centres)
        for part, data in ((name, array), (name + "64", array[:CHECKED])):
            files[part] = folder / f"{part}.npy"
            np.save(files[part], data)
            if case.data == "mixed":
                write_mixed(folder / f"{part}.csv", data)
                files["stope-" + part] = folder / f"{part}.csv"
            else:
                files["stope-" + part] = files[part]
    return files


def write_mixed(path, data):
    with open(path, "w") as out:
        out.write(",".join(f"x{i}" for i in range(25)) + "," + ",".join(f"s{i}" for i in range(25)) + "\n")
        for row in data:
            cells = ["" if np.isnan(v) else repr(float(v)) if i < 25 else "v" + str(int(v)) for i, v in enumerate(row)]
            out.write(",".join(cells) + "\n")


def run(command, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=os.environ | environment)
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-300:]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def stope(args, case, files, folder, backend, query, repeats):
    out = folder / f"out-{backend}"
    result = run([args.build / "bench" / "knn_cpu_bench", files["stope-train"], files[query], case.metric, case.k,
                  case.threads or args.threads, repeats, out], STOPE_BACKEND=backend)
    if "error" not in result:
        result["indices"] = np.fromfile(f"{out}.indices", dtype=np.int64).reshape(-1, case.k)
        result["distances"] = np.fromfile(f"{out}.distances").reshape(-1, case.k)
    return result


def rival(args, case, files, folder, name):
    out = folder / f"out-{name}.npy"
    threads = case.threads or args.threads
    code = RIVAL.format(name=name, build=SEARCH[name], k=case.k, threads=threads, metric=case.metric, checked=CHECKED,
                        repeats=1 if name == "numpy-gower" else min(3, args.repeats), limit=CHECKED)
    result = run([sys.executable, "-c", code, files["train"], files["query"], out], OMP_NUM_THREADS=str(threads),
                 OPENBLAS_NUM_THREADS=str(threads))
    if "error" not in result:
        result["indices"] = np.load(out)
    return result


def measure(args, case):
    """Measures one case: every program, then stope's first back end once more, so that a drift of the machine shows."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = generate(case, folder)
        truth = stope(args, case, files, folder, "reference", "stope-query64", 1)
        rows = {}
        backends = [b for b in case.backends if b in args.backends] or args.backends[:1]
        for backend in backends:
            rows["stope " + backend] = stope(args, case, files, folder, backend, "stope-query", args.repeats)
        for name in case.rivals:
            if name not in args.missing:
                rows[name] = rival(args, case, files, folder, name)
        rows["stope " + backends[0] + ", again"] = stope(args, case, files, folder, backends[0], "stope-query", args.repeats)
        if case.n * case.m <= 10**9:
            rows["stope reference"] = stope(args, case, files, folder, "reference", "stope-query", 1)
    for name, row in rows.items():
        if "error" in row:
            print(f"  {name}: {row['error']}")
            continue
        right = row.pop("indices")[:CHECKED]
        distances = row.pop("distances", None)
        if name.startswith("stope"):
            row["exact"] = bool((right == truth["indices"]).all() and
                                (distances[:CHECKED].view(np.int64) == truth["distances"].view(np.int64)).all())
            if not row["exact"]:
                sys.exit(f"{case.name}: {name} does not return the reference's answer")
        else:
            row["exact"] = float(np.mean([set(a) == set(b) for a, b in zip(right, truth["indices"])]))
        row["search"] = statistics.median(row["searches"])
        row["build"] = row.get("build", row.get("fit", 0) + max(0.0, row.get("first", 0) - row["search"]))
    return rows


def show(case, rows):
    print(case.name)
    rivals = [r["search"] for n, r in rows.items() if not n.startswith("stope") and "error" not in r]
    totals = [r["search"] + r["build"] for n, r in rows.items() if not n.startswith("stope") and "error" not in r]
    for name, row in rows.items():
        if "error" in row:
            continue
        ratio = total = ""
        if name.startswith("stope") and rivals:
            ratio = f"{min(rivals) / row['search']:7.1f} x"
            total = f"{min(totals) / (row['search'] + row['build']):7.1f} x with build"
        print(f"  {name:<28} build {row['build']:8.3f} s  search {row['search']:8.3f} s {ratio} {total}  exact {row['exact']}"
              f"  {row.get('method', '')}")


def plot(results, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    for axis, word, title in ((axes[0], "rows", "training rows (1,000 queries, 50 columns)"),
                              (axes[1], "columns", "columns (50,000 rows, 1,000 queries)")):
        lines = {}
        for name, rows in results.items():
            if name.startswith(word + " "):
                for program, row in rows.items():
                    if "error" not in row and "again" not in program:
                        lines.setdefault(program, []).append((int(name.split()[1]), row["search"]))
        for program, points in lines.items():
            axis.plot(*zip(*sorted(points)), marker="o", label=program)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel(title)
        axis.set_ylabel("seconds, search only")
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", help="the cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="without the plot's cases")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    modules = {"sklearn": "sklearn", "faiss": "faiss", "numpy": "numpy"}
    args.missing = [r for r in SEARCH if importlib.util.find_spec(modules[r.split("-")[0]]) is None]
    for name in args.missing:
        print(f"{name} is not installed: left out")
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    needs = {"avx512vnni": "avx512_vnni", "avx512": "avx512dq", "avx2": "avx2", "scalar": ""}
    args.backends = [b for b, flag in needs.items() if flag in flags]

    cases = [c for c in CASES + ([] if args.quick else AXES) if args.only is None or args.only in c.name]
    results = {}
    for case in cases:
        results[case.name] = measure(args, case)
        show(case, results[case.name])
    if args.only:
        return
    path = write_result(args.results, "knn_cpu", {"threads": args.threads, "cases": results})
    print(f"wrote {path}")
    if not args.quick and importlib.util.find_spec("matplotlib"):
        plot(results, path.with_suffix(".svg"))


if __name__ == "__main__":
    main()
