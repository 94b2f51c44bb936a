"""Cuts of numeric features and groups of nominal values, found where classes change."""

import math
import warnings
from numbers import Integral, Real

import numpy as np

from . import _core, _html
from ._base import OneToOneFeatureMixin, StopeEstimator, TransformerMixin, check_is_fitted
from ._checks import check_types
from ._classes import Classes, free_name, row_weights, seed_of, training_table
from ._data import check_X
from .errors import InvalidArgumentError, UnsupportedError
from .table import Table

__all__ = ["CutRanker", "Ranking", "SupervisedDiscretizer"]

_WITHOUT_CLASSES = ("equal-width", "equal-frequency")
_ENCODINGS = ("ordinal", "labels", "onehot")


def _is_whole(number, least, most=math.inf):
    return isinstance(number, Integral) and not isinstance(number, bool) and least <= number <= most


def _names_of(table):
    return [table.column(index).name for index in range(table.n_columns)]


def _missing_of(table):
    """Where the features' values are missing: a mask of rows x columns."""
    mask = np.empty((table.n_rows, table.n_columns), dtype=bool, order="F")
    for index in range(table.n_columns):
        column = table.column(index)
        mask[:, index] = column.array() == -1 if column.is_nominal else np.isnan(column.array())
    return mask


def _filled(table, fills, run):
    """The table with ``fills`` for missing values: numbers, names of values, or None for a column without any."""
    columns = []
    for index, fill in enumerate(fills):
        column = table.column(index)
        values = column.array()
        missing = values == -1 if column.is_nominal else np.isnan(values)
        if fill is not None and missing.any():
            if column.is_nominal:
                names = column.values.names()
                if fill not in names:
                    names.append(fill)
                codes = np.where(missing, np.int32(names.index(fill)), values).astype(np.int32)
                column = _core.Column.nominal(column.name, codes, _core.Values(names), column.type)
            else:
                numbers = np.where(missing, values.dtype.type(fill), values)
                column = _core.Column.numeric(column.name, numbers, column.type, run=run)
        columns.append(column)
    return _core.Table.of_columns(columns, table.n_rows)


