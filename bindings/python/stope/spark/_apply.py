"""Models of every kind applied to Spark's DataFrames."""

import functools
import operator
import os

from pyspark.sql.types import ArrayType, DoubleType, LongType, StringType, StructField, StructType

from .._config import _checked
from ..errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from ..io import Model, _model_of, load
from ._matching import features_in, refuse_repeated
from ._model_place import place_of
from ._resources import check_device
from ._results import result_columns
from ._worker import Work, apply_batches

__all__ = ["kneighbors", "transform"]

_NEVER_KEPT = ("YearMonthIntervalType", "CalendarIntervalType")  # Arrow has them, and PySpark refuses them
_TYPES = {
    "string": StringType(),
    "double": DoubleType(),
    "array<double>": ArrayType(DoubleType()),
    "array<bigint>": ArrayType(LongType()),
}


def transform(df, model, *, columns=None, keep=None, proba=False, prediction="prediction", probability=None,
              n_neighbors=None, weights=None, device="auto", threads=None, memory_limit=None, profile=None,
              shared_path=False):
    """Apply a model to every row of a DataFrame.

    The answers are those of the model on one machine, bit for bit, whatever the partitions and batches. Nothing is
    computed before an action needs the result.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of Spark Classic or of Spark Connect.
    model : estimator, stope.Model, str or path-like
        A fitted estimator, a model, or the path of a model file that the driver can read.
    columns : list of str or dict, default=None
        Which columns hold the features. None finds them by name. A list has a column for each feature, in the model's
        order. A dict gives the columns of the features that it names.
    keep : list of str, default=None
        The columns of ``df`` that the result has, too. None keeps all but those that the model makes anew.
    proba : bool, default=False
        Add ``confidence(CLASS)`` for each class, as doubles.
    prediction : str, default="prediction"
        The name of the predictions: strings of a classifier, doubles of a regressor.
    probability : str, default=None
        The name of one more column: the confidences of all classes, as an array in the order of the classes.
    n_neighbors, weights : int, {"uniform", "distance"}, default=None
        Replace those of a k-NN model.
    device : str, default="auto"
        "auto" takes the GPUs that Spark gave to the task, else the CPU. "cpu" and "cuda" insist; "cuda" takes the
        first GPU of the machine where Spark gave none.
    threads : int, default=None
        The threads of a task. None takes the cores that Spark gave to it.
    memory_limit : int, default=None
        Bytes that a task's job may hold. None takes half of the worker's ``spark.executor.pyspark.memory``, if set.
    profile : pyspark.resource.ResourceProfile, default=None
        The cores and GPUs of a task: see :func:`stope.spark.resources`.
    shared_path : bool, default=False
        ``model`` is a path under which the executors find the same file. Otherwise Spark carries the model there.

    Returns
    -------
    pyspark.sql.DataFrame
        The kept columns, then the model's. A missing result is null. A model of principal components adds its scores.
        A normalisation or a set of cuts replaces the columns that it changes.

    Raises
    ------
    InvalidDataError, UnsupportedError, InvalidArgumentError
        On the driver, before a job starts: a column is missing or of a wrong type, or the model cannot be applied to
        parts of a table.
    """
    model, path = _opened(model, shared_path)
    _require_rows_alone(model)
    if (proba or probability is not None) and model.gives != "classes":
        raise InvalidArgumentError(f"this model ({model.kind}) gives {model.gives}, and so no confidences")
    if n_neighbors is not None or weights is not None:
        n_neighbors, weights = _vote(model, n_neighbors, weights)
    if model.gives == "neighbors" and n_neighbors is None:
        n_neighbors = model.parameters_["n_neighbors"]
    _require_rows(model, n_neighbors)
    return _mapped(df, model, path, model.gives, columns=columns, keep=keep, proba=bool(proba), prediction=prediction,
                   probability=probability, n_neighbors=n_neighbors, weights=weights, device=device, threads=threads,
                   memory_limit=memory_limit, profile=profile)


def kneighbors(df, model, k=None, *, columns=None, keep=None, device="auto", threads=None, memory_limit=None,
               profile=None, shared_path=False):
    """Find the nearest training rows of every row of a DataFrame.

    Parameters
    ----------
    df, columns, keep, device, threads, memory_limit, profile, shared_path
        As of :func:`transform`.
    model : estimator, stope.Model, str or path-like
        A k-NN model of any kind: neighbours, a classifier or a regressor.
    k : int, default=None
        How many neighbours. None takes the model's number.

    Returns
    -------
    pyspark.sql.DataFrame
        The kept columns, then ``train_index`` (array<bigint>: rows of the training table, from 0) and ``distance``
        (array<double>), nearest first, equal distances in the order of rows.
    """
    model, path = _opened(model, shared_path)
    fitted = model.parameters_
    if "n_neighbors" not in fitted:
        raise InvalidArgumentError(f"this model ({model.kind}) is no k-NN model, so it has no neighbours")
    k = fitted["n_neighbors"] if k is None else _positive("k", k)
    _require_rows(model, k)
    return _mapped(df, model, path, "neighbors", columns=columns, keep=keep, n_neighbors=k, device=device,
                   threads=threads, memory_limit=memory_limit, profile=profile)


