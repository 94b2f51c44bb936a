"""stope: exact data mining on tables, on CPUs and NVIDIA GPUs.

Estimators have scikit-learn's names, parameters and defaults; docs/PYTHON.md is the way in.
"""

import importlib

from ._core import __version__

# Where each public name is: a module is loaded when the first of its names is asked for.
_PLACES = {
    "_config": ["config_context", "get_config", "set_config"],
    "_run": ["Report", "StopeWarning"],
    "decomposition": ["PCA", "TruncatedSVD"],
    "discretize": ["CutRanker", "SupervisedDiscretizer"],
    "errors": ["StopeError"],
    "gram": ["gram_matvec"],
    "impute": ["KNNImputer"],
    "io": ["Model", "chain", "load", "read_table", "save", "write_table"],
    "linear_model": ["LinearRegression", "Ridge"],
    "neighbors": [
        "KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors", "RadiusNeighborsClassifier",
        "RadiusNeighborsRegressor",
    ],
    "pairwise": ["cross_distances", "pairwise_distances"],
    "stats": ["column_stats", "correlation"],
    "table": ["Table"],
    "tree": ["LocalDiscretizationTreeClassifier"],
}
_SUBMODULES = ["plot"]
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = ["__version__", *sorted(_MODULE_OF)]


def __getattr__(name):
    if name in _MODULE_OF:
        value = getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__, *_SUBMODULES})
