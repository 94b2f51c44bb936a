"""A stored table with other roles or types for one job."""

import difflib

from stope import _core

from ..bodies.options import ReadingOptions
from ..problems import Problem

__all__ = ["with_roles"]

_OF_OPTION = {"target": "label", "id": "id", "sample_weight": "weight", "ignore": "ignore"}


def with_roles(table: "_core.Table", options: ReadingOptions, run: "_core.Run") -> "_core.Table":
    """Return the table as the options want it. It shares the memory of all columns whose type stays.

    An option that is given takes the place of what the table says: with another target, the column that was it is a
    feature again.
    """
    table = _with_types(table, options, run)
    roles = {}
    for option, role in _OF_OPTION.items():
        named = getattr(options, option)
        if named is None or named == ():
            continue
        named = named if option == "ignore" else (named,)
        for index in range(table.n_columns):
            if table.column(index).role == role:
                roles.setdefault(index, "regular")
        for name in named:
            index = _find(table, name, option)
            if roles.get(index, "regular") != "regular":
                raise Problem(400, "invalid-argument", f"{option}: the column {name!r} has another role already",
                              option=option, column=name)
            roles[index] = role
    if options.select:
        named = {_find(table, name, "select") for name in options.select}
        for index in range(table.n_columns):
            if index not in named and roles.get(index, table.column(index).role) == "regular":
                roles[index] = "ignore"
    return table.with_roles(list(roles.items())) if roles else table


def _find(table, name, option):
    """A column by name, or by number, counted from 1; a name that exists wins."""
    index = table.find(name)
    if index >= 0:
        return index
    if name.isascii() and name.isdigit() and 1 <= int(name[:10]) <= table.n_columns:
        return int(name) - 1
    names = [table.column(at).name for at in range(min(table.n_columns, 10_000))]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise Problem(400, "no-column", f"{option}: the table has no column {name!r}{hint}", option=option, column=name)


def _with_types(table, options, run):
    nominal = {_find(table, name, "nominal") for name in options.nominal}
    numeric = {_find(table, name, "numeric") for name in options.numeric}
    if options.target_is_nominal:
        label = [at for at in range(table.n_columns) if table.column(at).role == "label"]
        nominal.update([_find(table, options.target, "target")] if options.target is not None else label)
    both = nominal & numeric
    if both:
        name = table.column(both.pop()).name
        raise Problem(400, "invalid-argument", f"the column {name!r} cannot be nominal and a number", column=name)
    changed = {at for at in nominal if not table.column(at).is_nominal}
    changed |= {at for at in numeric if table.column(at).is_nominal}
    if not changed:
        return table
    columns = [table.column(at) for at in range(table.n_columns)]
    for at in changed:
        columns[at] = _retyped(columns[at], table.n_rows, at in nominal, run)
    return _core.Table.of_columns(columns, table.n_rows)


def _retyped(column, n_rows, nominal, run):
    """The column read as another type, by the engine's rules for data that come through Arrow."""
    alone = _core.Table.of_columns([column], n_rows)
    names = [column.name]
    read = _core.Table.of_arrow(
        alone.__arrow_c_stream__(), nominal=names if nominal else [], numeric=[] if nominal else names, run=run
    )
    return read.column(0)
