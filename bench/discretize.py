#!/usr/bin/env python3
"""Times the best cut of every column on every back end of the CPU. The rival is one thread that sorts each column with
std::sort (packed 64-bit words) and scans it, in the same process, turn by turn with the first back end. scikit-learn's
stump and tree, which look only for the best column, are timed as well, and so is the whole command from a CSV file.
Every score and cut is compared with the sorted column's. Writes every sample to
bench/results/discretize_<cpu>_<date>.json.

  python3 bench/discretize.py BUILD_FOLDER [--repeats 5] [--threads 2] [--backends avx512,avx2,scalar] [--only TEXT]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402

# name, rows, columns, classes, type, permutations
CASES = (
    ("161 x 61,359", 161, 61_359, 2, "float32", 0),
    ("247 x 54,675", 247, 54_675, 2, "float32", 0),
    ("180 x 54,675", 180, 54_675, 2, "float32", 0),
    ("161 x 61,359, float64", 161, 61_359, 2, "float64", 0),
    ("161 x 61,359, 10 classes", 161, 61_359, 10, "float32", 0),
    ("1,000 x 20,000", 1_000, 20_000, 2, "float32", 0),
    ("100,000 x 100", 100_000, 100, 2, "float32", 0),
    ("1,000,000 x 20, float64", 1_000_000, 20, 2, "float64", 0),
    ("161 x 61,359, 1,000 permutations", 161, 61_359, 2, "float32", 1000),
)


def sklearn_samples(rows, columns, classes, repeats):
    """Seconds of a stump and of a whole tree on a table of the same shape and distribution; None without scikit-learn."""
    try:
        import numpy as np
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        return None
    random = np.random.default_rng(1)
    x = random.standard_normal((rows, columns), dtype=np.float32)
    y = random.integers(0, classes, rows)
    samples = {}
    for name, depth in (("stump_ms", 1), ("tree_ms", None)):
        samples[name] = []
        for _ in range(repeats):
            start = time.perf_counter()
            DecisionTreeClassifier(max_depth=depth, random_state=0).fit(x, y)
            samples[name].append(1e3 * (time.perf_counter() - start))
    return samples


def measure(args, case):
    """Times the rival in turn with the first back end. The other back ends must find the same, to the bit."""
    name, rows, columns, classes, kind, permutations = case
    result = {"name": name, "type": kind, "permutations": permutations, "backends": {}}
    answers = set()
    for i, backend in enumerate(args.backends.split(",")):
        for threads in sorted({1, args.threads}):
            command = [args.build / "bench" / "discretize_bench", f"rows={rows}", f"columns={columns}", f"classes={classes}", f"type={kind}",
                       f"permutations={permutations}", f"threads={threads}", f"repeats={args.repeats}", f"seconds={args.seconds}",
                       f"rival={'yes' if i == 0 and not permutations else 'no'}"]
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"STOPE_BACKEND": backend})
            if done.returncode != 0:
                print(f"{name}, {backend}: left out: {done.stderr.strip()}")
                continue
            found = json.loads(done.stdout)
            answers.add(found["answer"])
            if found["different"]:
                sys.exit(f"{name}, {backend}: {found['different']} columns differ from the sorted ones")
            result["backends"][f"{backend}, {threads} threads"] = found
            report(name, f"{backend}, {threads} threads", found)
    if len(answers) > 1:
        sys.exit(f"{name}: back ends differ: {answers}")
    if kind == "float32" and not permutations and rows * columns <= 15e6 and not args.no_sklearn:
        result["sklearn"] = sklearn_samples(rows, columns, classes, 1)
        if result["sklearn"]:
            print(f"{name}: scikit-learn stump {result['sklearn']['stump_ms'][0]:.0f} ms, tree {result['sklearn']['tree_ms'][0]:.0f} ms", flush=True)
    return result


def command_samples(args, rows, columns):
    """The whole command, from a CSV file to a CSV ranking, by its own timings: reading, cuts, writing."""
    program = args.build / "cli" / "stope"
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        table, ranking = pathlib.Path(folder) / "wide.csv", pathlib.Path(folder) / "ranking.csv"
        subprocess.run([program, "gen", "wide", str(columns), str(rows), "-o", table, "-q"], check=True)
        words = [program, "discretize", table, "--target", "class", "--method", "best-cut", "-o", ranking, "--json", "-j", str(args.threads)]
        times = [json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["timings"] for _ in range(args.repeats)]
        result = {"name": f"{rows} x {columns:,} from CSV", "bytes": table.stat().st_size, "seconds": times}
    median = {part: statistics.median(t[part] for t in times) for part in times[0]}
    print(f"{result['name']}: " + ", ".join(f"{part} {1e3 * value:.0f} ms" for part, value in median.items()), flush=True)
    return result


def report(name, who, found):
    """Prints medians of wall time and, for a machine that is not idle, of CPU time."""
    for clock in ("wall_ms", "processor_ms"):
        median = {part: statistics.median(found[part][clock]) for part in ("whole", "cuts", "sort", "sort_scan") if part in found}
        text = f"{name}, {who}, {clock[:-3]}: whole {median['whole']:.1f} ms, cuts {median['cuts']:.1f} ms"
        if "sort" in median:
            found[clock.replace("ms", "sort_over_cuts")] = median["sort"] / median["cuts"]
            found[clock.replace("ms", "sort_over_whole")] = median["sort"] / median["whole"]
            text += (f"; std::sort, one thread, {median['sort']:.1f} ms ({median['sort'] / median['cuts']:.1f} x cuts, "
                     f"{median['sort'] / median['whole']:.1f} x whole), with the scan {median['sort_scan']:.1f} ms")
        print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10, help="no repetition begins later")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backends", default="avx512,avx2,scalar")
    parser.add_argument("--only", default="", help="the cases whose name contains this; writes no file")
    parser.add_argument("--no-sklearn", action="store_true")
    parser.add_argument("--folder", help="for the CSV file")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    cases = [measure(args, case) for case in CASES if args.only in case[0]]
    if not args.only:
        cases.append(command_samples(args, 161, 61_359))
        print(f"wrote {write_result(args.results, 'discretize', {'threads': args.threads, 'cases': cases})}")


if __name__ == "__main__":
    main()
