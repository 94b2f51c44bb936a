"""What users hand in as X: arrays and frames become what the engine takes."""

from dataclasses import dataclass

import numpy as np

from . import _core

__all__ = ["Rows", "check_X"]


@dataclass
class Rows:
    """The rows of an X: an array if all columns are numbers, else a table."""

    array: "np.ndarray | None"  # two dimensions, of a type that the engine takes, in any order
    table: "_core.Table | None"  # columns of X, in order, all of them features
    names: "list[str] | None"  # of the columns, where X has names

    @property
    def n_rows(self):
        return self.table.n_rows if self.array is None else self.array.shape[0]

    @property
    def n_columns(self):
        return self.table.n_columns if self.array is None else self.array.shape[1]

    def as_table(self, run, share=False):
        """The rows as a table. ``share`` lends the array's memory: nobody may write to it as long as the table lives."""
        if self.array is None:
            return self.table
        return _core.Table.of_array(self.array, self.names or [], share, run)


def check_X(estimator, X, *, reset, categorical_features=None, missing="error", ensure_min_samples=1):
    """Check X as scikit-learn does, and return its :class:`Rows`.

    Parameters
    ----------
    reset : bool
        True in ``fit``: sets ``n_features_in_`` and ``feature_names_in_``. False: X must agree with them.
    categorical_features : None, "from_dtype", mask, or list of names or indices
        None: all columns are numbers, or X is refused.
    missing : "error" or "skip"
        "error" refuses missing values as scikit-learn does.
    """
    from sklearn.utils.validation import validate_data

    if categorical_features is not None and _has_nominal(X):
        raise NotImplementedError
    array = validate_data(
        estimator, X, reset=reset, dtype=[np.float64, np.float32], order=None,
        ensure_all_finite=True if missing == "error" else "allow-nan", ensure_min_samples=ensure_min_samples,
    )
    names = getattr(estimator, "feature_names_in_", None)
    return Rows(array, None, None if names is None else list(names))


def _has_nominal(X):
    return False
