#!/usr/bin/env python3
"""Times reading one generated CSV file of 21 mixed columns: stope, the floor (a bare from_chars loop), DuckDB, pandas
and pyarrow, interleaved, in one run. Measures wall times and, for a machine that is not idle, CPU times. Checks stope's
values against the generator's sums. Writes the medians with every sample to bench/results/csv_<cpu>_<date>.json.

  python3 bench/csv.py BUILD_FOLDER [--gigabytes 1] [--repeats 5] [--threads 2] [--keep FILE]

Rivals that are not installed are left out with a message: pip install duckdb pandas pyarrow.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402
from bench.support.readers import missing_of, run, run_rival  # noqa: E402

# Each rival runs in a process of its own with the same number of threads, and prints seconds and the process's peak
# memory. DuckDB materialises a table in memory. pandas is timed with its C parser and its pyarrow engine.
RIVALS = {
    "duckdb": """
import duckdb
c = duckdb.connect(config={{"threads": {threads}}})
s, cs = time.perf_counter(), time.process_time()
c.execute("CREATE TABLE t AS SELECT * FROM read_csv('{file}', header=true, nullstr=['?', ''])")
e, ce = time.perf_counter(), time.process_time()
rows = c.execute("SELECT count(*) FROM t").fetchone()[0]
version = duckdb.__version__
""",
    "pyarrow": """
import pyarrow, pyarrow.csv
pyarrow.set_cpu_count({threads}); pyarrow.set_io_thread_count({threads})
o = pyarrow.csv.ConvertOptions(null_values=["?", ""], strings_can_be_null=True)
p = pyarrow.csv.ParseOptions(newlines_in_values=True)
s, cs = time.perf_counter(), time.process_time()
t = pyarrow.csv.read_csv("{file}", convert_options=o, parse_options=p)
e, ce = time.perf_counter(), time.process_time()
rows, version = t.num_rows, pyarrow.__version__
""",
    "pandas": """
import pandas
s, cs = time.perf_counter(), time.process_time()
t = pandas.read_csv("{file}", na_values=["?"])
e, ce = time.perf_counter(), time.process_time()
rows, version = len(t), pandas.__version__
""",
}


def check(ours, generated):
    """Checks the row count, the missing counts and the sums, all exactly: stope adds in the same order."""
    for key in ("rows", "missing", "sums"):
        if ours[key] != generated[key]:
            sys.exit(f"stope read other values than were written: {key}\n{ours[key]}\n{generated[key]}")


def measure(args, bench, file, generated):
    programs = ["stope", "loop"] + [r for r in RIVALS if r not in args.missing]
    samples = {name: [] for name in programs}
    run([bench, "loop", file, str(args.threads)])  # fills the page cache
    for repeat in range(args.repeats):
        for name in programs:
            if name in RIVALS:
                if repeat >= args.rival_repeats:
                    continue
                sample = run_rival(RIVALS[name], file, args.threads)
                if sample["rows"] != generated["rows"]:
                    print(f"note: {name} read {sample['rows']} rows of {generated['rows']}", file=sys.stderr)
            else:
                sample = run([bench, name, file, str(args.threads)])
            if name == "stope":
                check(sample, generated)
            sample.pop("sums", None)
            sample.pop("missing", None)
            samples[name].append(sample)
    return samples


def report(samples, size):
    median = {name: statistics.median(s["seconds"] for s in list_) for name, list_ in samples.items()}
    cpu = {name: statistics.median(s["cpu_seconds"] for s in list_) for name, list_ in samples.items()}
    print(f"{'program':<10}{'median s':>10}{'min s':>9}{'cpu s':>9}{'GB/s':>8}{'x loop':>8}{'cpu x':>8}{'x duckdb':>10}"
          f"{'peak MB':>10}")
    for name, seconds in median.items():
        fastest = min(s["seconds"] for s in samples[name])
        peak = max((s.get("peak_bytes", 0) for s in samples[name]), default=0)
        duck = f"{seconds / median['duckdb']:.3f}" if "duckdb" in median else "-"
        print(f"{name:<10}{seconds:>10.3f}{fastest:>9.3f}{cpu[name]:>9.3f}{size / seconds / 1e9:>8.2f}{seconds / median['loop']:>8.2f}"
              f"{cpu[name] / cpu['loop']:>8.2f}"
              f"{duck:>10}{peak / 1e6:>10.0f}")
    return median, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rival-repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="generate here once and keep the file")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    args.missing = missing_of(RIVALS)

    bench = args.build / "bench" / "csv_bench"
    with tempfile.TemporaryDirectory() as folder:
        file = args.keep or pathlib.Path(folder) / "mixed.csv"
        sums = file.with_suffix(".json")
        if not sums.exists():
            generated = run([bench, "generate", file, str(int(args.gigabytes * 1e9)), str(args.seed)])
            sums.write_text(json.dumps(generated))
        generated = json.loads(sums.read_text())
        size = os.path.getsize(file)
        samples = measure(args, bench, file, generated)
    median, cpu = report(samples, size)

    path = write_result(args.results, "csv", {
        "threads": args.threads, "bytes": size, "rows": generated["rows"], "columns": 21, "median_seconds": median,
        "median_cpu_seconds": cpu, "samples": samples})
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
