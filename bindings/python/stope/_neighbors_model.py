"""Fitted neighbours as model files hold them: the training rows, the measure, the label and the votes."""

import numpy as np

from . import _core
from ._classes import class_names, free_name
from .errors import UnsupportedError

__all__ = ["model_of"]


def _features(estimator, run):
    """The training rows' columns, named as they were at ``fit``."""
    if estimator._fit_X is None:
        table = estimator._search.index.train()
        columns = [table.column(index) for index in range(table.n_columns)]
        return [column for column in columns if column.role == "regular"]
    names = list(getattr(estimator, "feature_names_in_", [])) or [f"x{i}" for i in range(estimator.n_features_in_)]
    table = _core.Table.of_array(estimator._fit_X, names, True, run)
    return [table.column(index) for index in range(table.n_columns)]


def _label(estimator, taken, run):
    """The column that is voted on, or None."""
    if hasattr(estimator, "classes_"):
        codes = np.ascontiguousarray(estimator._codes[:, 0])
        names = _core.Values(class_names(estimator.classes_))
        column = _core.Column.nominal(free_name("class", taken), codes, names)
    elif hasattr(estimator, "_targets"):
        column = _core.Column.numeric(free_name("target", taken), estimator._targets, run=run)
    else:
        return None
    column.role = "label"
    return column


def _refuse_what_no_file_holds(estimator):
    if hasattr(estimator, "radius") and not hasattr(estimator, "n_neighbors"):
        raise UnsupportedError("a model file holds the k nearest neighbours, not those within a radius")
    if estimator._measure.name is None:
        raise UnsupportedError(f"a model file holds a measure of the engine; metric={estimator.metric!r} is none")
    if callable(getattr(estimator, "weights", None)):
        raise UnsupportedError("a model file holds no callable weights")
    if getattr(estimator, "outputs_2d_", False) or np.ndim(getattr(estimator, "_targets", 0)) == 2:
        raise UnsupportedError("a model file holds one label, and y has several columns")
    if getattr(estimator, "_sample_weight", None) is not None:
        raise UnsupportedError("a model file holds rows that count once each, not a sample_weight")


def model_of(estimator):
    """The ``_core.Model`` of a fitted estimator of neighbours.

    Raises
    ------
    UnsupportedError
        For a radius, a measure that is not the engine's, callable weights, several outputs, and sample weights.
    """
    _refuse_what_no_file_holds(estimator)
    measure = estimator._measure
    weights = getattr(estimator, "weights", None)
    with estimator._job() as run:
        columns = _features(estimator, run)
        taken = {column.name for column in columns}
        label = _label(estimator, taken, run)
        if label is not None:
            columns.append(label)
            taken.add(label.name)
        if weights is not None and not isinstance(weights, str):
            column = _core.Column.numeric(free_name("weight", taken), np.asarray(weights, np.float64), run=run)
            column.role = "weight"
            columns.append(column)
        return _core.Model.of_neighbors(
            _core.Table.of_columns(columns, estimator.n_samples_fit_), metric=measure.name,
            metric_params=measure.params, feature_weights=list(measure.weights), n_neighbors=estimator.n_neighbors,
            weights=weights if isinstance(weights, str) else "uniform", normalize="none", run=run,
        )
