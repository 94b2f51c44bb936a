#!/usr/bin/env python3
"""Repeats the tables that an earlier work printed of z = A^T (A x) on a GPU (work 002, 2020s, an RTX-class card): the same
sizes, from files with `stope gen`, `ata` and `check` as its tools did, and in memory, on the CPU and, where there is one, on
the GPU. Its figures stand beside ours in bench/results/prior_works_002_<machine>_<date>.json and in a plot.

  python3 bench/prior_works_002.py BUILD_FOLDER [--devices cpu,gpu] [--repeats 5] [--largest ELEMENTS]

Its hardware and ours are not the same: the ratio says nothing of either program. What can be compared is that the whole job
is done at every size, right: the script ends with an error if `stope check` finds a wrong number, or if CPU and GPU differ.
Its limits were sizes that are multiples of 128, a vector that fits shared memory, one card: odd sizes are here as well.
"""
import argparse
import hashlib
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

# (columns, rows) -> milliseconds of its kernel 1 (A x) and kernel 2 (the rest), as printed.
THEIRS = {(512, 768): (0.0208, 0.0287), (1024, 1024): (0.0414, 0.0635), (1664, 1792): (0.1025, 0.1732),
          (12288, 1024): (0.347, 2.867), (8960, 17920): (4.188, 43.31), (1792, 1792): (0.110, 0.190),
          (3584, 3584): (0.400, 2.0), (7168, 7168): (1.47, 1.3), (14336, 14336): (5.5, 5.75)}
ODD = [(511, 769), (1025, 1023), (8193, 1001)]
NOTES = ("Theirs is the time of its kernels, A on the GPU. Ours on the CPU is a call of the library, A in memory; on the GPU "
         "\"kernels\" is a pass from x there to z there, and \"wall\" the call with x and z in the processor's memory. Its "
         "serial check of 512 x 768 took 4.04 ms; `serial_ms` is ours. Two sizes stand in both of its tables' ranges: the "
         "squares are those of its second table.")


def run(words, env):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, env=env, check=False)
    return done


def in_memory(args, columns, rows, device, env):
    done = run([args.build / "bench" / "gram_bench", rows, columns, "float32", device, 0, args.repeats, 0], env)
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-300:]}
    sample = json.loads(done.stdout.strip().splitlines()[-1])
    row = {"wall_ms": sample["gram_ms"], "cpu_ms": sample["gram_cpu_ms"], "read_ms": sample["read_ms"],
           "backend": sample["backend"], "answer": sample["answer"], "median_ms": statistics.median(sample["gram_ms"])}
    if sample.get("kernels_ms"):
        row |= {"kernels_ms": sample["kernels_ms"], "median_kernels_ms": statistics.median(sample["kernels_ms"])}
    return row


def from_files(args, columns, rows, device, env, folder):
    stope, matrix, result = args.build / "cli" / "stope", folder / "a.gram", folder / "z.gram"
    if not matrix.exists():
        run([stope, "gen", columns, rows, "-o", matrix], env)
    done = run([stope, "ata", matrix, "-o", result, "--json", "--device", device], env)
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-300:]}
    row = {"ata_ms": 1e3 * json.loads(done.stdout)["timings"]["total"],
           "answer": hashlib.sha256(result.read_bytes()).hexdigest()[:16]}
    check = run([stope, "check", matrix, result, "--json", "--device", "cpu"], env)
    found = json.loads(check.stdout)["check"] if check.stdout else {"ok": False, "serial_seconds": 0.0}
    return row | {"ok": found["ok"], "serial_ms": 1e3 * found["serial_seconds"]}


def plot(rows, path, machine):
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no plot")
        return
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "stope"
    import matplotlib.pyplot as plt
    figure, axis = plt.subplots(figsize=(9, 6))
    theirs = sorted((c * r, sum(ms)) for (c, r), ms in THEIRS.items())
    axis.plot(*zip(*theirs), linestyle="--", marker="x", label="work 002, both kernels")
    lines = {}
    for row in rows:
        for key, name in (("median_ms", "the call"), ("median_kernels_ms", "on the GPU alone")):
            if key in row["in_memory"]:
                lines.setdefault(f"stope, {row['device']}, {name}", []).append((row["columns"] * row["rows"], row["in_memory"][key]))
    for name, points in lines.items():
        axis.plot(*zip(*sorted(points)), marker="o", markersize=4, label=name)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("elements of A (float32)")
    axis.set_ylabel("milliseconds")
    axis.legend()
    axis.set_title(f"Work 002 (dashed; an RTX-class card) and stope on {machine}: z = A'(Ax)", fontsize=9)
    figure.tight_layout()
    figure.savefig(path)
    print(f"wrote {path}")


def measure(args, devices):
    env = os.environ | {"STOPE_CUDA_PLUGIN": str((args.build / "libstope_cuda.so").resolve())}
    rows = []
    for columns, n_rows in sorted(list(THEIRS) + ODD, key=lambda size: size[0] * size[1]):
        if columns * n_rows > args.largest:
            continue
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            for device in devices:
                name = "cuda" if device == "gpu" else "cpu"
                row = {"columns": columns, "rows": n_rows, "device": device, "theirs_ms": THEIRS.get((columns, n_rows)),
                       "in_memory": in_memory(args, columns, n_rows, name, env),
                       "files": from_files(args, columns, n_rows, name, env, pathlib.Path(folder))}
                rows.append(row)
                theirs = f"{sum(row['theirs_ms']):.3f}" if row["theirs_ms"] else "-"
                print(f"{columns:>6} x {n_rows:<6} {device}: {row['in_memory'].get('median_ms', row['in_memory'])} ms, theirs {theirs}, "
                      f"{'OK' if row['files'].get('ok') else row['files']}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--devices", help="cpu, gpu or both (all there are)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--largest", type=int, default=1 << 40, help="no matrix of more elements")
    parser.add_argument("--folder", help="for files of up to 0.9 GB")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    there = gpus()
    devices = args.devices.split(",") if args.devices else ["cpu"] + (["gpu"] if there else [])
    machine = there[0] if "gpu" in devices and there else cpu_name()
    rows = measure(args, devices)
    answers = {}
    for row in rows:
        for way in ("in_memory", "files"):
            answers.setdefault((row["columns"], row["rows"], way), set()).add(row[way].get("answer"))
    wrong = [size for size, found in answers.items() if len(found) > 1] + [
        (row["columns"], row["rows"]) for row in rows if not row["files"].get("ok")]
    path = write_result(args.results, "prior_works_002",
                        {"notes": NOTES, "theirs_ms": {f"{c}x{r}": ms for (c, r), ms in THEIRS.items()}, "ours": rows}, machine)
    print(f"wrote {path}")
    plot(rows, path.with_suffix(".svg"), machine)
    sys.exit(f"wrong or different: {wrong}" if wrong else 0)


if __name__ == "__main__":
    main()
