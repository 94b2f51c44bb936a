"""RapidMiner's k-NN in plain NumPy and Python, written from the semantics alone: measures, heap, votes.

It is independent of the C++ code: only the description is shared. Sums run over the attributes in order, in one
vectorised step per attribute, so that every pair sees the additions of a plain loop.
"""

import math

import numpy as np

EXACT = {
    "MixedEuclideanDistance", "EuclideanDistance", "ManhattanDistance", "ChebychevDistance", "CamberraDistance",
    "CorrelationSimilarity", "DiceSimilarity", "JaccardSimilarity", "OverlapSimilarity", "InnerProductSimilarity",
    "MaxProductSimilarity", "DynamicTimeWarpingDistance", "SquaredEuclideanDistance", "SquaredLoss",
    "NominalDistance", "KulczynskiSimilarity", "RogersTanimotoSimilarity", "RussellRaoSimilarity",
    "SimpleMatchingSimilarity",
}
TRANSCENDENTAL = {
    "CosineSimilarity", "KernelEuclideanDistance", "GeneralizedIDivergence", "KLDivergence", "ItakuraSaitoDistance",
    "LogarithmicLoss", "LogisticLoss", "MahalanobisDistance",
}

KERNEL_DEFAULTS = {
    "kernel_type": "radial", "kernel_gamma": 1.0, "kernel_sigma1": 1.0, "kernel_sigma2": 0.0, "kernel_sigma3": 2.0,
    "kernel_degree": 3.0, "kernel_shift": 1.0, "kernel_a": 1.0, "kernel_b": 0.0,
}


def _pairs(x, y):
    """Yields, for each attribute, the column of x against the column of y, and where both are present."""
    for j in range(x.shape[1]):
        a, b = x[:, j][:, None], y[:, j][None, :]
        yield j, a, b, ~(np.isnan(a) | np.isnan(b))


def _sum(x, y, term, skip=True):
    """Returns the sum of term(a, b) over the attributes in order, and how many were added."""
    total = np.zeros((len(x), len(y)))
    count = np.zeros((len(x), len(y)), dtype=np.int64)
    for _, a, b, present in _pairs(x, y):
        t = term(a, b)
        total = np.where(present, total + t, total) if skip else total + t
        count += present
    return total, count


def _needs_one(value, count):
    return np.where(count > 0, value, np.nan)


def _nominal_counts(x, y, binominal, sizes):
    """Returns e, f, u: equal, both first of a two-valued attribute, unequal (so is a missing or unknown value)."""
    e = np.zeros((len(x), len(y)))
    f, u = e.copy(), e.copy()
    for j, a, b, present in _pairs(x, y):
        known = present & (a >= 0) & (b >= 0) & (a < sizes[j]) & (b < sizes[j])
        if binominal[j]:
            both_first = known & (a == 0) & (b == 0)
            both_other = known & (a != 0) & (b != 0)
        else:
            both_first = np.zeros_like(known)
            both_other = known & (a == b)
        e += both_other
        f += both_first
        u += ~(both_first | both_other)
    return e, f, u


def _kernel(a, b, p):
    kind = p["kernel_type"]
    d, _ = _sum(a, b, lambda s, t: (s - t) * (s - t), skip=False)
    dot, _ = _sum(a, b, lambda s, t: s * t, skip=False)
    if kind == "dot":
        return dot
    if kind == "radial":
        return np.exp(-p["kernel_gamma"] * d)
    if kind == "polynomial":
        base, result = dot + p["kernel_shift"], np.ones_like(dot)
        for _ in range(int(p["kernel_degree"])):
            result = result * base
        return result
    if kind == "sigmoid":
        q = p["kernel_a"] * dot + p["kernel_b"]
        up, down = np.exp(q), np.exp(-q)
        return (up - down) / (up + down)
    if kind == "anova":
        near, _ = _sum(a, b, lambda s, t: np.exp(-p["kernel_gamma"] * (s - t) * (s - t)), skip=False)
        zero, _ = _sum(a, b, lambda s, t: ((np.abs(s) < 1e-6) & (np.abs(t) < 1e-6)).astype(float), skip=False)
        return (near + zero) ** p["kernel_degree"]
    if kind == "epanechnikov":
        q = d / p["kernel_sigma1"]
        return np.where(q > 1, 0.0, (1.0 - q) ** p["kernel_degree"])
    if kind == "gausian_combination":
        terms = [np.exp(-d / s) if s != 0 else np.zeros_like(d)
                 for s in (p["kernel_sigma1"], p["kernel_sigma2"], p["kernel_sigma3"])]
        return terms[0] + terms[1] - terms[2]
    if kind == "multiquadric":
        return np.sqrt(d / p["kernel_sigma1"] + p["kernel_shift"] * p["kernel_shift"])
    raise ValueError(kind)


