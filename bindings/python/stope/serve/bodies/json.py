"""JSON bodies. docs/formats/bodies.md says what they are: a table with named columns, records, or lists of columns."""

from itertools import chain

import numpy as np

from ... import _core
from ..row_blocks import rows_of
from .byte_stream import in_thread
from .columns import Pieces, check_names, check_rows, chosen, index_named, missing_column, table_of_typed
from .json_parts import Head, parts_of
from .json_text import JsonText, loads, malformed
from .json_values import JsonColumn, Members, codes_of_features, dates_of, numbers_of

__all__ = ["json_blocks", "json_table", "numbers_at_once", "short_json_table"]

_FEW_VALUES = 1000  # of one column, for which a thread would take longer


# Whole bodies.


async def json_table(chunks, options, folder, limits, run):
    """Return the ``_core.Table`` of a whole body."""
    options.refuse_csv_options("JSON")
    parts = parts_of(JsonText(chunks), limits)
    first = await parts.__anext__()
    if isinstance(first, Head):
        table = await _table_of_rows(first, parts, options, folder, limits, run)
    else:
        table = await _table_of_columns(
            parts, first, _kind_by_options(options), options.nominal_order, folder, limits, run
        )
        names = [table.column(index).name for index in range(table.n_columns)]
        _json_columns(Head(names), options)  # it refuses options that name no column
    return table


def _json_columns(head, options):
    """The columns as the options and the head want them; an option wins."""
    wanted = {}
    for option in ("nominal", "numeric", "date"):
        for word in getattr(options, option):
            wanted[index_named(head.names, word, option)] = option
    if options.target_is_nominal and options.target is not None:
        wanted[index_named(head.names, options.target, "target")] = "nominal"
    columns = []
    for place, (name, said) in enumerate(zip(head.names, head.described)):
        type_ = said.get("type", "")
        kind = {"": "", "real": "numeric", "integer": "numeric", "date": "date"}.get(type_, "nominal")
        if place in wanted and wanted[place] != kind:
            kind, type_ = wanted[place], ""
        values = said.get("values") if kind == "nominal" else None
        columns.append(JsonColumn(name, kind, type_, said.get("role", "regular"), values))
    return columns


async def _table_of_rows(head, parts, options, folder, limits, run):
    columns, pieces = _json_columns(head, options), Pieces(folder)

    def add(rows):
        turned = zip(*rows)
        pieces.add([column.add(values, pieces.n_rows) for column, values in zip(columns, turned)])

    async for _, rows in parts:
        check_rows(pieces.n_rows + len(rows), limits)
        await in_thread(add, rows)
    return await in_thread(_finished, columns, pieces, options, run, run=run)


async def _table_of_columns(parts, first, kind_of, order, folder, limits, run):
    """The table of a body that gives column after column. ``kind_of`` is asked with a name and its number from 1."""
    columns, held = [], None
    places = set()

    def add(values):
        check_rows(held.n_rows + len(values), limits)
        held.add([columns[-1][0].add(values, held.n_rows)])

    name, values = first[1:]
    while True:
        if not values:
            if name in places:
                check_names([*places, name, name], "malformed-json")
            places.add(name)
            held = Pieces(folder)
            columns.append((JsonColumn(name, kind_of(name, len(columns) + 1)), held))
        elif len(values) < _FEW_VALUES:
            add(values)
        else:
            await in_thread(add, values)
        part = await anext(parts, None)
        if part is None:
            break
        name, values = part[1:]
    lengths = {held.n_rows for _, held in columns}
    if len(lengths) > 1:
        raise malformed("the columns have different numbers of values.")

    def finish():
        made = [column.typed(_whole(column, held, 0), order) for column, held in columns]
        return _table_of(made, lengths.pop(), run)

    return await in_thread(finish, run=run)


def _kind_by_options(options):
    def kind_of(name, number):
        for option in ("nominal", "numeric", "date"):
            if {name, str(number)} & set(getattr(options, option)):
                return option
        is_target = options.target_is_nominal and options.target in (name, str(number))
        return "nominal" if is_target else ""

    return kind_of


def _whole(column, pieces, number):
    return pieces.column(number, column.dtype) if pieces.n_rows else np.empty(0, column.dtype)


def _finished(columns, pieces, options, run):
    made = [
        column.typed(_whole(column, pieces, number), options.nominal_order) for number, column in enumerate(columns)
    ]
    return _table_of(made, pieces.n_rows, run)


def _table_of(made, n_rows, run):
    return table_of_typed([typed for typed, _ in made], [array for _, array in made], n_rows, run)


# Rows for a model, in blocks.


