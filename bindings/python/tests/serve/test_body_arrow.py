"""Arrow and Parquet bodies: streams, files, dictionaries that change, compressed buffers, and structures that lie."""

import io
import struct

import numpy as np
import pytest

for needed in ("starlette", "pyarrow"):
    pytest.importorskip(needed, reason=f"SKIP: the package {needed} is missing")

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from stope.errors import UnsupportedError  # noqa: E402
from stope.serve.bodies import arrow as body_arrow, arrow_messages as body_arrow_messages  # noqa: E402
from stope.serve.bodies import parquet_pages as body_parquet_pages  # noqa: E402
from stope.serve.bodies import Feature, ReadingOptions  # noqa: E402
from stope.serve.problems import Problem, problem_of  # noqa: E402
from stope.serve.settings import Limits  # noqa: E402

from .bodies_in_process import ARROW, PARQUET, blocks, column, cut, whole  # noqa: E402

FILE = "application/vnd.apache.arrow.file"
X, NAME = Feature("x"), Feature("name", "polynominal")


def stream(*tables, kind=pa.ipc.new_stream, **options):
    """An IPC stream with each table as a batch."""
    with kind(sink := io.BytesIO(), tables[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for table in tables:
            writer.write_table(table)
    return sink.getvalue()


def coded(codes, names, x=None):
    column_ = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names))
    return pa.table({"name": column_, "x": pa.array(x if x is not None else np.arange(len(codes), dtype=float))})


@pytest.mark.parametrize("size", [0, 1, 100])
@pytest.mark.parametrize("media_type", [ARROW, FILE])
@pytest.mark.parametrize("kind", [pa.ipc.new_stream, pa.ipc.new_file])
def test_streams_and_files_are_read_under_either_type(size, media_type, kind):
    body = stream(coded([0, 1, None], ["b", "a"]), kind=kind)
    assert column(whole(cut(body, size), media_type), "name") == ["b", "a", None]
    (block,) = blocks(cut(body, size), media_type, [X, NAME])
    assert column(block, "name") == ["b", "a", None] and column(block, "x").tolist() == [0, 1, 2]


@pytest.mark.parametrize("deltas", [False, True])
@pytest.mark.parametrize("size", [0, 7])
def test_dictionaries_may_change_between_batches(deltas, size):
    tables = [
        coded([0, 1], ["b", "a"]),
        coded([2, 0], ["b", "a", "c"]),
        coded([1, 1], ["b", "z"] if not deltas else ["b", "a", "c", "d"]),
    ]
    body = stream(*tables, emit_dictionary_deltas=deltas)
    wanted = [name for table in tables for name in table["name"].to_pylist()]
    assert column(whole(cut(body, size), ARROW), "name") == wanted
    found = blocks(cut(body, size), ARROW, [NAME])
    assert [name for block in found for name in column(block, "name")] == wanted and len(found) == 3


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_buffers_are_read(compression, monkeypatch):
    monkeypatch.setattr(body_arrow, "_MAPPED_BYTES", 10_000)  # so that the batches go through a file
    tables = [coded(np.arange(5000) % 2, ["b", "a"], np.random.default_rng(n).normal(size=5000)) for n in range(4)]
    body = stream(*tables, compression=compression)
    assert np.array_equal(column(whole(cut(body, 999), ARROW), "x"), pa.concat_tables(tables)["x"].to_numpy())
    found = blocks(cut(body, 999), ARROW, [X])
    assert np.array_equal(
        np.concatenate([column(block, "x") for block in found]), pa.concat_tables(tables)["x"].to_numpy()
    )


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_buffers_that_expand_too_far_are_refused_before_they_do(compression, monkeypatch):
    monkeypatch.setattr(body_arrow_messages, "_EXPANDED", 1 << 20)
    body = stream(pa.table({"x": np.zeros(1 << 20)}), compression=compression)
    assert len(body) < 1 << 17
    before = pa.total_allocated_bytes()
    for read in (lambda: whole(body, ARROW), lambda: blocks(body, ARROW, [X])):
        with pytest.raises(Problem) as refusal:
            read()
        assert (refusal.value.status, refusal.value.code) == (413, "body-too-large")
        assert pa.total_allocated_bytes() - before < 1 << 20


def test_a_long_batch_goes_through_a_file_and_comes_back_in_blocks(monkeypatch, tmp_path):
    monkeypatch.setattr(body_arrow_messages, "_IN_MEMORY", 1000)
    table = coded(np.arange(100_000) % 3, ["c", "b", "a"], np.random.default_rng(1).normal(size=100_000))
    found = blocks(cut(stream(table), 65_536), ARROW, [X, NAME], spool=tmp_path)
    assert [block.n_rows for block in found] == [33_792, 33_792, 100_000 - 2 * 33_792]
    assert np.array_equal(np.concatenate([column(block, "x") for block in found]), table["x"].to_numpy())
    assert [name for block in found for name in column(block, "name")] == table["name"].to_pylist()
    assert list(tmp_path.iterdir()) == []


