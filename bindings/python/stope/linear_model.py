"""Least squares and ridge regression, exact to rounding (docs/numerics/lsq.md)."""

from numbers import Integral

import numpy as np

from . import _core
from ._base import RegressorMixin, StopeEstimator, check_is_fitted
from ._data import check_X
from .errors import UnsupportedError

__all__ = ["LinearRegression", "Ridge"]

_SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")


class _LinearModel(RegressorMixin, StopeEstimator):
    """What LinearRegression and Ridge share. ``_models`` has one model of the engine for each target."""

    _missing_advice = "missing='mean' counts them as their column's mean."

    def _fit(self, X, y, sample_weight, alpha, *, standard_errors=False, max_iterations=0):
        if self.missing not in ("error", "mean"):
            raise ValueError(f'missing is "error" or "mean", not {self.missing!r}')
        if self.positive:
            raise UnsupportedError("stope fits no linear model with positive coefficients; set positive=False")
        rows = check_X(self, X, reset=True, missing=self._missing(), later=True)
        self._begin_fit()
        dtype = rows.dtype
        targets = _targets(self, y, rows.n_rows)
        columns, alphas = targets.reshape(rows.n_rows, -1, order="F"), _alphas(alpha, targets)
        weights = _weights(sample_weight, rows.n_rows)
        with self._job() as run:
            self._models = None if weights is not None else rows.without_table(lambda array: _core.fit_linear_rows(
                array, rows.engine_names(), columns, alphas, bool(self.fit_intercept), standard_errors, max_iterations,
                run,
            ))
            if self._models is None:
                self._models = _core.fit_linear(
                    rows.as_table(run, share=True), columns, weights, alphas, bool(self.fit_intercept),
                    standard_errors, self.missing, max_iterations, run,
                )
        self.coef_ = self._of_models("coefficients", targets, dtype)
        self.intercept_ = self._of_models("intercept", targets, dtype) if self.fit_intercept else 0.0
        return targets, dtype

    def _of_models(self, name, targets, dtype):
        """A number or array of every model: of the only one where y has one dimension, else stacked."""
        values = np.array([getattr(model, name) for model in self._models], dtype)
        return values[0] if targets.ndim == 1 else values

    def predict(self, X):
        """Return the predictions of rows.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets), float32 for a float32 X, else float64
            The same bits for any number of threads, any memory layout of X, and any split of the rows.
        """
        check_is_fitted(self)
        rows = check_X(self, X, reset=False, missing=self._missing(), later=True)
        with self._job() as run:
            predictions = rows.without_table(lambda array: _core.predict_linear_rows(self._models, array, run))
            if predictions is None:
                predictions = _core.predict_linear(self._models, rows.as_table(run, share=True), run)
        if self.coef_.ndim == 1:
            predictions = predictions[:, 0]
        return predictions.astype(rows.dtype, copy=False)

    def _missing(self):
        return "skip" if self.missing == "mean" else "error"

    def _to_model(self):
        """The bytes of a model file."""
        check_is_fitted(self)
        if len(self._models) != 1:
            raise UnsupportedError(f"a model file holds one target; this model has {len(self._models)}")
        return self._models[0].to_bytes()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags


