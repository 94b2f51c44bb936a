#!/usr/bin/env python3
"""Times best cuts, also by Gini and entropy, permutations of the labels, sets of cuts and trees on a GPU. Rivals are PyTorch (sort and
running sums for cuts, its sort for the sort) and floors measured in the same run. Every case but the largest is compared with the CPU's answer, bit for bit. Writes every
sample to bench/results/discretize_gpu_<gpu>_<date>.json.

  python3 bench/discretize_gpu.py BUILD_FOLDER [--repeats 20] [--only TEXT]

"gpu" is the GPU's work, from columns in its memory. "copy" is from columns in the host's pinned memory to cuts in the
host's memory. "call" is the wall time from a table in the host's memory to cuts or a tree there, and "processor" the
same without the GPU. "begin", "gather", "way" and "end" are the parts of a call, each timed by itself: a session made,
columns copied to pinned memory, pieces sent, searched and collected, the session's end. "auto" says which of them --device auto takes. The last case is the whole command, from a CSV file
to a CSV ranking.
"""
import argparse
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

# name, rows, columns, classes; milliseconds that the GPU and the copies may take
CUTS = (
    ("cuts 161 x 61,359", 161, 61_359, 2, 0.12, 1.2),
    ("cuts 247 x 54,675", 247, 54_675, 2, None, None),
    ("cuts 180 x 54,675", 180, 54_675, 2, None, None),
    ("cuts 161 x 61,359, 10 classes", 161, 61_359, 10, None, None),
    ("cuts 1,000 x 100,000", 1_000, 100_000, 2, None, None),
    ("cuts 1,000,000 x 100", 1_000_000, 100, 2, None, None),
    # where --device auto changes sides
    ("cuts 161 x 500,000", 161, 500_000, 2, None, None),
    ("cuts 20,000 x 100", 20_000, 100, 2, None, None),
    ("cuts 100,000 x 100", 100_000, 100, 2, None, None),
)
# criterion, rows, columns, classes
GAINS = tuple((criterion, rows, columns, classes) for criterion in ("gini", "entropy")
              for rows, columns, classes in ((161, 61_359, 2), (161, 61_359, 10), (1_000, 20_000, 2), (100_000, 100, 2), (100_000, 100, 10)))
# job, rows, columns, classes, labels, weights, the most cuts (of md-global; 0: any)
SETS = (
    ("mdlp", 161, 61_359, 2, "shift", "no", 0),
    ("mdlp", 161, 61_359, 10, "shift", "no", 0),
    ("mdlp", 1_000, 20_000, 2, "shift", "no", 0),
    ("mdlp", 100_000, 100, 2, "shift", "no", 0),
    ("mdlp", 1_000_000, 20, 2, "shift", "no", 0),
    ("mdlp", 1_000_000, 20, 10, "shift", "no", 0),
    ("mdlp", 161, 61_359, 2, "shift", "yes", 0),
    ("mdlp", 1_000_000, 20, 2, "shift", "yes", 0),
    ("md-global", 161, 61_359, 2, "noise", "no", 0),
    ("md-global", 1_000, 20_000, 2, "noise", "no", 0),
    ("md-global", 8_000, 100, 2, "noise", "no", 0),
    ("md-global", 161, 61_359, 2, "noise", "yes", 0),
) + tuple((job, rows, columns, 2, "noise", "yes", 0) for job in ("pairs", "gini", "entropy") for rows, columns in ((161, 61_359), (100_000, 100)))
# name, rows, columns, classes, permutations; milliseconds that a call may take
PERMUTATIONS = (
    ("permutations 161 x 61,359, 1,000", 161, 61_359, 2, 1000, 150),
    ("permutations 161 x 61,359, 10 classes, 1,000", 161, 61_359, 10, 1000, None),
    ("permutations 1,000 x 20,000, 1,000", 1_000, 20_000, 2, 1000, None),
    ("permutations 20,000 x 100, 1,000", 20_000, 100, 2, 1000, None),
)
TREES = (
    ("tree 161 x 61,359", 161, 61_359, 2, "noise", 0.35),
    ("tree 247 x 54,675", 247, 54_675, 2, "noise", None),
    ("tree 161 x 61,359, 10 classes", 161, 61_359, 10, "noise", None),
    ("tree 1,000 x 20,000", 1_000, 20_000, 2, "noise", None),
    ("tree 100,000 x 20, 5 classes", 100_000, 20, 5, "rule", None),
    ("tree 1,000,000 x 10, 3 classes", 1_000_000, 10, 3, "rule", None),
    ("tree 161 x 10,000", 161, 10_000, 2, "noise", None),
    ("tree 20,000 x 20, 5 classes", 20_000, 20, 5, "rule", None),
    ("tree 20,000 x 100, 5 classes", 20_000, 100, 5, "rule", None),
)
# job, rows, columns, classes, labels
GAIN_TREES = tuple((job, rows, columns, classes, label) for job in ("gini-tree", "entropy-tree")
                   for rows, columns, classes, label in ((161, 61_359, 2, "noise"), (100_000, 20, 5, "rule"), (1_000_000, 10, 3, "rule")))
