"""Parquet and Arrow IPC: tables that pandas, polars, DuckDB and pyarrow write are read as their CSV is, what stope
writes they read, and damaged files are refused in one line."""

import io
import json
import random
import signal
import subprocess
import time

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from program import PROGRAM, SHARED, environment, run

FILES = json.loads(run("device", "--json").text)["files"]
pytestmark = pytest.mark.skipif(not FILES["available"], reason=FILES["reason"])


def csv_of(path, *options):
    return run("convert", path, "-", "--output-format", "csv", *options).text


def adult():
    """A real table: numbers, texts, missing values."""
    names = [f"a{i}" for i in range(14)] + ["income"]
    return pandas.read_csv(SHARED / "data/mixed/adult-train.csv", header=None, names=names, skipinitialspace=True,
                           na_values="?", nrows=2000)


def same(got, wanted):
    """Compares texts of many lines, and names the first that differs."""
    if got != wanted:
        pairs = zip(got.splitlines(), wanted.splitlines())
        different = next(((i, a, b) for i, (a, b) in enumerate(pairs) if a != b), "one is longer")
        pytest.fail(f"the texts differ: {different}")


@pytest.fixture(scope="module")
def table():
    frame = adult()
    frame["ratio"] = frame["a12"] / 7
    frame.loc[5:9, "ratio"] = np.nan
    texts = frame.select_dtypes(exclude="number").columns
    return pa.Table.from_pandas(frame.astype({name: "object" for name in texts}), preserve_index=False)


