"""Answers: their format, and that every double comes back bit for bit in every format."""

import gzip
import json
import struct

import numpy as np
import pytest

for needed in ("starlette", "pyarrow", "zstandard"):
    pytest.importorskip(needed, reason=f"SKIP: the package {needed} is missing")

import pyarrow  # noqa: E402
import zstandard  # noqa: E402
from stope import Table, _core  # noqa: E402
from stope.serve.bodies import ReadingOptions
from stope.serve.problems import Problem  # noqa: E402

from . import rows_format  # noqa: E402
from .bodies_in_process import ARROW, CSV, JSON, RECORDS, ROWS, answered, column, whole  # noqa: E402

ANSWERS = [CSV, JSON, RECORDS, ARROW, ROWS]


def odd_doubles(n=3000):
    """Doubles of all sizes: random bits, subnormals, zeros of both signs, the largest, infinities, NaN."""
    random = np.random.default_rng(7)
    bits = random.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)
    tiny = random.integers(1, 2**52, n // 3, dtype=np.uint64).view(np.float64)
    special = [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        np.inf,
        -np.inf,
        np.nan,
        0.1,
        1e22,
        2.0**53,
    ]
    values = np.concatenate([bits, tiny, random.normal(size=n), special])
    return np.where(np.isnan(values), np.nan, values)


def same_bits(a, b):
    return np.array_equal(np.asarray(a).view(np.uint64), np.asarray(b).view(np.uint64))


@pytest.mark.parametrize("accept", ANSWERS)
def test_every_double_comes_back_bit_for_bit(accept):
    numbers = odd_doubles()
    body = answered(Table.from_numpy(numbers.reshape(-1, 1), names=["x"]), accept)[2]
    back = column(whole(body, accept.split(";")[0]), "x")
    missing = np.isnan(numbers)
    assert np.array_equal(np.isnan(back), missing)
    assert same_bits(back[~missing], numbers[~missing])


@pytest.mark.parametrize("accept", ANSWERS)
def test_names_and_missing_values_come_back(accept):
    names = [
        "plain",
        "with, comma",
        'with "quotes"',
        "two\nlines",
        "ünï ☃",
        "?",
        "NA",
        " blank ",
        None,
        "\t",
        "\\",
        "null",
    ]
    body = answered(Table({"name": np.array(names, dtype=object), "x": np.arange(len(names), dtype=float)}), accept)[2]
    assert column(whole(body, accept.split(";")[0]), "name") == names


@pytest.mark.parametrize("accept", ANSWERS)
def test_blocks_are_one_table(accept):
    parts = [
        Table({"n": np.array(names, dtype=object), "x": np.array(numbers)})._core_table
        for names, numbers in ((["a", "b"], [1.0, np.nan]), (["b", None], [3.0, 4.0]), (["a", "a"], [5.0, 6.5]))
    ]
    body = answered(parts, accept)[2]
    table = whole(body, accept.split(";")[0])
    assert column(table, "n") == ["a", "b", "b", None, "a", "a"]
    assert same_bits(np.nan_to_num(column(table, "x"), nan=-1.0), [1.0, -1.0, 3.0, 4.0, 5.0, 6.5])


@pytest.mark.parametrize("accept", ANSWERS)
def test_a_table_without_rows_has_its_columns(accept):
    empty = Table.from_numpy(np.empty((0, 2)), names=["a", "b"])
    body = answered(empty, accept)[2]
    if accept == RECORDS:
        assert json.loads(body) == []
    else:
        assert whole(body, accept.split(";")[0]).columns == ["a", "b"]


@pytest.mark.parametrize("accept", [JSON, ARROW, ROWS])
def test_types_and_roles_come_back(accept):
    text = b"id,when,n,class\n1,2020-01-02,3,yes\n2,2021-02-03 04:05:06,4,no\n"
    table = Table(whole(text, CSV)).with_roles(label="class", id="id")
    back = whole(answered(table, accept)[2], accept)
    assert back.roles == {"id": "id", "when": "regular", "n": "regular", "class": "label"}
    assert column(back, "n").tolist() == [3, 4] and column(back, "class") == ["yes", "no"]
    assert same_bits(column(back, "when"), column(table, "when"))
    assert back.dtypes["n"] == "integer" and back.dtypes["when"] == "date"


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("", JSON),
        ("*/*", JSON),
        (JSON, JSON),
        ("text/csv", CSV),
        ("text/*", CSV),
        ("application/*", JSON),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", JSON),
        ("application/json;q=0.1, text/csv;q=0.5", CSV),
        ("text/csv;q=0, */*;q=0.1", JSON),
        (f"{ARROW}, {ROWS}", ARROW),
        (f"{ROWS}, {ARROW};q=0.9", ROWS),
        ("TEXT/CSV", CSV),
        ("text/csv;q=0.5, */*", JSON),
        ("application/json;q=0, */*;q=0.5", CSV),
        ("application/json;q=0.3, */*;q=0.8", CSV),
        ("application/json; profile=records, text/csv", JSON),
    ],
)
def test_accept_decides_about_the_format(accept, media_type):
    found = answered(Table.from_numpy(np.ones((1, 1))), accept)[1]["content-type"]
    assert found.split(";")[0] == media_type