SORT = (1_000_000, 100, 2.5)     # rows, columns, milliseconds
LEVEL = (10_000_000, 100, 1.3)   # rows, columns, target in multiples of the floor

TORCH = """
import json, sys
import torch
job, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def sample(one):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record(); one(); end.record(); end.synchronize()
    return start.elapsed_time(end)
def samples(one, n=10):
    for _ in range(2): one()
    return [sample(one) for _ in range(n)]
found = {"version": torch.__version__}
if job == "cuts":
    x, y = torch.rand(columns, rows, device="cuda"), torch.randint(0, 2, (rows,), device="cuda", dtype=torch.int32)
    total, position = int(y.sum()), torch.arange(1, rows, device="cuda")
    def cuts():
        values, order = x.sort(dim=1)
        second = y[order].cumsum(1)[:, :-1]
        first = position - second
        w = first * (total - second) + second * (rows - total - first)
        w[values[:, 1:] == values[:, :-1]] = 0
        return w.max(dim=1)
    found["ms"] = samples(cuts)
elif job == "sort":
    x = torch.rand(columns, rows, device="cuda")
    found["ms"] = samples(lambda: x.sort(dim=1))
else:  # what a level streams, 9 bytes a value there and back, and the bit of every row, gathered
    n = rows * columns
    a, b = torch.empty(9 * n, dtype=torch.uint8, device="cuda"), torch.empty(9 * n, dtype=torch.uint8, device="cuda")
    found["stream_ms"] = samples(lambda: b.copy_(a), 5)
    del a, b
    order = torch.stack([torch.randperm(rows, device="cuda", dtype=torch.int32) for _ in range(columns)]).view(-1)
    bits, to = torch.randint(0, 2, (rows,), dtype=torch.uint8, device="cuda"), torch.empty(n, dtype=torch.uint8, device="cuda")
    found["gather_ms"] = samples(lambda: torch.index_select(bits, 0, order, out=to), 5)
    there = torch.empty(n, dtype=torch.int32, device="cuda")
    found["indices_ms"] = samples(lambda: there.copy_(order), 5)  # streamed by the gather as well: half of this comes off
print(json.dumps(found))
"""


