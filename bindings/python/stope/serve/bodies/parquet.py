"""Parquet bodies. The format is read from its end, so the body is kept first; its row groups are then read in turn."""

from ..problems import Problem
from .arrow import Choice, table_of_batches
from .arrow_messages import said_by
from .byte_stream import Kept, in_thread
from .columns import check_columns, check_rows

__all__ = ["parquet_blocks", "parquet_table"]

_BATCH_ROWS = 65536


def _parquet():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise Problem(415, "media-type", "Parquet needs the package pyarrow on the server; send CSV or JSON.") from None
    return pyarrow


def _guarded(work):
    """What the work returns; a Problem for whatever pyarrow finds wrong with the bytes."""
    pyarrow = _parquet()
    try:
        return work()
    except pyarrow.ArrowMemoryError:
        raise Problem(422, "malformed-parquet", "A page says that it is larger than the server's memory.") from None
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError) as error:
        raise Problem(422, "malformed-parquet", said_by(error)) from None


def _opened(view, limits):
    """The file, after what it says of its size has been compared with the limits."""
    pyarrow = _parquet()
    file = _guarded(
        lambda: pyarrow.parquet.ParquetFile(pyarrow.BufferReader(pyarrow.py_buffer(view)), pre_buffer=False)
    )
    facts = file.metadata
    check_columns(facts.num_columns, limits)
    check_rows(facts.num_rows, limits)
    n_bytes = sum(facts.row_group(group).total_byte_size for group in range(facts.num_row_groups))
    if n_bytes > limits.body_bytes:
        raise Problem(
            413,
            "body-too-large",
            f"The row groups have {n_bytes} bytes once they are decompressed; {limits.body_bytes} is the limit.",
            bytes=limits.body_bytes,
        )
    return file


def _batches(file, names, max_rows):
    """Batches one after the other, checked; all columns where ``names`` is None."""
    dotted = names is not None and any("." in name for name in names)  # a dot would name a part of a column
    batches = file.iter_batches(batch_size=max_rows, columns=None if dotted else names, use_threads=False)
    while True:
        batch = _guarded(lambda: next(batches, None))
        if batch is None:
            return
        _guarded(lambda: batch.validate(full=True))
        yield batch


async def parquet_table(chunks, options, folder, limits, run):
    """Return the ``_core.Table`` of a whole body."""
    options.refuse_csv_options("Parquet")
    kept = await Kept.of(chunks, folder)

    def read():
        file = _opened(kept.view(), limits)
        return table_of_batches(
            _batches(file, None, _BATCH_ROWS),
            _guarded(lambda: file.schema_arrow),
            options,
            folder,
            limits,
            run,
            decoded=True,
        )

    return await in_thread(read, run=run)


async def parquet_blocks(chunks, features, keep, max_rows, folder, limits, new_run):
    """Yield ``_core.Table`` blocks with the features and the kept columns of a body."""
    kept = await Kept.of(chunks, folder)
    file = await in_thread(_opened, kept.view(), limits)
    schema = _guarded(lambda: file.schema_arrow)
    choice = Choice(_guarded(lambda: schema.names), features, keep, limits, "malformed-parquet")
    batches, begun = _batches(file, choice.names, max_rows), False
    while True:
        batch = await in_thread(next, batches, None)
        if batch is None:
            break
        blocks = choice.tables(batch, max_rows, new_run, "malformed-parquet")
        while True:
            table = await in_thread(next, blocks, None)
            if table is None:
                break
            begun = True
            yield table
    if not begun:
        empty = _parquet().RecordBatch.from_pylist([], schema=schema)
        for table in choice.tables(empty, max_rows, new_run, "malformed-parquet"):
            yield table
