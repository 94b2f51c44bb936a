"""Model files as docs/formats/models.md describes them, for models that no fit would make."""
import lzma
import struct


def crc64(data):
    """CRC-64/XZ, which an .xz file holds between its only block and the index."""
    packed = lzma.compress(data, check=lzma.CHECK_CRC64, preset=0)
    index = (int.from_bytes(packed[-8:-4], "little") + 1) * 4
    return packed[-12 - index - 8 : -12 - index]


def string(text):
    return struct.pack("<I", len(text.encode())) + text.encode()


REAL, NOMINAL, REGULAR, DOUBLES, CODES = 0, 3, 0, 0, 2


def doubles(name, values):
    return name, struct.pack(f"<{len(values)}d", *values), struct.pack("<BBB", REAL, REGULAR, DOUBLES), ()


def codes(name, values, names):
    return name, struct.pack(f"<{len(values)}i", *values), struct.pack("<BBB", NOMINAL, REGULAR, CODES), names


def model_bytes(kind, options, tables):
    """A table is its name, its number of rows, and columns as doubles() and codes() make them."""
    out = bytearray(b"\x89STOPE\r\n" + struct.pack("<IIq", 1, 0, 0) + string(kind))
    out += struct.pack("<Q", len(options)) + b"".join(string(n) + string(v) for n, v in options)
    out += struct.pack("<Q", len(tables))
    for name, n_rows, columns in tables:
        out += string(name) + struct.pack("<qQ", n_rows, len(columns))
        for column_name, values, types, names in columns:
            out += string(column_name) + types + struct.pack("<Q", len(names))
            out += b"".join(string(n) for n in names)
            out += bytes(-len(out) % 8) + values
    out[16:24] = struct.pack("<q", len(out) + 8)
    return bytes(out) + crc64(bytes(out))