@pytest.fixture(scope="module")
def expected(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("expected") / "t.csv"
    table.to_pandas().to_csv(path, index=False)
    return csv_of(path)


def ipc(table, open_writer, **how):
    out = io.BytesIO()
    with open_writer(out, table.schema, **how) as writer:
        writer.write_table(table)
    return out.getvalue()


def parquet(table, **how):
    out = io.BytesIO()
    pq.write_table(table, out, **how)
    return out.getvalue()


def by_duckdb(table, path, options):
    connection = duckdb.connect()
    connection.register("t", table)
    connection.sql(f"COPY t TO '{path}' (FORMAT parquet{options})")


def numbers_of(table):
    return [field.name for field in table.schema if pa.types.is_floating(field.type) or pa.types.is_integer(field.type)]


def texts_of(table):
    return [field.name for field in table.schema if field.name not in numbers_of(table)]


WRITERS = {
    "pyarrow": lambda t, path: pq.write_table(t, path),
    "pages of version 2": lambda t, path: pq.write_table(t, path, data_page_version="2.0"),
    "no dictionaries": lambda t, path: pq.write_table(t, path, use_dictionary=False),
    "no compression": lambda t, path: pq.write_table(t, path, compression="none"),
    "zstd": lambda t, path: pq.write_table(t, path, compression="zstd"),
    "gzip": lambda t, path: pq.write_table(t, path, compression="gzip"),
    "brotli": lambda t, path: pq.write_table(t, path, compression="brotli"),
    "lz4": lambda t, path: pq.write_table(t, path, compression="lz4"),
    "many row groups": lambda t, path: pq.write_table(t, path, row_group_size=97),
    "small pages": lambda t, path: pq.write_table(t, path, data_page_size=512),
    "a dictionary that overflows": lambda t, path: pq.write_table(t, path, dictionary_pagesize_limit=64),
    "byte stream split": lambda t, path: pq.write_table(
        t, path, use_dictionary=False, column_encoding={n: "BYTE_STREAM_SPLIT" for n in numbers_of(t)}),
    "delta numbers": lambda t, path: pq.write_table(
        t, path, use_dictionary=False,
        column_encoding={f.name: "DELTA_BINARY_PACKED" for f in t.schema if pa.types.is_integer(f.type)}),
    "delta texts": lambda t, path: pq.write_table(
        t, path, use_dictionary=False,
        column_encoding={n: "DELTA_BYTE_ARRAY" for n in texts_of(t)}),
    "delta lengths": lambda t, path: pq.write_table(
        t, path, use_dictionary=False,
        column_encoding={n: "DELTA_LENGTH_BYTE_ARRAY" for n in texts_of(t)}),
    "no schema of Arrow": lambda t, path: pq.write_table(t, path, store_schema=False),
    "pandas": lambda t, path: t.to_pandas().to_parquet(path),
    "polars": lambda t, path: polars.from_arrow(t).write_parquet(path),
    "polars, snappy": lambda t, path: polars.from_arrow(t).write_parquet(path, compression="snappy", row_group_size=500),
    "DuckDB": lambda t, path: by_duckdb(t, path, ""),
    "DuckDB, zstd": lambda t, path: by_duckdb(t, path, ", COMPRESSION zstd, ROW_GROUP_SIZE 2048"),
    "DuckDB, version 2": lambda t, path: by_duckdb(t, path, ", PARQUET_VERSION v2"),
}

ARROW_WRITERS = {
    "a file": lambda t: ipc(t, pa.ipc.new_file),
    "a stream": lambda t: ipc(t, pa.ipc.new_stream),
    "many batches": lambda t: ipc(pa.Table.from_batches(t.to_batches(max_chunksize=333)), pa.ipc.new_file),
    "lz4": lambda t: ipc(t, pa.ipc.new_file, options=pa.ipc.IpcWriteOptions(compression="lz4")),
    "zstd, many batches": lambda t: ipc(pa.Table.from_batches(t.to_batches(max_chunksize=333)), pa.ipc.new_file,
                                        options=pa.ipc.IpcWriteOptions(compression="zstd")),
    "zstd stream": lambda t: ipc(t, pa.ipc.new_stream, options=pa.ipc.IpcWriteOptions(compression="zstd")),
    "polars": lambda t: polars.from_arrow(t).write_ipc(None).getvalue(),
    "polars, old strings": lambda t: polars.from_arrow(t).write_ipc(None, compat_level=polars.CompatLevel.oldest()).getvalue(),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_parquet_of_other_programs_is_read_as_its_csv(table, expected, tmp_path, writer):
    path = tmp_path / "t.parquet"
    WRITERS[writer](table, path)
    same(csv_of(path), expected)
    same(csv_of(path, "--threads", "1"), expected)


@pytest.mark.parametrize("writer", ARROW_WRITERS)
def test_arrow_of_other_programs_is_read_as_its_csv(table, expected, tmp_path, writer):
    content = ARROW_WRITERS[writer](table)
    (tmp_path / "t.arrow").write_bytes(content)
    same(csv_of(tmp_path / "t.arrow"), expected)
    piped = run("convert", "-", "-", "--output-format", "csv", stdin=content).text
    same(piped, expected)


def test_parquet_comes_through_a_pipe(table, expected):
    same(run("convert", "-", "-", "--output-format", "csv", stdin=parquet(table)).text, expected)


def test_pandas_feather_is_read(table, expected, tmp_path):
    pyarrow.feather.write_feather(table, str(tmp_path / "t.feather"))
    same(csv_of(tmp_path / "t.feather"), expected)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "feather", "parquet.zst"])
def test_what_stope_writes_it_reads_back(table, expected, tmp_path, suffix):
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / f"t.{suffix}"
    run("convert", tmp_path / "t.csv", path)
    same(csv_of(path), expected)


