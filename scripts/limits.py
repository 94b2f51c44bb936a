#!/usr/bin/env python3
"""Measures the peak memory of every command at three limits and three shapes (scripts/limits.sh)."""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

LIMITS = (10_000_000, 50_000_000, 200_000_000)
ALLOWED = 64_000_000  # beyond the limit: the program itself, its libraries, and what the allocator keeps
SECONDS = 300         # a run that takes longer fails

# Rows, number columns, values of the nominal column, classes of the label. Each shape has far more of one thing than a
# small table.
SHAPES = {"rows": (500_000, 8, 20, 3), "columns": (100, 40_000, 5, 2), "classes": (60_000, 3, 50_000, 30_000)}

CUTS_OUT = ["--cuts-out", "-"]
CUTS = {"md-local": CUTS_OUT, "md-global": [*CUTS_OUT, "--max-cuts", "50"], "best-cut": ["-o", "-"], "mdlp": CUTS_OUT,
        "chimerge": CUTS_OUT, "equal-width": CUTS_OUT, "equal-frequency": CUTS_OUT}
ONE_MODEL = "model.stope"
COMMANDS = {
    "info": ["info", "t.csv"],
    "stats": ["stats", "t.csv", "-o", "-"],
    "stats --by": ["stats", "t.csv", "--by", "y", "-o", "-"],
    "stats --by --json": ["stats", "t.csv", "--by", "y", "--json"],
    "knn": ["knn", "t.csv", "few.csv", "--ignore", "y", "-k", "3"],
    "pairwise": ["pairwise", "t.csv", "few.csv", "--ignore", "y"],
    "classify": ["classify", "t.csv", "few.csv", "--target", "y", "-k", "3"],
    "classify --proba": ["classify", "t.csv", "few.csv", "--target", "y", "-k", "3", "--proba"],
    "classify to a model": ["classify", "t.csv", "--target", "y", "--model-out", ONE_MODEL],
    "predict": ["predict", "knn.stope", "few.csv"],
    "regress": ["regress", "t.csv", "few.csv", "--target", "a1"],
    "evaluate": ["evaluate", "t.csv", "--target", "y", "--holdout", "0.001", "-k", "1..5"],
    "evaluate --json": ["evaluate", "t.csv", "--target", "y", "--holdout", "0.001", "-k", "1..5", "--json"],
    "impute": ["impute", "t.csv", "--target", "y", "-k", "3"],
    "normalize": ["normalize", "t.csv", "--method", "interquartile"],
    "pca": ["pca", "t.csv", "--target", "y", "--ignore", "n", "--n-components", "2"],
    "lsq": ["lsq", "t.csv", "--target", "a1", "--ignore", "n,y"],
    **{f"discretize {m}": ["discretize", "t.csv", "--target", "y", "--ignore", "n", "--method", m, *out]
       for m, out in CUTS.items()},
    "tree": ["tree", "t.csv", "--target", "y", "--max-depth", "8"],
    "tree --cv": ["tree", "t.csv", "--target", "y", "--max-depth", "4", "--cv", "3"],
    "tree to a model": ["tree", "t.csv", "--target", "y", "--max-depth", "8", "--model-out", ONE_MODEL],
    "predict, tree": ["predict", "tree.stope", "few.csv"],
    "info, tree": ["info", "tree.stope", "--json"],
    "convert to csv": ["convert", "t.csv", "-"],
    "convert to arff": ["convert", "t.csv", "-", "--output-format", "arff"],
    "convert from arff": ["convert", "t.arff", "-", "--output-format", "csv"],
    "convert from gz": ["convert", "t.csv.gz", "-"],
    "gen": ["gen", "blobs", "100", "20000"],
    "ata": ["ata", "t.gram"],
    "check": ["check", "t.gram", "t.ata"],
}


