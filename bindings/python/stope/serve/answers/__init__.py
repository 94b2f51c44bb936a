"""Tables as responses: in the format that the client accepts, sent block by block while they are computed."""

import zlib

import numpy as np
from starlette.responses import Response

from ... import _core
from ..bodies.byte_stream import in_thread, temporary_file
from ..media import answer_coding, answer_format
from ..row_blocks import BLOCK_ROWS, rows_of
from .arrow import ArrowWriter
from .csv import CsvWriter
from .json import JsonWriter
from .rows import GatheredRows, RowsWriter

__all__ = ["StreamedAnswer", "answer"]

_WRITERS = {"csv": CsvWriter, "json": JsonWriter, "arrow": ArrowWriter, "rows": RowsWriter}
_SMALL_BYTES = 64 << 10  # an answer that is complete and no larger is sent as it is
_PART_CHARACTERS = 4 << 20  # of nominal values that are written at once
_SHORT_ROWS = 256  # of a block that is written at once, since a thread would take longer


async def answer(request, blocks, headers=None, status=200) -> Response:
    """Return a response with rows, in the format that the header Accept prefers.

    Parameters
    ----------
    request : starlette.requests.Request
    blocks : _core.Table, stope.Table, or an asynchronous iterator of _core.Table
        The blocks have the same columns. The first is computed before this returns, so that a failure until then has
        its own status. A later failure ends the body without its end: no client can take it for complete.
    headers : dict, optional
        More headers.
    status : int
        Of a success.

    Raises
    ------
    Problem
        (406) where none of the formats is accepted, and whatever the first block raises.
    """
    form, coding = answer_format(request), answer_coding(request)
    writer = _WRITERS[form.name](form.profile)
    headers = {"Vary": "Accept, Accept-Encoding", "Cache-Control": "no-store", **(headers or {})}
    blocks = getattr(blocks, "_core_table", blocks)
    if isinstance(blocks, _core.Table):
        if blocks.n_rows <= BLOCK_ROWS and len(_parts_of(writer, blocks)) == 1:
            body = (await _written(writer, blocks)) + writer.end()
            return await _whole(body, form, coding, headers, status)
        blocks = _slices(blocks)
    iterator = blocks.__aiter__()
    first = await anext(iterator, None)
    if first is None:
        raise ValueError("an answer has at least one block, though it may have no rows")
    if form.name == "rows" and "keep" in request.query_params and _has_names(first):
        parts = await _gathered(request, first, iterator)
    else:
        first, *more = _parts_of(writer, first)
        parts = _parts(writer, await _written(writer, first), more, iterator)
    return StreamedAnswer(parts, form, coding, headers, status)


async def _written(writer, table):
    if table.n_rows * max(table.n_columns, 1) <= _SHORT_ROWS:
        return writer.block(table)
    return await in_thread(writer.block, table)


def _parts_of(writer, table):
    """The table, or parts of it, so that no part becomes too large: a body of 1 MB may give each of its rows the same
    text of 1 MB, which CSV and JSON write out for each."""
    if not writer.repeats_texts or table.n_rows <= 1:
        return [table]
    lengths = np.zeros(table.n_rows, np.int64)
    for index in range(table.n_columns):
        column = table.column(index)
        if not column.is_nominal:
            continue
        names = column.values.names()
        if max(map(len, names), default=0) * table.n_rows * table.n_columns <= _PART_CHARACTERS:
            continue
        of_names = np.fromiter(map(len, names), np.int64, len(names))
        lengths += np.append(of_names, 0)[np.asarray(column.array())]  # -1, missing, is the last
    ends, total = np.cumsum(lengths), int(lengths.sum())
    if total <= _PART_CHARACTERS:
        return [table]
    firsts = [0]
    while firsts[-1] < table.n_rows:
        before = int(ends[firsts[-1] - 1]) if firsts[-1] else 0
        end = int(np.searchsorted(ends, before + _PART_CHARACTERS, "right"))
        firsts.append(min(max(end, firsts[-1] + 1), table.n_rows))
    return [rows_of(table, first, end) for first, end in zip(firsts, firsts[1:])]


async def _parts(writer, first, more, blocks):
    try:
        yield first
        for table in more:
            yield await _written(writer, table)
        async for table in blocks:
            for part in _parts_of(writer, table):
                yield await _written(writer, part)
        yield writer.end()
    finally:
        close = getattr(blocks, "aclose", None)
        if close is not None:
            await close()


def _has_names(table):
    return any(table.column(index).is_nominal for index in range(table.n_columns))


async def _gathered(request, first, blocks):
    """The parts of an answer with kept columns, whose values nobody knows before the last block."""
    store = getattr(getattr(request.scope.get("app"), "state", None), "store", None)
    rows = GatheredRows(temporary_file(None if store is None else store.spool))
    await in_thread(rows.add, first)
    async for table in blocks:
        await in_thread(rows.add, table)

    async def parts():
        made = rows.parts()
        while (part := await in_thread(next, made, None)) is not None:
            yield part

    return parts()


async def _slices(table):
    for first in range(0, table.n_rows, BLOCK_ROWS):
        yield rows_of(table, first, min(first + BLOCK_ROWS, table.n_rows))


async def _whole(body, form, coding, headers, status):
    if coding != "identity" and len(body) > _SMALL_BYTES:
        packer = _PACKERS[coding]()
        body, headers["Content-Encoding"] = (await in_thread(packer.pack, body)) + packer.finish(), coding
    return Response(body, status, headers, form.media_type)


class StreamedAnswer(Response):
    """A response whose body is still being computed.

    It reads no messages of the request, unlike Starlette's own: the blocks may still come from the request's body.
    """

    def __init__(self, parts, form, coding, headers, status):
        super().__init__(None, status, headers, form.media_type)
        self._parts, self._packer = parts, None
        if coding != "identity":
            self._packer = _PACKERS[coding]()
            self.headers["Content-Encoding"] = coding
        if "content-length" in self.headers:
            del self.headers["content-length"]

    async def __call__(self, scope, receive, send):
        """Send the parts. Each waits until the client has taken most of the one before."""
        try:
            # The first part is there already: the status leaves with it.
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for part in self._parts:
                if self._packer is not None:
                    part = await in_thread(self._packer.pack, part)
                if part:
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            rest = b"" if self._packer is None else self._packer.finish()
            await send({"type": "http.response.body", "body": rest, "more_body": False})
        finally:
            await self._parts.aclose()
        if self.background is not None:
            await self.background()


class _Gzip:
    def __init__(self):
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        self.pack, self.finish = packer.compress, packer.flush


class _Zstd:
    def __init__(self):
        import zstandard

        packer = zstandard.ZstdCompressor(level=1).compressobj()
        self.pack, self.finish = packer.compress, packer.flush


_PACKERS = {"gzip": _Gzip, "zstd": _Zstd}