class LinearRegression(_LinearModel):
    """Ordinary least squares.

    Where columns depend on one another or outnumber the rows, this is the solution of least norm. ``report_`` says how
    the engine found it: normal equations that are refined, a QR decomposition, or an iteration where these do not fit
    the memory.

    Parameters
    ----------
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Accepted and not needed: X is never written.
    tol : float, default=1e-6
        Accepted and not needed: the engine's own bound is 1e-10.
    n_jobs : int or None, default=None
        Threads; None takes those of ``config_context``.
    positive : bool, default=False
        True is refused with UnsupportedError.
    standard_errors : bool, default=False
        Sets ``standard_errors_``. Refused where the columns and the intercept are as many as the rows, or more.
    missing : {"error", "mean"}, default="error"
        "error" refuses NaN in X. "mean" counts a missing value as its column's mean, in fit and in predict.
    device : str, default="auto"
        "auto", "cpu", "cuda", or "cuda:0,1".

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,) or (n_targets, n_features_in_)
        float32 for a float32 X, else float64.
    intercept_ : float, or ndarray of shape (n_targets,)
        0.0 without an intercept.
    rank_ : int or None
        Rank of the centred, weighted columns; None where the engine iterated.
    standard_errors_ : ndarray of the shape of ``coef_``
        Only with ``standard_errors=True``. NaN where the columns depend on one another.
    intercept_standard_error_ : float, or ndarray of shape (n_targets,)
        Only with ``standard_errors=True``.
    n_features_in_ : int
    report_ : Report
        What ran the last call, and why.

    Notes
    -----
    Cost of a fit of n rows and p columns: n p min(n, p) / 2 multiplications and about 9 min(n, p)^3 more. Several
    targets share them; each adds a few passes over X.

    Examples
    --------
    >>> import numpy as np
    >>> from stope import LinearRegression
    >>> X = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 3.0]])
    >>> LinearRegression().fit(X, X @ [1.0, 2.0] + 3.0).coef_.round(9)
    array([1., 2.])
    """

    def __init__(
        self, *, fit_intercept=True, copy_X=True, tol=1e-6, n_jobs=None, positive=False, standard_errors=False,
        missing="error", device="auto",
    ):
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.standard_errors = standard_errors
        self.missing = missing
        self.device = device

    def fit(self, X, y, sample_weight=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array of shape (n_samples,), default=None
            Weights from 0 on. A row of weight 0 does not count.

        Returns
        -------
        self
        """
        targets, dtype = self._fit(X, y, sample_weight, 0.0, standard_errors=bool(self.standard_errors))
        rank = self._models[0].rank
        self.rank_ = rank if rank >= 0 else None
        if self.standard_errors:
            self.standard_errors_ = self._of_models("standard_errors", targets, dtype)
            self.intercept_standard_error_ = self._of_models("intercept_standard_error", targets, dtype)
        return self


class Ridge(_LinearModel):
    """Least squares with a penalty: minimises |y - Xb|^2 + alpha |b|^2. The intercept is not penalised.

    Every solver gives the same, exact answer; ``solver_`` says which way the engine took.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        From 0 on. 0 is least squares, with the solution of least norm where there are several.
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Accepted and not needed: X is never written.
    max_iter : int or None, default=None
        Most steps of the engine's iteration for large tables; None takes 4 min(n_samples, n_features) + 100. If they
        do not suffice, UnsupportedError says so.
    tol : float, default=1e-4
        Accepted and not needed: the engine's own bound is 1e-10.
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}, default="auto"
        Accepted, checked, and not needed.
    positive : bool, default=False
        True is refused with UnsupportedError.
    random_state : ignored
    missing : {"error", "mean"}, default="error"
        "error" refuses NaN in X. "mean" counts a missing value as its column's mean, in fit and in predict.
    device : str, default="auto"
        "auto", "cpu", "cuda", or "cuda:0,1".

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,) or (n_targets, n_features_in_)
        float32 for a float32 X, else float64. One target gives one dimension, whatever the shape of y.
    intercept_ : float, or ndarray of shape (n_targets,)
        0.0 without an intercept.
    n_iter_ : ndarray of int of shape (n_targets,)
        Steps where the engine iterated ("lsqr"), else refinements of the direct solution.
    solver_ : str
        "normal equations", "qr" or "lsqr".
    n_features_in_ : int
    report_ : Report
        What ran the last call, and why.

    Notes
    -----
    Cost: as of :class:`LinearRegression`. Targets share the work where they have the same alpha.
    """

    def __init__(
        self, alpha=1.0, *, fit_intercept=True, copy_X=True, max_iter=None, tol=1e-4, solver="auto", positive=False,
        random_state=None, missing="error", device="auto",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.missing = missing
        self.device = device

    def fit(self, X, y, sample_weight=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array of shape (n_samples,), default=None
            Weights from 0 on. A row of weight 0 does not count.

        Returns
        -------
        self
        """
        if self.solver not in _SOLVERS:
            raise ValueError(f"solver is one of {_SOLVERS}, not {self.solver!r}")
        steps = self.max_iter
        if steps is not None and (not isinstance(steps, Integral) or isinstance(steps, bool) or steps < 1):
            raise ValueError(f"max_iter is a whole number from 1 on or None, not {steps!r}")
        self._fit(X, y, sample_weight, self.alpha, max_iterations=int(steps or 0))
        self.solver_ = self._models[0].method
        self.n_iter_ = np.array([max(model.iterations, 1) for model in self._models])
        if len(self._models) == 1:  # as scikit-learn has it: a y of one column gives coefficients of one dimension
            self.coef_ = self.coef_.ravel()
        return self


def _targets(estimator, y, n_rows):
    """y as float64, of one or two dimensions; two in column order. Messages are scikit-learn's where there are such."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    targets = np.asarray(y)
    if targets.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has complex values")
    targets = targets.astype(np.float64, order="F")
    if targets.ndim not in (1, 2) or 0 in targets.shape[1:]:
        raise ValueError(f"y should be a 1d array or have a column for each target, got shape {targets.shape} instead.")
    if targets.shape[0] != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {targets.shape[0]}]")
    if np.isnan(targets).any():
        raise ValueError("Input y contains NaN.")
    if np.isinf(targets).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    return targets


def _weights(sample_weight, n_rows):
    """One weight a row, or None for ones."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape[0] != n_rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n_rows},)!")
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity.")
    if (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`")
    if n_rows > 0 and not weights.any():
        raise ValueError("sample_weight: every weight is zero")
    return np.ascontiguousarray(weights)


def _alphas(alpha, targets):
    """One alpha a target."""
    n_targets = 1 if targets.ndim == 1 else targets.shape[1]
    alphas = np.asarray(alpha)
    if alphas.dtype.kind not in "fiu" or not (np.isfinite(alphas).all() and (alphas >= 0).all()):
        raise ValueError(f"alpha is a number from 0 on, or one for each target, not {alpha!r}")
    alphas = alphas.astype(np.float64).ravel()
    if len(alphas) not in (1, n_targets):
        raise ValueError(
            f"Number of targets and number of penalties do not correspond: {len(alphas)} != {n_targets}"
        )
    return np.broadcast_to(alphas, n_targets).tolist()
