"""Classification by neighbours: the k nearest, or all within a radius."""

import numpy as np

from . import _core
from ._base import ClassifierMixin
from ._device import device_view
from ._neighbors_base import NeighborsBase
from ._neighbors_device import device_votes, score_on_host
from ._neighbors_lists import KNeighborsMixin, RadiusNeighborsMixin
from ._neighbors_search import EngineSearch
from ._neighbors_targets import check_labels, check_row_weights
from ._neighbors_votes import ZERO_WEIGHTS, class_votes, entry_weights, has_words, word_of
from ._run import warn

__all__ = ["KNeighborsClassifier", "RadiusNeighborsClassifier"]


class _Classifier(ClassifierMixin, NeighborsBase):
    """Labels, and votes for them."""

    def _fit_labels(self, X, y, sample_weight=None):
        rows = self._check_fit(X)
        classes, codes, self.outputs_2d_ = check_labels(self, y, rows.n_rows)
        self._codes = codes
        self.classes_ = classes if self.outputs_2d_ else classes[0]
        self._sample_weight = None
        if sample_weight is not None:
            self._sample_weight = check_row_weights(sample_weight, rows.n_rows, "sample_weight")
        return self._fit_index(rows, X)

    @property
    def _all_classes(self):
        return self.classes_ if self.outputs_2d_ else [self.classes_]

    def _shares(self, lists, counts):
        """The shares of the classes in each list's votes, for each output."""
        if has_words(self.weights) and counts is None:
            weights = word_of(self.weights)
        else:
            weights = entry_weights(self.weights, lists, self.n_samples_fit_, counts)
        with self._job() as run:
            return [
                class_votes(lists, np.ascontiguousarray(self._codes[:, output]), len(classes), weights, run)
                for output, classes in enumerate(self._all_classes)
            ]

    def _labels(self, winners):
        """The labels of the classes that have won each output."""
        if not self.outputs_2d_:
            return self.classes_[winners[0]]
        classes = self._all_classes
        labels = np.empty((len(winners[0]), len(classes)), dtype=classes[0].dtype)
        for output, codes in enumerate(winners):
            labels[:, output] = classes[output][codes]
        return labels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class KNeighborsClassifier(KNeighborsMixin, _Classifier):
    """The class that most of the k nearest training rows have.

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
    classes_ : ndarray of shape (n_classes,), or list of ndarrays
        The labels in order; one array for each output.
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
    outputs_2d_ : bool
        Whether y had several columns.
    report_ : stope.Report
        What ran the last call, and why.

    Notes
    -----
    Among classes with equal votes the first of ``classes_`` wins. Among equal distances the lower
    training row is nearer.

    Examples
    --------
    >>> from stope import KNeighborsClassifier
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.1]])
    array([0])
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
        """Index the training rows and their labels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The training rows; (n_samples, n_samples) distances if ``metric`` is "precomputed". A float64 array in C
            order that is read-only is used where it lies; anything else is copied. Rows of CuPy, PyTorch or Numba in a
            GPU's memory are copied within it, and go to the host when something first needs them there.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight w counts as w rows: it takes w of the ``n_neighbors`` places in a list.
            Weights are finite and at least 0; a row of weight 0 is as good as removed.

        Returns
        -------
        self : KNeighborsClassifier
        """
        return self._fit_labels(X, y, sample_weight)

    def predict(self, X):
        """Predict the label of each query.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), or None
            The queries. None: the training rows, each without itself (leave-one-out). Arrays of CuPy, PyTorch or Numba
            in a GPU's memory are read there, and the labels are an array of the same library if they are numbers.

        Returns
        -------
        labels : ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        self._require_fit()
        view = device_view(X)
        if view is not None:
            return view.labels(self.classes_, device_votes(self, view, shares_wanted=False)[0])
        if self._voter is not None and not callable(self.weights):
            return self._labels([self._vote(X, confidences=False)[0]])
        return self._labels([shares.argmax(axis=1) for shares in self._all_shares(X)])

    def predict_proba(self, X):
        """The shares of the classes in each query's votes.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), or None
            The queries. None: the training rows, each without itself (leave-one-out). Arrays of CuPy, PyTorch or Numba
            in a GPU's memory are read there, and the shares are an array of the same library.

        Returns
        -------
        shares : float64 ndarray of shape (n_queries, n_classes), or list of such arrays, one for each output
        """
        self._require_fit()
        view = device_view(X)
        if view is not None:
            return device_votes(self, view, shares_wanted=True)[1]
        if self._voter is not None and not callable(self.weights):
            return self._vote(X, confidences=True)[1]
        shares = self._all_shares(X)
        return shares if self.outputs_2d_ else shares[0]

    def score(self, X, y, sample_weight=None):
        """The share of queries whose label is predicted.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), or None
            As for :meth:`predict`. For X in a GPU's memory the predictions are compared with y on the host.
        y : array-like of shape (n_queries,) or (n_queries, n_outputs)
            The true labels.
        sample_weight : array-like of shape (n_queries,), default=None
            The queries' weights.

        Returns
        -------
        score : float
        """
        if device_view(X) is None:
            return super().score(X, y, sample_weight)
        return score_on_host(self, super().score.__func__, X, y, sample_weight)

    def _all_shares(self, X):
        lists, counts = self._k_lists(X, self._sample_weight)
        all_shares = self._shares(lists, counts)
        if np.isnan(all_shares[0]).all(axis=1).any():
            raise ValueError(ZERO_WEIGHTS)
        return all_shares

    def _make_voter(self, row_weights=None):
        if not isinstance(self._search, EngineSearch) or self.outputs_2d_ or self._sample_weight is not None:
            return None
        names = _core.Values([str(i) for i in range(len(self.classes_))])
        label = _core.Column.nominal("label", np.ascontiguousarray(self._codes[:, 0]), names)
        return _core.KnnClassifier.fit(self._search.index, label, row_weights)

    def _vote(self, X, confidences):
        """The codes of the winners, and the shares if they are wanted: searched and voted in one job."""
        rows = self._query_rows(X)
        k = self._checked_k(None, rows)
        voter, word = self._voter_and_word()
        with self._job() as run:
            codes, shares = voter.predict(
                self._search.source(rows), k, word, rows is None, confidences, quick=self._search.quick, run=run
            )
        weighted = voter is not self._voter or word == "distance"
        if weighted and codes.size and codes.min() < 0:
            raise ValueError(ZERO_WEIGHTS)
        return codes, shares


