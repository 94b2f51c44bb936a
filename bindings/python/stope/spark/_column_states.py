"""What is known of a column after some of its rows: order-free, so that the rows of tasks join in any order."""

import math

import numpy as np

from ..errors import UnsupportedError
from ._exact_sums import PowerSums, power_sums

__all__ = ["ColumnState"]


class ColumnState:
    """Counts, extremes with their ids, exact sums, and how often each name occurs.

    Parameters
    ----------
    moments : bool
        Whether powers of numbers are summed.
    identified : bool
        Whether rows have ids.
    max_names : int
        Different names that a column may have.
    """

    def __init__(self, name, moments, identified, max_names):
        self.name, self.moments, self.identified, self.max_names = name, moments, identified, max_names
        self.type = None
        self.count = self.missing = self.zeros = 0
        self.low = self.high = None  # (value, id)
        self.infinite = [0, 0]  # how many are -inf and inf
        self.sums = PowerSums()
        self.names = {}

    def add(self, column, statistics, at, ids):
        """Count the rows of a block.

        ``column`` is the engine's, ``statistics`` the :class:`ColumnStatistics` of all columns, of which this one is number
        ``at``, and ``ids`` the ascending ids of the rows, or None.
        """
        self.type = column.type
        self.count += int(statistics.count[at])
        self.missing += int(statistics.missing[at])
        self.zeros += int(statistics.zeros[at])
        if column.is_nominal:
            self._count_names({name: n for name, n in statistics.value_counts[at].items() if n})
            return
        if statistics.count[at]:
            low, high = statistics.min_row[at], statistics.max_row[at]
            self._extend(float(statistics.min[at]), int(ids[low]) if self.identified else -1,
                         float(statistics.max[at]), int(ids[high]) if self.identified else -1)
        if self.moments:
            values = column.array().astype(np.float64, copy=False)
            self.infinite[0] += int((values == -np.inf).sum())
            self.infinite[1] += int((values == np.inf).sum())
            self.sums.add(power_sums(values[np.isfinite(values)]))

    def _extend(self, low, low_id, high, high_id):
        if not self.identified:  # nothing says whether 0 or -0 comes first
            low, high = low + 0.0, high + 0.0
        if self.low is None or (low, low_id) < self.low:
            self.low = low, low_id
        if self.high is None or (-high, high_id) < (-self.high[0], self.high[1]):
            self.high = high, high_id

    def _count_names(self, names):
        for name, n in names.items():
            self.names[name] = self.names.get(name, 0) + n
        if len(self.names) > self.max_names:
            raise UnsupportedError(
                f"column {self.name!r} has more than {self.max_names} different names; leave it out by `columns`, or "
                "raise max_names"
            )

    def to_json(self):
        """The state as what JSON holds, with all bits of the numbers."""
        ends = [None if end is None else [end[0].hex(), end[1]] for end in (self.low, self.high)]
        return {
            "type": self.type, "count": self.count, "missing": self.missing, "zeros": self.zeros, "ends": ends,
            "infinite": self.infinite, "sums": self.sums.to_list(), "names": self.names,
        }

    def join(self, json):
        """Add the rows of another state, which :meth:`to_json` gave."""
        self.type = json["type"]
        for name in ("count", "missing", "zeros"):
            setattr(self, name, getattr(self, name) + json[name])
        low, high = json["ends"]
        if low is not None:
            self._extend(float.fromhex(low[0]), low[1], float.fromhex(high[0]), high[1])
        self.infinite = [ours + theirs for ours, theirs in zip(self.infinite, json["infinite"])]
        self.sums.add(PowerSums.of_list(json["sums"]))
        self._count_names(json["names"])

    def finished(self):
        """The statistics by the names of ColumnStatistics."""
        nominal = self.type in ("nominal", "polynominal", "binominal")
        low = (math.nan, -1) if self.low is None else self.low
        high = (math.nan, -1) if self.high is None else self.high
        found = {
            "name": self.name, "type": self.type, "count": self.count, "missing": self.missing, "zeros": self.zeros,
            "min": low[0], "max": high[0], "min_row": low[1], "max_row": high[1],
        }
        moments = self.sums.moments()
        for name in ("sum", "mean", "variance", "std", "skewness"):
            found[name] = math.nan if nominal or not self.moments else getattr(moments, name)
        if any(self.infinite) and self.moments:
            found.update(dict.fromkeys(("variance", "std", "skewness"), math.nan))
            found["sum"] = found["mean"] = math.nan if all(self.infinite) else math.copysign(
                math.inf, self.infinite[1] - self.infinite[0]
            )
        names = sorted(self.names)
        found["values"] = names if nominal else None
        found["counts"] = [self.names[name] for name in names] if nominal else None
        found["distinct"] = len(names) if nominal else None
        return found
