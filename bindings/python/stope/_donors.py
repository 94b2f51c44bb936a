"""The donors of a missing value: the nearest training rows that have it. KNNImputer's search.

Nearly always the donors are among the first few neighbours of a row, whatever the column. So one search serves all
columns, and a second one, restricted to the rows that have the column, is needed only where it found too few.
"""

import math

import numpy as np

from . import _core

__all__ = ["DonorSearch"]

_LIST_ENTRIES = 1 << 22  # of one block of lists: 64 MB of rows and distances
_RARE = 0.2  # columns that fewer training rows have are searched for by themselves at once
_WORD = _core.Values(["absent"])


class DonorSearch:
    """Training rows, NaN where missing, and how far others are from them.

    Parameters
    ----------
    rows : ndarray of shape (n_train, n_dimensions), float64
        The rows as the distance sees them. They are kept, and nobody may write to them.
    present : ndarray of shape (n_train, n_columns), bool
        Which training row has which column.
    metric : str or callable
        A measure of the engine, or a function of two rows and ``missing_values``.
    weights : ndarray of shape (n_dimensions,), or None
        Feature weights of the measure.
    """

    def __init__(self, rows, present, metric, weights=None):
        self.rows = rows
        self.present = present
        self.metric = metric
        self.weights = weights
        self._index = None

    def __getstate__(self):
        return {**self.__dict__, "_index": None}

    def donors(self, queries, wanted, n_neighbors, job):
        """Yield (column, positions, donors, distances): the nearest donors of some query rows for one column.

        ``queries`` are rows as the distance sees them. ``wanted`` of shape (n_queries, n_columns) says who needs which
        column. ``positions`` are query rows; ``donors`` and ``distances`` have a row for each, as wide as there are
        donors wanted: nearest first, -1 and NaN where there are fewer at a distance that is defined. ``job()`` is a
        context that yields a run of the engine.
        """
        share = self.present.mean(axis=0)
        if callable(self.metric):
            width = len(self.rows)
        else:
            common = share[wanted.any(axis=0) & (share >= _RARE)]
            width = min(max((_list_width(n_neighbors, s) for s in common), default=0), len(self.rows))
        step = max(_LIST_ENTRIES // max(width, 1), 1)
        for start in range(0, len(queries), step):
            block = slice(start, start + step)
            for column, positions, *lists in self._of_block(queries[block], wanted[block], n_neighbors, width, job):
                yield column, positions + start, *lists

    def _of_block(self, queries, wanted, n_neighbors, width, job):
        left_over = {}  # columns with the same donors, by the bits of their masks: [(column, positions)]
        if width > 0:
            distances, neighbors = self._lists(queries, width, job)
            known = ~np.isnan(distances)
            whole = (width == len(self.rows)) | ~known[:, -1]  # no donor is missing in such a list
        for column in np.flatnonzero(wanted.any(axis=0)):
            positions = np.flatnonzero(wanted[:, column])
            n_wanted = min(n_neighbors, int(self.present[:, column].sum()))
            if width > 0:
                mine = neighbors[positions]
                given = self.present[mine, column] & known[positions]
                enough = (given.sum(axis=1) >= n_wanted) | whole[positions]
                if enough.any():
                    yield column, positions[enough], *_first(
                        mine[enough], distances[positions[enough]], given[enough], n_wanted
                    )
                positions = positions[~enough]
            if len(positions):
                left_over.setdefault(self.present[:, column].tobytes(), []).append((column, positions))
        for columns in left_over.values():
            yield from self._of_columns(queries, columns, n_neighbors, job)

    def _of_columns(self, queries, columns, n_neighbors, job):
        """One search for columns that the same training rows have."""
        present = self.present[:, columns[0][0]]
        n_wanted = min(n_neighbors, int(present.sum()))
        rows = np.unique(np.concatenate([positions for _, positions in columns]))
        # Rows of one group are no neighbours: the queries and the training rows without the column are that group.
        absent = np.where(present, np.int32(-1), np.int32(0))
        group = [
            _core.Column.nominal("absent", codes, _WORD) for codes in (absent, np.zeros(len(rows), dtype=np.int32))
        ]
        with job() as run:
            distances, neighbors = self._fitted(run).kneighbors(
                np.ascontiguousarray(queries[rows]), n_wanted, exclude_train=group[0], exclude_query=group[1], run=run
            )
        neighbors[np.isnan(distances)] = -1
        for column, positions in columns:
            at = np.searchsorted(rows, positions)
            yield column, positions, neighbors[at], distances[at]

    def _lists(self, queries, width, job):
        if not callable(self.metric):
            with job() as run:
                return self._fitted(run).kneighbors(np.ascontiguousarray(queries), width, run=run)
        distances = np.array(
            [[self.metric(query, row, missing_values=np.nan) for row in self.rows] for query in queries],
            dtype=np.float64,
        ).reshape(len(queries), len(self.rows))
        neighbors = np.argsort(distances, axis=1, kind="stable")  # NaN last
        return np.take_along_axis(distances, neighbors, axis=1), neighbors

    def _fitted(self, run):
        if self._index is None:
            self.rows.flags.writeable = False  # the index uses the rows where they lie
            weights = [] if self.weights is None else self.weights.tolist()
            self._index = _core.KnnIndex.fit(
                self.rows, metric=self.metric, feature_weights=weights, share=True, run=run
            )
        return self._index


def _list_width(n_neighbors, share):
    """How many neighbours a list needs for n donors among them, all but rarely, where a share of all rows has it."""
    spare = 3.0 * math.sqrt(n_neighbors * (1.0 - share))
    return math.ceil((n_neighbors + spare) / share) + 1  # the row itself is often there


def _first(neighbors, distances, given, n_wanted):
    """The first n_wanted given entries of every list, in their order; -1 and NaN where there are fewer."""
    order = np.argsort(~given, axis=1, kind="stable")[:, :n_wanted]
    given = np.take_along_axis(given, order, axis=1)
    neighbors = np.where(given, np.take_along_axis(neighbors, order, axis=1), -1)
    return neighbors, np.where(given, np.take_along_axis(distances, order, axis=1), np.nan)
