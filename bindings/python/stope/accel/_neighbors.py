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
from ._measures import has_measure, measure_of, measure_of_object
from ._policy import leave_slow
from ._rows import is_sparse, plain
from ._seam import Seam
from ._tally import Leave

__all__ = ["argkmin", "seams"]

_BASE = "sklearn.neighbors._base"
_VOTES = "sklearn.neighbors._classification"

# A search makes images of the training rows first, at some 8 ns a value, where scikit-learn takes some 0.1 ns a value
# and query. So these many queries are too few, unless the training rows are so few that it makes no difference.
_FEW_QUERIES = 50
_FEW_VALUES = 100_000
# A tree of up to 4 columns finds neighbours in less time than any search of all rows. One of up to 7 does so if it is
# asked for fewer than one row in 20 of its own number.
_TREE_COLUMNS = 4
_NARROW_COLUMNS, _NARROW_SHARE = 7, 20


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

    def __init__(self, measure, n_jobs, has_tree):
        self.measure = measure
        self.n_jobs = n_jobs
        self.has_tree = has_tree
        self.whole_matrix = False  # scikit-learn would compute the matrix of distances


def _plan_of(estimator):
    """The plan of a call, or None where scikit-learn will refuse it. Raises :class:`Leave`."""
    method = getattr(estimator, "_fit_method", None)
    if method not in ("brute", "kd_tree", "ball_tree") or not hasattr(estimator, "effective_metric_"):
        return None
    if estimator.metric == "precomputed":
        raise Leave("metric='precomputed'")
    n_features = estimator._fit_X.shape[1]
    if method == "brute":
        scipy = getattr(estimator._fit_X, "dtype", np.dtype(float)).kind != "f"
        measure = measure_of(estimator.effective_metric_, estimator.effective_metric_params_, n_features, scipy=scipy)
    else:
        if callable(estimator.effective_metric_):
            raise Leave("a callable metric")
        measure = measure_of_object(_metric_of_tree(estimator._tree), n_features)
    return _Plan(measure, estimator.n_jobs, has_tree=method != "brute")


def _metric_of_tree(tree):
    """A tree that was handed in may have another metric than its estimator, and then the tree's holds."""
    from sklearn.metrics import DistanceMetric

    of_tree = [part for part in tree.__getstate__() if isinstance(part, DistanceMetric)]
    if len(of_tree) != 1:
        raise Leave("a tree of an unknown metric")
    return of_tree[0]


def _brute_twin(estimator, plan):
    """An estimator that searches the same rows without its tree. The estimator itself stays as it is."""
    if not plan.has_tree:
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
            if call is None:  # inside another call, whose plan is not this one's
                with _tally.hidden():
                    return original(self, X, *args, **kwargs)
            try:
                call.plan = _plan_of(self)
                if call.plan is not None and not (call.plan.has_tree and is_sparse(X)):
                    return original(_brute_twin(self, call.plan), X, *args, **kwargs)
            except Leave as reason:
                call.why = str(reason)
            call.plan = None
            return original(self, X, *args, **kwargs)

    return search


def _plan_under_way():
    call = _tally.current()
    return call.plan if call is not None and isinstance(call.plan, _Plan) else None


def _leave_slow(X, Y, plan):
    """Raises :class:`Leave` where scikit-learn answers sooner."""
    (n_queries, n_columns), n_rows = X.shape, Y.shape[0]
    if n_rows * n_columns <= _FEW_VALUES:
        return
    if n_queries < _FEW_QUERIES:
        leave_slow("few queries, which scikit-learn answers sooner")
    few = n_columns <= _TREE_COLUMNS or (n_columns <= _NARROW_COLUMNS and n_queries * _NARROW_SHARE < n_rows)
    if plan.has_tree and few:
        leave_slow("few columns, where a tree answers sooner")


def _find(X, Y, plan, find):
    """What ``find`` returns, given an index of the rows of Y, the rows of X, and a run."""
    _leave_slow(X, Y, plan)
    measure = plan.measure
    queries = plain(X, measure)
    train = queries if Y is X else plain(Y, measure)
    try:
        with job(n_jobs=plan.n_jobs) as run:
            index = _core.KnnIndex.fit(
                train, metric=measure.name, params=measure.params, feature_weights=list(measure.weights), share=True,
                run=run)  # the rows lie still while this call lasts
            return find(index, queries, run)
    except StopeError as error:
        raise Leave(f"stope: {error}") from error


def _number_type(X, Y, plan):
    small = plan.whole_matrix and plan.measure.keeps_float32 and X.dtype == Y.dtype == np.float32
    return np.float32 if small else np.float64


def argkmin(X, Y, k, plan, return_distance):
    """What ``ArgKmin.compute`` returns, by (distance, row)."""
    distances, indices = _find(X, Y, plan, lambda index, queries, run: index.kneighbors(queries, k, run=run))
    indices = indices.astype(np.intp, copy=False)
    if return_distance:
        return plan.measure.finish(distances).astype(_number_type(X, Y, plan), copy=False), indices
    return indices


def _within(X, Y, radius, plan, return_distance, sort_results):
    measure = plan.measure
    start = measure.start(radius)
    offsets, indices, distances = _find(
        X, Y, plan, lambda index, queries, run: index.radius_neighbors(queries, _above(start), run=run))
    distances = measure.finish(distances).astype(_number_type(X, Y, plan), copy=False)
    lists = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    inside = distances <= radius
    lists, indices, distances = lists[inside], indices[inside].astype(np.intp, copy=False), distances[inside]
    if not sort_results:  # scikit-learn's lists are in row order
        order = np.lexsort((indices, lists))
        indices, distances = indices[order], distances[order]
    offsets = np.searchsorted(lists, np.arange(len(offsets)))
    indices = _lists_of(indices, offsets)
    return (_lists_of(distances, offsets), indices) if return_distance else indices


def _above(radius):
    """A little more than the radius: rounding must not lose a row that :func:`_within` would keep."""
    return float(radius + abs(radius) * 1e-6 + 1e-12)


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
            plan.whole_matrix = not usable and not plan.has_tree
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
            return not has_measure(metric) and original.is_usable_for(X, Y, metric)

    return _named_like(Dispatcher, original)