def run(command, environment=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=os.environ | (environment or {}), check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": (done.stderr.strip() or str(done.returncode))[-300:]}


def ours(args, **words):
    return run([args.build / "bench" / "discretize_gpu_bench", *(f"{key}={value}" for key, value in words.items())],
               {"STOPE_CUDA_PLUGIN": str((args.build / "libstope_cuda.so").resolve())})


def torch(*words):
    return run([sys.executable, "-c", TORCH, *words])


def median(found, key):
    return statistics.median(found[key]) if found.get(key) else float("nan")


def verdict(figure, target):
    return "" if target is None else f", target {target:g} {'met' if figure <= target else 'NOT met'}"


def parts_of(found):
    return ", ".join(f"{part} {median(found, f'{part}_ms'):.2f}" for part in ("begin", "gather", "way", "end"))


def cuts(args, case):
    name, rows, columns, classes, target, copy_target = case
    found, rival = ours(args, job="cuts", rows=rows, columns=columns, classes=classes, repeats=args.repeats), torch("cuts", rows, columns)
    gpu, copy = median(found, "gpu_ms"), median(found, "copy_ms")
    print(f"{name}: gpu {gpu:.3f}{verdict(gpu, target)}, with copies {copy:.3f}{verdict(copy, copy_target)}, call {median(found, 'call_ms'):.2f} "
          f"({parts_of(found)}), "
          f"processor {median(found, 'cpu_ms'):.2f}, auto takes the {found.get('auto')}, PyTorch {median(rival, 'ms'):.2f}, same {found.get('same', found)}", flush=True)
    return {"case": name, "stope": found, "torch": rival, "gpu_target_ms": target, "copy_target_ms": copy_target}


def gains(args, case):
    criterion, rows, columns, classes = case
    name = f"{criterion} {rows:,} x {columns:,}, {classes} classes"
    found = ours(args, job=criterion, rows=rows, columns=columns, classes=classes, repeats=args.repeats)
    print(f"{name}: gpu {median(found, 'gpu_ms'):.3f}, call {median(found, 'call_ms'):.2f}, processor {median(found, 'cpu_ms'):.2f}, auto takes the "
          f"{found.get('auto')}, same {found.get('same', found)}", flush=True)
    return {"case": name, "stope": found}


def sets(args, case):
    job, rows, columns, classes, label, weights, most = case
    name = f"sets: {job} {rows:,} x {columns:,}, {classes} classes, weights {weights}"
    found = ours(args, job=job, rows=rows, columns=columns, classes=classes, label=label, weights=weights, max_cuts=most, repeats=min(args.repeats, 5))
    work = f"sort {median(found, 'sort_ms'):.3f}, search {median(found, 'search_ms'):.3f}" if "sort_ms" in found else f"gpu {median(found, 'gpu_ms'):.3f}"
    print(f"{name}: {work}, call {median(found, 'call_ms'):.2f}, processor {median(found, 'cpu_ms'):.2f}, cuts {found.get('cuts')}, same "
          f"{found.get('same', found)}", flush=True)
    return {"case": name, "stope": found}


def permutations(args, case):
    name, rows, columns, classes, n, target = case
    found = ours(args, job="permutations", rows=rows, columns=columns, classes=classes, permutations=n, repeats=min(args.repeats, 10))
    call = median(found, "call_ms")
    print(f"{name}: call {call:.2f}{verdict(call, target)}, of which gpu {median(found, 'gpu_ms'):.3f}, labels {median(found, 'draw_ms'):.2f}, processor "
          f"{median(found, 'cpu_ms'):.0f}, one core {median(found, 'core_ms'):.0f}, auto takes the {found.get('auto')}, same {found.get('same', found)}", flush=True)
    return {"case": name, "stope": found, "call_target_ms": target}


def tree(args, case):
    name, rows, columns, classes, label, target = case
    found = ours(args, job="tree", rows=rows, columns=columns, classes=classes, label=label, repeats=min(args.repeats, 10))
    gpu = median(found, "sort_ms") + median(found, "grow_ms")
    print(f"{name}: gpu {gpu:.3f} (sort {median(found, 'sort_ms'):.3f}, grow {median(found, 'grow_ms'):.3f}){verdict(gpu, target)}, call "
          f"{median(found, 'call_ms'):.2f}, processor {median(found, 'cpu_ms'):.2f}, auto takes the {found.get('auto')}, leaves {found.get('leaves')}, depth {found.get('depth')}, same {found.get('same', found)}", flush=True)
    return {"case": name, "stope": found, "gpu_target_ms": target}


def gain_tree(args, case):
    job, rows, columns, classes, label = case
    name = f"{job} {rows:,} x {columns:,}, {classes} classes"
    found = ours(args, job=job, rows=rows, columns=columns, classes=classes, label=label, repeats=min(args.repeats, 5))
    print(f"{name}: gpu {median(found, 'sort_ms') + median(found, 'grow_ms'):.3f} (sort {median(found, 'sort_ms'):.3f}, grow {median(found, 'grow_ms'):.3f}), "
          f"call {median(found, 'call_ms'):.2f}, processor {median(found, 'cpu_ms'):.2f}, auto takes the {found.get('auto')}, same {found.get('same', found)}", flush=True)
    return {"case": name, "stope": found}


def sort(args):
    rows, columns, target = SORT
    found, rival = ours(args, job="tree", rows=rows, columns=columns, depth=1, check="no", repeats=5), torch("sort", rows, columns)
    gpu = median(found, "sort_ms")
    print(f"sort {rows:,} x {columns}: {gpu:.2f}{verdict(gpu, target)}, PyTorch {median(rival, 'ms'):.2f}", flush=True)
    return {"case": f"sort {rows:,} x {columns}", "stope": found, "torch": rival, "gpu_target_ms": target}


def level(args):
    """The time of a tree's second level: a tree of depth 2 less one of depth 1, whose only level moves no rows."""
    rows, columns, times = LEVEL
    words = {"job": "tree", "rows": rows, "columns": columns, "label": "rule", "check": "no", "repeats": 3}
    shallow, deep, floor = ours(args, depth=1, **words), ours(args, depth=2, **words), torch("level", rows, columns)
    gpu = median(deep, "grow_ms") - median(shallow, "grow_ms")
    least = median(floor, "stream_ms") + median(floor, "gather_ms") - median(floor, "indices_ms") / 2
    print(f"level {rows:,} x {columns}: {gpu:.2f}, floor {least:.2f} (stream {median(floor, 'stream_ms'):.2f}, gather {median(floor, 'gather_ms'):.2f}): "
          f"{gpu / least:.2f} x{verdict(gpu / least, times)}", flush=True)
    return {"case": f"level {rows:,} x {columns}", "shallow": shallow, "deep": deep, "floor": floor, "level_ms": gpu, "floor_ms": least, "target_times": times}


def command(args):
    program = args.build / "cli" / "stope"
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        table, ranking = pathlib.Path(folder) / "wide.csv", pathlib.Path(folder) / "ranking.csv"
        done = subprocess.run([program, "gen", "wide", "61359", "161", "-o", table, "-q"], check=False)
        if done.returncode != 0:
            return {"case": "command", "error": "no table"}
        words = [program, "discretize", table, "--target", "class", "--method", "best-cut", "-o", ranking, "--json", "--device", "cuda"]
        found = [run(words, {"STOPE_CUDA_PLUGIN": str((args.build / "libstope_cuda.so").resolve())}) for _ in range(3)]
    if any("error" in one for one in found):
        print(f"command: {found}")
        return {"case": "command", "error": found}
    times = [one["timings"] for one in found]
    print("161 x 61,359 from CSV: " + ", ".join(f"{part} {1e3 * statistics.median(t[part] for t in times):.0f} ms" for part in times[0]), flush=True)
    return {"case": "161 x 61,359 from CSV", "seconds": times}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", default="", help="the cases whose name contains this; the file gets it in its name")
    parser.add_argument("--folder", help="for the CSV file")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    if not gpus():
        sys.exit("no GPU")
    jobs = [(case[0], lambda case=case: cuts(args, case)) for case in CUTS] + [(case[0], lambda case=case: tree(args, case)) for case in TREES]
    jobs += [(case[0], lambda case=case: permutations(args, case)) for case in PERMUTATIONS]
    jobs += [(f"sets {case[0]}", lambda case=case: sets(args, case)) for case in SETS]
    jobs += [(case[0], lambda case=case: gains(args, case)) for case in GAINS]
    jobs += [(case[0], lambda case=case: gain_tree(args, case)) for case in GAIN_TREES]
    jobs += [("sort", lambda: sort(args)), ("level", lambda: level(args)), ("command", lambda: command(args))]
    cases = [job() for name, job in jobs if args.only in name]
    name = "_".join(["discretize_gpu", *args.only.split()])
    print(f"wrote {write_result(args.results, name, {'cases': cases}, gpus()[0])}")
    sys.exit(0 if all(case["stope"].get("same") for case in cases if "stope" in case) else 1)


if __name__ == "__main__":
    main()