def write_table(path, rows, numbers, values, classes, seed):
    draw = random.Random(seed)
    head = [f"a{i + 1}" for i in range(numbers)] + ["n", "y"]
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(head) + "\n")
        for _ in range(rows):
            cells = [f"{draw.random():.4f}" for _ in range(numbers)]
            cells += [f"v{draw.randrange(values)}", f"class {draw.randrange(classes)}"]
            out.write(",".join(cells) + "\n")


def make_files(program, folder, shape):
    rows, numbers, values, classes = SHAPES[shape]
    write_table(folder / "t.csv", rows, numbers, values, classes, 1)
    write_table(folder / "few.csv", 20, numbers, values, classes, 2)
    for command in (["convert", "t.csv", "t.arff"], ["convert", "t.csv", "t.csv.gz"], ["gen", "2000", "2000", "-o", "t.gram"], ["ata", "t.gram", "-o", "t.ata"],
                    ["classify", "t.csv", "--target", "y", "--model-out", "knn.stope"],
                    ["tree", "t.csv", "--target", "y", "--max-depth", "8", "--model-out", "tree.stope", "-q"]):
        subprocess.run([program, *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def anonymous_bytes(pid):
    """Returns what a process holds in memory of its own now. Pages of mapped files leave when the system wants."""
    try:
        found = re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found.group(1)) * 1024 if found else 0


def measure(command, folder):
    """Runs a command. Returns its peak, its exit code (None: it took too long), seconds, and its last line of stderr."""
    start, peak, code = time.monotonic(), 0, 0
    with (folder / "errors").open("w+b") as errors:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        while process.poll() is None:
            peak = max(peak, anonymous_bytes(process.pid))
            if time.monotonic() - start > SECONDS:
                process.kill()
                code = None
            time.sleep(0.001)
        errors.seek(0)
        lines = [line for line in errors.read().decode(errors="replace").splitlines() if line.startswith("stope:")]
    return peak, process.returncode if code == 0 else None, time.monotonic() - start, lines[-1] if lines else ""


def verdict(peak, limit, code, error):
    """Returns what is wrong with a run, or an empty text. A refusal (4) says how many bytes it needs."""
    if code is None:
        return f"longer than {SECONDS} s"
    if code not in (0, 4):
        return f"exit {code}: {error}"
    if peak > limit + ALLOWED:
        return "above the limit"
    if code == 4 and not re.search(r"\d", error):
        return f"names no bytes: {error}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--shape", choices=SHAPES, action="append", help="only this shape; repeatable")
    parser.add_argument("--only", default="", help="only commands whose name holds this text")
    parser.add_argument("--verbose", action="store_true", help="also print why a run was refused")
    arguments = parser.parse_args()
    program, bad = str(pathlib.Path(arguments.program).resolve()), 0
    print(f"{'shape':8} {'command':28}" + "".join(f"{limit // 1_000_000:>8} MB" for limit in LIMITS) + "   MB, seconds")
    for shape in arguments.shape or SHAPES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            make_files(program, folder, shape)
            for command, words in COMMANDS.items():
                if arguments.only not in command:
                    continue
                cells, notes, longest = [], [], 0.0
                for limit in LIMITS:
                    full = [program, *words, "--progress", "no", "-j", "8", "--memory-limit", str(limit)]
                    peak, code, seconds, error = measure(full, folder)
                    wrong = verdict(peak, limit, code, error)
                    longest = max(longest, seconds)
                    cells.append(f"{peak / 1e6:.0f}{'r' if code == 4 else ''}{'!' if wrong else ''}")
                    if wrong or (arguments.verbose and code == 4):
                        notes.append(f"         {limit // 1_000_000} MB: {wrong or error}")
                    bad += bool(wrong)
                print(f"{shape:8} {command:28}" + "".join(f"{cell:>11}" for cell in cells) + f"{longest:>10.1f}")
                print("".join(note + "\n" for note in notes), end="", flush=True)
    print(f"{bad} runs are wrong (!)" if bad else "every run keeps its limit (r: refused, naming the bytes)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
