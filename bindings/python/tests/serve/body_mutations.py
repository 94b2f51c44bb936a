"""Mutations that know the form of a body: members of JSON, cells of CSV, whole numbers of Arrow and Parquet, the first
line of row bodies, and what lies inside a compressed body. ``random`` is a numpy Generator."""

import gzip
import json
import struct

import zstandard

from .bodies_in_process import CSV, ROWS

LIES = [0, 1, -1, 7, 255, 65536, 2**31 - 1, -(2**31), 2**31, 2**32, 2**40, 2**60 + 1, 2**63 - 1, -(2**63)]
NUMBERS = ["0", "-0.0", "1e308", "1e999", "-1e999", "5e-324", "NaN", "inf", "9007199254740993", "18446744073709551616", "1_0", "01"]
WORDS = ["", "?", "NA", "a", "b", "c", "d", "x", "columns", "rows", "name", "type", "values", "order", "date", "nominal", "real"]
WORDS += ["2020-02-30", "1969-12-31T23:59:60Z", "w, \"q\"", "\u00e9", "\ud800", "\0", "null"]


def _any_of(random, items):
    return items[int(random.integers(len(items)))]


class _Raw(str):
    """A text that stands in the JSON as it is."""


def _fresh(random, node):
    kind = random.integers(7)
    if kind == 0:
        return _Raw(_any_of(random, NUMBERS))
    if kind == 1:
        return _any_of(random, LIES)
    if kind == 2:
        return _any_of(random, [None, True, False])
    if kind == 3:
        return [node] * int(random.integers(4))
    if kind == 4:
        return {_any_of(random, WORDS): node}
    return _any_of(random, WORDS)


def _dumped(node, random):
    """JSON of a tree with raw texts; now and then a member stands twice."""
    if isinstance(node, _Raw):
        return str(node)
    if isinstance(node, list):
        return "[" + ",".join(_dumped(item, random) for item in node) + "]"
    if isinstance(node, dict):
        members = [json.dumps(name) + ":" + _dumped(value, random) for name, value in node.items()]
        if members and random.integers(40) == 0:
            members.append(members[0])
        return "{" + ",".join(members) + "}"
    return json.dumps(node, ensure_ascii=bool(random.integers(2)))


def _places(node, found):
    """(container, key) of every node below the root."""
    for key in range(len(node)) if isinstance(node, list) else node if isinstance(node, dict) else ():
        found.append((node, key))
        _places(node[key], found)
    return found


def json_tree(random, text):
    """One to three changes of a tree; None where the text is no JSON."""
    try:
        root = [json.loads(text)]
    except (ValueError, RecursionError):
        return None
    for _ in range(random.integers(1, 4)):
        container, key = _any_of(random, _places(root, []))
        what = random.integers(6)
        if what == 0 and container is not root:
            del container[key]
        elif what == 1 and isinstance(container, list):
            container.insert(key, container[key])
        elif what == 2 and isinstance(container, dict):
            container[_any_of(random, WORDS)] = container.pop(key)
        elif what == 3 and container is not root:
            other, from_key = _any_of(random, _places(root, []))
            container[key] = json.loads(_dumped_plainly(other[from_key]))
        else:
            container[key] = _fresh(random, container[key])
    text = _dumped(root[0], random) if root else ""
    return text.encode("utf-8", "surrogatepass")


def _dumped_plainly(node):
    return json.dumps(node, default=str)


def csv_cells(random, body):
    lines = body.split(b"\n")
    for _ in range(random.integers(1, 4)):
        at = int(random.integers(len(lines)))
        cells = lines[at].split(b",")
        cell = int(random.integers(len(cells)))
        what = random.integers(7)
        if what == 0:
            del cells[cell]
        elif what == 1:
            cells.insert(cell, cells[cell])
        elif what == 2:
            cells[cell] = b'"' + cells[cell] + b'"'
        elif what == 3:
            lines.insert(at, lines[at])
        else:
            fresh = _any_of(random, NUMBERS + WORDS) if what != 4 else "7" * int(random.integers(400))
            cells[cell] = fresh.encode("utf-8", "surrogatepass")
        lines[at] = b",".join(cells)
    return (b"\r\n" if random.integers(8) == 0 else b"\n").join(lines)


def binary_numbers(random, body):
    """Whole numbers of four or eight bytes at their places become lies: lengths, offsets, counts, sizes of buffers."""
    body = bytearray(body)
    for _ in range(random.integers(1, 4)):
        wide = bool(random.integers(2))
        size = 8 if wide else 4
        if len(body) < size:
            break
        at = int(random.integers(len(body) // 4 - (1 if wide else 0))) * 4 if len(body) >= 12 else 0
        lie = _any_of(random, LIES) if random.integers(2) else int(random.integers(64))
        old = struct.unpack_from("<q" if wide else "<i", body, at)[0]
        lie = lie if random.integers(3) else old + int(random.integers(-8, 9))
        struct.pack_into("<Q" if wide else "<I", body, at, lie % (1 << (8 * size)))
    return bytes(body)


def rows_body(random, body):
    line, end, rest = body.partition(b"\n")
    if random.integers(3) == 0:
        return line + end + binary_numbers(random, rest)
    line = json_tree(random, line)
    return None if line is None else line + end + rest


def structured(random, media_type, headers, body):
    """The body, changed by what its form offers; None where it has none, or is not of its form."""
    packed = headers.get("content-encoding")
    if packed:
        unpack, pack = (gzip.decompress, gzip.compress) if packed == "gzip" else (zstandard.decompress, zstandard.compress)
        inner = structured(random, media_type, {}, unpack(body))
        return None if inner is None else pack(inner)
    if media_type == CSV:
        return csv_cells(random, body)
    if "json" in media_type:
        return json_tree(random, body)
    if media_type == ROWS:
        return rows_body(random, body)
    return binary_numbers(random, body)
