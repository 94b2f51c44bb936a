"""stope on Spark: models applied to DataFrames, and jobs for tables that no executor can hold.

Everything is built on the DataFrame API alone, so that Spark Connect works, too. docs/SPARK.md is the way in.
"""

import importlib

# Where each public name is: a module is loaded when the first of its names is asked for.
_PLACES = {
    "_apply": ["kneighbors", "transform"],
    "_cuts": ["best_cuts"],
    "_join": ["knn_join"],
    "_resources": ["resources"],
    "_stats": ["column_stats"],
    "ml": ["StopeTransformer"],
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = sorted(_MODULE_OF)

_MISSING = "stope.spark needs {0}, which is not installed: pip install 'stope[spark]' brings it"


def __getattr__(name):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for package in ("pyspark", "pyarrow"):
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(_MISSING.format(package), name=package) from error
    value = getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
