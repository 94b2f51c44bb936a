"""``KNNImputer.transform``: stope finds the donors of all missing values.

scikit-learn's method checks the rows and hands the incomplete ones to ``pairwise_distances_chunked``, with a function
that takes a block of distances and fills the rows in. stope needs no blocks of distances. It fills the rows in itself,
by way of the variables that this function holds, and never calls it.
"""

import numpy as np

from .._donors import DonorSearch
from .._run import job
from ..errors import StopeError
from . import _tally
from ._seam import Seam
from ._tally import Leave

__all__ = ["seams"]

_HELD = ("X", "mask", "mask_fit_X", "row_missing_idx", "self", "valid_mask")


def seams():
    return [Seam("sklearn.impute._knn:pairwise_distances_chunked", _chunks, ("X", "Y"))]


def _chunks(original):
    def pairwise_distances_chunked(X, Y=None, *, reduce_func=None, metric="euclidean", **kwargs):
        with _tally.call("KNNImputer.transform") as call:
            if call is not None:
                try:
                    _fill_in(reduce_func, metric)
                except Leave as reason:
                    call.why = str(reason)
                else:
                    call.answered = True
                    return
        yield from original(X, Y, reduce_func=reduce_func, metric=metric, **kwargs)

    return pairwise_distances_chunked


def _fill_in(reduce_func, metric):
    if metric != "nan_euclidean":
        raise Leave("a callable metric")
    held = _variables_of(reduce_func)
    if not set(_HELD) <= set(held):
        raise Leave("another way of filling in than stope knows")
    X, mask, mask_fit, rows, imputer, valid = (held[name] for name in _HELD)
    if imputer._fit_X.dtype.kind != "f" or X.dtype.kind != "f":
        raise Leave(f"X of {X.dtype}")
    search = DonorSearch(_with_nan(imputer._fit_X, mask_fit), imputer.n_neighbors)
    try:
        cells, columns, _, donors, distances = search.cells(_with_nan(X[rows], mask[rows]), job, donors=True)
    except StopeError as error:
        raise Leave(f"stope: {error}") from error
    for column in np.flatnonzero(mask[rows].any(axis=0) & valid):
        mine = columns == column
        X[rows[cells[mine]], column] = _means(imputer, column, mask_fit[:, column], donors[mine], distances[mine])


def _variables_of(function):
    code = getattr(function, "__code__", None)
    if code is None or not function.__closure__:
        return {}
    return dict(zip(code.co_freevars, (cell.cell_contents for cell in function.__closure__), strict=True))


def _with_nan(X, mask):
    rows = np.array(X, dtype=np.float64, order="C")
    rows[mask] = np.nan
    return rows


def _means(imputer, column, mask_fit, donors, distances):
    """The weighted means of the donors' values; the column's mean where no donor is at a distance that is defined."""
    from sklearn.neighbors._base import _get_weights

    known = donors >= 0
    values = np.ma.array(imputer._fit_X[:, column].take(np.maximum(donors, 0)), mask=~known)
    weights = _get_weights(np.where(known, distances, np.nan).astype(imputer._fit_X.dtype), imputer.weights)
    weights = known.astype(np.float64) if weights is None else np.where(np.isnan(weights), 0.0, weights)
    lonely = ~known.any(axis=1)
    weights[lonely] = 1.0
    means = np.ma.average(values, axis=1, weights=weights).data
    if lonely.any():
        means[lonely] = np.ma.array(imputer._fit_X[:, column], mask=mask_fit).mean()
    return means
