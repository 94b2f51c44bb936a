#!/usr/bin/env python3
"""Times every job of stope and the best programs for that job in one run, on the same cores and the same data: k-NN,
statistics, quantiles, correlations, the gram operator, PCA, linear models, trees, imputation, distances, and readers of
CSV and Parquet. Says how exact each rival is. Writes bench/results/rivals_<cpu>_<date>.json after each row.

  python3 bench/rivals.py [BUILD_FOLDER] [--list] [--only knn:3 csv ...] [--repeats 5] [--limit 60] [--minutes 60]
                          [--threads 2] [--small 50] [--file FILE] [--again]
  python3 bench/rivals.py --table FILE [--cpu] [--short]

A row's name is its job and its words, as in knn:3:1Mx100k:k10. --only takes the rows that have all words of one of its
arguments. Rows that FILE has already are left out, so that a run goes on where the last one ended; --again times them
anew. Each program is a process; they take turns, and the best of --repeats rounds counts. One that needs more than
--limit seconds for a round is "too slow", and it has no more rounds than fit into that time. The file has wall and CPU
times: on a machine that is not idle, compare the latter (--cpu). --small divides the sizes, to try the script.

The build folder has the Python package: STOPE_PYTHON=ON scripts/build.sh release stope_python. Rivals that are not
installed are left out: pip install -r requirements-test.txt faiss-cpu pykdtree.
"""
import argparse
import datetime
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # not bench/: its csv.py would hide the library's

from bench.support.machine import commit, memory_bytes, result_path, write_file  # noqa: E402

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS")


def limit_threads(threads):
    """Tells all programs how many threads to start, before any of them is loaded."""
    os.environ |= {name: str(threads) for name in THREADS}
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def all_rows(share):
    from bench.support.rivals import columns, files, learners, linear, neighbors  # they import NumPy

    return [row for module in (neighbors, columns, linear, learners, files) for row in module.rows(share)]


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?", default=ROOT / "build" / "release")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60, help="seconds for a round of a program, and for all of its rounds")
    parser.add_argument("--minutes", type=float, default=60, help="no row begins later")
    parser.add_argument("--only", nargs="*", default=[], help="rows with all words of one of these, such as knn:3")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and measure nothing")
    parser.add_argument("--small", type=int, default=1, help="divide the sizes by this")
    parser.add_argument("--file", type=pathlib.Path, help="the file of results, which a run goes on with")
    parser.add_argument("--again", action="store_true", help="also time rows that the file has")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    parser.add_argument("--table", type=pathlib.Path, help="print the table of this file and measure nothing")
    parser.add_argument("--cpu", action="store_true", help="the table compares CPU times")
    parser.add_argument("--short", action="store_true", help="the table leaves the slower rivals out")
    return parser.parse_args()


def measure_all(chosen, path, done, arguments):
    from bench.support.rivals.turns import measure

    begin, wrong, left_out = time.monotonic(), [], {}
    for row in chosen:
        needed = row.data_bytes * (1 + 2 * len(row.programs))
        if row.name in done and not arguments.again:
            continue
        if time.monotonic() - begin > 60 * arguments.minutes:
            left_out[row.name] = "no time"
        elif needed > memory_bytes():
            left_out[row.name] = f"it needs {needed / 1e9:.1f} GB of memory"
        else:
            print(row.name, flush=True)
            done[row.name] = measure(row, arguments) | {"at": datetime.datetime.now().isoformat(timespec="seconds"), "commit": commit()}
            show(done[row.name])
            write_file(path, "rivals", {"threads": arguments.threads, "repeats": arguments.repeats, "limit_s": arguments.limit,
                                        "rows": list(done.values())})
        if "WRONG" in done.get(row.name, {"programs": {"stope": {}}})["programs"]["stope"].get("error", ""):
            wrong.append(row.name)
    for name, why in left_out.items():
        print(f"{name} is left out: {why}")
    return wrong


def show(row):
    from bench.support.rivals.report import duration, exactness

    for name, found in row["programs"].items():
        times = ", ".join(f"{phase} {duration(found['best'][phase])}" for phase in found["best"] if not phase.endswith("_cpu"))
        trouble = found.get("error") or found.get("too_slow") or ""
        exact = "" if name == "stope" or trouble else exactness(found)
        print(f"  {name:24} {'; '.join(each for each in (times, exact, trouble) if each)}", flush=True)


def main():
    arguments = arguments_of()
    if arguments.table:
        from bench.support.rivals.report import print_table

        print_table(json.loads(arguments.table.read_text()), arguments.cpu, arguments.short)
        return
    limit_threads(arguments.threads)
    rows = all_rows(arguments.small)
    chosen = [row for row in rows if not arguments.only or any(row.chosen_by(each) for each in arguments.only)]
    if not chosen:
        sys.exit(f"no row has all words of {' or of '.join(arguments.only)}: --list prints the names")
    if arguments.list:
        print("\n".join(row.name for row in chosen))
        return
    plugin = arguments.build.resolve() / "libstope_files.so"
    if plugin.exists():
        os.environ.setdefault("STOPE_FILES_PLUGIN", str(plugin))
    sys.path.insert(0, str(arguments.build.resolve() / "python"))
    path = arguments.file or result_path(arguments.results, "rivals" if arguments.small == 1 else "rivals_small")
    done = {row["name"]: row for row in json.loads(path.read_text())["rows"]} if path.exists() else {}
    wrong = measure_all(chosen, path, done, arguments)
    print(f"wrote {path}")
    sys.exit(f"stope is wrong in {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
