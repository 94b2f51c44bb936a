"""What all estimators of neighbours share: parameters, the fitted index, and its pickled form."""

import numbers

import numpy as np

from . import _core
from ._base import StopeEstimator, check_is_fitted
from ._columns import is_read_only
from ._data import check_X
from ._device import on_host
from ._neighbors_device import DeviceRows, device_rows, rows_of_index
from ._neighbors_metrics import check_name, check_skips, measure_of, takes_missing
from ._neighbors_search import EngineSearch, MatrixSearch
from ._neighbors_targets import check_row_weights
from ._neighbors_votes import check_votes, has_words, word_of

__all__ = ["NeighborsBase"]

_IN_INDEX = object()  # stands for rows that nobody has asked the index for
_ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")


class NeighborsBase(StopeEstimator):
    """An estimator with an index of its training rows.

    ``_fit_X`` holds the rows as a read-only float64 array that the index shares. It is None where a column is nominal:
    then the index alone holds the rows. Rows that were fitted in a GPU's memory are copied to the host when ``_fit_X`` is
    first asked for.
    """

    @property
    def _fit_X(self):
        if self.__dict__.get("_fit_rows") is _IN_INDEX:
            self._fit_rows = rows_of_index(self._search.index)
        return self.__dict__.get("_fit_rows")

    @_fit_X.setter
    def _fit_X(self, rows):
        self._fit_rows = rows

    @property
    def _has_numbers(self):
        """Whether no column is nominal."""
        return self.__dict__.get("_fit_rows") is not None

    _missing_advice = (
        "missing='skip' leaves them out of distances; the metrics 'gower', 'heom' and 'nan_euclidean' take them "
        "as they are."
    )

    # Checking

    def _check_params(self):
        self._require("n_neighbors", _is_none_or(numbers.Integral, lambda k: k >= 1), "an int of at least 1 or None")
        self._require("radius", _is_none_or(numbers.Real, lambda r: r >= 0), "a number of at least 0 or None")
        self._require("algorithm", lambda word: isinstance(word, str) and word in _ALGORITHMS,
                      "one of 'auto', 'ball_tree', 'kd_tree' and 'brute'")
        self._require("leaf_size", _is_none_or(numbers.Integral, lambda size: size >= 1), "an int of at least 1")
        self._require("p", _is_none_or(numbers.Real, lambda p: p > 0), "a number above 0 or None")
        self._require("metric_params", lambda given: given is None or isinstance(given, dict), "a dict or None")
        self._require("missing", lambda word: word in ("error", "skip"), "'error' or 'skip'")
        check_name(self.metric)  # before X is looked at: a misspelt measure would take no missing values
        if callable(self.metric) and self.algorithm == "kd_tree":
            raise ValueError(f"kd_tree does not support callable metric '{self.metric}': take algorithm='auto'")

    def _require(self, name, holds, what):
        value = getattr(self, name, None)
        if hasattr(self, name) and not holds(value):
            raise ValueError(f"The {name!r} parameter of {type(self).__name__} must be {what}. Got {value!r} instead.")

    @property
    def _takes_missing(self):
        return self.missing == "skip" or takes_missing(self.metric)

    @property
    def _missing_rule(self):
        return "skip" if self._takes_missing else "error"

    def _check_rows(self, X, reset, later=False):
        numbers_only = self.metric == "precomputed" or callable(self.metric) if reset else False
        rows = check_X(
            self, X, reset=reset, categorical_features=None if numbers_only else self.categorical_features,
            missing=self._missing_rule, later=later,
        )
        if isinstance(self.metric, str) and self.metric == "precomputed":
            if reset and rows.n_rows != rows.n_columns:
                raise ValueError(
                    f"Precomputed matrix must be square. Input is a {rows.n_rows}x{rows.n_columns} matrix."
                )
            if rows.array.size and rows.array.min() < 0:
                raise ValueError("Negative values in data passed to precomputed distance matrix.")
        return rows

    def _require_fit(self):
        if "n_samples_fit_" not in self.__dict__:  # check_is_fitted takes longer than a search of a small index
            check_is_fitted(self)

    def _query_rows(self, X):
        """The checked rows of a query; None stands for the training rows."""
        self._require_fit()
        return None if X is None else self._check_rows(X, reset=False)

    # Fitting

    def _check_fit(self, X, later=False):
        """The first half of ``fit``: checks the parameters and X, ``later`` all but the values of an array."""
        self._check_params()
        rows = device_rows(self, X)
        if not isinstance(rows, DeviceRows):
            rows = self._check_rows(rows, reset=True, later=later)
        check_votes(getattr(self, "weights", None), rows.n_rows)
        self._measure = measure_of(
            self.metric, rows, metric_params=self.metric_params, feature_weights=self.feature_weights, p=self.p,
            algorithm=self.algorithm,
        )
        if isinstance(rows, DeviceRows) and (self._measure.name is None or 0 in self._measure.weights):
            rows = self._check_rows(on_host(X), reset=True, later=later)
        if self.missing == "skip":
            check_skips(self.metric, self._measure)
        return rows

    def _fit_index(self, rows, X):
        """The second half of ``fit``: indexes the rows."""
        self._begin_fit()
        self.effective_metric_ = self._measure.effective
        self.effective_metric_params_ = dict(self._measure.effective_params)
        array = rows.array
        if isinstance(rows, DeviceRows):
            self._search = self._search_there(rows)
        elif array is None:
            self._fit_X = None
            self._search = self._make_search(rows)
        else:
            self._search = self._search_of(rows, X)
        self.n_samples_fit_ = rows.n_rows
        self._voter = self._make_voter()
        return self

    def _make_voter(self, row_weights=None):
        """The engine's predictor, where it answers searches and votes in one job; else None."""
        return None

    def _voter_and_word(self):
        """The engine's predictor for the weights that are asked for, and its word for them."""
        if has_words(self.weights):
            return self._voter, word_of(self.weights)
        return self._make_voter(check_row_weights(self.weights, self.n_samples_fit_, "weights")), "uniform"

    def _search_of(self, rows, X):
        """The search of rows of numbers. Sets ``_fit_X``: the array, if it can be lent, else the index's own copy."""
        array = rows.array
        self._fit_X = _lent(array, X)
        if self._fit_X is None and self._measure.name is not None and 0 not in self._measure.weights:
            search = self._copied_search(rows)
            self._fit_X = search.index.rows()  # None where memory is short
            if self._fit_X is not None:
                return search
        else:
            rows.check()
        if self._fit_X is None:
            self._fit_X = _copied(array)
        return self._make_search(None)

    def _search_there(self, rows):
        """The search of an index whose rows may stay in a GPU. They are checked by what the engine found in them."""
        search = self._engine_search(rows, share=False)
        if not search.index.all_finite:
            rows.check(self, search.index)
        self._fit_X = _IN_INDEX
        return search

    def _copied_search(self, rows):
        """The search of an index that copies the rows. The copy shows values that are missing or infinite."""
        try:
            search = self._engine_search(rows.array, share=False)
        except Exception:
            rows.check()
            raise
        if not search.index.all_finite:
            rows.check()
        return search

    def _make_search(self, rows):
        """The search of ``_fit_X``, or of ``rows`` where a column is nominal."""
        measure = self._measure
        if measure.name is None:
            if self._fit_X is None:
                raise ValueError(f"metric={self.metric!r} takes columns of numbers only")
            return MatrixSearch(measure.pairwise, measure.keywords, self._fit_X, self.n_jobs)
        return self._engine_search(self._fit_X if rows is None else rows, share=rows is None)

    def _engine_search(self, rows, share):
        measure = self._measure
        with self._job() as run:
            train = rows if isinstance(rows, np.ndarray) else rows.as_table(run)
            return EngineSearch(
                _core.KnnIndex.fit(train, measure.name, measure.params, measure.weights, share=share, run=run), measure.name
            )

    def _searched(self):
        """Called after each search: its report."""
        if isinstance(self._search, MatrixSearch):
            self._reports.last = self._search.report()

    def _checked_k(self, n_neighbors, rows):
        """The number of neighbours, given here or to the constructor, checked against the training rows."""
        if n_neighbors is None:
            n_neighbors = self.n_neighbors
        if type(n_neighbors) is not int and not isinstance(n_neighbors, numbers.Integral):
            raise TypeError(f"n_neighbors does not take {type(n_neighbors)} value, enter integer value")
        if n_neighbors <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {n_neighbors}")
        n_samples = self.n_samples_fit_
        if n_neighbors > n_samples - (rows is None):
            sign = "<" if rows is None else "<="
            n_queries = n_samples if rows is None else rows.n_rows
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {n_neighbors}, "
                f"n_samples_fit = {n_samples}, n_samples = {n_queries}"
            )
        return int(n_neighbors)

    # Pickling: an index is as quickly made again as read

    def __getstate__(self):
        state = self.__dict__.copy()
        search = state.pop("_search", None)
        state.pop("_voter", None)
        if state.get("_fit_rows") is _IN_INDEX:
            state["_fit_rows"] = self._fit_X
        if search is not None and self._fit_X is None:
            state["_train_columns"] = _columns_of(search.index.train())
        return state

    def __setstate__(self, state):
        state = dict(state)
        columns = state.pop("_train_columns", None)
        self.__dict__.update(state)
        if "n_samples_fit_" not in state:
            return
        if self._fit_X is not None:
            self._fit_X = _lendable(self._fit_X, None)
        self._search = self._make_search(None if columns is None else _TableRows(columns))
        self._voter = self._make_voter()

    def _to_model(self):
        from ._neighbors_model import model_of

        self._require_fit()
        return model_of(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.positive_only = tags.input_tags.pairwise
        tags.target_tags.multi_output = True
        return tags


def _is_none_or(kind, holds):
    return lambda value: value is None or (isinstance(value, kind) and bool(holds(value)))


def _lendable(array, X):
    """The array in float64 and C order, read-only for good: itself where nobody can write to it, else a copy."""
    lent = _lent(array, X)
    return _copied(array) if lent is None else lent


def _lent(array, X):
    """The array, read-only for good, if it is in float64 and C order and nobody can write to it; else None.

    ``X`` is what the caller handed in. An array that shares no memory with X is nobody else's.
    """
    if array.dtype == np.float64 and array.flags.c_contiguous and array.flags.aligned:
        if is_read_only(array):
            return array
        theirs = isinstance(X, np.ndarray) and np.may_share_memory(array, X)
        if not theirs and isinstance(X, (np.ndarray, list, tuple, type(None))) and _owns_memory(array):
            array = array.view()
            array.flags.writeable = False
            return array
    return None


def _copied(array):
    array = np.array(array, dtype=np.float64, order="C")
    array.flags.writeable = False
    return array


def _owns_memory(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base is None and not isinstance(array, np.memmap)


def _columns_of(table):
    """A table as plain values, to be pickled: (name, type, names of values or None, array) of each column."""
    columns = (table.column(i) for i in range(table.n_columns))
    return [(c.name, c.type, c.values.names() if c.is_nominal else None, c.array()) for c in columns]


class _TableRows:
    """The training rows of an estimator that was pickled."""

    def __init__(self, columns):
        self.columns = columns

    def as_table(self, run):
        made = [
            _core.Column.numeric(name, array, kind, run=run) if values is None
            else _core.Column.nominal(name, array, _core.Values(values), kind)
            for name, kind, values, array in self.columns
        ]
        return _core.Table.of_columns(made, len(self.columns[0][3]))
