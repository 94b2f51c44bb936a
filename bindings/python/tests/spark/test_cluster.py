"""Executors that are processes of their own, and that are killed in the middle."""

import functools
import os
import pathlib
import signal

import pyarrow as pa
import pytest

from made_tables import digest, local_answers, made_model, made_rows, spark_digest
from stope.spark import resources, transform

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


@pytest.mark.parametrize("whom", [
    pytest.param("worker", marks=pytest.mark.modes("cluster2")),
    pytest.param("executor", marks=pytest.mark.modes("cluster2", "cluster3")),
])
def test_a_kill_in_the_middle_changes_no_answer(spark, batch_rows, tmp_path, whom):
    model, rows = made_model("classify"), made_rows("classify", N_ROWS)
    expected = local_answers(model, rows)
    batch_rows(1000)
    found = transform(spark.createDataFrame(rows).repartition(2), model, proba=True)
    mark = tmp_path / "killed"
    killed = found.mapInArrow(functools.partial(_kill_once, str(mark), whom), found.schema)
    assert spark_digest(killed, expected.column_names) == digest(expected)
    assert mark.read_text(), "nobody was killed"


def _surroundings(batches):
    from pyspark import TaskContext

    for batch in batches:
        rows = batch.num_rows
        yield pa.record_batch({"cpus": [TaskContext.get().cpus()] * rows, "folder": [os.getcwd()] * rows})


@pytest.mark.modes("cluster2")
def test_a_profile_gives_a_task_its_cores_and_executors_write_nothing_beside_pyspark(spark):
    import pyspark

    model, rows = made_model("classify"), made_rows("classify")
    expected = local_answers(model, rows)
    frame = spark.createDataFrame(rows).repartition(3)
    found = transform(frame, model, proba=True, profile=resources(1))
    assert spark_digest(found, expected.column_names) == digest(expected)
    tasks = frame.mapInArrow(_surroundings, "cpus long, folder string", profile=resources(1)).toArrow()
    assert set(tasks["cpus"].to_pylist()) == {1}
    beside = pathlib.Path(pyspark.__file__).parent
    assert not any(pathlib.Path(folder).is_relative_to(beside) for folder in tasks["folder"].to_pylist())
