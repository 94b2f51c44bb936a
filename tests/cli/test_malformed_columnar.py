"""More than 30 Parquet and Arrow files that contradict themselves, each in another way: one line refuses each of them."""

import gzip
import io
import struct

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from test_columnar import FILES
from test_columnar_damage import refused

pytestmark = pytest.mark.skipif(not FILES["available"], reason=FILES["reason"])

NUMBERS = pa.table({"x": pa.array(range(10), pa.int64())})
WORDS = pa.table({"w": pa.array(["red", "blue", None, "red"] * 25)})


def varint(n, width=0):
    """An unsigned number as Thrift's compact protocol has it, filled up to so many bytes."""
    text = b""
    while n > 127 or len(text) + 1 < width:
        text, n = text + bytes([n % 128 + 128]), n // 128
    return text + bytes([n])


def zigzag(n, width=0):
    return varint(2 * n if n >= 0 else -2 * n - 1, width)


def parquet(table=NUMBERS, **options):
    out = io.BytesIO()
    pq.write_table(table, out, **{"compression": "none", "use_dictionary": False, "write_statistics": False,
                                  "store_schema": False, **options})
    return out.getvalue()


def footer_of(content):
    length = int.from_bytes(content[-8:-4], "little")
    return content[:-8 - length], content[-8 - length:-8]


def with_footer(content, change):
    data, footer = footer_of(content)
    footer = change(footer)
    return data + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def replaced(content, old, new, n=1):
    assert content.count(old) >= 1, (old, content)
    return content.replace(old, new, n)


def header_of_page(content, change):
    """The first page's header, which begins at byte 4, with `change(kind, becomes, bytes)` in place of its numbers."""
    fields, at = [], 4
    for expected in (0x15, 0x15, 0x15):
        assert content[at] == expected
        end = at + 1
        while content[end] > 127:
            end += 1
        n = sum((byte & 127) << (7 * i) for i, byte in enumerate(content[at + 1:end + 1]))
        fields.append((n >> 1) ^ -(n & 1))
        at = end + 1
    widths = [len(zigzag(n)) for n in fields]
    new = b"".join(b"\x15" + zigzag(n, width) for n, width in zip(change(*fields), widths))
    assert len(new) == at - 4, "a longer header would move what the footer points to"
    return content[:4] + new + content[at:]


def lying(codec):
    """A page of zeros whose header declares 2000 bytes, while it unpacks to 80 million."""
    n = 10_000_000
    content = parquet(pa.table({"x": np.zeros(n)}), compression=codec, data_page_size=1 << 30, max_rows_per_page=n,
                      row_group_size=n)
    return header_of_page(content, lambda kind, becomes, size: (kind, 2000, size))


def wrong_text(kind):
    """Two texts, one of which is not UTF-8."""
    offsets, data = np.array([0, 2, 4], np.int32), np.frombuffer(b"ab\xff\xfe", np.uint8)
    return pa.table({"w": pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(offsets), pa.py_buffer(data)])})


def index_outside():
    """A dictionary page of one value, and indices that name a second."""
    content = parquet(pa.table({"w": ["red"] * 5 + ["blue"] * 5}), use_dictionary=True)
    dictionary = content.index(b"\x03\x00\x00\x00red")
    assert content[dictionary + 7:dictionary + 15] == b"\x04\x00\x00\x00blue"
    head = content[:dictionary]
    at = head.rindex(b"\x15\x04\x15\x00")  # two values, plain
    return content[:at] + b"\x15\x02\x15\x00" + content[at + 4:]


def nested(depth):
    """A footer of columns that hold a column each, and nothing else."""
    group = b"\x35\x02\x18\x01a\x15\x02\x00"  # optional, its name, one child
    columns = b"\x48\x01s\x15\x02\x00" + group * depth + b"\x15\x02\x25\x02\x18\x01x\x00"
    footer = b"\x15\x02\x19\xfc" + varint(depth + 2) + columns + b"\x16\x00\x19\x0c\x00"
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


CODEC = b"\x15\x00\x16"  # field of the codec (uncompressed), then the number of values
ROWS = zigzag(10)

