"""Principal components and truncated singular value decompositions, exact to rounding (docs/numerics/pca.md)."""

import math
from numbers import Integral, Real

import numpy as np

from . import _core
from ._base import ClassNamePrefixFeaturesOutMixin, StopeEstimator, TransformerMixin, check_is_fitted
from ._classes import seed_of
from ._data import check_X

__all__ = ["PCA", "TruncatedSVD"]

_SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
_NORMALIZERS = ("auto", "QR", "LU", "none")


class _Decomposition(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StopeEstimator):
    """What PCA and TruncatedSVD share. ``_model`` is the engine's model, or None where there are no components."""

    def fit(self, X, y=None):
        """Fit the components.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Numbers. Memory is read where it lies or copied once, and never kept.
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X, y=None):
        """Fit the components and return the scores of the same rows: ``fit(X).transform(X)``.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components), float32 for a float32 X, else float64
        """
        rows = self._fit(X)
        report = self._reports.last
        scores = self._scores(rows)
        self._reports.last = report  # the fit's, which says more
        return scores

    def transform(self, X):
        """Return the scores of rows: their centred values times the components.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components), float32 for a float32 X, else float64
            The same bits for any number of threads, any memory layout of X, and any split of the rows.
        """
        check_is_fitted(self)
        return self._scores(check_X(self, X, reset=False, missing=self._missing(), later=True))

    def _missing(self):
        return "error"

    def _seed(self):
        return 0 if self.random_state is None else seed_of(self.random_state)

    def _scores(self, rows):
        dtype = rows.dtype
        if self._model is None:
            return np.zeros((rows.n_rows, 0), dtype)
        with self._job() as run:
            scores = rows.without_table(lambda array: self._model.transform_rows(array, dtype == np.float32, run))
            if scores is not None:
                return scores
            return self._model.transform(rows.as_table(run, share=True), dtype == np.float32, run)

    def _keep(self, model, dtype, kept):
        """Set the attributes that both classes have, of the first ``kept`` components."""
        self._model = model if kept else None
        self.components_ = model.components[:kept].astype(dtype, copy=False)
        self.explained_variance_ = model.explained_variance[:kept].astype(dtype, copy=False)
        self.explained_variance_ratio_ = model.explained_variance_ratio[:kept].astype(dtype, copy=False)
        self.singular_values_ = model.singular_values[:kept].astype(dtype, copy=False)

    def _to_model(self):
        """The bytes of a model file."""
        from .errors import UnsupportedError

        check_is_fitted(self)
        if self._model is None:
            raise UnsupportedError("a model file holds at least one component; this model has none")
        return self._model.to_bytes()

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_words(self):
        """Refuse values that scikit-learn refuses, too, for parameters that no result here depends on."""
        _require_integer("n_oversamples", self.n_oversamples, 1)
        if self.power_iteration_normalizer not in _NORMALIZERS:
            raise ValueError(
                f"power_iteration_normalizer is one of {_NORMALIZERS}, not {self.power_iteration_normalizer!r}"
            )
        if not isinstance(self.tol, Real) or not 0 <= self.tol < math.inf:
            raise ValueError(f"tol is a number from 0 on, not {self.tol!r}")

    def _scores_in(self, X):
        """Scores that a caller hands back, as a floating-point array of shape (n_samples, n_components)."""
        scores = np.asarray(X)
        if scores.dtype not in (np.float32, np.float64):
            scores = scores.astype(np.float64)
        if scores.ndim != 2 or scores.shape[1] != self.components_.shape[0]:
            raise ValueError(
                f"X has shape {scores.shape}; scores of this model have {self.components_.shape[0]} columns"
            )
        return scores


class PCA(_Decomposition):
    """Principal component analysis: orthogonal directions of greatest variance.

    Every solver gives the same, exact answer; the engine chooses its way by size, and ``report_`` says which and why.
    The centred matrix is never formed. Signs: of each component, the entry of largest magnitude is positive, and the
    first of equal ones counts.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        None keeps min(n_samples, n_features). An int keeps that many. A float between 0 and 1 keeps the fewest
        components that explain more than that share of the variance. "mle" keeps as many as Minka's estimate says;
        it needs n_samples >= n_features.
    copy : bool, default=True
        Accepted and not needed: X is never written.
    whiten : bool, default=False
        Divides scores by their standard deviations.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        Only bounds n_components, as in scikit-learn: "arpack" and "randomized" take whole numbers, "arpack" fewer than
        min(n_samples, n_features).
    tol : float, default=0.0
        Residual at which the iteration for large tables stops, as a share of the largest eigenvalue; 0 stands for
        1e-12.
    iterated_power, n_oversamples, power_iteration_normalizer
        Accepted, checked, and not needed: nothing is approximated.
    random_state : int, RandomState, Generator or None, default=None
        First directions of the iteration for large tables. None gives the same answer every time.
    missing : {"error", "mean"}, default="error"
        "error" refuses NaN. "mean" counts a missing value as its column's mean, in fit and in transform.
    scaling : {None, "z"}, default=None
        "z" divides columns by their standard deviations (ddof 1). A constant column stays as it is.
    device : str, default="auto"
        "auto", "cpu", "cuda", or "cuda:0,1".

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features_in_)
        Orthonormal rows, by descending variance. These arrays are float32 for a float32 X, else float64.
    explained_variance_ : ndarray of shape (n_components_,)
        Variances of the scores, ddof 1, before they are whitened.
    explained_variance_ratio_, singular_values_ : ndarray of shape (n_components_,)
    mean_ : ndarray of shape (n_features_in_,)
        What is subtracted from columns.
    scale_ : ndarray of shape (n_features_in_,) or None
        What columns are then divided by; None without ``scaling``.
    noise_variance_ : float
        Mean variance of the directions that were left out.
    n_components_, n_samples_, n_features_in_ : int
    report_ : Report
        What ran the last call, and why.

    Notes
    -----
    Cost of a fit of n rows and p columns: n p min(n, p) multiplications and about 9 min(n, p)^3 more, or one pass over
    the table for every 8 products of block Lanczos. "mle" fits twice.

    With ``whiten=True``, ``get_covariance`` returns the covariance of the columns of X, as without.

    Examples
    --------
    >>> import numpy as np
    >>> from stope import PCA
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]])
    >>> PCA(n_components=1).fit(X).explained_variance_ratio_.round(4)
    array([0.9924])
    """

    _missing_advice = "missing='mean' counts them as their column's mean."

    def __init__(
        self, n_components=None, *, copy=True, whiten=False, svd_solver="auto", tol=0.0, iterated_power="auto",
        n_oversamples=10, power_iteration_normalizer="auto", random_state=None, missing="error", scaling=None,
        device="auto",
    ):
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.missing = missing
        self.scaling = scaling
        self.device = device

    def _missing(self):
        return "skip" if self.missing == "mean" else "error"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags

    def _check_parameters(self):
        self._check_words()
        if self.iterated_power != "auto":
            _require_integer("iterated_power", self.iterated_power, 0)
        if self.svd_solver not in _SOLVERS:
            raise ValueError(f"svd_solver is one of {_SOLVERS}, not {self.svd_solver!r}")
        if self.missing not in ("error", "mean"):
            raise ValueError(f'missing is "error" or "mean", not {self.missing!r}')
        if self.scaling not in (None, "z"):
            raise ValueError(f'scaling is None or "z", not {self.scaling!r}')

    def _wanted(self, n_samples, n_features):
        """n_components as the engine takes it: a number, 0 for all; or "mle"."""
        most, wanted, solver = min(n_samples, n_features), self.n_components, self.svd_solver
        named = "full" if solver == "auto" else solver
        limits = f"min(n_samples, n_features)={most} with svd_solver={named!r}"
        truncated = solver in ("arpack", "randomized")
        if wanted is None:
            if solver == "arpack" and most == 1:
                raise ValueError(f"n_components=None leaves no component: it is less than {limits}")
            return most - 1 if solver == "arpack" else most
        if isinstance(wanted, str):
            if wanted != "mle":
                raise ValueError(f'n_components is a number, None or "mle", not {wanted!r}')
            if truncated:
                raise ValueError(f"n_components={wanted!r} cannot be a string with svd_solver={solver!r}")
            if n_samples < n_features:
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
            return wanted
        if isinstance(wanted, Integral) and not isinstance(wanted, bool):
            least = 1 if truncated else 0
            if not least <= wanted <= most:
                raise ValueError(f"n_components={wanted} must be between {least} and {limits}")
            if solver == "arpack" and wanted == most:
                raise ValueError(f"n_components={wanted} must be strictly less than {limits}")
            return int(wanted)
        if not isinstance(wanted, Real) or not 0 < wanted < 1:
            raise ValueError(f"n_components is an int from 0, a float between 0 and 1, 'mle' or None, not {wanted!r}")
        if truncated:
            raise ValueError(f"n_components={wanted} must be a whole number between 1 and {limits}")
        return float(wanted)

    def _fit(self, X):
        self._check_parameters()
        rows = check_X(self, X, reset=True, missing=self._missing(), later=True)
        self._begin_fit()
        n_samples, n_features = rows.n_rows, rows.n_columns
        wanted = self._wanted(n_samples, n_features)
        seed = self._seed()
        with self._job() as run:
            def fitted(n_components):
                return _fitted(
                    rows, run, n_components=n_components, whiten=bool(self.whiten), scaling=self.scaling or "none",
                    missing=self.missing, tolerance=float(self.tol), seed=seed,
                )

            if wanted == "mle":
                spectrum = fitted(0.0).explained_variance
                wanted = _minka(spectrum, n_samples)
            # The engine has at least one component; with none, that one tells how much variance is left out.
            model = fitted(float(wanted) if wanted else 1.0)
        dtype = rows.dtype
        kept = model.components.shape[0] if wanted else 0
        self._keep(model, dtype, kept)
        self.mean_ = model.mean.astype(dtype, copy=False)
        self.scale_ = model.scale.astype(dtype, copy=False) if self.scaling else None
        noise = model.noise_variance if kept else _mean_variance(model, min(n_samples, n_features))
        self.noise_variance_ = dtype.type(noise)
        self.n_components_ = kept
        self.n_samples_ = n_samples
        return rows

    def inverse_transform(self, X):
        """Return rows that have the given scores.

        Parameters
        ----------
        X : array of shape (n_samples, n_components_)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features_in_)
            The rows of the fit, if all components were kept; else their projections.
        """
        check_is_fitted(self)
        scores = self._scores_in(X)
        if self.whiten:
            scores = scores * np.sqrt(self.explained_variance_)
        rows = scores @ self.components_
        if self.scale_ is not None:
            rows *= self.scale_
        return rows + self.mean_

    def get_covariance(self):
        """Return the covariance of the columns under the model: ndarray of shape (n_features_in_, n_features_in_).

        It is components^T (variances - noise) components + noise, scaled back where columns were scaled.
        """
        check_is_fitted(self)
        above = np.maximum(self.explained_variance_ - self.noise_variance_, 0)
        covariance = (self.components_.T * above) @ self.components_
        covariance.flat[:: len(covariance) + 1] += self.noise_variance_
        if self.scale_ is not None:
            covariance *= np.outer(self.scale_, self.scale_)
        return covariance

    def get_precision(self):
        """Return the inverse of the covariance: ndarray of shape (n_features_in_, n_features_in_).

        Raises numpy.linalg.LinAlgError where the covariance has no inverse.
        """
        check_is_fitted(self)
        noise = self.noise_variance_
        if not noise > 0:
            return np.linalg.inv(self.get_covariance())
        variances = np.maximum(self.explained_variance_, noise)
        precision = (self.components_.T * (1 / variances - 1 / noise)) @ self.components_
        precision.flat[:: len(precision) + 1] += 1 / noise
        if self.scale_ is not None:
            precision /= np.outer(self.scale_, self.scale_)
        return precision

    def score_samples(self, X):
        """Return the log-likelihood of each row under the model: ndarray of shape (n_samples,).

        The model is a normal distribution with the mean of the columns and ``get_covariance()``.
        """
        check_is_fitted(self)
        rows = check_X(self, X, reset=False, missing=self._missing()).array - self.mean_
        if self.missing == "mean":
            rows = np.nan_to_num(rows, nan=0.0)
        precision = self.get_precision()
        sign, log_determinant = np.linalg.slogdet(precision)
        log_determinant = log_determinant if sign > 0 else -np.inf
        distances = np.einsum("ij,ij->i", rows, rows @ precision)
        return -0.5 * distances - 0.5 * (self.n_features_in_ * math.log(2 * math.pi) - log_determinant)

    def score(self, X, y=None):
        """Return the mean log-likelihood of the rows: a float."""
        return float(np.mean(self.score_samples(X)))


class TruncatedSVD(_Decomposition):
    """Singular value decomposition of the columns as they are: nothing is subtracted. X is dense.

    Every algorithm gives the same, exact answer; ``report_`` says how the engine found it. Signs are those of
    :class:`PCA`.

    Parameters
    ----------
    n_components : int, default=2
        At most n_features. Fewer rows than that give as many components as there are rows.
    algorithm : {"randomized", "arpack"}, default="randomized"
        Accepted and not needed: nothing is approximated.
    n_iter, n_oversamples, power_iteration_normalizer
        Accepted, checked, and not needed.
    random_state : int, RandomState, Generator or None, default=None
        First directions of the iteration for large tables. None gives the same answer every time.
    tol : float, default=0.0
        Residual at which that iteration stops, as a share of the largest eigenvalue; 0 stands for 1e-12.
    device : str, default="auto"
        "auto", "cpu", "cuda", or "cuda:0,1".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
    explained_variance_ : ndarray of shape (n_components,)
        Variances of the scores, ddof 0. They need not descend.
    explained_variance_ratio_, singular_values_ : ndarray of shape (n_components,)
    n_features_in_ : int
    report_ : Report
        What ran the last call, and why.

    Notes
    -----
    A component of singular value s is right to about 1e-15 (s_0 / s)^2, where s_0 is the largest. Columns far from 0
    make s_0 large: PCA, which centres them, does not have this loss.
    """

    def __init__(
        self, n_components=2, *, algorithm="randomized", n_iter=5, n_oversamples=10, power_iteration_normalizer="auto",
        random_state=None, tol=0.0, device="auto",
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol
        self.device = device

    def _fit(self, X):
        self._check_words()
        _require_integer("n_iter", self.n_iter, 0)
        _require_integer("n_components", self.n_components, 1)
        if self.algorithm not in ("randomized", "arpack"):
            raise ValueError(f'algorithm is "randomized" or "arpack", not {self.algorithm!r}')
        rows = check_X(self, X, reset=True, later=True)
        self._begin_fit()
        if self.n_components > rows.n_columns:
            raise ValueError(f"n_components={self.n_components} must be <= n_features={rows.n_columns}")
        with self._job() as run:
            model = _fitted(
                rows, run, n_components=float(min(self.n_components, rows.n_rows)), centering="none",
                tolerance=float(self.tol), seed=self._seed(),
            )
        self._keep(model, rows.dtype, model.components.shape[0])
        return rows

    def inverse_transform(self, X):
        """Return the rows that have the given scores: ndarray of shape (n_samples, n_features_in_)."""
        check_is_fitted(self)
        return self._scores_in(X) @ self.components_


def _fitted(rows, run, **options):
    """The engine's model of rows, which are read where they lie if they are an array in C order."""
    model = rows.without_table(lambda array: _core.Pca.fit_rows(array, rows.engine_names(), run=run, **options))
    return _core.Pca.fit(rows.as_table(run, share=True), run=run, **options) if model is None else model


