"""Work 001 of bench/prior_works.py: the smallest and the largest of an array of doubles in [-1, 1] (2018; i7-5700HQ,
GTX 960M), 16 to 1,045,876 of them, and on to 2^30. Its figure is the crossover: the CPU was faster below 65,536, the
GPU above.

Our GPU has two crossovers: one for values in the host's memory, which have to be copied, and one for values in its own.
The constants of src/stats/auto_device.hpp come from here: `--constants FILE` prints them."""
import json
import os
import statistics
import subprocess

from bench.support.machine import memory_bytes
from bench.support.prior_work import Work, crossover, crossovers, plugin, show

CROSSOVER = 65_536
SIZES = tuple(1 << e for e in range(4, 20)) + (1_045_876,) + tuple(1 << e for e in range(21, 31))
SHARE = 0.7  # share of the free memory that an array may take
NOTES = {"001": "doubles in [-1, 1): smallest, largest and their first places. 'loop' is a comparison a value on one thread, 'call' a call of the"
                " library with the values in the host's memory, 'all' one for all statistics, 'resident' with the values in the GPU's memory, the answer in the host's"
                " each time. The work prints no times, but that its GPU is faster from 65,536 values on"}


def measure(args, _, devices):
    rows = []
    fit = [n for n in SIZES if 8 * n <= SHARE * memory_bytes() and n <= args.largest]
    if len(fit) < len(SIZES):
        print(f"001: {', '.join(f'{n:,}' for n in SIZES[len(fit):])} left out: too little memory")
    for device, threads in (("cpu", 1), ("cpu", 0), ("gpu", 0)):
        if device not in devices:
            print(f"001: {device} left out")
            continue
        name = "cpu, 1 thread" if threads == 1 else device
        done = subprocess.run(
            [str(args.build / "bench" / "extremes_bench"), "sizes=" + ",".join(map(str, fit)), f"threads={threads}",
             "device=" + ("cuda" if device == "gpu" else "cpu"), f"seconds={args.seconds or 1.0}"],
            capture_output=True, text=True, check=False, env=os.environ | plugin(args.build) | {"STOPE_STATS_GPU_ROWS": "1"})
        found = [json.loads(line) for line in done.stdout.splitlines() if line.endswith("}")]
        rows += show([row for sample in found for row in rows_of(sample, name)])
        for n in fit[len(found):]:
            rows += show([{"table": "001", "line": "call", "size": n, "device": name, "error": done.stderr.strip()[-300:]}])
    return rows


def rows_of(sample, device):
    answer = f"{sample['min']!r} {sample['max']!r}" if sample["right"] else f"wrong: {sample['min']!r} {sample['max']!r}"
    common = {"table": "001", "size": sample["n"], "threads": sample["threads"], "backend": sample["backend"], "answer": answer}
    lines = {"call": device, "all": device, "resident": device} | ({"loop": "cpu"} if device == "cpu, 1 thread" else {})
    for line, where in lines.items():
        if f"{line}_ms" in sample:
            extra = {"gpu_ms": sample["gpu_ms"]} if line == "resident" else {}
            if line == "call" and "fresh_ms" in sample:
                extra = {"fresh_ms": sample["fresh_ms"][0]}
            yield common | {"line": line, "device": where, "milliseconds": sample[f"{line}_ms"]} | extra


def times(rows, line, device):
    return {row["size"]: row["median_ms"] for row in rows if row["line"] == line and row["device"] == device and "median_ms" in row}


def conclude(rows):
    one, cpu, gpu = times(rows, "call", "cpu, 1 thread"), times(rows, "call", "cpu"), times(rows, "call", "gpu")
    found = crossovers("001", "values", {
        "gpu, values in the host's memory": (cpu, gpu),
        "gpu, values in the host's memory, over one thread": (one, gpu),
        "gpu, values in its memory": (cpu, times(rows, "resident", "gpu")),
        "all threads over one": (one, {n: ms for n, ms in cpu.items() if n >= 1 << 17})})
    return {"crossover_values": {"work 001": CROSSOVER} | found, "constants": constants(rows)}


def rate(known):
    """Bytes per second at the largest size."""
    return 8e3 * max(known) / known[max(known)] if known else None


def constants(rows):
    """This machine's constants for src/stats/auto_device.hpp; None for those that were not measured."""
    gpu = times(rows, "call", "gpu")
    return {"thread_rate": rate(times(rows, "all", "cpu, 1 thread")),
            "kCopyRate": rate(gpu),
            "kCallSeconds": 1e-3 * statistics.median(ms for n, ms in gpu.items() if n <= 4096) if gpu else None}


def plot(rows, machine):
    import matplotlib.pyplot as plt
    figure, axis = plt.subplots(figsize=(9, 6))
    for line, device, name in (("loop", "cpu", "a plain loop, one thread"), ("call", "cpu, 1 thread", "stope, one thread"),
                               ("call", "cpu", "stope, all threads"), ("call", "gpu", "stope, GPU, values in the host's memory"),
                               ("resident", "gpu", "stope, GPU, values in its memory")):
        known = times(rows, line, device)
        if known:
            axis.plot(list(known), list(known.values()), marker="o", markersize=3, label=name)
    axis.axvline(CROSSOVER, linestyle="--", color="grey", label=f"work 001: its GPU is faster from {CROSSOVER:,} on")
    for line, colour in (("call", "tab:red"), ("resident", "tab:purple")):
        size = crossover(times(rows, "call", "cpu"), times(rows, line, "gpu"))
        if size:
            axis.axvline(size, linestyle=":", color=colour, label=f"ours, {'values copied' if line == 'call' else 'values there'}: {size:,}")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("doubles")
    axis.set_ylabel("milliseconds")
    axis.legend(fontsize=8)
    return figure, f"Work 001 (2018) and stope on {machine}: smallest and largest of an array"


WORKS = {"001": Work({"001": {"crossover, values": CROSSOVER}}, NOTES, measure, plot, conclude)}
