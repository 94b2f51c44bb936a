#!/usr/bin/env python3
"""Times z = A^T (A x) in one run, on the same numbers. Rivals are NumPy's two products (CPU), PyTorch's, which are
cuBLAS's (GPU), and the floor, one read of A. Checks that every answer is right, and that stope's has the same bits on
every back end. Writes every sample to bench/results/gram_<machine>_<date>.json.

  python3 bench/gram.py BUILD_FOLDER [--device cpu|cuda] [--threads N] [--repeats 9] [--small]

On a CPU that others use, too, compare the CPU times (cpu): they leave out the waiting. On a GPU "kernels" is a pass
from x to z in the GPU's memory; the targets count it, and PyTorch is timed the same way.
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
from bench.support.machine import cpu_name, gpus, write_result  # noqa: E402

# rows, columns, type; on a GPU with the target in milliseconds.
CPU_CASES = [(250_000, 1024, "float32"), (8192, 32_768, "float32"), (256, 1_000_000, "float32"), (1792, 1792, "float32"),
             (512, 512, "float32"), (5_000_000, 50, "float32"), (125_000, 1024, "float64")]
SMALL_CASES = [(100_000, 1024, "float32"), (2048, 32_768, "float32"), (64, 1_000_000, "float32"), (1792, 1792, "float32"),
               (512, 512, "float32"), (1_000_000, 50, "float32"), (50_000, 1024, "float64")]
GPU_CASES = [(1_000_000, 1024, "float32", 1.0), (32_768, 32_768, "float32", 1.05), (1024, 1_000_000, "float32", 1.05),
             (1792, 1792, "float32", 0.012), (14_336, 14_336, "float32", None), (20_000, 17_000, "float32", None),
             (1000, 61_359, "float32", None), (10_000_000, 50, "float32", None), (20_000_000, 3, "float32", None),
             (100_000, 50, "float32", None), (500_000, 1024, "float64", None), (8192, 65_536, "float64", None)]
READ_CEILING = 4.5e12  # bytes per second of read-only streams on an H200

NUMPY = """
import json, sys, time
import numpy as np
rows, columns, dtype, repeats, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5]
a = np.fromfile(path, dtype, rows * columns).reshape(rows, columns)
x = np.fromfile(path, "float64", columns, offset=a.nbytes).astype(dtype)
wall, cpu = [], []
for i in range(repeats + 1):
    s, c = time.perf_counter(), time.process_time()
    z = a.T @ (a @ x)
    wall.append(1e3 * (time.perf_counter() - s)); cpu.append(1e3 * (time.process_time() - c))
print(json.dumps({"ms": wall[1:], "cpu_ms": cpu[1:], "version": np.__version__, "z0": float(z[0])}))
"""

TORCH = """
import json, sys
import torch
rows, columns, dtype, repeats = int(sys.argv[1]), int(sys.argv[2]), getattr(torch, sys.argv[3]), int(sys.argv[4])
torch.backends.cuda.matmul.allow_tf32 = False
a = torch.rand(rows, columns, dtype=dtype, device="cuda") * 2 - 1
x = torch.rand(columns, dtype=dtype, device="cuda")
def one():
    return torch.mv(a.T, torch.mv(a, x))
for i in range(3): one()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph): one()
def sample(work, n=20):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for i in range(n): work()
    end.record(); end.synchronize()
    return start.elapsed_time(end) / n
print(json.dumps({"ms": [sample(one) for i in range(repeats)], "graph_ms": [sample(graph.replay) for i in range(repeats)],
                  "version": torch.__version__}))
