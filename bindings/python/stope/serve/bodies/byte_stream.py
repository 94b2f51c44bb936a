"""The bytes of a body as they come: within limits of time and size, decompressed, and in a file where they are many."""

import asyncio
import concurrent.futures
import mmap
import os
import sys
import tempfile
import zlib

from starlette.requests import ClientDisconnect

from ..media import body_coding
from ..problems import Problem

__all__ = [
    "MEMORY_BYTES",
    "ByteSource",
    "Kept",
    "body_chunks",
    "in_thread",
    "short_body",
    "temporary_file",
]

MEMORY_BYTES = 1 << 20  # a body beyond it goes through a file
SHORT_BYTES = 64 << 10  # a body that is parsed where it arrives: a thread would take longer
_STEP_BYTES = 1 << 20  # decompressed at once
# A block of zstd takes 4 bytes at least and gives 128 KiB at most, so this slice gives 16 MiB at most.
_ZSTD_SLICE = 512
_ZSTD_WINDOW = 8 << 20  # what RFC 9659 lets a Content-Encoding have

# Reading bodies is short work. Slow clients hold none of these threads: only bytes that are there are read in them.
_threads = concurrent.futures.ThreadPoolExecutor(min(32, (os.cpu_count() or 1) + 4), "stope-body")


async def in_thread(work, *arguments, run=None):
    """Call ``work`` in a thread. Where the caller is cancelled, the engine's job of ``run`` is cancelled, too."""
    future = asyncio.get_running_loop().run_in_executor(_threads, work, *arguments)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if run is not None:
            run.cancel()
        raise


def temporary_file(folder):
    """Return a file without a name in a folder: it is gone with its last user, even after kill -9."""
    return tempfile.TemporaryFile(prefix="body-", dir=folder)


def _too_large(limits, how=""):
    return Problem(
        413, "body-too-large", f"The body has more than {limits.body_bytes} bytes{how}.", bytes=limits.body_bytes
    )


async def body_chunks(request, limits):
    """Yield the bytes of a body, decompressed. A Problem tells of too many, of too slow and of damaged ones."""
    coding = body_coding(request)
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > limits.body_bytes:
        raise _too_large(limits)
    decoder = None if coding == "identity" else _DECODERS[coding]()
    n_in = n_out = 0
    async for chunk in _received(request, limits.idle_seconds):
        n_in += len(chunk)
        if n_in > limits.body_bytes:
            raise _too_large(limits)
        if decoder is None:
            yield chunk
            continue
        for part in decoder.parts(chunk):
            n_out += len(part)
            if n_out > limits.body_bytes:
                raise _too_large(limits, " once it is decompressed")
            yield part
    if decoder is not None:
        decoder.finish()


async def short_body(request, limits):
    """Return the whole body where its declared length is short and it is not compressed; else None: nothing is read."""
    declared = request.headers.get("content-length", "")
    if not (declared.isascii() and declared.isdigit() and len(declared) <= 5 and int(declared) <= SHORT_BYTES):
        return None
    if body_coding(request) != "identity" or int(declared) > limits.body_bytes:
        return None
    stream, parts = request.stream(), []
    try:
        while True:
            parts.append(await _within(limits.idle_seconds, stream))
    except StopAsyncIteration:
        return b"".join(parts)
    except (asyncio.TimeoutError, ClientDisconnect) as error:
        raise _lost(error, limits.idle_seconds) from None


async def _received(request, seconds):
    stream = request.stream()
    try:
        while True:
            chunk = await _within(seconds, stream)
            if chunk:
                yield chunk
    except StopAsyncIteration:
        return
    except (asyncio.TimeoutError, ClientDisconnect) as error:
        raise _lost(error, seconds) from None


def _lost(error, seconds):
    if isinstance(error, ClientDisconnect):
        return Problem(400, "cut-body", "The connection ended before the body did.")
    detail = f"The body sent nothing for {seconds:g} seconds."
    return Problem(408, "slow-body", detail, headers={"Connection": "close"})


if sys.version_info >= (3, 11):

    async def _within(seconds, stream):
        async with asyncio.timeout(seconds):
            return await stream.__anext__()

else:

    async def _within(seconds, stream):
        return await asyncio.wait_for(stream.__anext__(), seconds)


class _Gzip:
    """Members of gzip, one after the other."""

    def __init__(self):
        self._member = zlib.decompressobj(31)
        self._begun = False

    def parts(self, data):
        while data:
            try:
                part = self._member.decompress(data, _STEP_BYTES)
            except zlib.error as error:
                raise Problem(422, "malformed-gzip", f"The body is no sound gzip: {error}.") from None
            self._begun = True
            if part:
                yield part
            if self._member.eof:
                data = self._member.unused_data
                if not data.strip(b"\0"):  # padding
                    data = b""
                self._member, self._begun = zlib.decompressobj(31), False
            else:
                data = self._member.unconsumed_tail

    def finish(self):
        if self._begun:
            raise Problem(422, "malformed-gzip", "The gzip body ends in the middle.")


