"""The donors of missing values in arrays, found by the core's imputer; by a plain loop where the metric is a function."""

import math

import numpy as np

from . import _core

__all__ = ["DonorSearch"]


class DonorSearch:
    """Training rows, NaN where missing, and the donors that they are for others.

    Parameters
    ----------
    rows : ndarray of shape (n_train, n_columns), float64
        Numbers and codes. They are kept, and nobody may write to them.
    n_neighbors : int
        How many donors a value has.
    weights : str
        "uniform" or "distance".
    metric : callable or None
        A function of two rows and ``missing_values``; None is nan-euclidean.
    n_categories : list of int or None
        The categories of each column, -1 for numbers. None: all are numbers.
    """

    def __init__(self, rows, n_neighbors, weights="uniform", metric=None, n_categories=None):
        self.rows = np.asfortranarray(rows)
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.n_categories = [] if n_categories is None else n_categories
        self._imputer = None

    def __getstate__(self):
        return {**self.__dict__, "_imputer": None}

    def set(self, n_neighbors, weights):
        """Take other options; the imputer is made again where they differ."""
        if (n_neighbors, weights) != (self.n_neighbors, self.weights):
            self.n_neighbors, self.weights, self._imputer = n_neighbors, weights, None

    def cells(self, queries, job, donors=False):
        """Return (rows, columns, values, donors, distances) of the values that ``queries`` lack, row by row.

        A value that has no donor is the column's mean or most frequent code; NaN where no training row has the column.
        The donors, and their distances, have a row for each value: nearest first, -1 and NaN where there are fewer.
        Without ``donors`` these rows are empty. ``job()`` is a context that yields a run of the engine.
        """
        if self.metric is not None:
            return self._cells_of_function(queries)
        with job() as run:
            if self._imputer is None:
                self._imputer = _core.Imputer(self.rows, self.n_categories, self.n_neighbors, self.weights, run)
            return self._imputer.cells(np.asfortranarray(queries), donors, run)

    def _cells_of_function(self, queries):
        present = ~np.isnan(self.rows)
        rows, columns = np.nonzero(np.isnan(queries))
        width = min(self.n_neighbors, len(self.rows))
        donors = np.full((len(rows), width), -1, dtype=np.int64)
        distances = np.full((len(rows), width), np.nan)
        last, order, of_row = -1, None, None
        for cell, (row, column) in enumerate(zip(rows, columns)):
            if row != last:
                of_row = np.array([self.metric(queries[row], other, missing_values=np.nan) for other in self.rows])
                order = np.argsort(of_row, kind="stable")  # NaN last
                order = order[: len(order) - int(np.isnan(of_row).sum())]
                last = row
            mine = order[present[order, column]][:width]
            donors[cell, : len(mine)] = mine
            distances[cell, : len(mine)] = of_row[mine]
        return rows, columns, np.full(len(rows), math.nan), donors, distances
