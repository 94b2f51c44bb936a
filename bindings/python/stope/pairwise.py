"""Distances between all rows of two tables: a matrix, or a list of the nearest or farthest pairs."""

import numpy as np

from . import _core
from ._base import StopeEstimator
from ._data import check_X
from ._neighbors_metrics import SKLEARN_ONLY, Measure, check_skips, measure_of, takes_missing
from ._run import job
from .errors import InvalidArgumentError, UnsupportedError

__all__ = ["cross_distances", "pairwise_distances"]

# Measures of 0 and 1: the engine counts what both rows have, and the rest is arithmetic on whole numbers.
_BINARY = SKLEARN_ONLY
# 1 - cos(x, x) is not always 0 in floating point.
_ROUNDED_ON_THE_DIAGONAL = ("cosine", "correlation")


class PairwiseDistances(StopeEstimator):
    """Checks X and Y as an estimator does; its name is in messages."""


def pairwise_distances(
    X, Y=None, metric="auto", *, metric_params=None, feature_weights=None, categorical_features="from_dtype",
    missing="error", n_jobs=None, device="auto", **params,
):
    """Compute the distance between every row of X and every row of Y.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples_X, n_features)
        Rows; the first argument of the measure.
    Y : array-like or DataFrame of shape (n_samples_Y, n_features), default=None
        Rows with the same columns. None takes X.
    metric : str, default="auto"
        "auto" is "euclidean" where all columns are numbers and "mixed-euclidean" elsewhere. Further names are all of
        scikit-learn's ("cosine", "manhattan", "minkowski", "nan_euclidean", "haversine", "jaccard", ...) and the
        engine's own ("gower", "heom", "dtw", ...). Functions and "precomputed" are refused.
    metric_params : dict, default=None
        Parameters of the measure: ``p`` and ``w`` of minkowski, ``V`` of seuclidean, ``V`` or ``VI`` of mahalanobis,
        and the engine's own. Keywords of this function are the same, as in scikit-learn. The variances of seuclidean
        and the covariance of mahalanobis are by default those of the rows of X and Y together.
    feature_weights : array-like of shape (n_features,) or dict, default=None
        Factors >= 0 of the columns' terms. 0 leaves a column out. A dict names columns; others weigh 1.
    categorical_features : None, "from_dtype", mask, or list of names or indices, default="from_dtype"
        Which columns are nominal.
    missing : {"error", "skip"}, default="error"
        "error" refuses missing values, except by "nan_euclidean", "gower" and "heom", which say what they mean. "skip"
        leaves an attribute out of a distance where one of the two rows lacks it.
    n_jobs : int, default=None
        CPU threads; None takes what :func:`stope.config_context` says.
    device : str, default="auto"
        "auto", "cpu", "cuda", "cuda:0,1".
    **params
        Parameters of the measure, as in ``metric_params``.

    Returns
    -------
    D : ndarray of shape (n_samples_X, n_samples_Y), float64
        ``D[i, j]`` is the distance of row i of X from row j of Y. It is NaN where the measure has no value. Where Y is
        None and the measure is symmetric, D is symmetric bit for bit with zeros on its diagonal.

    Raises
    ------
    ValueError
        For an unknown measure or parameter, and for rows that the measure cannot take.

    Notes
    -----
    braycurtis divides by the sum of ``|x + y|``, as SciPy and scikit-learn's function of this name do. Estimators of
    neighbours divide by the sum of ``|x| + |y|``, as scikit-learn's do: the same unless a value is negative.

    Differences are taken before they are squared, so that rows near each other and far from 0 keep their distance. The
    cost is O(n_samples_X * n_samples_Y * n_features).
    """
    asked = _Asked(X, Y, metric, metric_params, params, feature_weights, categorical_features, missing, n_jobs)
    with job(n_jobs=n_jobs, device=device) as run:
        D = _core.distance_matrix(asked.X, asked.Y, **asked.arguments, run=run)
        if asked.signed_braycurtis:  # the sum of |x + y| is the distance of x from -y
            sums = _core.distance_matrix(asked.X, -asked.Y, **asked.arguments, run=run)
            D = np.divide(D, sums, out=np.where(D == 0, np.nan, np.inf), where=sums != 0)
    if asked.metric in _BINARY:
        D = _binary_distances(asked.metric, -D, asked.X, asked.Y)
    if Y is None and asked.metric in _ROUNDED_ON_THE_DIAGONAL:
        diagonal = np.einsum("ii->i", D)
        diagonal[~np.isnan(diagonal)] = 0.0
    return D