def test_others_read_what_stope_writes(table, tmp_path):
    frame = table.to_pandas()
    frame.to_csv(tmp_path / "t.csv", index=False)
    run("convert", tmp_path / "t.csv", tmp_path / "t.parquet")
    run("convert", tmp_path / "t.csv", tmp_path / "t.arrow")
    path = str(tmp_path / "t.parquet")
    readers = [pq.read_table(path).to_pandas(), polars.read_parquet(path).to_pandas(), duckdb.sql(f"FROM '{path}'").df(),
               polars.read_ipc(tmp_path / "t.arrow").to_pandas(),
               pyarrow.feather.read_table(str(tmp_path / "t.arrow")).to_pandas()]
    for read in readers:
        assert list(read.columns) == list(frame.columns)
        for name in frame.columns:
            ours, theirs = read[name], frame[name]
            if name in numbers_of(table):
                assert np.array_equal(ours.to_numpy(dtype=float), theirs.to_numpy(dtype=float), equal_nan=True), name
            else:
                assert [x if isinstance(x, str) else None for x in ours] == [
                    x if isinstance(x, str) else None for x in theirs], name


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows"])
def test_others_read_a_nominal_column_without_any_value(tmp_path, suffix):
    (tmp_path / "t.arff").write_text("@relation t\n@attribute x numeric\n@attribute c {a,b}\n@attribute e {}\n@data\n1,?,?\n2,b,?\n")
    path = tmp_path / f"t.{suffix}"
    run("convert", tmp_path / "t.arff", path)
    if suffix == "parquet":
        read = [polars.read_parquet(path), pq.read_table(path), duckdb.sql(f"FROM '{path}'").pl()]
    elif suffix == "arrow":
        read = [polars.read_ipc(path), pyarrow.feather.read_table(str(path))]
    else:
        read = [polars.read_ipc_stream(path), pa.ipc.open_stream(path.read_bytes()).read_all()]
    for frame in read:
        assert list(frame["c"].to_pylist() if isinstance(frame, pa.Table) else frame["c"].cast(str)) == [None, "b"]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_roles_types_and_value_lists_come_back(tmp_path, suffix):
    (tmp_path / "t.arff").write_text(
        "@relation t\n@attribute n numeric\n@attribute i integer\n@attribute c {never,z,a,\"q\\\"q\"}\n"
        "@attribute b {yes,no}\n@attribute d date yyyy-MM-dd\n@data\n"
        "1.5,1,a,no,2024-02-29\n?,2,z,?,?\n-0.0,?,?,yes,1960-01-01\n")
    run("convert", tmp_path / "t.arff", tmp_path / f"t.{suffix}", "--target", "c", "--id", "i")
    before = run("info", tmp_path / "t.arff", "--json", "--target", "c", "--id", "i").json()
    after = run("info", tmp_path / f"t.{suffix}", "--json").json()
    assert after["columns"] == before["columns"]
    run("convert", tmp_path / "t.arff", tmp_path / "a.arff", "--target", "c", "--id", "i")
    run("convert", tmp_path / f"t.{suffix}", tmp_path / "b.arff")
    strip = lambda path: path.read_text().split("\n", 1)[1]  # the relation's name is the file's
    same(strip(tmp_path / "a.arff"), strip(tmp_path / "b.arff"))


def test_every_type_becomes_what_the_documents_say(tmp_path):
    import datetime
    import decimal

    day = datetime.date(2024, 2, 29)
    table = pa.table({
        "i8": pa.array([1, None, -3], pa.int8()), "u8": pa.array([1, None, 255], pa.uint8()),
        "i64": pa.array([1, None, 2**53], pa.int64()), "u64": pa.array([1, None, 2**53], pa.uint64()),
        "f16": pa.array(np.array([1, np.nan, 0.5], np.float16)), "f32": pa.array([1, None, 0.5], pa.float32()),
        "bool": [True, None, False], "null": pa.nulls(3),
        "dec": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.50")], pa.decimal128(9, 2)),
        "date": pa.array([day, None, day], pa.date32()),
        "ms": pa.array([datetime.datetime(2024, 2, 29, 12), None, None], pa.timestamp("ms")),
        "ns": pa.array([datetime.datetime(2024, 2, 29, 12), None, None], pa.timestamp("ns", "UTC")),
        "large": pa.array(["x", None, ""], pa.large_string()), "view": pa.array(["x", None, "y"], pa.string_view()),
        "cat": pa.array(["b", None, "a"]).dictionary_encode(),
    })
    (tmp_path / "t.arrow").write_bytes(ipc(table, pa.ipc.new_file))
    pq.write_table(table, tmp_path / "t.parquet")
    arrow, from_parquet = csv_of(tmp_path / "t.arrow"), csv_of(tmp_path / "t.parquet")
    same(arrow, from_parquet)
    first = dict(zip(arrow.splitlines()[0].split(","), arrow.splitlines()[1].split(",")))
    assert first["bool"] == "true" and first["dec"] == "1.25" and first["date"] == "2024-02-29"
    types = {c["name"]: c["type"] for c in run("info", tmp_path / "t.parquet", "--json").json()["columns"]}
    assert types["i8"] == types["u64"] == "integer" and types["null"] == "real" and types["ms"] == "date"
    assert types["bool"] == "binominal" and types["large"] == types["view"] == types["cat"] == "polynominal"


