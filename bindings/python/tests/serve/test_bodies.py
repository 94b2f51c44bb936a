"""Bodies of every format: whole and in blocks they are the same table; limits, compression and time."""

import asyncio
import gzip
import io
import os

import numpy as np
import pytest

for needed in ("starlette", "pyarrow", "zstandard"):
    pytest.importorskip(needed, reason=f"SKIP: the package {needed} is missing")

import pyarrow.parquet  # noqa: E402
import zstandard  # noqa: E402
from stope import Table, _core  # noqa: E402
from stope.serve.bodies import Feature, ReadingOptions, features_of, table_of_body  # noqa: E402
from stope.serve.problems import Problem  # noqa: E402
from stope.serve.settings import Limits  # noqa: E402

from .bodies_in_process import (  # noqa: E402
    ARROW,
    CSV,
    JSON,
    PARQUET,
    RECORDS,
    ROWS,
    answered,
    blocks,
    column,
    cut,
    request_of,
    whole,
)

N_ROWS = 70_000
FORMATS = [CSV, JSON, RECORDS, ARROW, PARQUET, ROWS, "json by columns"]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(3)
    x = random.normal(size=N_ROWS)
    x[::7] = np.nan
    names = np.array(["red", "green", 'b"l,ue', "two\nlines", None], dtype=object)
    return Table(
        {
            "id": np.arange(N_ROWS, dtype=float),
            "colour": names[random.integers(5, size=N_ROWS)],
            "x": x,
            "other": random.normal(size=N_ROWS),
        }
    )


def body_of(table, form):
    """(media type, body) of a table in a format."""
    if form == PARQUET:
        pyarrow.parquet.write_table(table.to_arrow(), sink := io.BytesIO(), row_group_size=30_000)
        return PARQUET, sink.getvalue()
    if form == "json by columns":
        import json

        lists = {name: [None if value != value else value for value in column(table, name)] for name in table.columns}
        return JSON, json.dumps({name: list(values) for name, values in lists.items()}).encode()
    return form.split(";")[0], answered(table, form)[2]


@pytest.mark.parametrize("form", FORMATS)
def test_a_whole_body_is_the_table(table, form, tmp_path):
    media_type, body = body_of(table, form)
    for size in (0, 65_536):
        read = whole(cut(body, size), media_type, spool=tmp_path)
        assert read.columns == table.columns and len(read) == N_ROWS
        assert column(read, "colour") == column(table, "colour")
        assert read.categories("colour") == sorted(table.categories("colour"))
        assert np.array_equal(column(read, "x").view(np.uint64), column(table, "x").view(np.uint64))
    assert os.listdir(tmp_path) == [], "a body of more than 1 MiB leaves no file behind"


@pytest.mark.parametrize("form", FORMATS)
def test_blocks_have_the_models_columns_in_its_order(table, form, tmp_path):
    media_type, body = body_of(table, form)
    features = [Feature("x"), Feature("colour", "polynominal")]
    found = blocks(cut(body, 100_000), media_type, features, spool=tmp_path, keep=["id", "x"])
    assert sum(block.n_rows for block in found) == N_ROWS and len(found) > 2
    assert max(block.n_rows for block in found) <= 33_792
    for block in found:
        assert [(block.column(i).name, block.column(i).role) for i in range(3)] == [
            ("x", "regular"),
            ("colour", "regular"),
            ("id", "ignore"),
        ]
    x = np.concatenate([column(block, "x") for block in found])
    assert np.array_equal(x.view(np.uint64), column(table, "x").view(np.uint64))
    assert [name for block in found for name in column(block, "colour")] == column(table, "colour")
    kept = [value for block in found for value in column(block, "id")]
    assert [float(value) for value in kept] == list(range(N_ROWS))


@pytest.mark.parametrize("form", FORMATS)
def test_a_missing_column_is_refused_by_name(table, form):
    media_type, body = body_of(table.head(5), form)
    with pytest.raises(Problem) as refusal:
        blocks(body, media_type, [Feature("x"), Feature("weight")])
    assert (refusal.value.status, refusal.value.code, refusal.value.members["column"]) == (
        422,
        "missing-column",
        "weight",
    )
    with pytest.raises(Problem, match="'nowhere'"):
        blocks(body, media_type, [Feature("x")], keep=["nowhere"])


