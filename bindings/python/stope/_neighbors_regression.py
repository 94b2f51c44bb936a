"""Regression by neighbours: the k nearest, or all within a radius."""

import numpy as np

from . import _core
from ._base import RegressorMixin
from ._device import device_view
from ._neighbors_base import NeighborsBase
from ._neighbors_device import device_means, score_on_host
from ._neighbors_lists import KNeighborsMixin, RadiusNeighborsMixin
from ._neighbors_search import EngineSearch
from ._neighbors_targets import check_row_weights, check_targets
from ._neighbors_votes import entry_weights, has_words, mean_votes, word_of
from ._run import warn

__all__ = ["KNeighborsRegressor", "RadiusNeighborsRegressor"]


class _Regressor(RegressorMixin, NeighborsBase):
    """Targets, and their means."""

    def _fit_targets(self, X, y, sample_weight):
        rows = self._check_fit(X)
        self._targets = check_targets(self, y, rows.n_rows)
        self._sample_weight = None
        if sample_weight is not None:
            self._sample_weight = check_row_weights(sample_weight, rows.n_rows, "sample_weight")
        return self._fit_index(rows, X)

    def _means(self, lists, counts):
        if has_words(self.weights) and counts is None:
            weights = word_of(self.weights)
        else:
            weights = entry_weights(self.weights, lists, self.n_samples_fit_, counts)
        columns = self._targets.reshape(self.n_samples_fit_, -1).T
        with self._job() as run:
            means = [mean_votes(lists, np.ascontiguousarray(column), weights, run) for column in columns]
        return means[0] if self._targets.ndim == 1 else np.column_stack(means)