def test_instants_of_96_bits_reach_beyond_2262(tmp_path):
    pq.write_table(pa.table({"t": pa.array([0, 253402300799 * 10**3], pa.timestamp("ms"))}), tmp_path / "t.parquet",
                   use_deprecated_int96_timestamps=True)
    assert "9999-12-31" in csv_of(tmp_path / "t.parquet")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_nested_column_is_refused_by_name_and_may_be_ignored(tmp_path, kind):
    table = pa.table({"x": [1.0, 2.0], "list": [[1], [2, 3]], "struct": [{"a": 1}, {"a": 2}]})
    path = tmp_path / f"t.{kind}"
    path.write_bytes(parquet(table) if kind == "parquet" else ipc(table, pa.ipc.new_file))
    done = run("info", path, code=3)
    assert len(done.error_lines()) == 1 and "column 'list'" in done.err and "(--ignore list)" in done.err
    info = run("info", path, "--ignore", "list,struct", "--json").json()
    assert [c["name"] for c in info["columns"]] == ["x"]
    assert run("info", path, "--ignore", "2,3", "--json").json()["columns"] == info["columns"]


@pytest.mark.parametrize("words", [["classify", "--target", "y"], ["knn"], ["regress", "--target", "x"], ["evaluate", "--target", "y"]], ids=" ".join)
def test_results_that_are_no_tables_say_how_they_become_parquet(tmp_path, words):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    tables = ["t.csv"] if words[0] == "evaluate" else ["t.csv", "t.csv"]
    error = run(words[0], *tables, *words[1:], "-o", "out.parquet", cwd=tmp_path, code=2).err
    assert error.count("\n") == 1 and "'out.parquet': this output is no .parquet file; possible are .csv" in error
    assert "'stope convert' makes .parquet of .csv" in error and not (tmp_path / "out.parquet").exists()


def test_ignored_columns_are_not_decoded(tmp_path):
    """The pages of the ignored column are damaged, which nobody may notice."""
    rng = np.random.default_rng(1)
    table = pa.table({"x": np.arange(1000.0), "y": rng.normal(size=1000)})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, use_dictionary=False, compression="snappy")
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    content = bytearray(path.read_bytes())
    content[column.data_page_offset:column.data_page_offset + column.total_compressed_size] = bytes(
        column.total_compressed_size)
    path.write_bytes(content)
    assert len(run("stats", path, code=3).error_lines()) == 1
    assert run("info", path, "--ignore", "y", "--json").json()["rows"] == 1000


