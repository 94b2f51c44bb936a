"""Values of JSON as columns: numbers, codes of names, or dates."""

import datetime

import numpy as np

from ... import _core
from ..._columns import label_of
from ..problems import Problem
from .columns import Typed, is_text, shown

__all__ = ["JsonColumn", "Members", "codes_of_features", "dates_of", "names_of", "numbers_of"]

_SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_EXACT = 2.0**53
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECONDS = datetime.timedelta(microseconds=1)
_DAY = 86_400_000_000


# An object of JSON is a tuple: its members in their order, as pairs. An array is a list. No Python code runs for them,
# and a name that stands twice is seen.
Members = tuple


def refuse(detail, name, row):
    """Raise the refusal of a value."""
    raise Problem(422, "malformed-json", f"Column {shown(name)}, row {row}: {detail}", column=name, row=row)


def numbers_of(values, name, first_row=0):
    """Return a list of JSON values as float64: null and "NaN" are NaN, "Infinity" is infinity, true is 1."""
    kinds = set(map(type, values))
    if str in kinds:
        values = [
            _number_of_text(value, name, first_row + row) if type(value) is str else value
            for row, value in enumerate(values)
        ]
    elif not kinds <= _NUMBERS:
        row = next(row for row, value in enumerate(values) if type(value) not in _NUMBERS)
        refuse("a list or an object is no value of a table.", name, first_row + row)
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # a whole number beyond the range of float64
        _refuse_large(values, name, first_row)
    except (TypeError, ValueError):  # lists among texts
        row = next(row for row, value in enumerate(values) if type(value) not in _NUMBERS)
        refuse("a list or an object is no value of a table.", name, first_row + row)
    if str not in kinds and np.isinf(numbers).any():
        refuse("the number is beyond the range of float64.", name, first_row + int(np.isinf(numbers).argmax()))
    if int in kinds and (np.abs(numbers) >= _EXACT).any():
        _refuse_large(values, name, first_row)
    return numbers


_NUMBERS = frozenset((float, int, bool, type(None)))


def _number_of_text(text, name, row):
    if text not in _SPECIAL:
        refuse(f"the text {shown(text)} is no number.", name, row)
    return _SPECIAL[text]


def _refuse_large(values, name, first_row):
    """Refuse the first whole number that float64 would round."""
    for row, value in enumerate(values):
        if type(value) is int and abs(value) > _EXACT:
            refuse(
                "a whole number beyond 2^53 is no exact float64; send it as text, or as 1e20.", name, first_row + row
            )


def names_of(values, name, first_row=0):
    """Return a list of JSON values as names, None for null: 3 and 3.0 are "3", true is "true"."""
    made = []
    for row, value in enumerate(values, first_row):
        if type(value) is bool:
            value = "true" if value else "false"
        elif type(value) in (int, float):
            value = label_of(value)
        elif type(value) not in (str, type(None)):
            refuse("a list or an object is no value of a table.", name, row)
        made.append(value)
    return made


def dates_of(values, name, first_row=0):
    """Return a list of JSON values as days since 1970-01-01: ISO texts, or numbers of days."""
    if str not in set(map(type, values)):
        return numbers_of(values, name, first_row)
    return numbers_of(
        [_days(value, name, first_row + row) if type(value) is str else value for row, value in enumerate(values)],
        name,
        first_row,
    )


