"""Tables as responses: in the format that the client accepts, sent block by block while they are computed."""

import zlib

from starlette.responses import Response

from .. import _core
from .answer_arrow import ArrowWriter
from .answer_csv import CsvWriter
from .answer_json import JsonWriter
from .answer_rows import RowsWriter
from .body_bytes import in_thread
from .media import answer_coding, answer_format
from .problems import Problem

__all__ = ["StreamedAnswer", "answer"]

_WRITERS = {"csv": CsvWriter, "json": JsonWriter, "arrow": ArrowWriter, "rows": RowsWriter}
_SMALL_BYTES = 64 << 10  # an answer that is complete and no larger is sent as it is
_SHORT_ROWS = 256  # of a block that is written at once, since a thread would take longer
_PART_ROWS = 33_792  # of a whole table


async def answer(request, blocks, headers=None, status=200) -> Response:
    """Return a response with rows, in the format that the header Accept prefers.

    Parameters
    ----------
    request : starlette.requests.Request
    blocks : _core.Table, stope.Table, or an asynchronous iterator of _core.Table
        The blocks have the same columns. The first is computed before this returns, so that a failure until then has its
        own status. A later failure ends the body without its end: no client can take it for complete.
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
        if blocks.n_rows <= _PART_ROWS:
            body = (await _written(writer, blocks)) + writer.end()
            return _whole(body, form, coding, headers, status)
        blocks = _parts_of(blocks)
    iterator = blocks.__aiter__()
    first = await anext(iterator, None)
    if first is None:
        raise ValueError("an answer has at least one block, though it may have no rows")
    return StreamedAnswer(request, writer, await _written(writer, first), iterator, form, coding, headers, status)


async def _written(writer, table):
    if table.n_rows * max(table.n_columns, 1) <= _SHORT_ROWS:
        return writer.block(table)
    return await in_thread(writer.block, table)


async def _parts_of(table):
    for first in range(0, table.n_rows, _PART_ROWS):
        yield await in_thread(table.take, list(range(first, min(first + _PART_ROWS, table.n_rows))))


def _whole(body, form, coding, headers, status):
    if coding != "identity" and len(body) > _SMALL_BYTES:
        packer = _PACKERS[coding]()
        body, headers["Content-Encoding"] = packer.pack(body) + packer.finish(), coding
    return Response(body, status, headers, form.media_type)


class StreamedAnswer(Response):
    """A response whose body is still being computed.

    It reads no messages of the request, unlike Starlette's own: the blocks may still come from the request's body.
    """

    def __init__(self, request, writer, first, blocks, form, coding, headers, status):
        super().__init__(None, status, headers, form.media_type)
        self._writer, self._first, self._blocks = writer, first, blocks
        self._packer = None
        if coding != "identity":
            self._packer = _PACKERS[coding]()
            self.headers["Content-Encoding"] = coding
        if "content-length" in self.headers:
            del self.headers["content-length"]

    async def __call__(self, scope, receive, send):
        """Send the blocks. Each waits until the client has taken most of the one before."""
        try:
            # The status leaves with the first bytes, which are there already.
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await self._send(send, self._first)
            async for table in self._blocks:
                await self._send(send, await _written(self._writer, table))
            data = self._writer.end()
            if self._packer is not None:
                data = self._packer.pack(data) + self._packer.finish()
            await send({"type": "http.response.body", "body": data, "more_body": False})
        finally:
            close = getattr(self._blocks, "aclose", None)
            if close is not None:
                await close()
        if self.background is not None:
            await self.background()

    async def _send(self, send, data):
        if self._packer is not None:
            data = await in_thread(self._packer.pack, data)
        if data:
            await send({"type": "http.response.body", "body": data, "more_body": True})


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
