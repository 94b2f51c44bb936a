"""Rows of bench/rivals.py: k nearest neighbours. Rivals are k-d trees (pykdtree, SciPy, scikit-learn), scikit-learn's ball
tree and brute force, FAISS's flat indexes and plain NumPy.

"build" makes the index, "search" is the first search after it, and "again" is a second one: stope makes images of the
rows in the first search. Answers are compared three ways: the share of queries with our list, the share with our set,
and how far distances are from ours, relative to the farthest neighbour. Where distances are equal, only the last counts.
"""
import numpy as np

from bench.support.rivals.row import Program, Row, Sklearn, Stope, count, smaller, with_settings

CHECKED = 16  # queries whose lists are compared with plain float64 distances
ALLOWED = 1e-9  # of the farthest neighbour's distance
N_CENTRES = 1000
SELECTION = 100  # columns that a plain search reads in the time that it takes to select a neighbour
ORDERS = {"manhattan": 1, "euclidean": 2, "chebyshev": np.inf}


def made(n, m, d, k, kind, dtype):
    g = np.random.default_rng(n + m + d)
    centres = g.random((N_CENTRES, d))
    side = max(2, round(n ** (1 / d)))  # a lattice has about as many places as there are rows

    def rows(many):
        if kind == "clusters":
            found = g.standard_normal((many, d), dtype=dtype)
            found *= np.asarray(0.02, dtype)
            found += centres.astype(dtype)[g.integers(N_CENTRES, size=many)]
            return found
        if kind == "lattice":
            return g.integers(side, size=(many, d)).astype(dtype)
        if kind == "normal":
            return g.standard_normal((many, d), dtype=dtype)
        return g.random((many, d), dtype=dtype)

    return rows(n), rows(m)


class Search(Program):
    """A program gets `metric` and `k` from the class that `programs_of` makes."""

    phases = ("build", "search", "again")
    repeated = ("again",)
    metric, k = "euclidean", 1

    def build(self):
        self.index = self.make_index(self.data[0])

    def search(self):
        self.found = self.find(self.data[1])

    again = search

    def answer(self):
        distances, indices = (np.reshape(each, (-1, self.k)) for each in self.found)
        return {"distances": np.asarray(distances, np.float64), "indices": indices.astype(np.int64)}


class EstimatorSearch(Search):
    """An estimator by scikit-learn's names."""

    algorithm = "auto"

    def make_index(self, rows):
        return self.estimator(n_neighbors=self.k, metric=self.metric, algorithm=self.algorithm, n_jobs=self.threads).fit(rows)

    def find(self, queries):
        return self.index.kneighbors(queries)


class StopeSearch(EstimatorSearch, Stope):
    def begin(self):
        self.estimator = self.stope.NearestNeighbors


class SklearnSearch(EstimatorSearch, Sklearn):
    most_work = 1e12

    def begin(self):
        from sklearn.neighbors import NearestNeighbors

        self.estimator = NearestNeighbors


class Pykdtree(Search):
    package, leafsize = "pykdtree", 16

    def begin(self):
        from pykdtree.kdtree import KDTree

        self.tree = KDTree

    def make_index(self, rows):
        return self.tree(rows, leafsize=self.leafsize)

    def find(self, queries):
        return self.index.query(queries, k=self.k)


class CKDTree(Search):
    package, options = "scipy", {}

    def begin(self):
        from scipy.spatial import cKDTree

        self.tree = cKDTree

    def make_index(self, rows):
        return self.tree(rows, **self.options)

    def find(self, queries):
        return self.index.query(queries, k=self.k, p=ORDERS[self.metric], workers=self.threads)


