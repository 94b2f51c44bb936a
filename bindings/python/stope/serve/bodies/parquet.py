"""Parquet bodies. The format is read from its end, so the body is kept first; its row groups are then read in turn."""

from ..problems import Problem
from .arrow import Choice, as_met, table_of_batches
from .arrow_messages import said_by
from .byte_stream import Kept, in_thread
from .columns import check_columns, check_rows
from .parquet_pages import check_pages, malformed, row_groups

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
        raise malformed("A page says that it is larger than the server's memory.") from None
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError) as error:
        raise malformed(said_by(error)) from None


def _opened(view, limits):
    """The file, after what it says of its size has been compared with the limits, and the names of columns of texts."""
    pyarrow = _parquet()

    def opened(**how):
        source = pyarrow.BufferReader(pyarrow.py_buffer(view))
        return _guarded(lambda: pyarrow.parquet.ParquetFile(source, pre_buffer=False, **how))

    file = opened()
    facts = file.metadata
    check_columns(facts.num_columns, limits)
    check_rows(facts.num_rows, limits)
    groups = _guarded(lambda: row_groups(view))
    n_bytes = sum(size for size, _ in groups)
    if n_bytes > limits.body_bytes:
        raise Problem(
            413,
            "body-too-large",
            f"The row groups have {n_bytes} bytes once they are decompressed; {limits.body_bytes} is the limit.",
            bytes=limits.body_bytes,
        )
    _guarded(lambda: check_pages(view, groups))
    texts = frozenset(_guarded(lambda: [field.name for field in file.schema_arrow if _is_text(field.type)]))
    # A file of 1 MB may say 65,536 times that a row has the same text of 1 MB, so no text is written out for each row.
    return opened(metadata=facts, read_dictionary=list(texts)), texts


def _is_text(kind):
    pyarrow = _parquet()
    kind = getattr(kind, "storage_type", kind)
    return kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary())


def _batches(file, texts, names, max_rows):
    """Batches one after the other, checked; all columns where ``names`` is None."""
    dotted = names is not None and any("." in name for name in names)  # a dot would name a part of a column
    batches = file.iter_batches(batch_size=max_rows, columns=None if dotted else names, use_threads=False)
    while True:
        batch = _guarded(lambda: next(batches, None))
        if batch is None:
            return
        _guarded(lambda: batch.validate(full=True))
        for place, field in enumerate(batch.schema):
            if field.name in texts:
                batch = batch.set_column(place, field, as_met(batch.column(place)))
        yield batch


async def parquet_table(chunks, options, folder, limits, run):
    """Return the ``_core.Table`` of a whole body."""
    options.refuse_csv_options("Parquet")
    kept = await Kept.of(chunks, folder)

    def read():
        file, texts = _opened(kept.view(), limits)
        return table_of_batches(
            _batches(file, texts, None, _BATCH_ROWS),
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
    file, texts = await in_thread(_opened, kept.view(), limits)
    schema = _guarded(lambda: file.schema_arrow)
    choice = Choice(_guarded(lambda: schema.names), features, keep, limits, "malformed-parquet")
    batches, begun = _batches(file, texts, choice.names, max_rows), False
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
