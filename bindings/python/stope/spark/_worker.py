"""What runs in Spark's Python workers: blocks of rows in, the same rows with the model's answers out.

A worker is a process that Spark forks from a daemon and uses for many tasks. The daemon has not imported stope, so each
worker loads the engine itself, and may use CUDA. Models stay in the process from task to task.
"""

from collections import OrderedDict
from dataclasses import dataclass

import pyarrow as pa

from .._config import config_context
from ._matching import Feature
from ._model_place import open_model
from ._resources import device_of, memory_of, threads_of
from ._results import ARROW_TYPES, results

__all__ = ["Work", "apply_batches"]

# The engine's blocks (docs/adr/0017-rooms-of-knn.md): fewer rows waste a search's preparation, more bring nothing.
ROWS_OF_A_BLOCK = 8_192
ROWS_OF_A_BLOCK_ON_A_GPU = 33_792
MOST_BYTES = 64 << 20  # of a block and of a batch that leaves: far below the 2 GiB that Spark can measure
_MODELS_KEPT = 2  # a job applies one model; a second one is for jobs that run at once


@dataclass(frozen=True)
class Work:
    """What the driver asks of every worker."""

    place: object  # Inside, InArtifact or InFile
    gives: str
    read: "tuple[str, ...]"  # the columns that come, in order, whatever their names are on the way
    features: "tuple[Feature, ...]"
    kept: "tuple[str, ...]"  # columns that leave as they came
    added: "tuple[tuple[str, str], ...]"  # names and types of the result's columns
    order: "tuple[str, ...]"  # all columns that leave, in order
    proba: bool
    probability: bool
    n_neighbors: "int | None"
    weights: "str | None"
    device: str
    threads: "int | None"
    memory_limit: "int | None"


def apply_batches(work, batches):
    """Yield record batches that have the kept columns and the model's, for an iterator of record batches."""
    from pyspark import TaskContext

    context = TaskContext.get()
    device = device_of(context, work.device)
    settings = {
        "device": device,
        "threads": threads_of(context, work.threads),
        "memory_limit": memory_of(context, work.memory_limit),
    }
    n_rows = ROWS_OF_A_BLOCK if device == "cpu" else ROWS_OF_A_BLOCK_ON_A_GPU
    for block in blocks(batches, n_rows):
        # A context must not stay open over a yield: Spark's own code runs meanwhile.
        with config_context(**settings):
            answered = _answered(work, _model(work, device), block)
        yield from _parts(answered)


_models = OrderedDict()  # by content, device and vote: the last that were used


def _model(work, device):
    key = work.place.key, device, work.n_neighbors, work.weights
    if key not in _models:
        model = open_model(work.place)
        if work.gives in ("classes", "numbers") and (work.n_neighbors or work.weights):
            model = model.with_vote(work.n_neighbors, work.weights)
        _models[key] = model
        while len(_models) > _MODELS_KEPT:
            _models.popitem(last=False)
    _models.move_to_end(key)
    return _models[key]


def blocks(batches, n_rows):
    """Regroup record batches into tables of ``n_rows`` rows, or fewer where they are wide, and a last smaller one."""
    waiting, rows, size = [], 0, 0
    for batch in batches:
        at_once = max(1, min(n_rows, MOST_BYTES * batch.num_rows // max(batch.nbytes, 1)))
        first = 0
        while first < batch.num_rows:
            part = batch.slice(first, min(max(at_once - rows, 1), batch.num_rows - first))
            first += part.num_rows
            waiting.append(part)
            rows += part.num_rows
            size += part.nbytes
            if rows >= at_once or size >= MOST_BYTES:
                yield pa.Table.from_batches(waiting)
                waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _answered(work, model, block):
    block = block.rename_columns(list(work.read))
    features = pa.table(
        [_cast(block.column(feature.column), feature.cast) for feature in work.features],
        names=[feature.name for feature in work.features],
    )
    columns = {name: block.column(name) for name in work.kept}
    for (name, type_), values in zip(work.added, results(work, model, features)):
        columns[name] = values.cast(ARROW_TYPES[type_])
    return pa.table([columns[name] for name in work.order], names=list(work.order))


def _cast(column, cast):
    import pyarrow.compute as pc

    if cast == "number":
        return column.cast(pa.int8() if pa.types.is_boolean(column.type) else pa.float64())
    if cast == "text":
        return column.cast(pa.string())
    if cast:
        no, yes = cast.split()
        return pc.if_else(column, pa.scalar(yes), pa.scalar(no))
    return column


def _parts(table):
    """The table's record batches, each of few enough bytes, and of one chunk a column."""
    rows = max(1, MOST_BYTES * table.num_rows // max(table.nbytes, 1))
    for first in range(0, table.num_rows, rows):
        yield from table.slice(first, rows).combine_chunks().to_batches()
