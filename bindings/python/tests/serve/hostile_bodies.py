"""Small bodies that ask for much: one function a kind of trouble, each with a size `n`, and the list of all. They are to
the server what tests/cli/hostile_files.py is to the command line."""

import gzip
import io
import json
import struct
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

_ROWS = 300  # of a long text: an answer in JSON writes it out for each
COLUMN = 1200  # what a column counts besides its values (kColumnBytes)
# Two numbers of a row that has been decoded: in the table, and in the file in which the rows wait for it.
DECODED = 2 * 16
SHOWN = 2400  # what it takes besides to describe a column in the answer

CSV, JSON, ROWS = "text/csv", "application/json", "application/vnd.stope.rows"
ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"


@dataclass
class Body:
    media_type: str
    data: bytes
    needed: int = 0  # bytes that the result needs
    headers: dict = field(default_factory=dict)
    query: str = ""
    kept: str = ""  # a column that predictions bring along


@dataclass
class Case:
    reader: str
    name: str
    make: Callable  # n -> Body
    n: int


CASES = []


def case(reader, n):
    def add(make):
        CASES.append(Case(reader, make.__name__, make, n))
        return make

    return add


def names(n):
    return ["x0", "x1", *(f"c{i}" for i in range(2, n))]


# CSV


@case("csv", 20_000)
def a_header_of_many_columns(n):
    return Body(CSV, (",".join(names(n)) + "\n" + ",".join("1" * n) + "\n").encode(), n * (COLUMN + SHOWN))


@case("csv", 1_000_000)
def blank_lines(n):
    return Body(CSV, b"x0,x1\n" + b"\n" * n)


@case("csv", 4_000_000)
def one_long_field(n):
    return Body(CSV, b"x0,x1\n" + b"1" * n + b",2\n")


@case("csv", 2_000_000)
def a_quote_that_is_never_closed(n):
    return Body(CSV, b'x0,x1\n1,"' + b"2\n" * n)


@case("csv", 1_000_000)
def quotes_within_fields(n):
    return Body(CSV, b'x0,x1\n1,a"b\n' + b'1,""\n' * n, 40 * n)


@case("csv", 300_000)
def different_values(n):
    return Body(CSV, ("x0,x1,c2\n" + "".join(f"1,2,v{i}\n" for i in range(n))).encode(), 250 * n)


@case("csv", 50_000)
def short_records_of_many_columns(n):
    return Body(CSV, (",".join(names(200)) + "\n").encode() + b"1\n" * n, 200 * 8 * n + 200 * SHOWN, query="allow_ragged=true")


@case("gzip", 5_000_000)
def lines_that_expand(n):
    return Body(CSV, gzip.compress(b"x0,x1\n" + b"1,2\n" * n, 9), 24 * n, {"Content-Encoding": "gzip"})


@case("gzip", 100_000)
def empty_members(n):
    return Body(CSV, gzip.compress(b"") * n + gzip.compress(b"x0,x1\n1,2\n"), headers={"Content-Encoding": "gzip"})


@case("zstd", 200_000)
def empty_frames(n):
    import zstandard

    packed = zstandard.ZstdCompressor().compress(b"")
    return Body(CSV, packed * n + zstandard.compress(b"x0,x1\n1,2\n"), headers={"Content-Encoding": "zstd"})


# JSON


@case("json", 20_000)
def a_list_of_many_columns(n):
    return Body(JSON, json.dumps({"columns": names(n), "rows": [[1] * n]}).encode(), n * (COLUMN + SHOWN))


@case("json", 10_000)
def columns_that_are_described(n):
    said = [{"name": name, "type": "nominal", "values": []} for name in names(n)]
    return Body(JSON, json.dumps({"columns": said, "rows": []}).encode(), n * (COLUMN + SHOWN))


@case("json", 25_000)
def many_lists(n):
    return Body(JSON, json.dumps({name: [1] for name in names(n)}).encode(), n * (COLUMN + SHOWN))


@case("json", 20_000)
def a_record_of_many_members(n):
    return Body(JSON, json.dumps([dict.fromkeys(names(n), 1)]).encode(), n * (COLUMN + SHOWN))


