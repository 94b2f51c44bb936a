#!/usr/bin/env python3
"""Times exact k-NN on a GPU in one run: stope's tensor filter, the matrix units' floor for the same pairs, and PyTorch (a
float32 product and topk, in pieces), each on the same kind of data. stope's answers are checked against the processor's,
bit for bit; PyTorch's share of queries with the right set of neighbours is reported. Writes
bench/results/knn_gpu_<gpu>_<date>.json.

  python3 bench/knn_gpu.py BUILD_FOLDER [--repeats 7] [--only TEXT] [--results FOLDER]

Times are milliseconds on the GPU with the tables there; `total` adds what the search needs of the training table's images
once to what it takes. PyTorch is left out, with a message, where it is not installed.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402

HALF_TFLOPS = {"H200": 730, "H100": 730}  # a library's product in half precision, measured
CASES = [  # rows, queries, columns, k, data, target of the whole in milliseconds on an H200
    (1_000_000, 10_000, 128, 10, "uniform", 4.2),
    (1_000_000, 10_000, 128, 10, "normal", 4.4),
    (1_000_000, 10_000, 128, 10, "latent", 4.4),
    (1_000_000, 10_000, 128, 10, "clusters", 4.4),
    (1_000_000, 10_000, 128, 10, "bytes", None),
    (1_000_000, 10_000, 128, 100, "uniform", 5.5),
    (1_000_000, 10_000, 20, 10, "uniform", 2.2),
    (1_000_000, 10_000, 50, 10, "uniform", 3.0),
    (100_000, 100_000, 50, 10, "uniform", 3.8),
    (100_000, 100_000, 128, 10, "uniform", 5.0),
    (38_400, 38_400, 96, 20, "uniform", 1.1),
]


def run_stope(build, case, repeats):
    words = [build / "bench" / "knn_gpu_bench", *case[:5], repeats]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True,
                          env={**os.environ, "STOPE_CUDA_PLUGIN": str((build / "libstope_cuda.so").resolve())})
    return json.loads(done.stdout)


def run_torch(case, repeats):
    """A float32 product and topk in pieces of queries: what people write."""
    import torch

    n, m, d, k = case[:4]
    torch.manual_seed(1)
    train, query = torch.rand(n, d, device="cuda"), torch.rand(m, d, device="cuda")
    squares = (train * train).sum(1)
    piece = max(1, min(m, 2 ** 30 // n))

    def search():
        return torch.cat([torch.topk(squares - 2 * (query[i:i + piece] @ train.T), k, largest=False).indices
                          for i in range(0, m, piece)])

    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        found = search()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    few = query[:64].double()
    distances = torch.stack([((train.double() - q) ** 2).sum(1) for q in few])
    right = torch.topk(distances, k, largest=False).indices
    exact = float((found[:64].sort(1)[0] == right.sort(1)[0]).all(1).float().mean())
    return {"milliseconds": statistics.median(times[1:]), "exact": exact}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    torch = importlib.util.find_spec("torch") is not None
    if not torch:
        print("PyTorch is not installed: no rival", file=sys.stderr)
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True,
                         text=True).stdout.splitlines()[0].strip()
    tflops = next((rate for name, rate in HALF_TFLOPS.items() if name in gpu), None)
    rows = []
    for case in CASES:
        n, m, d, k, data, target = case
        name = f"{n} x {m} x {d}, k {k}, {data}"
        if arguments.only not in name:
            continue
        ours = run_stope(arguments.build, case, arguments.repeats)
        steps = ours["gpu_ms"]
        search = steps["sample"] + steps["thresholds"] + steps["list"] + steps["re-rank"]
        row = {"case": name, "target_ms": target, "search_ms": search, "stope": ours,
               "floor_ms": 2 * n * m * d / tflops * 1e-9 if tflops else None}
        if torch and data == "uniform":
            row["torch"] = run_torch(case, arguments.repeats)
        rows.append(row)
        rival = f", PyTorch {row['torch']['milliseconds']:.1f} (exact {row['torch']['exact']:.2f})" if "torch" in row else ""
        print(f"{name}: search {search:.2f} ms (sample {steps['sample']:.2f}, list {steps['list']:.2f}, re-rank "
              f"{steps['re-rank']:.2f}), floor {row['floor_ms'] or float('nan'):.2f}, target {target}, wall "
              f"{statistics.median(ours['searches_ms']):.1f}, exact {ours['exact']}/{ours['checked']}, "
              f"{ours['uncertified']} uncertified{rival}", flush=True)
    slug = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    print(write_result(arguments.results, f"knn_gpu_{slug}", {"gpu": gpu, "results": rows}))


if __name__ == "__main__":
    main()
