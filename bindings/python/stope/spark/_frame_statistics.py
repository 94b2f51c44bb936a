"""What :func:`stope.spark.column_stats` returns."""

import numpy as np

from .. import stats

__all__ = ["FrameStatistics"]

_COUNTED = ("count", "missing", "zeros", "min_row", "max_row")
_MEASURED = ("min", "max", "sum", "mean", "variance", "std", "skewness")


class FrameStatistics(stats.ColumnStatistics):
    """Statistics of the columns of a DataFrame, as :class:`stope.ColumnStatistics` has them.

    Attributes
    ----------
    exact : tuple of str
        Statistics with the bits of :func:`stope.column_stats` on one machine.
    rounded_once : tuple of str
        Statistics that are the real number, rounded once. On one machine their last bits may differ.
    """

    @classmethod
    def of(cls, columns, moments, identified):
        """The statistics of ``columns``, a dict for each."""
        found = {name: np.array([one[name] for one in columns], np.int64) for name in _COUNTED}
        found.update((name, np.array([one[name] for one in columns], np.float64)) for name in _MEASURED)
        for name in ("name", "type", "values", "counts", "distinct"):
            found[name] = [one[name] for one in columns]
        found.update((name, [None] * len(columns)) for name in ("codes", "integers", "histogram"))
        statistics = cls(found, [], True, None)
        rows = ("min_row", "max_row") if identified else ()
        statistics.exact = ("count", "missing", "zeros", "min", "max", *rows, "value_counts", "distinct")
        statistics.rounded_once = ("sum", "mean", "variance", "std", "skewness") if moments else ()
        return statistics
