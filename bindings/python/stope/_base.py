"""The base of all estimators: scikit-learn's where it is installed, else plain classes with the same parameters."""

from ._interrupts import interrupts_kept
from ._run import Reports, job

try:
    with interrupts_kept():
        from sklearn.base import (
            BaseEstimator,
            ClassifierMixin,
            ClassNamePrefixFeaturesOutMixin,
            OneToOneFeatureMixin,
            RegressorMixin,
            TransformerMixin,
        )
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

    HAS_SKLEARN = True
except ImportError:
    from ._plain import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        NotFittedError,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
        check_is_fitted,
    )

    HAS_SKLEARN = False

__all__ = [
    "HAS_SKLEARN", "BaseEstimator", "ClassifierMixin", "ClassNamePrefixFeaturesOutMixin", "NotFittedError",
    "OneToOneFeatureMixin", "RegressorMixin", "StopeEstimator", "TransformerMixin", "check_is_fitted",
]


class StopeEstimator(BaseEstimator):
    """An estimator that the engine fits. ``report_`` says what ran the last call, and why."""

    def _begin_fit(self):
        self._reports = Reports()

    def _job(self):
        """The context of one job: its report becomes ``report_``."""
        return job(self._reports, n_jobs=getattr(self, "n_jobs", None), device=getattr(self, "device", "auto"))

    @property
    def report_(self):
        """What ran the last call of this estimator, and why: a dict whose str() is a text for people."""
        check_is_fitted(self)
        return self._reports.last
