#!/usr/bin/env python3
"""Times statistics of arrays in a GPU's memory: everything in one pass, and only extremes and missing values. The rival
is PyTorch's aminmax of as many values; the floor is one read. Every case is compared with the CPU, bit for bit. Writes
every sample to bench/results/stats_gpu_<gpu>_<date>.json.

  python3 bench/stats_gpu.py BUILD_FOLDER [--repeats 20]

"gpu" is the work on the GPU, from values to statistics in its memory. "call" is the wall time up to the statistics in
the host's memory.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import gpus, write_result  # noqa: E402

READ = 4.4e12  # measured read rate of an H200, bytes per second
M = 1 << 20
# name, type, rows, columns, layout, target: of what, milliseconds
CASES = (
    ("2^30 float32", "float32", 1 << 30, 1, "rows", ("all", (1 << 32) / READ / 0.95 * 1e3)),
    ("2^29 float64", "float64", 1 << 29, 1, "rows", None),
    ("2^30 int32", "int32", 1 << 30, 1, "rows", None),
    ("2^29 int64", "int64", 1 << 29, 1, "rows", None),
    ("row-major 4M x 256 float32", "float32", 4 * M, 256, "rows", ("extremes", 1.02)),
    ("row-major 2M x 256 float64", "float64", 2 * M, 256, "rows", None),
    ("row-major 32M x 20 float32", "float32", 32 * M, 20, "rows", None),
    ("column-major 4M x 256 float32", "float32", 4 * M, 256, "columns", None),
    ("2^20 float32", "float32", M, 1, "rows", None),
)

TORCH = """
import json, sys
import torch
kind, rows, columns, layout, repeats = getattr(torch, sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
shape = (rows, columns) if layout == "rows" else (columns, rows)
if kind.is_floating_point:
    values = torch.rand(shape, dtype=kind, device="cuda")
else:
    values = torch.randint(-2 ** 30, 2 ** 30, shape, dtype=kind, device="cuda")
def one():
    if columns == 1:
        return torch.aminmax(values)
    return torch.aminmax(values, dim=0 if layout == "rows" else 1)
def sample():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record(); one(); end.record(); end.synchronize()
    return start.elapsed_time(end)
for _ in range(3): one()
print(json.dumps({"ms": [sample() for _ in range(repeats)], "version": torch.__version__}))
"""


def run(command, environment=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=os.environ | (environment or {}), check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()[-300:]}


def measure(args, case):
    name, kind, rows, columns, layout, target = case
    ours = run([args.build / "bench" / "stats_gpu_bench", f"type={kind}", f"rows={rows}", f"columns={columns}", f"layout={layout}",
                f"repeats={args.repeats}"], {"STOPE_CUDA_PLUGIN": str((args.build / "libstope_cuda.so").resolve())})
    torch = run([sys.executable, "-c", TORCH, kind, rows, columns, layout, args.repeats])
    size = rows * columns * (8 if kind.endswith("64") else 4)
    row = {"case": name, "bytes": size, "floor_ms": 1e3 * size / READ, "target_ms": target and dict([target]), "stope": ours, "torch_aminmax": torch}
    if "error" in ours:
        print(f"{name}: {ours['error']}", flush=True)
        return row
    figures = {key: statistics.median(ours[key]) for key in ("all_gpu_ms", "all_call_ms", "extremes_gpu_ms", "extremes_call_ms")}
    row["figures"] = figures
    rival = statistics.median(torch["ms"]) if "ms" in torch else float("nan")
    met = "" if target is None else f", target of {target[0]} {target[1]:.3f} {'met' if figures[target[0] + '_gpu_ms'] <= target[1] else 'NOT met'}"
    print(f"{name}: all {figures['all_gpu_ms']:.3f} (call {figures['all_call_ms']:.3f}), extremes {figures['extremes_gpu_ms']:.3f} "
          f"(call {figures['extremes_call_ms']:.3f}), floor {row['floor_ms']:.3f}, aminmax {rival:.3f}{met}"
          f"{'' if ours['same'] else ', NOT the processor bits'}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    if not gpus():
        sys.exit("no GPU")
    cases = [measure(args, case) for case in CASES]
    print(f"wrote {write_result(args.results, 'stats_gpu', {'cases': cases}, gpus()[0])}")
    sys.exit(0 if all(case["stope"].get("same") for case in cases) else 1)


if __name__ == "__main__":
    main()
