"""Answers as JSON: a table with named columns, or a list of records."""

import json

from ... import _core

__all__ = ["JsonWriter"]


class JsonWriter:
    """Makes the bytes of an answer from its blocks. Missing is null, and infinity is the text "Infinity"."""

    repeats_texts = True

    def __init__(self, profile="columns"):
        self._records = profile == "records"
        self._begun = self._has_rows = False

    def block(self, table) -> bytes:
        form = "json_objects" if self._records else "json_arrays"
        rows = _core.rows_text(table, form, _core.Run(1))
        parts = []
        if not self._begun:
            self._begun = True
            parts.append(b"[" if self._records else _head_of(table))
        if table.n_rows:
            parts += [b","] * self._has_rows
            self._has_rows = True
        parts.append(rows)
        return b"".join(parts)

    def end(self) -> bytes:
        return b"]\n" if self._records else b"]}\n"


def _head_of(table):
    columns = []
    for index in range(table.n_columns):
        column = table.column(index)
        said = {"name": column.name, "type": column.type}
        if column.role != "regular":
            said["role"] = column.role
        columns.append(said)
    return f'{{"columns":{json.dumps(columns, ensure_ascii=False)},"rows":['.encode()
