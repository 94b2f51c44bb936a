"""Mixed tables as numbers: codes beside values, and coordinates whose distances are those of mixed rows."""

import numpy as np

from ._columns import is_read_only

__all__ = ["MixedSpace", "values_of"]


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


class MixedSpace:
    """Coordinates in which nan-euclidean is the distance of mixed rows.

    A nominal attribute of c categories becomes c + 1 coordinates of 0 and 1, each of weight 1/2; the last one is for
    categories that ``fit`` has not seen. Two different values differ in two coordinates, which adds 1. All attributes
    must weigh the same where they are present, for the measure divides by that weight: a coordinate that is 0, or NaN
    where the attribute is missing, brings each of them up to the weight of the widest one. All terms are exact.
    """

    def __init__(self, n_categories):
        """``n_categories`` has a number for each nominal attribute, and None for each numeric one."""
        self.n_categories = n_categories
        own = [1.0 if n is None else (n + 1) / 2 for n in n_categories]
        widest = max(own)
        weights = []
        self._fill = []  # whether an attribute has a coordinate that only weighs
        for n, weight in zip(n_categories, own):
            weights += [1.0] if n is None else [0.5] * (n + 1)
            self._fill.append(weight < widest)
            if weight < widest:
                weights.append(widest - weight)
        self.weights = np.array(weights)

    def map(self, values):
        """Coordinates of rows: values of shape (n, n_attributes) become (n, n_coordinates), in C order."""
        coordinates = np.zeros((len(values), len(self.weights)))
        at = 0
        for j, n in enumerate(self.n_categories):
            column = values[:, j]
            missing = np.isnan(column)
            if n is None:
                coordinates[:, at] = column
                at += 1
            else:
                present = np.flatnonzero(~missing)
                coordinates[present, at + column[present].astype(np.int64)] = 1.0
                coordinates[missing, at : at + n + 1] = np.nan
                at += n + 1
            if self._fill[j]:
                coordinates[missing, at] = np.nan
                at += 1
        return coordinates