def _self_kernel(a, p):
    """Returns K(row, row) of every row: the diagonal, one row at a time."""
    return np.array([_kernel(a[i:i + 1], a[i:i + 1], p)[0, 0] for i in range(len(a))])


def warp(a, b):
    """Returns the dynamic time warping of two sequences, with missing values dropped from each."""
    a = [float(v) for v in a if not math.isnan(v)]
    b = [float(v) for v in b if not math.isnan(v)]
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        return math.nan
    cost = [[(s - t) * (s - t) for t in b] for s in a]
    if n == 1 and m == 1:
        return math.sqrt(cost[0][0])
    d = [[0.0] * m for _ in range(n)]
    d[0][0] = cost[0][0]
    for i in range(1, n):
        d[i][0] = cost[i][0] + d[i - 1][0]
    for j in range(1, m):
        d[0][j] = cost[0][j] + d[0][j - 1]
    for i in range(1, n):
        for j in range(1, m):
            d[i][j] = cost[i][j] + min(d[i - 1][j - 1], d[i - 1][j], d[i][j - 1])
    if n == 1 or m == 1:
        line = d[0] if n == 1 else [row[0] for row in d]
        total = 0.0
        for v in line:
            total += v
        return math.sqrt(total) / len(line)
    i, j, steps = n - 1, m - 1, 1
    total = d[i][j]
    while i + j > 2:
        if i == 0:
            j -= 1
        elif j == 0:
            i -= 1
        else:
            diagonal, up, left = d[i - 1][j - 1], d[i - 1][j], d[i][j - 1]
            least = min(diagonal, up, left)
            if diagonal == least:
                i, j = i - 1, j - 1
            elif up == least:
                i -= 1
            else:
                j -= 1
        steps += 1
        total += d[i][j]
    return math.sqrt(total) / steps


def _cosine(x, y):
    dot, _ = _sum(x, y, lambda a, b: b * a)
    xx, _ = _sum(x, y, lambda a, b: a * a + 0 * b)
    yy, _ = _sum(x, y, lambda a, b: b * b + 0 * a)
    with np.errstate(all="ignore"):
        s = np.clip(dot / (np.sqrt(xx) * np.sqrt(yy)), -1.0, 1.0)
    return np.where((xx > 0) & (yy > 0), s, np.where((xx == 0) & (yy == 0), 1.0, 0.0))


def _correlation(x, y):
    d = x.shape[1]
    mx, my = np.zeros(len(x)), np.zeros(len(y))
    for j in range(d):
        mx, my = mx + x[:, j], my + y[:, j]
    mx, my = mx / d, my / d
    sxy = np.zeros((len(x), len(y)))
    sxx, syy = np.zeros(len(x)), np.zeros(len(y))
    for j in range(d):
        a, b = x[:, j] - mx, y[:, j] - my
        sxy = sxy + a[:, None] * b[None, :]
        sxx, syy = sxx + a * a, syy + b * b
    return sxy / np.sqrt(sxx[:, None] * syy[None, :])


def _log(v):
    return np.log(v)


