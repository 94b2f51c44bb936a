"""Messages of the Arrow IPC format as they come: how long they are, what they are, and what they would expand to.

pyarrow reads streams from files only, so that a slow client would hold a thread. These lines find where a message ends;
pyarrow reads the message. The layout is that of Arrow's Message.fbs: a FlatBuffers table, then a body.
"""

import mmap
import struct

from ..problems import Problem
from .byte_stream import ByteSource, temporary_file

__all__ = ["BATCH", "DICTIONARY", "END", "SCHEMA", "DeltaWork", "Message", "in_groups", "malformed", "messages", "said_by"]

SCHEMA, DICTIONARY, BATCH = 1, 2, 3
END = b"\xff\xff\xff\xff\0\0\0\0"
_MAGIC = b"ARROW1"  # of the file format, which is a stream with a frame around it
_HEAD_BYTES = 256 << 20  # of one message: 1,000,000 columns have 64 MiB
_IN_MEMORY = 32 << 20  # a longer body of one message goes through a file
_TOGETHER = 1 << 20  # bytes of small batches that are read together
_DELTA_FACTOR, _DELTA_SLACK = 4, 1 << 25  # bytes of dictionaries that are joined again, for those of the body
_EXPANDED = 1 << 30  # what the compressed buffers of one message may become


def malformed(detail):
    """Return the refusal of a body that is no Arrow."""
    return Problem(422, "malformed-arrow", detail)


def said_by(error):
    """The first line of another library's error, short enough for a sentence."""
    text = str(error).split("\n")[0]
    return "".join(c if c.isprintable() else "?" for c in text)[:300].rstrip(".") + "."


class Message:
    """One message: its kind, the bytes of its head with their frame, and what is known of its body."""

    def __init__(self, head, frame):
        self.head = frame + head
        try:
            root = _Fields(head, struct.unpack_from("<I", head, 0)[0])
            self.kind = root.number(1, "<B", 0)
            self.body_bytes = root.number(3, "<q", 0)
            table = root.table(2)
            self.dictionary = self.is_delta = None
            self.n_rows = max(table.number(0, "<q", 0), 0) if self.kind == BATCH else 0  # as it says
            if self.kind == DICTIONARY:
                self.dictionary, self.is_delta = table.number(0, "<q", 0), bool(table.number(2, "<B", 0))
                table = table.table(1)
            self._buffers = table.buffers(2) if self.kind in (DICTIONARY, BATCH) and table.has(3) else None
        except (struct.error, IndexError, RecursionError):
            raise malformed("The head of a message is damaged.") from None
        if self.kind not in (SCHEMA, DICTIONARY, BATCH):
            raise malformed("A message is neither a schema nor rows.")
        if self.body_bytes < 0:
            raise malformed("A message has a body of less than no bytes.")

    @property
    def is_compressed(self):
        return self._buffers is not None

    def check_expansion(self, body):
        """Refuse a body whose buffers say that they become too large. Arrow's decoders take no other size than that."""
        total = 0
        for offset, length in self._buffers or ():
            if offset < 0 or length < 0 or offset + length > len(body):
                raise malformed("A buffer lies outside its message.")
            if length >= 8:
                total += max(struct.unpack_from("<q", body, offset)[0], 0)
        if total > _EXPANDED:
            raise Problem(
                413,
                "body-too-large",
                f"A message becomes {total} bytes once it is decompressed; "
                f"{_EXPANDED} is the limit. Send smaller batches.",
                bytes=_EXPANDED,
            )


