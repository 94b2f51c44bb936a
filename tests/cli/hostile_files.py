"""Makers of small files that ask for much: one function a kind of trouble, each with a size `n`, and the table of all.

A file is small, and what it describes is large or takes long: very many columns, values, options, names, rows that say
nothing, one long text that many rows point at. Each maker writes into a folder and returns the words of a command.
hostile_models.py has the model files."""

import gzip
import zipfile
from dataclasses import dataclass
from typing import Callable

import numpy as np

from workbooks import cell, columns_repeated, ods, row

COLUMN = 1200  # what a column counts against the memory limit besides its values (kColumnBytes)


@dataclass
class Case:
    reader: str  # what reads it: a format, a kind of model, an option
    name: str
    make: Callable  # (folder, n) -> words, or (words, bytes that the result needs)
    n: int


CASES = []


def case(reader, n, name=None):
    def add(make):
        CASES.append(Case(reader, name or make.__name__, make, n))
        return make
    return add


def written(folder, name, data):
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else bytes(data))
    return name


def table(folder):
    return written(folder, "t.csv", "x0,x1\n1,2\n2,4\n")


# CSV

@case("csv", 400_000)
def commas(folder, n):
    return ["info", written(folder, "h.csv", "," * n + "\n")], n * COLUMN


@case("tsv", 400_000)
def tabs(folder, n):
    return ["info", written(folder, "h.tsv", "\t" * n + "\n")], n * COLUMN


@case("csv", 100_000)
def a_header_longer_than_its_records(folder, n):
    return ["info", written(folder, "h.csv", ",".join(f"c{i}" for i in range(n)) + "\n1\n")], n * COLUMN