PARQUET = {
    "nothing": (lambda: b"", "too short"),
    "magic alone": (lambda: b"PAR1", "too short"),
    "two magics": (lambda: b"PAR1PAR1", "too short"),
    "magic twice and no list": (lambda: b"PAR1" + bytes(4) + b"PAR1", ""),
    "another beginning": (lambda: b"PAR2" + parquet()[4:], "does not begin with PAR1"),
    "another end": (lambda: parquet()[:-4] + b"PAR2", "its end, where its columns are listed, is missing"),
    "a text of commas": (lambda: b"a,b\n1,2\n3,4\n", "does not begin with PAR1"),
    "list longer than the file": (lambda: parquet()[:-8] + struct.pack("<I", 1 << 20) + b"PAR1", ""),
    "list of negative length": (lambda: parquet()[:-8] + b"\xff" * 4 + b"PAR1", ""),
    "list of length 0": (lambda: parquet()[:-8] + bytes(4) + b"PAR1", ""),
    "list of zeros": (lambda: with_footer(parquet(), lambda f: bytes(len(f))), ""),
    "list of ones": (lambda: with_footer(parquet(), lambda f: b"\xff" * len(f)), ""),
    "half a list": (lambda: with_footer(parquet(), lambda f: f[:len(f) // 2]), ""),
    "negative rows": (lambda: with_footer(parquet(), lambda f: f.replace(b"\x16" + ROWS, b"\x16" + zigzag(-10))), "impossible number of rows"),
    "rows that its groups lack": (lambda: with_footer(parquet(), lambda f: replaced(f, b"\x16" + ROWS, b"\x16" + zigzag(11))), "rows"),
    "2^62 rows": (lambda: with_footer(parquet(), lambda f: f.replace(b"\x16" + ROWS, b"\x16" + zigzag(1 << 62))), "rows"),
    "an unknown codec": (lambda: with_footer(parquet(), lambda f: replaced(f, CODEC, b"\x15" + zigzag(60) + b"\x16")), ""),
    "pages behind the end": (lambda: with_footer(parquet(), lambda f: replaced(f, b"\x26\x08", b"\x26" + zigzag(1 << 40), 2)), "outside the file"),
    "pages at a negative place": (lambda: with_footer(parquet(), lambda f: replaced(f, b"\x26\x08", b"\x26" + zigzag(-5), 2)), ""),
    "a page of an unknown kind": (lambda: header_of_page(parquet(), lambda kind, becomes, size: (9, becomes, size)), ""),
    "a page of negative size": (lambda: header_of_page(parquet(), lambda kind, becomes, size: (kind, becomes, -1 - size)), "header of a page is damaged"),
    "a page that becomes less than nothing": (lambda: header_of_page(parquet(), lambda kind, becomes, size: (kind, -becomes, size)), "header of a page is damaged"),
    "a page beyond its column": (lambda: header_of_page(parquet(), lambda kind, becomes, size: (kind, becomes, 8000)), "a page ends behind its column"),
    "a page that grows when unpacked (gzip)": (lambda: lying("gzip"), "a page says that it becomes 2000 bytes"),
    "a page that grows when unpacked (brotli)": (lambda: lying("brotli"), "a page says that it becomes 2000 bytes"),
    "a page that grows when unpacked (zstd)": (lambda: lying("zstd"), ""),
    "a page that grows when unpacked (snappy)": (lambda: lying("snappy"), ""),
    "a page that is not what its codec writes": (lambda: with_footer(parquet(), lambda f: replaced(f, CODEC, b"\x15" + zigzag(6) + b"\x16")), ""),
    "texts that are not UTF-8": (lambda: parquet(wrong_text(pa.string())), ""),
    "an index outside its dictionary": (index_outside, ""),
    "columns nested 65 levels deep": (lambda: nested(64), "nested more than 64 levels deep"),
    "columns nested a million levels deep": (lambda: nested(1_000_000), "nested more than 64 levels deep"),
    "an encrypted list": (lambda: b"PARE" + parquet()[4:-4] + b"PARE", "encrypted"),
    "packed, and cut off inside": (lambda: gzip.compress(parquet()[:-10]), "is not a whole Parquet file"),
}


def arrow(table=NUMBERS, open_writer=pa.ipc.new_file, **options):
    out = io.BytesIO()
    with open_writer(out, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return out.getvalue()


def stream(table=NUMBERS, **options):
    return arrow(table, pa.ipc.new_stream, **options)


def batch_at(content):
    """Where the batch's message, its head and its body begin, and where the body ends."""
    begin = content.index(b"\xff\xff\xff\xff")
    while True:
        length = struct.unpack_from("<i", content, begin + 4)[0]
        body = begin + 8 + length
        message = pa.ipc.read_message(pa.py_buffer(content[begin:]))
        end = body + (message.body.size if message.body is not None else 0)
        if message.type == "record batch":
            return begin, begin + 8, body, end
        begin = end


def in_head(content, old, new):
    _, head, body, _ = batch_at(content)
    assert content[head:body].count(old) >= 1, content[head:body]
    return content[:head] + content[head:body].replace(old, new) + content[body:]


def in_block(content, change):
    """The list of batches at the end, where each has its place, the sizes of its head and of its body."""
    begin, _, body, end = batch_at(content)
    old = struct.pack("<qiiq", begin, body - begin, 0, end - body)
    assert content.count(old) == 1
    return content.replace(old, struct.pack("<qiiq", *change(begin, body - begin, 0, end - body)))


def in_body(content, change):
    _, _, body, end = batch_at(content)
    return content[:body] + change(content[body:end]) + content[end:]


def long_footer(content, length):
    return content[:-10] + struct.pack("<i", length) + b"ARROW1"


def codes_outside():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 7], pa.int32()), ["a", "b"], safe=False)
    return pa.table({"w": column})


def offsets(*numbers):
    data = np.frombuffer(b"redblue", np.uint8)
    buffers = [None, pa.py_buffer(np.array(numbers, np.int32)), pa.py_buffer(data)]
    return pa.table({"w": pa.Array.from_buffers(pa.string(), len(numbers) - 1, buffers)})


def declared(n):
    """A compressed buffer whose first eight bytes say what it becomes."""
    content = arrow(pa.table({"x": np.zeros(1000)}), compression="zstd")
    return in_body(content, lambda body: replaced(body, struct.pack("<q", 8000), struct.pack("<q", n)))


def tensor():
    out = pa.BufferOutputStream()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(np.zeros(3)), out)
    message = out.getvalue().to_pybytes()
    whole = stream()
    begin, _, _, _ = batch_at(whole)
    return whole[:begin] + message


