"""KNNImputer: fills missing values in from the nearest rows that have them."""

import numbers

import numpy as np

from ._base import OneToOneFeatureMixin, StopeEstimator, TransformerMixin, check_is_fitted
from ._data import check_X
from ._donors import DonorSearch
from ._mixed_rows import values_of
from .errors import InvalidArgumentError

__all__ = ["KNNImputer"]


class KNNImputer(OneToOneFeatureMixin, TransformerMixin, StopeEstimator):
    """Fill in missing values from the k nearest training rows that have them.

    Numeric columns get the mean of their donors, nominal columns the value that most donors have. On tables of numbers
    the results are scikit-learn's.

    Parameters
    ----------
    missing_values : number, str or NaN, default=NaN
        What stands for a missing value. None and ``pandas.NA`` mean NaN. With another value, NaN in X is an error. In
        nominal columns the value is compared with the categories.
    n_neighbors : int, default=5
        How many donors a value has. Fewer, where fewer training rows have the column.
    weights : {"uniform", "distance"} or callable, default="uniform"
        "distance" weighs a donor by 1 / distance; donors at distance 0 then share all the weight. A function gets
        distances of shape (n_rows, n_donors), NaN where there are fewer donors, and returns weights of that shape, or
        None for equal ones.
    metric : "nan_euclidean" or callable, default="nan_euclidean"
        A function of two rows and ``missing_values`` gets tables of numbers only, with NaN for what is missing. It is
        called for each pair of a row and a training row.
    copy : bool, default=True
        False fills in X itself, where it is a writable array of floats.
    add_indicator : bool, default=False
        Append scikit-learn's ``MissingIndicator`` to the result.
    keep_empty_features : bool, default=False
        Whether columns that had no value in ``fit`` stay. They are then 0, or "missing_value" in nominal columns.
    categorical_features : None, "from_dtype", mask, or list of names or indices, default="from_dtype"
        Which columns are nominal.
    n_jobs : int, default=None
        CPU threads; None takes what :func:`stope.config_context` says.
    device : str, default="auto"
        "auto", "cpu", "cuda", "cuda:0,1".

    Attributes
    ----------
    indicator_ : MissingIndicator or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names of that kind.
    report_ : Report
        What ran the largest search of the last call, and why, and what was filled in by column ("x0", "x1", ...).
        None where nothing was missing.

    Notes
    -----
    The distance is ``sqrt(n_features / n_compared * sum of terms)``. The sum is over the attributes that both rows
    have, and ``n_compared`` is their number. A numeric attribute's term is ``(x - y) ** 2``; a nominal one's is 1 where
    the values differ, else 0. So numeric columns of mixed tables should be scaled. A category that ``fit`` has not seen
    differs from all others.

    Of equal distances the first training row is the nearer one, and of categories with equal votes the first in their
    order wins. A row that shares no attribute with any donor gets the mean of the column, or its most frequent value.

    Tables of numbers come back as arrays of the same float type. Mixed tables come back as arrays of objects, and as
    frames with a type for each column after ``set_output``.

    ``fit`` copies X, 8 bytes a value. The first ``transform`` takes as much again for the engine's rows. It costs O(rows with missing values * n_samples_fit *
    n_features). One search serves all columns. Values for which it found too few donors, and columns that fewer than a
    fifth of the training rows have, take further ones.
    """

    def __init__(
        self, *, missing_values=np.nan, n_neighbors=5, weights="uniform", metric="nan_euclidean", copy=True,
        add_indicator=False, keep_empty_features=False, categorical_features="from_dtype", n_jobs=None, device="auto",
    ):
        self.missing_values = missing_values
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X, y=None):
        """Keep the rows of X as donors.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        self._begin_fit()
        rows = self._rows(X, reset=True)
        if isinstance(self.missing_values, str) and not any(rows.nominal):
            raise InvalidArgumentError(f"missing_values is {self.missing_values!r}, and X has numbers only")
        self._categories = rows.categories
        values = self._marked(values_of(rows, rows.categories))
        present = ~np.isnan(values)
        self._valid = present.any(axis=0)
        self._fallbacks = [
            self._fallback(values[present[:, j], j], self._categories[j]) for j in range(values.shape[1])
        ]
        self._mixed = any(rows.nominal)
        if self._mixed and callable(self.metric):
            raise InvalidArgumentError("a function as metric takes tables of numbers only; X has nominal columns")
        self._search = DonorSearch(
            values, self.n_neighbors, self._core_weights(),
            self.metric if callable(self.metric) else None,
            [-1 if c is None else len(c) for c in self._categories] if self._mixed else None,
        )
        self._values = self._search.rows
        self.indicator_ = None
        if self.add_indicator:
            from sklearn.impute import MissingIndicator

            self.indicator_ = MissingIndicator(error_on_new=False).fit(_as_nan(~present))
        return self

    def transform(self, X):
        """Return X with its missing values filled in.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            Without the columns that had no value in ``fit``, unless ``keep_empty_features``.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        values = self._marked(values_of(rows, self._categories))
        missing = np.isnan(values)
        filled = values.copy() if self._mixed else self._result_of(rows, values)
        self._fill(filled, values, missing & self._valid)
        filled[:, ~self._valid] = 0
        kept = np.arange(values.shape[1]) if self.keep_empty_features else np.flatnonzero(self._valid)
        indicator = None if self.indicator_ is None else self.indicator_.transform(_as_nan(missing))
        if self._mixed:
            return self._mixed_result(X, rows, filled, missing, kept, indicator)
        if len(kept) < values.shape[1]:
            filled = filled[:, kept]
        return filled if indicator is None else np.hstack([filled, indicator])

    def get_feature_names_out(self, input_features=None):
        """Return the names of the result's columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            None takes ``feature_names_in_``, else x0, x1, ...

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        names = super().get_feature_names_out(input_features)
        kept = names if self.keep_empty_features else names[self._valid]
        if self.indicator_ is None:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._missing_is_nan()
        return tags

    def _check_parameters(self):
        n = self.n_neighbors
        if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1:
            raise InvalidArgumentError(f"n_neighbors is {n!r}; it needs to be a whole number of 1 or more")
        if self.weights not in ("uniform", "distance", None) and not callable(self.weights):
            raise InvalidArgumentError(
                f"weights is {self.weights!r}; it needs to be 'uniform', 'distance' or a function"
            )
        if self.metric != "nan_euclidean" and not callable(self.metric):
            raise InvalidArgumentError(f"metric is {self.metric!r}; it needs to be 'nan_euclidean' or a function")

    def _core_weights(self):
        return "distance" if isinstance(self.weights, str) and self.weights == "distance" else "uniform"

    def _missing_is_nan(self):
        value = self.missing_values
        return value is None or type(value).__name__ == "NAType" or (isinstance(value, numbers.Real) and value != value)

    def _rows(self, X, reset):
        missing = "skip" if self._missing_is_nan() else "error"
        return check_X(self, X, reset=reset, categorical_features=self.categorical_features, missing=missing)

    def _marked(self, values):
        """The values with NaN for what stands for a missing value, in place where that is allowed."""
        if self._missing_is_nan():
            return values
        if not values.flags.writeable:
            values = values.copy()
        for j, categories in enumerate(self._categories):
            if categories is None:
                if isinstance(self.missing_values, numbers.Real):
                    values[values[:, j] == self.missing_values, j] = np.nan
                continue
            for code, category in enumerate(categories):
                if category == self.missing_values:
                    values[values[:, j] == code, j] = np.nan
        return values

    def _result_of(self, rows, values):
        """The array that is filled in: X itself, where the caller wants that, else a copy of its float type."""
        array = rows.array
        if not self.copy and array.flags.writeable:
            return array
        return values.astype(array.dtype)

    def _fallback(self, values, categories):
        if len(values) == 0:
            return 0.0
        if categories is None:
            return values.mean()
        return float(np.bincount(values.astype(np.int64)).argmax())

    def _fill(self, filled, values, wanted):
        if not wanted.any():
            self._reports.last = None
            return
        self._search.set(self.n_neighbors, self._core_weights())
        by_function = callable(self.weights) or callable(self.metric)
        rows, columns, found, donors, distances = self._search.cells(values, self._job, donors=by_function)
        valid = self._valid[columns]
        if not by_function:
            filled[rows[valid], columns[valid]] = found[valid]
            return
        for column in np.flatnonzero(wanted.any(axis=0)):
            cells = columns == column
            filled[rows[cells], column] = self._donated(column, donors[cells], distances[cells])

    def _donated(self, column, donors, distances):
        """What donors give for a column, where a function decides their distances or weights."""
        given = donors >= 0
        weights = self._weights_of(distances)
        weights[~given] = 0.0
        donated = self._values[donors, column]
        donated[~given] = 0.0
        if self._categories[column] is None:
            total = weights.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                result = (donated * weights).sum(axis=1) / total
        else:
            result, total = _vote(donated.astype(np.int64), weights, len(self._categories[column]))
        result[total == 0] = self._fallbacks[column]
        return result

    def _weights_of(self, distances):
        weights = self.weights(distances.copy()) if callable(self.weights) else self.weights
        if weights is None or isinstance(weights, str) and weights == "uniform":
            return np.ones_like(distances)
        if callable(self.weights):
            weights = np.array(weights, dtype=np.float64)
            if weights.shape != distances.shape:
                raise InvalidArgumentError(
                    f"weights returned the shape {weights.shape} for distances of shape {distances.shape}"
                )
        else:
            with np.errstate(divide="ignore"):
                weights = 1.0 / distances
            at_zero = np.isinf(weights)
            weights = np.where(at_zero.any(axis=1, keepdims=True), at_zero.astype(np.float64), weights)
        weights[np.isnan(weights)] = 0.0
        return weights

    def _mixed_result(self, X, rows, filled, missing, kept, indicator):
        """The columns of a mixed table: an array of objects, or a frame where ``set_output`` asks for one."""
        own = rows.categories
        columns = []
        for j in kept:
            if self._categories[j] is None:
                columns.append(filled[:, j])
                continue
            column = np.empty(len(filled), dtype=object)
            if self._valid[j]:
                known = filled[:, j] < len(self._categories[j])
                column[known] = self._categories[j][filled[known, j].astype(np.int64)]
                if not known.all():  # categories that fit() has not seen
                    codes = rows.table.column(int(j)).array()
                    column[~known] = own[j][codes[~known]]
            else:
                column[:] = "missing_value"
            columns.append(column)
        if indicator is not None:
            columns += list(indicator.T)
        container = self._container()
        if container == "default":
            result = np.empty((len(filled), len(columns)), dtype=object)
            for j, column in enumerate(columns):
                result[:, j] = column
            return result
        names = self.get_feature_names_out()
        if container == "polars":
            import polars

            return polars.DataFrame([polars.Series(name, column.tolist()) for name, column in zip(names, columns)])
        import pandas

        given = X if isinstance(X, pandas.DataFrame) else None
        frame = pandas.DataFrame(dict(enumerate(columns)), index=None if given is None else given.index)
        for place, j in enumerate(kept):  # a categorical column stays one
            dtype = None if given is None else given.dtypes.iloc[j]
            if isinstance(dtype, pandas.CategoricalDtype) and set(frame[place]) <= set(dtype.categories):
                frame[place] = frame[place].astype(dtype)
        frame.columns = names  # two columns may have one name
        return frame

    def _container(self):
        """What ``set_output`` and scikit-learn's own setting ask for: "default", "pandas" or "polars"."""
        asked = getattr(self, "_sklearn_output_config", {}).get("transform")
        if asked is None:
            from ._base import HAS_SKLEARN

            if not HAS_SKLEARN:
                return "default"
            from sklearn import get_config

            asked = get_config()["transform_output"]
        return asked


def _as_nan(mask):
    return np.where(mask, np.nan, 0.0)


def _vote(codes, weights, n_classes):
    """The class of the largest weight for each row, the first of equal ones, and the weight of all."""
    votes = np.zeros((len(codes), n_classes))
    np.add.at(votes, (np.arange(len(codes))[:, np.newaxis], codes), weights)
    return votes.argmax(axis=1).astype(np.float64), weights.sum(axis=1)
