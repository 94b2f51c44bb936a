"""Tables of other libraries, taken apart into columns: pandas, and whatever speaks Arrow's C stream."""

import sys

import numpy as np

from . import _core
from ._columns import Column, as_dates, as_numbers, as_objects, codes_of_categories, codes_of_values
from ._columns import is_nominal_array, sorted_codes
from ._run import data_run

__all__ = [
    "arrow_columns", "arrow_table", "column_of_array", "column_of_series", "held", "is_pandas_frame", "table_columns",
]

_TYPES = {"M": "date", "i": "integer", "u": "integer", "b": "integer"}  # of the engine, by NumPy's kind


def is_pandas_frame(X):
    """Whether X is a DataFrame of pandas, which is not imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and hasattr(pandas, "DataFrame") and isinstance(X, pandas.DataFrame)


class _Held:
    """Memory of an array that lives as long as its owner does; NumPy makes an array of it."""

    def __init__(self, array, owner):
        self.owner = (array, owner)
        self.__array_interface__ = {**array.__array_interface__, "version": 3}


def held(array, owner):
    """The same read-only array, which keeps ``owner`` alive.

    pandas copies a block before it writes to it as long as another frame refers to it. An array does not count as one:
    so the array keeps a shallow copy of the frame.
    """
    if array.flags.writeable or array.size == 0 or array.dtype.hasobject:
        return array
    return np.asarray(_Held(array, owner))


def column_of_array(values, name, nominal):
    """A column of an array of one dimension. ``nominal`` None leaves the kind to the type."""
    if nominal is None:
        nominal = is_nominal_array(values)
    if nominal:
        return codes_of_values(values, name)
    return Column(numbers=as_numbers(values, name), type=_TYPES.get(values.dtype.kind, ""))


def column_of_series(series, name, nominal):
    """A column of pandas. ``nominal`` None leaves the kind to the dtype."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        raise TypeError(f"Sparse data was passed in {name}, but stope takes dense data; use "
                        "X.sparse.to_dense() to convert it.")
    if isinstance(dtype, pd.CategoricalDtype):
        codes, categories = held(series.array.codes, series), dtype.categories
        if nominal is not False:
            return codes_of_categories(codes, categories.tolist(), name, dtype.ordered)
        return Column(numbers=_take(as_numbers(categories.to_numpy(), name), codes))
    if isinstance(dtype, np.dtype):
        return column_of_array(held(series.to_numpy(), series), name, nominal)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return column_of_array(series.to_numpy(dtype=f"M8[{dtype.unit}]"), name, nominal)
    if isinstance(dtype, pd.StringDtype):
        return column_of_array(series.to_numpy(dtype=object), name, nominal is not False)
    if hasattr(pd, "ArrowDtype") and isinstance(dtype, pd.ArrowDtype):
        import pyarrow

        table = pyarrow.table([series.array.__arrow_array__()], names=["column"])
        return arrow_columns(table, lambda names: ([name], [nominal]))[0][0]
    if nominal is not True and dtype.kind in "iufb":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        if dtype.kind in "iu" and dtype.itemsize == 8:
            as_numbers(series.to_numpy(dtype=f"{dtype.kind}8", na_value=0), name)
        return Column(numbers=values, type=_TYPES.get(dtype.kind, ""))
    return column_of_array(series.to_numpy(dtype=object), name, nominal)


def arrow_table(X):
    """The engine's table of anything with ``__arrow_c_stream__``, and the Arrow formats of its columns.

    Dictionaries without an order are sorted, as strings are: libraries number their values as they like.
    """
    stream = X.__arrow_c_stream__()
    formats = _core.arrow_formats(stream)
    table = _core.Table.of_arrow(stream, share=True, run=data_run())
    natives = [table.column(i) for i in range(table.n_columns)]
    changed = False
    for i, format in enumerate(formats):
        if format == "dictionary" and natives[i].is_nominal:
            names = natives[i].values.names()
            codes, categories = sorted_codes(natives[i].array(), names)
            if categories is not names:
                natives[i] = _renumbered(natives[i], codes, categories)
                changed = True
    return (_core.Table.of_columns(natives, table.n_rows) if changed else table), formats


def _renumbered(native, codes, names):
    column = _core.Column.nominal(native.name, codes, _core.Values(names), native.type, share=True)
    column.role = native.role
    return column


def arrow_columns(X, kinds_of):
    """Columns of anything with ``__arrow_c_stream__``.

    ``kinds_of`` is called with the columns' names, and returns the names that messages use and the kinds that are
    wanted. Returns the columns, their rows, and whether all are float32.
    """
    table, formats = arrow_table(X)
    natives = [table.column(i) for i in range(table.n_columns)]
    shown, kinds = kinds_of([native.name for native in natives])
    booleans = [format == "b" for format in formats] + [False] * (len(natives) - len(formats))
    columns = [
        column_of_native(native, name, kind, boolean)
        for native, name, kind, boolean in zip(natives, shown, kinds, booleans)
    ]
    return columns, table.n_rows, bool(formats) and all(format in ("f", "e") for format in formats)


def table_columns(table, kinds_of):
    """The features of an engine's table."""
    natives = [table.column(i) for i in range(table.n_columns)]
    natives = [native for native in natives if native.role == "regular"]
    shown, kinds = kinds_of([native.name for native in natives])
    return [column_of_native(*of) for of in zip(natives, shown, kinds)]


def column_of_native(native, name, nominal, boolean=False):
    """A column of the engine as one of X. Booleans of Arrow are numbers unless they are to be nominal."""
    native.role = "regular"
    values = native.array()
    values.flags.writeable = False
    if not native.is_nominal:
        if nominal:
            return codes_of_values(as_dates(values) if native.type == "date" else values, name)
        return Column(numbers=values, type=native.type, ready=native)
    if boolean and nominal:
        return codes_of_categories(values, [False, True], name)
    if boolean:
        return Column(numbers=_take(np.array([0.0, 1.0]), values))
    names = native.values.names()
    if nominal is False:
        return Column(numbers=_take(as_numbers(as_objects(names), name), values))
    return Column(codes=values, names=native.values, categories=as_objects(names), ready=native)


def _take(numbers, codes):
    """The number of each code; NaN for -1."""
    return np.append(numbers, np.nan)[codes]