SHAPES = {
    "zero rows": pa.table({"x": pa.array([], pa.float64()), "s": pa.array([], pa.string())}),
    "all null": pa.table({"x": pa.nulls(5, pa.float64()), "s": pa.nulls(5, pa.string()), "b": pa.nulls(5, pa.bool_())}),
    "one column": pa.table({"x": [1.0, 2.0]}),
    "5,000 columns": pa.table({f"c{i}": [float(i), -1.0] for i in range(5000)}),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_odd_shapes_are_read(tmp_path, shape, kind):
    table = SHAPES[shape]
    path = tmp_path / f"t.{kind}"
    path.write_bytes(parquet(table) if kind == "parquet" else ipc(table, pa.ipc.new_file))
    info = run("info", path, "--json").json()
    assert info["rows"] == table.num_rows and [c["name"] for c in info["columns"]] == table.column_names


def test_empty_row_groups_between_others_are_read(tmp_path):
    schema = pa.schema([("x", pa.float64()), ("s", pa.string())])
    with pq.ParquetWriter(tmp_path / "t.parquet", schema) as writer:
        for rows in [2, 0, 3, 0]:
            writer.write_table(pa.table({"x": [float(rows)] * rows, "s": [f"v{rows}"] * rows}, schema=schema))
    assert csv_of(tmp_path / "t.parquet").split() == ["x,s"] + ["2.0,v2"] * 2 + ["3.0,v3"] * 3


@pytest.mark.parametrize("order", ["sorted", "appearance"])
def test_values_come_in_one_order_whatever_the_row_groups(tmp_path, order):
    rng = random.Random(7)
    table = pa.table({"s": [f"v{rng.randrange(40)}" for _ in range(3000)]})
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    wanted = run("convert", tmp_path / "t.csv", tmp_path / "w.arff", "--nominal-order", order)
    header = (tmp_path / "w.arff").read_text().split("\n")[2]
    for group_rows, dictionary in [(3000, True), (100, True), (100, False), (1, True)]:
        pq.write_table(table, tmp_path / "t.parquet", row_group_size=group_rows, use_dictionary=dictionary)
        run("convert", tmp_path / "t.parquet", tmp_path / "g.arff", "--nominal-order", order)
        assert (tmp_path / "g.arff").read_text().split("\n")[2] == header, (group_rows, dictionary, wanted.err)


def test_categories_keep_their_order_and_unused_values(tmp_path):
    frame = pandas.DataFrame({"c": pandas.Categorical(["b", "a", None], categories=["z", "b", "a"])})
    frame.to_parquet(tmp_path / "t.parquet")
    run("convert", tmp_path / "t.parquet", tmp_path / "t.arff")
    assert "{z,b,a}" in (tmp_path / "t.arff").read_text()


def test_a_job_gives_the_same_from_parquet_and_csv(table, tmp_path):
    table.slice(0, 600).to_pandas().to_csv(tmp_path / "t.csv", index=False)
    pq.write_table(table.slice(0, 600), tmp_path / "t.parquet")
    target = "income"
    outs = [run("classify", tmp_path / f"t.{kind}", tmp_path / f"t.{kind}", "--target", target, "--metric", "gower", "-k", "3").out
            for kind in ["csv", "parquet"]]
    mixed = run("classify", tmp_path / "t.parquet", tmp_path / "t.csv", "--target", target, "--metric", "gower", "-k", "3").out
    same(outs[0].decode(), outs[1].decode())
    same(mixed.decode(), outs[1].decode())


# ---- memory, interrupts, the plug-in ----


def test_a_table_beyond_the_limit_goes_to_a_file(tmp_path):
    rng = np.random.default_rng(3)
    table = pa.table({f"c{i}": rng.normal(size=400_000) for i in range(16)})  # 51 MB
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=50_000)
    free = run("stats", tmp_path / "t.parquet", "--json").json()["columns"]
    tight = run("stats", tmp_path / "t.parquet", "--memory-limit", "64MB", "--json").json()["columns"]
    assert free == tight


def test_an_uncompressed_arrow_file_is_mapped_not_copied(tmp_path):
    table = pa.table({f"c{i}": np.arange(1_000_000.0) for i in range(20)})  # 160 MB
    path = tmp_path / "t.arrow"
    path.write_bytes(ipc(pa.Table.from_batches(table.combine_chunks().to_batches()), pa.ipc.new_file))
    # Nothing of 160 MB fits into the limit but a mapping, and no temporary file can be made.
    done = run("info", path, "--memory-limit", "32MB", "--json", env={"TMPDIR": str(tmp_path / "nowhere")})
    assert done.json()["rows"] == 1_000_000


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_writer_that_is_killed_leaves_the_old_file(tmp_path, suffix):
    rng = np.random.default_rng(4)
    pq.write_table(pa.table({f"c{i}": rng.normal(size=300_000) for i in range(20)}), tmp_path / "in.parquet")
    path = tmp_path / f"out.{suffix}"
    for delay in [0.05, 0.15, 0.3, 0.5]:
        path.write_bytes(b"old")
        child = subprocess.Popen([PROGRAM, "convert", tmp_path / "in.parquet", path], env=environment(),
                                 stderr=subprocess.DEVNULL)
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        if path.read_bytes() != b"old":
            assert run("info", path, "--json").json()["rows"] == 300_000


