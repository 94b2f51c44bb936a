"""Mixed tables as numbers: codes beside values."""

import numpy as np

from ._columns import is_read_only

__all__ = ["values_of"]


def values_of(rows, categories):
    """The rows as float64 in C order, always a copy unless nobody can write to them: numbers, and codes as numbers.

    ``categories`` are those of ``fit``, None for a numeric column. Codes count into them; a value that is not among
    them gets the code after the last. NaN is missing.
    """
    if not any(rows.nominal):
        array = rows.array
        if array.dtype == np.float64 and array.flags.c_contiguous and is_read_only(array):
            return array
        return np.array(array, dtype=np.float64, order="C")
    values = np.empty((rows.n_rows, rows.n_columns))
    for j, (fitted, own) in enumerate(zip(categories, rows.categories)):
        column = rows.table.column(j).array()
        if fitted is None:
            values[:, j] = column
            continue
        code_of = {category: code for code, category in enumerate(fitted)}
        codes = np.array([code_of.get(category, len(fitted)) for category in own] + [np.nan])
        values[:, j] = codes[column]  # -1, missing, is the last
    return values
