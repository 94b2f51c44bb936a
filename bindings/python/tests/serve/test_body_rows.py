"""Bodies of application/vnd.stope.rows against a reader and a writer that were made from its page alone."""

import json
import os
import struct

import numpy as np
import pytest

pytest.importorskip("starlette", reason="SKIP: the package starlette is missing")

from stope.serve.bodies import columns as body_columns, rows as body_rows  # noqa: E402
from stope.serve.bodies import Feature, ReadingOptions  # noqa: E402
from stope.serve.problems import Problem  # noqa: E402

from . import rows_format  # noqa: E402
from .bodies_in_process import ROWS, answered, blocks, column, cut, request_of, whole  # noqa: E402

COLUMNS = [
    {"name": "x", "type": "real"},
    {"name": "c", "type": "nominal", "values": ["z", "a", "ü"], "role": "label"},
    {"name": "d", "type": "date"},
]
CELLS = [[1.5, "a", 18263.0], [None, "z", 0.5], [-0.0, None, None], [5e-324, "ü", 1.0], [float("inf"), "a", 2.0]]


@pytest.mark.parametrize("order", ["rows", "columns"])
@pytest.mark.parametrize("size", [0, 1, 17])
@pytest.mark.parametrize("n_rows", [None, 5])
def test_both_orders_are_one_table(order, size, n_rows):
    body = rows_format.write(COLUMNS, CELLS, order, n_rows=n_rows)
    table = whole(cut(body, size), ROWS)
    assert table.roles == {"x": "regular", "c": "label", "d": "regular"} and table.dtypes["d"] == "date"
    assert column(table, "c") == ["a", "z", None, "ü", "a"] and table.categories("c") == ["z", "a", "ü"]
    x = column(table, "x")
    assert np.signbit(x[2]) and np.isnan(x[1]) and x[3] == 5e-324 and x[4] == np.inf
    found = blocks(cut(body, size), ROWS, [Feature("c", "nominal"), Feature("x")], max_rows=2)
    assert [block.n_rows for block in found] == [2, 2, 1]
    assert [name for block in found for name in column(block, "c")] == column(table, "c")


def test_what_is_written_reads_back():
    body = rows_format.write(COLUMNS, CELLS, "rows")
    columns, values = rows_format.read(answered(whole(body, ROWS), ROWS)[2])
    assert columns == COLUMNS
    assert [list(row) for row in zip(*values)] == CELLS


def test_a_long_block_goes_through_a_file(monkeypatch, tmp_path):
    monkeypatch.setattr(body_rows, "_BLOCK_IN_MEMORY", 1000)
    rows = [[float(n), float(-n)] for n in range(5000)]
    body = rows_format.write([{"name": "a"}, {"name": "b"}], rows, "columns", block=5000)
    found = blocks(cut(body, 999), ROWS, [Feature("b")], max_rows=2000, spool=tmp_path)
    assert np.concatenate([column(block, "b") for block in found]).tolist() == [row[1] for row in rows]
    assert len(found) == 3 and list(tmp_path.iterdir()) == []


def test_options_of_the_first_line_are_for_the_job():
    body = rows_format.write(COLUMNS, CELLS, options={"feature_weights": [1.0, 2.5], "kind": "classify"})
    request = request_of(body, ROWS)

    async def read():
        from stope import _core
        from stope.serve.bodies import table_of_body
        from stope.serve.settings import Limits

        await table_of_body(request, ReadingOptions(), "/tmp", Limits(), _core.Run(1))

    import asyncio

    asyncio.run(read())
    assert request.scope["stope.body_options"] == {"feature_weights": [1.0, 2.5], "kind": "classify"}


def _body(line, *numbers):
    return (
        (line if isinstance(line, bytes) else json.dumps(line).encode())
        + b"\n"
        + struct.pack(f"<{len(numbers)}d", *numbers)
    )


