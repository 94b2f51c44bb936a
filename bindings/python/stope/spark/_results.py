"""What a model adds to a DataFrame: names and types of columns for the driver, Arrow columns for a worker's block."""

import numpy as np
import pyarrow as pa

from .. import _core
from .._run import job

__all__ = ["ARROW_TYPES", "result_columns", "results"]

LISTS = ("train_index", "distance")  # the columns of neighbours

# The result's types: their names in Spark's DDL, and in Arrow.
ARROW_TYPES = {
    "string": pa.string(),
    "double": pa.float64(),
    "array<double>": pa.list_(pa.float64()),
    "array<bigint>": pa.list_(pa.int64()),
}


def result_columns(model, gives, proba, prediction, probability):
    """The names of the columns that a model adds, in order, and their types in Spark's DDL: a list of pairs.

    Parameters
    ----------
    model : stope.Model
    gives : {"classes", "numbers", "neighbors", "table"}
    proba : bool
        Whether each class has a column of its confidences.
    prediction : str
        The name of the predictions' column.
    probability : str or None
        The name of one column that has the confidences of all classes as an array.
    """
    if gives == "neighbors":
        return list(zip(LISTS, ("array<bigint>", "array<double>")))
    if gives == "numbers":
        return [(prediction, "double")]
    if gives == "classes":
        columns = [(prediction, "string")]
        if proba:
            columns += [(f"confidence({name})", "double") for name in model.classes_]
        if probability is not None:
            columns.append((probability, "array<double>"))
        return columns
    return [(column.name, "string" if column.is_nominal else "double") for column in _made(model, _a_row(model))]


def results(work, model, table):
    """The result columns of a block of rows: a list of Arrow arrays, in the order of ``result_columns``.

    Parameters
    ----------
    work : Work
        What the driver asked for.
    model : stope.Model
    table : pyarrow.Table
        The features under the model's names.
    """
    with job() as run:
        rows = model._table(table, run)
        if work.gives == "neighbors":
            return _lists(model, rows, work.n_neighbors, run)
        if work.gives == "numbers":
            return [_numbers(model._predictor.regress(rows, run))]
        if work.gives == "classes":
            return _classes(model, rows, work, run)
    return [_texts(column) if column.is_nominal else _numbers(column.array()) for column in _made(model, rows)]


def _lists(model, rows, n_neighbors, run):
    """A list of indices and one of distances a row. NaN is a distance like others, so it is no null."""
    found = _core.model_neighbors(model._predictor, rows, n_neighbors, {}, run)
    row, index, distance = (found.column(found.find(name)).array() for name in ("row", *LISTS))
    offsets = np.searchsorted(row, np.arange(rows.n_rows + 1)).astype(np.int32)
    return [
        pa.ListArray.from_arrays(offsets, pa.array(index.astype(np.int64))),
        pa.ListArray.from_arrays(offsets, pa.array(distance.astype(np.float64))),
    ]


def _classes(model, rows, work, run):
    codes, confidences = model._predictor.classify(rows, run)
    names = pa.array([str(name) for name in model.classes_], pa.string())
    columns = [names.take(pa.array(codes, mask=codes < 0))]
    if work.proba:
        columns += [_numbers(np.ascontiguousarray(confidences[:, place])) for place in range(len(names))]
    if work.probability:
        offsets = np.arange(len(codes) + 1, dtype=np.int32) * np.int32(len(names))
        columns.append(pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(confidences).reshape(-1))))
    return columns


def _numbers(values):
    """NaN is missing, and so a null."""
    values = values.astype(np.float64, copy=False)
    return pa.array(values, mask=np.isnan(values))


def _texts(column):
    codes = column.array()
    return pa.array(column.values.names(), pa.string()).take(pa.array(codes, mask=codes < 0))


def _made(model, rows):
    """The columns that the model makes. Those that a normalisation leaves alone stay as Spark has them."""
    with job() as run:
        made = model._predictor.transform(rows, run)
    columns = [made.column(place) for place in range(made.n_columns)]
    columns = [column for column in columns if column.role == "regular"]
    fitted = model.parameters_
    if "columns" in fitted:  # a normalisation
        names = {one["name"] for one in fitted["columns"]}
        columns = [column for column in columns if column.name in names]
    return columns


def _a_row(model):
    """A row for the model: what it makes of it has the columns of every result. Cuts refuse a table without rows."""
    with job() as run:
        columns = [_cell(feature, run) for feature in model._features]
    return _core.Table.of_columns(columns, 1)


def _cell(feature, run):
    if not feature.is_nominal:
        return _core.Column.numeric(feature.name, np.zeros(1), run=run)
    code = np.full(1, min(len(feature.values), 1) - 1, dtype=np.int32)  # the first value; missing where there is none
    return _core.Column.nominal(feature.name, code, feature.values)
