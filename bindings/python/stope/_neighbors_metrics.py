"""Which measure a caller asks for in scikit-learn's or stope's names: of estimators of neighbours, and of matrices."""

import numbers
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from . import _core
from ._run import warn

__all__ = ["SKLEARN_ONLY", "Measure", "check_name", "check_skips", "measure_of", "takes_missing"]

# Measures of booleans that the engine lacks: scikit-learn computes their distances, stope selects.
SKLEARN_ONLY = frozenset({"rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule"})
# Measures that are defined where attributes are missing: a missing value is part of their formula.
_OF_MISSING = frozenset({"nan-euclidean", "gower", "heom"})
# Words for ``metric`` that are no names of the engine's.
_WORDS = frozenset({"auto", "precomputed", "pyfunc", "minkowski", "p", "seuclidean", "mahalanobis"})


@dataclass
class Measure:
    """One measure, as the engine or scikit-learn's pairwise code computes it."""

    name: "str | None"  # the engine's; None: `pairwise` computes the distances
    params: dict = field(default_factory=dict)  # the engine's, all of them text
    weights: list = field(default_factory=list)  # one for each feature, or none
    pairwise: object = None  # a name of scikit-learn's, a callable, or "precomputed"
    keywords: dict = field(default_factory=dict)  # of `pairwise`
    effective: object = None  # scikit-learn's effective_metric_
    effective_params: dict = field(default_factory=dict)


@cache
def _infos():
    """The engine's measures by all of their names."""
    infos = {}
    for info in _core.metrics():
        for name in [info["name"], *info["aliases"].split()]:
            infos[name] = info
        if info["rapidminer"]:
            infos[f"{info['family']}.{info['rapidminer']}"] = info
            infos.setdefault(info["rapidminer"], info)
    return infos


def takes_missing(metric):
    """Whether a measure's formula says what a missing value does, so that X may have some."""
    return isinstance(metric, str) and metric in _infos() and _infos()[metric]["name"] in _OF_MISSING


def check_name(metric):
    """Raises ValueError for a word that no measure has."""
    if isinstance(metric, str) and metric not in _WORDS and metric not in SKLEARN_ONLY and metric not in _infos():
        _refuse(metric)


def check_skips(metric, measure):
    """Raises ValueError for a measure that cannot leave missing attributes out."""
    if measure.name is None:
        raise ValueError(f"missing='skip' needs a measure of the engine; metric={metric!r} is none")
    if not _infos()[measure.name]["allows_missing"]:
        raise ValueError(f"missing='skip' has no meaning for metric={metric!r}: its distance is NaN where an attribute "
                         "is missing")


def measure_of(metric, rows, *, metric_params=None, feature_weights=None, p=None, algorithm=None):
    """The measure that an estimator's parameters of these names mean for its rows.

    Raises ValueError for words that no measure has, and where the parameters contradict each other.
    """
    given = dict(metric_params or {})
    if not all(isinstance(name, str) for name in given):
        raise ValueError(f"the names of metric_params are not all text: {list(given)!r}")
    weights = _feature_weights(feature_weights, rows)
    if callable(metric) or hasattr(metric, "pairwise"):
        return _computed(metric, given, metric, weights)
    if not isinstance(metric, str):
        raise ValueError(f"metric must be a name or a callable; got {metric!r}")
    check_name(metric)
    if metric == "pyfunc":
        if not callable(given.get("func")):
            raise ValueError("metric='pyfunc' needs a function of two rows: metric_params={'func': ...}")
        return _computed(given.pop("func"), given, metric, weights)
    if metric == "precomputed":
        if weights:
            raise ValueError("feature_weights have no meaning for distances that are computed already")
        return Measure(None, pairwise="precomputed", effective=metric, effective_params=given)
    if metric == "auto":
        metric = _auto(p, rows)
    if metric in ("minkowski", "p"):
        return _minkowski(p, algorithm, given, weights)
    if metric == "seuclidean":
        return _seuclidean(rows, given, weights)
    if metric in SKLEARN_ONLY or (metric == "mahalanobis" and given):
        return _computed(metric, given, metric, weights)
    info = _infos()[metric]
    weights = _with_w(weights, given) if "w" in given else weights
    return Measure(info["name"], {key: _text(value) for key, value in given.items()}, weights, effective=metric,
                   effective_params=dict(metric_params or {}))


def _auto(p, rows):
    if not any(rows.nominal):
        return "minkowski"
    if p not in (None, 2):
        raise ValueError(f"metric='auto' compares nominal columns at p=2 only; got p={p!r}")
    return "mixed-euclidean"