"""


def run(command, env=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=os.environ | (env or {}), check=False)
    if done.returncode != 0:
        return {"error": (done.stderr.strip() or done.stdout.strip())[-300:]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def median(sample, key):
    return statistics.median(sample[key]) if sample.get(key) else None


def cpu_case(args, case, folder):
    rows, columns, dtype = case
    program, matrix = args.build / "bench" / "gram_bench", folder / "matrix"
    row = {"rows": rows, "columns": columns, "dtype": dtype, "threads": args.threads, "stope": {}}
    for backend in args.backends:
        first = backend == args.backends[0]
        words = [program, rows, columns, dtype, "cpu", args.threads, args.repeats, int(first)] + ([matrix] if first else [])
        row["stope"][backend] = run(words, {"STOPE_BACKEND": backend})
    limits = {name: str(args.threads) for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")}
    row["numpy"] = run([sys.executable, "-c", NUMPY, rows, columns, dtype, args.repeats, matrix], limits)
    answers = {sample.get("answer") for sample in row["stope"].values() if "error" not in sample}
    row["right"] = len(answers) == 1 and all(sample.get("right") for sample in row["stope"].values())
    best = row["stope"][args.backends[0]]
    if "error" in best:
        print(f"{rows:>9} x {columns:<9}{dtype:<8} {best['error']}")
        return row
    cells = [median(best, key) for key in ("gram_cpu_ms", "two_cpu_ms", "read_cpu_ms", "gram_ms", "read_ms")]
    numpy = [median(row["numpy"], key) or float("nan") for key in ("cpu_ms", "ms")]
    row["figures"] = {"of_read": cells[2] / cells[0], "of_read_wall": cells[4] / cells[3], "numpy_by_ours_cpu": numpy[0] / cells[0],
                      "numpy_by_ours_wall": numpy[1] / cells[3]}
    print(f"{rows:>9} x {columns:<9}{dtype:<8} cpu ms: one pass {cells[0]:8.2f}, two {cells[1]:8.2f}, read {cells[2]:8.2f}, "
          f"numpy {numpy[0]:8.2f} ({numpy[0] / cells[0]:.2f} x)  wall: {cells[3]:8.2f}, read {cells[4]:8.2f}, numpy {numpy[1]:8.2f} "
          f"({numpy[1] / cells[3]:.2f} x){'' if row['right'] else '  WRONG'}", flush=True)
    return row


def gpu_case(args, case):
    rows, columns, dtype, target = case
    check = int(rows * columns <= 1 << 28)
    row = {"rows": rows, "columns": columns, "dtype": dtype, "target_ms": target}
    row["stope"] = run([args.build / "bench" / "gram_bench", rows, columns, dtype, "cuda", 0, args.repeats, check],
                       {"STOPE_CUDA_PLUGIN": str((args.build / "libstope_cuda.so").resolve())})
    row["torch"] = run([sys.executable, "-c", TORCH, rows, columns, dtype, args.repeats]) if args.torch else {"error": "not installed"}
    row["right"] = row["stope"].get("right", False)
    row["floor_ms"] = 1e3 * rows * columns * (4 if dtype == "float32" else 8) / READ_CEILING
    row["figure_ms"] = median(row["stope"], "kernels_ms") or median(row["stope"], "gram_ms")
    print(f"{rows:>9} x {columns:<9}{dtype:<8} kernels {row['figure_ms']}, target {target}, floor {row['floor_ms']:.4f}, cuBLAS "
          f"{median(row['torch'], 'ms')}, as a graph {median(row['torch'], 'graph_ms')} {row['stope'].get('error', '')}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--device", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--small", action="store_true", help="a quarter of the memory")
    parser.add_argument("--backends", default="avx512,avx2,scalar", help="the first is the one that is compared")
    parser.add_argument("--folder", help="for the matrices that NumPy reads (3 GB at most)")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    args.backends = args.backends.split(",")
    device = args.device or ("cuda" if gpus() else "cpu")
    if device == "cuda":
        args.torch = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode == 0
        cases, machine = [gpu_case(args, case) for case in GPU_CASES], gpus()[0]
    else:
        machine = cpu_name()
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            cases = [cpu_case(args, case, pathlib.Path(folder)) for case in (SMALL_CASES if args.small else CPU_CASES)]
    path = write_result(args.results, "gram", {"device": device, "threads": args.threads, "cases": cases}, machine)
    print(f"wrote {path}")
    sys.exit(0 if all(case["right"] for case in cases) else 1)


if __name__ == "__main__":
    main()
