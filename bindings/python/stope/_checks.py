"""Checks of X that need no scikit-learn, with its rules and its messages."""

import sys
from numbers import Integral, Real

import numpy as np

from . import _core
from ._run import warn
from .errors import InvalidArgumentError

__all__ = [
    "check_finite", "check_names", "check_shape", "check_types", "name_of", "refuse_missing", "string_names",
]


_KINDS = {str: "a str", Integral: "a whole number", Real: "a number"}


def check_types(estimator, **kinds):
    """Refuse parameters that are not of the kind: str, Integral or Real; a bool is no number."""
    for name, kind in kinds.items():
        value = getattr(estimator, name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InvalidArgumentError(f"{name}: {value!r} is not {_KINDS[kind]}")


def name_of(estimator):
    """The name that messages use: a class's, or the text itself."""
    return estimator if isinstance(estimator, str) else type(estimator).__name__


def string_names(names):
    """The names as an array if all of them are strings, None if none is; a mixture is a TypeError."""
    types = sorted({type(name).__qualname__ for name in names})
    if len(types) > 1 and "str" in types:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. If you want feature names to be stored and validated, you "
            "must convert them all to strings, by using X.columns = X.columns.astype(str) for example. Otherwise you "
            "can remove feature / column names from your input data, or convert them all to a non-string data type."
        )
    if types != ["str"]:
        return None
    result = np.empty(len(names), dtype=object)
    result[:] = list(names)
    return result


def check_names(estimator, names, reset):
    """Set ``feature_names_in_``, or compare the names with it."""
    if reset:
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is None and names is None:
        return
    name = name_of(estimator)
    if fitted is None:
        warn(UserWarning(f"X has feature names, but {name} was fitted without feature names"))
    elif names is None:
        warn(UserWarning(f"X does not have valid feature names, but {name} was fitted with feature names"))
    elif len(fitted) != len(names) or any(a != b for a, b in zip(fitted, names)):
        raise ValueError(_names_differ(set(fitted), set(names)))


def _names_differ(fitted, given):
    unexpected, missing = sorted(given - fitted), sorted(fitted - given)
    lines = ["The feature names should match those that were passed during fit.\n"]
    for title, some in (("Feature names unseen at fit time:\n", unexpected),
                        ("Feature names seen at fit time, yet now missing:\n", missing)):
        if some:
            lines.append(title)
            lines += [f"- {name}\n" for name in some[:5]]
            if len(some) > 5:
                lines.append("- ...\n")
    if not unexpected and not missing:
        lines.append("Feature names must be in the same order as they were in fit.\n")
    return "".join(lines)


def check_shape(estimator, shape, reset, ensure_min_samples):
    """Compare rows and columns with their least numbers, and the columns with ``n_features_in_``."""
    n_samples, n_features = shape
    name = name_of(estimator)
    if n_samples < ensure_min_samples:
        raise ValueError(f"Found array with {n_samples} sample(s) (shape={shape}) while a minimum of "
                         f"{ensure_min_samples} is required by {name}.")
    if n_features < 1:
        raise ValueError(f"Found array with {n_features} feature(s) (shape={shape}) while a minimum of 1 is required "
                         f"by {name}.")
    if reset:
        estimator.n_features_in_ = n_features
    elif n_features != getattr(estimator, "n_features_in_", n_features):
        raise ValueError(f"X has {n_features} features, but {name} is expecting {estimator.n_features_in_} features "
                         "as input.")


def check_finite(estimator, array, missing):
    """Refuse infinity in an array of floats, and NaN unless ``missing`` is "skip"; "any" refuses nothing."""
    if missing == "any":
        return
    state = _core.finiteness(array)
    if state == "finite" or (state == "nan" and missing == "skip") or _assume_finite():
        return
    if state != "infinite" or (missing != "skip" and np.isnan(array).any()):
        refuse_missing(estimator)
    raise ValueError(f"Input X contains infinity or a value too large for {array.dtype!r}.")


def refuse_missing(estimator):
    """Raise scikit-learn's error of a missing value, with what ``_missing_advice`` of the estimator offers instead."""
    advice = getattr(estimator, "_missing_advice", None)
    if advice is None:
        how = ("encoded as NaN natively. Remove the rows that have them, or fill them in with an imputer such as "
               "stope.KNNImputer.")
    else:
        how = f"under missing='error'. {advice}"
    raise ValueError(f"Input X contains NaN.\n{name_of(estimator)} does not accept missing values {how}")


def _assume_finite():
    sklearn = sys.modules.get("sklearn")
    return sklearn is not None and sklearn.get_config()["assume_finite"]
