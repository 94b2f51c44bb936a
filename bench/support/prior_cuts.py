"""Work 004 of bench/prior_works.py: the best cut of every attribute of a table of two classes (2014; i3-2367M, GT
640M). Its three tables of gene expression data are not public. Ours have their sizes, normal values and random labels."""
import json
import os
import subprocess

from bench.support.prior_work import Work, plugin, show

SIZES = ((161, 61_359), (180, 54_675), (247, 54_675))  # rows, attributes: ATC, SPS, GPE
THEIRS = {"004": {"cpu": dict(zip(map(str, SIZES), (2932, 3058, 4695))),
                  "gpu, with copies": dict(zip(map(str, SIZES), (484, 484, 702))),
                  "gpu, kernels": dict(zip(map(str, SIZES), (473.9, 472.4, 673.6)))}}
NOTES = {"004": "milliseconds, median of five, of the best cut of every attribute by pairs of rows of different classes; float32 in memory. 'whole' is from a"
                " table in the host's memory to the ranking of all attributes, 'cuts' without checking the table and making the ranking, 'gpu' the GPU's work alone. 'sort' is what"
                " one thread takes to sort every column with std::sort. The work's times leave out reading the file, as ours do"}


def measure(args, _, devices):
    rows = []
    for device, threads in (("cpu", 1), ("cpu", 0), ("gpu", 0)):
        if device not in devices:
            print(f"004: {device} left out")
            continue
        name = "cpu, 1 thread" if threads == 1 else device
        for size in SIZES:
            if size[0] * size[1] > args.largest:
                continue
            done = subprocess.run(
                [str(args.build / "bench" / "discretize_bench"), f"rows={size[0]}", f"columns={size[1]}", f"threads={threads}", "repeats=5",
                 "device=" + ("cuda" if device == "gpu" else "cpu"), f"rival={'yes' if threads == 1 else 'no'}",
                 f"seconds={int(args.seconds or 60)}"],
                capture_output=True, text=True, check=False, env=os.environ | plugin(args.build))
            if done.returncode != 0:
                rows += show([{"table": "004", "line": "whole", "size": size, "device": name, "error": done.stderr.strip()[-300:]}])
                continue
            rows += show(list(rows_of(json.loads(done.stdout), size, name)))
    return rows


def rows_of(found, size, device):
    answer = found["answer"] if not found["different"] else f"wrong: {found['different']} columns"
    for line in ("whole", "cuts", "gpu", "sort"):
        if line in found:
            yield {"table": "004", "line": line, "size": size, "device": device, "threads": found["threads"], "backend": found["backend"],
                   "milliseconds": found[line]["wall_ms"]} | ({} if line in ("gpu", "sort") else {"answer": answer})


def plot(rows, machine):
    import matplotlib.pyplot as plt
    figure, axis = plt.subplots(figsize=(11, 6))
    names = [f"{n} x {m:,}" for n, m in SIZES]
    lines = [(f"work 004, {line}", [times[str(size)] for size in SIZES], "--") for line, times in THEIRS["004"].items()]
    for line, device in (("sort", "cpu, 1 thread"), ("whole", "cpu, 1 thread"), ("whole", "cpu"), ("cuts", "cpu"), ("whole", "gpu"), ("cuts", "gpu"), ("gpu", "gpu")):
        known = {tuple(row["size"]): row["median_ms"] for row in rows if (row["line"], row["device"]) == (line, device) and "median_ms" in row}
        if known:
            text = "std::sort alone, one thread" if line == "sort" else f"stope, {line}, {device}"
            lines.append((text, [known.get(size) for size in SIZES], "-"))
    for text, values, style in lines:
        axis.plot(names, values, style, marker="o", label=text)
    axis.set_yscale("log")
    axis.set_ylabel("milliseconds")
    axis.set_xlabel("rows x attributes")
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))  # next to the lines, which fill the plot
    return figure, f"Work 004 (2014) and stope on {machine}: best cut of every attribute"


WORKS = {"004": Work(THEIRS, NOTES, measure, plot)}
