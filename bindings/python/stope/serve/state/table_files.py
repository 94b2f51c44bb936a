"""A table as an Arrow file that is mapped: its numbers are never copied.

The file is plain Arrow IPC, so other programs read it. Two things are this server's own. Missing numbers are NaN without
a bitmap, so that a column is the engine's layout. Dates are float64 with their type in the metadata, so that they come
back as the same doubles.
"""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from stope import _core

__all__ = ["map_table", "missing_in", "write_table"]

_FORMAT = b"1"
_CHUNK = 1 << 20  # values whose missing ones are counted at once


def missing_in(column: "_core.Column") -> int:
    """How many values a column lacks, within little memory."""
    values = column.array()
    lacks = (lambda part: part < 0) if column.is_nominal else np.isnan
    return sum(int(np.count_nonzero(lacks(values[at:at + _CHUNK]))) for at in range(0, len(values), _CHUNK))


def _numbers(column, n_rows):
    values = column.array()
    kind = pa.float32() if values.dtype == np.float32 else pa.float64()
    return pa.Array.from_buffers(kind, n_rows, [None, pa.py_buffer(values)], null_count=0)


def _codes(column, n_rows, n_missing):
    codes = column.array()
    present = None
    if n_missing:
        present = pa.py_buffer(np.packbits(codes >= 0, bitorder="little"))
    indices = pa.Array.from_buffers(pa.int32(), n_rows, [present, pa.py_buffer(codes)], null_count=n_missing)
    return pa.DictionaryArray.from_arrays(indices, pa.array(column.values.names(), pa.large_string()), safe=False)


def _batch(table):
    arrays, fields = [], []
    for index in range(table.n_columns):
        column = table.column(index)
        n_missing = missing_in(column)
        array = _codes(column, table.n_rows, n_missing) if column.is_nominal else _numbers(column, table.n_rows)
        facts = {"stope.type": column.type, "stope.role": column.role, "stope.missing": str(n_missing)}
        arrays.append(array)
        fields.append(pa.field(column.name, array.type, nullable=True, metadata=facts))
    schema = pa.schema(fields, metadata={"stope.format": _FORMAT, "stope.rows": str(table.n_rows)})
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def write_table(table: "_core.Table", path: Path) -> None:
    """Write a table into a new file. An OSError says that the disk is full."""
    batch = _batch(table)
    with open(path, "xb", buffering=0) as file:
        with pa.ipc.new_file(pa.PythonFile(file, "w"), batch.schema) as writer:
            writer.write_batch(batch)


def map_table(handle: int) -> tuple:
    """Map the file of a descriptor, which is closed, and return (_core.Table, missing values of each column, bytes).

    The bytes are those that the table holds in memory of its own, not in the map. An ArrowInvalid, ValueError or
    KeyError means that the file is none that :func:`write_table` has written.
    """
    try:
        # Closed below, it gives up its descriptor and keeps the map: Python's mmap would hold one for each open table.
        with pa.memory_map(f"/proc/self/fd/{handle}") as file:
            reader = pa.ipc.open_file(file)
            facts = reader.schema.metadata or {}
            if facts.get(b"stope.format") != _FORMAT or reader.num_record_batches != 1:
                raise ValueError("it is no table of this server")
            n_rows, batch = int(facts[b"stope.rows"]), reader.get_batch(0)
    finally:
        os.close(handle)
    columns, missing, n_bytes = [], [], 4096
    run = _core.Run(1)
    for field, array in zip(batch.schema, batch.columns):
        about = {key.decode(): value.decode() for key, value in field.metadata.items()}
        column, of_values = _column(field.name, array, about["stope.type"], n_rows, run)
        column.role = about["stope.role"]
        columns.append(column)
        missing.append(int(about["stope.missing"]))
        n_bytes += of_values + 512
    return _core.Table.of_columns(columns, n_rows), missing, n_bytes


def _column(name, array, kind, n_rows, run):
    if isinstance(array, pa.DictionaryArray):
        names = array.dictionary.to_pylist()
        codes = _lent(array.indices, np.int32, n_rows)
        values = _core.Values(names)
        return _core.Column.nominal(name, codes, values, kind, True), sum(map(len, names)) + 64 * len(names)
    numbers = _lent(array, array.type.to_pandas_dtype(), n_rows)
    return _core.Column.numeric(name, numbers, kind, True, run), 0


def _lent(array, dtype, n_rows):
    buffer = array.buffers()[1]
    if n_rows == 0 or buffer is None:
        return np.empty(0, dtype)
    return np.frombuffer(buffer, dtype, n_rows)
