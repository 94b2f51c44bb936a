"""scikit-learn's rows, as the engine takes them."""

import numpy as np

from ._tally import Leave

__all__ = ["is_sparse", "plain"]

# A sparse matrix is searched as a dense one that takes at most so many bytes.
_DENSE_BYTES = 64 << 20
# Fewer values than one in so many that are not zero make a larger matrix than this the business of sparse algorithms.
_DENSITY = 16
_SMALL = 1 << 20
_TYPES = {np.dtype(name) for name in (
    "float64", "float32", "int64", "int32", "int16", "int8", "uint32", "uint16", "uint8")}


def is_sparse(X):
    return hasattr(X, "tocsr")


def plain(X, measure=None):
    """X as an array of two dimensions of a type that the engine takes, in place if it can. Raises :class:`Leave`."""
    if is_sparse(X):
        X = _dense(X)
    elif not isinstance(X, np.ndarray):
        try:
            X = np.asarray(memoryview(X))  # the data of a tree
        except TypeError:
            raise Leave(f"X is a {type(X).__name__}") from None
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise Leave("no rows or no columns")
    X = X.view(np.ndarray)
    if measure is not None:
        X = _as_measured(X, measure)
    if X.dtype not in _TYPES or not X.dtype.isnative:
        raise Leave(f"X of {X.dtype}")
    return X if X.flags.aligned and not any(stride % X.itemsize for stride in X.strides) else X.copy()


def _dense(X):
    size = X.shape[0] * X.shape[1]
    if size * X.dtype.itemsize > _DENSE_BYTES:
        raise Leave("sparse X beyond 64 MiB as a dense one")
    if size > _SMALL and X.nnz * _DENSITY < size:
        raise Leave("sparse X of few values")
    return X.toarray()


def _as_measured(X, measure):
    if measure.booleans:
        return (X if X.dtype == np.bool_ else X != 0).view(np.uint8)
    if X.dtype == np.bool_:
        if measure.name != "hamming":
            raise Leave("X of booleans")
        return X.view(np.uint8)
    if measure.basis is not None:
        if X.shape[1] != len(measure.basis):
            raise Leave("metric='mahalanobis' with a matrix of another size")
        return X @ measure.basis
    return X
