"""Rows of bench/rivals.py: reading CSV and Parquet files from the page cache. Rivals are DuckDB, polars, pandas and
pyarrow. An answer is the number of rows and the sums of the first columns of numbers. stope gives texts codes; rivals
that can are timed in both ways, with texts as they are and with codes for them.
"""
import multiprocessing
import os
import pathlib
import tempfile

import numpy as np

from bench.support.rivals.row import Program, Row, Stope, count, differences, smaller, with_settings

N_SUMMED = 100  # columns
MISSING = ["?", ""]
WIDE = 10_000  # columns from which a record may be longer than the usual buffers
LONGEST = 1 << 28  # bytes that a program then allows for a record
WORDS = [f"value {i}" for i in range(50)]


class File:
    """A file that is there as long as the object. Another process writes it: what that starts does not reach the
    programs."""

    def __init__(self, name, write, *arguments):
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp"))
        self.path = str(pathlib.Path(self.folder.name) / name)
        writer = multiprocessing.get_context("fork").Process(target=write, args=(self.path, *arguments))
        writer.start()
        writer.join()
        if writer.exitcode != 0:
            raise RuntimeError(f"{name} was not written")
        pathlib.Path(self.path).read_bytes()  # fills the page cache


def table(n, n_numbers, n_words, n_texts, missing, dtype):
    """Numbers, with one decimal in a third of the columns; columns of few words, and of texts that hardly repeat."""
    import pyarrow

    g = np.random.default_rng(n + n_numbers)
    columns = {}
    for i in range(n_numbers):
        values = g.normal(size=n) * 100
        values = (np.round(values, 1) if i % 3 == 0 else values).astype(dtype)
        columns[f"x{i}"] = pyarrow.array(values, mask=g.random(n) < missing if missing else None)
    for i in range(n_words):
        codes = pyarrow.array(g.integers(0, len(WORDS), n).astype(np.int32))
        columns[f"d{i}"] = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(WORDS))
    for i in range(n_texts):
        columns[f"t{i}"] = pyarrow.array([f"text {v}" for v in g.integers(0, n, n)])
    return pyarrow.table(columns)


def write_csv(path, *shape):
    import pyarrow.csv

    made = table(*shape)
    for i, field in enumerate(made.schema):
        if field.name[0] == "d":
            made = made.set_column(i, field.name, made.column(i).cast("string"))
    pyarrow.csv.write_csv(made, path)


def write_parquet(path, codec, *shape):
    import pyarrow.parquet

    made = table(*shape)
    dictionaries = [name for name in made.column_names if name[0] == "d"]
    pyarrow.parquet.write_table(made, path, compression=codec, use_dictionary=dictionaries, row_group_size=1 << 20)


class Reader(Program):
    """`job` is the method that runs: "csv" or "parquet". A reader leaves its table in `found`. `coded` are the columns of
    texts that get codes."""

    job, wide, coded, repeated = "csv", False, (), ()

    def run(self):
        self.found = None  # so that there is never memory for two tables
        self.found = getattr(self, self.job)(self.data.path)

    def answer(self):
        import pyarrow
        import pyarrow.compute

        found = self.arrow(pyarrow)
        names = [name for name in found.column_names if name[0] == "x"][:N_SUMMED]
        sums = [pyarrow.compute.sum(found.column(name)).as_py() for name in names]
        return {"rows": np.array([found.num_rows]), "sums": np.array(sums, dtype=np.float64)}

    def arrow(self, pyarrow):
        return pyarrow.table(self.found)


class StopeReader(Reader, Stope):
    def csv(self, path):
        return self.stope.read_table(path)

    parquet = csv


class DuckReader(Reader):
    package = "duckdb"

    def begin(self):
        import duckdb

        self.connection = duckdb.connect(config={"threads": self.threads})

    def csv(self, path):
        longest = f", max_line_size={LONGEST // 8}, buffer_size={LONGEST}" if self.wide else ""
        return self.taken(f"read_csv('{path}', header=true, nullstr={MISSING}{longest})")

    def parquet(self, path):
        return self.taken(f"'{path}'")

    def taken(self, source):
        self.connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT * FROM {source}")
        return self.connection

    def arrow(self, pyarrow):
        return pyarrow.table(self.connection.sql("SELECT * FROM t"))


