#!/usr/bin/env python3
"""Times quantiles of every column and the correlations of all pairs: stope's, and those of NumPy, pandas and polars.
Writes bench/results/quantiles_<cpu>_<date>.json.

  PYTHONPATH=build/release/python python3 bench/quantiles.py [--rows N] [--columns N] [--pairs-rows N] [--pairs-columns N]
                                                             [--rounds N]

Each program gets the table in the form that it likes best: stope and pandas columns side by side (Fortran order), NumPy
an array whose columns are contiguous, polars its own columns. The programs take turns, and another one begins each
round. A rival that is not installed is left out. Answers are compared: quantiles to the last bit with NumPy, correlations
to 1e-12. "missing" has 5 % NaN; there pandas is the rival, since the others do not leave pairs out.
"""
import argparse
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # not bench/: its csv.py would hide the library's

import numpy as np  # noqa: E402

import stope  # noqa: E402
from bench.support.machine import write_result  # noqa: E402

SHARES = [0.05, 0.25, 0.5, 0.75, 0.95]


def made(n_rows, n_columns, missing):
    rng = np.random.default_rng(1)
    X = np.empty((n_rows, n_columns), order="F")
    common = rng.standard_normal(n_rows)
    for j in range(n_columns):
        X[:, j] = rng.standard_normal(n_rows) + common * (j / n_columns)
        if missing:
            X[rng.random(n_rows) < 0.05, j] = np.nan
    return X


def frames(X):
    """The frames of the rivals that are installed."""
    found = {}
    names = [f"x{j}" for j in range(X.shape[1])]
    try:
        import pandas

        found["pandas"] = pandas.DataFrame(X, columns=names, copy=False)
    except ImportError:
        print("pandas is not installed: left out")
    try:
        import polars

        found["polars"] = polars.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    except ImportError:
        print("polars is not installed: left out")
    return found


def quantile_programs(X, missing):
    of = frames(X)
    programs = {"stope": lambda: np.array(list(stope.column_stats(X, quantiles=SHARES).quantiles.values()))}
    programs["numpy"] = lambda: (np.nanquantile if missing else np.quantile)(X, SHARES, axis=0)
    if "pandas" in of:
        programs["pandas"] = lambda: of["pandas"].quantile(SHARES).to_numpy()
    if "polars" in of and not missing:
        import polars

        wanted = [polars.all().quantile(q, "linear").name.suffix(f"_{q}") for q in SHARES]
        programs["polars"] = lambda: of["polars"].select(wanted).to_numpy().reshape(len(SHARES), -1)
    return programs


def correlation_programs(X, missing):
    of = frames(X)
    programs = {"stope": lambda: stope.correlation(X).values}
    if not missing:
        programs["numpy"] = lambda: np.corrcoef(X, rowvar=False)
        if "polars" in of:
            programs["polars"] = lambda: of["polars"].corr().to_numpy()
    if "pandas" in of:
        programs["pandas"] = lambda: of["pandas"].corr().to_numpy()
    return programs


def timed(programs, rounds, tolerance):
    """Seconds of every program in every round, and how far its answer is from stope's."""
    samples = {name: [] for name in programs}
    answers = {}
    order = list(programs)
    for _ in range(rounds):
        order = order[1:] + order[:1]
        for name in order:
            begin = time.perf_counter()
            answers[name] = programs[name]()
            samples[name].append(time.perf_counter() - begin)
    entries = {}
    for name, seconds in samples.items():
        apart = float(np.nanmax(np.abs(answers[name] - answers["stope"])))
        assert apart <= tolerance, (name, apart)
        entries[name] = {"median_s": statistics.median(seconds), "samples_s": seconds, "apart": apart}
        print(f"  {name:8} {entries[name]['median_s']:8.3f} s")
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", help="the build folder, which scripts/bench.sh names")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--pairs-rows", type=int, default=1_000_000)
    parser.add_argument("--pairs-columns", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", default=str(ROOT / "bench" / "results"))
    args = parser.parse_args()
    cases = []
    for job, n_rows, n_columns, programs_of, tolerance in (
        ("quantiles", args.rows, args.columns, quantile_programs, 1e-15),
        ("correlation", args.pairs_rows, args.pairs_columns, correlation_programs, 1e-12),
    ):
        for missing in (False, True):
            print(f"{job} of {n_rows:,} x {n_columns}{', 5 % missing' if missing else ''}")
            X = made(n_rows, n_columns, missing)
            # pandas takes minutes for the pairs of a large table with missing values.
            rounds = 1 if missing and job == "correlation" else args.rounds
            cases.append({"job": job, "rows": n_rows, "columns": n_columns, "missing": missing,
                          "programs": timed(programs_of(X, missing), rounds, tolerance)})
    print(write_result(args.results, "quantiles", {"shares": SHARES, "cases": cases}))


if __name__ == "__main__":
    main()
