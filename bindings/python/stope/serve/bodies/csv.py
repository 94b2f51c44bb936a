"""CSV bodies, read by the engine's own reader, so that types and missing values are what the command line finds."""

import codecs
import os
import re

from ... import _core
from ...errors import InvalidDataError
from ..problems import Problem
from .byte_stream import Kept, in_thread
from .columns import check_columns, check_lengths, check_rows, chosen
from .csv_records import Records

__all__ = ["csv_blocks", "csv_table"]

_BLOCK_BYTES = 4 << 20
_HEAD_RECORDS = 120  # the engine guesses a separator from the first 100 records
_SEPARATORS = (",", ";", "\t", "|")
_ASCII_LIKE = ("utf-8", "utf8", "latin-1", "latin1", "iso-8859-1", "windows-1252", "cp1252")


async def csv_table(chunks, options, folder, limits, run):
    """Return the ``_core.Table`` of a whole body."""
    kept = await Kept.of(chunks, folder)
    path = kept.path()
    table = await in_thread(_read, path, options.for_csv(), run, 0, run=run)
    check_columns(table.n_columns, limits)
    check_lengths(table)
    return table


async def csv_blocks(chunks, features, keep, options, max_rows, limits, new_run):
    """Yield ``_core.Table`` blocks with the features and the kept columns of a body, as its records come."""
    if (options.encoding or "utf-8").lower() not in _ASCII_LIKE:
        chunks, options = _as_utf8(chunks, options)
    blocks = _Blocks(features, keep, options, limits, new_run)
    records = Records(max_rows, _BLOCK_BYTES)
    records.comment = (options.comment or "").encode()
    async for chunk in chunks:
        records.add(chunk)
        while records.is_ready:
            await in_thread(blocks.settle_separator, records)
            block = await in_thread(records.take)
            if not block:
                break
            yield await in_thread(blocks.read, block)
    if not blocks.begun and records.n_lines <= max_rows:  # the body is one block, of which the engine finds everything
        yield await in_thread(blocks.read, records.all())
        return
    await in_thread(blocks.settle_separator, records)
    while True:
        block = await in_thread(records.take, True)
        if not block and blocks.begun:
            return
        yield await in_thread(blocks.read, block)


def _as_utf8(chunks, options):
    """The body as UTF-8, where its encoding has line ends of more than one byte."""
    from dataclasses import replace

    name = options.encoding.lower()
    if name not in ("utf-16", "utf16", "utf-16le", "utf-16be"):
        raise Problem(
            400,
            "invalid-argument",
            f"encoding: {options.encoding!r} is none of utf-8, utf-16, latin-1, windows-1252.",
            option="encoding",
        )

    async def decoded():
        decoder = codecs.getincrementaldecoder({"utf16": "utf-16"}.get(name, name))()
        try:
            async for chunk in chunks:
                yield decoder.decode(chunk).encode()
            yield decoder.decode(b"", True).encode()
        except UnicodeError:
            raise Problem(422, "malformed-csv", "The body is not UTF-16 text.") from None

    return decoded(), replace(options, encoding=None)


class _Blocks:
    """Reads blocks of one body: the first says which columns there are, and all others have the same."""

    def __init__(self, features, keep, options, limits, new_run):
        self._features, self._keep, self._limits, self._new_run = features, keep, limits, new_run
        self._n_rows = 0
        known = {feature.name for feature in features}
        texts = [name for name in keep if name not in known]  # no model says what they are: they come back as spelled
        words = options.for_csv()
        words.update(unknown_columns="skip", first_names=[feature.name for feature in features] + texts)
        words["nominal"] = [feature.name for feature in features if feature.is_nominal] + texts
        words["date"] = [feature.name for feature in features if feature.type == "date"]
        words["numeric"] = [f.name for f in features if not f.is_nominal and f.type != "date"]
        self._words, self._lines, self._settled, self.begun = words, 0, False, False
        self._first = b""  # a record in front of every block but the first

    def settle_separator(self, records):
        """Sees to it that all blocks have the separator that the engine finds in the head of the body."""
        if not self._settled:
            self._settled = True
            separator = self._words.get("separator") or self._found_separator(records)
            self._words["separator"] = separator
            records.separator = separator.encode()

    def _found_separator(self, records):
        """The separator with which the head reads as it does without one."""
        named = re.match(rb"(?:\xef\xbb\xbf)?sep=([,;\t|])[ \t]*[\r\n]", records.head(1))
        if named:
            return named.group(1).decode()
        for separator in _SEPARATORS:
            records.separator = separator.encode()
            head = records.head(_HEAD_RECORDS)
            found = self._outline(head, self._words)
            if found is not None and found == self._outline(head, {**self._words, "separator": separator}):
                return separator
        return ","

    def _outline(self, head, words):
        try:
            table = self._table(head, words, 0)
        except Problem:
            return None
        return [(column.name, column.type) for column in _columns(table)], table.n_rows, table.nbytes

    def read(self, block):
        table = self._table(self._first + block, self._words, self._lines - bool(self._first))
        if not self.begun:
            check_columns(table.n_columns, self._limits)
            check_lengths(table)
            self._begin(table)
        self._n_rows += table.n_rows
        check_rows(self._n_rows, self._limits)
        self._lines += block.count(b"\n") or block.count(b"\r")
        return chosen(table, self._features, self._keep)

    def _begin(self, table):
        """From here on every block has the columns of the first."""
        self.begun = True
        names = [column.name for column in _columns(table)]
        wanted = {feature.name for feature in self._features} | set(self._keep)
        self._words.update(names=names, header="no", ignore=[name for name in names if name not in wanted])
        self._words.pop("first_names")
        self._words.pop("skip_lines", None)
        if self._words.get("allow_ragged"):  # the first record says how many fields there are, and may lack some here
            self._words["header"] = "yes"
            separator = self._words.get("separator", ",")
            self._first = (separator.join(str(number) for number in range(len(names))) + "\n").encode()

    def _table(self, block, words, lines):
        file = os.memfd_create("stope-block")
        try:
            with os.fdopen(file, "wb", closefd=False) as to:
                to.write(block)
            return _read(f"/proc/self/fd/{file}", words, self._new_run(), lines)
        finally:
            os.close(file)


def _columns(table):
    return [table.column(index) for index in range(table.n_columns)]


def _read(path, words, run, lines):
    try:
        return _core.read_table(path, words, run)
    except InvalidDataError as error:
        raise _problem_of(error, path, lines) from None


def _problem_of(error, path, lines):
    """The engine's sentence with the place in the body instead of the place in a file."""
    text = str(error)
    text = text.replace(f"{path}: is ", "the body is ")
    text = re.sub(re.escape(path) + r"(:\d+)*: ", "", text).replace(path, "the body")
    line = None if error.line is None else error.line + lines
    if line is not None:
        text = f"line {line}, column {error.column}: {text}" if error.column is not None else f"line {line}: {text}"
    column = error.feature if error.feature is not None else error.column
    return Problem(422, "malformed-csv", text, line=line, column=column, row=error.row, option=error.option)