class _Fields:
    """A table of FlatBuffers. Reading outside the bytes raises struct.error."""

    def __init__(self, data, place):
        self._data, self._place = data, place
        self._names = place - struct.unpack_from("<i", data, place)[0]
        if self._names < 0:
            raise IndexError
        self._end = struct.unpack_from("<H", data, self._names)[0]

    def _at(self, field):
        entry = 4 + 2 * field
        offset = struct.unpack_from("<H", self._data, self._names + entry)[0] if entry < self._end else 0
        return self._place + offset if offset else 0

    def has(self, field):
        return self._at(field) > 0

    def number(self, field, form, default):
        at = self._at(field)
        return struct.unpack_from(form, self._data, at)[0] if at else default

    def _target(self, field):
        at = self._at(field)
        if not at:
            raise IndexError
        return at + struct.unpack_from("<I", self._data, at)[0]

    def table(self, field):
        return _Fields(self._data, self._target(field))

    def buffers(self, field):
        """A vector of pairs (offset, length)."""
        at = self._target(field)
        n = struct.unpack_from("<I", self._data, at)[0]
        if at + 4 + 16 * n > len(self._data):
            raise IndexError
        return list(struct.iter_unpack("<qq", self._data[at + 4 : at + 4 + 16 * n]))


def _cut():
    return malformed("The body ends in the middle of a message.")


async def messages(chunks, folder, limits):
    """Yield (message, body) one after the other. A long body of a batch is mapped from a file without a name."""
    source = ByteSource(chunks, _cut)
    is_file = await source.peek(6) == _MAGIC
    if is_file:
        await source.take(8)
    while True:
        message = await _next_message(source, limits)
        if message is None:
            break
        if message.body_bytes <= _IN_MEMORY or message.kind != BATCH:
            body = await source.take(message.body_bytes) if message.body_bytes else b""
            if body is None:
                raise _cut()
        else:
            with temporary_file(folder) as file:
                await source.into(file, message.body_bytes)
                file.flush()
                body = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        message.check_expansion(body)
        yield message, body
    if await source.rest() and not is_file:
        raise malformed("There is more behind the end of the stream.")


async def in_groups(found, max_rows):
    """Yield lists of (message, body): batches that follow each other come together while they are small, others alone.

    A body of 1 MB may have thousands of batches, and each of them costs its dictionaries and a call of the engine.
    """
    waiting, n_rows, n_bytes = [], 0, 0
    async for message, body in found:
        alone = message.kind != BATCH or len(body) > _TOGETHER
        if waiting and (alone or n_rows + message.n_rows > max_rows):
            yield waiting
            waiting, n_rows, n_bytes = [], 0, 0
        if alone:
            yield [(message, body)]
            continue
        waiting.append((message, body))
        n_rows, n_bytes = n_rows + message.n_rows, n_bytes + len(message.head) + len(body)
        if n_bytes > _TOGETHER:
            yield waiting
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield waiting


class DeltaWork:
    """What dictionaries cost that grow piece by piece: pyarrow joins all pieces for the batch behind each of them.

    A table that is read whole holds all these dictionaries at once.
    """

    def __init__(self):
        self._sizes, self._received, self._again = {}, 0, 0

    def add(self, message):
        """Count a message, and refuse one that makes the work grow far beyond the body."""
        self._received += len(message.head) + message.body_bytes
        if message.kind != DICTIONARY:
            return
        size = self._sizes.get(message.dictionary, 0) if message.is_delta else 0
        self._sizes[message.dictionary] = size + message.body_bytes
        self._again += size
        if self._again > _DELTA_SLACK + _DELTA_FACTOR * self._received:
            raise malformed("A dictionary grows in too many pieces. Send larger batches, or the dictionary as a whole.")


async def _next_message(source, limits):
    first = await source.take(4)
    if first is None:
        return None
    frame = first
    if first == END[:4]:
        first = await source.take(4)
        if first is None:
            raise _cut()
        frame += first
    size = struct.unpack("<i", first)[0]
    if size == 0:
        return None
    if not 0 < size <= _HEAD_BYTES:
        raise malformed("The body is no Arrow stream, or the head of a message is damaged.")
    head = await source.take(size)
    if head is None:
        raise _cut()
    message = Message(head, frame)
    if message.body_bytes > limits.body_bytes:
        raise Problem(
            413,
            "body-too-large",
            f"A message has {message.body_bytes} bytes; {limits.body_bytes} is the limit.",
            bytes=limits.body_bytes,
        )
    return message
