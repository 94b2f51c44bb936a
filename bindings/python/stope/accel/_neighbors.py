"""Neighbours: ``kneighbors`` and ``radius_neighbors`` of all estimators of ``sklearn.neighbors``.

scikit-learn checks arguments and rows, and takes a row out of its own list; stope finds the lists. It comes in where
scikit-learn's methods ask ArgKmin or RadiusNeighbors for them. An estimator that has a tree is searched through a twin
that has none, for these methods ask a tree in other ways.
"""

import functools

import numpy as np

from .. import _core
from .._run import job
from ..errors import StopeError
from . import _tally
from ._measures import checked_array, has_measure, measure_of
from ._seam import Seam
from ._tally import Leave

__all__ = ["argkmin", "seams"]

_BASE = "sklearn.neighbors._base"
_VOTES = "sklearn.neighbors._classification"


def seams():
    of_search = ("self", "X", "n_neighbors", "return_distance")
    within = ("self", "X", "radius", "return_distance", "sort_results")
    return [
        Seam(f"{_BASE}:ArgKmin", _argkmin_class),
        Seam(f"{_BASE}:RadiusNeighbors", _radius_class),
        Seam(f"{_BASE}:KNeighborsMixin.kneighbors", _search_method, of_search),
        Seam(f"{_BASE}:RadiusNeighborsMixin.radius_neighbors", _search_method, within),
        Seam(f"{_VOTES}:ArgKminClassMode", _votes_class),
        Seam(f"{_VOTES}:RadiusNeighborsClassMode", _votes_class),
    ]


class _Plan:
    """How the search of one call is done."""

    def __init__(self, estimator):
        self.measure = measure_of(
            estimator.effective_metric_,
            estimator.effective_metric_params_,
            braycurtis=estimator._fit_method != "brute" or estimator._fit_X.dtype.kind == "f",
        )
        self.n_jobs = estimator.n_jobs
        self.whole_matrix = False  # scikit-learn would compute the matrix of distances


def _plan_of(estimator, X):
    """The plan of a call, or None where scikit-learn will refuse it. Raises :class:`Leave`."""
    method = getattr(estimator, "_fit_method", None)
    if method not in ("brute", "kd_tree", "ball_tree") or not hasattr(estimator, "effective_metric_"):
        return None
    if estimator.metric == "precomputed":
        raise Leave("metric='precomputed'")
    if hasattr(X, "tocsr") or hasattr(estimator._fit_X, "tocsr"):
        raise Leave("sparse X")
    if not isinstance(estimator._fit_X, np.ndarray):
        raise Leave("fitted to a KDTree or BallTree")
    if method != "brute":
        _check_tree(estimator)
    return _Plan(estimator)


def _check_tree(estimator):
    """A tree that was handed in may have another metric than its estimator, and then the tree's holds."""
    from sklearn.metrics import DistanceMetric

    if callable(estimator.effective_metric_):
        raise Leave("a callable metric")
    of_tree = [part for part in estimator._tree.__getstate__() if isinstance(part, DistanceMetric)]
    own = DistanceMetric.get_metric(estimator.effective_metric_, **estimator.effective_metric_params_)
    if len(of_tree) != 1 or type(of_tree[0]) is not type(own):
        raise Leave("fitted to a tree of another metric")


def _brute_twin(estimator):
    """An estimator that searches the same rows without its tree. The estimator itself stays as it is."""
    if estimator._fit_method == "brute":
        return estimator
    twin = object.__new__(type(estimator))
    twin.__dict__.update(estimator.__dict__)
    twin._fit_method = "brute"
    twin._tree = None
    return twin


def _search_method(original):
    @functools.wraps(original)
    def search(self, X=None, *args, **kwargs):
        with _tally.call(f"{type(self).__name__}.{original.__name__}") as call:
            if call is None:
                return original(self, X, *args, **kwargs)
            try:
                call.plan = _plan_of(self, X)
                if call.plan is not None:
                    return original(_brute_twin(self), X, *args, **kwargs)
            except Leave as reason:
                call.why = str(reason)
            call.plan = None
            return original(self, X, *args, **kwargs)

    return search


