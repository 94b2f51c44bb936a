"""Tasks of a join that merge: the lists of parts become those of the whole, and vote."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from .. import _core
from ._join_lists import Lists
from ._join_recipe import task_run

__all__ = ["NEIGHBORS", "Votes", "merge_lists", "predictions_schema", "vote_with_lists"]

NEIGHBORS = "query_id bigint, pos int, item_id bigint, distance double"


@dataclass(frozen=True)
class Votes:
    """How lists vote: ``weights`` is the engine's word, ``classes`` the names of label codes, or None for means."""

    n_neighbors: int
    weights: str
    classes: "tuple | None"


def predictions_schema(classes):
    """The columns of predictions, as pairs of name and Spark's type; those of the engine's tables of predictions."""
    if classes is None:
        return [("query_id", "bigint"), ("prediction", "double")]
    confidences = [(f"confidence({name})", "double") for name in classes]
    return [("query_id", "bigint"), ("prediction", "string"), *confidences]


def merge_lists(n_neighbors, table):
    """Task of applyInArrow: all lists of some queries become one row an entry."""
    lists = Lists.of_arrow(table).nearest(n_neighbors)
    return pa.table({
        "query_id": lists.queries,
        "pos": lists.positions().astype(np.int32),
        "item_id": lists.items,
        "distance": lists.distances,
    })


def vote_with_lists(votes, table):
    """Task of applyInArrow: all lists of some queries become one row of predictions a query."""
    lists = Lists.of_arrow(table).nearest(votes.n_neighbors)
    starts = lists.starts()
    native = np.append(starts, len(lists)), np.arange(len(lists)), lists.distances
    columns = [pa.array(lists.queries[starts])]
    run = task_run("cpu")
    if votes.classes is None:
        means = _core.vote_means(native, lists.labels, votes.weights, run=run)
        columns.append(pa.array(means))
    else:
        values = _core.Values(list(votes.classes))
        codes, confidences = _core.vote_classes(
            native, values, lists.labels.astype(np.int32), votes.weights, run=run
        )
        names = pa.array(list(votes.classes), pa.string())
        columns.append(names.take(pa.array(codes, mask=codes < 0)))
        columns.extend(pa.array(np.ascontiguousarray(confidences[:, i])) for i in range(len(votes.classes)))
    return pa.Table.from_arrays(columns, names=[name for name, _ in predictions_schema(votes.classes)])