def _require_integer(name, value, least):
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is a whole number from {least} on, not {value!r}")


def _mean_variance(model, n_directions):
    """The mean variance of all directions, from the first one and its share."""
    share = model.explained_variance_ratio[0]
    return model.explained_variance[0] / share / n_directions if share > 0 else 0.0


def _minka(spectrum, n_samples):
    """The number of components of greatest evidence, at least 1 where there are two columns.

    T. P. Minka, Automatic choice of dimensionality for PCA, NIPS 2000, equation 30; ``spectrum`` is the variance along
    every direction, descending.
    """
    p, n = len(spectrum), n_samples
    tiny = 1e-15
    best, best_evidence = 0, -math.inf
    log_uniform = 0.0  # log p(U)
    log_kept = 0.0
    for k in range(1, p):
        half = (p - k + 1) / 2
        log_uniform += math.lgamma(half) - half * math.log(math.pi) - math.log(2)
        if spectrum[k - 1] < tiny:
            break
        log_kept += math.log(spectrum[k - 1])
        noise = max(float(spectrum[k:].mean()), tiny)
        inverse = np.where(np.arange(p) < k, 1 / np.maximum(spectrum, tiny), 1 / noise)
        first, second = np.triu_indices(k, 1, p)
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = (spectrum[first] - spectrum[second]) * (inverse[second] - inverse[first])
            log_volume = float(np.log(gaps).sum()) + len(first) * math.log(n)
        m = p * k - k * (k + 1) / 2
        evidence = (
            log_uniform - n / 2 * log_kept - n * (p - k) / 2 * math.log(noise)
            + (m + k) / 2 * math.log(2 * math.pi) - log_volume / 2 - k / 2 * math.log(n)
        )
        if evidence > best_evidence:
            best, best_evidence = k, evidence
    return best
