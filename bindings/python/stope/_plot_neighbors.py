"""A picture of what makes two rows neighbours."""

import numpy as np

from ._axes import axes, number, plain, tidy
from ._base import check_is_fitted
from ._columns import is_missing
from .errors import InvalidArgumentError

__all__ = ["explain_neighbor"]

_POWER = {"euclidean": 2, "mixed-euclidean": 2, "sqeuclidean": 2, "manhattan": 1}


def _is_number(value):
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_)) and not isinstance(value, bool)


def _parts(a, b, power, feature_weights):
    """What each feature adds to the sum that the distance of two rows is made of."""
    parts = np.zeros(len(a))
    for index, (left, right) in enumerate(zip(a, b)):
        if is_missing(left) or is_missing(right):
            continue
        numbers = _is_number(left) and _is_number(right)
        parts[index] = abs(float(left) - float(right)) ** power if numbers else float(left != right)
    if feature_weights is None:
        return parts
    weights = np.asarray(feature_weights, dtype=float)
    if weights.shape != parts.shape:
        raise InvalidArgumentError(f"feature_weights: there are {weights.size}, for {len(parts)} features")
    return parts * weights


def _training_row(estimator, row):
    if estimator._fit_X is not None:
        return estimator._fit_X[row].astype(object)
    table = estimator._search.index.train()
    columns = [table.column(index) for index in range(table.n_columns)]
    cells = [(column, column.array()[row]) for column in columns if column.role == "regular"]
    return np.array(
        [(None if cell < 0 else column.values.names()[cell]) if column.is_nominal else cell for column, cell in cells],
        dtype=object,
    )


def _neighbor_of(estimator, query, rank):
    """(neighbour's values, metric, feature weights, names) of the neighbour of that rank."""
    check_is_fitted(estimator)
    measure = estimator._measure
    rows = query.to_frame().T.infer_objects() if hasattr(query, "iloc") else np.asarray(query)[None]
    row = int(estimator.kneighbors(rows, rank + 1, return_distance=False)[0, rank])
    names = getattr(estimator, "feature_names_in_", None)
    return _training_row(estimator, row), measure.name, list(measure.weights) or None, names


def explain_neighbor(
    query, neighbor=0, *, estimator=None, metric="euclidean", feature_names=None, feature_weights=None,
    max_features=20, ax=None,
):
    """Draw how much each feature adds to the distance of two rows.

    Parameters
    ----------
    query : array-like of shape (n_features,) or pandas Series
        A row.
    neighbor : int, array-like of shape (n_features,) or pandas Series, default=0
        Another row, or, with ``estimator``, which neighbour: 0 is the nearest.
    estimator : fitted estimator of neighbours or None
        Finds the neighbour among its training rows; its metric, weights and names are used.
    metric : {"euclidean", "sqeuclidean", "manhattan", "mixed-euclidean"}, default="euclidean"
        A sum over features: of squares, or of absolute differences. Two values that are no numbers differ by 1 if they
        are not the same.
    feature_names : list of str or None
        None takes the index of a Series, or x0, x1, ...
    feature_weights : array-like of shape (n_features,) or None
        They multiply squares or differences.
    max_features : int, default=20
        The features that add most; the rest is one bar.
    ax : matplotlib axes or None

    Notes
    -----
    Bars are shares of the whole sum. A feature that one of the rows lacks adds nothing here.
    """
    if feature_names is None:
        feature_names = query.index if hasattr(query, "iloc") else [f"x{i}" for i in range(len(query))]
    if estimator is not None:
        neighbor, metric, feature_weights, names = _neighbor_of(estimator, query, neighbor)
        feature_names = feature_names if names is None else names
    if metric not in _POWER:
        raise InvalidArgumentError(f"metric: {metric!r} is no sum over features; {', '.join(_POWER)} are")
    feature_names = list(feature_names)
    a, b = np.asarray(query, dtype=object), np.asarray(neighbor, dtype=object)
    if a.ndim != 1 or a.shape != b.shape or len(feature_names) != len(a):
        raise InvalidArgumentError(f"the rows have the shapes {a.shape} and {b.shape}, and {len(feature_names)} names")
    parts = _parts(a, b, _POWER[metric], feature_weights)
    total = parts.sum()
    order = np.argsort(-parts, kind="stable")
    texts = [f"{plain(feature_names[i], 20)}: {_short(a[i])} | {_short(b[i])}" for i in order[:max_features]]
    shares = list(parts[order[:max_features]])
    if len(order) > max_features:
        texts.append(f"{len(order) - max_features} others")
        shares.append(parts[order[max_features:]].sum())
    shares = np.array(shares) / total if total > 0 else np.zeros(len(texts))
    ax = axes(ax, figsize=(6.4, 0.32 * len(texts) + 1.1))
    bars = ax.barh(range(len(texts)), shares, height=0.7)
    ax.bar_label(bars, [f"{share:.1%}" for share in shares], padding=3, fontsize=8)
    ax.set_yticks(range(len(texts)), texts)
    ax.invert_yaxis()
    ax.set_xlim(0, max(1e-9, 1.15 * shares.max()))
    ax.set_xlabel("share of the " + ("squared distance" if _POWER[metric] == 2 else "distance"))
    distance = np.sqrt(total) if metric in ("euclidean", "mixed-euclidean") else total
    ax.set_title(f"distance {number(distance)} ({metric}); query | neighbour", fontsize=10)
    tidy(ax)
    return ax


def _short(value):
    return number(value) if _is_number(value) else plain(value, 14)
