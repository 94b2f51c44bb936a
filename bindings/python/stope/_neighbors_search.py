"""Searches for neighbours: by the engine, or through a matrix of distances that somebody else computes."""

import numpy as np

from . import _core
from ._neighbors_metrics import SKLEARN_ONLY
from ._run import Report

__all__ = ["EngineSearch", "MatrixSearch"]

_QUICK = frozenset({
    "cosine", "chebyshev", "euclidean", "gower", "hamming", "heom", "manhattan", "mixed-euclidean", "nan-euclidean",
    "sqeuclidean",
})
_BLOCK_BYTES = 1 << 26  # distances that a matrix search holds at once


class EngineSearch:
    """Searches of a ``_core.KnnIndex``.

    ``excluded``, where it is given, is a mask of training rows that are nobody's neighbours.
    """

    def __init__(self, index, metric):
        self.index = index
        self.quick = metric in _QUICK  # then a search of a few rows is too short to be interrupted

    @staticmethod
    def source(rows):
        """The rows as the native module takes them; None stands for the training rows."""
        if rows is None:
            return None
        array = rows.array
        return rows.table if array is None else array

    def nearest(self, rows, n_neighbors, run, excluded=None):
        """Distances and indices, both of shape (n_queries, n_neighbors); no training row is its own neighbour.

        Where exclusion leaves fewer rows, the rest of a list is NaN and -1.
        """
        distances, indices = self.index.kneighbors(
            self.source(rows), n_neighbors, rows is None, quick=self.quick, run=run, **self._groups(rows, excluded)
        )
        return distances, indices.view(np.int64)  # NumPy has two types of 64 bits, and shows the other one's name

    def within(self, rows, radius, run, excluded=None):
        """The lists within a radius as offsets, indices and distances, ordered by (distance, index)."""
        offsets, indices, distances = self.index.radius_neighbors(
            self.source(rows), radius, rows is None, quick=self.quick, run=run, **self._groups(rows, excluded)
        )
        return offsets, indices.view(np.int64), distances

    def _groups(self, rows, excluded):
        if excluded is None:
            return {}
        n_queries = self.index.n_samples if rows is None else rows.n_rows
        values = _core.Values(["excluded"])
        codes = np.where(excluded, 0, -1).astype(np.int32)
        return {
            "exclude_train": _core.Column.nominal("excluded", codes, values),
            "exclude_query": _core.Column.nominal("excluded", np.zeros(n_queries, np.int32), values),
        }


class MatrixSearch:
    """Searches through distances that a callable, scikit-learn or the caller (``"precomputed"``) computes.

    Neighbours are ordered by (distance, index), as the engine orders them; NaN is last.
    """

    def __init__(self, metric, keywords, train, n_jobs=None):
        self.metric, self.keywords, self.train, self.n_jobs = metric, keywords, train, n_jobs

    def nearest(self, rows, n_neighbors, run, excluded=None):
        n_queries = self.train.shape[0] if rows is None else rows.n_rows
        distances = np.full((n_queries, n_neighbors), np.nan)
        indices = np.full((n_queries, n_neighbors), -1, dtype=np.int64)
        for i, row in self._rows(rows):
            row, columns = self._candidates(i, row, rows is None, excluded)
            order = _smallest(row, n_neighbors)
            distances[i, : len(order)], indices[i, : len(order)] = row[order], columns[order]
        return distances, indices

    def within(self, rows, radius, run, excluded=None):
        lists = []
        for i, row in self._rows(rows):
            row, columns = self._candidates(i, row, rows is None, excluded)
            near = np.flatnonzero(row <= radius)
            near = near[np.argsort(row[near], kind="stable")]
            lists.append((columns[near], row[near]))
        offsets = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(indices) for indices, _ in lists], out=offsets[1:])
        nothing = [(np.empty(0, np.int64), np.empty(0))]
        return offsets, *(np.concatenate(arrays) for arrays in zip(*(lists or nothing)))

    def report(self):
        """What stands in the place of the engine's report."""
        who = "the caller's distances" if self.metric == "precomputed" else f"metric={self.metric!r}"
        reason = f"{who}: the engine has no formula of it"
        return Report({"job": "search", "backend": "python", "reason": reason}, f"backend   python ({reason})")

    def _rows(self, rows):
        """Yields the number and the distances of each query."""
        queries = self.train if rows is None else rows.array
        at_once = max(_BLOCK_BYTES // (8 * max(self.train.shape[0], 1)), 1)
        for begin in range(0, queries.shape[0], at_once):
            block = self._distances(queries[begin : begin + at_once])
            for i in range(block.shape[0]):
                yield begin + i, block[i]

    @staticmethod
    def _candidates(i, row, not_itself, excluded):
        """The distances of the rows that may be neighbours, and those rows."""
        if not not_itself and excluded is None:
            return row, np.arange(row.size)
        kept = np.ones(row.size, dtype=bool) if excluded is None else ~excluded
        if not_itself:
            kept[i] = False
        columns = np.flatnonzero(kept)
        return row[columns], columns

    def _distances(self, block):
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return np.asarray(block, dtype=np.float64)
        if hasattr(self.metric, "pairwise"):
            return np.asarray(self.metric.pairwise(np.ascontiguousarray(block, np.float64), self.train))
        try:
            from sklearn.metrics import pairwise_distances
        except ImportError:
            return self._by_calls(block)
        if isinstance(self.metric, str) and self.metric in SKLEARN_ONLY:
            return pairwise_distances(block != 0, self.train != 0, metric=self.metric, n_jobs=self.n_jobs,
                                      **self.keywords)
        return pairwise_distances(block, self.train, metric=self.metric, n_jobs=self.n_jobs, **self.keywords)

    def _by_calls(self, block):
        if isinstance(self.metric, str):
            raise ImportError(f"metric={self.metric!r} with these parameters needs scikit-learn")
        return np.array([[self.metric(x, y, **self.keywords) for y in self.train] for x in block], dtype=np.float64)


def _smallest(values, k):
    """The places of the k smallest, ordered by (value, place); NaN is last."""
    if k < values.size:
        bound = np.partition(values, k - 1)[k - 1]
        if bound == bound:  # no NaN among the k
            near = np.flatnonzero(values <= bound)
            return near[np.argsort(values[near], kind="stable")][:k]
    return np.argsort(values, kind="stable")[:k]
