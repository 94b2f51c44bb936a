"""A table in blocks of rows, which share its memory."""

from typing import Iterator, Optional

from stope import _core

__all__ = ["BLOCK_ROWS", "blocks_of", "rows_of"]

BLOCK_ROWS = 33_792  # the engine's own block: smaller ones would repeat its work for each


def rows_of(table: "_core.Table", first: int, end: int, columns: Optional[list] = None) -> "_core.Table":
    """Return rows ``first`` to ``end`` of some columns by number, or of all."""
    made, run = [], _core.Run(1)
    for index in range(table.n_columns) if columns is None else columns:
        column = table.column(index)
        values = column.array()[first:end]
        if column.is_nominal:
            part = _core.Column.nominal(column.name, values, column.values, column.type, True)
        else:
            part = _core.Column.numeric(column.name, values, column.type, True, run)
        part.role = column.role
        made.append(part)
    return _core.Table.of_columns(made, end - first)


def blocks_of(table: "_core.Table", first: int, end: int, columns: Optional[list] = None) -> Iterator:
    """Yield (number of the first row, block). A table without rows is one block without rows."""
    if first >= end:
        yield first, rows_of(table, first, first, columns)
    for at in range(first, end, BLOCK_ROWS):
        yield at, rows_of(table, at, min(at + BLOCK_ROWS, end), columns)
