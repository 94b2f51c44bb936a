"""Rows turned into columns: each task of a ranking gets all rows of some columns, and ranks these."""

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .. import _core
from .._classes import class_names, training_table
from ..discretize import Ranking
from ._join_parts import parts_of, sorted_by_id
from ._join_recipe import bytes_of_table, table_of_bytes, task_run

__all__ = ["CutTask", "ranking"]

_PIECE_ROWS = 65_536


@dataclass(frozen=True)
class CutTask:
    """How columns are shared out and ranked. ``names`` are those of all columns, in order."""

    names: tuple
    columns_per_task: int
    criterion: str
    missing: str
    n_permutations: int
    seed: int
    device: str

    def groups(self):
        """The columns of each task, as ranges of their numbers."""
        n = len(self.names)
        return [range(begin, min(begin + self.columns_per_task, n)) for begin in range(0, n, self.columns_per_task)]


class _Labels:
    """Class labels as :class:`stope.CutRanker` takes them: the classes are in ascending order."""

    target = "class"

    def __init__(self, column):
        encoded = column.combine_chunks().dictionary_encode()
        values = encoded.dictionary.to_numpy(zero_copy_only=False)
        order = np.argsort(values, kind="stable")
        code_of = np.empty(len(values), np.int32)
        code_of[order] = np.arange(len(values))
        self.codes, self.names = code_of[encoded.indices.to_numpy()], class_names(values[order])


def ranking(rows, task):
    """The ranking of the columns c0, c1, ... of ``rows``, which also have an id and a label."""

    def cut_up(batches):
        yield from _pieces(task, batches)

    def rank(table):
        return _ranked(task, table)

    pieces = rows.mapInArrow(cut_up, "number int, piece binary")
    found = pieces.groupBy("number").applyInArrow(rank, "cut string").collect()
    cuts = sorted((json.loads(row["cut"]) for row in found), key=lambda cut: cut["feature"])
    cuts.sort(key=lambda cut: -cut["score"])
    if task.n_permutations:
        _add_q_values(cuts)
    return Ranking(cuts)


def _pieces(task, batches):
    """Task of mapInArrow: the rows of a partition, cut into the columns of each group."""
    for block in parts_of(batches, _PIECE_ROWS):
        for number, group in enumerate(task.groups()):
            piece = bytes_of_table(block.select([0, 1, *(index + 2 for index in group)]))
            yield pa.RecordBatch.from_arrays(
                [pa.array([number], pa.int32()), pa.array([piece], pa.binary())], names=["number", "piece"]
            )


def _ranked(task, table):
    """Task of applyInArrow: the best cuts of a group of columns, one row of JSON each."""
    pieces = [table_of_bytes(piece.as_buffer()) for piece in table["piece"]]
    rows = sorted_by_id(pa.concat_tables(pieces))
    group = task.groups()[table["number"][0].as_py()]
    run = task_run(task.device)
    names = [task.names[index] for index in group]
    features = rows.select(range(2, rows.num_columns)).rename_columns(names)
    native = _core.Table.of_arrow(features.__arrow_c_stream__(), run=run)
    found = _core.best_cuts(
        training_table(native, _Labels(rows.column(1)), None, run), criterion=task.criterion, missing=task.missing,
        n_permutations=task.n_permutations, seed=task.seed, run=run,
    )["cuts"]
    for cut in found:
        cut["feature"] += group.start
        cut["family_p_value"] = cut["q_value"] = None
    return pa.table({"cut": [json.dumps(cut) for cut in found]})


def _add_q_values(cuts):
    """Benjamini and Hochberg's q-values over all columns, with the engine's operations in the engine's order."""
    smallest = 1.0
    ordered = sorted(sorted(cuts, key=lambda cut: cut["feature"]), key=lambda cut: cut["p_value"])
    for rank in range(len(ordered), 0, -1):
        cut = ordered[rank - 1]
        smallest = min(smallest, cut["p_value"] * len(cuts) / rank)
        cut["q_value"] = smallest
