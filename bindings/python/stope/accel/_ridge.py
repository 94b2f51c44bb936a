"""``Ridge.fit``, ``RidgeClassifier.fit`` and ``ridge_regression``: stope solves what "cholesky" and "svd" solve.

scikit-learn centres and weights the rows before it asks a solver, and computes the intercept afterwards.
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

_MODULE = "sklearn.linear_model._ridge"

# scikit-learn's product of matrices takes 0.3 times as long as stope's. Of so few values both are a matter of a
# millisecond.
_FEW_VALUES = 20_000


def seams():
    return [
        Seam(f"{_MODULE}:_ridge_regression", _whole, ("X", "y", "alpha")),
        Seam(f"{_MODULE}:_solve_cholesky", _solver, ("X", "y", "alpha")),
        Seam(f"{_MODULE}:_solve_svd", _solver, ("X", "y", "alpha")),
    ]


def _whole(original):
    """Counts the call; a solver inside answers it."""

    @functools.wraps(original)
    def _ridge_regression(X, y, alpha, *args, **kwargs):
        with _tally.call("ridge_regression") as call:
            result = original(X, y, alpha, *args, **kwargs)
            if call is not None and not call.answered and not call.why:
                call.why = "sparse X" if is_sparse(X) else _solver_of(X, args, kwargs)
            return result

    return _ridge_regression


def _solver_of(X, args, kwargs):
    solver = kwargs.get("solver", args[1] if len(args) > 1 else "auto")
    if kwargs.get("positive"):
        return "positive=True"
    dual = solver in ("auto", "cholesky") and X.shape[1] > X.shape[0]
    return "more columns than rows" if dual else f"solver={solver!r}"


def _solver(original):
    @functools.wraps(original)
    def solve(X, y, alpha, *args, **kwargs):
        call = _tally.current()
        if call is not None and call.name == "ridge_regression":
            try:
                coefficients = _solve(X, y, alpha)
            except Leave as reason:
                call.why = str(reason)
            else:
                call.answered = True
                return coefficients
        return original(X, y, alpha, *args, **kwargs)

    return solve


def _solve(X, y, alpha):
    """The coefficients, of shape (n_targets, n_features)."""
    if is_sparse(X):
        raise Leave("sparse X")
    if type(X) is not np.ndarray or type(y) is not np.ndarray or y.ndim != 2:
        raise Leave(f"X is a {type(X).__name__}")
    n_targets = y.shape[1]
    if X.size > _FEW_VALUES:
        leave_slow("a large table, for which scikit-learn takes no longer")
    alphas = np.broadcast_to(np.asarray(alpha, dtype=np.float64), (n_targets,))
    try:
        with job() as run:
            table = _core.Table.of_array(plain(X), [], True, run)
            targets = np.asfortranarray(y, dtype=np.float64)
            models = _core.fit_linear(table, targets, None, alphas.tolist(), False, False, "error", 0, run)
    except StopeError as error:
        raise Leave(f"stope: {error}") from error
    if any(model.method != "normal equations" for model in models):
        raise Leave("columns that depend on one another")
    return np.array([model.coefficients for model in models], dtype=X.dtype)
