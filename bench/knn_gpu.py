#!/usr/bin/env python3
"""Times exact k-NN on a GPU in one run, case by case: stope, the floor (the least time that the hardware needs for the
same pairs) and, if installed, PyTorch and FAISS, all on the same kind of data. stope's answers are compared with the
CPU's, bit for bit. For rivals the share of queries with a right set of neighbours is reported. Writes
bench/results/knn_gpu_<gpu>_<date>.json and a plot.

  python3 bench/knn_gpu.py BUILD_FOLDER [--repeats 7] [--only TEXT] [--rivals torch,faiss] [--results FOLDER]
                           [--cukd PROGRAM]

Every case is a process of its own with a time limit (--limit seconds). Its "method" says what it did: a search that no
filter took went through the reference. Milliseconds of a case:
  search   the GPU's work from images of the queries to sorted neighbours. The tables and the training table's images
           are on the GPU. Where the API takes rows in the GPU's memory, queries and lists stay there
  resident the wall time of such a call
  whole    search and the images of the training table, which a search makes once; the targets count it
  wall     the call, from a table in the host's memory to lists there, with images kept from the search before
Targets of streamed cases are wall times, against the floor or against the same search in memory.

--cukd names a compiled bench/support/rivals/cukd_bench.cu. It gets the very rows of the cases with few columns, and all
of its lists are compared with stope's.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import gpus, write_result  # noqa: E402

# Measured rates of an H200 in the programs that are best at each: half-precision and byte products (FLOP/s), terms of
# byte differences per second, bytes per second read, and bytes per second copied to the GPU from pinned memory.
HALF, BYTES, DIFFERENCES, READ, BUS = 730e12, 1460e12, 52.7e12, 4.4e12, 55e9
MIXED_COLUMNS = 350  # columns of a product for 25 + 25 attributes of 8 values, some missing


@dataclasses.dataclass
class Case:
    name: str
    rows: int
    queries: int
    columns: int
    k: int = 10
    data: str = "uniform"
    metric: str = "euclidean"
    compat: str = "none"
    nominal: int = 0
    missing: float = 0.0
    target: float = None  # milliseconds of `whole` on an H200
    times: float = None  # the target instead: this many times `against` ...
    against: str = "floor"  # ... "floor", or another case's wall time
    floor: str = "products"
    memory: int = 0  # the memory limit in bytes
    gpus: int = 1
    with_images: bool = True  # whether the target counts the images of the training table
    rivals: tuple = ("torch", "faiss")
    checked: int = 64
    repeats: int = None
    visit: str = ""  # STOPE_VISIT: "tiles" forbids boxes
    host: int = 0  # bytes of the host's memory, if they are many
    image: int = 0  # bytes of a row's image, if the share of the memory's speed counts that its list pass reaches

    def floor_ms(self):
        n, m, d = self.rows, self.queries, self.columns
        return 1e3 * {
            "products": 2 * n * m * d / HALF,
            "byte products": 2 * n * m * d / BYTES,
            "mixed products": 2 * n * m * MIXED_COLUMNS / HALF,
            "byte differences": n * m * d / DIFFERENCES,
            "reading": 2 * n * d / READ,
            "reading floats": 4 * n * d / READ,
            "reading and lists": (8 * d * (n + m) + 12 * m * self.k) / READ,
            "bus or products": max(2 * n * m * d / HALF, 8 * m * d / BUS),
        }[self.floor] / self.gpus


M = 1_000_000
CASES = [
    Case("1M x 10k x 128", M, 10_000, 128, target=4.2),
    Case("1M x 10k x 128, normal", M, 10_000, 128, data="normal", target=4.4),
    Case("1M x 10k x 128, 16 latent dimensions", M, 10_000, 128, data="latent", target=4.4),
    Case("1M x 10k x 128, 1,000 clusters", M, 10_000, 128, data="clusters", target=4.4),
    Case("1M x 10k x 128, integer bytes", M, 10_000, 128, data="bytes", target=3.3, floor="byte products"),
    Case("1M x 10k x 128, k 100", M, 10_000, 128, k=100, target=5.5),
    Case("1M x 10k x 20", M, 10_000, 20, target=2.2),
    Case("1M x 10k x 50", M, 10_000, 50, target=3.0),
    Case("1M x 10k x 50, RapidMiner's ties", M, 10_000, 50, compat="rapidminer", times=1.5, against="1M x 10k x 50", rivals=()),
    Case("100k x 100k x 50", 100_000, 100_000, 50, target=3.8),
    Case("100k x 100k x 128", 100_000, 100_000, 128, target=5.0),
    Case("1M x 10k x 768", M, 10_000, 768, target=26.0, checked=16),
    Case("38.4k x 38.4k x 96, k 20", 38_400, 38_400, 96, k=20, target=1.1),
    Case("1M x 1M x 3, without boxes", M, M, 3, visit="tiles", rivals=()),
    Case("1M x 1M x 3, boxes", M, M, 3, times=0.2, against="1M x 1M x 3, without boxes", floor="reading and lists", rivals=("cukd",)),
    Case("1M x 1M x 3, k 1, without boxes", M, M, 3, k=1, visit="tiles", rivals=()),
    Case("1M x 1M x 3, k 1, boxes", M, M, 3, k=1, times=0.2, against="1M x 1M x 3, k 1, without boxes", floor="reading and lists",
         rivals=("cukd",)),
    Case("10M x 1M x 3, boxes", 10 * M, M, 3, floor="reading and lists", rivals=("cukd",)),
    Case("1M x 100k x 2, without boxes", M, 100_000, 2, visit="tiles", rivals=(), repeats=2),
    Case("1M x 100k x 2, boxes", M, 100_000, 2, floor="reading and lists", rivals=("cukd",)),
    Case("1M x 100k x 5, without boxes", M, 100_000, 5, visit="tiles", rivals=()),
    Case("1M x 100k x 5, boxes", M, 100_000, 5, floor="reading and lists", rivals=()),
    Case("1M x 100k x 8, without boxes", M, 100_000, 8, visit="tiles", rivals=()),
    Case("1M x 100k x 8, boxes", M, 100_000, 8, floor="reading and lists", rivals=("cukd",)),
    Case("1M x 100k x 8, 1,000 clusters, boxes", M, 100_000, 8, data="clusters", floor="reading and lists", rivals=()),
    Case("100M x 1 x 32", 100 * M, 1, 32, target=1.8, floor="reading", with_images=False, checked=1, image=64),
    # 64 GB of doubles on the host and on the GPU: a limit that neither reaches lets both hold them.
    Case("1B x 1 x 8", 1000 * M, 1, 8, floor="reading floats", with_images=False, checked=1, visit="tiles", image=64,
         memory=140_000 * M, host=110_000 * M, rivals=()),
    Case("400M x 1 x 8, boxes", 400 * M, 1, 8, floor="reading floats", with_images=False, checked=1, visit="queries", host=64_000 * M,
         rivals=()),
    Case("mixed euclidean, 100k x 100k, 25 + 25 nominal, 5 % missing", 100_000, 100_000, 50, metric="mixed-euclidean",
         nominal=25, missing=0.05, target=20.0, floor="mixed products", rivals=()),
    Case("manhattan, 100k x 100k x 50", 100_000, 100_000, 50, metric="manhattan", target=14.0, floor="byte differences"),
    Case("gower, 100k x 100k, 25 + 25 nominal", 100_000, 100_000, 50, metric="gower", nominal=25, target=40.0,
         floor="byte differences", rivals=("faiss",)),
    Case("100k x 3M x 50, queries streamed", 100_000, 3 * M, 50, times=1.15, floor="bus or products", rivals=(), repeats=3),
    Case("1M x 100k x 50, in memory", M, 100_000, 50, rivals=()),
    Case("1M x 100k x 50, a quarter of the table fits", M, 100_000, 50, memory=M * 50 * 8 // 4, times=1.25,
         against="1M x 100k x 50, in memory", rivals=()),
    Case("1M x 100k x 128, one GPU", M, 100_000, 128, rivals=()),
    Case("1M x 100k x 128, 2 GPUs", M, 100_000, 128, gpus=2, times=1 / 1.8, against="1M x 100k x 128, one GPU", rivals=()),
    Case("1M x 100k x 128, 4 GPUs", M, 100_000, 128, gpus=4, times=1 / 3.6, against="1M x 100k x 128, one GPU", rivals=()),
]


def run_stope(args, case, tables=""):
    numbers = case.nominal == 0 and case.missing == 0.0 and case.compat == "none"
    words = [args.build / "bench" / "knn_gpu_bench", case.rows, case.queries, case.columns, case.k, case.data,
             min(case.repeats or args.repeats, args.repeats), f"metric={case.metric}", f"compat={case.compat}",
             f"nominal={case.nominal}", f"missing={case.missing}", f"memory={case.memory}", f"checked={case.checked}",
             f"seconds={args.seconds}", f"fits={2 if (case.target or 'cukd' in case.rivals) and case.with_images else 1}", f"tables={tables}",
             f"resident={int(numbers and case.target is not None)}",
             "device=cuda:" + ",".join(str(i) for i in range(case.gpus))]
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=args.limit, check=False,
                              env=os.environ | {"STOPE_VISIT": case.visit, "STOPE_CUDA_PLUGIN": str((args.build / "libstope_cuda.so").resolve())})
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {args.limit} s"}
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-300:] or f"exit {done.returncode}"}
    return json.loads(done.stdout)


def summarise(case, ours):
    """The figures of a case for the table."""
    row = {"case": case.name, "floor": case.floor, "floor_ms": case.floor_ms(), "target_ms": case.target, "stope": ours}
    if "error" in ours:
        return row
    row["wall_ms"] = statistics.median(ours["searches_ms"] or [ours["first_ms"]])
    row["exact"] = ours["checked"] > 0 and ours["exact"] == ours["checked"]
    row["through_the_reference"] = not ours["method"].startswith("filter") or ours["uncertified"] == case.queries
    if row["through_the_reference"] or not ours["gpu_ms"].keys() - {"sum"}:
        return row
    copies = ("copy", "upload")  # steps that move data between host and GPU
    resident = ours.get("resident_method", "").endswith("on the GPU")
    if resident:
        row["resident_ms"] = statistics.median(ours["resident_ms"])
        row["exact"] = row["exact"] and ours["resident_same"]
    steps = {name: ms for name, ms in ours["resident_gpu_ms" if resident else "gpu_ms"].items()
             if name != "sum" and not any(c in name for c in copies)}
    table = {name: ms for name, ms in ours["first_gpu_ms"].items() if name.startswith("table")}
    row["search_ms"] = sum(ms for name, ms in steps.items() if not name.startswith("table"))
    row["whole_ms"] = row["search_ms"] + sum(table.values()) if table and case.with_images else None
    if case.image and "list" in steps:
        row["share_of_read"] = case.rows * case.image / READ * 1e3 / steps["list"]
    return row


def judge(row, case, rows):
    """Adds the figure that stands for the case, and whether it meets the target."""
    ms = row["figure_ms"] = row.get("whole_ms") or row.get("search_ms") or row.get("wall_ms")
    if case.target is not None:
        row["target"] = f"<= {case.target} ms"
    elif case.times is not None:
        base = row["floor_ms"] if case.against == "floor" else rows.get(case.against, {}).get("wall_ms")
        row["target"] = f"<= {case.times:.2f} x {'the floor' if case.against == 'floor' else case.against}, in wall time"
        row["target_ms"] = case.times * base if base else None
        ms = row["figure_ms"] = row.get("wall_ms")
    else:
        return
    row["met"] = None if ms is None or row["target_ms"] is None else bool(ms <= row["target_ms"])


def run_rivals(args, program, cases):
    """Runs all cases in one process, since importing PyTorch takes longer than most cases. Cases that it did not reach
    have no figure."""
    lines = "".join(json.dumps(dataclasses.asdict(case) | {"repeats": 3}) + "\n" for case in cases)
    command = [sys.executable, "-m", "bench.support.gpu_rivals", program]
    try:
        done = subprocess.run(command, input=lines, capture_output=True, text=True, cwd=ROOT, check=False,
                              timeout=args.rivals_limit)
        out, ended = done.stdout, (done.stderr.strip().splitlines() or ["no answer"])[-1]
    except subprocess.TimeoutExpired as expired:
        out, ended = (expired.stdout or b"").decode(), f"not within the {args.rivals_limit} s for all cases"
    results = [json.loads(line) for line in out.splitlines() if line.startswith("{") and line.endswith("}")]
    return results + [{"error": ended}] * (len(cases) - len(results))


def run_cukd(args, case, tables):
    """Runs cudaKDTree on the tables that stope's process has written, and compares all of its lists with stope's."""
    command = [str(w) for w in (args.cukd.resolve(), tables, case.columns, case.k, min(args.repeats, 5))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.limit, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {args.limit} s"}
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-300:] or f"exit {done.returncode}"}
    runs = json.loads(done.stdout)
    ways = [{"ms": statistics.median(s["ms"]), "build_ms": statistics.median(tree["build_ms"]), "tree": tree["tree"],
             **{key: s[key] for key in ("way", "list", "queries", "threads")}}
            for tree in runs["trees"] for s in tree["searches"]]
    given, sorted_ = ([w for w in ways if w["queries"] == order] for order in ("as given", "along a curve"))
    best = min(given, key=lambda w: w["ms"])
    sort_ms = statistics.median(runs["sort_ms"])
    return {"milliseconds": best["ms"], "fastest": best, "fastest_sorted": min(sorted_, key=lambda w: w["ms"]),
            "fastest_with_build": min(given, key=lambda w: w["ms"] + w["build_ms"]), "sort_ms": sort_ms, "runs": runs,
            **compare_lists(tables, case)}


def compare_lists(tables, case):
    """How far cudaKDTree's lists, in floats, are from stope's. Of equal distances either row is right."""
    import numpy as np
    shape = (case.queries, case.k)
    rows, distances = (np.fromfile(f"{tables}.{name}", kind).reshape(shape) for name, kind in (("rows", "i8"), ("distances", "f8")))
    pairs = np.fromfile(f"{tables}.cukd", "u4").reshape(*shape, 2).astype("u8")
    pairs = np.sort(pairs[..., 0] << np.uint64(32) | pairs[..., 1], axis=1)  # squares are not negative: their bits are in order
    their_rows = (pairs & np.uint64(0xFFFFFFFF)).astype("i8")
    squares = (pairs >> np.uint64(32)).astype("u4").view("f4").astype("f8")
    same = (np.sort(rows, axis=1) == np.sort(their_rows, axis=1)).all(axis=1)
    return {"exact": float(same.mean()), "in_order": float((rows == their_rows).all(axis=1).mean()),
            "ids_that_differ": sum(len(set(a) - set(b)) for a, b in zip(rows[~same].tolist(), their_rows[~same].tolist())),
            "largest_difference": float((np.abs(np.sqrt(squares) - distances) / np.maximum(distances, np.finfo("f8").tiny)).max())}


def show(row):
    def ms(key):
        return "-" if row.get(key) is None else f"{row[key]:.2f}"

    ours = row["stope"]
    if "error" in ours:
        print(f"{row['case']}: {ours['error']}", flush=True)
        return
    steps = ", ".join(f"{name} {value:.2f}" for name, value in ours["gpu_ms"].items() if name != "sum")
    met = {True: "met", False: "NOT met", None: ""}[row.get("met")]
    print(f"{row['case']}: whole {ms('whole_ms')}, search {ms('search_ms')}, resident {ms('resident_ms')} ({steps}), wall {ms('wall_ms')}, floor "
          f"{ms('floor_ms')}, target {row.get('target', 'none')} {met}, {ours['method']}, exact {ours['exact']}/{ours['checked']}, "
          f"{ours['uncertified']} uncertified" + (f", {row['share_of_read']:.2f} of the memory's speed" if "share_of_read" in row else ""), flush=True)


def show_rivals(row):
    texts = [f"{name} {r['milliseconds']:.2f} ms (exact {r['exact']:.4f}){show_cukd(r)}" if "error" not in r else f"{name}: {r['error']}"
             for name, r in row.get("rivals", {}).items()]
    if texts:
        print(f"{row['case']}: " + "; ".join(texts), flush=True)


def show_cukd(result):
    if "fastest_sorted" not in result:
        return ""
    best, along = result["fastest"], result["fastest_sorted"]
    return (f" by {best['tree']}, {best['way']}, {best['list']}, tree {best['build_ms']:.2f}; along a curve {along['ms']:.2f} by "
            f"{along['tree']}, {along['way']}, {along['list']}, tree {along['build_ms']:.2f}, sort {result['sort_ms']:.2f}; "
            f"{result['ids_that_differ']} ids differ, distances by {result['largest_difference']:.1e} at most")


def plot(rows, path, gpu):
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no plot")
        return
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "stope"
    import matplotlib.pyplot as plt
    rows = [row for row in rows if "error" not in row["stope"]][::-1]
    if not rows:
        return
    figure, axis = plt.subplots(figsize=(11, 0.42 * len(rows) + 1.5))
    places = range(len(rows))
    axis.barh(places, [row["figure_ms"] for row in rows], height=0.55, color="#4c78a8", label="stope (on the GPU; wall time where it is streamed)")
    for key, mark, colour, label in (("floor_ms", "|", "black", "floor"), ("target_ms", "|", "#e45756", "target")):
        points = [(row[key], place) for row, place in zip(rows, places) if row.get(key)]
        if points:
            axis.scatter(*zip(*points), marker=mark, s=160, color=colour, label=label, zorder=3)
    for name, mark, colour in (("torch", "x", "#f58518"), ("faiss", "+", "#54a24b"), ("cukd", "1", "#b279a2")):
        points = [(row["rivals"][name]["milliseconds"], place) for row, place in zip(rows, places)
                  if "error" not in row.get("rivals", {}).get(name, {"error": ""})]
        if points:
            axis.scatter(*zip(*points), marker=mark, s=60, color=colour, label=name, zorder=3)
    axis.set_yticks(list(places), [row["case"] + (" (reference)" if row.get("through_the_reference") else "") for row in rows],
                    fontsize=8)
    axis.set_xscale("log")
    axis.set_xlabel("milliseconds")
    axis.set_title(f"Exact k-NN (k 10 where nothing else is said) on {gpu}", fontsize=10)
    axis.legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(path)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="the cases whose name contains one of these, separated by |")
    parser.add_argument("--rivals", default="torch,faiss")
    parser.add_argument("--cukd", type=pathlib.Path, help="the compiled bench/support/rivals/cukd_bench.cu")
    parser.add_argument("--seconds", type=float, default=3, help="of repetitions, at most")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a case of ours")
    parser.add_argument("--rivals-limit", type=float, default=240, help="seconds for all cases of a rival")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    there = gpus()
    if not there:
        print("knn_gpu: there is no GPU here")
        return
    cases = [case for case in CASES if any(word in case.name for word in args.only.split("|"))]
    rows, left_out = {}, []

    def save():  # after every case, so that a run that is cut short leaves its results
        result = {"gpu": there[0], "left_out": left_out, "results": list(rows.values())}
        return write_result(args.results, "knn_gpu", result, there[0])

    for case in cases:
        if case.gpus > len(there):
            left_out.append(f"{case.name}: there is no more than {len(there)}")
            print(left_out[-1])
            continue
        if case.host > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
            left_out.append(f"{case.name}: the host has less than {case.host / 1e9:.0f} GB")
            print(left_out[-1])
            continue
        with tempfile.TemporaryDirectory() as folder:
            tables = f"{folder}/t" if args.cukd and "cukd" in case.rivals else ""
            rows[case.name] = summarise(case, run_stope(args, case, tables))
            if tables and "error" not in rows[case.name]["stope"]:
                rows[case.name]["rivals"] = {"cukd": run_cukd(args, case, tables)}
        judge(rows[case.name], case, rows)
        show(rows[case.name])
        save()
    if not args.cukd:
        left_out.append("cukd: no --cukd")
    for program in [name for name in args.rivals.split(",") if name]:
        if any(importlib.util.find_spec(module) is None for module in (program, "torch")):
            left_out.append(f"{program}: not installed (or PyTorch, which makes the tables, is not)")
            print(left_out[-1])
            continue
        theirs = [case for case in cases if program in case.rivals and case.name in rows]
        for case, result in zip(theirs, run_rivals(args, program, theirs)):
            rows[case.name].setdefault("rivals", {})[program] = result
    for row in rows.values():
        show_rivals(row)
    path = save()
    print(f"wrote {path}")
    plot(list(rows.values()), path.with_suffix(".svg"), there[0])
    wrong = [name for name, row in rows.items() if row.get("exact") is False and row["stope"].get("checked")]
    if wrong:
        sys.exit("not the processor's answer: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
