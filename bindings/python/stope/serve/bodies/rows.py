"""Bodies of application/vnd.stope.rows, a line of JSON and float64 values. docs/formats/rows.md specifies them."""

import struct

import numpy as np

from ... import _core
from ..problems import Problem
from .byte_stream import ByteSource, in_thread, temporary_file
from .columns import (
    Pieces,
    Typed,
    check_columns,
    check_names,
    check_rows,
    chosen,
    shown,
    table_of_typed,
    with_option_roles,
)
from .json_text import loads
from .json_values import Members

__all__ = ["rows_blocks", "rows_table"]

_LINE_BYTES = 256 << 20  # value lists of nominal columns may be long
_BLOCK_IN_MEMORY = 32 << 20  # a longer block of columns goes through a file
_MOST_OPTIONS = 1000  # more than all jobs together have
_NUMBERS = ("real", "integer", "date")
_NAMES = ("nominal", "polynominal", "binominal")
_ROLES = ("regular", "label", "id", "weight", "ignore")


def malformed(detail, **place):
    """Return the refusal of a body that does not keep to the specification."""
    return Problem(422, "malformed-rows", detail, **place)


class _Header:
    """The line in front of the values."""

    def __init__(self, line, limits):
        try:
            document = loads(line)
        except Problem as problem:
            raise malformed(f"The first line is no JSON: {problem.detail}") from None
        said = _members_of(document, ("columns", "rows", "order", "options"), "the first line")
        described = said.get("columns")
        if type(described) is not list or not described:
            raise malformed("The first line has no list of columns.")
        check_columns(len(described), limits)
        self.columns = [_typed(_members_of(one, ("name", "type", "values", "role"), "a column")) for one in described]
        check_names([column.name for column in self.columns], "malformed-rows")
        self.order = said.get("order", "rows")
        if self.order not in ("rows", "columns"):
            raise malformed("order is rows or columns.")
        self.n_rows = said.get("rows")
        if self.n_rows is not None and (type(self.n_rows) is not int or self.n_rows < 0):
            raise malformed("rows is a whole number, or null.")
        check_rows(self.n_rows or 0, limits)
        options = said.get("options")
        if isinstance(options, Members) and len(options) > _MOST_OPTIONS:
            raise malformed(f"In the first line, options has {len(options)} members; no job has so many.")
        self.options = {} if options is None else _members_of(options, None, "options")


def _members_of(members, known, what):
    if not isinstance(members, Members):
        raise malformed(f"In the first line, {what} is no object.")
    made = dict(members)
    if len(made) < len(members):
        raise malformed(f"In the first line, {what} has a member twice.")
    for name in made:
        if known is not None and name not in known:
            raise malformed(f"In the first line, {what} has no member {shown(name)}.")
    return made


def _typed(said):
    name, type_, role, values = (
        said.get("name"),
        said.get("type", "real"),
        said.get("role", "regular"),
        said.get("values"),
    )
    if not isinstance(name, str):
        raise malformed("A column has no name.")
    if type_ not in _NUMBERS + _NAMES or role not in _ROLES:
        raise malformed(f"Column {shown(name)}: the type or the role is not known.", column=name)
    if type_ in _NUMBERS:
        if values is not None:
            raise malformed(f"Column {shown(name)} has values, but is not nominal.", column=name)
        return Typed(name, type_, role)
    if type(values) is not list or not all(isinstance(value, str) for value in values):
        raise malformed(f"Column {shown(name)} is nominal, and lacks its list of values.", column=name)
    if len(set(values)) < len(values):
        raise malformed(f"Column {shown(name)} has a value twice.", column=name)
    if type_ == "binominal" and len(values) > 2:
        raise malformed(f"Column {shown(name)} is binominal, and has {len(values)} values.", column=name)
    try:
        return Typed(name, type_, role, _core.Values(values))
    except (TypeError, UnicodeEncodeError):
        raise malformed(f"Column {shown(name)} has a value with half a surrogate pair.", column=name) from None


def _cut():
    return malformed("The body ends in the middle of a row or a block.")


async def _header_of(source, request, limits):
    line = await source.line(_LINE_BYTES)
    if line is None:
        raise malformed("The body does not begin with a line of JSON.")
    header = await in_thread(_Header, line, limits)
    if request is not None:
        request.scope["stope.body_options"] = header.options
    return header


