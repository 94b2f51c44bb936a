"""What happens in a worker: which device, how many threads, how large the blocks, and how often a model is read."""

import os
import types

import numpy as np
import pyarrow as pa
import pytest

from made_tables import digest, local_answers, made_model, made_rows
from stope.spark import _worker
from stope.spark._resources import device_of, memory_of, threads_of


class PretendedTask:
    """What TaskContext says of a task."""

    def __init__(self, cpus=1, gpus=None, properties=()):
        self._cpus, self._gpus, self._properties = cpus, gpus, dict(properties)

    def cpus(self):
        return self._cpus

    def resources(self):
        return {} if self._gpus is None else {"gpu": types.SimpleNamespace(name="gpu", addresses=self._gpus)}

    def getLocalProperty(self, key):
        return self._properties.get(key)


def test_a_task_uses_the_gpus_that_spark_gave_to_it():
    assert device_of(PretendedTask(gpus=["3"]), "auto") == "cuda:3"
    assert device_of(PretendedTask(gpus=["0", "2"]), "auto") == "cuda:0,2"
    assert device_of(PretendedTask(gpus=["GPU-8f7c"]), "auto") == "cuda:GPU-8f7c"
    assert device_of(PretendedTask(gpus=[]), "auto") == "cpu"
    assert device_of(PretendedTask(), "auto") == "cpu"
    assert device_of(PretendedTask(gpus=["3"]), "cpu") == "cpu"
    assert device_of(PretendedTask(), "cuda:1") == "cuda:1"
    assert device_of(PretendedTask(gpus=["3"]), "cuda") == "cuda:3"
    assert device_of(PretendedTask(), "cuda") == "cuda"


def test_a_task_uses_the_cores_that_spark_gave_to_it():
    assert threads_of(PretendedTask(cpus=4), None) == 4
    assert threads_of(PretendedTask(cpus=0), None) == 1
    assert threads_of(PretendedTask(cpus=4), 2) == 2


def test_a_job_may_hold_half_of_what_its_worker_may(monkeypatch):
    monkeypatch.delenv("PYSPARK_EXECUTOR_MEMORY_MB", raising=False)
    assert memory_of(PretendedTask(), None) is None
    assert memory_of(PretendedTask(), 7) == 7
    executor = {"resource.pyspark.memory": "4096", "resource.executor.cores": "4"}
    assert memory_of(PretendedTask(cpus=2, properties=executor), None) == 1 << 30
    monkeypatch.setenv("PYSPARK_EXECUTOR_MEMORY_MB", "512")
    assert memory_of(PretendedTask(properties=executor), None) == 256 << 20


@pytest.mark.parametrize("batch", [1, 7, 8191, 8192, 8193, 50_000])
def test_batches_are_regrouped_to_blocks_of_the_engine(batch):
    values = np.arange(20_000)
    batches = pa.table({"x": values}).to_batches(max_chunksize=batch)
    found = list(_worker.blocks(iter(batches), 8192))
    assert [block.num_rows for block in found] == [8192, 8192, 3616]
    assert np.array_equal(pa.concat_tables(found)["x"].to_numpy(), values)


def test_wide_rows_make_small_blocks(monkeypatch):
    monkeypatch.setattr(_worker, "MOST_BYTES", 1 << 16)
    table = pa.table({f"x{i}": np.arange(5000.0) for i in range(100)})
    found = list(_worker.blocks(iter(table.to_batches(max_chunksize=999)), 8192))
    assert pa.concat_tables(found).combine_chunks() == table
    assert max(block.nbytes for block in found) <= 2 << 16
    assert max(part.nbytes for part in _worker._parts(table)) <= 1 << 16
    assert pa.Table.from_batches(_worker._parts(table)).combine_chunks() == table


def test_a_process_reads_a_model_once(monkeypatch):
    from pyspark import TaskContext

    from stope.spark._model_place import Inside

    opened = []
    real = _worker.open_model
    monkeypatch.setattr(_worker, "_models", type(_worker._models)())
    monkeypatch.setattr(_worker, "open_model", lambda place: opened.append(place.key) or real(place))
    monkeypatch.setattr(TaskContext, "get", classmethod(lambda cls: PretendedTask()))
    model, rows = made_model("classify"), made_rows("classify")
    expected = local_answers(model, rows)

    def answers(key):
        from stope.spark._matching import Feature

        features = tuple(Feature(name, name) for name in model.feature_names_in_)
        work = _worker.Work(
            place=Inside(key, model._model.to_bytes()), gives="classes", read=tuple(rows.column_names),
            features=features, kept=(), added=(("prediction", "string"),), order=("prediction",), proba=False,
            probability=False, n_neighbors=None, weights=None, device="auto", threads=None, memory_limit=None,
        )
        return pa.Table.from_batches(_worker.apply_batches(work, iter(rows.to_batches(max_chunksize=50))))

    for key in ("one", "one", "two", "one", "three", "one", "two"):
        assert digest(answers(key)) == digest(expected.select(["prediction"]))
    assert opened == ["one", "two", "three", "two"]


def _maps(pid):
    try:
        with open(f"/proc/{pid}/maps") as file:
            return "stope/_core" in file.read()
    except OSError:
        return False


def _who_has_the_engine(batches):
    """One row: whether the daemon that forks workers has loaded the engine, and whether a worker has."""
    for _ in batches:
        pass
    daemon = os.getppid()
    with open(f"/proc/{daemon}/cmdline") as file:
        name = file.read()
    workers = [pid for pid in os.listdir("/proc") if pid.isdigit() and _parent(pid) == daemon]
    yield pa.record_batch({"daemon": [name.replace("\0", " ")], "in_daemon": [_maps(daemon)],
                           "in_workers": [any(_maps(pid) for pid in workers)]})


def _parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def test_the_daemon_that_forks_workers_never_loads_the_engine(spark):
    from stope.spark import transform

    model, frame = made_model("classify"), spark.createDataFrame(made_rows("classify")).coalesce(1)
    schema = "daemon string, in_daemon boolean, in_workers boolean"
    found = transform(frame, model).mapInArrow(_who_has_the_engine, schema)
    row = found.toArrow().to_pylist()[0]
    assert "pyspark.daemon" in row["daemon"]
    assert row["in_workers"] and not row["in_daemon"]
