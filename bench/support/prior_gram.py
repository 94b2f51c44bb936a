"""Work 002 of bench/prior_works.py: z = A^T (A x) on a GPU (2020s, an RTX-class card), at the sizes it printed, from
files with `stope gen`, `ata` and `check` as its tools did, and in memory. It was limited to sizes that are multiples of
128, a vector that fits shared memory, and one card. Odd sizes are here as well. A number that `stope check` finds wrong
is an error.

The constants of src/gram/auto_device.cpp come from here: `--constants FILE` prints them."""
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from bench.support.machine import memory_bytes
from bench.support.prior_work import Work, crossover, crossovers, plugin, show

# (columns, rows) -> milliseconds of its kernel 1 (A x) and kernel 2 (the rest), as printed.
THEIRS = {(512, 768): (0.0208, 0.0287), (1024, 1024): (0.0414, 0.0635), (1664, 1792): (0.1025, 0.1732),
          (12288, 1024): (0.347, 2.867), (8960, 17920): (4.188, 43.31), (1792, 1792): (0.110, 0.190),
          (3584, 3584): (0.400, 2.0), (7168, 7168): (1.47, 1.3), (14336, 14336): (5.5, 5.75)}
SERIAL_MS = 4.04  # its serial check of 512 x 768
ODD = [(511, 769), (1025, 1023), (8193, 1001)]
REPEATS = 9
SHARE = 0.4  # share of the free memory that a matrix may take; the commands hold it twice
NOTES = {"002": "theirs is the time of its kernels, A on the GPU. Ours: 'call' is a call of the library with A where it is computed (after the"
                " first, the GPU has it), x and z in the host's memory, 'fresh' the first call of an operator, with the copy of A; 'kernels'"
                " from x to z on the GPU; 'files' from a file to a file. Its serial check of 512 x 768 took 4.04 ms: `serial_ms` is ours. The"
                " squares are those of its second table"}
LINES = {"gram_ms": "call", "fresh_ms": "fresh", "kernels_ms": "kernels"}


def run(words, env):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, env=env, check=False)


def in_memory(args, size, device, env):
    columns, rows = size
    common = {"table": "002", "size": size, "device": device}
    done = run([args.build / "bench" / "gram_bench", rows, columns, "float32", "cuda" if device == "gpu" else "cpu", 0, REPEATS, 0], env)
    if done.returncode != 0:
        return [common | {"line": "call", "error": done.stderr.strip()[-300:]}]
    sample = json.loads(done.stdout.strip().splitlines()[-1])
    common |= {key: sample[key] for key in ("backend", "threads", "answer")}
    extra = {"gram_ms": {"read_ms": sample["read_ms"], "processor_ms": sample["gram_cpu_ms"]}, "fresh_ms": {"driver_ms": sample["first_ms"]}}
    return [common | {"line": line, "milliseconds": sample[key]} | extra.get(key, {}) for key, line in LINES.items() if sample.get(key)]


def from_files(args, size, device, env, folder):
    stope, matrix, result = args.build / "cli" / "stope", folder / "a.gram", folder / "z.gram"
    row = {"table": "002", "line": "files", "size": size, "device": device}
    if not matrix.exists():
        run([stope, "gen", *size, "-o", matrix], env)
    done = run([stope, "ata", matrix, "-o", result, "--json", "--device", "cuda" if device == "gpu" else "cpu"], env)
    if done.returncode != 0:
        return row | {"error": done.stderr.strip()[-300:]}
    row |= {"milliseconds": [1e3 * json.loads(done.stdout)["timings"]["total"]],
            "answer": hashlib.sha256(result.read_bytes()).hexdigest()[:16]}
    check = run([stope, "check", matrix, result, "--json", "--device", "cpu"], env)
    found = json.loads(check.stdout)["check"] if check.stdout else {"ok": False, "serial_seconds": 0.0}
    if not found["ok"]:
        row |= {"answer": f"wrong on {device}", "error": f"WRONG: {check.stdout or check.stderr}"[:300]}
    return row | {"serial_ms": 1e3 * found["serial_seconds"]}


