"""Spark sessions of several kinds. A process has one: the environment variable STOPE_SPARK says which.

scripts/spark.sh runs the tests of this folder once for each kind. A test runs in the kind "local" unless its mark
``modes`` says otherwise: @pytest.mark.modes("cluster2", "connect").

In "gpus" and "pretended" a worker has two GPUs, and gives one to each of two executors. In "gpus" they are those of this
machine; in "pretended" two names of the one GPU of the engine's fake plug-in, which computes on the CPU.
"""

import json
import os
import pathlib
import sys

import pytest

MASTERS = {
    "local": "local[2]",
    "cluster2": "local-cluster[2,1,1024]",
    "cluster3": "local-cluster[3,1,1024]",
    "connect": "local[2]",
    "gpus": "local-cluster[1,2,2048]",
    "pretended": "local-cluster[1,2,2048]",
}
GPUS = {"gpus": ("0", "1"), "pretended": ("1", "GPU-89a1b2c3-d72c-4106-c12f-20bd9faed9f6")}
PLUGIN = pathlib.Path(__file__).parents[4] / "build/release/tests/libstope_fake_cuda.so"

MODE = os.environ.get("STOPE_SPARK")

# Other runs of the Python tests leave this folder alone: a JVM is large, and is shared by the tests of a process.
collect_ignore_glob = [] if MODE else ["test_*.py"]


def pytest_configure(config):
    config.addinivalue_line("markers", "modes(*names): the kinds of session in which a test runs")


def pytest_collection_modifyitems(config, items):
    folder = pathlib.Path(__file__).parent
    kept, left = [], []
    for item in items:
        mark = item.get_closest_marker("modes")
        modes = mark.args if mark else ("local",)
        assert set(modes) <= set(MASTERS), f"{item.name}: {modes} is no kind of session"
        (kept if MODE in modes or folder not in item.path.parents else left).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """The session of this process."""
    pytest.importorskip("pyspark", reason="SKIP: pyspark is missing; pip install 'stope[spark]' brings it")
    from pyspark.sql import SparkSession

    _require_gpus()
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_HOME"] = str(_home(folder / "home"))
    os.environ.pop("SPARK_REMOTE", None)
    # These JVMs live for seconds: the optimising compiler would take more time than it saves.
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    if MODE == "connect":
        os.environ["SPARK_TESTING"] = "1"  # the server takes a free port, and the client asks it which
    builder = SparkSession.builder
    builder = builder.remote(MASTERS[MODE]) if MODE == "connect" else builder.master(MASTERS[MODE])
    for name, value in _settings(folder).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def gpus():
    """The addresses that Spark has to give to tasks."""
    return GPUS[MODE]


@pytest.fixture
def batch_rows(spark):
    """Sets the rows of Spark's Arrow batches for one test."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    yield lambda n: spark.conf.set(name, n)
    spark.conf.set(name, 10_000)


def _home(folder):
    """Links to PySpark's files: the executors of local-cluster write their folder ``work`` beside them."""
    import pyspark

    folder.mkdir()
    for part in ("bin", "jars", "sbin"):
        (folder / part).symlink_to(pathlib.Path(pyspark.__file__).parent / part)
    return folder


def _require_gpus():
    from stope import _core
    from stope.errors import StopeError

    if MODE == "pretended" and not PLUGIN.exists():
        pytest.skip("needs the tests' fake plug-in")
    if MODE == "gpus":
        try:
            _core.require_backend(_core.Run(0, 0, "cuda:" + ",".join(GPUS[MODE])))
        except StopeError as error:
            pytest.skip(f"needs two NVIDIA GPUs: {error}")


def _settings_of_gpus(folder):
    """The worker finds GPUs by a script, as on a real cluster. Each executor has one core and one GPU."""
    if MODE not in GPUS:
        return {}
    script = folder / "find_gpus.sh"
    script.write_text(f"#!/bin/sh\necho '{json.dumps({'name': 'gpu', 'addresses': GPUS[MODE]})}'\n")
    script.chmod(0o755)
    pretended = {"STOPE_CUDA_PLUGIN": str(PLUGIN), "STOPE_FAKE": "filters"} if MODE == "pretended" else {}
    return {
        "spark.worker.resource.gpu.amount": "2",
        "spark.worker.resource.gpu.discoveryScript": str(script),
        "spark.executor.cores": "1",
        "spark.executor.resource.gpu.amount": "1",
        "spark.task.resource.gpu.amount": "1",
        "spark.locality.wait": "0s",  # a task goes to the executor that is free
        "spark.sql.adaptive.coalescePartitions.enabled": "false",  # small tables, too, are for both
        **{f"spark.executorEnv.{name}": value for name, value in pretended.items()},
    }


def _settings(folder):
    import stope

    package = str(pathlib.Path(stope.__file__).parent.parent)
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "4",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([package, str(pathlib.Path(__file__).parent)]),
        **_settings_of_gpus(folder),
    }