REAL = {"columns": [{"name": "x"}]}
NAMES = {"columns": [{"name": "x", "type": "nominal", "values": ["a", "b"]}]}
REFUSED = [
    (b"", "line of JSON"),
    (b'{"columns":[{"name":"x"}]}', "line of JSON"),
    (_body(b"{oops}"), "no JSON"),
    (_body([]), "no object"),
    (_body({}), "no list of columns"),
    (_body({"columns": []}), "no list of columns"),
    (_body({"columns": ["x"]}), "no object"),
    (_body({"columns": [{"type": "real"}]}), "no name"),
    (_body({"columns": [{"name": "x", "type": "float"}]}), "not known"),
    (_body({"columns": [{"name": "x", "role": "target"}]}), "not known"),
    (_body({"columns": [{"name": "x", "type": "nominal"}]}), "list of values"),
    (_body({"columns": [{"name": "x", "values": ["a"]}]}), "not nominal"),
    (_body({"columns": [{"name": "x", "type": "nominal", "values": ["a", "a"]}]}), "twice"),
    (_body({"columns": [{"name": "x", "type": "binominal", "values": ["a", "b", "c"]}]}), "binominal"),
    (_body({"columns": [{"name": "x", "kind": 1}]}), "no member"),
    (_body({**REAL, "more": 1}), "no member"),
    (_body({**REAL, "order": "any"}), "order"),
    (_body({**REAL, "rows": -1}), "whole number"),
    (_body({**REAL, "rows": 1.0}), "whole number"),
    (_body({**REAL, "rows": True}), "whole number"),
    (_body({**REAL, "options": []}), "no object"),
    (_body({"columns": [{"name": "x"}, {"name": "x"}]}), "two columns"),
    (_body({"columns": [{"name": "x", "type": "nominal", "values": ["\ud800"]}]}), "surrogate"),
    (_body({**REAL, "rows": 2}, 1.0), "says 2 rows"),
    (_body({**REAL, "rows": 1}, 1.0, 2.0), "says 1 rows"),
    (_body(REAL, 1.0) + b"1234567", "middle"),
    (_body(NAMES, 0.0, 2.0), "row 1: 2 is no code"),
    (_body(NAMES, 0.5), "no code"),
    (_body(NAMES, -1.0), "no code"),
    (_body(NAMES, float("inf")), "no code"),
    (_body({**REAL, "order": "columns"}), "cut"),
    (_body({**REAL, "order": "columns"}) + struct.pack("<qd", 2, 1.0), "middle"),
    (_body({**REAL, "order": "columns"}) + struct.pack("<qd", 1, 1.0), "cut"),
    (_body({**REAL, "order": "columns"}) + struct.pack("<q", -5), "-5 rows"),
    (_body({**REAL, "order": "columns"}) + struct.pack("<qq", 0, 0), "behind"),
    (_body({**REAL, "options": {f"o{i}": 1 for i in range(1001)}}), "options has 1001 members"),
]


@pytest.mark.parametrize(("body", "words"), REFUSED)
@pytest.mark.parametrize("size", [0, 3])
def test_what_does_not_keep_to_the_page_is_refused(body, words, size):
    kind = "nominal" if b"nominal" in body else "real"
    for read in (lambda: whole(cut(body, size), ROWS), lambda: blocks(cut(body, size), ROWS, [Feature("x", kind)])):
        with pytest.raises(Problem, match=words) as refusal:
            read()
        assert refusal.value.status == 422 and refusal.value.code in ("malformed-rows", "duplicate-column")


@pytest.mark.filterwarnings("error")
def test_a_signalling_nan_is_missing_and_warns_of_nothing():
    line = json.dumps({"columns": [{"name": "c", "type": "nominal", "values": ["x"]}], "rows": 2}).encode() + b"\n"
    table = whole(line + struct.pack("<2Q", 0x7FF0000000000001, 0), ROWS)
    assert column(table, "c") == [None, "x"]


def test_a_block_of_more_rows_than_the_limit_is_refused_before_its_bytes_come():
    body = _body({**REAL, "order": "columns"}) + struct.pack("<q", 1 << 60)
    for read in (lambda: whole(body, ROWS), lambda: blocks(body, ROWS, [Feature("x")])):
        with pytest.raises(Problem) as refusal:
            read()
        assert (refusal.value.status, refusal.value.code) == (413, "too-many-rows")


def test_a_body_without_rows_is_a_table_without_rows():
    for order in ("rows", "columns"):
        body = rows_format.write(COLUMNS, [], order)
        assert whole(body, ROWS).shape == (0, 3)
        (block,) = blocks(body, ROWS, [Feature("x")])
        assert block.n_rows == 0


def test_types_cannot_be_overruled():
    with pytest.raises(Problem) as refusal:
        whole(rows_format.write(COLUMNS, CELLS), ROWS, ReadingOptions(nominal=("x",)))
    assert refusal.value.status == 400
    assert whole(rows_format.write(COLUMNS, CELLS), ROWS, ReadingOptions(target="x")).roles == {
        "x": "label",
        "c": "regular",
        "d": "regular",
    }


def test_the_disk_has_all_of_a_file_before_it_is_written_through_a_map(tmp_path, monkeypatch):
    """A hole in it would end the process by SIGBUS where the disk is full."""
    made = []

    def noted(file, *how):
        made.append(os.fstat(file.fileno()))
        return memmap(file, *how)

    memmap = np.memmap
    monkeypatch.setattr(body_columns.np, "memmap", noted)
    body = b'{"columns":[{"name":"a"}]}\n' + np.arange(3_000_000.0).tobytes()
    assert column(whole(body, ROWS, spool=tmp_path), "a")[-1] == 2_999_999
    assert len(made) == 1 and 512 * made[0].st_blocks >= made[0].st_size == 24_000_000
