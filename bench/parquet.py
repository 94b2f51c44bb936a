#!/usr/bin/env python3
"""Times reading Parquet and Arrow files of about 1 GB in memory: stope, pyarrow, polars and DuckDB take turns on the same
cores, from the page cache. stope's time is the phase `read` of `stope info`, a rival's that of its call. Each runs in a
process of its own. Checks the number of rows. Writes every sample to
bench/results/parquet_<cpu>_<date>.json.

  python3 bench/parquet.py BUILD_FOLDER [--gigabytes 1] [--repeats 5] [--threads 2] [--keep FOLDER]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import write_result  # noqa: E402

# What a table is made of: the type of its 20 numbers, how many dictionary columns, the codec. "batches" and "batch": no
# Parquet, but an Arrow IPC file without compression, in batches of a million rows or in one, which stope maps.
TABLES = {
    "float64 snappy": ("float64", 2, "snappy"),
    "float64 zstd": ("float64", 2, "zstd"),
    "float64 none": ("float64", 2, "none"),
    "float32 snappy": ("float32", 0, "snappy"),
    "float32 zstd": ("float32", 0, "zstd"),
    "float64 arrow": ("float64", 2, "batches"),
    "float64 arrow, one batch": ("float64", 2, "batch"),
    "float32 arrow, one batch": ("float32", 0, "batch"),
}
N_NUMBERS = 20

RIVALS = {
    "pyarrow": """
import pyarrow, pyarrow.parquet as pq
pyarrow.set_cpu_count({threads}); pyarrow.set_io_thread_count({threads})
s = time.perf_counter()
t = pq.read_table("{file}", use_threads=True, pre_buffer={pre_buffer})
e = time.perf_counter()
rows, version = t.num_rows, pyarrow.__version__
""",
    "polars": """
import polars
s = time.perf_counter()
t = polars.read_parquet("{file}")
e = time.perf_counter()
rows, version = t.height, polars.__version__
""",
    "duckdb": """
import duckdb
c = duckdb.connect(config={{"threads": {threads}}})
s = time.perf_counter()
c.execute("CREATE TABLE t AS FROM '{file}'")
e = time.perf_counter()
rows, version = c.execute("SELECT count(*) FROM t").fetchone()[0], duckdb.__version__
""",
}
ARROW_RIVALS = {
    "pyarrow, mapped": """
import pyarrow
pyarrow.set_cpu_count({threads})
s = time.perf_counter()
t = pyarrow.ipc.open_file(pyarrow.memory_map("{file}")).read_all()
e = time.perf_counter()
rows, version = t.num_rows, pyarrow.__version__
""",
    "pyarrow, read": """
import pyarrow, pyarrow.feather
pyarrow.set_cpu_count({threads})
s = time.perf_counter()
t = pyarrow.feather.read_table("{file}", memory_map=False)
e = time.perf_counter()
rows, version = t.num_rows, pyarrow.__version__
""",
    "polars": """
import polars
s = time.perf_counter()
t = polars.read_ipc("{file}")
e = time.perf_counter()
rows, version = t.height, polars.__version__
""",
}
EPILOGUE = """
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
print(json.dumps({"seconds": e - s, "rows": rows, "version": version, "peak_bytes": peak}))
"""


def is_arrow(file):
    return pathlib.Path(file).suffix == ".arrow"


def run(command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command[:3]))} failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def run_rival(name, file, threads):
    if is_arrow(file):
        code = ARROW_RIVALS[name].format(file=file, threads=threads)
    else:
        code = RIVALS[name.split(",")[0]].format(file=file, threads=threads, pre_buffer=name == "pyarrow")
    env = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
    return run([sys.executable, "-c", "import json, re, time\n" + code + EPILOGUE], env)


def run_stope(program, file, threads):
    done = run([program, "info", file, "--json", "--threads", str(threads)])
    return {"seconds": done["timings"]["read"], "rows": done["rows"]}


def open_writer(file, schema, codec):
    if is_arrow(file):
        return pyarrow.ipc.new_file(file, schema)
    dictionaries = [name for name in schema.names if name.startswith("d")]
    return pyarrow.parquet.ParquetWriter(file, schema, compression=codec, use_dictionary=dictionaries)


def generate(file, dtype, n_dictionaries, codec, n_rows):
    """Measured values: normal, with one decimal in a third of the columns, so that a codec has something to do."""
    rng = np.random.default_rng(1)
    words = np.array([f"value {i}" for i in range(50)])
    step = n_rows if codec == "batch" else 1 << 20
    writer = None
    for first in range(0, n_rows, step):
        n = min(step, n_rows - first)
        columns = {}
        for i in range(N_NUMBERS):
            values = rng.normal(size=n) * 100
            columns[f"x{i}"] = (np.round(values, 1) if i % 3 == 0 else values).astype(dtype)
        for i in range(n_dictionaries):
            codes = pyarrow.array(rng.integers(0, len(words), n).astype(np.int32))
            columns[f"d{i}"] = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(words))
        table = pyarrow.table(columns)
        if writer is None:
            writer = open_writer(file, table.schema, codec)
        writer.write_table(table, step)
    writer.close()


def measure(args, file, n_rows):
    programs = ["stope", *(ARROW_RIVALS if is_arrow(file) else ["pyarrow", "pyarrow, no pre_buffer", "polars", "duckdb"])]
    samples = {name: [] for name in programs}
    pathlib.Path(file).read_bytes()  # fills the page cache
    for _ in range(args.repeats):
        for name in programs:
            stope = name == "stope"
            sample = run_stope(args.build / "cli" / "stope", file, args.threads) if stope else run_rival(name, file, args.threads)
            if sample["rows"] != n_rows:
                sys.exit(f"{name} read {sample['rows']} rows of {n_rows}")
            samples[name].append(sample)
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), help="some of: " + ", ".join(TABLES))
    parser.add_argument("--keep", type=pathlib.Path, help="generate here once and keep the files")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in args.tables:
            dtype, n_dictionaries, codec = TABLES[name]
            n_rows = int(args.gigabytes * 1e9 / (N_NUMBERS * np.dtype(dtype).itemsize + 4 * n_dictionaries))
            suffix = "arrow" if codec.startswith("batch") else "parquet"
            file = folder / f"{name.replace(',', '').replace(' ', '-')}-{n_rows}.{suffix}"
            if not file.exists():
                generate(file, dtype, n_dictionaries, codec, n_rows)
            samples = measure(args, file, n_rows)
            median = {program: statistics.median(s["seconds"] for s in list_) for program, list_ in samples.items()}
            results[name] = {"rows": n_rows, "file_bytes": os.path.getsize(file), "median_seconds": median, "samples": samples}
            print(name, n_rows, "rows:", ", ".join(f"{program} {seconds:.3f} s" for program, seconds in median.items()), flush=True)
            if args.keep is None:
                file.unlink()
    path = write_result(args.results, "parquet", {"threads": args.threads, "gigabytes": args.gigabytes, "tables": results})
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