class Faiss(Search):
    """FAISS takes float32: turning float64 into them counts. Cosine distances are inner products of rows of length 1."""

    package, most_work = "faiss-cpu", 3e12

    def begin(self):
        import faiss

        faiss.omp_set_num_threads(self.threads)
        self.faiss = faiss

    def rows(self, rows):
        if self.metric != "cosine":
            return np.ascontiguousarray(rows, dtype=np.float32)
        rows = np.array(rows, dtype=np.float32, order="C")
        self.faiss.normalize_L2(rows)
        return rows

    def make_index(self, rows):
        kinds = {"manhattan": "METRIC_L1", "euclidean": "METRIC_L2", "chebyshev": "METRIC_Linf"}
        kind = getattr(self.faiss, kinds.get(self.metric, "METRIC_INNER_PRODUCT"))
        d = rows.shape[1]
        index = {self.faiss.METRIC_L2: self.faiss.IndexFlatL2, self.faiss.METRIC_INNER_PRODUCT: self.faiss.IndexFlatIP}
        index = index[kind](d) if kind in index else self.faiss.IndexFlat(d, kind)
        index.add(self.rows(rows))
        return index

    def find(self, queries):
        found, indices = self.index.search(self.rows(queries), self.k)
        if self.metric == "euclidean":
            found = np.sqrt(np.maximum(found, 0))
        elif self.metric == "cosine":
            found = 1 - found
        elif self.metric == "inner-product":
            found = -found
        return found, indices


