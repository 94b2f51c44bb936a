"""Tasks of Spark that were given GPUs, two at once, each in a process of its own: its worker's code without Spark."""

import subprocess
import sys

import pytest

from stope import _core
from stope.errors import StopeError

pytest.importorskip("pyarrow")

TASK = """
import sys, types

class Task:  # what TaskContext says of a task
    def __init__(self, addresses):
        self._addresses = addresses
    def cpus(self):
        return 2
    def resources(self):
        return {"gpu": types.SimpleNamespace(name="gpu", addresses=self._addresses)}
    def getLocalProperty(self, key):
        return None

addresses, part = sys.argv[1].split(",") if sys.argv[1] else [], int(sys.argv[2])
pyspark = types.ModuleType("pyspark")
pyspark.TaskContext = type("TaskContext", (), {"get": staticmethod(lambda: Task(addresses))})
sys.modules["pyspark"] = pyspark

import hashlib
import numpy as np, pyarrow as pa, stope
from stope.spark import _worker
from stope.spark._matching import Feature
from stope.spark._model_place import Inside

rng = np.random.default_rng(1)
names = [f"x{i}" for i in range(12)]
X = rng.normal(size=(20_000, 12))
train = stope.Table(pa.table({**{name: X[:, i] for i, name in enumerate(names)}, "y": np.where(X[:, 0] > X[:, 1] ** 2, "a", "b")}))
model = stope.Model(stope._core.fit_model("classify", train.with_roles(label="y")._core_table, {"n_neighbors": "7"}, {},
                                          stope._core.Run(1, 0, "cpu", None)).model)
devices = []
settings = _worker.config_context
_worker.config_context = lambda **how: devices.append(how["device"]) or settings(**how)
work = _worker.Work(
    place=Inside("one", model._model.to_bytes()), gives="classes", read=tuple(names), features=tuple(Feature(n, n) for n in names),
    kept=("x0",), added=(("prediction", "string"), ("probability", "array<double>")), order=("x0", "prediction", "probability"), proba=False,
    probability=True, n_neighbors=None, weights=None, device="auto", threads=None, memory_limit=None)
rows = pa.table({name: X[part::2, i] + 0.01 for i, name in enumerate(names)})
answer = pa.Table.from_batches(_worker.apply_batches(work, iter(rows.to_batches(max_chunksize=999))))
text = "\\n".join(map(repr, answer.to_pylist())).encode()
print(set(devices), answer.num_rows, hashlib.sha256(text).hexdigest())
"""


def gpus():
    try:
        _core.require_backend(_core.Run(0, 0, "cuda"))
        _core.require_backend(_core.Run(0, 0, "cuda:1"))
    except StopeError as error:
        return 1 if "there is no GPU 1" in str(error) else 0
    return 2


def tasks(*addresses):
    """What each task prints; all run at once, and each has every second row."""
    running = [subprocess.Popen([sys.executable, "-c", TASK, address, str(part)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for part, address in enumerate(addresses)]
    found = []
    for process in running:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        found.append(out.strip().rpartition("} "))
    return [said + "}" for said, _, _ in found], [answer for _, _, answer in found]


def test_tasks_that_were_given_no_gpu_leave_those_of_the_machine_alone():
    devices, answers = tasks("", "")
    assert devices == ["{'cpu'}"] * 2 and answers[0] != answers[1]


@pytest.mark.skipif(gpus() == 0, reason="needs an NVIDIA GPU and the CUDA plug-in")
def test_tasks_that_share_a_gpu_answer_as_the_cpu_does():
    devices, answers = tasks("0", "0")
    assert devices == ["{'cuda:0'}"] * 2 and answers == tasks("", "")[1]


@pytest.mark.skipif(gpus() < 2, reason="needs two NVIDIA GPUs")
def test_tasks_with_a_gpu_each_answer_as_the_cpu_does():
    devices, answers = tasks("0", "1")
    assert devices == ["{'cuda:0'}", "{'cuda:1'}"] and answers == tasks("", "")[1]
    assert tasks("0,1", "1,0")[1] == answers