def cross_distances(
    X, Y=None, metric="auto", *, n_neighbors=None, search_for="nearest", metric_params=None, feature_weights=None,
    categorical_features="from_dtype", missing="error", n_jobs=None, device="auto", **params,
):
    """List the pairs of a row of X and a row of Y with their distances.

    Parameters
    ----------
    X, Y, metric, metric_params, feature_weights, categorical_features, missing, n_jobs, device, **params
        As in :func:`pairwise_distances`. Measures of 0 and 1 that scikit-learn alone names are refused, and so is
        braycurtis of negative values.
    n_neighbors : int, default=None
        How many rows of Y are listed for each row of X. None lists all, in the order of Y.
    search_for : {"nearest", "farthest"}, default="nearest"
        Which ones. They are in the order of their distances; of equal ones the first row of Y comes first.

    Returns
    -------
    rows_X, rows_Y : ndarray of shape (n_pairs,), int64
        Row numbers, ordered by the row of X.
    distances : ndarray of shape (n_pairs,), float64
    """
    asked = _Asked(X, Y, metric, metric_params, params, feature_weights, categorical_features, missing, n_jobs)
    if asked.metric in _BINARY or asked.signed_braycurtis:
        raise UnsupportedError(f"cross_distances does not list pairs by {metric}; take pairwise_distances")
    if n_neighbors is not None and n_neighbors < 1:
        raise InvalidArgumentError(f"n_neighbors is {n_neighbors}; it needs to be 1 or more")
    with job(n_jobs=n_jobs, device=device) as run:
        return _core.distance_pairs(
            asked.X, asked.Y, n_neighbors=n_neighbors or 0, search_for=search_for, **asked.arguments, run=run
        )


class _Asked:
    """What a caller asked for, in the engine's words: X, Y (the same object where Y is None), and arguments."""

    def __init__(self, X, Y, metric, metric_params, params, feature_weights, categorical, missing, n_jobs):
        if not isinstance(metric, str):
            raise UnsupportedError(f"a metric is a name; {metric!r} is none. A function cannot run inside the engine")
        if metric == "precomputed":
            raise UnsupportedError("there is nothing to compute for metric='precomputed'")
        if missing not in ("error", "skip"):
            raise InvalidArgumentError(f"missing is {missing!r}; it needs to be 'error' or 'skip'")
        checked = "skip" if takes_missing(metric) else missing
        caller = PairwiseDistances()
        rows_X = check_X(caller, X, reset=True, categorical_features=categorical, missing=checked)
        rows_Y = rows_X
        if Y is not None:
            rows_Y = check_X(caller, Y, reset=False, categorical_features=categorical, missing=checked)
        self.metric = metric
        self.X, self.Y = _same_kind(rows_X, rows_Y, n_jobs)
        numeric = isinstance(self.X, np.ndarray)
        if metric == "auto":
            self.metric = "euclidean" if numeric else "mixed-euclidean"
        given = {**(metric_params or {}), **params}
        if self.metric in ("seuclidean", "mahalanobis", *_BINARY) and not numeric:
            raise UnsupportedError(f"{self.metric} takes numbers only")
        if missing == "skip" and self.metric in ("mahalanobis", *_BINARY):  # they count and mix all attributes
            raise UnsupportedError(f"missing='skip' has no meaning for metric={metric!r}")
        measure = self._measure(rows_X, given, feature_weights)
        if missing == "skip":
            check_skips(metric, measure)
        # The engine divides by the sum of |x| + |y|, SciPy by that of |x + y|: the same, unless a value is negative.
        self.signed_braycurtis = measure.name == "braycurtis" and numeric and (_negative(self.X) or _negative(self.Y))
        self.arguments = {
            "metric": "manhattan" if self.signed_braycurtis else measure.name,
            "params": measure.params,
            "feature_weights": measure.weights,
        }

    def _measure(self, rows_X, given, feature_weights):
        """The measure of the engine that gives the distances. X and Y become what it compares."""
        if self.metric == "mahalanobis":
            self.X, self.Y = _whitened(self.X, self.Y, given.pop("V", None), given.pop("VI", None))
            if feature_weights is not None or "w" in given:
                raise UnsupportedError("mahalanobis takes no feature weights")
            return measure_of("euclidean", rows_X, metric_params=given)
        if self.metric == "seuclidean" and given.get("V") is None:
            given["V"] = np.var(_together(self.X, self.Y), axis=0, ddof=1)
        measure = measure_of(self.metric, rows_X, metric_params=given, feature_weights=feature_weights)
        if self.metric not in _BINARY:
            return measure
        if given:
            raise InvalidArgumentError(f"metric {self.metric} has no parameter {next(iter(given))!r}")
        self.X, self.Y = _each(lambda rows: (rows != 0).astype(np.float64), self.X, self.Y)
        return Measure("inner-product")


