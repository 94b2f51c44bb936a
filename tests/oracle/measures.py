"""stope's own measures in NumPy: one vectorised step per attribute, in column order. Every pair sees the additions,
multiplications, divisions and square roots of a plain loop, so that the result can be compared to the bit."""

import numpy as np


def _present(x, y):
    for j in range(x.shape[1]):
        a, b = x[:, j][:, None], y[:, j][None, :]
        yield j, a, b, ~(np.isnan(a) | np.isnan(b))


def _skip_sum(x, y, w, term):
    total = np.zeros((len(x), len(y)))
    compared = np.zeros_like(total)
    for j, a, b, present in _present(x, y):
        total = np.where(present, total + w[j] * term(a, b), total)
        compared += present
    return total, compared


def _or_nan(value, compared):
    return np.where(compared > 0, value, np.nan)


def _squares(x, y, w):
    return _skip_sum(x, y, w, lambda a, b: (a - b) * (a - b))


def euclidean(x, y, w):
    total, compared = _squares(x, y, w)
    return _or_nan(np.sqrt(total), compared)


def sqeuclidean(x, y, w):
    return _or_nan(*_squares(x, y, w))


def manhattan(x, y, w):
    return _or_nan(*_skip_sum(x, y, w, lambda a, b: np.abs(a - b)))


def chebyshev(x, y, w):
    best = np.zeros((len(x), len(y)))
    compared = np.zeros_like(best)
    for j, a, b, present in _present(x, y):
        t = w[j] * np.abs(a - b)
        best = np.where(present, np.where((t > best) | np.isnan(t) | np.isnan(best), t + 0 * best, best), best)
        compared += present
    return _or_nan(best, compared)


def canberra(x, y, w):
    def term(a, b):
        below = np.abs(a) + np.abs(b)
        return np.where(below == 0, 0.0, np.abs(a - b) / np.where(below == 0, 1.0, below))
    return _or_nan(*_skip_sum(x, y, w, term))


def braycurtis(x, y, w):
    above, compared = _skip_sum(x, y, w, lambda a, b: np.abs(a - b))
    below, _ = _skip_sum(x, y, w, lambda a, b: np.abs(a) + np.abs(b))
    return _or_nan(np.where(below == 0, 0.0, above / np.where(below == 0, 1.0, below)), compared)


def minkowski(x, y, w, p):
    total, compared = _skip_sum(x, y, w, lambda a, b: np.abs(a - b) ** p)
    return _or_nan(total ** (1 / p), compared)


def cosine(x, y, w):
    dot, compared = _skip_sum(x, y, w, lambda a, b: b * a)
    xx, _ = _skip_sum(x, y, w, lambda a, b: a * a + 0 * b)
    yy, _ = _skip_sum(x, y, w, lambda a, b: b * b + 0 * a)
    s = np.clip(dot / (np.sqrt(xx) * np.sqrt(yy)), -1, 1)
    return _or_nan(1 - np.where((xx == 0) | (yy == 0), 0.0, s), compared)


def correlation(x, y, w):
    total = 0.0
    mx, my = np.zeros(len(x)), np.zeros(len(y))
    for j in range(x.shape[1]):
        total += w[j]
        mx, my = mx + w[j] * x[:, j], my + w[j] * y[:, j]
    mx, my = mx / total, my / total
    sxy = np.zeros((len(x), len(y)))
    sxx, syy = np.zeros(len(x)), np.zeros(len(y))
    for j in range(x.shape[1]):
        a, b = x[:, j] - mx, y[:, j] - my
        sxy = sxy + w[j] * (a[:, None] * b[None, :])
        sxx, syy = sxx + w[j] * (a * a), syy + w[j] * (b * b)
    return 1 - np.clip(sxy / np.sqrt(sxx[:, None] * syy[None, :]), -1, 1)


def hamming(x, y, w):
    unequal, _ = _skip_sum(x, y, w, lambda a, b: (a != b).astype(float))
    weight, compared = _skip_sum(x, y, w, lambda a, b: np.ones((len(x), len(y))))
    return _or_nan(unequal / weight, compared)


def _boolean(x, y, w):
    both, compared = _skip_sum(x, y, w, lambda a, b: ((a != 0) & (b != 0)).astype(float))
    unequal, _ = _skip_sum(x, y, w, lambda a, b: ((a != 0) != (b != 0)).astype(float))
    return both, unequal, compared


def jaccard(x, y, w):
    both, unequal, compared = _boolean(x, y, w)
    some = both + unequal
    return _or_nan(np.where(some == 0, 0.0, unequal / np.where(some == 0, 1.0, some)), compared)


def dice(x, y, w):
    both, unequal, compared = _boolean(x, y, w)
    return _or_nan(unequal / (2.0 * both + unequal), compared)


def nan_euclidean(x, y, w):
    total, _ = _squares(x, y, w)
    weight, compared = _skip_sum(x, y, w, lambda a, b: np.ones((len(x), len(y))))
    all_weight = 0.0
    for v in w:
        all_weight += v
    return _or_nan(np.sqrt(total / weight * all_weight), compared)


def haversine(x, y, w):
    lat1, lon1, lat2, lon2 = x[:, 0][:, None], x[:, 1][:, None], y[:, 0][None, :], y[:, 1][None, :]
    s, t = np.sin(0.5 * (lat1 - lat2)), np.sin(0.5 * (lon1 - lon2))
    return 2 * np.arcsin(np.sqrt(s * s + np.cos(lat1) * np.cos(lat2) * (t * t)))


def mahalanobis(x, y, inverse):
    out = np.empty((len(x), len(y)))
    for i in range(len(x)):
        d = x[i] - y
        out[i] = np.sqrt(np.einsum("ij,jk,ik->i", d, inverse, d))
    return out


def ranges(table, nominal):
    """Returns max - min of each numeric column, missing values skipped; 0 for nominal and for empty ones."""
    out = np.zeros(table.shape[1])
    for j in range(table.shape[1]):
        present = table[~np.isnan(table[:, j]), j]
        if not nominal[j] and len(present):
            out[j] = present.max() - present.min()
    return out


def _difference(a, b, nominal, span):
    return (a != b).astype(float) if nominal or span == 0 else np.abs(a - b) / span


def gower(x, y, w, nominal, span):
    total = np.zeros((len(x), len(y)))
    weight = np.zeros_like(total)
    for j, a, b, present in _present(x, y):
        total = np.where(present, total + w[j] * _difference(a, b, nominal[j], span[j]), total)
        weight = np.where(present, weight + w[j], weight)
    return _or_nan(total / weight, weight)


def heom(x, y, w, nominal, span):
    total = np.zeros((len(x), len(y)))
    for j, a, b, present in _present(x, y):
        t = np.where(present, _difference(a, b, nominal[j], span[j]), 1.0)
        total = total + w[j] * (t * t)
    return np.sqrt(total)


def mixed_euclidean(x, y, w, nominal):
    total = np.zeros((len(x), len(y)))
    compared = np.zeros_like(total)
    for j, a, b, present in _present(x, y):
        t = (a != b).astype(float) if nominal[j] else (a - b) * (a - b)
        total = np.where(present, total + w[j] * t, total)
        compared += present
    return _or_nan(np.sqrt(total), compared)


def nearest(distances, k):
    """Returns the k smallest of every row by (distance, row); NaN last, -0.0 equal to 0.0."""
    distances = np.asarray(distances)
    order = np.lexsort((np.broadcast_to(np.arange(distances.shape[1]), distances.shape), distances + 0.0), axis=1)
    order = order[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)