class _Zstd:
    """Frames of zstd, one after the other."""

    def __init__(self):
        try:
            import zstandard
        except ImportError:
            raise Problem(415, "encoding", "zstd needs the package zstandard on the server; send gzip.") from None
        self._error = zstandard.ZstdError
        self._new = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj
        self._frame, self._begun = self._new(), False

    def parts(self, data):
        for first in range(0, len(data), _ZSTD_SLICE):
            rest = data[first : first + _ZSTD_SLICE]
            while rest:
                try:
                    part = self._frame.decompress(rest)
                except self._error as error:
                    raise Problem(
                        422, "malformed-zstd", f"The body is no sound zstd of windows up to 8 MiB: {error}."
                    ) from None
                self._begun, rest = True, b""
                if part:
                    yield part
                if self._frame.eof:
                    rest = self._frame.unused_data
                    self._frame, self._begun = self._new(), False

    def finish(self):
        if self._begun:
            raise Problem(422, "malformed-zstd", "The zstd body ends in the middle.")


_DECODERS = {"gzip": _Gzip, "zstd": _Zstd}


class Kept:
    """A whole body: in memory up to 1 MiB, else in a file without a name."""

    def __init__(self, folder):
        self._folder = folder
        self._parts, self._file = [], None
        self.size = 0

    @classmethod
    async def of(cls, chunks, folder) -> "Kept":
        """Keep everything that an asynchronous iterator of bytes gives."""
        kept, waiting = cls(folder), 0
        async for chunk in chunks:
            kept._parts.append(chunk)
            kept.size += len(chunk)
            waiting += len(chunk)
            if waiting >= MEMORY_BYTES:
                await in_thread(kept._write)
                waiting = 0
        if kept._file is not None and kept._parts:
            await in_thread(kept._write)
        return kept

    def _write(self):
        if self._file is None:
            self._file = temporary_file(self._folder)
        parts, self._parts = self._parts, []
        for part in parts:
            self._file.write(part)
        self._file.flush()

    def path(self) -> str:
        """Return a path that the engine can open, as long as this object lives."""
        if self._file is None:
            self._file = os.fdopen(os.memfd_create("stope-body"), "w+b")
            self._write()
        return f"/proc/self/fd/{self._file.fileno()}"

    def view(self) -> memoryview:
        """Return the bytes, mapped where they lie in a file. They live as long as the view does."""
        if self._file is None:
            self._parts = [b"".join(self._parts)]
            return memoryview(self._parts[0])
        return memoryview(mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ))


class ByteSource:
    """Takes bytes from chunks, as many as are wanted. ``cut`` makes the refusal of a body that ends too early."""

    def __init__(self, chunks, cut):
        self._chunks, self._buffer, self._cut = chunks.__aiter__(), bytearray(), cut

    async def take(self, n):
        """Return the next n bytes; None where the body has ended, a Problem where it ends in their midst."""
        while len(self._buffer) < n:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                if not self._buffer:
                    return None
                raise self._cut()
            self._buffer += chunk
        taken = bytes(self._buffer[:n])
        del self._buffer[:n]
        return taken

    async def peek(self, n):
        """Return the next n bytes, or as many as there are, which stay where they are."""
        while len(self._buffer) < n:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                break
            self._buffer += chunk
        return bytes(self._buffer[:n])

    async def line(self, most):
        """Return the bytes up to a line end, without it; None where there is none within so many bytes."""
        at = 0
        while (end := self._buffer.find(b"\n", at)) < 0:
            at = len(self._buffer)
            chunk = await anext(self._chunks, None) if at <= most else None
            if chunk is None:
                return None
            self._buffer += chunk
        line = await self.take(end + 1)
        return line[:-1]

    async def some(self, unit, most):
        """Return whole units of bytes, as many as are there, at least one and at most so many; b"" at the end."""
        if len(self._buffer) < unit and len(await self.peek(unit)) < unit:
            if self._buffer:
                raise self._cut()
            return b""
        return await self.take(min(len(self._buffer) // unit, most) * unit)

    async def into(self, file, n):
        """Write the next n bytes into a file."""
        while n:
            part = await self.take(min(n, max(len(self._buffer), 1 << 16)))
            if part is None:
                raise self._cut()
            await in_thread(file.write, part)
            n -= len(part)

    async def rest(self):
        """Pass over everything that is left, and return how much it was."""
        n = len(self._buffer)
        self._buffer.clear()
        async for chunk in self._chunks:
            n += len(chunk)
        return n
