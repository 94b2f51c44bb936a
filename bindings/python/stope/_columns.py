"""One column of X: numbers, or codes with the values they stand for."""

import decimal
import fractions
import sys
from dataclasses import dataclass

import numpy as np

from . import _core
from .errors import InvalidDataError, UnsupportedError

__all__ = [
    "Column", "as_dates", "as_numbers", "as_objects", "codes_of_categories", "codes_of_values", "is_missing",
    "is_nominal_array", "is_read_only", "plain_layout", "sorted_codes",
]

_DAY = {"D": 1, "h": 24, "m": 1440, "s": 86400, "ms": 86400_000, "us": 86400_000_000, "ns": 86400_000_000_000}
_EXACT = 2**53
_NUMBERS = (int, float, np.integer, np.floating, decimal.Decimal, fractions.Fraction)


@dataclass
class Column:
    """Numbers of one column (float64 or float32, NaN is missing), or codes (int32, -1 is missing)."""

    numbers: "np.ndarray | None" = None
    type: str = ""  # of the engine: "date", or "" for what fits the numbers
    codes: "np.ndarray | None" = None
    names: "_core.Values | None" = None  # one for each code
    categories: "np.ndarray | None" = None  # the values as they were given, one for each code
    ready: "_core.Column | None" = None  # the engine's own column, where there is one

    @property
    def nominal(self):
        return self.codes is not None

    def native(self, name, share, run):
        """The engine's column. Memory that nobody can write to is shared, other memory only if ``share`` says so."""
        if self.ready is not None and self.ready.name == name:
            return self.ready
        values = self.codes if self.nominal else self.numbers
        share = share or is_read_only(values)
        if self.nominal:
            return _core.Column.nominal(name, np.ascontiguousarray(values), self.names, share=share)
        return _core.Column.numeric(name, values, self.type, share, run)


def is_read_only(array):
    """Whether nobody can write to an array's memory: neither through the array, nor through what it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    try:
        return array is None or memoryview(array).readonly
    except TypeError:  # an owner that has no other way to its memory
        return True


def is_missing(value):
    """Whether an object stands for a missing value: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating, decimal.Decimal)) and value != value


def is_nominal_array(values):
    """Whether an array of one dimension is nominal by its type: strings, and objects that are not all numbers."""
    if values.dtype.kind != "O":
        return values.dtype.kind in "SUT"
    kinds = set(map(type, values.tolist()))
    others = [kind for kind in kinds if not issubclass(kind, _NUMBERS) or issubclass(kind, bool)]
    if not others:
        return False
    pandas = sys.modules.get("pandas")
    absent = {type(None)} if pandas is None else {type(None), type(pandas.NA), type(pandas.NaT)}
    return not set(others) <= absent


def as_numbers(values, name="X"):
    """An array of any type and shape as float64 or float32, without a copy where that is possible.

    Dates and durations become days. Raises ValueError for text and for complex numbers, as NumPy and scikit-learn do,
    and UnsupportedError for whole numbers that no float64 holds.
    """
    kind = values.dtype.kind
    if kind == "f" and values.dtype.itemsize in (4, 8):
        return plain_layout(values)
    if kind in "fb":
        return values.astype(np.float64)
    if kind in "iu":
        _exact_integers(values, name)
        return values.astype(np.float64)
    if kind in "mM":
        return _days(values)
    if kind == "c":
        raise ValueError(f"Complex data not supported\n{values}\n")
    return _numbers_of_objects(values.astype(object), name)


def _exact_integers(values, name="X"):
    """Refuse whole numbers beyond 2^53, which float64 would round."""
    if values.dtype.itemsize < 8 or values.size == 0:
        return
    low, high = values.min(), values.max()
    if -_EXACT <= int(low) and int(high) <= _EXACT:
        return
    at = np.argwhere((values > _EXACT) | (values < -_EXACT if values.dtype.kind == "i" else False))[0]
    _refuse_integer(values[tuple(at)], name, at[0])


def _refuse_integer(value, name, row):
    error = UnsupportedError(f"{name} has the whole number {value} in row {row}, which no float64 is")
    error.row = int(row)
    raise error


def plain_layout(values):
    """The same numbers in the machine's byte order, aligned, with strides that count elements and repeat none."""
    strides = all(s % values.itemsize == 0 and (s != 0 or n <= 1) for s, n in zip(values.strides, values.shape))
    if values.dtype.isnative and values.flags.aligned and strides:
        return values
    return values.astype(values.dtype.newbyteorder("="), copy=True)


def _days(values):
    unit, step = np.datetime_data(values.dtype)
    if unit == "generic":
        raise ValueError("dates and durations without a unit are no numbers")
    if unit not in _DAY or step != 1:
        wanted = {"W": "D", "Y": "D", "M": "D"}.get(unit, unit if unit in _DAY else "ns")
        if values.dtype.kind == "m" and unit in "YM":
            raise ValueError("durations of months and years have no length in days")
        values, unit = values.astype(f"{values.dtype.kind}8[{wanted}]"), wanted
    counts = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")).view(np.int64))
    return _core.days(counts.reshape(-1), _DAY[unit]).reshape(values.shape)


