#!/usr/bin/env python3
"""Times a k-NN classifier applied to a DataFrame on Spark in local[2]: stope.spark.transform, and scikit-learn's
KNeighborsClassifier in mapInPandas with the model broadcast as a pickle. Writes bench/results/spark_<cpu>_<date>.json.

  PYTHONPATH=build/release/python python3 bench/spark.py [--train N] [--queries N] [--rival N] [--rounds N]

Both fit the same rows of 20 uniform columns and read the same Parquet files; the figures are wall times of jobs whose rows
Spark drops ("noop"). "cpu_s" is the CPU time of this process, the JVM and Python's workers meanwhile, which other programs
of the machine disturb less. Every program has run once before it is timed, so the workers have both models. The programs
take turns, and another one begins each round. scikit-learn gets fewer queries, and "scaled" is its time for all of them.
Predictions of the first queries are compared one by one. "alone" is the estimator's predict on this machine with two
threads, without Spark. Spark RAPIDS ML needs a GPU, and is left out.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # not bench/: its csv.py would hide the library's

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from bench.support.machine import write_result  # noqa: E402

N_COLUMNS = 20
N_CLASSES = 3
N_NEIGHBORS = 5
CHECKED = 5_000
N_FILES = 8  # of queries: the partitions that Spark reads
NAMES = [f"x{i}" for i in range(N_COLUMNS)]


def write_queries(folder, n_rows):
    """Parquet files of uniform numbers, with ids."""
    rng = np.random.default_rng(1)
    for part in range(N_FILES):
        first, last = part * n_rows // N_FILES, (part + 1) * n_rows // N_FILES
        rows = rng.random((last - first, N_COLUMNS))
        columns = {"id": np.arange(first, last), **{name: rows[:, i] for i, name in enumerate(NAMES)}}
        pq.write_table(pa.table(columns), folder / f"{part}.parquet")


def session(folder):
    """Spark on two threads of this machine, with its defaults for Python's workers."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.local.dir": str(folder / "local"),
        "spark.sql.files.maxPartitionBytes": "1g", "spark.sql.files.openCostInBytes": "1g",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def pandas_predictions(frame, broadcast):
    """Predictions of scikit-learn by pandas UDFs."""

    def predict(batches):
        import pandas as pd

        estimator = broadcast.value
        for batch in batches:
            codes = estimator.predict(batch[NAMES].to_numpy())
            yield pd.DataFrame({"id": batch["id"], "prediction": codes.astype(str)})

    return frame.mapInPandas(predict, "id long, prediction string")


def cpu_seconds():
    """CPU seconds of this process, of those below it, and of those that they have outlived: fields 14 to 17 of stat."""
    parents, ticks = {}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        ticks[int(folder.name)] = sum(map(int, fields[11:15]))
    total = 0
    for process in ticks:
        above = process
        while above is not None and above != os.getpid():
            above = parents.get(above)
        total += ticks[process] if above is not None else 0
    return total / os.sysconf("SC_CLK_TCK")


def timed(work):
    """Wall time and CPU time."""
    start, before = time.perf_counter(), cpu_seconds()
    work()
    return time.perf_counter() - start, cpu_seconds() - before


def run_job(frame):
    frame.write.format("noop").mode("overwrite").save()


def predicted_alone(model, table):
    import stope

    with stope.config_context(threads=2, device="cpu"):
        return model.predict(table)


def rotated(programs, n):
    """The programs from number n on, and then those before it."""
    n %= len(programs)
    return programs[n:] + programs[:n]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--rival", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", default=ROOT / "bench/results", type=pathlib.Path)
    given = parser.parse_args()

    import pyspark
    import sklearn
    from sklearn.neighbors import KNeighborsClassifier as Rival

    import stope
    from stope.spark import transform

    rng = np.random.default_rng(0)
    X, y = rng.random((given.train, N_COLUMNS)), rng.integers(N_CLASSES, size=given.train)
    model = stope.KNeighborsClassifier(N_NEIGHBORS, device="cpu").fit(pa.table(dict(zip(NAMES, X.T))), y.astype(str))
    rival = Rival(N_NEIGHBORS, n_jobs=1).fit(X, y)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for which, n_rows in (("all", given.queries), ("few", given.rival)):
            (folder / which).mkdir()
            write_queries(folder / which, n_rows)
        spark = session(folder)
        broadcast = spark.sparkContext.broadcast(rival)
        every, few = (spark.read.parquet(str(folder / which)) for which in ("all", "few"))
        table = pq.read_table(folder / "all").select(NAMES)
        programs = {
            "stope, all queries": lambda: run_job(transform(every, model, keep=["id"])),
            "stope, few queries": lambda: run_job(transform(few, model, keep=["id"])),
            "scikit-learn, few queries": lambda: run_job(pandas_predictions(few, broadcast)),
            "read alone, all queries": lambda: run_job(every),
            "stope alone, all queries": lambda: predicted_alone(model, table),
        }
        for run in programs.values():
            run()
        samples, cpu = {program: [] for program in programs}, {program: [] for program in programs}
        for round_ in range(given.rounds):
            for program in rotated(list(programs), round_):
                wall, spent = timed(programs[program])
                samples[program].append(wall)
                cpu[program].append(spent)
                print(f"{program}: {wall:.2f} s, CPU {spent:.2f} s", flush=True)

        checked = few.where(f"id < {CHECKED}")
        ours = transform(checked, model, keep=["id"]).toArrow().sort_by("id")
        theirs = pandas_predictions(checked, broadcast).toArrow().sort_by("id")
        same = sum(map(bool, np.equal(ours["prediction"].to_pylist(), theirs["prediction"].to_pylist())))
        as_alone = ours["prediction"].to_pylist() == list(predicted_alone(model, table.slice(0, len(ours))))
        spark.stop()

    medians = {program: statistics.median(times) for program, times in samples.items()}
    cpu = {program: statistics.median(times) for program, times in cpu.items()}
    scaled = medians["scikit-learn, few queries"] * given.queries / given.rival
    result = {
        "sizes": {"train": given.train, "columns": N_COLUMNS, "queries": given.queries, "rival_queries": given.rival,
                  "n_neighbors": N_NEIGHBORS, "files": N_FILES},
        "master": "local[2]", "pyspark": pyspark.__version__, "sklearn": sklearn.__version__,
        "samples_s": samples, "medians_s": medians, "cpu_s": cpu, "scikit_learn_scaled_s": scaled,
        "times_faster": scaled / medians["stope, all queries"],
        "times_faster_same_queries": medians["scikit-learn, few queries"] / medians["stope, few queries"],
        "checked": len(ours), "same_predictions": same, "as_alone": as_alone,
        "left_out": {"Spark RAPIDS ML": "needs a GPU"},
    }
    path = write_result(given.results, "spark", result)
    print(json.dumps(result["medians_s"], indent=1), f"same {same}/{len(ours)}, as alone: {as_alone}", path, sep="\n")
    if same < len(ours) or not as_alone:
        sys.exit("predictions differ")


if __name__ == "__main__":
    main()
