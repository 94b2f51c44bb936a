#!/usr/bin/env python3
"""Repeats the jobs of earlier works with stope, each as a whole, on the CPU and, if there is one, on the GPU. Their
printed figures and ours are in bench/results/prior_works_<work>_<machine>_<date>.json and in a plot.

  python3 bench/prior_works.py BUILD_FOLDER [--work 000|001|002|003|004] [--devices cpu,gpu] [--only TEXT] [--seconds S]
  python3 bench/prior_works.py --compare FILE FILE...      whether the answers of several machines are the same
  python3 bench/prior_works.py --plot FILE...              draws the plots of result files again
  python3 bench/prior_works.py --constants FILE...         what the planner (--device auto) takes from result files of 001 and 002

Most of their hardware is at least ten years older, so the ratio says nothing about either program. The point is that
the whole job is done, at every size, with one answer: the script ends with an error if CPU and GPU differ in a bit.

  work 000   k-NN plug-in for RapidMiner (2011-12)            bench/support/prior_knn.py
  work 001   smallest and largest of an array (2018)          bench/support/prior_extremes.py
  work 002   z = A^T (A x) (2020s)                            bench/support/prior_gram.py
  work 003   k-NN in CUDA, one query after another (2014)     bench/support/prior_knn.py
  work 004   best cut of every attribute (2014)               bench/support/prior_cuts.py
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support import prior_cuts, prior_extremes, prior_gram, prior_knn  # noqa: E402
from bench.support.machine import cpu_name, gpus, write_result  # noqa: E402
from bench.support.prior_work import differing  # noqa: E402

WORKS = dict(sorted((prior_knn.WORKS | prior_extremes.WORKS | prior_gram.WORKS | prior_cuts.WORKS).items()))


def plot(work, rows, path, machine):
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no plots")
        return
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "stope"
    import matplotlib.pyplot as plt
    figure, title = work.plot(rows, machine)
    figure.suptitle(title)
    figure.tight_layout(rect=(0, 0, 1, 0.98))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {path}")


def compare(files):
    rows = [row for file in files for row in json.loads(file.read_text())["ours"] if "answer" in row]
    cases = {(row["table"], row["line"], str(row["size"])) for row in rows}
    wrong = differing(rows)
    print(f"{len(rows)} answers to {len(cases)} cases in {len(files)} files, {len(wrong)} cases with different ones")
    sys.exit("\n".join(map(str, wrong)) if wrong else 0)


def constants(files):
    for file in files:
        result = json.loads(file.read_text())
        print(f"{file.name}: {result['cpu']}, {result['cores']} cores, {', '.join(result['gpus']) or 'no GPU'}")
        for name, value in result.get("constants", {}).items():
            print(f"  {name:12} {'not measured' if value is None else f'{value:.3g}'}")
        for what in ("crossover_values", "crossover_elements"):
            for name, value in result.get(what, {}).items():
                print(f"  {what.replace('_', ' of ')}, {name}: {'none' if value is None else f'{value:,}'}")


def plot_again(files):
    for file in files:
        result = json.loads(file.read_text())
        on_gpu = any(row["device"].startswith("gpu") for row in result["ours"])
        plot(WORKS[result["benchmark"].removeprefix("prior_works_")], result["ours"], file.with_suffix(".svg"),
             result["gpus"][0] if on_gpu else result["cpu"])


def repeat_works(args):
    there = gpus()
    devices = args.devices.split(",") if args.devices else ["cpu"] + (["gpu"] if there else [])
    if "gpu" not in devices:
        print("no GPU" if not there else "the GPU is not asked for", "- its part is left out")
    machine = there[0] if "gpu" in devices and there else cpu_name()
    failed = False
    for name in [args.work] if args.work else WORKS:
        work = WORKS[name]
        rows = work.measure(args, name, devices)
        for case in differing(rows):
            failed = True
            print(f"DIFFERENT ANSWERS: {case}")
        more = work.conclude(rows)
        failed = failed or bool(more.get("wrong"))
        if args.only:
            continue
        path = write_result(args.results, f"prior_works_{name}", {"notes": work.notes, "theirs_ms": work.theirs} | more | {"ours": rows}, machine)
        print(f"wrote {path}")
        plot(work, rows, path.with_suffix(".svg"), machine)
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--compare", type=pathlib.Path, nargs="+", help="result files: no run, only their answers")
    parser.add_argument("--constants", type=pathlib.Path, nargs="+", help="result files: no run, only what the planner takes from them")
    parser.add_argument("--plot", type=pathlib.Path, nargs="+", help="result files: no run, only their plots again")
    parser.add_argument("--work", choices=tuple(WORKS))
    parser.add_argument("--devices", help="cpu, gpu or both (all there are)")
    parser.add_argument("--only", default="", help="000: the tables whose name contains this; writes no file")
    parser.add_argument("--seconds", type=float,
                        help="no repetition of a case, and none of its queries one after another, begins later (000 1.5, 001 1, 003 30, 004 60)")
    parser.add_argument("--limit", type=float, default=600, help="000, 003: seconds for all cases of a device")
    parser.add_argument("--largest", type=int, default=1 << 40, help="001, 002, 004: no array, no matrix of more elements")
    parser.add_argument("--no-files", action="store_true", help="leave out what writes and reads 1.7 GB of CSV (000), 0.9 GB (002)")
    parser.add_argument("--folder", help="for those files")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    if args.compare:
        compare(args.compare)
    elif args.constants:
        constants(args.constants)
    elif args.plot:
        plot_again(args.plot)
    elif args.build is None:
        parser.error("the build folder is missing")
    else:
        repeat_works(args)


if __name__ == "__main__":
    main()