@case("csv", 1_000_000)
def one_name_again_and_again(folder, n):
    return ["info", written(folder, "h.csv", ",".join(["x", "x_2"] * (n // 2)) + "\n" + ",".join("1" * n) + "\n")], n * COLUMN


@case("csv", 2_000_000)
def quotes(folder, n):
    return ["info", written(folder, "h.csv", '"' * (2 * n + 1))]


@case("csv", 2_000_000)
def blank_lines(folder, n):
    return ["info", written(folder, "h.csv", "\n" * n)]


@case("csv", 4_000_000)
def one_long_field(folder, n):
    return ["info", written(folder, "h.csv", "a\n" + "x" * n + "\n")]


@case("csv", 4_000_000)
def one_long_number(folder, n):
    return ["info", written(folder, "h.csv", "a\n0." + "1" * n + "\n2\n")]


@case("csv", 300_000)
def different_values(folder, n):
    return ["info", written(folder, "h.csv", "a\n" + "".join(f"v{i}\n" for i in range(n)))], n * 100


@case("csv", 2000)
def columns_that_turn_out_to_be_text(folder, n):
    lines = [",".join(f"c{i}" for i in range(n))] + [",".join("1" * n)] * 300
    lines += [",".join("x" if c == r else "1" for c in range(n)) for r in range(0, 400)]
    return ["info", written(folder, "h.csv", "\n".join(lines) + "\n")], n * COLUMN


@case("gz", 5_000_000)
def lines_that_expand(folder, n):
    return ["info", written(folder, "h.csv.gz", gzip.compress(b"a\n" + b"1\n" * n, 9))], n * 12


@case("gz", 200_000)
def empty_members(folder, n):
    return ["info", written(folder, "h.csv.gz", gzip.compress(b"") * n + gzip.compress(b"a\n1\n"))]


@case("csv", 30_000)
def a_report_of_many_columns(folder, n):
    text = ",".join(f"c{i}" for i in range(n)) + "\n" + ",".join("1" * n) + "\n"
    return ["report", written(folder, "h.csv", text), "-o", "o.html"], n * 2 * COLUMN


# ARFF

def attributes(n, type="real"):
    return "@relation x\n" + "".join(f"@attribute a{i} {type}\n" for i in range(n)) + "@data\n"


@case("arff", 100_000)
def many_attributes(folder, n):
    return ["info", written(folder, "h.arff", attributes(n))], n * COLUMN


@case("arff", 300_000)
def many_values(folder, n):
    return ["info", written(folder, "h.arff", "@attribute a {" + ",".join(f"v{i}" for i in range(n)) + "}\n@data\n")], n * 100


@case("arff", 8000)
def sparse_rows_of_zeros(folder, n):
    return ["info", written(folder, "h.arff", attributes(n) + "{}\n" * n)], n * COLUMN


@case("arff", 4000)
def sparse_rows_of_texts(folder, n):
    return ["info", written(folder, "h.arff", attributes(n, "string") + "{}\n" * n)], n * COLUMN + n * n * 4


@case("arff", 20_000)
def rows_shorter_than_the_header(folder, n):
    return ["info", written(folder, "h.arff", attributes(n) + "1\n" * n)]


@case("arff", 40_000)
def names_of_weights_that_are_taken(folder, n):
    names = ["weight"] + [f"weight_{i}" for i in range(2, n + 1)]
    text = "@relation x\n" + "".join(f"@attribute {name} real\n" for name in names) + "@data\n"
    return ["info", written(folder, "h.arff", text + ",".join("1" * n) + ",{2}\n")], n * COLUMN


@case("arff", 1_000_000)
def a_date_format_of_quotes(folder, n):
    return ["info", written(folder, "h.arff", "@attribute a date '" + "yyyy" * (n // 4) + "'\n@data\n1\n")]


@case("arff", 1_000_000)
def an_escaped_text(folder, n):
    return ["info", written(folder, "h.arff", "@attribute a string\n@data\n'" + "\\'" * n + "'\n")]


# Arrays

@case("npy", 1_000_000)
def one_row_of_bytes(folder, n):
    np.save(folder / "h.npy", np.zeros((1, n), np.uint8))
    return ["info", "h.npy"], n * COLUMN


@case("npy", 1)
def a_shape_beyond_the_file(folder, n):
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 10), }" % (n * 10**11)
    head = head.ljust(117) + b"\n"
    return ["info", written(folder, "h.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)]


def vectors(reader, width, suffix):
    @case(reader, 400_000, f"one_row_of_{suffix}")
    def one_row(folder, n):
        return ["info", written(folder, f"h.{suffix}", n.to_bytes(4, "little") + bytes(width * n))], n * COLUMN


vectors("fvecs", 4, "fvecs")
vectors("bvecs", 1, "bvecs")
vectors("ivecs", 4, "ivecs")


@case("raw", 1_000_000)
def one_row_of_raw_bytes(folder, n):
    return ["info", written(folder, "h.raw", bytes(n)), "--n-features", n, "--dtype", "uint8"], n * COLUMN


@case("gram", 1)
def a_matrix_beyond_the_file(folder, n):
    size = (2_000_000_000 * n).to_bytes(4, "little")
    return ["ata", written(folder, "h.gram", size + size + bytes(8)), "-o", "o.gram"]


# Parquet, Arrow

def columnar(folder, name, table, **options):
    import pyarrow as pa
    import pyarrow.parquet as parquet
    if name.endswith(".parquet"):
        parquet.write_table(table, folder / name, **options)
        return name
    stream = name.endswith(".arrows")
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(folder / name, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table)
    return name


@case("parquet", 10_000)
def columns_of_one_byte_in_parquet(folder, n):
    import pyarrow as pa
    made = pa.table({f"c{i}": pa.array([1], pa.int8()) for i in range(n)})
    return ["info", columnar(folder, "h.parquet", made)], n * COLUMN


@case("parquet", 5_000_000)
def rows_that_say_nothing(folder, n):
    import pyarrow as pa
    return ["info", columnar(folder, "h.parquet", pa.table({"a": pa.nulls(n, pa.float64())}))], n * 8


@case("parquet", 60)
def texts_that_are_pieces_of_each_other(folder, n):
    import pyarrow as pa
    made = pa.table({"a": ["x" * 1_000_000 + str(i) for i in range(n)]})
    columnar(folder, "h.parquet", made, compression="zstd", use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
    return ["info", "h.parquet"], 4 * n * 1_000_000  # a value in its batch, its part, its column and its output


@case("parquet", 2000)
def one_long_text_in_many_rows(folder, n):
    import pyarrow as pa
    return ["info", columnar(folder, "h.parquet", pa.table({"a": ["x" * 100_000] * n}))]


@case("arrow", 20_000)
def columns_of_one_byte_in_arrow(folder, n):
    import pyarrow as pa
    made = pa.table({f"c{i}": pa.array([1], pa.int8()) for i in range(n)})
    return ["info", columnar(folder, "h.arrow", made)], n * COLUMN


@case("arrow", 200_000)
def values_in_the_metadata(folder, n):
    import json
    import pyarrow as pa
    field = pa.field("a", pa.dictionary(pa.int32(), pa.string()), metadata={"stope.values": json.dumps([str(i) for i in range(n)])})
    column = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), ["0"])
    return ["info", columnar(folder, "h.arrow", pa.Table.from_arrays([column], schema=pa.schema([field])))], n * 100


@case("arrow", 4_000_000)
def a_buffer_that_expands(folder, n):
    import pyarrow as pa
    return ["info", columnar(folder, "h.arrow", pa.table({"a": np.zeros(n, np.int8)}), compression="zstd")], n * 8


@case("arrow", 5000)
def batches_of_one_row(folder, n):
    import pyarrow as pa
    batch = pa.record_batch({"a": pa.array([1], pa.int8())})
    with pa.ipc.new_stream(folder / "h.arrows", batch.schema) as out:
        for _ in range(n):
            out.write_batch(batch)
    return ["info", "h.arrows"]


# Workbooks

XLSX = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
                   'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
                   'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
                       'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
                       '<sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels":
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>'
        '<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" '
        'Target="sharedStrings.xml"/></Relationships>',
}


def xlsx(folder, rows, texts=""):
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    with zipfile.ZipFile(folder / "h.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in XLSX.items():
            archive.writestr(name, text)
        archive.writestr("xl/sharedStrings.xml", f"<sst {main}>{texts}</sst>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>")
    return ["info", "h.xlsx"]


@case("xlsx", 1)
def the_first_cell_and_the_last(folder, n):
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    return xlsx(folder, cells), 16384 * COLUMN


@case("xlsx", 20_000_000)
def a_text_that_expands(folder, n):
    return xlsx(folder, '<row r="1"><c r="A1" t="s"><v>0</v></c></row>', f"<si><t>{'x' * n}</t></si>"), 8 * n  # as unpacked, cell, field, value


@case("xlsx", 1000)
def one_long_text_in_many_cells(folder, n):
    rows = "".join(f'<row r="{i + 1}"><c r="A{i + 1}" t="s"><v>0</v></c></row>' for i in range(n))
    return xlsx(folder, rows, f"<si><t>{'x' * 100_000}</t></si>"), 2 * n * 100_000


@case("ods", 1000)
def cells_that_repeat(folder, n):
    repeated = row(cell(1, columns_repeated(1000)), n=n)
    return ["info", written(folder, "h.ods", ods([("s", "", repeated)]))], 40 * 1000 * n


# JSON

@case("cuts", 2_000_000)
def short_numbers(folder, n):
    text = '{"x0": [' + ",".join(["1"] * n) + "]}"
    return ["discretize", table(folder), "--apply", written(folder, "h.json", text), "-o", "o.csv"], 8 * n


@case("cuts", 700_000)
def lists_within_a_list(folder, n):
    text = '{"x0": [' + ",".join(["[]"] * n) + "]}"
    return ["discretize", table(folder), "--apply", written(folder, "h.json", text), "-o", "o.csv"]


@case("cuts", 250_000)
def attributes_without_cuts(folder, n):
    text = "{" + ",".join(f'"{i}":[]' for i in range(n)) + "}"
    return ["discretize", table(folder), "--apply", written(folder, "h.json", text), "-o", "o.csv"], 200 * n


@case("cuts", 300_000)
def short_values(folder, n):
    text = '{"x0": [' + ",".join(f'"{i}"' for i in range(n)) + "]}"
    return ["discretize", table(folder), "--apply", written(folder, "h.json", text), "-o", "o.csv"], 100 * n


@case("schema", 2_000_000)
def numbers_for_columns(folder, n):
    return ["info", table(folder), "--schema", written(folder, "h.json", '{"columns": [' + ",".join(["0"] * n) + "]}")], 120 * n


@case("schema", 60_000)
def columns_of_a_schema(folder, n):
    text = '{"columns": [' + ",".join(f'{{"name":"c{i}","type":"real"}}' for i in range(n)) + "]}"
    return ["info", table(folder), "--schema", written(folder, "h.json", text)], 200 * n


@case("schema", 250_000)
def members_that_mean_nothing(folder, n):
    text = "{" + ",".join(f'"k{i}":0' for i in range(n)) + "}"
    return ["info", table(folder), "--schema", written(folder, "h.json", text)]


@case("schema", 2_000_000)
def brackets(folder, n):
    return ["info", table(folder), "--schema", written(folder, "h.json", "[" * n)]


# Tables of other jobs

@case("--feature-weights", 200_000)
def weights_of_features_that_are_not_there(folder, n):
    text = "name,weight\n" + "".join(f"f{i},1\n" for i in range(n))
    return ["knn", table(folder), "t.csv", "-k", 1, "--feature-weights", written(folder, "w.csv", text), "-o", "o.csv"], 200 * n


@case("pca --apply", 20_000)
def components_of_another_table(folder, n):
    head = "kind,name,mean,scale," + ",".join(f"pc{i + 1}" for i in range(n))
    kinds = ["explained_variance,,,", "explained_variance_ratio,,,", "singular_value,,,", "noise_variance,,,"]
    lines = [kind + ",1" * n for kind in kinds] + ["attribute,x0,0,1" + ",1" * n]
    text = "\n".join([head, *lines]) + "\n"
    return ["pca", table(folder), "--apply", written(folder, "c.csv", text), "-o", "o.csv"], n * COLUMN


@case("lsq --apply", 100_000)
def coefficients_of_another_table(folder, n):
    text = "kind,name,coefficient,mean\nintercept,,1,\n" + "".join(f"attribute,f{i},1,0\n" for i in range(n))
    return ["lsq", table(folder), "--apply", written(folder, "c.csv", text), "-o", "o.csv"], 300 * n
