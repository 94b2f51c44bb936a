"""What a join on Spark must give, computed by the engine in one process on the items sorted by id."""

import numpy as np
from stope import _core
from tables_of_tests import sorted_by_id


def _native(table, label=None, nominal_label=False):
    run = _core.Run()
    target = {"target": label, "target_is_nominal": nominal_label} if label else {}
    return _core.Table.of_arrow(table.__arrow_c_stream__(), run=run, **target), run


def neighbors(items, queries, k, features, *, metric="mixed-euclidean", params=None, weights=(), normalize="none",
              exclude_self=False):
    """The rows (query id, position, item id, distance) in order; distances are float64, for their bits."""
    items, queries = sorted_by_id(items), sorted_by_id(queries)
    train, run = _native(items.select(features))
    test, _ = _native(queries.select(features))
    if normalize != "none":
        normalizer = _core.Normalizer.fit(train, normalize, run=run)
        train, test = normalizer.apply(train, run=run), normalizer.apply(test, run=run)
    index = _core.KnnIndex.fit(train, metric, params or {}, list(weights), run=run)
    if exclude_self:
        distances, rows = index.kneighbors(None, k, exclude_self=True, run=run)
    else:
        distances, rows = index.kneighbors(test, k, run=run)
    ids = items["id"].to_numpy()[rows]
    query_ids = np.repeat(queries["id"].to_numpy(), k)
    return query_ids, np.tile(np.arange(k), len(queries)), ids.ravel(), distances.ravel()


def predictions(items, queries, k, features, label, *, weights="uniform", nominal=True, metric="mixed-euclidean"):
    """(query ids, predictions, confidences or None, names of classes or None)."""
    items, queries = sorted_by_id(items), sorted_by_id(queries)
    train, run = _native(items.select([*features, label]), label, nominal)
    test, _ = _native(queries.select(features))
    index = _core.KnnIndex.fit(train, metric, {}, [], run=run)
    column = train.column(len(features))
    ids = queries["id"].to_numpy()
    if not nominal:
        return ids, _core.KnnRegressor.fit(index, column).predict(test, k, weights, run=run), None, None
    codes, confidences = _core.KnnClassifier.fit(index, column).predict(test, k, weights, run=run)
    names = column.values.names()
    return ids, [names[code] if code >= 0 else None for code in codes], confidences, names


def joined_rows(frame):
    """The rows of a join's lists, in the same order and form as those of :func:`neighbors`."""
    table = frame.toArrow().sort_by([("query_id", "ascending"), ("pos", "ascending")])
    return tuple(table[name].to_numpy() for name in ("query_id", "pos", "item_id", "distance"))


def same_bits(found, expected):
    """Whether two lists of arrays agree in every bit."""
    return all(
        len(a) == len(b) and np.asarray(a, dtype=np.asarray(b).dtype).tobytes() == np.asarray(b).tobytes()
        for a, b in zip(found, expected)
    )
