#!/usr/bin/env python3
"""Times reading text tables of more columns than rows: stope (CSV and ARFF), polars, pyarrow, pandas and DuckDB (CSV),
interleaved, in one run, each in a process of its own with the same number of threads. Checks stope's values against
the generator's sum. Writes the medians with every sample to bench/results/csv_wide_<cpu>_<date>.json.

  python3 bench/csv_wide.py BUILD_FOLDER [--shapes 30x300000,1000x10000] [--kinds numbers,nominal,mixed]
      [--repeats 5] [--threads 2] [--folder DIR]

Rivals that are not installed are left out with a message. One that takes longer than --patience seconds is not asked
again.
"""
import argparse
import os
import pathlib
import random
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402
from bench.support.readers import Failed, missing_of, run, run_rival  # noqa: E402

# A block of pyarrow has to hold a record. pandas reads with its C parser: its pyarrow engine is pyarrow.
RIVALS = {
    "polars": """
import os
os.environ["POLARS_MAX_THREADS"] = "{threads}"
import polars
s, cs = time.perf_counter(), time.process_time()
t = polars.read_csv("{file}", infer_schema_length=None, null_values=["?"])
e, ce = time.perf_counter(), time.process_time()
rows, version = t.height, polars.__version__
""",
    "pyarrow": """
import os, pyarrow, pyarrow.csv
pyarrow.set_cpu_count({threads}); pyarrow.set_io_thread_count({threads})
o = pyarrow.csv.ReadOptions(block_size=min(os.path.getsize("{file}"), 2**31 - 1))
s, cs = time.perf_counter(), time.process_time()
t = pyarrow.csv.read_csv("{file}", read_options=o)
e, ce = time.perf_counter(), time.process_time()
rows, version = t.num_rows, pyarrow.__version__
""",
    "pandas": """
import pandas
s, cs = time.perf_counter(), time.process_time()
t = pandas.read_csv("{file}", na_values=["?"], low_memory=False)
e, ce = time.perf_counter(), time.process_time()
rows, version = len(t), pandas.__version__
""",
    "duckdb": """
import duckdb
c = duckdb.connect(config={{"threads": {threads}}})
s, cs = time.perf_counter(), time.process_time()
c.execute("CREATE TABLE t AS SELECT * FROM read_csv('{file}', header=true, max_line_size=1000000000)")
e, ce = time.perf_counter(), time.process_time()
rows, version = c.execute("SELECT count(*) FROM t").fetchone()[0], duckdb.__version__
""",
}
WORDS = ["red", "green", "blue", "amber", "violet"]


def is_nominal(kind, column):
    return kind == "nominal" or (kind == "mixed" and column % 3 == 1)


def generate(folder, rows, columns, kind):
    """Writes a table as CSV and ARFF. Its numbers are quarters, whose sum is exact in any order."""
    rng = random.Random(rows * columns)
    pool = [rng.randrange(-400_000, 400_000) / 4 for _ in range(10007)]
    texts = [f"{value:.2f}" for value in pool]
    total = 0.0
    csv, arff = folder / f"{kind}_{rows}x{columns}.csv", folder / f"{kind}_{rows}x{columns}.arff"
    with open(csv, "w") as file, open(arff, "w") as other:
        file.write(",".join(f"c{c + 1}" for c in range(columns)) + "\n")
        other.write("@relation wide\n")
        for c in range(columns):
            other.write(f"@attribute c{c + 1} " + ("{" + ",".join(WORDS) + "}" if is_nominal(kind, c) else "real") + "\n")
        other.write("@data\n")
        for r in range(rows):
            cells = []
            for c in range(columns):
                at = (c * 7 + r * 131) % 10007
                nominal = is_nominal(kind, c)
                cells.append(WORDS[at % 5] if nominal else texts[at])
                total += 0 if nominal else pool[at]
            line = ",".join(cells) + "\n"
            file.write(line)
            other.write(line)
    return csv, arff, total


def measure(args, bench, csv, arff, rows, total):
    rivals = [name for name in RIVALS if name not in args.missing]
    samples = {name: [] for name in ["stope", "stope arff", *rivals]}
    for repeat in range(args.repeats + 1):  # the first fills the page cache
        for name, file in (("stope", csv), ("stope arff", arff)):
            sample = run([bench, "wide", file, args.threads])
            if sample["rows"] != rows or sample["sum"] != total:
                sys.exit(f"{name} read other values than were written: {sample}, not {total}")
            if repeat > 0:
                samples[name].append(sample)
        for name in rivals if repeat > 0 else []:
            if name not in samples or repeat > args.rival_repeats:
                continue
            try:
                sample = run_rival(RIVALS[name], csv, args.threads, args.patience)
            except Failed as failed:
                print(f"{name} is left out: {failed}")
                del samples[name]
                continue
            if sample["rows"] != rows:
                print(f"note: {name} read {sample['rows']} rows of {rows}")
            samples[name].append(sample)
    return samples


def report(samples, sizes):
    rows = {}
    for name, list_ in samples.items():
        seconds = statistics.median(s["seconds"] for s in list_)
        cpu_seconds = statistics.median(s["cpu_seconds"] for s in list_)
        megabytes = sizes["arff" if name.endswith("arff") else "csv"] / 1e6
        rows[name] = {"median_seconds": seconds, "min_seconds": min(s["seconds"] for s in list_),
                      "median_cpu_seconds": cpu_seconds, "megabytes_per_second": megabytes / seconds,
                      "megabytes_per_cpu_second": megabytes / cpu_seconds,
                      "peak_bytes": max(s["peak_bytes"] for s in list_)}
        print(f"  {name:<12}{seconds:>9.3f} s{cpu_seconds:>9.3f} cpu s{megabytes / seconds:>8.0f} MB/s"
              f"{megabytes / cpu_seconds:>8.0f} MB/cpu s{rows[name]['peak_bytes'] / 1e6:>8.0f} MB")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--shapes", default="30x300000,2x3000000,300x30000,1000x10000")
    parser.add_argument("--kinds", default="numbers,nominal,mixed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rival-repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--patience", type=float, default=120)
    parser.add_argument("--folder", type=pathlib.Path, help="for the tables; default: a temporary one")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    args.missing = missing_of(RIVALS)
    tables = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or pathlib.Path(temporary)
        for shape in args.shapes.split(","):
            rows, columns = (int(n) for n in shape.split("x"))
            for kind in args.kinds.split(","):
                csv, arff, total = generate(folder, rows, columns, kind)
                sizes = {"csv": os.path.getsize(csv), "arff": os.path.getsize(arff)}
                print(f"{kind}, {rows} rows, {columns} columns, {sizes['csv'] / 1e6:.0f} MB of CSV")
                samples = measure(args, args.build / "bench" / "csv_bench", csv, arff, rows, total)
                tables.append({"kind": kind, "rows": rows, "columns": columns, "bytes": sizes,
                               "programs": report(samples, sizes), "samples": samples})
                csv.unlink()
                arff.unlink()
    print(f"wrote {write_result(args.results, 'csv_wide', {'threads': args.threads, 'tables': tables})}")


if __name__ == "__main__":
    main()