@pytest.mark.parametrize(
    "accept",
    ["text/html", "application/xml", "text/csv;q=0", "application/json; profile=rows", "image/png, text/plain"],
)
def test_formats_that_are_not_written_are_refused(accept):
    with pytest.raises(Problem) as refusal:
        answered(Table.from_numpy(np.ones((1, 1))), accept)
    assert (refusal.value.status, refusal.value.code) == (406, "not-acceptable")


@pytest.mark.parametrize(
    ("accepts", "coding"),
    [("gzip", "gzip"), ("zstd, gzip", "zstd"), ("br, gzip;q=0.5", "gzip"), ("zstd;q=0", None), ("identity", None)],
)
def test_large_answers_are_compressed_where_the_client_takes_it(accepts, coding):
    table = Table.from_numpy(np.random.default_rng(0).normal(size=(100_000, 2)))
    _, headers, body = answered(table, CSV, {"accept-encoding": accepts})
    assert headers.get("content-encoding") == coding
    unpacked = {
        "gzip": gzip.decompress,
        "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
        None: bytes,
    }[coding](body)
    assert unpacked == answered(table, CSV)[2]
    assert "content-encoding" not in answered(Table.from_numpy(np.ones((3, 1))), CSV, {"accept-encoding": accepts})[1]


def test_json_spells_infinity_as_text_and_missing_as_null():
    body = answered(Table.from_numpy(np.array([[np.inf, -np.inf, np.nan, -0.0, 0.1]])), JSON)[2]
    assert json.loads(body)["rows"] == [["Infinity", "-Infinity", None, -0.0, 0.1]]
    assert b"-0.0" in body


def test_rows_are_written_as_the_page_specifies_them():
    table = whole(b"a,b\n1.5,x\n,y\n", CSV)
    body = answered(table, ROWS)[2]
    assert rows_format.read(body) == (
        [{"name": "a", "type": "real"}, {"name": "b", "type": "polynominal", "values": ["x", "y"]}],
        [[1.5, None], ["x", "y"]],
    )
    assert body.endswith(struct.pack("<q4dq", 2, *[1.5, np.nan, 0, 1], 0))


def test_rows_with_kept_columns_list_the_values_of_all_blocks():
    parts = [
        Table({"n": np.array(names, dtype=object), "x": np.array([1.0, np.nan])})._core_table
        for names in (["b", "a"], ["a", None], ["c", "b"])
    ]
    columns, values = rows_format.read(answered(parts, ROWS, query="keep=n")[2])
    assert sorted(columns[0]["values"]) == ["a", "b", "c"] and values[0] == ["b", "a", "a", None, "c", "b"]
    with pytest.raises(Problem, match="does not list"):
        answered(parts, ROWS)


def test_dates_of_later_blocks_may_be_finer():
    days = [np.array([1.0, 18263.0]), np.array([0.25, 18263.0 + 1 / 86_400])]
    parts = []
    for values in days:
        column_ = _core.Column.numeric("d", values, "date", False, _core.Run(1))
        parts.append(_core.Table.of_columns([column_], len(values)))
    for accept in (ARROW, ROWS, JSON, CSV):
        back = column(
            whole(answered(parts, accept)[2], accept, ReadingOptions(date=("d",) if accept == JSON else ())), "d"
        )
        assert same_bits(back, np.concatenate(days)), accept


def test_arrow_batches_are_the_blocks():
    parts = [Table.from_numpy(np.full((n, 1), 1.0 * n))._core_table for n in (3, 5)]
    reader = pyarrow.ipc.open_stream(answered(parts, ARROW)[2])
    assert [batch.num_rows for batch in reader] == [3, 5]


def test_dictionaries_that_stope_has_written_keep_the_order_of_their_codes():
    values = _core.Values(["z", "a"])
    column_ = _core.Column.nominal("n", np.array([0, 1, 0], np.int32), values)
    table = _core.Table.of_columns([column_], 3)
    for accept in (ARROW, ROWS):
        assert whole(answered(table, accept)[2], accept).categories("n") == ["z", "a"]
