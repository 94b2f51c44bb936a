"""scikit-learn's measures: which of them stope computes, and under what name."""

import re
from dataclasses import dataclass, field, replace

import numpy as np

from ._tally import Leave

__all__ = ["Measure", "has_measure", "measure_of", "measure_of_object"]


def _same(values):
    return values


@dataclass(frozen=True)
class Measure:
    """A measure of stope's that gives the distances of one of scikit-learn's, or others in the same order."""

    name: str
    params: dict = field(default_factory=dict)
    weights: tuple = ()  # one per feature
    booleans: bool = False  # scikit-learn reads the values as booleans
    keeps_float32: bool = False  # where scikit-learn computes whole matrices, float32 rows give float32 distances
    finish: object = _same  # makes scikit-learn's distances of stope's; it keeps their order
    start: object = _same  # makes stope's radius of scikit-learn's
    basis: "np.ndarray | None" = None  # rows are multiplied by it first


_SIMPLE = {
    "euclidean": Measure("euclidean", keeps_float32=True),
    "sqeuclidean": Measure("sqeuclidean"),
    "manhattan": Measure("manhattan"),
    "chebyshev": Measure("chebyshev"),
    "canberra": Measure("canberra"),
    "cosine": Measure("cosine", keeps_float32=True),
    "correlation": Measure("correlation"),
    "nan_euclidean": Measure("nan-euclidean", keeps_float32=True),
    "haversine": Measure("haversine"),
    "hamming": Measure("hamming"),
    "jaccard": Measure("jaccard", booleans=True),
    "dice": Measure("dice", booleans=True),
    # u of n attributes differ, b are true in both: hamming is u/n, dice u/(2b + u), the inner product -b.
    "rogerstanimoto": Measure(
        "hamming", booleans=True, finish=lambda h: 2 * h / (1 + h), start=lambda r: r / (2 - r) if r < 2 else np.inf),
    "sokalsneath": Measure(
        "dice", booleans=True, finish=lambda d: 4 * d / (1 + 3 * d),
        start=lambda r: r / (4 - 3 * r) if r < 4 / 3 else np.inf),
}
_ALIASES = {
    "l2": "euclidean", "cityblock": "manhattan", "l1": "manhattan", "infinity": "chebyshev", "p": "minkowski",
    "sokalmichener": "rogerstanimoto", "matching": "hamming",
}
_WITH_PARAMETERS = ("minkowski", "seuclidean", "mahalanobis", "braycurtis", "russellrao")


def has_measure(metric):
    """Whether stope has scikit-learn's ``metric``, given the right parameters."""
    return isinstance(metric, str) and (_ALIASES.get(metric, metric) in (*_SIMPLE, *_WITH_PARAMETERS))


def measure_of(metric, params, n_features, *, scipy):
    """The :class:`Measure` of scikit-learn's ``metric`` with ``params``. Raises :class:`Leave` with the reason.

    ``scipy``: whether scikit-learn would ask SciPy, whose Bray-Curtis distance differs where values are negative.
    """
    if not isinstance(metric, str):
        if callable(metric):
            raise Leave("a callable metric")
        return measure_of_object(metric, n_features)
    params = {name: value for name, value in (params or {}).items() if value is not None}
    metric = _ALIASES.get(metric, metric)
    if metric == "minkowski":
        return _minkowski(params)
    if metric == "seuclidean" and set(params) == {"V"}:
        with np.errstate(divide="ignore"):
            return Measure("euclidean", weights=_weights(1.0 / np.asarray(params["V"], dtype=np.float64)))
    if metric == "mahalanobis" and len(params) == 1 and set(params) <= {"V", "VI"}:
        return _mahalanobis(**params)
    if metric == "braycurtis" and not scipy and not params:
        return Measure("braycurtis")
    if metric == "russellrao" and not params:
        n = float(n_features)
        return Measure("inner-product", booleans=True, finish=lambda p: (n + p) / n, start=lambda r: r * n - n)
    if metric not in _SIMPLE:
        raise Leave(f"metric={metric!r}")
    if params:
        raise Leave(f"metric={metric!r} with {', '.join(sorted(params))}")
    return _SIMPLE[metric]


def measure_of_object(metric, n_features):
    """The :class:`Measure` of a DistanceMetric, which has no readable name or parameters: its pickled state has them."""
    name = re.sub(r"Distance(32|64)?$", "", type(metric).__name__).lower()
    state = metric.__getstate__()
    if len(state) != 3:
        raise Leave("a DistanceMetric object")
    p, vector, matrix = state
    parameters = {
        "minkowski": lambda: {"p": p, "w": None if vector.tolist() == [0.0] else vector},
        "seuclidean": lambda: {"V": vector},
        "mahalanobis": lambda: {"VI": matrix},
    }
    return measure_of(name, parameters.get(name, dict)(), n_features, scipy=False)


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


def _mahalanobis(V=None, VI=None):
    """The distance is the euclidean one of rows times L, where VI = L L'."""
    try:
        VI = np.linalg.inv(np.asarray(V, dtype=np.float64)) if VI is None else np.asarray(VI, dtype=np.float64)
        if not np.allclose(VI, VI.T):
            raise Leave("metric='mahalanobis' with a matrix that is not symmetric")
        return replace(_SIMPLE["euclidean"], keeps_float32=False, basis=np.linalg.cholesky(VI))
    except (np.linalg.LinAlgError, ValueError) as error:
        raise Leave("metric='mahalanobis' with a matrix that is not positive definite") from error
