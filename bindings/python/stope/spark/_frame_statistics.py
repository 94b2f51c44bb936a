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
        found = {name: [one[name] for one in columns] for name in ("name", "type", "values", "distinct")}
        found["whole"] = np.array([[one[name] for one in columns] for name in _COUNTED], np.int64)
        found["numbers"] = np.array([[one[name] for one in columns] for name in _MEASURED], np.float64)
        counts = [one["counts"] for one in columns]
        found["nominal"] = [(at, each, None) for at, each in enumerate(counts) if each is not None]
        found.update(dict.fromkeys(("integers", "histogram", "quantiles")))
        statistics = cls(found, [], True, None)
        rows = ("min_row", "max_row") if identified else ()
        statistics.exact = ("count", "missing", "zeros", "min", "max", *rows, "value_counts", "distinct")
        statistics.rounded_once = ("sum", "mean", "variance", "std", "skewness") if moments else ()
        return statistics