def _days(text, name, row):
    try:
        when = datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
    except ValueError:
        refuse(f"the text {shown(text)} is no ISO date.", name, row)
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.timezone.utc)
    return ((when - _EPOCH) // _MICROSECONDS) / _DAY


def codes_of_features(values, name, first_row=0):
    """Return (codes, ``_core.Values``) of one block of a nominal column."""
    names = names_of(values, name, first_row)
    try:
        made = _core.factorize(names, None) if any(value is not None for value in names) else None
    except UnicodeEncodeError:
        row = next(row for row, value in enumerate(names, first_row) if value is not None and not is_text(value))
        refuse("the text has half a surrogate pair.", name, row)
    if made is None:
        return np.full(len(names), -1, np.int32), _core.Values([])
    return made[0], made[1]


class JsonColumn:
    """A column of a whole body, whose type shows as its values come.

    Parameters
    ----------
    name : str
    wanted : {"", "numeric", "nominal", "date"}
        What the request or the body says of it; "" is what its values are.
    type : str
        The engine's type, where the body says it.
    values : list of str, optional
        The order of names, where the body says it.
    """

    def __init__(self, name, wanted="", type="", role="regular", values=None):
        self.name, self.type, self.role = name, type, role
        self._kind = wanted
        self._given = values
        self._code_of = {} if values is None else {value: code for code, value in enumerate(values)}
        self._one_type = None  # of values that made the column nominal by themselves: no others may follow

    @property
    def dtype(self):
        return np.int32 if self._kind == "nominal" else np.float64

    def add(self, values, first_row):
        """Return the next values as float64, or as codes in order of appearance."""
        if not self._kind:
            self._kind = self._kind_of(values)
        if self._kind == "nominal":
            return self._codes(values, first_row)
        if self._kind == "date":
            return dates_of(values, self.name, first_row)
        if self._kind == "numeric":
            return numbers_of(values, self.name, first_row)
        return np.full(len(values), np.nan)

    def _kind_of(self, values):
        kinds = set(map(type, values)) - {type(None)}
        if str in kinds and not all(value in _SPECIAL for value in values if type(value) is str):
            self._one_type = str
            return "nominal"
        if kinds == {bool}:
            self._one_type = bool
            return "nominal"
        return "numeric" if kinds else ""

    def _codes(self, values, first_row):
        names = names_of(values, self.name, first_row)
        if self._one_type is not None:
            self._refuse_mixture(values, first_row)
        code_of = self._code_of
        if self._given is not None:
            for row, value in enumerate(names, first_row):
                if value is not None and value not in code_of:
                    refuse(f"{shown(value)} is not among the values that the body lists.", self.name, row)
        codes = [-1 if value is None else code_of.setdefault(value, len(code_of)) for value in names]
        return np.array(codes, np.int32)

    def _refuse_mixture(self, values, first_row):
        if set(map(type, values)) <= {self._one_type, type(None)}:
            return
        row = next(row for row, value in enumerate(values) if type(value) not in (self._one_type, type(None)))
        refuse(
            "numbers, texts and truth values are mixed; the option nominal makes names of all.",
            self.name,
            first_row + row,
        )

    def typed(self, array, order):
        """Return the column's (Typed, array) once all values are there. ``order`` is that of names."""
        if self._kind != "nominal":
            type_ = (
                "date" if self._kind == "date" else self.type if self.type in ("real", "integer") else _type_of(array)
            )
            return Typed(self.name, type_, self.role), array
        names = list(self._code_of)
        bad = next((name for name in names if not is_text(name)), None)
        if bad is not None:
            raise Problem(
                422, "malformed-json", f"Column {shown(self.name)} has half a surrogate pair.", column=self.name
            )
        if self._given is None and order != "appearance":
            array, names = _sorted(array, names)
        binominal = self._one_type is bool and set(names) <= {"true", "false"}
        type_ = self.type if self.type in ("nominal", "polynominal", "binominal") else "binominal" if binominal else ""
        return Typed(self.name, type_, self.role, _core.Values(names)), array


def _type_of(numbers):
    """As the reader of CSV has it: integer where there is a value, and all are whole and below 2^53."""
    known = numbers[~np.isnan(numbers)]
    return "integer" if known.size and (np.abs(known) < _EXACT).all() and (known == np.floor(known)).all() else "real"


def _sorted(codes, names):
    order = sorted(range(len(names)), key=lambda code: names[code].encode())
    new_code = np.full(len(names) + 1, -1, np.int32)  # -1, missing, is the last
    new_code[order] = np.arange(len(names), dtype=np.int32)
    return new_code[codes], [names[code] for code in order]