@pytest.mark.parametrize("form", FORMATS)
def test_too_many_rows_and_columns_are_refused(table, form):
    media_type, body = body_of(table.head(100), form)
    for limits, code in ((Limits(rows=99), "too-many-rows"), (Limits(columns=3), "too-many-columns")):
        for read in (
            lambda: whole(body, media_type, limits=limits),
            lambda: blocks(body, media_type, [Feature("x")], limits),
        ):
            with pytest.raises(Problem) as refusal:
                read()
            assert (refusal.value.status, refusal.value.code) == (413, code)
    assert len(whole(body, media_type, limits=Limits(rows=100, columns=4))) == 100


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_body_and_a_cut_one_are_refused(table, form):
    media_type, body = body_of(table.head(50), form)
    name = {CSV: "csv", JSON: "json", ARROW: "arrow", PARQUET: "parquet", ROWS: "rows"}[media_type]
    cuts = [b""] if media_type == CSV else [b"", body[:1], body[: len(body) // 2], body[:-3]]
    for damaged in cuts:
        for read in (lambda: whole(damaged, media_type), lambda: blocks(damaged, media_type, [Feature("x")])):
            with pytest.raises(Problem) as refusal:
                read()
            assert (refusal.value.status, refusal.value.code) == (422, f"malformed-{name}")


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "zstd"])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_compressed_bodies_are_read(table, coding, size):
    _, body = body_of(table.head(200), CSV)
    packed = zstandard.compress(body) if coding == "zstd" else gzip.compress(body)
    read = whole(cut(packed, size), CSV, headers={"content-encoding": coding})
    assert len(read) == 200 and column(read, "id").tolist() == list(range(200))
    half = len(body) // 2
    pack = zstandard.compress if coding == "zstd" else gzip.compress
    assert (
        len(whole(cut(pack(body[:half]) + pack(body[half:]), size), CSV, headers={"content-encoding": coding})) == 200
    )


@pytest.mark.parametrize(("coding", "code"), [("gzip", "malformed-gzip"), ("zstd", "malformed-zstd")])
def test_damaged_compression_is_refused(coding, code):
    packed = gzip.compress(b"a\n1\n" * 1000) if coding == "gzip" else zstandard.compress(b"a\n1\n" * 1000)
    for damaged in (b"no such thing", packed[:-5], packed[:10] + b"\0\0" + packed[12:], packed + b"more"):
        with pytest.raises(Problem) as refusal:
            whole(damaged, CSV, headers={"content-encoding": coding})
        assert (refusal.value.status, refusal.value.code) == (422, code)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_zip_bomb_is_refused_after_the_limit_and_no_later(coding):
    bomb = gzip.compress(bytes(1 << 28), 1) if coding == "gzip" else zstandard.compress(bytes(1 << 28))
    assert len(bomb) < (1 << 28) // 100
    with pytest.raises(Problem) as refusal:
        whole(cut(bomb, 1 << 16), CSV, limits=Limits(body_bytes=4 << 20), headers={"content-encoding": coding})
    assert (refusal.value.status, refusal.value.code, refusal.value.members["bytes"]) == (
        413,
        "body-too-large",
        4 << 20,
    )
    assert "decompressed" in refusal.value.detail


def test_a_zip_bomb_comes_in_small_parts():
    from stope.serve.bodies.byte_stream import _DECODERS

    bombs = {"gzip": gzip.compress(bytes(1 << 28), 1), "zstd": zstandard.compress(bytes(1 << 28))}
    for coding, bomb in bombs.items():
        sizes = [len(part) for part in _DECODERS[coding]().parts(bomb)]
        assert sum(sizes) == 1 << 28 and max(sizes) <= 16 << 20


def test_a_body_beyond_the_limit_is_refused_before_it_comes_where_its_length_is_declared():
    async def never():
        raise AssertionError("the body was read")

    request = request_of(b"a\n1\n", CSV, {"content-length": "1001"}, wait=never)
    with pytest.raises(Problem) as refusal:
        asyncio.run(table_of_body(request, ReadingOptions(), "/tmp", Limits(body_bytes=1000), _core.Run(1)))
    assert (refusal.value.status, refusal.value.code) == (413, "body-too-large")
    with pytest.raises(Problem, match="1000 bytes"):
        whole(cut(b"a\n" + b"1\n" * 1000, 100), CSV, limits=Limits(body_bytes=1000))


@pytest.mark.parametrize("media_type", [CSV, JSON, ROWS])
def test_a_body_that_stands_still_is_given_up(media_type):
    async def stand_still():
        await asyncio.sleep(3600)

    for headers in ({}, {"content-length": "20"}):
        request = request_of([b"a\n", b"1\n"], media_type, headers, wait=stand_still)
        with pytest.raises(Problem) as refusal:
            asyncio.run(table_of_body(request, ReadingOptions(), "/tmp", Limits(idle_seconds=0.05), _core.Run(1)))
        assert (refusal.value.status, refusal.value.code) == (408, "slow-body")


@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk_is_told_in_words(table, form, monkeypatch):
    from stope.serve.bodies import byte_stream as body_bytes, columns as body_columns
    from stope.serve.problems import problem_of

    def full(folder):
        return open("/dev/full", "r+b", buffering=0)

    monkeypatch.setattr(body_bytes, "temporary_file", full)
    monkeypatch.setattr(body_columns, "temporary_file", full)
    monkeypatch.setattr(body_columns, "_PIECES_IN_MEMORY", 1000)
    media_type, body = body_of(table, form)
    with pytest.raises(Exception) as failure:
        whole(cut(body, 1 << 16), media_type)
    assert (problem_of(failure.value).status, problem_of(failure.value).code) == (507, "disk-full")


