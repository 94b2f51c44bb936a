"""Answers as application/vnd.stope.rows: a line of JSON, then blocks of columns. docs/formats/rows.md specifies it."""

import json
import struct

import numpy as np

from .problems import Problem

__all__ = ["RowsWriter", "header_line"]


def header_line(table) -> bytes:
    """Return the first line of an answer with the columns of a table."""
    columns = []
    for index in range(table.n_columns):
        column = table.column(index)
        said = {"name": column.name, "type": column.type}
        if column.is_nominal:
            said["values"] = column.values.names()
        if column.role != "regular":
            said["role"] = column.role
        columns.append(said)
    return json.dumps({"columns": columns, "rows": None, "order": "columns"}, ensure_ascii=False).encode() + b"\n"


class RowsWriter:
    """Makes the bytes of an answer from its blocks. The first line lists the values of nominal columns once and for all.

    Parameters
    ----------
    outline : _core.Table, optional
        A table with the columns and values of all blocks; by default the first block is that.
    """

    def __init__(self, profile="", outline=None):
        self._outline, self._begun = outline, False

    def block(self, table) -> bytes:
        parts = []
        if not self._begun:
            self._begun = True
            self._outline = self._outline if self._outline is not None else table
            parts.append(header_line(self._outline))
        if table.n_rows:
            parts.append(struct.pack("<q", table.n_rows))
            parts += [self._values(table.column(index), self._outline.column(index)) for index in range(table.n_columns)]
        return b"".join(parts)

    def end(self) -> bytes:
        return struct.pack("<q", 0)

    def _values(self, column, known):
        values = column.array()
        if not column.is_nominal:
            return np.ascontiguousarray(values, "<f8").data
        place = {name: code for code, name in enumerate(known.values.names())} if column.values != known.values else None
        if place is None:
            return np.where(values < 0, np.nan, values).astype("<f8").tobytes()
        try:
            codes = np.array([place[name] for name in column.values.names()] + [np.nan])
        except KeyError:
            raise Problem(422, "unsupported", f"The column '{column.name}' has a value that the first line does not list.") from None
        return codes[values].astype("<f8").tobytes()


def with_all_values(tables):
    """Return an empty table like the first of some, whose nominal columns list the values of all of them."""
    from .. import _core

    first, columns = tables[0], []
    for index in range(first.n_columns):
        column = first.column(index)
        if column.is_nominal:
            names = dict.fromkeys(name for table in tables for name in table.column(index).values.names())
            made = _core.Column.nominal(column.name, np.empty(0, np.int32), _core.Values(list(names)), column.type)
        else:
            made = _core.Column.numeric(column.name, np.empty(0), column.type, False, _core.Run(1))
        made.role = column.role
        columns.append(made)
    return _core.Table.of_columns(columns, 0)