def test_other_columns_are_not_even_decoded():
    table = pa.table({"nested": [[{"a": [1]}]] * 3, "x": [1.0, 2.0, 3.0], "bytes": [b"\xff"] * 3})
    (block,) = blocks(stream(table), ARROW, [X])
    assert column(block, "x").tolist() == [1, 2, 3]
    with pytest.raises(Exception, match="nested"):
        whole(stream(table), ARROW)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 2, None], pa.int16()),
        pa.array(["1", "2", None]),
        pa.array([1.0, 2.0, None], pa.float32()),
        pa.array(["1", "2", None]).dictionary_encode(),
        pa.array(["1", "2", None], pa.large_string()),
    ],
)
def test_types_are_those_of_the_model(array):
    body = stream(pa.table({"x": array}))
    (numbers,) = blocks(body, ARROW, [X])
    assert column(numbers, "x").tolist()[:2] == [1.0, 2.0] and np.isnan(column(numbers, "x")[2])
    (names,) = blocks(body, ARROW, [Feature("x", "nominal")])
    assert column(names, "x") == ["1", "2", None]


def test_what_is_no_number_is_refused_for_a_column_of_numbers():
    with pytest.raises(Exception, match="word"):
        blocks(stream(pa.table({"x": ["1", "word"]})), ARROW, [X])
    with pytest.raises(Exception, match="9007199254740993"):
        blocks(stream(pa.table({"x": [9007199254740993]})), ARROW, [X])


def test_dictionaries_without_an_order_are_sorted_and_others_are_not():
    def read(ordered, options=ReadingOptions()):
        kind = pa.dictionary(pa.int32(), pa.string(), ordered)
        table = pa.table({"name": pa.DictionaryArray.from_arrays([0, 1, 1], ["z", "a"]).cast(kind)})
        return whole(stream(table), ARROW, options).categories("name")

    assert read(False) == ["a", "z"] and read(True) == ["z", "a"]
    assert read(False, ReadingOptions(nominal_order="appearance")) == ["z", "a"]


def _patched(body, place, value):
    body = bytearray(body)
    struct.pack_into("<q", body, place, value)
    return bytes(body)


def test_a_batch_that_says_more_rows_than_it_has_bytes_is_refused():
    table = pa.table({"x": [1.0, 2.0, 3.0]})
    body = stream(table)
    places = [at for at in range(0, len(body) - 7) if struct.unpack_from("<q", body, at)[0] == 3]
    assert places
    refused = 0
    for place in places:
        for lie in (4, 1 << 20, 1 << 40, -1):
            for read in (lambda b: whole(b, ARROW), lambda b: blocks(b, ARROW, [X])):
                try:
                    read(_patched(body, place, lie))
                except Problem as problem:
                    assert problem.status in (413, 422)
                    refused += 1
    assert refused >= 8


def test_codes_outside_their_dictionary_are_refused():
    column_ = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int32()), pa.array(["a"]), safe=False)
    body = stream(pa.table({"name": column_}))
    for read in (lambda: whole(body, ARROW), lambda: blocks(body, ARROW, [NAME])):
        with pytest.raises(Problem) as refusal:
            read()
        assert refusal.value.code == "malformed-arrow"


def test_a_name_that_is_no_text_is_refused():
    body = stream(pa.table({"name": ["a"], "x": [1.0]})).replace(b"name", b"n\xacme")
    for read in (lambda: whole(body, ARROW), lambda: blocks(body, ARROW, [X])):
        with pytest.raises(Problem) as refusal:
            read()
        assert refusal.value.code == "malformed-arrow"


def test_two_schemas_and_rows_without_one_are_refused():
    body = stream(pa.table({"x": [1.0]}))
    end = b"\xff\xff\xff\xff\0\0\0\0"
    assert body.endswith(end)
    for damaged in (body[:-8] + body, body[body.index(b"\xff\xff\xff\xff", 4) :], end, body + b"more"):
        with pytest.raises(Problem):
            blocks(damaged, ARROW, [X])


def test_a_stream_without_batches_is_a_table_without_rows():
    body = stream(pa.table({"x": pa.array([], pa.float64()), "name": pa.array([], pa.string())}))
    (block,) = blocks(body, ARROW, [X, NAME])
    assert block.n_rows == 0 and whole(body, ARROW).shape == (0, 2)
    sink = io.BytesIO()
    pa.ipc.new_stream(sink, pa.schema([("x", pa.float64())])).close()
    (block,) = blocks(sink.getvalue(), ARROW, [X])
    assert block.n_rows == 0