def test_a_client_that_goes_is_no_failure_of_the_server():
    parts = iter([{"type": "http.request", "body": b"a\n1\n", "more_body": True}, {"type": "http.disconnect"}])
    request = request_of(b"", CSV)

    async def receive():
        return next(parts)

    request._receive = receive
    with pytest.raises(Problem) as refusal:
        asyncio.run(table_of_body(request, ReadingOptions(), "/tmp", Limits(), _core.Run(1)))
    assert (refusal.value.status, refusal.value.code) == (400, "cut-body")


@pytest.mark.parametrize(
    "media_type",
    [
        "",
        "text/html",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/csv; header=perhaps",
        "application/json; charset=utf-16",
    ],
)
def test_other_media_types_are_refused(media_type):
    with pytest.raises(Problem) as refusal:
        whole(b"a\n1\n", media_type)
    assert (refusal.value.status, refusal.value.code) == (415, "media-type")


def test_other_encodings_are_refused():
    with pytest.raises(Problem) as refusal:
        whole(b"a\n1\n", CSV, headers={"content-encoding": "br"})
    assert (refusal.value.status, refusal.value.code) == (415, "encoding")


@pytest.mark.parametrize("form", FORMATS)
def test_options_name_roles_by_name_and_by_number(table, form):
    media_type, body = body_of(table.head(20), form)
    for options in (
        ReadingOptions(target="x", id="id", ignore=("other",)),
        ReadingOptions(target="3", id="1", ignore=("4",)),
    ):
        assert whole(body, media_type, options).roles == {
            "id": "id",
            "colour": "regular",
            "x": "label",
            "other": "ignore",
        }
    with pytest.raises(Exception, match="'absent'"):
        whole(body, media_type, ReadingOptions(target="absent"))


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_not_selected_is_ignored_but_for_columns_with_a_role(table, form):
    media_type, body = body_of(table.head(20), form)
    wanted = {"id": "regular", "colour": "ignore", "x": "label", "other": "ignore"}
    for select in (("id",), ("1",)):
        assert whole(body, media_type, ReadingOptions(target="x", select=select)).roles == wanted
    with pytest.raises(Exception, match="'absent'"):
        whole(body, media_type, ReadingOptions(select=("absent",)))


@pytest.mark.parametrize("form", [CSV, JSON, RECORDS, ARROW, PARQUET])
def test_a_target_of_numbers_may_be_classes(table, form):
    media_type, body = body_of(table.head(20), form)
    read = whole(body, media_type, ReadingOptions(target="id", target_is_nominal=True))
    assert sorted(read.categories("id"), key=float) == [str(n) for n in range(20)] or form == CSV
    assert len(read.categories("id")) == 20 and read.roles["id"] == "label"


@pytest.mark.parametrize("form", [JSON, ARROW, PARQUET, ROWS])
def test_options_of_csv_are_refused_for_other_formats(table, form):
    media_type, body = body_of(table.head(5), form)
    with pytest.raises(Problem) as refusal:
        whole(body, media_type, ReadingOptions(separator=";"))
    assert (refusal.value.status, refusal.value.members["option"]) == (400, "separator")


def test_reading_options_come_from_the_words_of_a_query():
    options = ReadingOptions.of_words(
        {
            "target": "y",
            "ignore": "a,b",
            "nominal": '["x, y", "z"]',
            "header": "false",
            "target_is_nominal": "true",
            "separator": "tab",
            "select": "a,b,c",
            "allow_ragged": "true",
        }
    )
    assert options == ReadingOptions(
        target="y",
        select=("a", "b", "c"),
        ignore=("a", "b"),
        nominal=("x, y", "z"),
        header="no",
        target_is_nominal=True,
        separator="\t",
        allow_ragged=True,
    )
    for wrong in (
        {"targets": "y"},
        {"nominal": "[1]"},
        {"nominal": "["},
        {"target_is_nominal": "perhaps"},
        {"allow_ragged": "2"},
    ):
        with pytest.raises(Problem) as refusal:
            ReadingOptions.of_words(wrong)
        assert refusal.value.status == 400 and refusal.value.members["option"] in wrong


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_of_endless_length_is_refused(form):
    media_type, body = body_of(Table.from_numpy(np.ones((2, 2)), names=["x", "n" * 10_001]), form)
    for read in (lambda: whole(body, media_type), lambda: blocks(body, media_type, [Feature("x")])):
        with pytest.raises(Problem, match="10001 characters"):
            read()


def test_features_are_the_regular_columns():
    table = whole(b"a,b,c\n1,x,2\n", CSV, ReadingOptions(target="c"))
    assert features_of(table._core_table) == [Feature("a", "integer"), Feature("b", "polynominal")]