def _plan_under_way():
    call = _tally.current()
    return call.plan if call is not None and isinstance(call.plan, _Plan) else None


def _find(X, Y, plan, find):
    """Calls ``find`` with an index of the rows of Y and with X."""
    train = checked_array(Y, plan.measure)
    queries = checked_array(X, plan.measure)
    try:
        with job(n_jobs=plan.n_jobs) as run:
            index = _core.KnnIndex.fit(
                train, metric=plan.measure.name, params=plan.measure.params, feature_weights=list(plan.measure.weights),
                share=True, run=run)  # the rows lie still while this call lasts
            result = find(index, queries, run)
    except StopeError as error:
        raise Leave(f"stope: {error}") from error
    return result


def _number_type(X, Y, plan):
    small = plan.whole_matrix and plan.measure.keeps_float32 and X.dtype == Y.dtype == np.float32
    return np.float32 if small else np.float64


def argkmin(X, Y, k, plan, return_distance):
    """What ``ArgKmin.compute`` returns, by (distance, row)."""
    distances, indices = _find(X, Y, plan, lambda index, queries, run: index.kneighbors(queries, k, run=run))
    indices = indices.astype(np.intp, copy=False)
    if return_distance:
        return distances.astype(_number_type(X, Y, plan), copy=False), indices
    return indices


def _within(X, Y, radius, plan, return_distance, sort_results):
    offsets, indices, distances = _find(
        X, Y, plan, lambda index, queries, run: index.radius_neighbors(queries, float(radius), run=run))
    if not sort_results:  # scikit-learn's lists are in row order
        lists = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.lexsort((indices, lists))
        indices, distances = indices[order], distances[order]
    indices = _lists_of(indices.astype(np.intp, copy=False), offsets)
    if return_distance:
        return _lists_of(distances.astype(_number_type(X, Y, plan), copy=False), offsets), indices
    return indices


def _lists_of(values, offsets):
    lists = np.empty(len(offsets) - 1, dtype=object)
    for i in range(len(lists)):
        lists[i] = values[offsets[i] : offsets[i + 1]].copy()
    return lists


def _dispatcher(original, answer):
    """A subclass of a dispatcher of scikit-learn's that answers with ``answer`` where there is a plan."""

    class Dispatcher(original):
        @classmethod
        def is_usable_for(cls, X, Y, metric):
            usable = original.is_usable_for(X, Y, metric)
            plan = _plan_under_way()
            if plan is None:
                return usable
            plan.whole_matrix = not usable
            return True

        @classmethod
        def compute(cls, X, Y, *args, **kwargs):
            plan = _plan_under_way()
            if plan is None:
                return original.compute(X, Y, *args, **kwargs)
            result = answer(X, Y, plan, kwargs)
            _tally.current().answered = True
            return result

    return _named_like(Dispatcher, original)


def _named_like(ours, original):
    ours.__name__, ours.__qualname__, ours.__module__ = original.__name__, original.__qualname__, original.__module__
    return ours


def _argkmin_class(original):
    def answer(X, Y, plan, kwargs):
        return argkmin(X, Y, kwargs["k"], plan, kwargs.get("return_distance", False))

    return _dispatcher(original, answer)


def _radius_class(original):
    def answer(X, Y, plan, kwargs):
        asked = kwargs.get("return_distance", False), kwargs.get("sort_results", False)
        return _within(X, Y, kwargs["radius"], plan, *asked)

    return _dispatcher(original, answer)


def _votes_class(original):
    """Searches and votes in one step. Where stope has the metric, the classifier asks ``kneighbors`` and votes itself."""

    class Dispatcher(original):
        @classmethod
        def is_usable_for(cls, X, Y, metric):
            sparse = hasattr(X, "tocsr") or hasattr(Y, "tocsr")
            return (sparse or not has_measure(metric)) and original.is_usable_for(X, Y, metric)

    return _named_like(Dispatcher, original)
