"""What every task of a join knows: the measure, and of all items the dictionaries and the extremes."""

import functools
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import _core
from ..errors import InvalidDataError
from ._resources import device_of, memory_of, threads_of

__all__ = ["Recipe", "bytes_of_table", "table_of_bytes", "task_run"]


def bytes_of_table(table):
    """An Arrow table as a stream of Arrow IPC."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def table_of_bytes(data):
    """The Arrow table of a stream."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()


def task_run(device="auto"):
    """The ``_core.Run`` of a job in this process: with the cores, the GPUs and the memory that Spark gives a task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:  # the driver, where only small things are computed
        return _core.Run(1, 0, "cpu")
    return _core.Run(threads_of(context, None), memory_of(context, None) or 0, device_of(context, device))


@dataclass(frozen=True)
class Recipe:
    """How parts are fitted and searched.

    Attributes
    ----------
    outline : bytes
        An Arrow table of two rows: the smallest and the largest value of each feature of numbers, over all items. A
        feature of names is a dictionary of all names that items have, in order.
    metric, params, feature_weights, normalize, device
        As the engine takes them.
    n_neighbors : int
    exclude_self : bool
    rows_per_part : int
        Rows of one index, at most.
    """

    outline: bytes
    metric: str
    params: dict
    feature_weights: list
    normalize: str
    n_neighbors: int
    exclude_self: bool
    rows_per_part: int
    device: str

    @functools.cached_property
    def whole(self):
        return Whole(self)


class Whole:
    """The outline of all items, ready for fitting parts."""

    def __init__(self, recipe):
        self.recipe = recipe
        self.outline = table_of_bytes(recipe.outline)
        self.names = self.outline.column_names
        self.dictionaries = {
            name: column.chunk(0).dictionary
            for name, column in zip(self.names, self.outline.columns)
            if pa.types.is_dictionary(column.type)
        }
        run = task_run(recipe.device)
        table = _core.Table.of_arrow(self.outline.__arrow_c_stream__(), run=run)
        # Normalising keeps the order of numbers: extremes of normalised items are normalised extremes.
        self.normalizer = None if recipe.normalize == "none" else _core.Normalizer.fit(table, recipe.normalize, run=run)
        self.extremes = self._normalized(table, run)
        self.ranges = _core.feature_ranges(self.extremes, run=run)

    def _normalized(self, table, run):
        return table if self.normalizer is None else self.normalizer.apply(table, run=run)

    def items(self, arrow, run):
        """The engine's table of a part: names have the codes that they have in the whole."""
        columns = [
            self._coded(column, name) if name in self.dictionaries else column
            for name, column in zip(self.names, arrow.columns)
        ]
        return self._table(columns, run)

    def queries(self, arrow, run):
        """The engine's table of queries, whose names may be other names."""
        return self._table(arrow.columns, run)

    def _table(self, columns, run):
        table = pa.table(columns, names=self.names)
        return self._normalized(_core.Table.of_arrow(table.__arrow_c_stream__(), run=run), run)

    def _coded(self, column, name):
        dictionary = self.dictionaries[name]
        chunks = []
        for chunk in column.cast(dictionary.type).chunks:
            codes = pc.index_in(chunk, value_set=dictionary, skip_nulls=True)
            if codes.null_count != chunk.null_count:
                at = np.flatnonzero(codes.is_null().to_numpy(False) & chunk.is_valid().to_numpy(False))[0]
                raise InvalidDataError(
                    f"the items have changed during the join: column {name!r} has the value {chunk[int(at)].as_py()!r}, "
                    "which it had not when its values were collected"
                )
            chunks.append(pa.DictionaryArray.from_arrays(codes, dictionary))
        return pa.chunked_array(chunks, type=pa.dictionary(pa.int32(), dictionary.type))

    def fit(self, table, run):
        """The index of a part, which compares rows as an index of the whole does."""
        recipe = self.recipe
        return _core.KnnIndex.fit(
            table, recipe.metric, recipe.params, recipe.feature_weights, share=True, ranges=self.ranges, run=run
        )
