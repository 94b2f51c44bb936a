#!/usr/bin/env python3
"""Times k-NN on the CPU with other sizes than the source has: rows of a block, queries of a tile, blocks between two
tightenings, tiles of the reference. The source has no seam for most of them. So each variant compiles copies of the
files that a size is in, and what includes them, with the commands of the build folder, and links them before the
library. The reference's tiles are set by STOPE_TILE_QUERIES and STOPE_TILE_ROWS. Answers of all variants must be the
same, bit for bit. Writes bench/results/knn_sizes_<cpu>_<date>.json.

  python3 bench/knn_sizes.py BUILD_FOLDER [--threads 2] [--rounds 5] [--only WORD] [--keep FOLDER]

The variants of a size take turns, and the least CPU time of all rounds counts: a machine that is not idle changes it
less than wall time. The first line of each size is the source's own. --keep leaves the programs in a folder and takes
those that are there. BUILD_FOLDER has compiled knn_cpu_bench.
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402

OWN = "as in the source"
SCAN, SEARCH, VISITS = "knn/filter/scan/scan.hpp", "knn/filter/tile_search.hpp", "knn/filter/tile_visits.cpp"
FLOATS, BYTES, PRODUCTS = (f"knn/filter/scan/{name}.inl" for name in ("floats", "bytes", "byte_products"))
# 32 rows fill half of the registers that 64 do; the groups of queries stay as they are. Blocks of near rows keep 64:
# other files count on it there.
HALF_BLOCKS = [(SCAN, "kScanBlockRows = 64", "kScanBlockRows = 32"), (FLOATS, "kVectors = 4, ", "kVectors = 2, "),
               (BYTES, "kParts = 8;", "kParts = 4;"),
               (PRODUCTS, " kParts = 4;", " kParts = 2;"), (PRODUCTS, "kByteParts = 4;", "kByteParts = 2;")]


def sized(file, name, was, values):
    return {f"{name} = {value}": [(file, f"{name} = {was};", f"{name} = {value};")] for value in values}


# rows, queries, columns, k, measure, data
NEAR = {  # near rows share a block
    "3 columns": (500_000, 5000, 3, 10, "euclidean", "uniform"),
    "3 columns, many queries": (200_000, 50_000, 3, 10, "euclidean", "uniform"),
    "8 columns, clusters": (200_000, 2000, 8, 10, "euclidean", "clusters"),
}
IN_ORDER = {  # blocks in the table's order
    "50 columns": (100_000, 1000, 50, 10, "euclidean", "uniform"),
    "50 columns, k = 100": (100_000, 1000, 50, 100, "euclidean", "uniform"),
    "50 columns, manhattan": (100_000, 1000, 50, 10, "manhattan", "uniform"),
    "128 columns, clusters": (50_000, 1000, 128, 10, "euclidean", "clusters"),
}
IN_FULL = {"10 columns": (20_000, 1000, 10, 10, "euclidean", "uniform"), "100 columns": (20_000, 500, 100, 10, "euclidean", "uniform"),
           "few rows": (2000, 4000, 20, 10, "euclidean", "uniform")}
# The same sizes, compiled and linked as the others are: how far it is from the source's own says what is noise.
CONTROL = {"control": [(VISITS, "kFirstStep = 8;", "kFirstStep = 8;")]}
# size: (cases, {variant: replacements in files, or variables})
SIZES = {
    "rows of a block": (IN_ORDER, CONTROL | {"kScanBlockRows = 32": HALF_BLOCKS}),
    "queries of a tile": (NEAR | IN_ORDER, CONTROL | sized(SCAN, "kScanTileQueries", 64, (16, 32))),
    "first step": (IN_ORDER, CONTROL | sized(VISITS, "kFirstStep", 8, (1, 2, 4, 16, 32))),
    "most blocks of a step": (IN_ORDER, CONTROL | sized(SEARCH, "kMostBlocks", 64, (16, 32, 128, 256))),
    "step of near rows": (NEAR, CONTROL | sized(SEARCH, "kNearStep", 8, (2, 4, 16, 32))),
    "queries of the reference's tile": (IN_FULL, {f"{n} queries": {"STOPE_TILE_QUERIES": str(n)} for n in (16, 32, 64, 256, 512, 1024)}),
    "rows of the reference's tile": (IN_FULL, {f"{n} rows": {"STOPE_TILE_ROWS": str(n)} for n in (512, 1024, 2048, 8192, 16_384)}),
}


class Builds:
    """Programs with other sizes, made from the build folder's commands."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        commands = json.loads((build / "compile_commands.json").read_text())
        self.compile = {each["output"] if "output" in each else output_of(each["command"]): each for each in commands
                        if "/src/knn/" in each["file"]}
        self.link = self.run(["ninja", "-C", build, "-t", "commands", "bench/knn_cpu_bench"]).splitlines()[-1]
        self.includes = includes(self.run(["ninja", "-C", build, "-t", "deps"]))

    def run(self, command, **how):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **how)
        if done.returncode != 0:
            raise RuntimeError((done.stderr or done.stdout).strip()[-1500:])
        return done.stdout

    def program(self, name, replacements):
        """The path of the program, or None: a size that is written otherwise now, or does not compile, is left out."""
        place = self.folder / name.replace(" ", "")
        program = place / "knn_cpu_bench"
        if not program.exists():
            try:
                objects = self.objects(place, self.patched(place, replacements))
                words = shlex.split(self.link)[2:-2]  # without ": &&" and "&& :"
                words[words.index("-o") + 1] = str(program)
                first = next(i for i, word in enumerate(words) if word.endswith(".a"))
                self.run(words[:first] + objects + words[first:], cwd=self.build)
            except RuntimeError as error:
                print(f"{name} is left out: {error}")
                return None
        return program

    def patched(self, place, replacements):
        """Writes copies of the files with other sizes; returns their paths below src/."""
        texts = {}
        for file, old, new in replacements:
            text = texts.get(file) or (ROOT / "src" / file).read_text()
            if old not in text:
                raise RuntimeError(f"src/{file} has no '{old}'")
            texts[file] = text.replace(old, new)
        for file, text in texts.items():
            (place / "src" / file).parent.mkdir(parents=True, exist_ok=True)
            (place / "src" / file).write_text(text)
        return list(texts)

    def objects(self, place, files):
        """Compiles what includes the files, or is one of them."""
        made = []
        for output, each in self.compile.items():
            source = each["file"].split("/src/", 1)[1]
            if not set(files) & (self.includes.get(output, set()) | {source}):
                continue
            words = shlex.split(each["command"])
            words[words.index("-o") + 1] = str(place / f"{len(made)}.o")
            if source in files:
                words[-1] = str(place / "src" / source)
            first = next(i for i, word in enumerate(words) if word.startswith("-I"))
            self.run(words[:first] + [f"-I{place / 'src'}"] + words[first:], cwd=self.build)
            made.append(str(place / f"{len(made)}.o"))
        return made


