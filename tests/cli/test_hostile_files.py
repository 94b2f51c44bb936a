"""Small files that once took hours or gigabytes: each is refused with the bytes, or read at once. A quadratic reader
would not end before these tests are stopped."""

import gzip
import math

import pytest

from model_bytes import codes, doubles, model_bytes
from measured import measured
from program import run
from test_limits import BEYOND_THE_LIMIT, peak_of
from workbooks import cell, columns_repeated, ods, row

LIMIT = 50_000_000


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text("x0,x1\n1,2\n2,4\n")
    return tmp_path


def components(n_components, n_options=0):
    """A model of principal components of x0 and x1, all the same: the sum of both."""
    nan = math.nan
    kinds = ["explained_variance", "explained_variance_ratio", "singular_value", "noise_variance", "attribute"]
    columns = [codes("kind", [0, 1, 2, 3, 4, 4], kinds), codes("name", [-1, -1, -1, -1, 0, 1], ["x0", "x1"]),
               doubles("mean", [nan, nan, nan, nan, 0, 0]), doubles("scale", [nan, nan, nan, nan, 1, 1])]
    columns += [doubles(f"pc{i + 1}", [1, 0.5, 1, 0, 1, 1]) for i in range(n_components)]
    options = [("missing", "error"), ("whiten", "no"), ("rows", "3")] + [(f"o{i}", "1") for i in range(n_options)]
    return model_bytes("pca", options, [("columns", 0, [doubles("x0", []), doubles("x1", [])]), ("components", 6, columns)])


def test_cuts_of_ten_million_numbers_are_refused(table):
    (table / "cuts.json").write_text('{"x0": [' + ",".join(["1"] * 10_000_000) + "]}")
    peak, text = peak_of(["discretize", "t.csv", "--apply", "cuts.json", "--memory-limit", LIMIT], table, code=4)
    assert "cuts.json: the JSON needs more than" in text
    assert peak < LIMIT + BEYOND_THE_LIMIT


def test_a_schema_that_expands_beyond_the_limit_is_refused(table):
    with gzip.open(table / "schema.json.gz", "wt", compresslevel=1) as file:
        for _ in range(300):
            file.write(" " * 1_000_000)
    peak, text = peak_of(["info", "t.csv", "--schema", "schema.json.gz", "--memory-limit", LIMIT], table, code=4)
    assert "schema.json.gz: expands to more than" in text
    assert peak < LIMIT + BEYOND_THE_LIMIT


@pytest.mark.parametrize("command", [["info", "m.stope"], ["info", "m.stope", "--json"], ["predict", "m.stope", "t.csv"]],
                         ids=" ".join)
def test_a_model_of_very_many_options_is_read_at_once(table, command):
    (table / "m.stope").write_bytes(components(2, n_options=400_000))
    run(*command, cwd=table)


def test_a_model_of_very_many_components_predicts_at_once(table):
    (table / "m.stope").write_bytes(components(200_000))
    lines = run("predict", "m.stope", "t.csv", cwd=table).text.splitlines()
    assert [line.split(",") for line in lines[1:]] == [["3.0"] * 200_000, ["6.0"] * 200_000]


def test_a_tree_of_very_many_classes_predicts_at_once(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},c{i}\n" for i in range(200_000)))
    (tmp_path / "few.csv").write_text("a\n0\n199999\n")
    run("tree", "t.csv", "--target", "y", "--max-depth", "1", "--model-out", "m.stope", "-o", "t.txt", cwd=tmp_path)
    assert run("predict", "m.stope", "few.csv", cwd=tmp_path).text.splitlines()[1] == "0,c0"


def test_a_model_of_a_million_empty_columns_is_refused(tmp_path):
    columns = [doubles(f"c{i}", []) for i in range(1_000_000)]
    (tmp_path / "m.stope").write_bytes(model_bytes("pca", [], [("columns", 0, columns)]))
    peak, text = peak_of(["info", "m.stope", "--memory-limit", LIMIT], tmp_path, code=4)
    assert "m.stope: the model's options, tables and columns need at least" in text
    assert peak < LIMIT + BEYOND_THE_LIMIT


