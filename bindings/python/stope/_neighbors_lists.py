"""Lists of neighbours and graphs of them, as all estimators of neighbours give them."""

import numbers

import numpy as np

from ._device import device_view, estimator_kneighbors
from ._neighbors_votes import Lists, rows_needed, weighted_lists

__all__ = ["KNeighborsMixin", "RadiusNeighborsMixin"]


class KNeighborsMixin:
    """The k nearest neighbours."""

    def kneighbors(self, X=None, n_neighbors: "int | None" = None, return_distance: bool = True):
        """Find the nearest training rows of each query.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), default=None
            The queries; distances from all training rows, of shape (n_queries, n_samples_fit), if ``metric`` is
            "precomputed". None: the training rows, and no row is its own neighbour. Arrays of CuPy, PyTorch or Numba in
            a GPU's memory are read there, and the results are arrays of the same library.
        n_neighbors : int, default=None
            None takes the estimator's. At most the number of training rows.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        neigh_dist : float64 ndarray of shape (n_queries, n_neighbors)
            The distances, smallest first. Only if ``return_distance``.
        neigh_ind : int64 ndarray of shape (n_queries, n_neighbors)
            The training rows. Among equal distances the lower row comes first; a distance of NaN comes last.
        """
        view = device_view(X)
        if view is not None:
            return estimator_kneighbors(self, view, n_neighbors, return_distance)
        rows = self._query_rows(X)
        k = self._checked_k(n_neighbors, rows)
        with self._job() as run:
            distances, indices = self._search.nearest(rows, k, run)
        self._searched()
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X=None, n_neighbors: "int | None" = None, mode: str = "connectivity"):
        """The nearest neighbours as a graph.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), default=None
            As for :meth:`kneighbors`.
        n_neighbors : int, default=None
            None takes the estimator's.
        mode : {"connectivity", "distance"}, default="connectivity"
            What an edge holds: 1.0, or the distance.

        Returns
        -------
        graph : scipy.sparse.csr_matrix of float64, of shape (n_queries, n_samples_fit)
            The edges of a row are in the order of :meth:`kneighbors`.
        """
        _check_mode(mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        data = np.ones(indices.size) if mode == "connectivity" else distances.ravel()
        offsets = np.arange(indices.shape[0] + 1) * indices.shape[1]
        return _graph(data, indices.ravel(), offsets, self.n_samples_fit_)

    def _k_lists(self, X, sample_weight=None):
        """The lists that votes are cast with, and how much each entry counts (None: 1)."""
        rows = self._query_rows(X)
        k = width = self._checked_k(None, rows)
        if sample_weight is not None:
            width = min(rows_needed(sample_weight, k), self.n_samples_fit_ - (rows is None))
        with self._job() as run:
            excluded = None if sample_weight is None else sample_weight == 0
            distances, indices = self._search.nearest(rows, width, run, excluded)
        self._searched()
        if sample_weight is None:
            return Lists.of_rectangle(distances, indices), None
        return weighted_lists(distances, indices, sample_weight, k)


class RadiusNeighborsMixin:
    """The neighbours within a radius."""

    def radius_neighbors(
        self, X=None, radius: "float | None" = None, return_distance: bool = True, sort_results: bool = False
    ):
        """Find all training rows within a distance of each query.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), default=None
            The queries; distances from all training rows, of shape (n_queries, n_samples_fit), if ``metric`` is
            "precomputed". None: the training rows, and no row is its own neighbour.
        radius : float, default=None
            The largest distance, itself included. None takes the estimator's.
        return_distance : bool, default=True
            Whether to return the distances.
        sort_results : bool, default=False
            True: a list is ordered by (distance, row). False: by row, as scikit-learn's brute force orders it. True
            without ``return_distance`` raises ValueError.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries,) of float64 ndarrays
            The distances. Only if ``return_distance``.
        neigh_ind : ndarray of shape (n_queries,) of int64 ndarrays
            The training rows. A distance of NaN is not near.
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        lists = self._radius_lists(X, radius)
        if not sort_results:
            lists = lists.in_row_order(self.n_samples_fit_)
        indices = _split(lists.indices, lists.offsets)
        return (_split(lists.distances, lists.offsets), indices) if return_distance else indices

    def radius_neighbors_graph(
        self, X=None, radius: "float | None" = None, mode: str = "connectivity", sort_results: bool = False
    ):
        """The neighbours within a radius as a graph.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_queries, n_features), default=None
            As for :meth:`radius_neighbors`.
        radius : float, default=None
            None takes the estimator's.
        mode : {"connectivity", "distance"}, default="connectivity"
            What an edge holds: 1.0, or the distance.
        sort_results : bool, default=False
            Whether the edges of a row are ordered by distance in place of their columns. Only for mode "distance".

        Returns
        -------
        graph : scipy.sparse.csr_matrix of float64, of shape (n_queries, n_samples_fit)
        """
        _check_mode(mode)
        lists = self._radius_lists(X, radius)
        if not sort_results or mode == "connectivity":
            lists = lists.in_row_order(self.n_samples_fit_)
        data = np.ones(lists.indices.size) if mode == "connectivity" else lists.distances
        return _graph(data, lists.indices, lists.offsets, self.n_samples_fit_)

    def _radius_lists(self, X, radius=None, excluded=None):
        rows = self._query_rows(X)
        radius = self.radius if radius is None else radius
        if not isinstance(radius, numbers.Real):
            raise TypeError(f"radius must be a number; got {radius!r}")
        if radius != radius:
            raise ValueError("the radius is not a number")
        with self._job() as run:
            lists = Lists(*self._search.within(rows, radius, run, excluded))
        self._searched()
        return lists


def _check_mode(mode):
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')


def _split(values, offsets):
    lists = np.empty(len(offsets) - 1, dtype=object)
    ends = offsets.tolist()
    for i in range(len(lists)):
        lists[i] = values[ends[i] : ends[i + 1]]
    return lists


def _graph(data, indices, offsets, n_samples):
    from scipy.sparse import csr_matrix

    return csr_matrix((data, indices, offsets), shape=(len(offsets) - 1, n_samples))
