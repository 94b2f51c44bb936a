"""Nearest neighbours whose training table is a DataFrame: larger than the memory of any executor."""

from numbers import Integral

from ..errors import InvalidArgumentError, UnsupportedError
from ._frame_columns import check_id, columns_of, require_pyspark
from ._resources import check_device

__all__ = ["knn_join"]


def knn_join(
    items, queries, k=5, *, id, query_id=None, columns=None, metric="mixed-euclidean", metric_params=None,
    feature_weights=None, normalize="none", label=None, label_is_nominal=False, weights="uniform",
    exclude_self=False, compat="none", parts=None, rows_per_part=None, rows_per_block=None, device="auto",
):
    """Find the k nearest items of every query, or what their labels vote for, where both are DataFrames of Spark.

    The items are searched in parts. Each part is small enough for one task, and knows the dictionaries and the ranges
    of all items. The result has the bits of one search among all items, sorted by their id.

    Parameters
    ----------
    items, queries : pyspark.sql.DataFrame
        Classic or of Spark Connect. Columns are matched by name. Columns of numbers, booleans and dates are numbers,
        and strings are names. Both DataFrames are read several times, and must have the same rows each time.
    k : int, default=5
        Neighbours of each query: at most as many as there are items.
    id : str
        The column of the items' ids: whole numbers, none missing, none twice. Of equal distances the smaller id comes
        first.
    query_id : str or None, default=None
        The same of the queries; None takes ``id``.
    columns : list of str or None, default=None
        The features; None takes all columns of ``items`` but the id and the label.
    metric, metric_params : str and dict or None
        A measure of the engine, and its parameters. "mahalanobis" is refused: it compares by the covariance of all
        items.
    feature_weights : list of float or None
        One for each feature.
    normalize : {"none", "range"}, default="none"
        "range" maps every feature's range among all items to [0, 1]. Means and quartiles depend on the order of all
        rows, or need a sorted column: normalise by them before the join.
    label : str or None, default=None
        A column of ``items``. The nearest items vote for a class where it holds names or booleans, and for a mean where
        it holds numbers.
    label_is_nominal : bool, default=False
        Whether the numbers of ``label`` are classes, too.
    weights : {"uniform", "distance"}, default="uniform"
        How neighbours vote.
    exclude_self : bool, default=False
        Whether an item is no neighbour of the query with its own id.
    compat : "none"
        "rapidminer" is refused: the order in which rows are met decides RapidMiner's lists.
    parts : int or None, default=None
        Into how many parts the items are shuffled. None searches them in the partitions that they have.
    rows_per_part : int or None, default=None
        Rows of one index, at most; None takes as many as have 64 MiB of values. A partition with more rows is searched
        in several parts, one after the other.
    rows_per_block : int or None, default=None
        None: queries of at most 16 MiB travel with every task, and more are shuffled in blocks of that size, which meet
        every part. A number: they are shuffled in blocks of about so many rows.
    device : str, default="auto"
        Where to search.

    Returns
    -------
    pyspark.sql.DataFrame
        Without ``label``: ``query_id``, ``pos`` (from 0), ``item_id``, ``distance``. With it: ``query_id``,
        ``prediction``, and for classes ``confidence(NAME)`` of every class. Rows come in no particular order.

    Raises
    ------
    InvalidArgumentError, InvalidDataError, UnsupportedError
        In the engine's words, before any part is searched, as far as schema, extremes and ids tell.
    """
    require_pyspark()
    check_device(device)
    _check_words(normalize, weights, compat)
    _check_numbers(k=k, parts=parts, rows_per_part=rows_per_part, rows_per_block=rows_per_block)
    from ._join_plan import Plan
    from ._join_survey import Measure, survey

    query_id = id if query_id is None else query_id
    check_id(items, id, "id")
    check_id(queries, query_id, "query_id")
    taken = [id] if label is None else [id, label]
    if label is not None:
        if label == id:
            raise InvalidArgumentError("label: the ids cannot be the label")
        label = columns_of(items, [label], "label")[0]
    features = columns_of(items, columns, without=taken)
    _check_queries(queries, query_id, features)
    measure = Measure.of(metric, metric_params, feature_weights, normalize, features)
    found = survey(items, id, features, measure, label, label_is_nominal)
    found.check_k(k, exclude_self)
    plan = Plan(found, k, weights, bool(exclude_self), parts, rows_per_part, device)
    return plan.frame(queries, query_id, rows_per_block)


def _check_words(normalize, weights, compat):
    if compat != "none":
        raise UnsupportedError(
            f"compat={compat!r}: the order in which rows are met decides such lists, so lists of parts do not merge"
        )
    if weights not in ("uniform", "distance"):
        raise InvalidArgumentError(f"weights: {weights!r} is neither 'uniform' nor 'distance'")
    if normalize in ("z", "proportion", "interquartile"):
        raise UnsupportedError(
            f"normalize={normalize!r} depends on the order of all rows, or needs them sorted; 'range' is exact in "
            "parts, and the columns can be normalised before the join"
        )
    if normalize not in ("none", "range"):
        raise InvalidArgumentError(f"normalize: {normalize!r} is neither 'none' nor 'range'")


def _check_numbers(**given):
    for name, number in given.items():
        if number is None and name != "k":
            continue
        if isinstance(number, bool) or not isinstance(number, Integral) or number < 1:
            raise InvalidArgumentError(f"{name}: {number!r} is no whole number from 1 on")


def _check_queries(queries, query_id, features):
    names = [column.name for column in features]
    found = columns_of(queries, names, "queries", without=() if query_id in names else (query_id,))
    for ours, theirs in zip(features, found):
        if ours.nominal != theirs.nominal:
            kind = "names" if ours.nominal else "numbers"
            raise InvalidArgumentError(
                f"queries: column {ours.name!r} has the type {theirs.type}; the items have {kind} there"
            )