def test_row_groups_of_parquet_come_in_turn(tmp_path):
    table = coded(np.arange(90_000) % 3, ["c", "b", "a"])
    pq.write_table(table, sink := io.BytesIO(), row_group_size=20_000)
    found = blocks(cut(sink.getvalue(), 50_000), PARQUET, [NAME, X], spool=tmp_path)
    assert [name for block in found for name in column(block, "name")] == table["name"].to_pylist()
    assert max(block.n_rows for block in found) <= 33_792 and list(tmp_path.iterdir()) == []


def test_parquet_that_would_expand_too_far_is_refused():
    pq.write_table(pa.table({"x": np.zeros(1_000_000)}), sink := io.BytesIO(), compression="zstd", use_dictionary=False)
    body = sink.getvalue()
    assert len(body) < 200_000
    for read in (lambda how: whole(body, PARQUET, limits=how), lambda how: blocks(body, PARQUET, [X], how)):
        with pytest.raises(Problem) as refusal:
            read(Limits(body_bytes=4_000_000))
        assert (refusal.value.status, refusal.value.code) == (413, "body-too-large")
        with pytest.raises(Problem) as refusal:
            read(Limits(rows=999_999))
        assert refusal.value.code == "too-many-rows"


def test_a_column_of_parquet_may_have_a_dot_in_its_name():
    pq.write_table(pa.table({"a.b": [1.0, 2.0], "a": [{"b": 1.0}] * 2}), sink := io.BytesIO())
    (block,) = blocks(sink.getvalue(), PARQUET, [Feature("a.b")])
    assert column(block, "a.b").tolist() == [1.0, 2.0]


def parquet(table, **how):
    with pq.ParquetWriter(sink := io.BytesIO(), table.schema, store_schema=False, **how) as writer:
        writer.write_table(table)
    return sink.getvalue()


def test_a_text_that_parquet_repeats_is_not_written_out_for_each_row():
    body = parquet(coded(np.zeros(400), ["x" * 1_000_000]), compression="zstd")
    assert len(body) < 10_000
    pool = pa.default_memory_pool()
    most = max(pool.max_memory(), 100_000_000)
    assert whole(body, PARQUET).shape == (400, 2)
    assert sum(block.n_rows for block in blocks(body, PARQUET, [X, NAME])) == 400
    assert pool.max_memory() <= most


@pytest.mark.parametrize("order", ["sorted", "appearance"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts_of_parquet_are_numbered_alike_with_and_without_a_dictionary(order, kind):
    texts = pa.array(["d", None, "b", "c", "b", "a", None, "d"] * 20_000, kind)
    for how in ({"use_dictionary": False}, {"row_group_size": 3}, {}):
        pq.write_table(pa.table({"name": texts}), sink := io.BytesIO(), **how)
        table = whole(sink.getvalue(), PARQUET, ReadingOptions(nominal_order=order))
        assert table._core_table.column(0).values.names() == sorted("abcd", key="abcd".index if order == "sorted" else "dbca".index)
        assert column(table, "name") == texts.to_pylist()
        texts = texts[:160]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["zstd", "gzip", "snappy"])
def test_pages_of_parquet_that_become_too_large_at_once_are_refused(version, compression, monkeypatch):
    table = pa.table({f"x{i}": np.zeros(10_000) for i in range(10)})
    body = parquet(table, compression=compression, use_dictionary=False, data_page_version=version)
    monkeypatch.setattr(body_parquet_pages, "_AT_ONCE", 801_000)
    assert whole(body, PARQUET).shape == (10_000, 10)
    monkeypatch.setattr(body_parquet_pages, "_AT_ONCE", 799_000)
    for read in (lambda: whole(body, PARQUET), lambda: blocks(body, PARQUET, [Feature("x1")])):
        with pytest.raises(Problem) as refusal:
            read()
        assert (refusal.value.status, refusal.value.code) == (413, "body-too-large")
    monkeypatch.setattr(body_parquet_pages, "_MOST_PAGES", 9)
    with pytest.raises(Problem, match="more than 9 pages"):
        whole(body, PARQUET)


# Found by test_body_fuzz.py: where a chunk's statistics contradicted the schema, pyarrow ended the server's process.
def test_no_byte_of_the_footer_of_parquet_ends_the_process():
    body = parquet(pa.table({"x": [1.5, 2.0, None], "name": ["a", "b", "a"]}))
    size = int.from_bytes(body[-8:-4], "little")
    refused = 0
    for at in range(len(body) - 8 - size, len(body) - 8):
        for value in (0, 1, 2, 3):
            changed = bytearray(body)
            changed[at] = value
            try:
                whole(bytes(changed), PARQUET)
            except Exception as error:  # whatever it is, it is looked at
                assert problem_of(error).status < 500
                refused += 1
    assert refused > 100


def test_types_that_no_table_holds_are_refused_before_rows_are_read(monkeypatch):
    table = pa.table({"x": [1.0], "list": [["a"]]})
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)
    with pytest.raises(UnsupportedError, match="list"):
        whole(parquet(table), PARQUET)
