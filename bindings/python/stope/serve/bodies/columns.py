"""Columns of bodies: limits, choice by name, roles, and columns that come in pieces."""

import os

import numpy as np

from ... import _core
from ..problems import Problem
from .byte_stream import temporary_file

__all__ = [
    "Pieces",
    "Typed",
    "check_columns",
    "check_name",
    "check_rows",
    "chosen",
    "table_of_typed",
    "with_option_roles",
]

_NAME_CHARACTERS = 10_000
_COLUMN_BYTES = 3200  # of a column with its name and its description in an answer, besides its values
_PIECES_IN_MEMORY = 16 << 20  # bytes; beyond it pieces wait in a file, and the columns are mapped


def check_columns(n_columns, limits):
    """Refuse too many columns, also those that a job's memory does not hold, whatever their values take."""
    if n_columns > limits.columns:
        raise Problem(413, "too-many-columns", f"The body has {n_columns} columns; {limits.columns} is the limit.")
    needed = n_columns * _COLUMN_BYTES
    if limits.memory_bytes and needed > limits.memory_bytes:
        detail = f"The body has {n_columns} columns, which need {needed} bytes; the limit of memory is {limits.memory_bytes}."
        raise Problem(507, "out-of-memory", detail, bytes=needed)


def check_rows(n_rows, limits):
    """Refuse too many rows."""
    if n_rows > limits.rows:
        raise Problem(413, "too-many-rows", f"The body has more than {limits.rows} rows, which is the limit.")


def check_name(name, code):
    """Refuse what is no name of a column."""
    if not isinstance(name, str) or not name:
        raise Problem(422, code, "A column's name is a text that is not empty.")
    if len(name) > _NAME_CHARACTERS:
        raise Problem(422, code, f"A column's name has {len(name)} characters; {_NAME_CHARACTERS} is the limit.")
    if "\0" in name or not is_text(name):
        raise Problem(422, code, "A column's name has a NUL or half a surrogate pair.")


def check_lengths(table):
    """Refuse names that are too long, whatever reader they come from."""
    for index in range(table.n_columns):
        check_name(table.column(index).name, "malformed-csv")


def check_names(names, code):
    """Refuse names of columns that are wrong, or that occur twice."""
    for name in names:
        check_name(name, code)
    if len(set(names)) < len(names):
        seen = set()
        twice = next(name for name in names if name in seen or seen.add(name))
        raise Problem(422, "duplicate-column", f"The body has two columns {shown(twice)}.", column=twice)


def is_text(text):
    """Whether a str can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(name):
    """A name within a sentence."""
    text = "".join(c if c.isprintable() else "?" for c in name[:80])
    return f"'{text}'" + ("..." if len(name) > 80 else "")


def missing_column(name):
    """The refusal of a body that lacks a column of the model."""
    return Problem(422, "missing-column", f"The body has no column {shown(name)}, which the model needs.", column=name)


def chosen(table, features, keep):
    """Return a table of the features, as regular columns, and of the other kept columns, as ignored ones."""
    names = [feature.name for feature in features]
    known = set(names)
    columns = []
    for name in names + [name for name in dict.fromkeys(keep) if name not in known]:
        index = table.find(name)
        if index < 0:
            raise missing_column(name)
        column = table.column(index)
        column.role = "regular" if name in known else "ignore"
        columns.append(column)
    return _core.Table.of_columns(columns, table.n_rows)


def index_named(names, word, option):
    """The place of a column that an option names by name, or by number counted from 1."""
    if word in names:
        return names.index(word)
    if word.isascii() and word.isdigit() and len(word) < 10 and 1 <= int(word) <= len(names):
        return int(word) - 1
    raise Problem(
        400, "invalid-argument", f"{option}: the body has no column {shown(word)}.", option=option, column=word
    )


def with_option_roles(table, options, done=()):
    """Return a table whose columns have the roles that the request's options name. ``done``: options that it has."""
    names = [table.column(index).name for index in range(table.n_columns)]
    wanted = [
        ("target", "label", [options.target]),
        ("id", "id", [options.id]),
        ("sample_weight", "weight", [options.sample_weight]),
        ("ignore", "ignore", options.ignore),
    ]
    roles = []
    for option, role, words in wanted:
        for word in words:
            if word is not None and option not in done:
                roles.append((index_named(names, word, option), role))
    if options.select:
        named = {index_named(names, word, "select") for word in options.select} | {index for index, _ in roles}
        left = [index for index in range(len(names)) if index not in named and table.column(index).role == "regular"]
        roles.extend((index, "ignore") for index in left)
    indices = [index for index, _ in roles]
    if len(set(indices)) < len(indices):
        raise Problem(400, "invalid-argument", "One column is named by two of target, id, sample_weight and ignore.")
    given = {role for _, role in roles if role != "ignore"}  # an option wins over what the body says
    before = [(index, "regular") for index in range(len(names)) if table.column(index).role in given]
    return table.with_roles(before + roles) if roles else table


