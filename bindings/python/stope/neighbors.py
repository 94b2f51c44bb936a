"""Nearest neighbours over numeric and mixed tables, with scikit-learn's names, parameters and defaults."""

from . import _core
from ._neighbors_base import NeighborsBase
from ._neighbors_classification import KNeighborsClassifier, RadiusNeighborsClassifier
from ._neighbors_lists import KNeighborsMixin, RadiusNeighborsMixin
from ._neighbors_regression import KNeighborsRegressor, RadiusNeighborsRegressor

# Measures that need nothing of the rows before the engine copies them: the copy shows which values are missing.
_PLAIN_METRICS = frozenset({"auto", "minkowski", "euclidean", "sqeuclidean", "manhattan", "chebyshev"})

__all__ = [
    "KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors", "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor", "metrics",
]


class NearestNeighbors(KNeighborsMixin, RadiusNeighborsMixin, NeighborsBase):
    """Finds the nearest training rows of queries, exactly.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours.
    radius : float, default=1.0
        The largest distance of a neighbour in :meth:`radius_neighbors`, itself included.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Every word gives the same exact answer.
    leaf_size : int, default=30
        Accepted as scikit-learn's; it has no effect.
    metric : str or callable, default="auto"
        "auto" is Minkowski's distance, or "mixed-euclidean" where a column is nominal. Other names are scikit-learn's,
        and those that :func:`stope.neighbors.metrics` lists. "precomputed": X holds distances. A callable takes two
        rows; it runs at Python's speed.
    p : float, default=2
        The power of the Minkowski distance: 1 is Manhattan, 2 Euclidean, inf Chebyshev.
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
    >>> from stope import NearestNeighbors
    >>> search = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> search.kneighbors([[0.9]], return_distance=False)
    array([[1, 0]])
    """

    def __init__(
        self, *, n_neighbors=5, radius=1.0, algorithm="auto", leaf_size=30, metric="auto", p=2, metric_params=None,
        n_jobs=None, feature_weights=None, categorical_features="from_dtype", missing="error", device="auto",
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.feature_weights = feature_weights
        self.categorical_features = categorical_features
        self.missing = missing
        self.device = device

    def fit(self, X, y=None):
        """Index the training rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The training rows; (n_samples, n_samples) distances if ``metric`` is "precomputed". A float64 array in C
            order that is read-only is used where it lies; anything else is copied. Rows of CuPy, PyTorch or Numba in a
            GPU's memory are copied within it, and go to the host when something first needs them there.
        y : None
            Ignored.

        Returns
        -------
        self : NearestNeighbors
        """
        before = dict(self.__dict__)
        rows = self._check_fit(X, later=isinstance(self.metric, str) and self.metric in _PLAIN_METRICS)
        unchecked = rows.unchecked
        try:
            return self._fit_index(rows, X)
        except ValueError:
            if unchecked:  # as if the values had been looked at first
                self.__dict__.clear()
                self.__dict__.update(before)
            raise


def metrics() -> "list[dict]":
    """List the measures of the engine.

    Returns
    -------
    measures : list of dict
        ``name``, ``aliases`` (separated by blanks), ``rapidminer`` and ``family`` (RapidMiner's name), ``accepts`` (the
        columns: "mixed", "numeric" or "nominal"), ``params``, ``summary`` (the formula), and whether the measure
        ``scales_itself``, ``allows_missing`` values and is ``symmetric``.

    Examples
    --------
    >>> from stope.neighbors import metrics
    >>> [measure["name"] for measure in metrics() if measure["accepts"] == "mixed"]
    ['mixed-euclidean', 'gower', 'heom', 'hamming']
    """
    return _core.metrics()
