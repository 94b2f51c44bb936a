"""Votes: what lists of neighbours say of a query's class or value."""

import numpy as np

from . import _core
from ._neighbors_targets import check_row_weights

__all__ = [
    "Lists", "ZERO_WEIGHTS", "check_votes", "class_votes", "entry_weights", "has_words", "mean_votes", "rows_needed",
    "weighted_lists", "word_of",
]

ZERO_WEIGHTS = ("All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if "
                "you are using a user-defined function.")

_ROUNDED = 1 - 1e-9  # sums of weights such as 0.1 may miss the k that they stand for


class Lists:
    """Lists of neighbours: list i is entries ``offsets[i]`` to ``offsets[i + 1]`` of ``indices`` and ``distances``."""

    def __init__(self, offsets, indices, distances, width=None):
        self.offsets, self.indices, self.distances = offsets, indices, distances
        self.width = width  # of all lists, where they have one

    @classmethod
    def of_rectangle(cls, distances, indices):
        n_queries, width = indices.shape
        return cls(np.arange(n_queries + 1) * width, indices.ravel(), distances.ravel(), width)

    @property
    def n_queries(self):
        return len(self.offsets) - 1

    @property
    def lengths(self):
        return np.diff(self.offsets)

    @property
    def queries(self):
        """The query of each entry."""
        return np.repeat(np.arange(self.n_queries), self.lengths)

    def in_row_order(self, n_samples):
        """The same lists, each in the order of the training rows."""
        order = np.argsort(self.queries * n_samples + self.indices)
        return Lists(self.offsets, self.indices[order], self.distances[order])

    @property
    def native(self):
        return self.offsets, self.indices, self.distances


def rows_needed(sample_weight, k):
    """How many rows a list must have so that its weights surely sum up to k, where rows of weight 0 are left out."""
    sums = np.cumsum(np.sort(sample_weight[sample_weight > 0]))
    if sums[-1] < k * _ROUNDED:
        raise ValueError(f"The sample weights sum up to {sums[-1]:g}, which is less than n_neighbors = {k}: a row of "
                         "weight w counts as w rows. Scale the weights up, or give them as `weights`.")
    return int(np.searchsorted(sums, k)) + 1


def weighted_lists(distances, indices, sample_weight, k):
    """The k nearest where a row of weight w counts as w rows: the lists, and how much each entry counts.

    The last entry of a list counts as much as is left of k.
    """
    weights = np.where(indices >= 0, sample_weight[indices], 0.0)
    before = np.cumsum(weights, axis=1) - weights
    shares = np.clip(k - before, 0.0, weights)
    if (before[:, -1] + weights[:, -1] < k * _ROUNDED).any():
        raise ValueError(f"The sample weights of some sample's neighbors sum up to less than n_neighbors = {k}: a row "
                         "of weight w counts as w rows.")
    counted = shares > 0
    offsets = np.zeros(len(indices) + 1, dtype=np.int64)
    np.cumsum(counted.sum(axis=1), out=offsets[1:])
    return Lists(offsets, indices[counted], distances[counted]), shares[counted]


def has_words(weights):
    """Whether ``weights`` is one of the words that the engine knows."""
    return weights is None or isinstance(weights, str)


def word_of(weights):
    """The engine's word. Raises ValueError for any other word."""
    if weights is not None and weights not in ("uniform", "distance"):
        raise ValueError("weights must be 'uniform', 'distance', a callable, or one weight for each training row; got "
                         f"{weights!r}")
    return weights or "uniform"


def check_votes(weights, n_samples):
    """Raises ValueError for ``weights`` that are no word, no callable, and not one weight for each training row."""
    if has_words(weights):
        word_of(weights)
    elif not callable(weights):
        check_row_weights(weights, n_samples, "weights")


def entry_weights(weights, lists, n_samples, shares=None):
    """One weight for each entry of the lists.

    ``shares`` are further factors of the entries: how much of each row counts, where rows have sample weights.
    """
    if has_words(weights):
        word = word_of(weights)
        result = np.ones(len(lists.indices)) if word == "uniform" else _inverse_distances(lists)
    elif callable(weights):
        result = _called(weights, lists)
    else:
        result = check_row_weights(weights, n_samples, "weights")[lists.indices]
    return result if shares is None else result * shares


def _inverse_distances(lists):
    """1 / distance, and 0 for NaN, as the engine weighs. Distances of zero share all the weight of their list."""
    if (lists.distances < 0).any():
        raise ValueError("votes weighted by 1/distance need distances >= 0")
    with np.errstate(divide="ignore"):
        weights = np.where(np.isnan(lists.distances), 0.0, 1.0 / lists.distances)
    infinite = np.isinf(weights)
    if infinite.any():
        queries = lists.queries
        touched = np.zeros(lists.n_queries, dtype=bool)
        touched[queries[infinite]] = True
        weights = np.where(touched[queries], infinite.astype(np.float64), weights)
    return weights


def _called(weights, lists):
    """A callable gets the rectangle of all distances, or the distances of one list after the other."""
    if lists.width is not None:
        rectangle = lists.distances.reshape(-1, lists.width)
        result = np.asarray(weights(rectangle), dtype=np.float64)
        if result.shape != rectangle.shape:
            raise ValueError(f"the weights callable returned shape {result.shape} for distances of shape "
                             f"{rectangle.shape}")
        return result.ravel()
    result = np.empty(len(lists.distances))
    for begin, end in zip(lists.offsets[:-1], lists.offsets[1:]):
        if begin < end:
            result[begin:end] = weights(lists.distances[begin:end])
    return result


def class_votes(lists, codes, n_classes, weights, run):
    """The shares of the classes in the votes, of shape (n_queries, n_classes).

    ``weights`` is the engine's word, or one weight for each entry. A list without votes has shares of NaN.
    """
    if isinstance(weights, str):
        values = _core.Values([str(i) for i in range(n_classes)])
        return _core.vote_classes(lists.native, values, codes, weights, run=run)[1]
    place = lists.queries * n_classes + codes[lists.indices]
    votes = np.bincount(place, weights, minlength=lists.n_queries * n_classes).reshape(lists.n_queries, n_classes)
    with np.errstate(invalid="ignore", divide="ignore"):
        return votes / votes.sum(axis=1, keepdims=True)


def mean_votes(lists, targets, weights, run):
    """The weighted means of the neighbours' targets, of shape (n_queries,); NaN for a list without votes."""
    if isinstance(weights, str):
        return _core.vote_means(lists.native, targets, weights, run=run)
    queries, n = lists.queries, lists.n_queries
    sums = np.bincount(queries, weights * targets[lists.indices], minlength=n)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / np.bincount(queries, weights, minlength=n)