class SupervisedDiscretizer(_html.RichEstimator, OneToOneFeatureMixin, TransformerMixin, StopeEstimator):
    """Cut features into intervals where the classes change, and code rows by them.

    Parameters
    ----------
    method : {"md-global", "md-local", "mdlp", "chimerge", "equal-width", "equal-frequency"}, default="md-global"
        "md-global": always the cut that separates most pairs of rows of different classes that no cut separates yet,
        until no pair can be separated. "md-local": the cuts of a decision tree. "mdlp": Fayyad and Irani. "chimerge":
        Kerber. "equal-width" and "equal-frequency" ignore y. All but the first two take each numeric feature by itself,
        skip missing values, and cut every nominal value off from the others.
    n_bins : int, default=5
        Bins of "equal-width" and "equal-frequency", at most.
    max_cuts : int or None, default=None
        Cuts of "md-global", at most, in all features together; None takes as many as are needed.
    confidence : float, default=0.9
        "chimerge": neighbours stay apart if they differ at this level.
    min_intervals : int, default=3
        "chimerge": it merges no further than to this many intervals.
    missing : {"error", "value", "drop", "fill"}, default="error"
        What a missing value means. "value": a missing number falls into the first interval, and "md-global" and
        "md-local" may cut it off from all numbers; a missing nominal value is one more value. "drop": a row with a
        missing value does not count in ``fit``, and a missing value stays missing in ``transform`` (NaN, None, or zeros
        everywhere). "fill": the training mean, or the most frequent value, stands in.
    encode : {"ordinal", "labels", "onehot"}, default="ordinal"
        What ``transform`` gives. "ordinal": codes 0, 1, ... as float64. "labels": what they stand for, such as
        "[2.5,+inf)", "=red" or "other", as objects. "onehot": a column of 0 and 1 for each code, as float64.
    categorical_features : "from_dtype", mask, list of names or indices, or None, default="from_dtype"
        Which columns are nominal.
    device : str, default="auto"
        Where to compute. The CPU alone finds cuts, except for "md-local".

    Attributes
    ----------
    cuts_ : list of ndarray or list
        For each feature its cuts: ascending numbers, where x belongs to the interval on the right of a cut that it
        equals, or the nominal values that have a code of their own. A feature without cuts has an empty one, and its
        only code is 0.
    bin_edges_ : list of ndarray or None
        For each numeric feature -inf, its cuts, +inf; None for nominal ones.
    n_bins_ : ndarray of int64 of shape (n_features,)
        The number of codes of each feature.
    labels_ : list of list of str
        What the codes of each feature stand for.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    report_ : Report
        What ran the last call, and why.

    Notes
    -----
    A row of weight 2 counts as two rows, with three exceptions: one term of "mdlp" counts rows, "equal-frequency"
    counts nothing else, and so do the means and the most frequent values of "fill".

    Examples
    --------
    >>> from stope import SupervisedDiscretizer
    >>> discretizer = SupervisedDiscretizer(encode="labels").fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    >>> discretizer.transform([[2.4], [9.0]]).tolist()
    [['(-inf,2.5)'], ['[2.5,+inf)']]
    """

    _missing_advice = "missing='value', 'drop' or 'fill' says what they mean."

    def __init__(
        self, method="md-global", *, n_bins=5, max_cuts=None, confidence=0.9, min_intervals=3, missing="error",
        encode="ordinal", categorical_features="from_dtype", device="auto",
    ):
        self.method = method
        self.n_bins = n_bins
        self.max_cuts = max_cuts
        self.confidence = confidence
        self.min_intervals = min_intervals
        self.missing = missing
        self.encode = encode
        self.categorical_features = categorical_features
        self.device = device

    def fit(self, X, y=None, sample_weight=None):
        """Find the cuts.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The classes; "equal-width" and "equal-frequency" do not need them.
        sample_weight : array-like of shape (n_samples,) or None
            Weights >= 0, rounded to multiples of 2**-20. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._begin_fit()
        check_types(self, method=str, missing=str, n_bins=Integral, confidence=Real, min_intervals=Integral)
        if self.encode not in _ENCODINGS:
            raise InvalidArgumentError(f"encode: {self.encode!r} is none of {', '.join(_ENCODINGS)}")
        if self.max_cuts is not None and not _is_whole(self.max_cuts, 1):
            raise InvalidArgumentError(f"max_cuts: {self.max_cuts!r} is neither None nor a whole number from 1 on")
        rows = self._rows(X, reset=True)
        ignores_y = self.method in _WITHOUT_CLASSES
        classes = None if ignores_y else Classes(y, rows.n_rows, self)
        with self._job() as run:
            table = rows.as_table(run, share=True)
            self._fills = self._training_fills(table, sample_weight, run) if self.missing == "fill" else None
            cuts = _core.find_cuts(
                training_table(table, classes, sample_weight, run), method=self.method, missing=self.missing,
                n_bins=self.n_bins, max_cuts=0 if self.max_cuts is None else self.max_cuts,
                confidence=self.confidence, min_intervals=self.min_intervals, run=run,
            )
            self._keep(table, cuts, classes, run)
        return self

    def transform(self, X):
        """Return the codes of the rows of X, as ``encode`` says: an array of shape (n_rows, n_features_out)."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        with self._job() as run:
            table = rows.as_table(run, share=True)
            missing = _missing_of(table) if self.missing == "drop" else None
            codes = self._codes(table, run)
        if self.encode == "onehot":
            return self._one_hot(codes, missing)
        if self.encode == "labels":
            out = np.empty(codes.shape, dtype=object)
            for index, labels in enumerate(self.labels_):
                out[:, index] = np.array(labels, dtype=object)[codes[:, index]]
            if missing is not None:
                out[missing] = None
            return out
        out = codes.astype(np.float64)
        if missing is not None:
            out[missing] = np.nan
        return out

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns that :meth:`transform` gives: X's own, or NAME_LABEL under "onehot"."""
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        if self.encode != "onehot":
            return names
        out = [f"{name}_{label}" for name, labels in zip(names, self.labels_) for label in labels]
        return np.asarray(out, dtype=object)

    def _rows(self, X, reset):
        return check_X(
            self, X, reset=reset, categorical_features=self.categorical_features,
            missing="error" if self.missing == "error" else "skip",
        )

    def _training_fills(self, table, sample_weight, run):
        """What stands in for missing values: a number, the name of a value, or None for each feature."""
        if sample_weight is not None:  # rows of weight 0 are left out
            table = table.take(np.flatnonzero(row_weights(sample_weight, table.n_rows)).tolist())
        columns = [table.column(index) for index in range(table.n_columns)]
        return [
            column.values.names()[fill] if column.is_nominal and fill is not None else fill
            for column, fill in zip(columns, _core.column_fills(table, run))
        ]

    def _keep(self, table, cuts, classes, run):
        found = dict(cuts)
        columns = [table.column(index) for index in range(table.n_columns)]
        self._cuts = cuts
        self._columns = [
            (column.name, column.type, column.values.names() if column.is_nominal else None) for column in columns
        ]
        self._label = None if classes is None else (classes.target, classes.names)
        self.cuts_ = [
            list(cuts) if column.is_nominal else np.asarray(cuts, dtype=np.float64)
            for column, cuts in ((column, found.get(column.name, ())) for column in columns)
        ]
        self.bin_edges_ = [
            None if isinstance(cuts, list) else np.concatenate(([-np.inf], cuts, [np.inf])) for cuts in self.cuts_
        ]
        self.n_bins_ = np.array([len(cuts) + 1 for cuts in self.cuts_], dtype=np.int64)
        one_row = self._outline(run, n_rows=1)  # labels do not depend on it
        coded = _core.apply_cuts(one_row, cuts, missing="value", style="labels", run=run)
        labels = {coded.column(index).name: coded.column(index).values.names() for index in range(coded.n_columns)}
        self.labels_ = [
            labels.get(column.name, ["other"] if column.is_nominal else ["(-inf,+inf)"]) for column in columns
        ]

    def _outline(self, run, label=False, n_rows=0):
        """A table of the columns of X, without rows, or with rows of missing values."""
        columns = [
            _core.Column.numeric(name, np.full(n_rows, np.nan), kind, run=run) if values is None
            else _core.Column.nominal(name, np.full(n_rows, -1, np.int32), _core.Values(values), kind)
            for name, kind, values in self._columns
        ]
        if label and self._label is not None:
            target = free_name(self._label[0], [name for name, *_ in self._columns])
            column = _core.Column.nominal(target, np.empty(0, np.int32), _core.Values(self._label[1]))
            column.role = "label"
            columns.append(column)
        return _core.Table.of_columns(columns, n_rows)

    def _codes(self, table, run):
        if self._fills is not None:
            table = _filled(table, self._fills, run)
        policy = "error" if self.missing == "error" else "value"
        codes = np.zeros((table.n_rows, table.n_columns), dtype=np.int32, order="F")
        if self._cuts:
            coded = _core.apply_cuts(table, self._cuts, missing=policy, style="codes", run=run)
            place = {name: index for index, name in enumerate(_names_of(table))}
            for index in range(coded.n_columns):
                column = coded.column(index)
                codes[:, place[column.name]] = column.array()
        return codes

    def _one_hot(self, codes, missing):
        begins = np.concatenate(([0], np.cumsum(self.n_bins_)))
        out = np.zeros((codes.shape[0], int(begins[-1])))
        lines, features = np.nonzero(np.ones(codes.shape, dtype=bool) if missing is None else ~missing)
        out[lines, begins[features] + codes[lines, features]] = 1.0
        return out

    def __sklearn_is_fitted__(self):
        return hasattr(self, "cuts_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.method not in _WITHOUT_CLASSES
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _to_model(self):
        check_is_fitted(self)
        if self.missing == "fill":
            raise UnsupportedError("missing='fill': a model of cuts does not hold the means of the training rows")
        with self._job() as run:
            style = "labels" if self.encode == "labels" else "codes"
            return _core.Model.of_cuts(self._outline(run, label=True), self._cuts, self.missing, style)

    def _html_parts(self):
        rows = [
            (name, len(labels), " ".join(labels[:12]) + (" …" if len(labels) > 12 else ""))
            for (name, *_), labels in zip(self._columns, self.labels_)
        ]
        return [_html.table(["feature", "codes", "what they stand for"], rows)]


class Ranking(list):
    """Features with their best cut, the best first: a list of dicts, shown as a table in notebooks."""

    _FIELDS = ("name", "score", "cut", "value", "p_value", "q_value")

    def to_pandas(self):
        """Return the ranking as a pandas DataFrame, one row a feature."""
        import pandas

        return pandas.DataFrame(list(self))

    def _repr_html_(self):
        kept = [field for field in self._FIELDS if any(one[field] is not None for one in self)]
        return _html.table(kept, [[one[field] for field in kept] for one in self])


class CutRanker(_html.RichEstimator, TransformerMixin, StopeEstimator):
    """Rank features by their best cut, and select the best of them.

    A numeric feature is cut in two by a number (x >= cut goes right), a nominal one into one value and all others. Of
    equally good cuts the lowest is the best, and of equally good values the first.

    Parameters
    ----------
    k : int or "all", default="all"
        How many features ``transform`` keeps: those of the highest scores, of equal ones the first columns.
    criterion : {"discernibility", "gini", "entropy"}, default="discernibility"
        What a cut is worth: the pairs of rows of different classes that it separates (an exact number), or how much
        impurity or uncertainty it removes.
    missing : {"error", "value", "drop", "fill"}, default="error"
        What a missing value means. "value": a value of its own, below all numbers. "drop": a row with a missing value
        does not count, for any feature. "fill": the mean, or the most frequent value, stands in.
    n_permutations : int, default=0
        Permutations of the labels, for p- and q-values; 0 is none.
    random_state : int, RandomState instance or None, default=None
        Draws the permutations. The command line draws the same for ``--seed`` of the same number.
    categorical_features : "from_dtype", mask, list of names or indices, or None, default="from_dtype"
        Which columns are nominal.
    device : str, default="auto"
        Where to compute; rankings are the same everywhere.

    Attributes
    ----------
    ranking_ : Ranking
        A dict for each feature, the best first: "feature" (its index), "name", "score", "pairs" (the score as an exact
        int), "cut" or "value", and "p_value", "family_p_value" and "q_value" where there were permutations. What does
        not apply is None.
    scores_ : ndarray of float64 of shape (n_features,)
        0 where no cut separates anything.
    pvalues_ : ndarray of float64 of shape (n_features,), or None
    cuts_ : list
        The best cut of each feature: a float, a str, or None.
    report_ : Report
        What ran the last call, and why.

    Examples
    --------
    >>> from stope import CutRanker
    >>> ranker = CutRanker(k=1).fit([[5, 1.0], [5, 2.0], [5, 3.0]], [0, 0, 1])
    >>> ranker.ranking_[0]["name"], ranker.ranking_[0]["cut"], ranker.ranking_[0]["pairs"]
    ('x1', 2.5, 2)
    >>> ranker.transform([[5, 9.0]]).tolist()
    [[9.0]]
    """

    _missing_advice = "missing='value', 'drop' or 'fill' says what they mean."

    def __init__(
        self, k="all", *, criterion="discernibility", missing="error", n_permutations=0, random_state=None,
        categorical_features="from_dtype", device="auto",
    ):
        self.k = k
        self.criterion = criterion
        self.missing = missing
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.device = device

    def fit(self, X, y, sample_weight=None):
        """Find the best cut of every feature, and rank the features by it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The classes; none is missing.
        sample_weight : array-like of shape (n_samples,) or None
            Weights >= 0, rounded to multiples of 2**-20. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._begin_fit()
        check_types(self, criterion=str, missing=str, n_permutations=Integral)
        rows = self._rows(X, reset=True)
        classes = Classes(y, rows.n_rows, self)
        if self.k != "all" and not _is_whole(self.k, 0, rows.n_columns):
            raise InvalidArgumentError(f"k: {self.k!r} is neither 'all' nor a number from 0 to {rows.n_columns}")
        with self._job() as run:
            found = _core.best_cuts(
                training_table(rows.as_table(run, share=True), classes, sample_weight, run),
                criterion=self.criterion, missing=self.missing, n_permutations=self.n_permutations,
                seed=seed_of(self.random_state) if self.n_permutations else 0, run=run,
            )["cuts"]
        found.sort(key=lambda one: one["feature"])
        self.scores_ = np.array([one["score"] for one in found], dtype=np.float64)
        self.pvalues_ = np.array([one["p_value"] for one in found]) if self.n_permutations else None
        self.cuts_ = [one["value"] if one["symbolic"] else one["cut"] for one in found]
        self.ranking_ = Ranking(sorted(found, key=lambda one: -one["score"]))
        return self

    def get_support(self, indices=False):
        """Return which features are selected: a mask, or their indices in ascending order."""
        check_is_fitted(self)
        mask = np.zeros(len(self.scores_), dtype=bool)
        n_kept = len(mask) if self.k == "all" else self.k
        mask[[one["feature"] for one in self.ranking_[:n_kept]]] = True
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X):
        """Return the selected columns of X, in X's order. A frame with nominal columns gives a frame of its kind."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        kept = self.get_support(indices=True)
        if len(kept) == 0:
            warnings.warn("No features were selected: k is 0", UserWarning, stacklevel=2)
        if rows.array is not None:
            return rows.array[:, kept]
        if hasattr(X, "iloc"):
            return X.iloc[:, kept]
        if isinstance(X, Table):
            return Table(_core.Table.of_columns([rows.table.column(int(index)) for index in kept], rows.n_rows))
        if hasattr(X, "select"):  # polars, Arrow
            names = getattr(X, "column_names", None) or X.columns
            return X.select([names[index] for index in kept])
        return np.asarray(X, dtype=object)[:, kept]

    def get_feature_names_out(self, input_features=None):
        """Return the names of the selected features."""
        check_is_fitted(self)
        return OneToOneFeatureMixin.get_feature_names_out(self, input_features)[self.get_support()]

    def _rows(self, X, reset):
        return check_X(
            self, X, reset=reset, categorical_features=self.categorical_features,
            missing="error" if self.missing == "error" else "skip",
        )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "ranking_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _html_parts(self):
        return [self.ranking_._repr_html_()]