class RadiusNeighborsClassifier(RadiusNeighborsMixin, _Classifier):
    """The class that most of the training rows within a radius have.

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
    outlier_label : label, list of labels, "most_frequent" or None, default=None
        The label of a query without neighbours; a list has one for each output. None: such a query raises ValueError.
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
    classes_ : ndarray of shape (n_classes,), or list of ndarrays
        The labels in order; one array for each output.
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
    outlier_label_ : list of labels, or None
        The label of queries without neighbours, for each output.
    outputs_2d_ : bool
        Whether y had several columns.
    report_ : stope.Report
        What ran the last call, and why.

    Notes
    -----
    ``fit`` takes no ``sample_weight``: an array of ``weights`` says the same of lists that have no fixed length.

    Examples
    --------
    >>> from stope import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0])
    """

    __module__ = "stope.neighbors"

    def __init__(
        self, radius=1.0, *, weights="uniform", algorithm="auto", leaf_size=30, p=2, metric="auto",
        outlier_label=None, metric_params=None, n_jobs=None, feature_weights=None, categorical_features="from_dtype",
        missing="error", device="auto",
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.feature_weights = feature_weights
        self.categorical_features = categorical_features
        self.missing = missing
        self.device = device

    def fit(self, X, y):
        """Index the training rows and their labels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The training rows; (n_samples, n_samples) distances if ``metric`` is "precomputed". A float64 array in C
            order that is read-only is used where it lies; anything else is copied. Rows of CuPy, PyTorch or Numba in a
            GPU's memory are copied within it, and go to the host when something first needs them there.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels.

        Returns
        -------
        self : RadiusNeighborsClassifier
        """
        self._fit_labels(X, y)
        self.outlier_label_ = self._checked_outlier_label()
        return self

    def _checked_outlier_label(self):
        given, all_classes = self.outlier_label, self._all_classes
        if given is None:
            return None
        if isinstance(given, str) and given == "most_frequent":
            counts = [np.bincount(codes) for codes in self._codes.T]
            return [classes[count.argmax()] for classes, count in zip(all_classes, counts)]
        several = hasattr(given, "__len__") and not isinstance(given, str)
        if several and len(given) != len(all_classes):
            raise ValueError(f"The length of outlier_label: {given} is inconsistent with the output length: "
                             f"{len(all_classes)}")
        labels = list(given) if several else [given] * len(all_classes)
        for classes, label in zip(all_classes, labels):
            if hasattr(label, "__len__") and not isinstance(label, str):
                raise TypeError(f"The outlier_label of classes {classes} is supposed to be a scalar, got {label}.")
            if np.append(classes, label).dtype != classes.dtype:
                raise TypeError(f"The dtype of outlier_label {label} is inconsistent with classes {classes} in y.")
        return labels

    def predict(self, X):
        """Predict the label of each query.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), or None
            The queries. None: the training rows, each without itself (leave-one-out).

        Returns
        -------
        labels : ndarray of shape (n_queries,) or (n_queries, n_outputs)

        Raises
        ------
        ValueError
            If a query has no neighbours and ``outlier_label`` is None.
        """
        all_shares = self._all_shares(X)
        labels = self._labels([shares.argmax(axis=1) for shares in all_shares]).reshape(-1, len(all_shares))
        for output, shares in enumerate(all_shares):
            without = (shares == 0).all(axis=1)
            if without.any():
                labels[without, output] = self.outlier_label_[output]
        return labels if self.outputs_2d_ else labels.ravel()

    def predict_proba(self, X):
        """The shares of the classes in each query's votes.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), or None
            The queries. None: the training rows, each without itself (leave-one-out).

        Returns
        -------
        shares : float64 ndarray of shape (n_queries, n_classes), or list of such arrays, one for each output
            A query without neighbours has 1 at its outlier label. It has zeros, and there is a warning, if that label
            is no class.

        Raises
        ------
        ValueError
            If a query has no neighbours and ``outlier_label`` is None.
        """
        shares = self._all_shares(X)
        return shares if self.outputs_2d_ else shares[0]

    def _all_shares(self, X):
        lists = self._radius_lists(X)
        outliers = np.flatnonzero(lists.lengths == 0)
        if outliers.size and self.outlier_label_ is None:
            raise ValueError(f"No neighbors found for test samples {outliers!r}, you can try using larger radius, "
                             "giving a label for outliers, or considering removing them from your dataset.")
        all_shares = self._shares(lists, None)
        for output, shares in enumerate(all_shares):
            weightless = np.isnan(shares).all(axis=1)
            if weightless.any() and self.outlier_label_ is None:
                raise ValueError(ZERO_WEIGHTS)
            shares[weightless] = 0.0
            if outliers.size:
                self._set_outliers(shares, outliers, output)
        return all_shares

    def _set_outliers(self, shares, outliers, output):
        label = self.outlier_label_[output]
        place = np.flatnonzero(self._all_classes[output] == label)
        if place.size == 1:
            shares[outliers, place[0]] = 1.0
        else:
            warn(UserWarning(f"Outlier label {label} is not in training classes. All class probabilities of outliers "
                             "will be assigned with 0."))