class KNeighborsRegressor(KNeighborsMixin, _Regressor):
    """The mean of the k nearest training rows' targets.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours.
    weights : {"uniform", "distance"}, callable, array-like of shape (n_samples,) or None, default="uniform"
        What a neighbour's vote weighs: 1, one over its distance, or what a callable makes of an array of distances. An
        array has a factor for each training row, as a column of the role "weight" has on the command line. With
        "distance", neighbours at distance 0 share all the weight.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Every word gives the same exact answer.
    leaf_size : int, default=30
        Accepted as scikit-learn's; it has no effect.
    p : float, default=2
        The power of the Minkowski distance: 1 is Manhattan, 2 Euclidean, inf Chebyshev.
    metric : str or callable, default="auto"
        "auto" is Minkowski's distance, or "mixed-euclidean" where a column is nominal. Other names are scikit-learn's,
        and those that :func:`stope.neighbors.metrics` lists. "precomputed": X holds distances. A callable takes two
        rows; it runs at Python's speed.
    metric_params : dict, default=None
        Parameters of the metric.
    n_jobs : int, default=None
        CPU threads. None takes what :func:`stope.config_context` says, else all; -1 takes all.
    feature_weights : array-like of shape (n_features,) or dict, default=None
        One factor, at least 0, for each column's part of the distance. A dict names columns; others weigh 1.
    categorical_features : "from_dtype", None, mask, or list of names or indices, default="from_dtype"
        Which columns are nominal. "from_dtype": those of strings and categories. None: no column.
    missing : {"error", "skip"}, default="error"
        "error" refuses missing values unless the metric's formula takes them ("nan_euclidean", "gower", "heom").
        "skip": the metric leaves attributes out that are missing in one of the two rows.
    device : str, default="auto"
        "auto", "cpu", "cuda", "cuda:0,1" or "cuda:UUID".

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric in use: "euclidean" where ``metric`` is "auto" and ``p`` is 2.
    effective_metric_params_ : dict
        Its parameters.
    n_features_in_ : int
        Number of columns at ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The columns' names, where all of them are strings.
    n_samples_fit_ : int
        Number of training rows.
    report_ : stope.Report
        What ran the last call, and why.

    Notes
    -----
    A call costs O(queries x rows x features) at most. Among equal distances the lower training row is nearer.

    Examples
    --------
    >>> from stope import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0.5])
    """

    __module__ = "stope.neighbors"

    def __init__(
        self, n_neighbors=5, *, weights="uniform", algorithm="auto", leaf_size=30, p=2, metric="auto",
        metric_params=None, n_jobs=None, feature_weights=None, categorical_features="from_dtype", missing="error",
        device="auto",
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.feature_weights = feature_weights
        self.categorical_features = categorical_features
        self.missing = missing
        self.device = device

    def fit(self, X, y, sample_weight=None):
        """Index the training rows and their targets.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The training rows; (n_samples, n_samples) distances if ``metric`` is "precomputed". A float64 array in C
            order that is read-only is used where it lies; anything else is copied. Rows of CuPy, PyTorch or Numba in a
            GPU's memory are copied within it, and go to the host when something first needs them there.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets, as float64.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight w counts as w rows: it takes w of the ``n_neighbors`` places in a list.
            Weights are finite and at least 0; a row of weight 0 is as good as removed.

        Returns
        -------
        self : KNeighborsRegressor
        """
        return self._fit_targets(X, y, sample_weight)

    def predict(self, X):
        """Predict the target of each query: the weighted mean of its neighbours' targets.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), or None
            The queries. None: the training rows, each without itself (leave-one-out). Arrays of CuPy, PyTorch or Numba
            in a GPU's memory are read there, and the means are an array of the same library.

        Returns
        -------
        means : float64 ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        self._require_fit()
        view = device_view(X)
        if view is not None:
            return device_means(self, view)
        if self._voter is None or callable(self.weights):
            return self._means(*self._k_lists(X, self._sample_weight))
        rows = self._query_rows(X)
        k = self._checked_k(None, rows)
        voter, word = self._voter_and_word()
        with self._job() as run:
            return voter.predict(self._search.source(rows), k, word, rows is None, quick=self._search.quick, run=run)

    def score(self, X, y, sample_weight=None):
        """The coefficient of determination (R squared) of the predictions.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), or None
            As for :meth:`predict`. For X in a GPU's memory the predictions are compared with y on the host.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            The true targets.
        sample_weight : array-like of shape (n_queries,), default=None
            The queries' weights.

        Returns
        -------
        score : float
        """
        if device_view(X) is None:
            return super().score(X, y, sample_weight)
        return score_on_host(self, super().score.__func__, X, y, sample_weight)

    def _make_voter(self, row_weights=None):
        if not isinstance(self._search, EngineSearch) or self._targets.ndim == 2 or self._sample_weight is not None:
            return None
        label = _core.Column.numeric("target", self._targets, run=_core.Run())
        return _core.KnnRegressor.fit(self._search.index, label, row_weights)


class RadiusNeighborsRegressor(RadiusNeighborsMixin, _Regressor):
    """The mean of the targets of the training rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
        The largest distance of a neighbour, itself included.
    weights : {"uniform", "distance"}, callable, array-like of shape (n_samples,) or None, default="uniform"
        What a neighbour's vote weighs: 1, one over its distance, or what a callable makes of an array of distances. An
        array has a factor for each training row, as a column of the role "weight" has on the command line. With
        "distance", neighbours at distance 0 share all the weight.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Every word gives the same exact answer.
    leaf_size : int, default=30
        Accepted as scikit-learn's; it has no effect.
    p : float, default=2
        The power of the Minkowski distance: 1 is Manhattan, 2 Euclidean, inf Chebyshev.
    metric : str or callable, default="auto"
        "auto" is Minkowski's distance, or "mixed-euclidean" where a column is nominal. Other names are scikit-learn's,
        and those that :func:`stope.neighbors.metrics` lists. "precomputed": X holds distances. A callable takes two
        rows; it runs at Python's speed.
    metric_params : dict, default=None
        Parameters of the metric.
    n_jobs : int, default=None
        CPU threads. None takes what :func:`stope.config_context` says, else all; -1 takes all.
    feature_weights : array-like of shape (n_features,) or dict, default=None
        One factor, at least 0, for each column's part of the distance. A dict names columns; others weigh 1.
    categorical_features : "from_dtype", None, mask, or list of names or indices, default="from_dtype"
        Which columns are nominal. "from_dtype": those of strings and categories. None: no column.
    missing : {"error", "skip"}, default="error"
        "error" refuses missing values unless the metric's formula takes them ("nan_euclidean", "gower", "heom").
        "skip": the metric leaves attributes out that are missing in one of the two rows.
    device : str, default="auto"
        "auto", "cpu", "cuda", "cuda:0,1" or "cuda:UUID".

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric in use: "euclidean" where ``metric`` is "auto" and ``p`` is 2.
    effective_metric_params_ : dict
        Its parameters.
    n_features_in_ : int
        Number of columns at ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The columns' names, where all of them are strings.
    n_samples_fit_ : int
        Number of training rows.
    report_ : stope.Report
        What ran the last call, and why.

    Notes
    -----
    A call costs O(queries x rows x features) at most. Among equal distances the lower training row is nearer.

    Examples
    --------
    >>> from stope import RadiusNeighborsRegressor
    >>> model = RadiusNeighborsRegressor(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0.5])
    """

    __module__ = "stope.neighbors"

    def __init__(
        self, radius=1.0, *, weights="uniform", algorithm="auto", leaf_size=30, p=2, metric="auto",
        metric_params=None, n_jobs=None, feature_weights=None, categorical_features="from_dtype", missing="error",
        device="auto",
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.feature_weights = feature_weights
        self.categorical_features = categorical_features
        self.missing = missing
        self.device = device

    def fit(self, X, y, sample_weight=None):
        """Index the training rows and their targets.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The training rows; (n_samples, n_samples) distances if ``metric`` is "precomputed". A float64 array in C
            order that is read-only is used where it lies; anything else is copied. Rows of CuPy, PyTorch or Numba in a
            GPU's memory are copied within it, and go to the host when something first needs them there.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets, as float64.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight w counts as w rows: its target counts w times.
            Weights are finite and at least 0; a row of weight 0 is as good as removed.

        Returns
        -------
        self : RadiusNeighborsRegressor
        """
        return self._fit_targets(X, y, sample_weight)

    def predict(self, X):
        """Predict the target of each query: the weighted mean of its neighbours' targets.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), or None
            The queries. None: the training rows, each without itself (leave-one-out).

        Returns
        -------
        means : float64 ndarray of shape (n_queries,) or (n_queries, n_outputs)
            NaN, with a warning, for a query without neighbours.
        """
        self._require_fit()
        weight = self._sample_weight
        lists = self._radius_lists(X, excluded=None if weight is None else weight == 0)
        means = self._means(lists, None if weight is None else weight[lists.indices])
        if np.isnan(means).any():
            warn(UserWarning("One or more samples have no neighbors within specified radius; predicting NaN."))
        return means
