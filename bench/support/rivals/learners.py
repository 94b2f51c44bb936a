"""Rows of bench/rivals.py: decision trees, imputation and tables of distances. Rivals are scikit-learn and SciPy."""
import numpy as np

from bench.support.rivals.row import Program, Row, Sklearn, Stope, count, difference, differences, smaller, with_settings


class Tree:
    def run(self):
        self.model = self.estimator().fit(*self.data)

    def answer(self):
        tree = self.model.tree_
        X, y = self.data
        return {"right": np.array([(self.model.predict(X) == y).mean()]), "leaves": np.array([int(tree.n_leaves)])}


class StopeTree(Tree, Stope):
    def begin(self):
        self.estimator = lambda: self.stope.LocalDiscretizationTreeClassifier("gini")


class SklearnTree(Tree, Sklearn):
    def begin(self):
        from sklearn.tree import DecisionTreeClassifier

        self.estimator = lambda: DecisionTreeClassifier(random_state=0)


def compare_trees(ours, theirs):
    """Both grow until leaves are pure; ties make other trees, so only the shares of right rows are compared."""
    return {"difference": difference(ours["right"], theirs["right"]), "leaves": [int(each["leaves"][0]) for each in (ours, theirs)]}


def tree(n, d, n_classes, noise):
    def made():
        g = np.random.default_rng(n + d)
        X = g.standard_normal((n, d), dtype=np.float32)
        if noise:
            return X, g.integers(n_classes, size=n)
        score = X[:, 0] + X[:, 1] - X[:, 2]
        y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
        wrong = g.random(n) < 0.1
        y[wrong] = g.integers(n_classes, size=int(wrong.sum()))
        return X, y

    return Row("tree", (f"{count(n)}x{count(d)}",), {"rows": n, "columns": d, "classes": n_classes, "noise": noise}, made,
               {"stope": StopeTree, "scikit-learn": SklearnTree}, compare_trees, 4 * n * d)


class Imputer:
    repeated = ()

    def run(self):
        self.found = self.estimator().fit(self.data[0]).transform(self.data[0])

    def answer(self):
        return {"filled": self.found}


class StopeImputer(Imputer, Stope):
    def begin(self):
        self.estimator = lambda: self.stope.KNNImputer(n_jobs=self.threads)


class SklearnImputer(Imputer, Sklearn):
    def begin(self):
        from sklearn.impute import KNNImputer

        self.estimator = KNNImputer


def impute(n, d, share):
    def made():
        g = np.random.default_rng(n + d)
        X = g.normal(size=(n, d))
        X[g.random(X.shape) < share] = np.nan
        return (X,)

    return Row("impute", (f"{count(n)}x{d}", f"missing{share:g}"), {"rows": n, "columns": d, "missing": share}, made,
               {"stope": StopeImputer, "scikit-learn": SklearnImputer}, differences, 8 * n * d)


class Distances:
    metric = "euclidean"

    def run(self):
        self.found = self.distances(*self.data)

    def answer(self):
        return {"distances": self.found}


class StopeDistances(Distances, Stope):
    def distances(self, X, Y):
        return self.stope.pairwise_distances(X, Y, metric=self.metric)


class SklearnDistances(Distances, Sklearn):
    def begin(self):
        from sklearn.metrics import pairwise_distances

        self.distances = lambda X, Y: pairwise_distances(X, Y, metric=self.metric, n_jobs=self.threads)


class SciPyDistances(Distances, Program):
    package = "scipy"

    def begin(self):
        from scipy.spatial.distance import cdist

        name = {"manhattan": "cityblock"}.get(self.metric, self.metric)
        self.distances = lambda X, Y: cdist(X, Y, metric=name)


def distances(n, m, d, metric):
    def made():
        g = np.random.default_rng(n + d)
        return g.random((n, d)), g.random((m, d))

    programs = {"stope": StopeDistances, "scikit-learn": SklearnDistances, "SciPy, cdist": SciPyDistances}
    programs = with_settings(programs, metric=metric)
    return Row("distances", (f"{count(n)}x{count(m)}", str(d), metric), {"rows": n, "queries": m, "columns": d, "metric": metric},
               made, programs, differences, 8 * n * m)


def rows(share):
    shapes = [(tree, 100_000, 20, 5, False), (tree, 500_000, 10, 3, False), (tree, 161, 61_359, 2, True),
              (impute, 2000, 50, 0.05), (impute, 10_000, 50, 0.05), (impute, 10_000, 20, 0.2)]
    found = [make(smaller(n, share), smaller(d, share), *rest) for make, n, d, *rest in shapes]
    n = smaller(5000, share)
    return found + [distances(n, n, d, metric) for d, metric in ((50, "euclidean"), (50, "manhattan"), (8, "chebyshev"))]
