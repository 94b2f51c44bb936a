"""Parquet and Arrow files that are cut off, damaged, encrypted or made to fill the memory: each is refused in one line."""

import base64
import os
import random

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from program import run
from test_columnar import FILES, ipc, parquet, table  # noqa: F401  (table is a fixture)

pytestmark = pytest.mark.skipif(not FILES["available"], reason=FILES["reason"])


def refused(path, *options, codes=(3, 4, 5)):
    done = run("stats", path, *options, code=None)
    assert done.code in codes, (done.code, done.err)
    assert len(done.error_lines()) == 1 and len(done.err.strip().splitlines()) == 1, done.err
    return done.err


def test_parquet_that_is_cut_off_anywhere_is_refused(tmp_path, table):
    content = parquet(table.slice(0, 300))
    for share in [0.0, 0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999]:
        (tmp_path / "t.parquet").write_bytes(content[:int(len(content) * share)])
        refused(tmp_path / "t.parquet")
    (tmp_path / "t.parquet").write_bytes(content[:-1])
    assert "is not a whole Parquet file" in refused(tmp_path / "t.parquet")


def test_arrow_that_is_cut_off_anywhere_is_refused(tmp_path, table):
    for open_writer in [pa.ipc.new_file, pa.ipc.new_stream]:
        content = ipc(table.slice(0, 300), open_writer)
        for share in [0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95]:
            (tmp_path / "t.arrow").write_bytes(content[:int(len(content) * share)])
            refused(tmp_path / "t.arrow")


def damaged(content, rng):
    """The content with a few bytes changed, more often near its end, where the lists are."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(content)) if rng.random() < 0.5 else len(content) - 1 - rng.randrange(min(len(content), 2000))
        content[at] = rng.choice([0, 255, content[at] ^ (1 << rng.randrange(8)), rng.randrange(256)])
    return bytes(content)


@pytest.mark.parametrize("kind", ["parquet", "parquet delta", "arrow", "arrow zstd", "arrows"])
def test_damaged_bytes_never_end_the_program(tmp_path, table, kind):
    small = table.slice(0, 200)
    content = {
        "parquet": lambda: parquet(small),
        "parquet delta": lambda: parquet(small, **{"use_dictionary": False, "data_page_version": "2.0"}),
        "arrow": lambda: ipc(small, pa.ipc.new_file),
        "arrow zstd": lambda: ipc(small, pa.ipc.new_file, options=pa.ipc.IpcWriteOptions(compression="zstd")),
        "arrows": lambda: ipc(small, pa.ipc.new_stream),
    }[kind]()
    path = tmp_path / ("t." + kind.split()[0])
    rng = random.Random(int(os.environ.get("STOPE_SEED", "25")))
    for round in range(30):
        path.write_bytes(damaged(content, rng))
        done = run("info", path, "--memory-limit", "1GB", code=None, timeout=60)
        assert done.code in (0, 3, 4, 5), (round, done.code, done.err)
        assert done.code == 0 or len(done.error_lines()) == 1, (round, done.err)


def declaring(content, n_rows, wanted):
    """A Parquet file whose footer says that there are so many rows, where it said `n_rows` before."""
    def field(n):  # an i64 behind the field before it, as Thrift's compact protocol writes it
        n, text = 2 * n, b"\x16"
        while n > 127:
            text, n = text + bytes([n % 128 + 128]), n // 128
        return text + bytes([n])

    length = int.from_bytes(content[-8:-4], "little")
    data, footer = content[:-8 - length], content[-8 - length:-8]
    assert footer.count(field(n_rows)) >= 3  # of the file, the row group, the column
    footer = footer.replace(field(n_rows), field(wanted))
    return data + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize("wanted, message", [(10**9, "which cannot hold them"), (10**6, "its pages hold 10 of its 1000000")])
def test_a_small_file_that_declares_many_rows_is_refused(tmp_path, wanted, message):
    table = pa.table({"x": pa.array([1] * 10, pa.int32())})
    content = parquet(table, compression="none", write_statistics=False, store_schema=False)
    (tmp_path / "t.parquet").write_bytes(declaring(content, 10, wanted))
    assert message in refused(tmp_path / "t.parquet")


def test_a_page_that_expands_a_thousand_times_is_refused(tmp_path):
    table = pa.table({"x": np.zeros(20_000_000)})
    pq.write_table(table, tmp_path / "t.parquet", use_dictionary=False, compression="zstd", data_page_size=1 << 30,
                   max_rows_per_page=20_000_000, row_group_size=20_000_000)
    assert "says that it becomes 160" in refused(tmp_path / "t.parquet")


def test_encrypted_parquet_is_refused_in_words(tmp_path):
    for plain_footer in [False, True]:
        import pyarrow.parquet.encryption as pe

        class Kms(pe.KmsClient):
            def wrap_key(self, key, master):
                return base64.b64encode(key)

            def unwrap_key(self, key, master):
                return base64.b64decode(key)

        factory = pe.CryptoFactory(lambda _: Kms())
        config = pe.EncryptionConfiguration(footer_key="k", column_keys={"k": ["x"]}, plaintext_footer=plain_footer)
        properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
        table = pa.table({"x": [1.0, 2.0]})
        with pq.ParquetWriter(tmp_path / "t.parquet", table.schema, encryption_properties=properties) as writer:
            writer.write_table(table)
        assert "encrypted" in refused(tmp_path / "t.parquet")


def test_two_columns_of_one_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["x", "x"])
    (tmp_path / "t.arrow").write_bytes(ipc(table, pa.ipc.new_file))
    assert "two columns are named 'x'" in refused(tmp_path / "t.arrow")


def test_a_number_beyond_2_to_53_is_refused_with_its_row(tmp_path):
    pq.write_table(pa.table({"x": pa.array([1, 2**53 + 1], pa.int64())}), tmp_path / "t.parquet")
    error = refused(tmp_path / "t.parquet")
    assert "column 'x', row 1: the int64 9007199254740993 is beyond 2^53" in error and "(--ignore x)" in error