def _refuse(metric):
    try:
        _core.KnnIndex.fit(np.zeros((1, 1)), metric, run=_core.Run())
    except ValueError as error:
        reason = str(error)
    else:
        reason = f"unknown metric {metric!r}"
    names = ", ".join(sorted({info["name"] for info in _infos().values()} | SKLEARN_ONLY | {"seuclidean"}))
    raise ValueError(f"Metric '{metric}' not valid: {reason}. Valid metrics are auto, precomputed, a callable, "
                     f"{names}.")


def _minkowski(p, algorithm, given, weights):
    if "p" in given and p is not None:
        warn(SyntaxWarning("Parameter p is found in metric_params. The corresponding parameter from __init__ is "
                           "ignored."))
    p = given.pop("p", p)
    p = 2 if p is None else p
    if not isinstance(p, numbers.Real) or not p > 0:
        raise ValueError(f"p must be a number above 0; got {p!r}")
    w = given.pop("w", None)
    if given:
        raise ValueError(f"metric minkowski has no parameter {next(iter(given))!r}; it has p and w")
    if w is not None and np.isinf(p):
        raise ValueError("MinkowskiDistance requires finite p where w is given. For p=inf, use metric='chebyshev' with "
                         "feature_weights.")
    if p < 1 and algorithm is not None:
        if algorithm in ("ball_tree", "kd_tree"):
            raise ValueError(f'algorithm="{algorithm}" does not support 0 < p < 1 for the Minkowski metric. '
                             'To resolve this problem either set p >= 1 or algorithm="brute".')
        warn(UserWarning("Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the "
                         "execution with `algorithm='brute'`."))
    weights = weights if w is None else _with_w(weights, {"w": w})
    usual = {1: ("manhattan", "manhattan"), 2: ("euclidean", "euclidean"), np.inf: ("chebyshev", "chebyshev")}
    if p in usual:
        name, effective = usual[p]
        if w is None:
            return Measure(name, {}, weights, effective=effective)
        return Measure(name, {}, weights, effective="minkowski", effective_params={"p": p, "w": w})
    return Measure("minkowski", {"p": _text(p)}, weights, effective="minkowski", effective_params={"p": p, "w": w})


def _seuclidean(rows, given, weights):
    """Squared differences over the variances: those of ``V``, else of the training rows."""
    V = given.pop("V", None)
    if given:
        raise ValueError(f"metric seuclidean has no parameter {next(iter(given))!r}; it has V")
    if rows.array is None:
        raise ValueError("metric seuclidean takes columns of numbers only")
    V = np.var(rows.array, axis=0, ddof=1, dtype=np.float64) if V is None else np.asarray(V, dtype=np.float64)
    if V.shape != (rows.n_columns,):
        raise ValueError(f"V must have one variance for each of the {rows.n_columns} features; got shape {V.shape}")
    if not (np.isfinite(V).all() and (V > 0).all()):
        raise ValueError("metric seuclidean needs variances above 0: leave constant columns out, or give V")
    inverse = (1.0 / V) * (np.asarray(weights) if weights else 1.0)
    return Measure("euclidean", {}, inverse.tolist(), effective="seuclidean", effective_params={"V": V})


def _computed(metric, keywords, effective, weights):
    if weights:
        raise ValueError(f"feature_weights have no meaning for metric={metric!r}, which stope does not compute itself")
    keywords = dict(keywords)
    if metric == "mahalanobis" and "V" in keywords and keywords.get("VI") is None:
        keywords["VI"] = np.linalg.inv(np.atleast_2d(np.asarray(keywords.pop("V"), dtype=np.float64)))
    return Measure(None, pairwise=metric, keywords=keywords, effective=effective, effective_params=dict(keywords))


def _with_w(weights, given):
    w = np.asarray(given.pop("w"), dtype=np.float64)
    if weights:
        raise ValueError("w in metric_params and feature_weights are the same: give one of them")
    if w.ndim != 1 or (w < 0).any():
        raise ValueError("w must have one weight, not below 0, for each feature")
    return w.tolist()


def _feature_weights(weights, rows):
    if weights is None:
        return []
    if isinstance(weights, dict):
        names = rows.names or list(range(rows.n_columns))
        unknown = [name for name in weights if name not in names]
        if unknown:
            raise ValueError(f"feature_weights names a column that X lacks: {unknown[0]!r}")
        weights = [weights.get(name, 1.0) for name in names]
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (rows.n_columns,):
        raise ValueError(
            f"feature_weights must have one weight for each of the {rows.n_columns} features; got shape {weights.shape}"
        )
    return weights.tolist()


def _text(value):
    """A parameter's value as the engine reads it: numbers with all of their digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise ValueError(f"metric_params has {value!r}, which is neither a number nor a word") from None
