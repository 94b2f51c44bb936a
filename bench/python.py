#!/usr/bin/env python3
"""Times the Python package as its users meet it: fit, kneighbors and predict of KNeighborsClassifier, against
scikit-learn (brute force, and "auto" where that is a tree) and FAISS's flat index with a vote in NumPy. Mixed tables are
compared with scikit-learn behind a one-hot encoder that gives the same distances. Calls of one row are compared with the
C++ calls that they end in. Writes bench/results/python_<cpu>_<date>.json.

  python3 bench/python.py BUILD_FOLDER [--threads 2] [--seconds 12] [--only WORD] [--table FILE]

The programs of a case take turns in one process; figures are medians. Every round fits anew, so the first search makes
what an index makes once. Rivals get as many queries as MAX_TERMS allows, and their times are scaled ("queries" says how
many they had). The neighbours of the first queries are compared with float64 distances, summed plainly and ordered by
(distance, row); "right" is the share of queries with just these. stope must have all of them, and all programs' votes
for rows with the same neighbours must agree. FAISS takes float32 rows: turning float64 into them counts.

--table prints the table of a result file for docs/PERFORMANCE.md and measures nothing. Rivals that are not installed are
left out: pip install scikit-learn faiss-cpu pandas.
"""
import argparse
import dataclasses
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # not bench/: its csv.py would hide the library's

import numpy as np  # noqa: E402

from bench.support.machine import write_result  # noqa: E402

CHECKED = 64  # queries whose neighbours are compared
MAX_TERMS = 20_000_000_000  # queries x rows x columns that a rival computes in one search
FEW = 100  # up to so many queries, calls on a fitted estimator are timed one by one
TREE_COLUMNS = 15  # scikit-learn's "auto" takes a tree for so many columns, and brute force beyond
N_CLASSES = 3


@dataclasses.dataclass
class Case:
    n: int
    m: int
    d: int
    dtype: str = "float64"
    data: str = "uniform"
    k: int = 5

    @property
    def name(self):
        mixed = f"{self.d // 2} + {self.d - self.d // 2} nominal" if self.data == "mixed" else str(self.d)
        kind = "" if self.data in ("uniform", "mixed") else f", {self.data}"
        return f"{self.n:,} x {self.m:,} x {mixed}{kind}" + (", float32" if self.dtype == "float32" else "")


CASES = [
    Case(100, 1, 8), Case(10_000, 1, 50), Case(100_000, 1, 50), Case(100_000, 1, 50, data="clusters"),
    Case(100_000, 10, 50), Case(100_000, 100, 50), Case(10_000, 1, 50, data="mixed"),
    Case(1, 1_000, 50, k=1), Case(100, 1_000, 8), Case(1_000, 1_000, 50), Case(10_000, 1_000, 8),
    Case(10_000, 1_000, 50), Case(10_000, 10_000, 50), Case(10_000, 10_000, 768), Case(100_000, 1_000, 8),
    Case(100_000, 10_000, 8), Case(100_000, 1_000, 50), Case(100_000, 10_000, 50), Case(100_000, 100_000, 50),
    Case(100_000, 1_000, 128), Case(100_000, 1_000, 768), Case(100_000, 10_000, 50, data="clusters"),
    Case(100_000, 100_000, 8, data="clusters"), Case(10_000, 10_000, 50, "float32"), Case(100_000, 1_000, 8, "float32"),
    Case(100_000, 1_000, 50, "float32"), Case(100_000, 1_000, 768, "float32"),
    Case(100_000, 10_000, 128, "float32", "clusters"), Case(1_000, 1_000, 20, data="mixed"),
    Case(10_000, 1_000, 50, data="mixed"), Case(100_000, 1_000, 50, data="mixed"), Case(20_000, 20_000, 50, data="mixed"),
]


def draw(case):
    """Training rows, labels and queries. Mixed ones are frames of numbers and categories."""
    g = np.random.default_rng(case.n + case.m + case.d)
    y = g.integers(N_CLASSES, size=case.n)
    if case.data == "mixed":
        return mixed(g, case.n, case.d), y, mixed(g, case.m, case.d)
    centres = g.random((1000, case.d))

    def rows(n):
        if case.data == "clusters":
            return (centres[g.integers(1000, size=n)] + g.normal(scale=0.02, size=(n, case.d))).astype(case.dtype)
        return g.random((n, case.d)).astype(case.dtype)

    return rows(case.n), y, rows(case.m)


