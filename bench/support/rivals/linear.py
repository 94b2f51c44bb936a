"""Rows of bench/rivals.py: the gram operator, PCA and linear models. Rivals are scikit-learn, NumPy, and OpenBLAS's dsyrk
through SciPy with the rest written by hand.
"""
import numpy as np

from bench.support.rivals.row import Program, Row, Sklearn, Stope, count, difference, differences, smaller, with_settings


def latent(n, d, target):
    """A table of fifteen latent dimensions and noise; with a target that depends on them."""
    g = np.random.default_rng(n + d)
    loads = g.normal(size=(15, d + target)) * np.linspace(2, 0.3, 15)[:, None]
    X = g.standard_normal((n, d + target))
    for begin in range(0, n, 100_000):
        part = X[begin:begin + 100_000]
        hidden = g.standard_normal((len(part), 15))
        for i in range(15):  # without a product, which would start threads of BLAS before the fork
            part += hidden[:, i:i + 1] * loads[i]
        part += 3
    return (np.ascontiguousarray(X[:, :d]), X[:, d].copy()) if target else (X,)


def dsyrk(centred):
    """The upper half of the cross products of the columns, by OpenBLAS; C order is what it takes transposed."""
    from scipy.linalg.blas import dsyrk as syrk

    return syrk(1.0, centred.T)


class Pca:
    phases, repeated, n_components = ("fit", "transform"), ("transform",), None

    def fit(self):
        self.model = self.estimator(self.n_components).fit(self.data[0])

    def transform(self):
        self.model.transform(self.data[0])

    def answer(self):
        return {"variances": self.model.explained_variance_}


class StopePca(Pca, Stope):
    def begin(self):
        self.estimator = self.stope.PCA


class SklearnPca(Pca, Sklearn):
    def begin(self):
        from sklearn.decomposition import PCA

        self.estimator = PCA


class BlasPca(Program):
    """By hand: centred rows, their products by dsyrk, eigenvectors."""

    package, phases, repeated, n_components = "scipy", ("fit", "transform"), ("transform",), None

    def begin(self):
        import scipy.linalg

        self.eigh = scipy.linalg.eigh
        dsyrk(np.zeros((2, 2)))

    def fit(self):
        X = self.data[0]
        self.mean = X.mean(axis=0)
        products = dsyrk(X - self.mean)
        d, k = X.shape[1], self.n_components or X.shape[1]
        values, self.vectors = self.eigh(products / (len(X) - 1), lower=False, subset_by_index=(d - k, d - 1))
        self.values = values[::-1]

    def transform(self):
        return (self.data[0] - self.mean) @ self.vectors[:, ::-1]

    def answer(self):
        return {"variances": self.values}


def compare_variances(ours, theirs):
    k = min(len(ours["variances"]), len(theirs["variances"]))  # a wide table: some leave out the last, which is 0
    return {"difference": difference(ours["variances"][:k], theirs["variances"][:k])}


def pca(n, d, k=None):
    programs = {"stope": StopePca, "scikit-learn": SklearnPca} | ({"dsyrk and eigh": BlasPca} if d <= 5000 else {})
    programs = with_settings(programs, n_components=k)
    return Row("pca", (f"{count(n)}x{count(d)}", f"k{k or 'all'}"), {"rows": n, "columns": d, "components": k},
               lambda: latent(n, d, 0), programs, compare_variances, 8 * n * d)


class Linear:
    alpha = 0.0

    def run(self):
        self.model = self.estimator().fit(*self.data)

    def answer(self):
        return {"coefficients": self.model.coef_}


class StopeLinear(Linear, Stope):
    def estimator(self):
        return self.stope.Ridge(self.alpha) if self.alpha else self.stope.LinearRegression()


class SklearnLinear(Linear, Sklearn):
    def begin(self):
        from sklearn.linear_model import LinearRegression, Ridge

        self.estimator = lambda: Ridge(self.alpha) if self.alpha else LinearRegression()


class BlasLinear(Program):
    """By hand: the normal equations by dsyrk and Cholesky's factors, of the smaller side."""

    package, alpha = "scipy", 0.0

    def begin(self):
        import scipy.linalg

        self.solve = lambda a, b: scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)
        dsyrk(np.zeros((2, 2)))

    def run(self):
        X, y = self.data
        X, y = X - X.mean(axis=0), y - y.mean()
        if X.shape[0] >= X.shape[1]:
            self.found = self.solve(self.with_alpha(dsyrk(X)), X.T @ y)
        else:
            self.found = X.T @ self.solve(self.with_alpha(dsyrk(np.asfortranarray(X.T))), y)

    def with_alpha(self, products):
        products[np.diag_indices_from(products)] += self.alpha
        return products

    def answer(self):
        return {"coefficients": self.found}


def linear(n, d, alpha):
    programs = {"stope": StopeLinear, "scikit-learn": SklearnLinear, "dsyrk and Cholesky": BlasLinear}
    programs = with_settings(programs, alpha=alpha)
    return Row("ridge" if alpha else "linear", (f"{count(n)}x{count(d)}",), {"rows": n, "columns": d, "alpha": alpha},
               lambda: latent(n, d, 1), programs, differences, 8 * n * d)


class StopeGram(Stope):
    def run(self):
        self.found = self.operator.gram(self.data[1])

    def begin(self):
        from stope.gram import GramOperator

        self.operator = GramOperator(self.data[0], copy=False)

    def answer(self):
        return {"z": self.found}


class NumPyGram(Program):
    package = "numpy"

    def run(self):
        A, x = self.data
        self.found = (A @ x) @ A

    def answer(self):
        return {"z": self.found}


def gram(n, d, dtype="float32"):
    def made():
        g = np.random.default_rng(n + d)
        return g.random((n, d), dtype=dtype), g.random(d, dtype=dtype)

    return Row("gram", (f"{count(n)}x{count(d)}", dtype), {"rows": n, "columns": d, "dtype": dtype}, made,
               {"stope": StopeGram, "NumPy": NumPyGram}, differences, n * d * np.dtype(dtype).itemsize)


def rows(share):
    shapes = [(gram, 200_000, 512), (gram, 256, 400_000), (gram, 32, 1_000_000), (gram, 1792, 1792), (gram, 512, 512),
              (gram, 2_000_000, 50), (gram, 50_000, 1024, "float64"),
              (pca, 1_000_000, 50), (pca, 100_000, 300, 10), (pca, 20_000, 1000, 10), (pca, 2000, 2000, 10), (pca, 200, 50_000),
              (linear, 1_000_000, 50, 1.0), (linear, 100_000, 300, 1.0), (linear, 500, 50_000, 1.0), (linear, 2000, 20, 1.0),
              (linear, 30_000, 300, 0.0), (linear, 500_000, 50, 0.0)]
    return [make(smaller(n, share, 500), smaller(d, share, 300), *rest) for make, n, d, *rest in shapes]
