"""stope in Orange: exact k-NN, imputation, best cuts and local discretisation trees.

Learners, preprocessors and the scorer work in scripts without any widget; see docs/ORANGE.md.
"""

import importlib

# Where each public name is: a module is loaded when the first of its names is asked for.
_PLACES = {
    "discretize": ["CutDiscretize"],
    "impute": ["KnnImpute"],
    "knn": ["KnnClassificationLearner", "KnnLearner", "KnnRegressionLearner"],
    "rank": ["CutScorer", "ranking"],
    "table": ["from_stope", "to_stope"],
    "tree": ["LocalDiscretizationTreeLearner"],
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name):
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
