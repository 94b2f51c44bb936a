"""The base classes of estimators where scikit-learn is not installed: the same methods, without its tools."""

import inspect

import numpy as np

__all__ = [
    "BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "ClassifierMixin", "NotFittedError", "OneToOneFeatureMixin",
    "RegressorMixin", "TransformerMixin", "check_is_fitted",
]


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was fitted."""


def check_is_fitted(estimator, attributes=None, *, msg=None, all_or_any=all):
    """Raise NotFittedError unless the estimator has attributes that only ``fit`` sets.

    Parameters
    ----------
    attributes : str, list of str or None
        Names of attributes. None asks for any that ends with an underscore and does not begin with two of them.
    msg : str or None
        The message; ``%(name)s`` in it becomes the estimator's class.
    all_or_any : callable
        ``all`` or ``any``: how many of ``attributes`` there have to be.
    """
    if not hasattr(estimator, "fit"):
        raise TypeError(f"{estimator} is not an estimator instance.")
    if attributes is not None:
        names = [attributes] if isinstance(attributes, str) else attributes
        fitted = all_or_any([hasattr(estimator, name) for name in names])
    elif hasattr(estimator, "__sklearn_is_fitted__"):
        fitted = estimator.__sklearn_is_fitted__()
    else:
        fitted = any(name.endswith("_") and not name.startswith("__") for name in vars(estimator))
    if not fitted:
        msg = msg or ("This %(name)s instance is not fitted yet. Call 'fit' with appropriate arguments before using "
                      "this estimator.")
        raise NotFittedError(msg % {"name": type(estimator).__name__})


class BaseEstimator:
    """Parameters of an estimator: the keywords of its ``__init__``."""

    @classmethod
    def _get_param_names(cls):
        if cls.__init__ is object.__init__:
            return []
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        if any(parameter.kind == parameter.VAR_POSITIONAL for parameter in parameters):
            raise RuntimeError(f"{cls} has a parameter of any number of values; an estimator has named ones only")
        return sorted(p.name for p in parameters if p.kind != p.VAR_KEYWORD)

    def get_params(self, deep=True):
        """Return the parameters as a dict; ``deep`` adds those of parameters that are estimators themselves."""
        result = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                result.update({f"{name}__{key}": inner for key, inner in value.get_params().items()})
            result[name] = value
        return result

    def set_params(self, **params):
        """Set parameters, by name or as ``name__parameter`` of a parameter that is an estimator. Return self."""
        known = self.get_params(deep=True) if params else {}
        nested = {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: "
                                 f"{self._get_param_names()!r}.")
            if inner:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
                known[name] = value
        for name, inner in nested.items():
            known[name].set_params(**inner)
        return self

    def __sklearn_clone__(self):
        """A new estimator of the same parameters, not fitted."""
        return type(self)(**{name: _clone(value) for name, value in self.get_params(deep=False).items()})

    def __repr__(self):
        defaults = inspect.signature(type(self).__init__).parameters
        changed = []
        for name in self._get_param_names():
            value = getattr(self, name, None)
            if repr(value) != repr(defaults[name].default):
                changed.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(changed)})"


def _clone(value):
    if hasattr(value, "__sklearn_clone__") and not isinstance(value, type):
        return value.__sklearn_clone__()
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(_clone(element) for element in value)
    if isinstance(value, np.ndarray):
        return value.copy()
    return value


class ClassifierMixin:
    """``score`` of classifiers."""

    _estimator_type = "classifier"

    def score(self, X, y, sample_weight=None):
        """Return the share of rows whose predicted class is ``y``'s; of several outputs, all have to agree."""
        y, predicted = np.asarray(y), np.asarray(self.predict(X))
        _check_lengths(y, predicted)
        right = y == predicted
        if right.ndim > 1:
            right = right.reshape(len(right), -1).all(axis=1)
        return float(np.average(right, weights=sample_weight))


class RegressorMixin:
    """``score`` of regressors."""

    _estimator_type = "regressor"

    def score(self, X, y, sample_weight=None):
        """Return the coefficient of determination R^2; the mean of several outputs.

        An output that is constant has 1 if it is predicted exactly, else 0.
        """
        y, predicted = np.asarray(y, dtype=np.float64), np.asarray(self.predict(X), dtype=np.float64)
        _check_lengths(y, predicted)
        y, predicted = y.reshape(len(y), -1), predicted.reshape(len(predicted), -1)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        error = np.average((y - predicted) ** 2, axis=0, weights=weights)
        spread = np.average((y - np.average(y, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
        constant = np.where(error == 0, 1.0, 0.0)
        return float(np.mean(np.where(spread > 0, 1 - error / np.where(spread > 0, spread, 1), constant)))


def _check_lengths(y, predicted):
    if y.shape[:1] != predicted.shape[:1]:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(y), len(predicted)]}")


class TransformerMixin:
    """``fit_transform`` of transformers."""

    def fit_transform(self, X, y=None, **fit_params):
        """Fit to X, and return it transformed."""
        if y is None:
            return self.fit(X, **fit_params).transform(X)
        return self.fit(X, y, **fit_params).transform(X)


class OneToOneFeatureMixin:
    """Names of a transformer whose output columns are its input columns."""

    def get_feature_names_out(self, input_features=None):
        """Return the names of the output columns: those of the input."""
        check_is_fitted(self, "n_features_in_")
        fitted = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = [f"x{i}" for i in range(self.n_features_in_)] if fitted is None else fitted
            return np.asarray(names, dtype=object)
        input_features = np.asarray(input_features, dtype=object)
        if fitted is not None and not np.array_equal(fitted, input_features):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(input_features) != self.n_features_in_:
            raise ValueError("input_features should have length equal to number of features "
                             f"({self.n_features_in_}), got {len(input_features)}")
        return input_features


class ClassNamePrefixFeaturesOutMixin:
    """Names of a transformer that makes columns of its own: pca0, pca1, ..."""

    def get_feature_names_out(self, input_features=None):
        """Return the names of the output columns: the class in small letters and a number."""
        check_is_fitted(self, "_n_features_out")
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self._n_features_out)], dtype=object)