def test_an_interrupt_stops_the_reader_and_leaves_nothing(tmp_path):
    rng = np.random.default_rng(5)
    pq.write_table(pa.table({f"c{i}": rng.normal(size=1_000_000) for i in range(10)}), tmp_path / "t.parquet",
                   use_dictionary=False)
    child = subprocess.Popen([PROGRAM, "convert", tmp_path / "t.parquet", tmp_path / "out.csv"], env=environment(),
                             stderr=subprocess.PIPE)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    assert child.returncode in (0, 130) and ((tmp_path / "out.csv").exists() == (child.returncode == 0))


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF nonsense"])
def test_without_the_plug_in_the_format_is_named(tmp_path, table, content):
    (tmp_path / "t.parquet").write_bytes(parquet(table.slice(0, 5)))
    plugin = tmp_path / "libstope_files.so"
    if content is not None:
        plugin.write_bytes(content)
    env = {"STOPE_FILES_PLUGIN": str(plugin)}
    done = run("info", tmp_path / "t.parquet", code=3, env=env)
    assert len(done.error_lines()) == 1 and "is a Parquet file" in done.err and "duckdb" in done.err
    assert not run("device", "--json", env=env).json()["files"]["available"]
    assert "files      no: " in run("--version", env=env).text
    done = run("convert", SHARED / "data/mixed/titanic.csv", tmp_path / "out.parquet", code=3, env=env)
    assert len(done.error_lines()) == 1 and not (tmp_path / "out.parquet").exists()


def test_a_name_that_hides_the_format_is_told(tmp_path, table):
    (tmp_path / "t.csv").write_bytes(parquet(table.slice(0, 5)))
    assert "is a Parquet file" in run("info", tmp_path / "t.csv", code=3).err
    (tmp_path / "t").write_bytes(parquet(table.slice(0, 5)))
    assert run("info", tmp_path / "t", "--json").json()["rows"] == 5
    (tmp_path / "t.parquet").write_text("x,y\n1,2\n3,4\n5,6\n")
    assert "is not a Parquet file" in run("info", tmp_path / "t.parquet", code=3).err


def test_generated_tables_are_written_in_parts(tmp_path):
    for suffix in ["parquet", "arrow", "csv"]:
        run("gen", "mixed", "60", "50000", "--seed", "3", "-o", tmp_path / f"t.{suffix}")
    from_parquet = csv_of(tmp_path / "t.parquet")
    same(from_parquet, csv_of(tmp_path / "t.arrow"))
    assert from_parquet.count("\n") == (tmp_path / "t.csv").read_text().count("\n")


@pytest.mark.parametrize("suffix", ["arrow", "arrows", "parquet"])
def test_tens_of_thousands_of_columns(tmp_path, suffix):
    """All of them, most of them and few of them: a table of so many columns is read as a whole, then cut."""
    names = [f"c{i}" for i in range(40_000)]
    rows = [",".join(str((i * 7 + r) % 1000) for i in range(40_000)) for r in range(2)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    run("convert", tmp_path / "t.csv", tmp_path / f"t.{suffix}")
    for options in ([], ["--ignore", "c5,c39998"], ["--select", "c7,c39999"]):
        found = run("convert", tmp_path / f"t.{suffix}", "-", "--format", "csv", *options).text
        assert found == run("convert", tmp_path / "t.csv", "-", *options).text
