#!/usr/bin/env python3
"""Times stope.spark.knn_join where no executor holds the items: two executors of 2 GB with one core each. The lists are
compared, bit for bit, with those of the engine in one process. At a smaller size, a pandas UDF with scikit-learn in
every part and a merge in Spark SQL is timed in the same session, in turn. Memory is sampled from /proc: the largest
resident set of an executor's JVM and of a Python worker. Writes bench/results/spark_join_<cpu>_<date>.json.

  python3 bench/spark_join.py BUILD_FOLDER [--items 10000000] [--queries 10000] [--rival-items 1000000]
      [--rival-queries 10000] [--repeats 2]

BUILD_FOLDER/python has the package; scripts/build.sh makes it.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # this folder has a csv.py, which pandas would take for Python's
from bench.support.machine import write_result  # noqa: E402

COLUMNS, K, PARTITIONS = 20, 10, 16
QUERY_IDS = 1 << 40  # far from the items' ids, so that queries are other rows


def values_of(ids):
    """The rows of these ids: a hash of id and column. The last five columns have 16 different values, which tie."""
    ids = np.asarray(ids, dtype=np.uint64)
    found = np.empty((len(ids), COLUMNS))
    for column in range(COLUMNS):
        mixed = ids * np.uint64(COLUMNS) + np.uint64(column) + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        found[:, column] = (mixed >> np.uint64(11)) * 2.0**-53 if column < 15 else mixed >> np.uint64(60)
    return found


LOCAL = """
import resource, sys, time
import numpy as np
sys.path.insert(0, {root!r})
from bench.spark_join import K, QUERY_IDS, values_of
from stope import _core
n, m, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
X = np.concatenate([values_of(np.arange(first, min(first + 250_000, n))) for first in range(0, n, 250_000)])
Q = values_of(np.arange(QUERY_IDS, QUERY_IDS + m))
start = time.perf_counter()
run = _core.Run(2, 0, "cpu")
index = _core.KnnIndex.fit(X, "mixed-euclidean", {{}}, [], share=True, run=run)
distances, rows = index.kneighbors(Q, K, run=run)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
np.savez(out, distances=distances, rows=rows)
"""


class Memory:
    """The largest resident sets of executors and Python workers below this process, sampled every 100 ms."""

    def __init__(self):
        self.peak = {"executor JVM": 0, "Python worker": 0}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _sample(self):
        while not self._stop.wait(0.1):
            for process in pathlib.Path("/proc").iterdir():
                if process.name.isdigit():
                    self._note(process)

    def _note(self, process):
        try:
            words = (process / "cmdline").read_bytes()
            kind = "executor JVM" if b"ExecutorBackend" in words else "Python worker" if b"pyspark.daemon" in words else ""
            if not kind or os.getsid(int(process.name)) != os.getsid(0):
                return
            pages = int((process / "statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):  # it has ended
            return
        self.peak[kind] = max(self.peak[kind], pages * os.sysconf("SC_PAGE_SIZE"))


def session(folder, package):
    import pyspark
    from pyspark.sql import SparkSession

    home = folder / "home"  # of links: executors write their folder "work" there, and not into PySpark's own folder
    home.mkdir()
    for part in ("bin", "jars", "sbin"):
        (home / part).symlink_to(pathlib.Path(pyspark.__file__).parent / part)
    os.environ |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.local.dir": f"{folder}/local",
        "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g", "spark.executor.memory": "2g",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([package, str(ROOT)]), "spark.sql.shuffle.partitions": "8",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,2048]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def rows_of(spark, folder, first, n, partitions):
    """A DataFrame of the rows first to first + n - 1, in Parquet files of this folder."""
    import pyarrow as pa

    path = f"{folder}/{first}-{n}.parquet"
    if pathlib.Path(path).exists():
        return spark.read.parquet(path)

    names = ["id"] + [f"x{i}" for i in range(COLUMNS)]

    def made(batches):
        for batch in batches:
            ids = batch.column(0)
            columns = values_of(ids.to_numpy()).T
            yield pa.RecordBatch.from_arrays([ids, *(pa.array(np.ascontiguousarray(c)) for c in columns)], names=names)

    schema = "id bigint, " + ", ".join(f"{name} double" for name in names[1:])
    spark.range(first, first + n, 1, partitions).mapInArrow(made, schema).write.parquet(path)
    return spark.read.parquet(path)


def frames_of(spark, folder, items, queries):
    return rows_of(spark, folder, 0, items, PARTITIONS), rows_of(spark, folder, QUERY_IDS, queries, 2)


def joined(items, queries):
    """Our lists."""
    from stope.spark import knn_join

    return knn_join(items, queries, K, id="id").toArrow()


def by_scikit_learn(items, queries):
    """The same by a pandas UDF: scikit-learn searches each partition, and Spark SQL merges."""
    from pyspark.sql import Window, functions

    queries = queries.toPandas()
    asked, query_ids = queries.iloc[:, 1:].to_numpy(), queries["id"].to_numpy()

    def search(frames):
        import pandas as pd
        from sklearn.neighbors import NearestNeighbors

        part = pd.concat(list(frames))
        X = part.iloc[:, 1:].to_numpy()
        distances, rows = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(X).kneighbors(asked)
        ids = part["id"].to_numpy()[rows].ravel()
        yield pd.DataFrame({
            "query_id": np.repeat(query_ids, K), "item_id": ids, "distance": distances.ravel(),
        })

    lists = items.mapInPandas(search, "query_id long, item_id long, distance double")
    order = Window.partitionBy("query_id").orderBy("distance", "item_id")
    best = lists.withColumn("pos", functions.row_number().over(order) - 1).where(f"pos < {K}")
    return best.select("query_id", "pos", "item_id", "distance").toArrow()


def arrays_of(table):
    table = table.sort_by([("query_id", "ascending"), ("pos", "ascending")])
    return table["item_id"].to_numpy().reshape(-1, K), table["distance"].to_numpy().reshape(-1, K)


def timed(work, *frames):
    with Memory() as memory:
        start = time.perf_counter()
        table = work(*frames)
        seconds = time.perf_counter() - start
    return arrays_of(table), {"seconds": seconds, "peak_bytes": memory.peak}


def local(items, queries, folder, package):
    """The lists of the engine in one process of its own, its seconds and its peak."""
    out = folder / "local.npz"
    script = LOCAL.format(root=str(ROOT))
    done = subprocess.run([sys.executable, "-c", script, str(items), str(queries), str(out)], check=True,
                          capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=package))
    seconds, peak = map(float, done.stdout.split())
    found = np.load(out)
    return (found["rows"], found["distances"]), {"seconds": seconds, "peak_bytes": int(peak), "threads": 2}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--items", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--rival-items", type=int, default=1_000_000)
    parser.add_argument("--rival-queries", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    package = str(pathlib.Path(arguments.build).resolve() / "python")
    sys.path.insert(0, package)
    result = {"columns": COLUMNS, "k": K, "master": "local-cluster[2,1,2048]", "partitions": PARTITIONS, "cases": []}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        spark = session(folder, package)
        small = arguments.rival_items, arguments.rival_queries
        expected, alone = local(*small, folder, package)
        case = {"items": small[0], "queries": small[1], "one process": alone, "stope": [], "scikit-learn": []}
        frames = frames_of(spark, folder, *small)
        joined(*frames)  # starts the executors' Python
        for _ in range(arguments.repeats):
            for name, work in (("stope", joined), ("scikit-learn", by_scikit_learn)):
                (rows, distances), figures = timed(work, *frames)
                figures["lists with the same rows"] = float((rows == expected[0]).all(axis=1).mean())
                figures["same bits"] = bool((rows == expected[0]).all() and distances.tobytes() == expected[1].tobytes())
                case[name].append(figures)
                print(name, small, figures, flush=True)
        result["cases"].append(case)
        large = arguments.items, arguments.queries
        expected, alone = local(*large, folder, package)
        (rows, distances), figures = timed(joined, *frames_of(spark, folder, *large))
        figures["same bits"] = bool((rows == expected[0]).all() and distances.tobytes() == expected[1].tobytes())
        print("stope", large, figures, "one process", alone, flush=True)
        result["cases"].append({"items": large[0], "queries": large[1], "one process": alone, "stope": [figures]})
        spark.stop()
    if not all(run["same bits"] for case in result["cases"] for run in case["stope"]):
        raise RuntimeError("the lists are not those of one process")
    print(write_result(ROOT / "bench" / "results", "spark_join", result))


if __name__ == "__main__":
    main()
