"""What a join needs to know of all items before it searches parts: one aggregation, and one look for ids given twice."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .. import _core
from .._neighbors_metrics import _infos, _text
from ..errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from ._frame_columns import Extremes, expression, quoted, require_pyspark
from ._frame_ids import refuse_ids_given_twice, refuse_missing_ids
from ._join_parts import LabelCodes
from ._join_recipe import Recipe, Whole, bytes_of_table

__all__ = ["Measure", "Survey", "survey"]

_MOST_CLASSES = 10_000  # Spark plans columns one by one


@dataclass(frozen=True)
class Measure:
    """A measure of the engine, and what is done to features before it."""

    metric: str
    params: dict
    feature_weights: list
    normalize: str

    @classmethod
    def of(cls, metric, params, feature_weights, normalize, features):
        """The measure that the arguments of a join mean. Raises UnsupportedError for one that is not exact in parts."""
        if not isinstance(metric, str):
            raise InvalidArgumentError(f"metric: the name of a measure is a str; got {metric!r}")
        if _infos().get(metric, {}).get("name") == "mahalanobis":
            raise UnsupportedError(
                f"metric={metric!r} compares by the covariance of all items, which no part of them knows"
            )
        params = {} if params is None else params
        if not isinstance(params, dict) or not all(isinstance(name, str) for name in params):
            raise InvalidArgumentError(f"metric_params: a dict of parameters by name is wanted; got {params!r}")
        try:
            weights = [] if feature_weights is None else [float(weight) for weight in feature_weights]
        except (TypeError, ValueError):
            raise InvalidArgumentError(f"feature_weights: a list of numbers is wanted; got {feature_weights!r}") from None
        if feature_weights is not None and len(weights) != len(features):
            raise InvalidArgumentError(
                f"feature_weights: there are {len(weights)} weights for {len(features)} features"
            )
        return cls(metric, {name: _text(value) for name, value in params.items()}, weights, normalize)


@dataclass(frozen=True)
class Survey:
    """What is known of the items.

    Attributes
    ----------
    items : pyspark.sql.DataFrame
        The columns id, c0, c1, ..., and label where there is one.
    features : list of FrameColumn
    measure : Measure
    n_items : int
    outline : bytes
        As :class:`Recipe` has it.
    labelled : bool
    classes : LabelCodes or None
    """

    items: object
    features: list
    measure: Measure
    n_items: int
    outline: bytes
    labelled: bool
    classes: "LabelCodes | None"

    def check_k(self, k, exclude_self):
        most = self.n_items - bool(exclude_self)
        if k > most:
            raise InvalidArgumentError(
                f"k: {k} is out of range: there are {self.n_items} items" + (", one of them itself" * bool(exclude_self))
            )

    def recipe(self, k, exclude_self, rows_per_part, device):
        measure = self.measure
        return Recipe(
            self.outline, measure.metric, measure.params, measure.feature_weights, measure.normalize, int(k),
            exclude_self, int(rows_per_part), device,
        )


def survey(items, id, features, measure, label, label_is_nominal):
    """Read all items once, and their ids once more. Raises the errors that :func:`stope.spark.knn_join` names."""
    functions = require_pyspark()
    votes = label is not None and (label.nominal or label.type == "boolean" or label_is_nominal)
    chosen = [functions.col(quoted(id)).cast("bigint").alias("id")]
    chosen += [expression(column).alias(f"c{i}") for i, column in enumerate(features)]
    chosen += [] if label is None else [_label_expression(label, votes).alias("label")]
    extremes = Extremes(features)
    aggregates = [functions.count("*").alias("rows"), functions.count(quoted(id)).alias("ids"), *extremes.aggregates()]
    for i, column in enumerate(features):
        if column.nominal:
            aggregates.append(functions.collect_set(expression(column)).alias(f"names{i}"))
    if label is not None:
        aggregates += _label_aggregates(label, votes)
    row = items.agg(*aggregates).toArrow()
    n_items = row["rows"][0].as_py()
    if n_items == 0:
        raise InvalidDataError("items: there is no row to search among")
    refuse_missing_ids(n_items - row["ids"][0].as_py(), "id", id)
    outline = _outline(features, extremes.arrays(row), row)
    _try_measure(outline, measure)
    classes = None
    if label is not None:
        _refuse_missing_labels(row["missing"][0].as_py(), label)
        classes = _label_codes(row["labels"][0].values) if votes else None
    items = items.select(*chosen)
    refuse_ids_given_twice(items, "id", id)
    return Survey(items, features, measure, n_items, bytes_of_table(outline), label is not None, classes)


def _outline(features, extremes, row):
    """Two rows of extremes, with the dictionaries of names."""
    columns = []
    for i, column in enumerate(features):
        if column.nominal:
            names = _names(row[f"names{i}"][0], column)
            codes = pa.array([0, len(names) - 1] if names else [None, None], pa.int32())
            columns.append(pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string())))
        else:
            columns.append(extremes[column.name])
    return pa.table(columns, names=[column.name for column in features])


def _names(found, column):
    try:
        return sorted(found.as_py())  # by code points, which is the engine's order of bytes
    except UnicodeDecodeError:
        raise InvalidDataError(f"column {column.name!r} has text that is not UTF-8") from None


def _try_measure(outline, measure):
    """Fit the measure to the extremes alone, so that what it refuses is refused before any task starts."""
    recipe = Recipe(
        bytes_of_table(outline), measure.metric, measure.params, measure.feature_weights, measure.normalize, 1, False,
        1, "cpu",
    )
    whole = Whole(recipe)
    whole.fit(whole.extremes, _core.Run())


def _label_expression(label, votes):
    functions = require_pyspark()
    found = expression(label) if label.nominal else functions.col(quoted(label.name))
    return found + functions.lit(0.0) if votes and label.fractional else found  # -0 becomes 0: one class


def _label_aggregates(label, votes):
    functions = require_pyspark()
    value = _label_expression(label, votes)
    missing = value.isNull() | functions.isnan(value) if label.fractional else value.isNull()
    found = [functions.count_if(missing).alias("missing")]
    return found + [functions.collect_set(value).alias("labels")] * votes


def _refuse_missing_labels(n_missing, label):
    if n_missing:
        raise InvalidDataError(f"label: {n_missing} rows have no value in the column {label.name!r}")


def _label_codes(values):
    """The codes that the engine gives labels: it orders the classes."""
    table = pa.table([values], names=["label"])
    native = _core.Table.of_arrow(
        table.__arrow_c_stream__(), target="label", target_is_nominal=True, run=_core.Run()
    ).column(0)
    if len(native.values) > _MOST_CLASSES:
        raise UnsupportedError(
            f"label: there are {len(native.values)} classes, and each would be a column; {_MOST_CLASSES} is the most"
        )
    return LabelCodes(bytes_of_table(table), tuple(np.asarray(native.array()).tolist()), tuple(native.values.names()))