@case("json", 300_000)
def rows_of_nothing(n):
    return Body(JSON, b'{"columns":["x0","x1"],"rows":[' + b",".join([b"[]"] * n) + b"]}")


@case("json", 300_000)
def short_rows(n):
    return Body(JSON, b'{"columns":["x0","x1"],"rows":[' + b",".join([b"[1,2]"] * n) + b"]}", 24 * n)


@case("json", 500_000)
def deep_lists(n):
    return Body(JSON, b'{"columns":["x0","x1"],"rows":' + b"[" * n)


@case("json", 4_000_000)
def blanks(n):
    return Body(JSON, b'{"columns":["x0","x1"],' + b" " * n + b'"rows":[[1,2]]}')


@case("json", 4_000_000)
def one_long_text(n):
    return Body(JSON, b'{"columns":["x0","x1"],"rows":[[1,"' + b"x" * n + b'"]]}', n)


@case("json", 1_000_000)
def one_text_of_escapes(n):
    return Body(JSON, b'{"columns":["x0","x1"],"rows":[[1,"' + rb"\u0100" * n + b'"]]}', 2 * n)


@case("json", 1_000_000)
def one_row_of_many_values(n):
    return Body(JSON, b'{"columns":["x0","x1"],"rows":[[' + b",".join([b"1.5"] * n) + b"]]}")


@case("json", 1_000_000)
def one_long_number(n):
    return Body(JSON, b'{"columns":["x0","x1"],"rows":[[1,0.' + b"1" * n + b"]]}")


@case("json", 200_000)
def different_names(n):
    rows = ",".join(f'[1,2,"v{i}"]' for i in range(n))
    return Body(JSON, f'{{"columns":["x0","x1","c2"],"rows":[{rows}]}}'.encode(), 300 * n)


# Rows


def rows_of(columns, values, **more):
    head = {"columns": columns, **more}
    return json.dumps(head).encode() + b"\n" + values


@case("rows", 20_000)
def a_first_line_of_many_columns(n):
    said = [{"name": name} for name in names(n)]
    return Body(ROWS, rows_of(said, np.ones(n).tobytes(), rows=1), n * (COLUMN + SHOWN))


@case("rows", 300_000)
def a_first_line_of_many_values(n):
    said = [{"name": "x0"}, {"name": "x1"}, {"name": "c", "type": "nominal", "values": [f"v{i}" for i in range(n)]}]
    return Body(ROWS, rows_of(said, b"", rows=0), 250 * n)


@case("rows", 100_000)
def a_first_line_of_many_options(n):
    said = [{"name": "x0"}, {"name": "x1"}]
    return Body(ROWS, rows_of(said, b"", rows=0, options={f"o{i}": [1] for i in range(n)}))


@case("rows", 30_000)
def blocks_of_one_row(n):
    block = struct.pack("<Q", 1) + np.array([1.0, 2.0]).tobytes()
    said = [{"name": "x0"}, {"name": "x1"}]
    return Body(ROWS, rows_of(said, block * n + struct.pack("<Q", 0), order="columns"), 40 * n)


@case("rows", 16_000)
def blocks_of_one_row_of_many_columns(n):
    block = struct.pack("<Q", 1) + np.ones(200).tobytes()
    said = [{"name": name} for name in names(200)]
    return Body(ROWS, rows_of(said, block * n + struct.pack("<Q", 0), order="columns"), 200 * (20 * n + COLUMN + SHOWN))


# Arrow


def arrow(table, rows_of_a_batch=None, **options):
    import pyarrow

    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows_of_a_batch)
    return sink.getvalue()


@case("arrow", 30_000)
def a_schema_of_many_columns(n):
    import pyarrow

    table = pyarrow.table({name: pyarrow.array([1.0]) for name in names(n)})
    return Body(ARROW, arrow(table), n * (COLUMN + SHOWN))


@case("arrow", 4000)
def batches_of_one_row(n):
    import pyarrow

    return Body(ARROW, arrow(pyarrow.table({"x0": np.ones(n), "x1": np.ones(n)}), 1), 2000 * n)


