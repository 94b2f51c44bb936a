"""Answers as application/vnd.stope.rows: a line of JSON, then blocks of columns. docs/formats/rows.md specifies it."""

import json
import struct

import numpy as np

from ..problems import Problem

__all__ = ["GatheredRows", "RowsWriter"]


class RowsWriter:
    """Makes the bytes of an answer from its blocks, whose nominal columns have one list of values."""

    repeats_texts = False

    def __init__(self, profile=""):
        self._outline = None

    def block(self, table) -> bytes:
        parts = []
        if self._outline is None:
            self._outline = [table.column(index) for index in range(table.n_columns)]
            parts.append(header_line(self._outline))
        return b"".join(parts + _block_of(table, self._codes))

    def end(self) -> bytes:
        return _END

    def _codes(self, index, column):
        if column.values == self._outline[index].values:
            return None
        place = {name: code for code, name in enumerate(self._outline[index].values.names())}
        codes = [place.get(name, -1) for name in column.values.names()]
        if min(codes, default=0) < 0:
            raise Problem(
                422, "unsupported", f"The column '{column.name}' has a value that the first line does not list."
            )
        return codes


class GatheredRows:
    """Makes answers whose nominal columns get new values later. The rows wait in a file for the first line."""

    def __init__(self, file):
        self._file, self._outline, self._place = file, None, {}

    def add(self, table) -> None:
        if self._outline is None:
            self._outline = [table.column(index) for index in range(table.n_columns)]
        for part in _block_of(table, self._codes):
            self._file.write(part)

    def _codes(self, index, column):
        place = self._place.setdefault(index, {})
        return [place.setdefault(name, len(place)) for name in column.values.names()]

    def parts(self):
        """Yield the bytes of the answer."""
        yield header_line(self._outline, {index: list(place) for index, place in self._place.items()})
        self._file.seek(0)
        while part := self._file.read(1 << 18):
            yield part
        yield _END


_END = struct.pack("<q", 0)


def header_line(columns, values=None) -> bytes:
    """Return the first line of an answer. ``values`` has lists of names by a column's place, in place of its own."""
    said = []
    for index, column in enumerate(columns):
        one = {"name": column.name, "type": column.type}
        if column.is_nominal:
            one["values"] = column.values.names() if values is None else values.get(index, [])
        if column.role != "regular":
            one["role"] = column.role
        said.append(one)
    return json.dumps({"columns": said, "rows": None, "order": "columns"}, ensure_ascii=False).encode() + b"\n"


def _block_of(table, codes_of):
    """The bytes of a block. ``codes_of(index, column)`` says what the column's codes become, None where they stay."""
    if table.n_rows == 0:
        for index in range(table.n_columns):
            if (column := table.column(index)).is_nominal:
                codes_of(index, column)
        return []
    parts = [struct.pack("<q", table.n_rows)]
    for index in range(table.n_columns):
        column = table.column(index)
        values = column.array()
        if not column.is_nominal:
            parts.append(np.ascontiguousarray(values, "<f8").tobytes())
            continue
        codes = codes_of(index, column)
        if codes is None:
            codes = np.arange(len(column.values))
        parts.append(np.append(codes, np.nan).astype("<f8")[values].tobytes())
    return parts