def output_of(command):
    words = shlex.split(command)
    return words[words.index("-o") + 1]


def includes(text):
    """What each object includes, as paths below src/, from what ninja noted."""
    found, files = {}, set()
    for line in text.splitlines():
        if line and not line[0].isspace():
            files = found.setdefault(line.split(":")[0], set())
        elif "/src/" in line:
            files.add(line.strip().split("/src/", 1)[1])
    return found


def make(folder, case):
    n, m, d, _, _, data = case
    g = np.random.default_rng(n + d)
    centres = g.random((1000, d))
    for name, rows in (("train", n), ("query", m)):
        values = g.random((rows, d)) if data == "uniform" else centres[g.integers(1000, size=rows)] + 0.02 * g.standard_normal((rows, d))
        np.save(folder / f"{name}.npy", values)


def one(folder, case, program, variables, arguments):
    """CPU seconds of the first search with the fit, and of the following ones; a hash of the answer; what was done."""
    _, _, _, k, metric, _ = case
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STOPE_")} | variables
    words = [program, folder / "train.npy", folder / "query.npy", metric, k, arguments.threads, arguments.searches, folder / "out"]
    done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    answer = (folder / "out.indices").read_bytes() + (folder / "out.distances").read_bytes()
    return {"first": found["fit_cpu"] + found["first_cpu"], "whole": found["fit"] + found["first"], "again": min(found["searches_cpu"]), "wall": min(found["searches"]),
            "answer": hash(answer), "method": found["method"], "evaluated": found["evaluated"], "scanned": found["scanned"]}


def measure(name, case, programs, folder, arguments):
    """One case: variants take turns, and another one begins each round."""
    make(folder, case)
    samples = {variant: [] for variant in programs}
    order = list(programs)
    for _ in range(arguments.rounds):
        for variant in order:
            samples[variant].append(one(folder, case, *programs[variant], arguments))
        order = order[1:] + order[:1]
    if len({sample.pop("answer") for found in samples.values() for sample in found}) != 1:
        sys.exit(f"{name}: the answers differ")
    least = {variant: {figure: min(sample[figure] for sample in found) for figure in ("first", "again", "wall")}
             for variant, found in samples.items()}
    own = least[OWN]
    print(f"  {name} ({samples[OWN][0]['method']})")
    for variant, found in least.items():
        cells = "  ".join(f"{figure} {1e3 * found[figure]:8.2f} ms ({found[figure] / own[figure]:.2f})" for figure in ("first", "again", "wall"))
        print(f"    {variant:24} {cells}", flush=True)
    return {"case": name, "shape": dict(zip(("rows", "queries", "columns", "k", "metric", "data"), case)), "least_s": least, "samples": samples}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--searches", type=int, default=3, help="after the first, in each process")
    parser.add_argument("--only", default="", help="sizes that have this word")
    parser.add_argument("--cases", default="", help="cases that have this word")
    parser.add_argument("--keep", type=pathlib.Path, help="for the programs")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    result = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        builds = Builds(arguments.build.resolve(), (arguments.keep or folder).resolve())
        for size, (cases, variants) in SIZES.items():
            if arguments.only not in size:
                continue
            print(size)
            own = builds.build / "bench" / "knn_cpu_bench"
            reference = {"STOPE_BACKEND": "reference"} if cases is IN_FULL else {}
            programs = {OWN: (own, reference)}
            for variant, change in variants.items():
                program = own if isinstance(change, dict) else builds.program(variant, change)
                if program:
                    programs[variant] = (program, reference | change if isinstance(change, dict) else reference)
            rows = [measure(name, case, programs, folder, arguments) for name, case in cases.items() if arguments.cases in name]
            result.append({"size": size, "cases": rows})
    print(f"wrote {write_result(arguments.results, 'knn_sizes', {'threads': arguments.threads, 'rounds': arguments.rounds, 'sizes': result})}")


if __name__ == "__main__":
    main()