def _rows_at_once(n_columns, max_rows):
    """As many rows as 8 MiB hold, but ``max_rows`` at most."""
    return max(1, min(max_rows, (8 << 20) // (8 * n_columns)))


async def _arrays(source, header, max_rows, folder, limits):
    """Yield arrays of float64 as they come, one row of an array for each column."""
    n_rows, n_columns = 0, len(header.columns)
    parts = _of_rows if header.order == "rows" else _of_columns
    async for values in parts(source, n_columns, max_rows, folder, limits):
        n_rows += values.shape[1]
        check_rows(n_rows, limits)
        yield values
    if header.n_rows is not None and n_rows != header.n_rows:
        raise malformed(f"The first line says {header.n_rows} rows; {n_rows} came.")


async def _of_rows(source, n_columns, max_rows, folder, limits):
    most = _rows_at_once(n_columns, max_rows)
    while True:
        data = await source.some(8 * n_columns, most)
        if not data:
            return
        yield np.frombuffer(data, "<f8").reshape(-1, n_columns).T


async def _of_columns(source, n_columns, max_rows, folder, limits):
    while True:
        data = await source.take(8)
        if data is None:
            raise malformed("The body ends without the block of 0 rows, so it was cut.")
        n = struct.unpack("<q", data)[0]
        if n == 0:
            break
        if n < 0:
            raise malformed(f"A block has {n} rows.")
        check_rows(n, limits)
        size = 8 * n * n_columns
        if size <= _BLOCK_IN_MEMORY:
            data = await source.take(size)
            if data is None:
                raise _cut()
            values = np.frombuffer(data, "<f8").reshape(n_columns, n)
        else:
            with temporary_file(folder) as file:
                await source.into(file, size)
                file.flush()
                values = np.memmap(file, "<f8", "r", shape=(n_columns, n)).view(np.ndarray)
        for first in range(0, n, max_rows):
            yield values[:, first : first + max_rows]
    if await source.rest():
        raise malformed("There is more behind the block of 0 rows.")


def _storage(column, values, first_row):
    """The values as the engine stores them: float64, or int32 codes."""
    if not column.is_nominal:
        return np.ascontiguousarray(values, np.float64)
    missing = np.isnan(values)
    with np.errstate(invalid="ignore"):  # a client's signalling NaN would warn in the server's log
        wrong = ~missing & ~((values >= 0) & (values < len(column.values)) & (values == np.floor(values)))
    if wrong.any():
        row = int(wrong.argmax())
        raise malformed(
            f"Column {shown(column.name)}, row {first_row + row}: {values[row]:g} is no code of its "
            f"{len(column.values)} values.",
            column=column.name,
            row=first_row + row,
        )
    return np.where(missing, -1.0, values).astype(np.int32)


async def rows_table(chunks, options, folder, limits, run, request=None):
    """Return the ``_core.Table`` of a whole body."""
    options.refuse_csv_options("application/vnd.stope.rows")
    for option in ("nominal", "numeric", "date"):
        if getattr(options, option):
            raise Problem(
                400, "invalid-argument", f"{option}: the body itself says the types of its columns.", option=option
            )
    source = ByteSource(chunks, _cut)
    header = await _header_of(source, request, limits)
    pieces = Pieces(folder)

    def add(block):
        pieces.add([_storage(column, values, pieces.n_rows) for column, values in zip(header.columns, block)])

    def finish():
        dtypes = [np.int32 if column.is_nominal else np.float64 for column in header.columns]
        arrays = [pieces.column(n, dtype) if pieces.n_rows else np.empty(0, dtype) for n, dtype in enumerate(dtypes)]
        table = table_of_typed(header.columns, arrays, pieces.n_rows, run)
        return with_option_roles(table, options)

    most = _rows_at_once(len(header.columns), 1 << 16)
    async for block in _regrouped(_arrays(source, header, most, folder, limits), most):
        await in_thread(add, block)
    return await in_thread(finish, run=run)


async def rows_blocks(chunks, features, keep, max_rows, folder, limits, new_run, request=None):
    """Yield ``_core.Table`` blocks with the features and the kept columns of a body, as its rows come."""
    source = ByteSource(chunks, _cut)
    header = await _header_of(source, request, limits)

    def table(block, first_row):
        stored = [_storage(column, values, first_row) for column, values in zip(header.columns, block)]
        return chosen(table_of_typed(header.columns, stored, block.shape[1], new_run()), features, keep)

    n_rows = 0
    async for block in _regrouped(_arrays(source, header, max_rows, folder, limits), max_rows):
        yield await in_thread(table, block, n_rows)
        n_rows += block.shape[1]
    if n_rows == 0:
        yield await in_thread(table, np.empty((len(header.columns), 0)), 0)


async def _regrouped(parts, max_rows):
    """Small blocks together, so that the engine gets blocks of its own size. What waits is one array a block, since an
    array for each column of a short block would be many times the body."""
    waiting, n_rows = [], 0
    async for values in parts:
        waiting.append(values)
        n_rows += values.shape[1]
        if n_rows >= max_rows:
            whole = _joined(waiting)
            yield whole[:, :max_rows]
            waiting, n_rows = [whole[:, max_rows:]], n_rows - max_rows
    if n_rows:
        yield _joined(waiting)


def _joined(parts):
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
