"""Rows in a GPU's memory: training rows that stay there, and predictions as arrays of the same library."""

import numpy as np

from . import _core
from ._checks import check_finite, check_names, check_shape, refuse_missing
from ._device import checked_view, device_view, on_host
from ._neighbors_votes import ZERO_WEIGHTS
from .errors import UnsupportedError

__all__ = ["DeviceRows", "ScoredPredictions", "device_means", "device_rows", "device_votes", "score_on_host"]

_NEED_HOST = ("precomputed", "pyfunc", "seuclidean")  # measures whose parameters or distances are computed on the host


class DeviceRows:
    """The training rows of a fit that lie in a GPU: as :class:`stope._data.Rows`, but not looked at."""

    array = names = None
    unchecked = True

    def __init__(self, view):
        self.view = view
        self.n_rows, self.n_columns = view.shape

    @property
    def nominal(self):
        return [False] * self.n_columns

    def as_table(self, run):
        """What the engine fits: the array where it lies."""
        return self.view.native

    def check(self, estimator, index):
        """Refuses missing and infinite values, where the engine has found some."""
        missing = estimator._missing_rule
        state = self.view.finiteness()
        if state == "finite":  # its library cannot say
            check_finite(estimator, rows_of_index(index), missing)
        elif state == "infinite":
            raise ValueError(f"Input X contains infinity or a value too large for {self.view.native.type}.")
        elif missing != "skip":
            refuse_missing(estimator)


def device_rows(estimator, X):
    """The :class:`DeviceRows` of an X that a fit can leave in its GPU, with the checks of its shape; X where it lies on
    the host; a copy on the host where the estimator needs one."""
    view = device_view(X)
    if view is None:
        return X
    metric, categories = estimator.metric, estimator.categorical_features
    by_engine = isinstance(metric, str) and metric not in _NEED_HOST
    if not by_engine or not (categories is None or isinstance(categories, str)):
        return on_host(X)
    check_names(estimator, None, True)
    check_shape(estimator, view.shape, True, 1)
    estimator._nominal_in = None
    return DeviceRows(view)


def rows_of_index(index):
    """The rows of an index of numbers as a read-only array."""
    rows = index.rows()
    if rows is None:  # memory was short at the fit
        table = index.train()
        rows = np.column_stack([np.asarray(table.column(i).array(), np.float64) for i in range(table.n_columns)])
        rows.flags.writeable = False
    return rows


def device_votes(estimator, view, shares_wanted):
    """The codes of the winners, and the shares of the classes if they are wanted, of a :class:`DeviceView`."""
    voter, word, k = _voter_of(estimator, view)
    codes = view.empty(1, "int32")
    shares = view.empty(len(estimator.classes_), "float64") if shares_wanted else None
    with estimator._job() as run:
        _core.predict_classes_into(
            voter, view.native, k, word, _native(codes), None if shares is None else _native(shares), run
        )
    codes = codes.reshape(view.n_rows)
    if (word == "distance" or voter is not estimator._voter) and _any_below_zero(codes):
        raise ValueError(ZERO_WEIGHTS)
    return codes, shares


def device_means(estimator, view):
    """The means of a :class:`DeviceView`."""
    voter, word, k = _voter_of(estimator, view)
    means = view.empty(1, "float64")
    with estimator._job() as run:
        _core.predict_means_into(voter, view.native, k, word, _native(means), run)
    return means.reshape(view.n_rows)


class ScoredPredictions:
    """Stands in for an estimator in scikit-learn's ``score``: its predictions are there already."""

    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, X):
        return self.predictions


def score_on_host(estimator, score, X, y, sample_weight):
    """The ``score`` of a mixin for X in a GPU: the predictions and y are compared on the host."""
    return score(ScoredPredictions(on_host(estimator.predict(X))), X, on_host(y), on_host(sample_weight))


def _voter_of(estimator, view):
    """The engine's predictor, its word for the weights, and k."""
    checked_view(estimator, view)
    k = estimator._checked_k(None, view)
    if estimator._voter is None or callable(estimator.weights):
        raise UnsupportedError("predictions for rows in a GPU's memory need one output, no sample_weight at fit, and "
                               "weights that are a word or one for each training row")
    return *estimator._voter_and_word(), k


def _native(array):
    return device_view(array).native


def _any_below_zero(codes):
    if type(codes).__module__.partition(".")[0] == "numba":
        codes = on_host(codes)
    return bool((codes < 0).any())
