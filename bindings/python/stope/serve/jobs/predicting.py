"""Models applied to rows that come in blocks: what the engine says of a whole table, in constant memory."""

from typing import AsyncIterator, Callable

import numpy as np

from stope import _core

from ..problems import Problem
from ..row_blocks import BLOCK_ROWS, blocks_of

__all__ = ["applied", "found", "of_table", "with_kept"]


async def of_table(table: "_core.Table", columns: list) -> AsyncIterator:
    """The blocks of a stored table."""
    for _, block in blocks_of(table, 0, table.n_rows, columns):
        yield block


def with_kept(table: "_core.Table", kept: "_core.Table") -> "_core.Table":
    """The table with the columns of another in front."""
    columns = [kept.column(at) for at in range(kept.n_columns)]
    names = {column.name for column in columns}
    for at in range(table.n_columns):
        column = table.column(at)
        if column.name in names:
            raise Problem(400, "invalid-argument", f"keep: the answer has a column {column.name!r} of its own",
                          option="keep", column=column.name)
        columns.append(column)
    return _core.Table.of_columns(columns, table.n_rows)


def _moved(table, first):
    """Lists of neighbours whose column "row" counts from the first row of all blocks, and not of this one."""
    at = table.find("row")
    if first == 0 or at < 0:
        return table
    columns = [table.column(index) for index in range(table.n_columns)]
    numbers = np.asarray(columns[at].array(), dtype=np.float64) + first
    columns[at] = _core.Column.numeric("row", numbers, columns[at].type, False, _core.Run(1))
    return _core.Table.of_columns(columns, table.n_rows)


def applied(keep: list, model, options: dict) -> Callable:
    """A function of (block, number of its first row, run) that says what the model says of its rows."""
    lists = model.info["gives"] == "neighbors" or options.get("explain") in ("true", "1")
    if keep and lists:
        raise Problem(400, "invalid-argument", "keep: a list has no row for each row of the table",
                      option="keep")
    features = {feature.name for feature in model.features}

    def work(block, first, run):
        answer = _core.apply_model(model.predictor, _only(block, features) if keep else block, options, run)
        if lists:
            answer = _moved(answer, first)
        if not keep:
            return answer
        kept = _core.Table.of_columns([block.column(block.find(name)) for name in keep], block.n_rows)
        return with_kept(answer, kept)

    return work


def _only(block, names):
    """The block without kept columns: a model that gives a table would bring them along."""
    columns = [block.column(at) for at in range(block.n_columns)]
    return _core.Table.of_columns([column for column in columns if column.name in names], block.n_rows)


def found(n_neighbors: int, model, options: dict) -> Callable:
    """A function of (block, number of its first row, run) that finds the nearest training rows."""
    leaves_self_out = options.get("exclude_self") in ("true", "1")
    given = _first_query(options)

    def work(block, first, run):
        # A block is a part of the training rows: which part, the engine has to be told. A block that may be all of
        # them is left to the engine, which refuses any other number of rows.
        is_part = first > 0 or given >= 0 or block.n_rows >= BLOCK_ROWS
        moved = {"first_query": str(max(given, 0) + first)} if leaves_self_out and is_part else {}
        lists = _core.model_neighbors(model.predictor, block, n_neighbors, {**options, **moved}, run)
        return _moved(lists, first)

    return work


def _first_query(options):
    text = options.get("first_query", "-1")
    try:
        return int(text)
    except ValueError:
        raise Problem(400, "invalid-argument", "first_query is a whole number", option="first_query") from None