def as_dates(days):
    """Days since 1970-01-01 as datetime64 in microseconds; NaN and infinity become NaT."""
    known = np.isfinite(days)
    counts = np.full(len(days), np.iinfo(np.int64).min)
    counts[known] = np.rint(days[known] * float(_DAY["us"])).astype(np.int64)
    return counts.view("M8[us]")


def _numbers_of_objects(values, name):
    try:
        numbers = values.astype(np.float64)
    except TypeError:
        flat = values.reshape(-1).tolist()
        replaced = [np.nan if is_missing(value) else value for value in flat]
        if all(a is b for a, b in zip(replaced, flat)):
            raise
        numbers = np.asarray(replaced, dtype=np.float64).reshape(values.shape)
    except ValueError as error:  # text
        if name == "X":
            raise
        raise ValueError(f"{name}: {error}") from None
    if (np.abs(numbers) >= _EXACT).any():
        for row, value in enumerate(values.reshape(-1).tolist()):
            if isinstance(value, (int, np.integer)) and abs(int(value)) > _EXACT:
                _refuse_integer(value, name, row // max(values[0].size if values.ndim > 1 else 1, 1))
    return numbers


def label_of(value):
    """The name of a value: itself for a string, a whole number's digits for 1, 1.0 and their like, else its str()."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, np.datetime64):
        return str(value.astype("M8[us]").item())  # as Python and pandas write the same instant
    return str(value)


def codes_of_values(values, name="X"):
    """A column of names: every value of an array of one dimension is a category. Categories are sorted."""
    if values.dtype.kind in "fiub":
        return _codes_of_numbers(values, name)
    objects = values.tolist() if values.dtype.kind not in "mM" else list(values)
    pandas = sys.modules.get("pandas")
    try:
        strings = _core.factorize(objects, None if pandas is None else pandas.NA)
    except UnicodeEncodeError as error:
        raise InvalidDataError(f"{name} has a value that is not Unicode text") from error
    if strings is not None:
        codes, names, first = strings
        return Column(codes=codes, names=names, categories=values[first].astype(object))
    try:
        distinct = dict.fromkeys(objects)
    except TypeError:
        odd = next(value for value in objects if not _hashable(value))
        raise TypeError(f"{name}: argument must be a string or a real number, not {type(odd).__name__!r}") from None
    kept = [value for value in distinct if not is_missing(value)]
    kept.sort(key=_sort_key(kept))
    code_of = dict.fromkeys(distinct, -1)
    code_of.update(zip(kept, range(len(kept))))
    codes = np.fromiter(map(code_of.__getitem__, objects), dtype=np.int32, count=len(objects))
    return _column_of(codes, kept, name)


def _sort_key(values):
    """What categories are sorted by: None for themselves (all numbers, or all strings), else their names."""
    plain = all(isinstance(value, _NUMBERS) for value in values) or all(isinstance(value, str) for value in values)
    return None if plain else label_of


def sorted_codes(codes, categories):
    """The same column with sorted categories: the same objects where they are sorted already."""
    key = _sort_key(categories)
    keys = categories if key is None else list(map(key, categories))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    if order == list(range(len(categories))):
        return codes, categories
    new_code = np.full(len(categories) + 1, -1, dtype=np.int32)  # -1, missing, is the last
    new_code[order] = np.arange(len(categories))
    return new_code[codes], [categories[place] for place in order]


def _hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _codes_of_numbers(values, name):
    categories, codes = np.unique(values, return_inverse=True)
    codes = codes.astype(np.int32).reshape(values.shape)
    if categories.dtype.kind == "f" and categories.size and np.isnan(categories[-1]):
        codes[codes == categories.size - 1] = -1
        categories = categories[:-1]
    return _column_of(codes, categories.tolist(), name)


def codes_of_categories(codes, categories, name="X", ordered=True):
    """A column of names whose codes are there: they count into ``categories``, and -1 is missing.

    Categories without an order are sorted: libraries number them as they like.
    """
    codes, categories = np.asarray(codes).astype(np.int32, copy=False), list(categories)
    if not ordered:
        codes, categories = sorted_codes(codes, categories)
    return _column_of(codes, categories, name)


def _column_of(codes, categories, name):
    names = [label_of(value) for value in categories]
    if len(set(names)) < len(names):
        first = {}
        for label, value in zip(names, categories):
            if label in first:
                raise InvalidDataError(
                    f"{name} has two values of the name {label!r}: {first[label]!r} and {value!r}"
                )
            first[label] = value
    try:
        values = _core.Values(names)
    except TypeError as error:
        raise InvalidDataError(f"{name} has a value that is not Unicode text") from error
    return Column(codes=codes, names=values, categories=as_objects(categories))


def as_objects(values):
    """An array of objects, one for each value, even where values are sequences."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