class PolarsReader(Reader):
    package = "polars"

    def begin(self):
        import polars

        self.polars = polars

    def csv(self, path):
        coded = {name: self.polars.Categorical for name in self.coded}
        return self.polars.read_csv(path, null_values=MISSING, schema_overrides=coded or None)

    def parquet(self, path):
        return self.polars.read_parquet(path)


class PandasReader(Reader):
    package, engine = "pandas", "c"

    def begin(self):
        import pandas
        import pyarrow

        pyarrow.set_cpu_count(self.threads)
        self.pandas = pandas

    def csv(self, path):
        coded = {name: "category" for name in self.coded}
        return self.pandas.read_csv(path, na_values=MISSING, engine=self.engine, dtype=coded or None)

    def parquet(self, path):
        return self.pandas.read_parquet(path)

    def arrow(self, pyarrow):
        return pyarrow.Table.from_pandas(self.found[[name for name in self.found if name[0] == "x"][:N_SUMMED]])


class ArrowReader(Reader):
    package = "pyarrow"

    def begin(self):
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet

        pyarrow.set_cpu_count(self.threads)
        pyarrow.set_io_thread_count(self.threads)
        self.pyarrow = pyarrow

    def csv(self, path):
        csv = self.pyarrow.csv
        read = csv.ReadOptions(block_size=LONGEST) if self.wide else None
        code = self.pyarrow.dictionary(self.pyarrow.int32(), self.pyarrow.string())
        types = {name: code for name in self.coded}
        convert = csv.ConvertOptions(null_values=MISSING, strings_can_be_null=True, column_types=types)
        return csv.read_csv(path, read_options=read, convert_options=convert)

    def parquet(self, path):
        return self.pyarrow.parquet.read_table(path, pre_buffer=True)


def row(kind, n, n_numbers, n_words=0, n_texts=0, missing=0.0, dtype="float64", codec=None):
    d = n_numbers + n_words + n_texts
    programs = {"stope": StopeReader, "DuckDB": DuckReader, "polars": PolarsReader, "pandas": PandasReader, "pyarrow": ArrowReader}
    if kind == "csv" and d < WIDE:  # its records must fit into a block whose size pandas does not pass on
        programs |= with_settings({"pandas, by pyarrow": PandasReader}, engine="pyarrow")
    if kind == "csv" and n_words + n_texts > 0:
        coded = [f"d{i}" for i in range(n_words)] + [f"t{i}" for i in range(n_texts)]
        kinds = {"polars, categories": PolarsReader, "pandas, categories": PandasReader, "pyarrow, dictionaries": ArrowReader}
        programs |= with_settings(kinds, coded=coded)
    shape = (n, n_numbers, n_words, n_texts, missing, dtype)
    made = (lambda: File("t.csv", write_csv, *shape)) if kind == "csv" else (lambda: File("t.parquet", write_parquet, codec, *shape))
    words = (f"{count(n)}x{count(d)}",) + ((f"words{n_words}",) if n_words else ()) + ((f"texts{n_texts}",) if n_texts else ())
    words += ((f"missing{missing:g}",) if missing else ()) + ((dtype, codec) if codec else ())
    facts = {"rows": n, "numbers": n_numbers, "words": n_words, "texts": n_texts, "missing": missing, "dtype": dtype, "codec": codec}
    return Row(kind, words, facts, made, with_settings(programs, job=kind, wide=d >= WIDE), differences, 16 * n * d)


def rows(share):
    shapes = [
        dict(kind="csv", n=500_000, n_numbers=20), dict(kind="csv", n=500_000, n_numbers=12, n_words=8, missing=0.05),
        dict(kind="csv", n=1_000_000, n_numbers=2, n_texts=2), dict(kind="csv", n=30, n_numbers=100_000),
        dict(kind="csv", n=1000, n_numbers=10_000), dict(kind="csv", n=1000, n_numbers=20),
        dict(kind="parquet", n=2_000_000, n_numbers=20, n_words=2, codec="snappy"),
        dict(kind="parquet", n=2_000_000, n_numbers=20, codec="zstd", dtype="float32"),
        dict(kind="parquet", n=2_000_000, n_numbers=4, n_words=10, codec="snappy"),
        dict(kind="parquet", n=200_000, n_numbers=20, codec="none"),
    ]
    return [row(**(shape | {"n": smaller(shape["n"], share), "n_numbers": smaller(shape["n_numbers"], share)})) for shape in shapes]
