"""``PCA.fit``: stope computes the components of the solvers that compute them exactly.

The solvers "full", "covariance_eigh" and "arpack" lead to the same components. "randomized" is another estimate of them
for every seed, so that stays scikit-learn's.
"""

import functools

import numpy as np

from .. import _core
from .._run import job
from ..errors import StopeError
from . import _tally
from ._policy import leave_slow
from ._rows import is_sparse, plain
from ._seam import Seam
from ._tally import Leave

__all__ = ["seams"]

_MODULE = "sklearn.decomposition._pca"

# stope's way squares the singular values, and the smallest lose digits. Variances below this share of the largest are
# scikit-learn's to compute, by a decomposition of the rows themselves.
_LEAST_VARIANCE = 1e-8
# "covariance_eigh" is one product of matrices, and scikit-learn's takes 0.4 times as long. Of so few values both are
# a matter of a millisecond.
_FEW_VALUES = 20_000


def seams():
    return [
        Seam(f"{_MODULE}:PCA._fit_full", _full, ("self", "X", "n_components", "xp", "is_array_api_compliant")),
        Seam(f"{_MODULE}:PCA._fit_truncated", _truncated, ("self", "X", "n_components", "xp")),
    ]


def _full(original):
    @functools.wraps(original)
    def _fit_full(self, X, n_components, xp, is_array_api_compliant):
        def answer():
            if is_array_api_compliant:
                raise Leave("an array of the array API")
            return _fit(self, X, n_components, xp)

        return _answered(self, answer, lambda: original(self, X, n_components, xp, is_array_api_compliant))

    return _fit_full


def _truncated(original):
    @functools.wraps(original)
    def _fit_truncated(self, X, n_components, xp):
        def answer():
            if self._fit_svd_solver != "arpack":
                raise Leave(f"svd_solver={self._fit_svd_solver!r}, an estimate")
            if isinstance(self.random_state, np.random.RandomState):
                raise Leave("svd_solver='arpack' with a random state to draw from")
            return _fit(self, X, n_components, xp)

        return _answered(self, answer, lambda: original(self, X, n_components, xp))

    return _fit_truncated


def _answered(pca, answer, by_sklearn):
    with _tally.call(f"{type(pca).__name__}.fit") as call:
        if call is not None:
            try:
                result = answer()
            except Leave as reason:
                call.why = str(reason)
            else:
                call.answered = result is not None
                if call.answered:
                    return result
        return by_sklearn()


def _is_possible(solver, n_components, n_samples, n_features):
    if isinstance(n_components, str):
        return solver != "arpack" and n_components == "mle" and n_samples >= n_features
    most = min(n_samples, n_features) - (solver == "arpack")
    return (1 <= n_components or solver != "arpack") and 0 < n_components <= most


def _fit(pca, X, n_components, xp):
    """Sets what scikit-learn's fit sets and returns what it returns, or None where it would raise an exception."""
    if type(X) is not np.ndarray and not is_sparse(X):
        raise Leave(f"X is a {type(X).__name__}")
    n_samples, n_features = X.shape
    solver = pca._fit_svd_solver
    if solver == "covariance_eigh" and n_samples * n_features > _FEW_VALUES:
        leave_slow("svd_solver='covariance_eigh', where scikit-learn takes no longer")
    if not _is_possible(solver, n_components, n_samples, n_features) or n_samples < 2:
        return None
    size = min(n_samples, n_features)
    share = isinstance(n_components, str) or n_components < 1
    try:
        with job() as run:
            table = _core.Table.of_array(plain(X), [], True, run)
            fitted = _core.Pca.fit(table, n_components=0.0 if share or n_components == size else float(n_components), run=run)
    except StopeError as error:
        raise Leave(f"stope: {error}") from error
    variances, ratios, noise = fitted.explained_variance, fitted.explained_variance_ratio, fitted.noise_variance
    if share:
        n_components = _number_of(n_components, variances, ratios, n_samples)
        noise = float(np.mean(variances[n_components:])) if n_components < size else 0.0
    _check_digits(solver, variances[:n_components], n_samples)
    dtype = X.dtype
    singular = fitted.singular_values.astype(dtype)
    components = fitted.components.astype(dtype)
    pca.mean_ = fitted.mean.astype(dtype)
    pca.n_samples_ = n_samples
    pca.n_components_ = n_components
    pca.components_ = np.array(components[:n_components])
    pca.explained_variance_ = variances[:n_components].astype(dtype)
    pca.explained_variance_ratio_ = ratios[:n_components].astype(dtype)
    pca.singular_values_ = np.array(singular[:n_components])
    pca.noise_variance_ = dtype.type(noise) if n_components < size else 0.0
    return None, singular, components, X, False, xp


def _number_of(n_components, variances, ratios, n_samples):
    if n_components == "mle":
        try:
            from sklearn.decomposition._pca import _infer_dimension
        except ImportError:
            raise Leave("n_components='mle'") from None
        return _infer_dimension(variances, n_samples)
    return int(np.searchsorted(np.cumsum(ratios), n_components, side="right")) + 1


def _check_digits(solver, variances, n_samples):
    if solver == "covariance_eigh":  # scikit-learn squares, too
        return
    counted = variances[: n_samples - 1]  # centred rows have no more variances than that
    if not np.all(counted > _LEAST_VARIANCE * variances[0]):
        raise Leave("components of hardly any variance")