def measure(args, _, devices):
    env, rows = os.environ | plugin(args.build), []
    for size in sorted(list(THEIRS) + ODD, key=lambda size: size[0] * size[1]):
        n = size[0] * size[1]
        if n > args.largest or 4 * n > SHARE * memory_bytes():
            print(f"002: {size[0]} x {size[1]} left out: too large")
            continue
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            for device in devices:
                rows += show(in_memory(args, size, device, env))
                if not args.no_files:
                    rows += show([from_files(args, size, device, env, pathlib.Path(folder))])
    return rows


def times(rows, line, device):
    """Number of elements of A -> median time, for the work's sizes; the later one of two with as many elements."""
    return {size[0] * size[1]: row["median_ms"] for row in rows for size in [row["size"]]
            if row["line"] == line and row["device"] == device and "median_ms" in row}


def conclude(rows):
    cpu = times(rows, "call", "cpu")
    found = crossovers("002", "elements", {"gpu, A in its memory": (cpu, times(rows, "call", "gpu")),
                                           "gpu, A copied for one product": (cpu, times(rows, "fresh", "gpu"))})
    wrong = [row for row in rows if str(row.get("error", "")).startswith("WRONG")]
    return {"crossover_elements": found, "constants": constants(rows), "wrong": wrong}


def constants(rows):
    """This machine's constants for src/gram/auto_device.cpp: seconds, and bytes per second of the largest matrix; None
    for those that were not measured."""
    cpu, gpu, fresh = times(rows, "call", "cpu"), times(rows, "call", "gpu"), times(rows, "fresh", "gpu")
    threads = {row["threads"] for row in rows if row["device"] == "cpu" and "threads" in row}
    found = {"element": 1e-3 * cpu[max(cpu)] * max(threads) / max(cpu) if cpu else None}
    if not gpu:
        return found | dict.fromkeys(("start", "call", "load_rate", "read_rate"))
    small, large = min(gpu), max(gpu)
    drivers = [row["driver_ms"] - row["median_ms"] for row in rows if row["line"] == "fresh" and row["device"] == "gpu"]
    return found | {"start": 1e-3 * statistics.median(drivers), "call": 1e-3 * gpu[small],
                    "load_rate": 4e3 * large / (fresh[large] - gpu[large]), "read_rate": 4e3 * large / gpu[large]}


def plot(rows, machine):
    import matplotlib.pyplot as plt
    figure, axis = plt.subplots(figsize=(9, 6))
    theirs = sorted((c * r, sum(ms)) for (c, r), ms in THEIRS.items())
    axis.plot(*zip(*theirs), linestyle="--", marker="x", label="work 002, both kernels")
    axis.plot([512 * 768], [SERIAL_MS], linestyle="none", marker="x", label="work 002, serial")
    names = {"call": "a call", "kernels": "on the GPU alone", "fresh": "the first call, with the copy of A", "files": "from file to file"}
    for device in ("cpu", "gpu"):
        for line, name in names.items():
            known = sorted(times(rows, line, device).items())
            if known and not (device == "cpu" and line == "fresh"):
                axis.plot(*zip(*known), marker="o", markersize=3, label=f"stope, {device}, {name}")
    size = crossover(times(rows, "call", "cpu"), times(rows, "call", "gpu"))
    if size:
        axis.axvline(size, linestyle=":", label=f"the GPU is faster, A there: {size:,}")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("elements of A (float32)")
    axis.set_ylabel("milliseconds")
    axis.legend(fontsize=8)
    return figure, f"Work 002 (an RTX-class card) and stope on {machine}: z = A'(Ax)"


WORKS = {"002": Work({"002": {f"{c} x {r}": ms for (c, r), ms in THEIRS.items()}}, NOTES, measure, plot, conclude)}
