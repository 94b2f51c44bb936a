"""scikit-learn's measures and types of arrays: which of them stope computes, and under what name."""

from dataclasses import dataclass, field

import numpy as np

from ._tally import Leave

__all__ = ["Measure", "checked_array", "has_measure", "measure_of"]


@dataclass(frozen=True)
class Measure:
    """A measure of stope's that gives the distances of one of scikit-learn's."""

    name: str
    params: dict = field(default_factory=dict)
    weights: tuple = ()  # one per feature
    booleans: bool = False  # scikit-learn reads the values as booleans
    keeps_float32: bool = False  # where scikit-learn computes whole matrices, float32 rows give float32 distances


_SIMPLE = {
    "euclidean": Measure("euclidean", keeps_float32=True),
    "l2": Measure("euclidean", keeps_float32=True),
    "sqeuclidean": Measure("sqeuclidean"),
    "manhattan": Measure("manhattan"),
    "cityblock": Measure("manhattan"),
    "l1": Measure("manhattan"),
    "chebyshev": Measure("chebyshev"),
    "infinity": Measure("chebyshev"),
    "canberra": Measure("canberra"),
    "cosine": Measure("cosine", keeps_float32=True),
    "correlation": Measure("correlation"),
    "nan_euclidean": Measure("nan-euclidean", keeps_float32=True),
    "haversine": Measure("haversine"),
    "hamming": Measure("hamming"),
    "jaccard": Measure("jaccard", booleans=True),
}


def has_measure(metric):
    """Whether stope has scikit-learn's ``metric`` with the right parameters."""
    return isinstance(metric, str) and (metric in _SIMPLE or metric in ("minkowski", "seuclidean", "braycurtis"))


def measure_of(metric, params, *, braycurtis=False):
    """The :class:`Measure` of scikit-learn's ``metric`` with ``params``. Raises :class:`Leave` with the reason.

    ``braycurtis``: whether scikit-learn divides by the sum of |x| + |y| here, as stope does (SciPy: by that of |x + y|).
    """
    if not isinstance(metric, str):
        raise Leave("a callable metric" if callable(metric) else "a DistanceMetric object")
    params = {name: value for name, value in (params or {}).items() if value is not None}
    if metric in ("minkowski", "p"):
        return _minkowski(params)
    if metric == "seuclidean" and set(params) == {"V"}:
        return Measure("euclidean", weights=_weights(1.0 / np.asarray(params["V"], dtype=np.float64)))
    if metric == "braycurtis" and braycurtis and not params:
        return Measure("braycurtis")
    if metric not in _SIMPLE:
        raise Leave(f"metric={metric!r}")
    if params:
        raise Leave(f"metric={metric!r} with {', '.join(sorted(params))}")
    return _SIMPLE[metric]


def _minkowski(params):
    p = float(params.pop("p", 2))
    weights = params.pop("w", None)
    if params:
        raise Leave(f"metric='minkowski' with {', '.join(sorted(params))}")
    if weights is not None:
        weights = _weights(np.asarray(weights, dtype=np.float64))
    if not p > 0 or (np.isinf(p) and weights):
        raise Leave("metric='minkowski' with such parameters")
    return Measure("minkowski", {"p": repr(p)}, weights or ())


def _weights(values):
    if values.ndim != 1 or not np.all(np.isfinite(values)) or np.any(values < 0):
        raise Leave("weights that are not finite and positive")
    return tuple(values.tolist())


_TYPES = {np.dtype(name) for name in (
    "float64", "float32", "int64", "int32", "int16", "int8", "uint32", "uint16", "uint8")}


def checked_array(X, measure):
    """X as an array that the engine takes, without a copy unless it is of booleans. Raises :class:`Leave`."""
    if not isinstance(X, np.ndarray):
        try:
            X = np.asarray(memoryview(X))  # the data of a tree
        except TypeError:
            raise Leave("sparse X" if hasattr(X, "tocsr") else f"X is a {type(X).__name__}") from None
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise Leave("no rows or no columns")
    if type(X) is not np.ndarray:
        X = X.view(np.ndarray)
    if X.dtype == np.bool_:
        if not measure.booleans and measure.name != "hamming":
            raise Leave("X of booleans")
        X = X.view(np.uint8)
    elif measure.booleans:
        X = (X != 0).view(np.uint8)
    if X.dtype not in _TYPES:
        raise Leave(f"X of {X.dtype}")
    return X
