"""Bodies of requests as tables: whole, and in blocks of rows for a model."""

from ... import _core
from ...table import Table
from ..media import body_format
from ..row_blocks import BLOCK_ROWS
from .arrow import arrow_blocks, arrow_table
from .byte_stream import body_chunks, short_body
from .columns import check_columns, check_rows, with_option_roles
from .csv import csv_blocks, csv_table
from .json import json_blocks, json_table, short_json_table
from .options import Feature, ReadingOptions, features_of
from .parquet import parquet_blocks, parquet_table
from .rows import rows_blocks, rows_table

__all__ = ["BLOCK_ROWS", "Feature", "ReadingOptions", "blocks_of_body", "features_of", "has_body", "table_of_body"]

_TABLES = {"json": json_table, "arrow": arrow_table, "parquet": parquet_table}
_BLOCKS = {"json": json_blocks, "arrow": arrow_blocks, "parquet": parquet_blocks}


def has_body(request) -> bool:
    """Return whether a request has a body, though it may turn out to be empty."""
    headers = request.headers
    return headers.get("content-length", "0").strip() != "0" or "transfer-encoding" in headers


async def table_of_body(request, options, spool, limits, run) -> Table:
    """Return the whole body of a request as a table.

    Parameters
    ----------
    request : starlette.requests.Request
        Its Content-Type names the format, its Content-Encoding a compression.
    options : ReadingOptions
        An option wins over what the body says of itself.
    spool : path
        The folder for bodies of more than 1 MiB. The files in it have no names and go with the table.
    limits : Limits
    run : _core.Run
        It has the threads and the memory limit; cancelling the caller cancels the reading.

    Returns
    -------
    stope.Table

    Raises
    ------
    Problem
        For a body that is malformed, too large, too slow, or of another format.
    """
    form = body_format(request)
    chunks = body_chunks(request, limits)
    if form.name == "csv":
        table = await csv_table(chunks, options.with_type(form), spool, limits, run)
    elif form.name == "rows":
        table = await rows_table(chunks, options, spool, limits, run, request)
    else:
        table = await _TABLES[form.name](chunks, options, spool, limits, run)
    check_columns(table.n_columns, limits)
    check_rows(table.n_rows, limits)
    if form.name == "json":
        table = with_option_roles(table, options)
    return Table(table)


async def blocks_of_body(request, features, spool, limits, *, keep=(), options=ReadingOptions(), max_rows=BLOCK_ROWS):
    """Yield the rows of a request's body as tables for a model, while they come: the memory stays constant.

    Columns are found by name, in any order; other columns are passed over. There is at least one block, perhaps of no
    rows. Values of nominal columns are named in each block's own list: the engine matches them by name.

    Parameters
    ----------
    request : starlette.requests.Request
    features : list of Feature
        The columns that the model needs: ``features_of(model.columns)``.
    spool, limits
        As for :func:`table_of_body`.
    keep : list of str
        More columns to bring along. They come behind the features, with the role "ignore", unless they are features.
    options : ReadingOptions
        How CSV is written; roles and types are those of the model.
    max_rows : int
        Of one block.

    Yields
    ------
    _core.Table

    Raises
    ------
    Problem
        As for :func:`table_of_body`, and for a column that is missing.
    """
    form = body_format(request)
    chunks = None
    if form.name == "json" and not keep:
        short = await short_body(request, limits)
        if short is not None:
            table = short_json_table(short, features, limits)
            if table is not None and table.n_rows <= max_rows:
                yield table
                return
            chunks = _once(short)
    chunks = body_chunks(request, limits) if chunks is None else chunks
    if form.name == "csv":
        blocks = csv_blocks(chunks, features, keep, options.with_type(form), max_rows, limits, _new_run)
    else:
        options.refuse_csv_options(form.name)
        if form.name == "rows":
            blocks = rows_blocks(chunks, features, keep, max_rows, spool, limits, _new_run, request)
        else:
            blocks = _BLOCKS[form.name](chunks, features, keep, max_rows, spool, limits, _new_run)
    async for block in blocks:
        yield block


async def _once(data):
    yield data


def _new_run():
    """A run that reads one block: more threads would not pay, and requests share the machine."""
    return _core.Run(1)
