"""Labels and weights: what supervised estimators add to the rows of X."""

import warnings

import numpy as np

from . import _core
from ._base import HAS_SKLEARN
from .errors import InvalidArgumentError, InvalidDataError

__all__ = ["Classes", "class_names", "free_name", "row_weights", "seed_of", "training_table"]


def _one_dimension(y, estimator):
    if y is None:
        raise InvalidArgumentError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    if HAS_SKLEARN:
        from sklearn.utils import column_or_1d
        from sklearn.utils.multiclass import check_classification_targets
        from sklearn.utils.validation import check_array

        y = check_array(y, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        return y
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", UserWarning, stacklevel=4)
        y = y[:, 0]
    if y.ndim != 1:
        raise InvalidDataError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y


def _name_of(value):
    """A class as files and the command line spell it: 1.0 is "1"."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def class_names(values):
    """The names of an array of different classes."""
    names = [_name_of(value) for value in values.tolist()]
    if len(set(names)) < len(names):
        raise InvalidDataError("two classes of y have the same name")
    return names


class Classes:
    """The different values of y, in order, and the code of every row.

    Attributes
    ----------
    values : ndarray of shape (n_classes,)
        The classes in ascending order, with y's dtype.
    codes : ndarray of int32 of shape (n_rows,)
    names : list of str
        What the engine, model files and pictures call the classes.
    target : str
        The name of y where it has one (pandas, polars), else "class".
    """

    def __init__(self, y, n_rows, estimator):
        name = getattr(y, "name", None)
        self.target = name if isinstance(name, str) and name else "class"
        y = _one_dimension(y, estimator)
        if len(y) != n_rows:
            raise InvalidDataError(
                f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(y)}]"
            )
        try:
            self.values, codes = np.unique(y, return_inverse=True)
        except TypeError:
            raise InvalidDataError("y holds values of different kinds, or a missing value") from None
        if len(self.values) and self.values[-1] != self.values[-1]:
            raise InvalidDataError("Input y contains NaN.")
        self.codes = codes.astype(np.int32).reshape(-1)
        self.names = class_names(self.values)


def row_weights(sample_weight, n_rows):
    """One weight for each row, float64; a number stands for all."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise InvalidDataError("Sample weights must be 1D array or scalar")
    if len(weights) != n_rows:
        raise InvalidDataError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!")
    if n_rows > 0 and not weights.any():
        raise InvalidDataError("sample_weight: every weight is zero")
    return weights


def free_name(wanted, taken):
    """The name, lengthened until it is none of those taken."""
    name = wanted
    while name in taken:
        name += "_"
    return name


def training_table(table, classes, sample_weight, run):
    """The table with a label column, which holds ``classes`` (or None), and a column of weights (or None)."""
    columns = [table.column(index) for index in range(table.n_columns)]
    taken = {column.name for column in columns}
    if classes is not None:
        label = _core.Column.nominal(free_name(classes.target, taken), classes.codes, _core.Values(classes.names))
        label.role = "label"
        columns.append(label)
        taken.add(label.name)
    if sample_weight is not None:
        weights = row_weights(sample_weight, table.n_rows)
        column = _core.Column.numeric(free_name("weight", taken), weights, run=run)
        column.role = "weight"
        columns.append(column)
    return _core.Table.of_columns(columns, table.n_rows)


def seed_of(random_state):
    """A seed of the engine: an int is the seed itself, as the command line's ``--seed``; None draws one."""
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise InvalidArgumentError(f"random_state: {random_state} is below 0")
        return int(random_state)
    if random_state is None:
        return int(np.random.randint(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise InvalidArgumentError(f"random_state: {random_state!r} cannot be used to seed")
