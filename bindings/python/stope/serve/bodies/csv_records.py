"""Where the records of CSV end, so that a body can be read in blocks. The rules are those of docs/formats/csv.md."""

import re

import numpy as np

from ..problems import Problem

__all__ = ["RECORD_BYTES", "Records", "ends_of_records"]

RECORD_BYTES = 64 << 20  # of one record; a quote that is never closed would else gather the whole body
_LF, _CR, _QUOTE = 10, 13, 34


class Records:
    """Collects bytes, and gives them back in blocks of whole records.

    Parameters
    ----------
    max_rows, max_bytes : int
        A block has at most so many records, and no record beyond the first that passes so many bytes.
    """

    def __init__(self, max_rows, max_bytes):
        self._max_rows, self._max_bytes = max_rows, max_bytes
        self._buffer, self._wanted = bytearray(), max_bytes
        self.separator, self.comment = b",", b""

    def add(self, data) -> None:
        self._buffer += data

    @property
    def is_ready(self):
        """Whether there may be a block. After a failure the buffer doubles first, so that each byte is seen twice."""
        return len(self._buffer) >= self._wanted

    @property
    def n_lines(self):
        """Line ends in the buffer, those within quotes too: no fewer than its records."""
        return self._buffer.count(b"\n") + self._buffer.count(b"\r")

    def all(self) -> bytes:
        """Return everything that is in the buffer."""
        return bytes(self._buffer)

    def head(self, n_records) -> bytes:
        """Return the first records, which stay in the buffer."""
        ends = ends_of_records(self._buffer, self.separator, n_records, self.comment)
        return bytes(self._buffer[: ends[-1]]) if len(ends) else bytes(self._buffer)

    def take(self, last=False) -> bytes:
        """Return the next block: b"" where no record is whole, or nothing is left. ``last``: the body has ended."""
        ends = ends_of_records(self._buffer, self.separator, self._max_rows, self.comment)
        if len(ends) == self._max_rows or (len(ends) and not last):
            end = int(ends[-1])
        elif last:
            end = len(self._buffer)
        else:
            end = 0
        self._wanted = self._max_bytes if end else 2 * len(self._buffer)
        if len(self._buffer) - end > RECORD_BYTES:
            raise Problem(
                422, "malformed-csv", f"A record has more than {RECORD_BYTES} bytes; perhaps a quote is never closed."
            )
        block = bytes(self._buffer[:end])
        del self._buffer[:end]
        return block


def ends_of_records(data, separator, most, comment=b""):
    """Return where records end, at most so many; data behind the last line end is no whole record."""
    if b'"' not in data:
        return _line_ends(data, None)[:most]
    if not (comment and comment in data):
        ends = _ends_by_parity(data, separator, most)
        if ends is not None:
            return ends
    return _ends_by_grammar(bytes(data), separator, most, comment)


def _line_ends(data, outside):
    bytes_ = np.frombuffer(data, np.uint8)
    is_end = bytes_ == _LF
    if b"\r" in data:  # CR ends a record where no LF follows; at the very end nobody knows yet
        alone = bytes_ == _CR
        alone[:-1] &= bytes_[1:] != _LF
        alone[-1:] = False
        is_end |= alone
    if outside is not None:
        is_end &= outside
    return np.flatnonzero(is_end) + 1


def _ends_by_parity(data, separator, most):
    """The ends where every quote opens or closes a field, which counting quotes tells; None where one stands within."""
    bytes_ = np.frombuffer(data, np.uint8)
    is_quote = bytes_ == _QUOTE
    opening = np.flatnonzero(is_quote)[::2]
    before = bytes_[opening[opening > 0] - 1]
    # A quote behind a closing one is a quote within quotes, which parity passes over.
    allowed = np.frombuffer(separator + b'\n\r"', np.uint8)
    if not np.isin(before, allowed).all():
        return None
    outside = np.bitwise_xor.accumulate(is_quote.view(np.uint8)) == 0
    return _line_ends(data, outside)[:most]


def _ends_by_grammar(data, separator, most, comment):
    opening = re.compile(b"[" + b" \t".replace(separator, b"") + b']*"')
    stop = re.compile(b"[\r\n" + re.escape(separator) + b"]")
    ends, at, at_start = [], 0, True
    while len(ends) < most:
        if at_start and comment and data.startswith(comment, at):
            found = re.compile(b"[\r\n]").search(data, at)
        else:
            field = opening.match(data, at)
            at = _behind_quotes(data, field.end()) if field else at
            found = stop.search(data, at) if at >= 0 else None
        if found is None:
            break
        at, at_start = found.end(), found.group() in (b"\r", b"\n")
        if found.group() == b"\r":
            if at == len(data):
                break
            at += data.startswith(b"\n", at)
        if at_start:
            ends.append(at)
    return np.array(ends, np.int64)


def _behind_quotes(data, at):
    """Where a quoted field ends whose text begins at a place; -1 where its quote is not closed."""
    while True:
        at = data.find(b'"', at)
        if at < 0:
            return -1
        if not data.startswith(b'"', at + 1):
            return at + 1
        at += 2
