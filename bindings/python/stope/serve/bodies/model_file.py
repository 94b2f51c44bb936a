"""A model file that a client sends."""

from pathlib import Path

from ..problems import Problem
from .byte_stream import body_chunks, in_thread

__all__ = ["file_of_body"]

_WRITTEN_AT_ONCE = 1 << 20
_ROOM_EVERY = 64 << 20  # bytes between two looks at the room


async def file_of_body(request, path: Path, limits, require_room) -> None:
    """Write a body into a new file. ``require_room(n_bytes)`` raises a Problem where it becomes too large."""
    kind = request.headers.get("content-type", "application/octet-stream").split(";")[0].strip().lower()
    if kind not in ("application/octet-stream", ""):
        raise Problem(415, "media-type", "the body is a model file: its Content-Type is application/octet-stream")
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit():
        require_room(int(declared[:20]))
    with open(path, "xb", buffering=0) as file:
        parts, waiting, written, looked = [], 0, 0, 0
        async for chunk in body_chunks(request, limits):
            parts.append(chunk)
            waiting += len(chunk)
            if waiting < _WRITTEN_AT_ONCE:
                continue
            if written - looked >= _ROOM_EVERY:
                require_room(written + waiting)
                looked = written
            await in_thread(_write, file, b"".join(parts))
            parts, waiting, written = [], 0, written + waiting
        await in_thread(_write, file, b"".join(parts))


def _write(file, data):
    view = memoryview(data)
    while view:
        view = view[file.write(view):]