class Typed:
    """One column's name, type, role and, where it is nominal, the values of its codes."""

    def __init__(self, name, type, role="regular", values=None):
        self.name, self.type, self.role, self.values = name, type, role, values

    @property
    def is_nominal(self):
        return self.values is not None

    def column(self, array, run):
        """The engine's column over an array: float64, or int32 codes."""
        if self.is_nominal:
            made = _core.Column.nominal(self.name, array, self.values, self.type, share=True)
        else:
            made = _core.Column.numeric(self.name, array, self.type, share=True, run=run)
        made.role = self.role
        return made


def table_of_typed(columns, arrays, n_rows, run):
    """Return the ``_core.Table`` of typed columns and their arrays, whose memory it shares."""
    return _core.Table.of_columns([column.column(array, run) for column, array in zip(columns, arrays)], n_rows)


class Pieces:
    """Columns that come in pieces. Small ones wait in memory, many in a file, and the result is mapped then."""

    def __init__(self, folder):
        self._folder, self._file, self._end = folder, None, 0
        self._mapped = None
        self._pieces, self._in_memory = [], 0  # rows of pieces: arrays, or (offset, dtype, length) in the file
        self.n_rows = 0

    def add(self, arrays):
        """Add the next rows: an array of float64 or int32 for each column. Its memory is not copied."""
        self._pieces.append(list(arrays))
        self.n_rows += len(arrays[0]) if len(arrays) else 0
        self._in_memory += sum(array.nbytes for array in arrays)
        if self._in_memory > _PIECES_IN_MEMORY:
            self._spill()

    def _spill(self):
        if self._file is None:
            self._file = temporary_file(self._folder)
        for number, row in enumerate(self._pieces):
            self._pieces[number] = [self._moved(piece) for piece in row]
        self._in_memory = 0

    def _moved(self, piece):
        if isinstance(piece, tuple):
            return piece
        self._file.seek(self._end)
        self._file.write(np.ascontiguousarray(piece).data)
        place = (self._end, piece.dtype, len(piece))
        self._end += piece.nbytes
        return place

    def column(self, number, dtype):
        """Return all rows of a column as one array: NaN becomes -1 where codes are wanted. Ask for each column once."""
        if self._file is None:
            parts = [_as(row[number], dtype) for row in self._pieces]
            return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])
        whole = self._place(number, dtype)
        at = 0
        for row in self._pieces:
            part = _as(self._read(row[number]), dtype)
            whole[at : at + len(part)] = part
            at += len(part)
        return whole

    def _place(self, number, dtype):
        """Where a column lies in the mapped file of all: 8 bytes a value, of which codes take the first half."""
        n_columns = len(self._pieces[0])
        if self._mapped is None:
            with temporary_file(self._folder) as file:
                # A file with holes would end the process by SIGBUS where the disk is full.
                os.posix_fallocate(file.fileno(), 0, max(8 * n_columns * self.n_rows, 1))
                self._mapped = np.memmap(file, np.uint8, "r+").view(np.ndarray)
        first = 8 * number * self.n_rows
        return self._mapped[first : first + 8 * self.n_rows].view(dtype)[: self.n_rows]

    def _read(self, piece):
        if not isinstance(piece, tuple):
            return piece
        offset, dtype, length = piece
        self._file.seek(offset)
        return np.frombuffer(self._file.read(length * dtype.itemsize), dtype)


def _as(piece, dtype):
    if piece.dtype == dtype:
        return piece
    return np.full(len(piece), -1, np.int32)  # a column of which only missing values had been seen
