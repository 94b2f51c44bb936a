"""Tasks of stope.spark that note, in a folder of this machine, which GPUs Spark gave them and where the engine computed."""

import contextlib
import functools
import json
import os
import pathlib
import time

from stope import _core

MEET_WITHIN = 60  # seconds, on a busy machine


def noting_batches(function, folder, tasks=1):
    """The task of mapInArrow, with a note when its last batch is out. So many tasks wait for each other first."""
    return functools.partial(_batches, function, str(folder), tasks)


def noting_table(function, folder):
    """The task of applyInArrow, with a note."""
    return functools.partial(_table, function, str(folder))


def notes_in(folder):
    """The notes of all tasks: the GPUs that each has, its executor's process, and the reports of the engine."""
    return [note for path in pathlib.Path(folder).glob("*.json") for note in map(json.loads, path.read_text().splitlines())]


def _batches(function, folder, tasks, *arguments):
    with _noted(folder, tasks):
        yield from function(*arguments)


def _table(function, folder, *arguments):
    with _noted(folder, 1):
        return function(*arguments)


@contextlib.contextmanager
def _noted(folder, tasks):
    from pyspark import TaskContext

    context, folder = TaskContext.get(), pathlib.Path(folder)
    (folder / f"{context.taskAttemptId()}.began").touch()
    _meet(folder, tasks)
    runs, real = [], _core.Run
    _core.Run = lambda *words: runs.append(real(*words)) or runs[-1]
    try:
        yield
    finally:
        _core.Run = real
    gpu = context.resources().get("gpu")
    note = {"gpus": gpu.addresses if gpu else [], "executor": os.getppid(),
            "reports": [json.loads(run.report_json) for run in runs if run.has_report]}
    with open(folder / f"{context.taskAttemptId()}.json", "a") as file:
        file.write(json.dumps(note) + "\n")


def _meet(folder, tasks):
    until = time.monotonic() + MEET_WITHIN
    while len(list(folder.glob("*.began"))) < tasks:
        assert time.monotonic() < until, "no other task runs beside this one"
        time.sleep(0.02)