def _same_kind(X, Y, n_jobs):
    """Both as arrays, or both as tables; the same object where X is Y."""
    if X is Y:
        rows = X.table if X.array is None else X.array
        return rows, rows
    if X.array is not None and Y.array is not None:
        return X.array, Y.array
    with job(n_jobs=n_jobs, device="cpu") as run:
        return X.as_table(run), Y.as_table(run)


def _negative(rows):
    return bool((rows < 0).any())


def _each(change, X, Y):
    changed = change(X)
    return changed, changed if Y is X else change(Y)


def _together(X, Y):
    return np.asarray(X, dtype=np.float64) if Y is X else np.vstack([X, Y]).astype(np.float64, copy=False)


def _whitened(X, Y, V, VI):
    """Rows whose euclidean distances are the Mahalanobis distances of X and Y."""
    n_columns = X.shape[1]
    together = _together(X, Y)
    if VI is None:
        V = np.atleast_2d(np.cov(together.T)) if V is None else np.asarray(V, dtype=np.float64)
        try:
            VI = np.linalg.inv(V)
        except np.linalg.LinAlgError:
            raise InvalidArgumentError("mahalanobis needs a covariance matrix that has an inverse") from None
    VI = np.asarray(VI, dtype=np.float64)
    if VI.shape != (n_columns, n_columns):
        raise InvalidArgumentError(f"VI has shape {VI.shape}; X has {n_columns} columns")
    try:
        factor = np.linalg.cholesky((VI + VI.T) / 2)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("mahalanobis needs a positive definite VI") from None
    centre = together.mean(axis=0)

    def whiten(rows):
        # Column by column, not as a matrix product: there, equal rows may get different bits.
        centred = np.asfortranarray(rows - centre)
        result = np.zeros_like(centred)
        for k in range(n_columns):
            for j in range(k, n_columns):
                result[:, k] += centred[:, j] * factor[j, k]
        return result

    return _each(whiten, X, Y)


def _binary_distances(metric, both, X, Y):
    """Distances from counts: ``both`` is how many columns are not 0 in both rows."""
    n_columns = X.shape[1]
    only_x = X.sum(axis=1)[:, np.newaxis] - both
    only_y = Y.sum(axis=1)[np.newaxis, :] - both
    unequal = only_x + only_y
    if metric == "russellrao":
        return (n_columns - both) / n_columns
    if metric == "sokalsneath":
        return _ratio(2 * unequal, both + 2 * unequal)
    if metric == "yule":
        neither = n_columns - both - unequal
        crossed = only_x * only_y
        return _ratio(2 * crossed, both * neither + crossed)
    return 2 * unequal / (n_columns + unequal)  # rogerstanimoto and sokalmichener are the same number


def _ratio(above, below):
    """0 / 0 is 0, as in SciPy."""
    return np.divide(above, below, out=np.zeros_like(above), where=above != 0)