def feather_1():
    out = io.BytesIO()
    pa.feather.write_feather(NUMBERS, out, version=1)
    return out.getvalue()


ARROW = {
    "nothing": (lambda: b"", "does not begin with ARROW1"),
    "magic alone": (lambda: b"ARROW1", "its end, where its batches are listed, is missing"),
    "another beginning": (lambda: b"ARROW2" + arrow()[6:], "does not begin with ARROW1"),
    "another end": (lambda: arrow()[:-1] + b"2", "its end, where its batches are listed, is missing"),
    "list longer than the file": (lambda: long_footer(arrow(), 1 << 30), "longer than the file"),
    "list of negative length": (lambda: long_footer(arrow(), -8), "longer than the file"),
    "list of length 0": (lambda: long_footer(arrow(), 0), "the list of its batches is damaged"),
    "list of zeros": (lambda: arrow()[:-80] + bytes(70) + arrow()[-10:], ""),
    "batch behind the end": (lambda: in_block(arrow(), lambda at, head, pad, body: (1 << 40, head, pad, body)), "outside the file"),
    "batch at a negative place": (lambda: in_block(arrow(), lambda at, head, pad, body: (-8, head, pad, body)), "outside the file"),
    "head of negative size": (lambda: in_block(arrow(), lambda at, head, pad, body: (at, -head, pad, body)), "outside the file"),
    "body beyond the file": (lambda: in_block(arrow(), lambda at, head, pad, body: (at, head, pad, 1 << 50)), "outside the file"),
    "body of negative size": (lambda: in_block(arrow(), lambda at, head, pad, body: (at, head, pad, -1)), "outside the file"),
    "batch that is the schema": (lambda: in_block(arrow(), lambda at, head, pad, body: (8, at - 8, pad, 0)), "is no batch"),
    "negative rows": (lambda: in_head(arrow(), struct.pack("<q", 10), struct.pack("<q", -10)), "negative number of rows"),
    "2^40 rows": (lambda: in_head(arrow(), struct.pack("<q", 10), struct.pack("<q", 1 << 40)), ""),
    "column shorter than its batch": (lambda: in_head(arrow(), struct.pack("<qq", 10, 0), struct.pack("<qq", 9, 0)), ""),
    "more nulls than rows": (lambda: in_head(arrow(), struct.pack("<qq", 10, 0), struct.pack("<qq", 10, 11)), "impossible length"),
    "buffer outside its batch": (lambda: in_head(arrow(), struct.pack("<qq", 0, 80), struct.pack("<qq", 64, 80)), "outside its batch"),
    "buffer of negative size": (lambda: in_head(arrow(), struct.pack("<qq", 0, 80), struct.pack("<qq", 0, -80)), "outside its batch"),
    "buffer too small": (lambda: in_head(arrow(), struct.pack("<qq", 0, 80), struct.pack("<qq", 0, 72)), ""),
    "codes outside their dictionary": (lambda: arrow(codes_outside()), ""),
    "texts that are not UTF-8": (lambda: arrow(wrong_text(pa.string())), ""),
    "texts that end before they begin": (lambda: arrow(offsets(0, 5, 3)), ""),
    "texts beyond their bytes": (lambda: in_body(arrow(offsets(0, 3, 7)), lambda body: replaced(body, struct.pack("<i", 7), struct.pack("<i", 700))), ""),
    "texts at a negative place": (lambda: in_body(arrow(offsets(0, 3, 7)), lambda body: replaced(body, struct.pack("<ii", 0, 3), struct.pack("<ii", -3, 3))), ""),
    "packed buffer of negative size": (lambda: declared(-2), "negative size"),
    "packed buffer that becomes 2^60 bytes": (lambda: declared(1 << 60), "a buffer becomes"),
    "packed buffer that becomes less": (lambda: declared(16), ""),
    "packed buffer that is none": (lambda: in_body(arrow(pa.table({"x": np.zeros(1000)}), compression="zstd"), lambda body: body[:8] + bytes(len(body) - 8)), ""),
    "a tensor": (lambda: tensor(), "a tensor"),
    "a stream whose head is cut off": (lambda: stream()[:40], "cut off"),
    "a stream whose batch is cut off": (lambda: stream()[:-40], "cut off"),
    "a stream whose head has a negative length": (lambda: b"\xff" * 4 + struct.pack("<i", -5) + stream()[8:], "negative length"),
    "a stream whose head has 2 GB": (lambda: b"\xff" * 4 + struct.pack("<i", (1 << 31) - 1) + stream()[8:], ""),
    "a stream without columns at its head": (lambda: stream()[batch_at(stream())[0]:], "does not begin with its columns"),
    "a stream of two schemas": (lambda: stream()[:batch_at(stream())[0]] + stream(), "declared twice"),
    "Feather of version 1": (feather_1, "Feather file of version 1"),
}


@pytest.mark.parametrize("name", PARQUET)
def test_a_malformed_parquet_file_is_refused_in_one_line(tmp_path, name):
    make, message = PARQUET[name]
    (tmp_path / "t.parquet").write_bytes(make())
    assert message in refused(tmp_path / "t.parquet", "--memory-limit", "400MB")


@pytest.mark.parametrize("name", ARROW)
def test_a_malformed_arrow_file_is_refused_in_one_line(tmp_path, name):
    make, message = ARROW[name]
    (tmp_path / "t.arrow").write_bytes(make())
    assert message in refused(tmp_path / "t.arrow", "--memory-limit", "400MB")


def test_columns_nested_less_deeply_are_named(tmp_path):
    (tmp_path / "t.parquet").write_bytes(nested(63))
    assert "column 'a': a table cannot hold the Arrow type struct" in refused(tmp_path / "t.parquet")


def test_there_are_more_than_thirty_of_each():
    assert len(PARQUET) >= 30 and len(ARROW) >= 30