def _opened(model, shared_path):
    """The model, and the path that executors read it from."""
    if isinstance(model, (str, os.PathLike)):
        return load(model), (os.fspath(model) if shared_path else None)
    if shared_path:
        raise InvalidArgumentError("shared_path=True needs the path of a model file in place of the model")
    return (model if isinstance(model, Model) else Model(_model_of(model))), None


def _require_rows_alone(model):
    """A row's answer must not depend on the rows that come with it: Spark decides which these are."""
    if model.parameters_.get("missing") == "fill":
        raise UnsupportedError("these cuts fill missing values with means of the table that is coded, and on Spark "
                               "nobody has the whole table; fit them with another missing")


def _require_rows(model, k):
    """The engine refuses a k beyond the training rows. So it is refused here, and not by every task."""
    fitted = model.parameters_
    if "n_neighbors" not in fitted:
        return
    k, n_rows = k or fitted["n_neighbors"], fitted["train"].n_rows
    if k > n_rows:
        raise InvalidArgumentError(f"k = {k} is more than the {n_rows} training rows to choose from")


def _vote(model, n_neighbors, weights):
    fitted = model.parameters_
    if "n_neighbors" not in fitted:
        raise InvalidArgumentError(f"this model ({model.kind}) is no k-NN model: it has no n_neighbors or weights")
    n_neighbors = fitted["n_neighbors"] if n_neighbors is None else _positive("n_neighbors", n_neighbors)
    weights = fitted["weights"] if weights is None else weights
    if not isinstance(weights, str):
        raise InvalidArgumentError(f"weights is a str; got {weights!r}")
    model.with_vote(n_neighbors, weights)  # refuses what it does not know, here and not in a worker
    return n_neighbors, weights


def _positive(name, number):
    try:
        number = operator.index(number)
    except TypeError:
        raise InvalidArgumentError(f"{name} is a whole number; got {number!r}") from None
    if not 1 <= number < 2**63:
        raise InvalidArgumentError(f"{name} is at least 1; got {number}")
    return number


def _mapped(df, model, path, gives, *, columns, keep, n_neighbors, device, threads, memory_limit, profile, proba=False,
            prediction="prediction", probability=None, weights=None):
    """The DataFrame whose tasks apply the model."""
    _checked({"threads": threads, "memory_limit": memory_limit})
    check_device(device)
    refuse_repeated(df)
    features = features_in(df, model, columns)
    added = result_columns(model, gives, proba, prediction, probability)
    kept = _kept(df, keep, [name for name, _ in added], replaces=gives == "table")
    needed = list(dict.fromkeys([*kept, *(feature.column for feature in features)]))
    order = _order(df, kept, added, keep)
    types = {field.name: field for field in df.schema.fields if field.name in kept}
    types.update({name: StructField(name, _TYPES[type_]) for name, type_ in added})
    work = Work(
        place=place_of(df.sparkSession, model._model, path), gives=gives, read=tuple(needed), features=tuple(features),
        kept=tuple(kept), added=tuple(added), order=tuple(order), proba=proba, probability=probability is not None,
        n_neighbors=n_neighbors, weights=weights, device=device, threads=threads, memory_limit=memory_limit,
    )
    schema = StructType([types[name] for name in order])
    more = {} if profile is None else {"profile": profile}
    return _only(df, needed).mapInArrow(functools.partial(apply_batches, work), schema, **more)


def _only(df, names):
    """The columns of these names under plain ones: Spark would take dots and backticks in names for its own."""
    plain = {name: f"column{place}" for place, name in enumerate(df.columns)}
    return df.toDF(*plain.values()).select(*[plain[name] for name in names])


def _kept(df, keep, added, replaces):
    """The names of the columns that leave as they came."""
    repeated = sorted({name for name in added if added.count(name) > 1})
    if repeated:
        raise InvalidArgumentError(f"two columns of the result would have the name {repeated[0]!r}")
    if keep is None:
        keep = [name for name in df.columns if not (replaces and name in added)]
    elif isinstance(keep, str):
        raise InvalidArgumentError("keep is a list of names; got a str")
    keep = list(dict.fromkeys(keep))
    types = {field.name: field.dataType for field in df.schema.fields}
    for name in keep:
        if name not in types:
            raise InvalidDataError(f"keep: the DataFrame has no column {name!r}")
        if type(types[name]).__name__ in _NEVER_KEPT:
            raise UnsupportedError(f"keep: Spark hands no {types[name].simpleString()} to Python; leave the column "
                                   f"{name!r} out of keep")
    # Spark resolves names without regard to case, so that names that differ in case alone cannot be told apart.
    lower = {name.lower(): name for name in keep}
    for name in added:
        if name.lower() in lower:
            raise InvalidArgumentError(f"the model makes a column {name!r}, and the DataFrame has "
                                       f"{lower[name.lower()]!r}: leave it out of keep, or choose another name")
    return keep


def _order(df, kept, added, keep):
    """A column that the model makes anew keeps its place; the others follow the kept ones."""
    names = [name for name, _ in added]
    if keep is not None:
        return [*kept, *names]
    places = [name for name in df.columns if name in set(kept) | set(names)]
    return [*places, *(name for name in names if name not in places)]
