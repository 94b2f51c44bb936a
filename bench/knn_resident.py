#!/usr/bin/env python3
"""Times fits and predictions of rows in a GPU's memory, whose predictions are wanted in that memory: where all stays there,
and where it goes through the host. Writes every sample to bench/results/knn_resident_<gpu>_<date>.json.

  python3 bench/knn_resident.py BUILD_FOLDER [--repeats 5]

Times are wall times: the fit, the first predictions (which make the images of the table), later ones. The CPU's are later
predictions by all threads, in the host's memory. Every case is compared with the CPU, bit for bit.
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

# rows, queries, columns, k, classes
CASES = (
    (1_000_000, 10_000, 128, 10, 10),
    (1_000_000, 10_000, 50, 10, 2),
    (100_000, 100_000, 32, 5, 10),
    (100_000, 1_000, 32, 5, 100),
)


def measure(args, case):
    name = "{} x {} x {}, k = {}, {} classes".format(*case)
    command = [args.build / "bench" / "knn_resident_bench", *case, args.repeats]
    environment = os.environ | {"STOPE_CUDA_PLUGIN": str((args.build / "libstope_cuda.so").resolve())}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        print(f"{name}: {done.stderr.strip()[-300:]}", flush=True)
        return {"case": name, "stope": {"error": done.stderr.strip()[-300:]}}
    ours = json.loads(done.stdout)
    figures = {f"{where}_{what}": statistics.median(ours[where][what]) for where in ("there", "through_host")
               for what in ("fit_ms", "first_ms", "later_ms")}
    figures["cpu_ms"] = min(ours["cpu_ms"])
    print(f"{name}: there {figures['there_fit_ms']:.2f} + {figures['there_first_ms']:.2f}, later {figures['there_later_ms']:.2f}; "
          f"through the host {figures['through_host_fit_ms']:.2f} + {figures['through_host_first_ms']:.2f}, later "
          f"{figures['through_host_later_ms']:.2f}; CPU {figures['cpu_ms']:.1f}{'' if ours['same'] else ', NOT the same bits'}",
          flush=True)
    return {"case": name, "figures": figures, "stope": ours}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    if not gpus():
        sys.exit("no GPU")
    cases = [measure(args, case) for case in CASES]
    print(f"wrote {write_result(args.results, 'knn_resident', {'cases': cases}, gpus()[0])}")
    sys.exit(0 if all(case["stope"].get("same") for case in cases) else 1)


if __name__ == "__main__":
    main()
