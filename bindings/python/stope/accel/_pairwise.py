"""Functions of ``sklearn.metrics.pairwise``: the nearest row of another table."""

from . import _tally
from ._measures import measure_of
from ._neighbors import argkmin
from ._seam import Seam
from ._tally import Leave

__all__ = ["seams"]


def seams():
    return [Seam("sklearn.metrics.pairwise:ArgKmin", _argkmin_class)]


class _NearestPlan:
    """The search of one call to pairwise_distances_argmin_min."""

    n_jobs = None
    has_tree = False
    whole_matrix = False

    def __init__(self, metric, params, n_features):
        self.measure = measure_of(metric, params, n_features, scipy=False)


def _argkmin_class(original):
    class ArgKmin(original):
        @classmethod
        def compute(cls, X, Y, *args, **kwargs):
            with_distance = kwargs.get("return_distance", False)
            with _tally.call(f"pairwise_distances_argmin{'_min' if with_distance else ''}") as call:
                if call is not None:
                    try:
                        plan = _NearestPlan(kwargs.get("metric", "euclidean"), kwargs.get("metric_kwargs"), X.shape[1])
                        result = argkmin(X, Y, kwargs["k"], plan, with_distance)
                    except Leave as reason:
                        call.why = str(reason)
                    else:
                        call.answered = True
                        return result
                return original.compute(X, Y, *args, **kwargs)

    ArgKmin.__qualname__, ArgKmin.__module__ = original.__qualname__, original.__module__
    return ArgKmin
