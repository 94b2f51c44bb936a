"""Spark sessions of four kinds. A process has one: the environment variable STOPE_SPARK says which.

scripts/spark.sh runs the tests of this folder once for each kind. A test runs in the kind "local" unless its mark
``modes`` says otherwise: @pytest.mark.modes("cluster2", "connect").
"""

import os
import pathlib
import sys

import pytest

MASTERS = {
    "local": "local[2]",
    "cluster2": "local-cluster[2,1,1024]",
    "cluster3": "local-cluster[3,1,1024]",
    "connect": "local[2]",
}

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
    }
