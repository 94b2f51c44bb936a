"""The y of estimators of neighbours: labels become codes, targets become numbers, weights are checked."""

import numpy as np

from ._base import HAS_SKLEARN
from ._columns import is_missing
from ._device import on_host
from ._run import warn

__all__ = ["check_labels", "check_row_weights", "check_targets"]


def _checked(y, n_samples, estimator, numeric):
    """y as an array of one or two dimensions with a row for each sample."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if hasattr(y, "toarray") and not isinstance(y, np.ndarray):
        raise TypeError("y is sparse, but stope takes dense data; use y.toarray() to convert it to a dense array.")
    array = np.asarray(on_host(y))
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise ValueError("y should be a 1d array, or have one column for each output; got an array of shape "
                         f"{array.shape}.")
    if array.shape[0] != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_samples}, {array.shape[0]}]")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y is complex.")
    if numeric and array.dtype.kind not in "fiub":
        array = array.astype(np.float64)
    if array.dtype.kind in "mM" and np.isnat(array).any():
        raise ValueError("Input y contains NaN.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        what = "NaN" if np.isnan(array).any() else "infinity or a value too large for dtype('float64')"
        raise ValueError(f"Input y contains {what}.")
    if array.dtype.kind == "O" and any(is_missing(value) for value in array.ravel()):
        raise ValueError("Input y contains NaN.")
    return array


def check_labels(estimator, y, n_samples):
    """The classes of each output, the codes of shape (n_samples, n_outputs), and whether y had several columns."""
    y = _checked(y, n_samples, estimator, numeric=False)
    outputs_2d = y.ndim == 2 and y.shape[1] > 1
    if y.ndim == 2 and not outputs_2d:
        warn(_conversion_warning()("A column-vector y was passed when a 1d array was expected. Please change the shape "
                                   "of y to (n_samples,), for example using ravel()."))
        y = y.ravel()
    _check_classes(y)
    columns = y.reshape(n_samples, -1)
    codes = np.empty(columns.shape, dtype=np.int32)
    classes = []
    for output in range(columns.shape[1]):
        values, codes[:, output] = np.unique(columns[:, output], return_inverse=True)
        classes.append(values)
    return classes, codes, outputs_2d


def _conversion_warning():
    if HAS_SKLEARN:
        from sklearn.exceptions import DataConversionWarning

        return DataConversionWarning
    return UserWarning


def _check_classes(y):
    """Refuses numbers that are no class labels, as scikit-learn does."""
    if HAS_SKLEARN:
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
    elif y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError("Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects "
                         "discrete classes on a regression target with continuous values.")


def check_targets(estimator, y, n_samples):
    """The targets as float64 of shape (n_samples,) or (n_samples, n_outputs)."""
    return _checked(y, n_samples, estimator, numeric=True).astype(np.float64)


def check_row_weights(weights, n_samples, name):
    """One weight for each training row, float64: finite, and not below 0."""
    weights = np.array(on_host(weights), dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"{name} must be a 1D array or a number, one weight for each sample; it has {weights.ndim} "
                         "dimensions.")
    if weights.shape != (n_samples,):
        raise ValueError(f"{name}.shape == {weights.shape}, expected {(n_samples,)}!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"{name} must be finite and not below 0.")
    if not weights.any():
        raise ValueError(f"{name}: every weight is zero")
    return weights