@case("arrow", 2000)
def a_large_dictionary_before_small_batches(n):
    import pyarrow

    values = pyarrow.array([f"v{i}" for i in range(20 * n)])
    codes = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.arange(n, dtype=np.int32)), values)
    table = pyarrow.table({"x0": np.ones(n), "x1": np.ones(n), "c2": codes})
    return Body(ARROW, arrow(table, 1), 4000 * n, kept="c2")


@case("arrow", 1000)
def dictionaries_that_change_beside_a_large_one(n):
    import pyarrow

    large = pyarrow.array([f"v{i}" for i in range(40 * n)])
    sink, zero = io.BytesIO(), pyarrow.array([0], pyarrow.int32())
    schema = pyarrow.schema([("x0", pyarrow.float64()), ("x1", pyarrow.float64()), ("c2", pyarrow.dictionary("int32", "string")),
                             ("c3", pyarrow.dictionary("int32", "string"))])
    with pyarrow.ipc.new_stream(sink, schema) as writer:
        for i in range(n):
            columns = [pyarrow.array([1.0]), pyarrow.array([2.0]), pyarrow.DictionaryArray.from_arrays(zero, large),
                       pyarrow.DictionaryArray.from_arrays(zero, pyarrow.array([f"w{i}"]))]
            writer.write_batch(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
    return Body(ARROW, sink.getvalue(), 4000 * n, kept="c2")


@case("arrow", 270)  # nearly as many as are taken; twice as many are refused
def a_dictionary_that_grows_by_one_value(n):
    import pyarrow

    values = [f"v{i}" for i in range(41 * n)]
    schema = pyarrow.schema([("x0", pyarrow.float64()), ("x1", pyarrow.float64()), ("c2", pyarrow.dictionary("int32", "string"))])
    options, sink = pyarrow.ipc.IpcWriteOptions(emit_dictionary_deltas=True), io.BytesIO()
    with pyarrow.ipc.new_stream(sink, schema, options=options) as writer:
        for i in range(n):
            codes = pyarrow.array([40 * n + i], pyarrow.int32())
            coded = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(values[: 40 * n + i + 1]))
            writer.write_batch(pyarrow.RecordBatch.from_arrays([pyarrow.array([1.0]), pyarrow.array([2.0]), coded], schema=schema))
    return Body(ARROW, sink.getvalue(), 4000 * n, kept="c2")


@case("arrow", 1_000_000)
def one_text_for_all_rows(n):
    import pyarrow

    values = pyarrow.array(["x" * n])
    codes = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(_ROWS, np.int32)), values)
    table = pyarrow.table({"x0": np.ones(_ROWS), "x1": np.ones(_ROWS), "c2": codes})
    return Body(ARROW, arrow(table), 4 * n, kept="c2")


@case("arrow", 5_000_000)
def zeros_that_expand(n):
    import pyarrow

    table = pyarrow.table({"x0": np.zeros(n), "x1": np.zeros(n)})
    return Body(ARROW, arrow(table, 1 << 18, compression="zstd"), DECODED * n)


# Parquet


def parquet(table, **how):
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, sink := io.BytesIO(), **how)
    return sink.getvalue()


@case("parquet", 3000)
def a_footer_of_many_columns(n):
    import pyarrow

    table = pyarrow.table({name: pyarrow.array([1.0]) for name in names(n)})
    return Body(PARQUET, parquet(table, use_dictionary=False), n * (COLUMN + SHOWN))


@case("parquet", 3000)
def row_groups_of_one_row(n):
    import pyarrow

    return Body(PARQUET, parquet(pyarrow.table({"x0": np.ones(n), "x1": np.ones(n)}), row_group_size=1), 2000 * n)


@case("parquet", 1_000_000)
def one_text_of_all_rows(n):
    import pyarrow

    codes = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(_ROWS, np.int32)), pyarrow.array(["x" * n]))
    table = pyarrow.table({"x0": np.ones(_ROWS), "x1": np.ones(_ROWS), "c2": codes})
    return Body(PARQUET, parquet(table), 4 * n, kept="c2")


@case("parquet", 5_000_000)
def runs_that_expand(n):
    import pyarrow

    table = pyarrow.table({"x0": np.zeros(n), "x1": np.zeros(n)})
    return Body(PARQUET, parquet(table, compression="zstd"), DECODED * n)