@np.errstate(all="ignore")
def measure(family, name, x, y, *, nominal=None, binominal=None, sizes=None, params=None, covariance_of=None):
    """Returns measure(x[i], y[j]) of every pair as a matrix; codes of nominal attributes count from 0."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    nominal = nominal if nominal is not None else [False] * x.shape[1]
    if family == "Nominal" and name != "NominalDistance":
        e, f, u = _nominal_counts(x, y, binominal, sizes)
        return {
            "DiceSimilarity": lambda: -(2 * e / (2 * e + u)),
            "JaccardSimilarity": lambda: -(e / (e + u)),
            "KulczynskiSimilarity": lambda: -(e / u),
            "RogersTanimotoSimilarity": lambda: -((e + f) / (e + f + 2 * u)),
            "RussellRaoSimilarity": lambda: -(e / (e + u + f)),
            "SimpleMatchingSimilarity": lambda: -((e + f) / (e + u + f)),
        }[name]()
    if name == "NominalDistance":
        total, count = _sum(x, y, lambda a, b: (a != b).astype(float))
        return _needs_one(total, count)
    if name == "MixedEuclideanDistance":
        total = np.zeros((len(x), len(y)))
        count = np.zeros((len(x), len(y)))
        for j, a, b, present in _pairs(x, y):
            t = (a != b).astype(float) if nominal[j] else (a - b) * (a - b)
            total = np.where(present, total + t, total)
            count += present
        return _needs_one(np.sqrt(total), count)
    if name in ("EuclideanDistance", "SquaredEuclideanDistance"):
        total, count = _sum(x, y, lambda a, b: (a - b) * (a - b))
        return _needs_one(np.sqrt(total) if name == "EuclideanDistance" else total, count)
    if name == "ManhattanDistance":
        return _needs_one(*_sum(x, y, lambda a, b: np.abs(a - b)))
    if name == "CamberraDistance":
        return _needs_one(*_sum(x, y, lambda a, b: np.abs(a - b) / np.abs(a + b)))
    if name == "ChebychevDistance":
        best = np.full((len(x), len(y)), 0.0)
        count = np.zeros((len(x), len(y)))
        for _, a, b, present in _pairs(x, y):
            t = np.abs(a - b)
            best = np.where(present & (t > best), t, best)
            count += present
        return _needs_one(best, count)
    if name == "CosineSimilarity":
        return np.arccos(_cosine(x, y))
    if name == "CorrelationSimilarity":
        return -_correlation(x, y)
    if name in ("DiceSimilarity", "JaccardSimilarity", "OverlapSimilarity"):
        sx, _ = _sum(x, y, lambda a, b: a + 0 * b)
        sy, _ = _sum(x, y, lambda a, b: b + 0 * a)
        if name == "OverlapSimilarity":
            least, _ = _sum(x, y, np.minimum)
            return -(least / np.minimum(sx, sy))
        sxy, _ = _sum(x, y, lambda a, b: a * b)
        if name == "DiceSimilarity":
            return -(2 * sxy / (sx + sy))
        rest = sx + sy - sxy
        return np.where(rest == 0, np.nan, -(sxy / rest))
    if name == "InnerProductSimilarity":
        return -_sum(x, y, lambda a, b: b * a)[0]
    if name == "MaxProductSimilarity":
        best = np.full((len(x), len(y)), -np.inf)
        for _, a, b, present in _pairs(x, y):
            best = np.where(present & (b * a > best), b * a, best)
        return np.where(best > 0, -best, np.nan)
    if name == "DynamicTimeWarpingDistance":
        return np.array([[warp(a, b) for b in y] for a in x]).reshape(len(x), len(y))
    if name == "KernelEuclideanDistance":
        p = dict(KERNEL_DEFAULTS)
        for key, value in (params or {}).items():
            p[key] = value if key == "kernel_type" else float(value)
        return _self_kernel(x, p)[:, None] + _self_kernel(y, p)[None, :] - 2 * _kernel(x, y, p)
    if name == "GeneralizedIDivergence":
        logs, _ = _sum(x, y, lambda a, b: a * _log(a / b), skip=False)
        differences, _ = _sum(x, y, lambda a, b: a - b, skip=False)
        return logs - differences
    if name == "KLDivergence":
        return _sum(x, y, lambda a, b: a * (_log(a / b) / math.log(2)), skip=False)[0]
    if name == "MahalanobisDistance":
        inverse = np.linalg.inv(np.atleast_2d(np.cov(np.asarray(covariance_of, dtype=float), rowvar=False, ddof=1)))
        out = np.empty((len(x), len(y)))
        for i in range(len(x)):
            d = x[i] - y
            out[i] = np.sqrt(np.einsum("ij,jk,ik->i", d, inverse, d))
        return out
    a, b = x[:, 0][:, None], y[:, 0][None, :]
    if name == "ItakuraSaitoDistance":
        return a / b - _log(a / b) - 1
    if name == "LogarithmicLoss":
        return a * _log(a / b) - (a - b)
    if name == "LogisticLoss":
        return a * _log(a / b) + (1 - a) * _log((1 - a) / (1 - b))
    if name == "SquaredLoss":
        return (a - b) * (a - b)
    raise ValueError(f"{family}.{name}")


def order_key(d):
    """The order of Double.compareTo: -0.0 < 0.0, infinity < NaN, NaN equals NaN."""
    if math.isnan(d):
        return (2, 0.0, 0)
    return (1, d, 0 if math.copysign(1.0, d) < 0 and d == 0 else 1 if d == 0 else 0)


class Heap:
    """The bounded priority queue: a max-heap in an array, fed in training order."""

    def __init__(self, k):
        self.k, self.items = k, []

    def offer(self, distance, index):
        if len(self.items) < self.k:
            self._push((order_key(distance), distance, index))
        elif order_key(distance) < self.items[0][0]:
            self._poll()
            self._push((order_key(distance), distance, index))

    def _push(self, item):
        h, p = self.items, len(self.items)
        h.append(item)
        while p > 0:
            parent = (p - 1) // 2
            if not item[0] > h[parent][0]:
                break
            h[p] = h[parent]
            p = parent
        h[p] = item

    def _poll(self):
        h = self.items
        x = h.pop()
        n, p = len(h), 0
        if n == 0:
            return
        while 2 * p + 1 < n:
            c = 2 * p + 1
            if c + 1 < n and h[c + 1][0] > h[c][0]:
                c += 1
            if x[0] >= h[c][0]:
                break
            h[p] = h[c]
            p = c
        h[p] = x

    def neighbors(self):
        return [(index, distance) for _, distance, index in self.items]


def neighbors(distances, k):
    """Returns the k nearest of one row of distances in heap-array order."""
    heap = Heap(k)
    for index, d in enumerate(distances):
        heap.offer(float(d), index)
    return heap.neighbors()


def _scale(found, k):
    total = 0.0
    for _, d in found:
        total += d
    return (1.0, float(k)) if total == 0 else (total, float(max(k - 1, 1)))


def confidences(found, labels, n_classes, k, weighted):
    conf = [0.0] * n_classes
    if not weighted or k == 1:
        for index, _ in found:
            conf[labels[index]] += 1.0 / k
        return conf
    total, scale = _scale(found, k)
    for index, d in found:
        conf[labels[index]] += (1.0 - d / total) / scale
    return conf


def winner(conf):
    """Returns the class of the greatest confidence, the first on a tie; None where all are NaN."""
    best, found = -math.inf, None
    for c, value in enumerate(conf):
        if value > best:
            best, found = value, c
    return found


def regression(found, targets, k, weighted):
    total = 0.0
    if not weighted:
        for index, _ in found:
            total += targets[index]
        return total / k
    t, s = _scale(found, k)
    for index, d in found:
        total += targets[index] * (1.0 - d / t) / s
    return total