def mixed(g, n, d):
    import pandas as pd

    columns = {f"x{i}": g.random(n) for i in range(d // 2)}
    for i in range(d // 2, d):
        columns[f"c{i}"] = pd.Categorical.from_codes(g.integers(8, size=n), list("abcdefgh"))
    return pd.DataFrame(columns)


class Stope:
    def __init__(self, case, threads):
        from stope import KNeighborsClassifier

        self.estimator = KNeighborsClassifier(n_neighbors=case.k, n_jobs=threads, device="cpu")

    def fit(self, X, y):
        self.estimator.fit(X, y)

    def kneighbors(self, Q):
        return self.estimator.kneighbors(Q)[1]

    def predict(self, Q):
        return self.estimator.predict(Q)


class Sklearn(Stope):
    algorithm = "brute"

    def __init__(self, case, threads):
        from sklearn.neighbors import KNeighborsClassifier

        self.estimator = KNeighborsClassifier(n_neighbors=case.k, n_jobs=threads, algorithm=self.algorithm)


class SklearnAuto(Sklearn):
    algorithm = "auto"


class SklearnOneHot(Sklearn):
    """Two coordinates differ where categories do; each is scaled so that together they add 1 to the square."""

    def fit(self, X, y):
        from sklearn.compose import ColumnTransformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

        numbers = [name for name in X if name.startswith("x")]
        ones = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
        half = make_pipeline(ones, FunctionTransformer(_scaled))
        categories = [name for name in X if name not in numbers]
        self.encoder = ColumnTransformer([("numbers", "passthrough", numbers), ("categories", half, categories)])
        self.estimator.fit(self.encoder.fit_transform(X), y)

    def kneighbors(self, Q):
        return self.estimator.kneighbors(self.encoder.transform(Q))[1]

    def predict(self, Q):
        return self.estimator.predict(self.encoder.transform(Q))


def _scaled(ones):
    return ones * np.sqrt(0.5)


class Faiss:
    def __init__(self, case, threads):
        import faiss

        faiss.omp_set_num_threads(threads)
        self.make, self.k = faiss.IndexFlatL2, case.k

    def fit(self, X, y):
        self.y = y
        self.index = self.make(X.shape[1])
        self.index.add(np.ascontiguousarray(X, dtype=np.float32))

    def kneighbors(self, Q):
        return self.index.search(np.ascontiguousarray(Q, dtype=np.float32), self.k)[1]

    def predict(self, Q):
        votes = self.y[self.kneighbors(Q)]
        return np.stack([(votes == label).sum(axis=1) for label in range(N_CLASSES)], axis=1).argmax(axis=1)


def programs_of(case):
    if case.data == "mixed":
        programs = {"stope": Stope, "scikit-learn, one-hot": SklearnOneHot}
        needed = {"scikit-learn, one-hot": "sklearn"}
    else:
        programs = {"stope": Stope, "scikit-learn, brute": Sklearn, "FAISS, flat": Faiss}
        if case.d <= TREE_COLUMNS:
            programs["scikit-learn, auto"] = SklearnAuto
        needed = {"scikit-learn, brute": "sklearn", "scikit-learn, auto": "sklearn", "FAISS, flat": "faiss"}
    for name, module in needed.items():
        try:
            importlib.import_module(module)
        except ImportError:
            programs.pop(name, None)
    return programs


def truth(case, X, Q):
    """The neighbours by float64 differences, ordered by (distance, row)."""
    lists = []
    if case.data == "mixed":
        numbers = [name for name in X if name.startswith("x")]
        codes = [name for name in X if name not in numbers]
        T, q = X[numbers].to_numpy(), Q[numbers].to_numpy()
        C, c = (np.column_stack([frame[name].cat.codes for name in codes]) for frame in (X, Q))
    else:
        T, q = X.astype(np.float64), Q.astype(np.float64)
    for i in range(min(CHECKED, case.m)):
        d = ((T - q[i]) ** 2).sum(axis=1)
        if case.data == "mixed":
            d += (C != c[i]).sum(axis=1)
        nearest = np.argpartition(d, case.k - 1)[: case.k] if case.k < case.n else np.arange(case.n)
        nearest = np.flatnonzero(d <= d[nearest].max())
        lists.append(nearest[np.lexsort((nearest, d[nearest]))][: case.k])
    return np.array(lists)


def timed(call, *arguments):
    start = time.perf_counter()
    answer = call(*arguments)
    return 1e3 * (time.perf_counter() - start), answer


class Measured:
    """One program in one case: its samples in milliseconds and its answers."""

    def __init__(self, make, case, X, y, Q, threads):
        self.make, self.case, self.X, self.y, self.threads = make, case, X, y, threads
        width = case.d if case.data != "mixed" else case.d // 2 + 8 * (case.d - case.d // 2)
        allowed = case.m if make is Stope else max(int(MAX_TERMS / (case.n * width)), CHECKED)
        self.Q = Q[: min(case.m, allowed)]
        self.scale = case.m / len(self.Q)
        self.samples = {"fit_ms": [], "kneighbors_ms": [], "predict_ms": []}
        self.fitted = None

    def round(self):
        if self.case.m <= FEW and self.fitted is not None:
            self.calls()
            return
        program = self.make(self.case, self.threads)
        t, _ = timed(program.fit, self.X, self.y)
        self.samples["fit_ms"].append(t)
        self.fitted = program
        if self.case.m <= FEW:  # the first calls make images and start threads
            self.lists, self.votes = program.kneighbors(self.Q), program.predict(self.Q)
            self.calls()
            return
        t, self.lists = timed(program.kneighbors, self.Q)
        self.samples["kneighbors_ms"].append(t * self.scale)
        t, self.votes = timed(program.predict, self.Q)
        self.samples["predict_ms"].append(t * self.scale)

    def calls(self, seconds=0.2):
        for name in ("kneighbors", "predict"):
            call, times, begin = getattr(self.fitted, name), [], time.perf_counter()
            while time.perf_counter() - begin < seconds or len(times) < 3:
                times.append(timed(call, self.Q)[0])
            self.samples[f"{name}_ms"].append(statistics.median(times))

    def result(self, wanted):
        medians = {name: statistics.median(values) for name, values in self.samples.items()}
        total = sum(medians.values()) if self.case.m > FEW else medians["kneighbors_ms"] + medians["predict_ms"]
        checked = self.lists[: len(wanted)]
        right = float((np.sort(checked, axis=1) == np.sort(wanted[: len(checked)], axis=1)).all(axis=1).mean())
        return {"queries": len(self.Q), "right": right, "total_ms": total, **medians, "samples": self.samples}


def measure(case, arguments):
    X, y, Q = draw(case)
    load = os.getloadavg()[0]
    programs = {name: Measured(make, case, X, y, Q, arguments.threads) for name, make in programs_of(case).items()}
    begin = time.perf_counter()
    rounds = 0
    while rounds < 2 or (time.perf_counter() - begin) * (rounds + 1) / rounds < arguments.seconds and rounds < 15:
        if rounds == 1 and time.perf_counter() - begin > 2 * arguments.seconds:
            break  # one round took very long
        for program in programs.values():
            program.round()
        rounds += 1
    wanted = truth(case, X, Q)
    row = dataclasses.asdict(case) | {"name": case.name, "load": load, "rounds": rounds}
    row["programs"] = {name: program.result(wanted) for name, program in programs.items()}
    ours = programs["stope"]
    if not (ours.lists[: len(wanted)] == wanted).all():
        sys.exit(f"{case.name}: stope's neighbours are not the nearest rows")
    for name, other in programs.items():
        n = min(len(other.Q), len(ours.Q))
        alike = (ours.lists[:n] == other.lists[:n]).all(axis=1)
        if (ours.votes[:n] != other.votes[:n])[alike].any():
            sys.exit(f"{case.name}: votes of {name} differ for the same neighbours")
    rivals = {name: found["total_ms"] for name, found in row["programs"].items() if name != "stope"}
    row["fastest_rival"] = min(rivals, key=rivals.get) if rivals else None
    if case.m == 1 and case.data != "mixed" and case.dtype == "float64":
        row["cpp"] = cpp(case, X, Q, arguments)
    print(line(row), flush=True)
    return row


def cpp(case, X, Q, arguments):
    """The C++ calls on the same rows: microseconds, and how much longer a call from Python takes. They take turns."""
    from stope import KNeighborsClassifier

    program = arguments.build / "bench" / "python_bench"
    if not program.exists():
        return None
    found, python = [], {"kneighbors": [], "predict": []}
    ours = KNeighborsClassifier(n_neighbors=case.k, n_jobs=arguments.threads, device="cpu").fit(X, np.arange(case.n) % 3)
    with tempfile.TemporaryDirectory() as folder:
        X.tofile(f"{folder}/train")
        Q.tofile(f"{folder}/queries")
        for _ in range(5):
            words = [f"train={folder}/train", f"queries={folder}/queries", f"rows={case.n}", f"columns={case.d}", f"k={case.k}", "seconds=0.2"]
            found.append(json.loads(subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout))
            for name, medians in python.items():
                call, times, begin = getattr(ours, name), [], time.perf_counter()
                while time.perf_counter() - begin < 0.2:
                    times.append(1e3 * timed(call, Q)[0])
                medians.append(statistics.median(times[len(times) // 10:]))
    result = {}
    for name, medians in python.items():
        in_cpp = min(one[name]["median_us"] for one in found)  # of the quietest round, for both
        result[name] = {"cpp_us": in_cpp, "python_us": min(medians), "more_us": min(medians) - in_cpp}
    return result


def milliseconds(value):
    return f"{1e3 * value:.0f} µs" if value < 1 else f"{value:.1f} ms" if value < 100 else f"{value / 1e3:.2f} s"


def line(row):
    """A row of the table: fit + kneighbors + predict, and for few queries kneighbors + predict."""
    ours, cells = row["programs"]["stope"], []
    for name in ("scikit-learn, brute", "scikit-learn, auto", "FAISS, flat", "scikit-learn, one-hot"):
        found = row["programs"].get(name)
        if name != "scikit-learn, one-hot" or found:
            scaled = "~" if found and found["queries"] < row["m"] else ""
            cells.append(f"{scaled}{milliseconds(found['total_ms'])}" if found else "")
    if "scikit-learn, one-hot" in row["programs"]:
        cells = [cells[-1], "", ""]
    gain = row["programs"][row["fastest_rival"]]["total_ms"] / ours["total_ms"] if row["fastest_rival"] else None
    return f"| {row['name']} | {milliseconds(ours['total_ms'])} | {' | '.join(cells)} | {'' if gain is None else f'{gain:.1f} x'} |"


def table(rows):
    print("| training x query rows x columns | stope | scikit-learn, brute | scikit-learn, tree | FAISS | fastest rival |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(line(row))
    print("\n| one row, after a fit of | C++: kneighbors | Python | | C++: predict | Python | |\n|---|---|---|---|---|---|---|")
    for row in rows:
        if row.get("cpp"):
            cells = [f"{c['cpp_us']:.0f} µs | {c['python_us']:.0f} µs | +{c['more_us']:.0f} µs" for c in row["cpp"].values()]
            print(f"| {row['name']} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?", default=ROOT / "build" / "release")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=12, help="for each case")
    parser.add_argument("--only", default="", help="cases whose name has this word")
    parser.add_argument("--table", type=pathlib.Path, help="print the table of this result file")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    if arguments.table:
        table(json.loads(arguments.table.read_text())["rows"])
        return
    sys.path.insert(0, str(arguments.build / "python"))
    rows = [measure(case, arguments) for case in CASES if arguments.only in case.name]
    versions = {}
    for name in ("numpy", "sklearn", "faiss", "pandas", "stope"):
        try:
            versions[name] = importlib.import_module(name).__version__
        except ImportError:
            print(f"{name} is not installed: it is left out")
    behind = [row["name"] for row in rows if row["m"] > FEW and row["fastest_rival"]
              and row["programs"][row["fastest_rival"]]["total_ms"] < row["programs"]["stope"]["total_ms"]]
    print(f"behind a rival with more than {FEW} queries: {', '.join(behind) or 'never'}")
    result = {"threads": arguments.threads, "versions": versions, "behind": behind, "rows": rows}
    print(f"wrote {write_result(arguments.results, 'python', result)}")


if __name__ == "__main__":
    main()
