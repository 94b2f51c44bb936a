"""A reader and a writer of application/vnd.stope.rows, made from docs/formats/rows.md alone."""

import json
import math
import struct


def write(columns, rows, order="rows", block=2, n_rows=None, **more):
    """The body of columns (dicts with name, type, values) and rows (lists of numbers, names and None)."""
    line = json.dumps({"columns": columns, "rows": n_rows, "order": order, **more}, ensure_ascii=False).encode() + b"\n"
    coded = [[_code(column, value) for column, value in zip(columns, row)] for row in rows]
    if order == "rows":
        return line + b"".join(struct.pack(f"<{len(columns)}d", *row) for row in coded)
    parts = [line]
    for first in range(0, len(coded), block):
        some = coded[first : first + block]
        parts.append(struct.pack("<q", len(some)))
        parts += [struct.pack(f"<{len(some)}d", *values) for values in zip(*some)]
    return b"".join(parts) + struct.pack("<q", 0)


def read(body):
    """(columns, values of each column) of a body in order "columns"."""
    line, _, rest = body.partition(b"\n")
    head = json.loads(line)
    assert head["order"] == "columns"
    values, at = [[] for _ in head["columns"]], 0
    while True:
        n = struct.unpack_from("<q", rest, at)[0]
        at += 8
        if n == 0:
            break
        for column, into in zip(head["columns"], values):
            into += [_value(column, number) for number in struct.unpack_from(f"<{n}d", rest, at)]
            at += 8 * n
    assert at == len(rest)
    return head["columns"], values


def _code(column, value):
    if value is None:
        return math.nan
    return float(column["values"].index(value)) if "values" in column else value


def _value(column, number):
    if math.isnan(number):
        return None
    return column["values"][int(number)] if "values" in column else number
