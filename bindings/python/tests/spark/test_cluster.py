"""Executors that are processes of their own, and that are killed in the middle."""

import functools
import os
import signal

import pyarrow as pa
import pytest

from made_tables import digest, local_answers, made_model, made_rows, spark_digest
from stope.spark import resources, transform

pytestmark = pytest.mark.modes("cluster2", "cluster3")

N_ROWS = 60_000  # several blocks in each partition: a kill after the first one is in the middle


def _parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def _has_engine(pid):
    try:
        with open(f"/proc/{pid}/maps") as file:
            return "stope/_core" in file.read()
    except OSError:
        return False


def _children(parent):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if _parent(pid) == parent:
                yield int(pid)
        except OSError:
            pass


def _kill_once(mark, whom, batches):
    """Pass batches on; after the first one of all tasks, kill the worker that has the engine, or its executor."""
    for batch in batches:
        yield batch
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        daemon = os.getppid()
        if whom == "executor":
            jvm = _parent(daemon)
            with open(f"/proc/{jvm}/cmdline") as file:
                assert "CoarseGrainedExecutorBackend" in file.read()  # never the driver's
            victims = [jvm]
        else:
            victims = [pid for pid in _children(daemon) if pid != os.getpid() and _has_engine(pid)]
        with open(mark, "w") as file:
            file.write(" ".join(map(str, victims)))
        for pid in victims:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("whom", ["worker", "executor"])
def test_a_kill_in_the_middle_changes_no_answer(spark, tmp_path, whom):
    model, rows = made_model("classify"), made_rows("classify", N_ROWS)
    expected = local_answers(model, rows)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1000)
    found = transform(spark.createDataFrame(rows).repartition(2), model, proba=True)
    mark = tmp_path / "killed"
    killed = found.mapInArrow(functools.partial(_kill_once, str(mark), whom), found.schema)
    assert spark_digest(killed, expected.column_names) == digest(expected)
    assert mark.read_text(), "nobody was killed"


def _cores(batches):
    from pyspark import TaskContext

    for batch in batches:
        yield pa.record_batch({"cpus": [TaskContext.get().cpus()] * batch.num_rows})


def test_a_profile_gives_a_task_its_cores(spark):
    model, rows = made_model("classify"), made_rows("classify")
    expected = local_answers(model, rows)
    found = transform(spark.createDataFrame(rows).repartition(3), model, proba=True, profile=resources(1))
    assert spark_digest(found, expected.column_names) == digest(expected)
    cores = spark.createDataFrame(rows).mapInArrow(_cores, "cpus long", profile=resources(1)).toArrow()
    assert set(cores["cpus"].to_pylist()) == {1}