def numbers_at_once(document, features, limits):
    """Return the array of a small table of numbers alone, in the features' order; None for any other document.

    This is the short way of one row, or a few, for a model of numbers.
    """
    if not (
        isinstance(document, Members)
        and len(document) == 2
        and document[0][0] == "columns"
        and document[1][0] == "rows"
    ):
        return None
    names, rows = document[0][1], document[1][1]
    if type(rows) is not list or type(names) is not list or not rows or len(rows) > limits.rows:
        return None
    n = len(names)
    if set(map(type, rows)) != {list} or set(map(len, rows)) != {n} or not n:
        return None
    flat = list(chain.from_iterable(rows)) if len(rows) > 1 else rows[0]
    if not set(map(type, flat)) <= {float, int}:
        return None
    try:
        numbers = np.array(flat, np.float64).reshape(len(rows), n)
    except OverflowError:
        return None
    if not np.abs(numbers).max() < 2.0**53:
        return None
    if names == features:
        return numbers
    if len(set(map(str, names))) < n or not set(map(type, names)) <= {str}:
        return None
    place = {name: number for number, name in enumerate(names)}
    try:
        return numbers[:, [place[name] for name in features]]
    except KeyError:
        return None


async def json_blocks(chunks, features, keep, max_rows, folder, limits, new_run):
    """Yield ``_core.Table`` blocks with the features and the kept columns of a body, as its rows come."""
    parts = parts_of(JsonText(chunks), limits)
    first = await parts.__anext__()
    if isinstance(first, Head):
        blocks = _blocks(first, parts, features, keep, max_rows, limits, new_run)
    else:
        blocks = _blocks_of_columns(first, parts, features, keep, max_rows, folder, limits, new_run())
    async for block in blocks:
        yield block


def short_json_table(data, features, limits):
    """Return the ``_core.Table`` of a short body of numbers alone; None for any other: :func:`json_blocks` reads it."""
    names = [feature.name for feature in features]
    if any(feature.is_nominal or feature.type == "date" for feature in features):
        return None
    numbers = numbers_at_once(loads(data), names, limits)
    return None if numbers is None else _core.Table.of_array(numbers, names, True, _core.Run(1))


async def _blocks_of_columns(first, parts, features, keep, max_rows, folder, limits, run):
    """Blocks of a body that gives column after column: nothing can be said of a row before the last column is there."""
    kinds = {feature.name: _kind_of(feature) for feature in features}
    table = await _table_of_columns(parts, first, lambda name, _: kinds.get(name, ""), "sorted", folder, limits, run)
    table = chosen(table, features, keep)
    if table.n_rows <= max_rows:
        yield table
        return
    for start in range(0, table.n_rows, max_rows):
        yield rows_of(table, start, min(start + max_rows, table.n_rows))


def _kind_of(feature):
    return "nominal" if feature.is_nominal else "date" if feature.type == "date" else "numeric"


async def _blocks(head, parts, features, keep, max_rows, limits, new_run):
    block = _Block(head.names, features, keep, new_run)
    waiting, n_rows, begun = [], 0, False
    async for _, some in parts:
        waiting.extend(some)
        check_rows(n_rows + len(waiting), limits)
        while len(waiting) >= max_rows:
            yield await in_thread(block.table, waiting[:max_rows], n_rows)
            n_rows, begun = n_rows + max_rows, True
            del waiting[:max_rows]
    if waiting or not begun:
        yield await in_thread(block.table, waiting, n_rows)


class _Block:
    """Makes tables of rows that have the columns of one head."""

    def __init__(self, names, features, keep, new_run):
        self._new_run, self._columns = new_run, []
        self._kept_kinds = {}  # what the first block says of columns that the model does not know
        place = {name: number for number, name in enumerate(names)}
        for feature in features:
            if feature.name not in place:
                raise missing_column(feature.name)
            self._columns.append((place[feature.name], feature.name, _kind_of(feature), feature.type, "regular"))
        known = {feature.name for feature in features}
        for name in dict.fromkeys(keep):
            if name in known:
                continue
            if name not in place:
                raise missing_column(name)
            self._columns.append((place[name], name, "", "", "ignore"))

    def table(self, rows, first_row):
        run = self._new_run()
        turned = list(zip(*rows))
        made = [self._column(turned[place] if rows else (), *what, first_row, run) for place, *what in self._columns]
        return _core.Table.of_columns(made, len(rows))

    def _column(self, values, name, kind, type_, role, first_row, run):
        if not kind:  # a kept column: numbers where all are, else names
            found = "nominal" if str in set(map(type, values)) else "numeric"
            kind = self._kept_kinds.setdefault(name, found)
        if kind == "nominal":
            codes, names = codes_of_features(values, name, first_row)
            column = _core.Column.nominal(name, codes, names, "" if type_ == "binominal" else type_, share=True)
        else:
            of = dates_of if kind == "date" else numbers_of
            column = _core.Column.numeric(
                name, of(values, name, first_row), "date" if kind == "date" else "", share=True, run=run
            )
        column.role = role
        return column