class NumPy(Search):
    """The search that people write: one product, then a partition, some queries at a time."""

    package, most_work = "numpy", 3e11

    def make_index(self, rows):
        return rows, (rows * rows).sum(axis=1)

    def find(self, queries):
        rows, squares = self.index
        step = max(1, 2 ** 24 // len(rows))
        parts = [self.some(queries[i:i + step], rows, squares) for i in range(0, len(queries), step)]
        return tuple(np.concatenate(each) for each in zip(*parts))

    def some(self, queries, rows, squares):
        products = queries @ rows.T
        if self.metric == "euclidean":
            distances = squares - 2 * products
        else:
            distances = -products if self.metric == "inner-product" else -products / np.sqrt(squares)
        indices = np.argpartition(distances, self.k - 1, axis=1)[:, :self.k] if self.k < len(rows) else np.argsort(distances)
        nearest = np.take_along_axis(distances, indices, 1)
        order = np.argsort(nearest, axis=1)
        nearest, indices = np.take_along_axis(nearest, order, 1), np.take_along_axis(indices, order, 1)
        norms = (queries * queries).sum(axis=1)[:, None]
        if self.metric == "euclidean":
            return np.sqrt(np.maximum(nearest + norms, 0)), indices
        return (nearest, indices) if self.metric == "inner-product" else (1 + nearest / np.sqrt(norms), indices)


def programs_of(d, k, metric):
    """The programs that do the job, with settings that suit the number of columns."""
    found = {"stope": StopeSearch}
    if d <= 16 and metric == "euclidean":
        found["pykdtree"] = Pykdtree
        found |= with_settings({"pykdtree, leaves of 32": Pykdtree}, leafsize=32)
    if d <= 16 and metric in ORDERS:
        found["cKDTree"] = CKDTree
        loose = {"balanced_tree": False, "compact_nodes": False}
        found |= with_settings({"cKDTree, not balanced": CKDTree}, options=loose)
        found |= with_settings({"scikit-learn, kd_tree": SklearnSearch}, algorithm="kd_tree", most_work=None)
    if 8 <= d <= 32 and metric in ORDERS:
        found |= with_settings({"scikit-learn, ball_tree": SklearnSearch}, algorithm="ball_tree", most_work=None)
    if metric != "inner-product":
        found |= with_settings({"scikit-learn, brute": SklearnSearch}, algorithm="brute")
    found["FAISS, flat"] = Faiss
    if metric not in ("manhattan", "chebyshev"):
        found["NumPy"] = NumPy
    return with_settings(found, metric=metric, k=k)


def compare(ours, theirs):
    apart = np.abs(ours["distances"] - theirs["distances"]).max(axis=1)
    farthest = np.abs(ours["distances"]).max(axis=1)
    same = ours["indices"] == theirs["indices"]
    sets = np.sort(ours["indices"], axis=1) == np.sort(theirs["indices"], axis=1)
    return {"lists": float(same.all(axis=1).mean()), "sets": float(sets.all(axis=1).mean()),
            "difference": float((apart / np.where(farthest > 0, farthest, 1)).max())}


def plain_distances(metric, rows, query, step=100_000):
    parts = [_plain(metric, rows[i:i + step].astype(np.float64), query) for i in range(0, len(rows), step)]
    return np.concatenate(parts)


def _plain(metric, rows, query):
    if metric == "cosine":
        return 1 - rows @ query / np.sqrt((rows * rows).sum(axis=1) * (query @ query))
    if metric == "inner-product":
        return -(rows @ query)
    return np.linalg.norm(rows - query, ORDERS[metric], axis=1)


def checker(metric, k):
    """Compares our first lists with plain float64 distances: each is the k smallest of them, in order."""

    def check(data, answer):
        for i, query in enumerate(data[1][:CHECKED].astype(np.float64)):
            plain = plain_distances(metric, data[0], query)
            ours, found = answer["distances"][i], answer["indices"][i]
            allowed = ALLOWED * max(np.abs(ours).max(), 1e-300)
            if len(set(found.tolist())) != k or (np.abs(plain[found] - ours) > allowed).any():
                return f"query {i} has wrong distances"
            if (np.abs(np.sort(np.partition(plain, k - 1)[:k]) - ours) > allowed).any():
                return f"query {i} has other neighbours than the nearest"
        return None

    return check


def row(n, m, d, k=10, kind="uniform", metric="euclidean"):
    dtype = np.float32 if d >= 32 else np.float64
    words = (str(d), f"{count(n)}x{count(m)}", f"k{k}") + ((kind,) if kind != "uniform" else ())
    words += (metric,) if metric != "euclidean" else ()
    shape = {"rows": n, "queries": m, "columns": d, "k": k, "data": kind, "metric": metric, "dtype": np.dtype(dtype).name}
    return Row("knn", words, shape, lambda: made(n, m, d, k, kind, dtype), programs_of(d, k, metric), compare,
               (n + m) * d * np.dtype(dtype).itemsize + 16 * m * k, checker(metric, k), float(n) * m * (d + SELECTION))


def rows(share):
    thousand, million = 1000, 1_000_000
    shapes = [
        (100 * thousand, 1, 2), (million, 100 * thousand, 2), (million, million, 2, 1), (10 * million, thousand, 2),
        (10 * million, million, 2, 1), (million, 100 * thousand, 2, 10, "clusters"), (million, 10 * thousand, 2, 100),
        (100 * thousand, 100 * thousand, 3, 5), (100 * thousand, 100 * thousand, 3, 1), (million, 1, 3), (million, 100, 3), (million, 100 * thousand, 3),
        (million, million, 3, 1), (million, 10 * million, 3, 1), (million, 10 * thousand, 3, 100), (10 * million, 100 * thousand, 3),
        (million, 100 * thousand, 3, 10, "clusters"), (million, 100 * thousand, 3, 10, "lattice"),
        (million, 50 * thousand, 3, 10, "uniform", "manhattan"), (million, 50 * thousand, 3, 10, "uniform", "chebyshev"),
        (million, 100 * thousand, 4), (10 * million, 10 * thousand, 4), (million, 100 * thousand, 4, 10, "clusters"),
        (100 * thousand, 10 * thousand, 8), (million, 10 * thousand, 8), (million, 10 * thousand, 8, 10, "clusters"),
        (100 * thousand, 10 * thousand, 8, 10, "lattice"), (100 * thousand, 10 * thousand, 8, 10, "uniform", "manhattan"),
        (100 * thousand, 10 * thousand, 16), (million, thousand, 16), (million, 10 * thousand, 16, 10, "clusters"),
        (100 * thousand, 10 * thousand, 16, 1, "uniform", "chebyshev"),
        (100 * thousand, 10 * thousand, 32), (million, thousand, 32, 100), (million, 10 * thousand, 32, 10, "clusters"),
        (100 * thousand, 10 * thousand, 32, 10, "uniform", "manhattan"), (10 * million, 100, 32),
        (100 * thousand, thousand, 128), (100 * thousand, 10 * thousand, 128), (million, 1, 128), (million, thousand, 128),
        (100 * thousand, 10 * thousand, 128, 10, "clusters"), (100 * thousand, thousand, 128, 10, "uniform", "manhattan"),
        (100 * thousand, 10 * thousand, 128, 10, "normal", "cosine"),
        (100 * thousand, 10 * thousand, 128, 10, "normal", "inner-product"),
        (100 * thousand, 1, 768), (100 * thousand, thousand, 768), (100 * thousand, 10 * thousand, 768, 10, "clusters"),
        (100 * thousand, thousand, 768, 10, "normal", "cosine"),
        (100 * thousand, thousand, 768, 10, "normal", "inner-product"),
    ]
    return [row(smaller(n, share, 500), smaller(m, share), *rest) for n, m, *rest in shapes]