@pytest.mark.parametrize("n_options, n_tables", [(500_000, 0), (0, 500_000)], ids=["options", "tables"])
def test_options_and_tables_of_a_model_count_against_the_limit(tmp_path, n_options, n_tables):
    tables = [("columns", 0, [doubles("x0", [])])] + [(f"t{i}", 0, []) for i in range(n_tables)]
    (tmp_path / "m.stope").write_bytes(model_bytes("pca", [(f"o{i}", "1") for i in range(n_options)], tables))
    peak, text = peak_of(["info", "m.stope", "--memory-limit", LIMIT], tmp_path, code=4)
    assert "m.stope: the model's options, tables and columns need at least" in text and "is needed" not in text
    assert peak < LIMIT + BEYOND_THE_LIMIT


@pytest.mark.parametrize("ends", ["\n", "\r"], ids=["LF", "CR"])
def test_millions_of_blank_lines_before_the_first_record_take_no_memory(tmp_path, ends):
    (tmp_path / "t.csv").write_text(ends * 2_000_000 + ends.join(["a,b", "1,2", ""]), newline="")
    peak, _ = peak_of(["info", "t.csv", "--memory-limit", LIMIT], tmp_path)
    assert peak < LIMIT
    assert run("convert", "t.csv", "-", cwd=tmp_path).text == "a,b\n1,2\n"


@pytest.mark.parametrize("attributes", ["@attribute a {" + ",".join(f"v{i}" for i in range(1_500_000)) + "}\n",
                                        "".join(f"@attribute a{i} real\n" for i in range(300_000))], ids=["values", "attributes"])
def test_the_header_of_an_arff_file_counts_against_the_limit(tmp_path, attributes):
    (tmp_path / "t.arff").write_text(f"@relation x\n{attributes}@data\n")
    peak, text = peak_of(["info", "t.arff", "--memory-limit", "20MB"], tmp_path, code=4)
    assert "t.arff: its attributes and their values need at least" in text and "is needed" not in text
    assert peak < 20_000_000 + BEYOND_THE_LIMIT / 2


def test_what_sparse_rows_leave_out_takes_no_memory(tmp_path):
    attributes = "".join(f"@attribute a{i} real\n" for i in range(5000)) + "@attribute s string\n@attribute n {p,q}\n"
    (tmp_path / "t.arff").write_text(f"@relation x\n{attributes}@data\n" + "{}\n" * 5000 + "{1 7,5000 z,5001 q}\n")
    peak, _ = peak_of(["info", "t.arff"], tmp_path)
    assert peak < 100_000_000
    columns = run("info", "t.arff", "--json", cwd=tmp_path).json()["columns"]
    assert (columns[1]["min"], columns[1]["max"], columns[0]["min"], columns[0]["max"]) == (0, 7, 0, 0)
    assert columns[5000]["missing"] == 5000 and columns[5000]["counts"] == [1]
    assert columns[5001]["missing"] == 0 and columns[5001]["counts"] == [5000, 1]


def test_dictionaries_that_grow_with_every_batch_count_against_the_limit(tmp_path):
    pa = pytest.importorskip("pyarrow")
    n = 9000
    values = pa.array([f"v{i}" for i in range(n)])
    schema = pa.schema([pa.field("a", pa.dictionary(pa.int32(), pa.string()))])
    with pa.ipc.new_stream(tmp_path / "t.arrows", schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as out:
        for i in range(1, n):
            column = pa.DictionaryArray.from_arrays(pa.array([i - 1], pa.int32()), values.slice(0, i))
            out.write_batch(pa.record_batch([column], schema=schema))
    peak, text = peak_of(["info", "t.arrows", "--memory-limit", LIMIT], tmp_path, code=4)
    assert "t.arrows: its batches hold dictionaries of" in text
    assert peak < LIMIT + BEYOND_THE_LIMIT


def test_a_row_that_stands_for_a_sheet_full_of_cells_is_refused_before_one_is_written(tmp_path):
    full = row(cell(1, columns_repeated(16384)), n=1_048_576)
    (tmp_path / "t.ods").write_bytes(ods([("s", "", full)]))
    done = measured(["info", "t.ods", "--memory-limit", "3GB"], tmp_path)
    assert done.code == 4 and "t.ods: its cells need more than" in done.err
    assert done.peak < 100_000_000


def test_a_text_of_endless_blanks_is_refused(tmp_path):
    (tmp_path / "t.ods").write_bytes(ods([("s", "", row(cell('<text:s text:c="900000000"/>')))]))
    done = measured(["info", "t.ods", "--memory-limit", "6GB"], tmp_path)
    assert done.code == 4 and "a text of 900000000 blanks is larger than" in done.err
    assert done.peak < 100_000_000
