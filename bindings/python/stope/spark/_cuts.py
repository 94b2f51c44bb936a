"""The best cut of every column of a DataFrame. Columns are shared out among tasks, each of which has all rows."""

from numbers import Integral

from ..errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from ._frame_columns import check_id, columns_of, expression, quoted, require_pyspark
from ._frame_ids import refuse_ids_given_twice, refuse_missing_ids
from ._resources import check_device

__all__ = ["best_cuts"]

_GROUP_BYTES = 64 << 20  # of the values of the columns of one task, which holds about four times as much
_MISSING = ("error", "value", "drop", "fill")
_CRITERIA = ("discernibility", "gini", "entropy")


def best_cuts(
    df, label, columns=None, *, id=None, criterion="discernibility", missing="error", n_permutations=0,
    random_state=None, columns_per_task=None, device="auto",
):
    """Rank the columns of a DataFrame of Spark by their best cut.

    The result has the bits of :class:`stope.CutRanker` on one machine, whose rows are sorted by id where there is one.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Classic or of Spark Connect. It is read twice, and its ids once more.
    label : str
        The column of the classes: names, numbers or booleans, none missing.
    columns : list of str or None, default=None
        None takes all columns but the label and the id.
    id : str or None, default=None
        A column of whole numbers, none missing, none twice, that orders the rows. It is needed where their order has a
        meaning: for ``missing="fill"``, whose means are sums in row order, and for permutations.
    criterion, missing, n_permutations, random_state
        As :class:`stope.CutRanker` has them. ``family_p_value`` is always None: it counts the permutations in which
        some column scores as high, and no task has all columns.
    columns_per_task : int or None, default=None
        Columns that a task has at once; None takes as many as have 64 MiB of values.
    device : str, default="auto"
        Where to compute.

    Returns
    -------
    stope.discretize.Ranking
        As ``CutRanker.ranking_``: a dict for each column, the best first.
    """
    functions = require_pyspark()
    check_device(device)
    _check_options(criterion, missing, n_permutations, columns_per_task)
    from .._classes import seed_of
    from ._column_groups import CutTask, ranking

    target = columns_of(df, [label], "label")[0]
    if label == id:
        raise InvalidArgumentError("label: the ids cannot be the label")
    if id is not None:
        check_id(df, id, "id")
    elif missing == "fill" or n_permutations:
        raise UnsupportedError(
            ("n_permutations" if n_permutations else "missing='fill'")
            + ": the order of the rows has a meaning here, and a DataFrame has none; name a column `id` that orders them"
        )
    found = columns_of(df, columns, without=[label] if id is None else [label, id])
    n_rows = _checked_rows(df, found, target, id, missing)
    if missing == "drop":
        df = df.where(~_is_missing_somewhere(found))
    if columns_per_task is None:
        columns_per_task = max(_GROUP_BYTES // (8 * n_rows), 1)
    order = functions.lit(0) if id is None else functions.col(quoted(id))
    classes = expression(target) if target.nominal else functions.col(quoted(label))
    if target.fractional:
        classes = classes + functions.lit(0.0)  # -0 becomes 0: one class
    chosen = df.select(
        order.cast("bigint").alias("id"), classes.alias("label"),
        *[expression(column).alias(f"c{i}") for i, column in enumerate(found)],
    )
    seed = seed_of(random_state) if n_permutations else 0
    task = CutTask(
        tuple(column.name for column in found), int(columns_per_task), criterion, missing, int(n_permutations), seed,
        device,
    )
    return ranking(chosen, task)


def _check_options(criterion, missing, n_permutations, columns_per_task):
    for name, word, words in (("criterion", criterion, _CRITERIA), ("missing", missing, _MISSING)):
        if word not in words:
            raise InvalidArgumentError(f"{name}: {word!r} is none of {', '.join(words)}")
    for name, number, least in (("n_permutations", n_permutations, 0), ("columns_per_task", columns_per_task, 1)):
        if number is None and least == 1:
            continue
        if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
            raise InvalidArgumentError(f"{name}: {number!r} is no whole number from {least} on")


def _is_missing(column):
    functions = require_pyspark()
    value = functions.col(quoted(column.name))
    return value.isNull() | functions.isnan(value) if column.fractional else value.isNull()


def _is_missing_somewhere(columns):
    functions = require_pyspark()
    return functions.array_contains(functions.array(*map(_is_missing, columns)), True)


def _checked_rows(df, columns, label, id, missing):
    """The number of rows. Raises InvalidDataError for rows that no ranking takes."""
    functions = require_pyspark()
    aggregates = [functions.count("*").alias("rows"), functions.count_if(_is_missing(label)).alias("unlabelled")]
    if id is not None:
        aggregates.append(functions.count(quoted(id)).alias("ids"))
    if missing == "drop":
        aggregates.append(functions.count_if(~_is_missing_somewhere(columns)).alias("kept"))
    elif missing == "error":
        aggregates += [functions.count_if(_is_missing(each)).alias(f"missing{i}") for i, each in enumerate(columns)]
    row = df.agg(*aggregates).first()
    if row["rows"] == 0:
        raise InvalidDataError("the DataFrame has no rows")
    if missing == "drop" and row["kept"] == 0:
        raise InvalidDataError("no row remains: every one has a missing value")
    if row["unlabelled"]:
        raise InvalidDataError(f"label: {row['unlabelled']} rows have no value in the column {label.name!r}")
    for i, column in enumerate(columns if missing == "error" else []):
        if row[f"missing{i}"]:
            raise InvalidDataError(
                f"{row[f'missing{i}']} rows have no value in the column {column.name!r}; missing='value', 'drop' or "
                "'fill' says what they mean"
            )
    if id is not None:
        refuse_missing_ids(row["rows"] - row["ids"], "id", id)
        refuse_ids_given_twice(df.select(functions.col(quoted(id)).alias("id")), "id", id)
    return row["rows"]
