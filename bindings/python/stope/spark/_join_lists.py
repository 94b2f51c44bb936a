"""Lists of neighbours by the ids of queries and items: joined, cut to the nearest, written to Arrow and read again."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["LISTS", "Lists", "lists_schema", "no_lists"]

LISTS = "query bigint, items array<bigint>, distances array<double>"
_ROWS = 10_000  # lists of one batch
_INTEGERS = pa.list_(pa.field("element", pa.int64()))
_NUMBERS = pa.list_(pa.field("element", pa.float64()))


def lists_schema(labelled):
    """The columns of lists in Spark's words."""
    return LISTS + (", labels array<double>" if labelled else "")


@dataclass
class Lists:
    """Entries of lists, one element each.

    Attributes
    ----------
    queries, items : ndarray of int64
        The ids of both rows.
    distances : ndarray of float64
    labels : ndarray of float64 or None
        The item's class code, or its target.
    """

    queries: np.ndarray
    items: np.ndarray
    distances: np.ndarray
    labels: "np.ndarray | None"

    def __len__(self):
        return len(self.queries)

    def _taken(self, which):
        labels = None if self.labels is None else self.labels[which]
        return Lists(self.queries[which], self.items[which], self.distances[which], labels)

    def joined(self, other):
        """The entries of both."""
        labels = None if self.labels is None else np.concatenate([self.labels, other.labels])
        return Lists(
            np.concatenate([self.queries, other.queries]), np.concatenate([self.items, other.items]),
            np.concatenate([self.distances, other.distances]), labels,
        )

    def without_self(self):
        """The entries without those of a query's own id."""
        return self._taken(self.items != self.queries)

    def nearest(self, n_neighbors):
        """The first entries of each list by (distance, id), with NaN last; lists in the order of the queries' ids.

        This is the engine's order of (distance, row) for items that are sorted by id: -0 equals 0 in both.
        """
        ordered = self._taken(np.lexsort((self.items, self.distances, self.queries)))
        return ordered._taken(ordered.positions() < n_neighbors)

    def starts(self):
        """Where each list begins, in lists that are in order."""
        if not len(self):
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.concatenate([[True], self.queries[1:] != self.queries[:-1]]))

    def positions(self):
        """Each entry's place in its list, in lists that are in order."""
        starts = self.starts()
        lengths = np.diff(np.append(starts, len(self)))
        return np.arange(len(self)) - np.repeat(starts, lengths)

    def batches(self):
        """Arrow batches of one row a list, for lists that are in order."""
        starts = self.starts()
        ends = np.append(starts[1:], len(self))
        for begin in range(0, len(starts), _ROWS):
            first, last = starts[begin:begin + _ROWS], ends[begin:begin + _ROWS]
            offsets = np.append(first, last[-1]) - first[0]
            within = slice(int(first[0]), int(last[-1]))
            columns = {
                "query": pa.array(self.queries[first]),
                "items": _list_array(offsets, self.items[within], _INTEGERS),
                "distances": _list_array(offsets, self.distances[within], _NUMBERS),
            }
            if self.labels is not None:
                columns["labels"] = _list_array(offsets, self.labels[within], _NUMBERS)
            yield pa.RecordBatch.from_arrays(list(columns.values()), schema=self.schema())

    def schema(self):
        """The schema of the batches."""
        fields = [("query", pa.int64()), ("items", _INTEGERS), ("distances", _NUMBERS)]
        return pa.schema(fields + ([] if self.labels is None else [("labels", _NUMBERS)]))

    @classmethod
    def of_arrow(cls, table):
        """The entries of a table whose rows are lists, in any order."""
        lengths = pc.list_value_length(table["items"]).to_numpy()
        queries = np.repeat(table["query"].to_numpy(), lengths)
        labelled = "labels" in table.column_names
        return cls(
            queries, _flat(table["items"]), _flat(table["distances"]), _flat(table["labels"]) if labelled else None
        )


def no_lists(labelled):
    """Lists without entries."""
    numbers, integers = np.empty(0), np.empty(0, np.int64)
    return Lists(integers, integers, numbers, numbers if labelled else None)


def _list_array(offsets, values, kind):
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values), type=kind)


def _flat(column):
    return pc.list_flatten(column).to_numpy()
