"""The parts of a JSON body in its three forms, as they come: names first, then rows or columns of values."""

from ..problems import Problem
from .byte_stream import in_thread
from .columns import check_columns, check_names, shown
from .json_text import malformed
from .json_values import Members

__all__ = ["Head", "parts_of"]

_ROLES = ("regular", "label", "id", "weight", "ignore")
_TYPES = ("real", "integer", "date", "nominal", "polynominal", "binominal")
_MEMBERS = ("name", "type", "role", "values")


class Head:
    """What a body says of its columns before the rows come: names, and where it has them types, roles, values."""

    def __init__(self, names, described=()):
        self.names = names
        self.described = described or [{} for _ in names]


def _head_of(described, limits):
    """The head of a list of names, or of objects with a name."""
    if type(described) is not list:
        raise malformed("columns is a list of names, or of objects with a name and a type.")
    check_columns(len(described), limits)
    made = []
    for one in described:
        if isinstance(one, Members):
            one = _described(one)
        elif isinstance(one, str):
            one = {"name": one}
        else:
            raise malformed("columns is a list of names, or of objects with a name and a type.")
        made.append(one)
    names = [one["name"] for one in made]
    check_names(names, "malformed-json")
    if not names:
        raise malformed("the body has no columns.")
    return Head(names, made)


def _described(members):
    one = dict(members)
    if len(one) < len(members) or not isinstance(one.get("name"), str):
        raise malformed("each of columns has one name.")
    for key in one:
        if key not in _MEMBERS:
            raise malformed(f"a column has no member {shown(key)}.")
    if one.get("type", "real") not in _TYPES or one.get("role", "regular") not in _ROLES:
        raise malformed(f"column {shown(one['name'])}: the type or the role is not known.")
    values = one.get("values")
    if values is not None:
        is_list = type(values) is list and all(isinstance(value, str) for value in values)
        if not is_list or len(set(values)) < len(values) or one.get("type", "nominal") not in _TYPES[3:]:
            raise malformed(f"column {shown(one['name'])}: values is a list of different texts of a nominal column.")
    return one


# Forms of a body: generators of its parts as they come.


async def parts_of(text, limits):
    """Yield the parts of a body: a Head and then ("rows", rows), or ("column", name, values), as they come.

    A column begins with no values.
    """
    if await text.expect("[{") == "[":
        async for part in _records(text, limits):
            yield part
    elif await text.peek() == "}":
        raise malformed("the body has no columns.")
    else:
        async for part in _members(text, limits):
            yield part
    await text.end()


async def _records(text, limits):
    head, n_rows = None, 0
    async for records in text.items():
        if head is None:
            if not isinstance(records[0], Members):
                raise malformed("row 0: a list of records has objects only.")
            head = _head_of([name for name, _ in records[0]], limits)
            yield head
        yield "rows", await in_thread(_rows_of_records, records, head.names, n_rows)
        n_rows += len(records)
    if head is None:
        raise malformed("the list has no records, so that nobody knows the columns.")


def _rows_of_records(records, names, first_row):
    rows, known, usual = [], set(names), tuple(names)
    if set(map(type, records)) != {Members}:
        number = next(number for number, record in enumerate(records) if not isinstance(record, Members))
        raise malformed(f"row {first_row + number}: a list of records has objects only.")
    for number, record in enumerate(records, first_row):
        keys, values = zip(*record) if record else ((), ())
        if keys == usual:
            rows.append(values)
            continue
        row = dict(record)
        if len(row) < len(record):
            raise Problem(422, "malformed-json", f"Row {number} has a member twice.", row=number)
        for name in row:
            if name not in known:
                raise Problem(
                    422,
                    "malformed-json",
                    f"Row {number} has the member {shown(name)}, which the first lacks.",
                    row=number,
                    column=name,
                )
        for name in names:
            if name not in row:
                raise Problem(
                    422,
                    "malformed-json",
                    f"Row {number} lacks the member {shown(name)}; write null.",
                    row=number,
                    column=name,
                )
        rows.append([row[name] for name in names])
    return rows


async def _members(text, limits):
    """An object: {"columns": [...], "rows": [[...]]}, or a list of values for each column."""
    name = await _member(text)
    if name == "columns":
        head = _head_of(await text.value(), limits)
        yield head
        await text.expect(",")
        if await _member(text) != "rows":
            raise malformed("behind columns come the rows.")
        async for part in _rows(text, len(head.names)):
            yield part
        await text.expect("}")
        return
    if name == "rows":
        raise malformed("columns must come before the rows.")
    names = []
    while True:
        names.append(name)
        check_columns(len(names), limits)
        await text.expect("[")
        yield "column", name, []
        async for values in text.items():
            yield "column", name, values
        if await text.expect(",}") == "}":
            break
        name = await _member(text)
    check_names(names, "malformed-json")


async def _member(text):
    if await text.peek() != '"':
        await text.expect('"')
    name = await text.value()
    await text.expect(":")
    return name


async def _rows(text, n_columns):
    await text.expect("[")
    n_rows = 0
    async for rows in text.items():
        if set(map(type, rows)) != {list} or set(map(len, rows)) != {n_columns}:
            _refuse_rows(rows, n_columns, n_rows)
        n_rows += len(rows)
        yield "rows", rows


def _refuse_rows(rows, n_columns, first_row):
    for number, row in enumerate(rows, first_row):
        if type(row) is not list or len(row) != n_columns:
            found = f"{len(row)} values" if type(row) is list else "no list"
            raise Problem(
                422, "malformed-json", f"Row {number} has {found}; the body has {n_columns} columns.", row=number
            )
