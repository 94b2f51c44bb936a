"""Tasks of a join that search: each part of the items is fitted once, and gives the k best of every query."""

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import _core
from ..errors import InvalidDataError
from ._join_lists import Lists, no_lists
from ._join_recipe import Recipe, table_of_bytes, task_run

__all__ = ["LabelCodes", "Search", "parts_of", "search_crossed_parts", "search_parts", "sorted_by_id"]


@dataclasses.dataclass(frozen=True)
class LabelCodes:
    """The codes of class labels.

    Attributes
    ----------
    values : bytes
        An Arrow table of one column: the different labels.
    codes : tuple of int
        The code of each of them.
    names : tuple of str
        The names of codes.
    """

    values: bytes
    codes: tuple
    names: tuple

    def of(self, labels):
        """The codes of a column of labels, as float64."""
        known = table_of_bytes(self.values).column(0).combine_chunks()
        places = pc.index_in(labels.cast(known.type), value_set=known)
        if places.null_count:
            raise InvalidDataError("the items have changed during the join: there is a label that was not there before")
        return np.asarray(self.codes, np.float64)[places.to_numpy()]


@dataclasses.dataclass(frozen=True)
class Search:
    """A search of queries in parts. The first column of both sides is the id, and the items' last may be the label."""

    recipe: Recipe
    labelled: bool
    classes: "LabelCodes | None"

    def lists(self, items, queries):
        """The lists of all queries (an Arrow table) among the items (an Arrow table), in the order of ids."""
        best = None
        if queries.num_rows == 0:
            return best
        run = task_run(self.recipe.device)
        whole = self.recipe.whole
        ids = queries.column(0).to_numpy()
        query_table = whole.queries(queries.drop_columns([queries.column_names[0]]), run)
        for part in items:
            found = self._lists_of_part(part, ids, query_table, run)
            best = found if best is None else best.joined(found)
            best = best.nearest(self.recipe.n_neighbors)
        return best

    def _lists_of_part(self, part, query_ids, queries, run):
        part = sorted_by_id(part)
        whole = self.recipe.whole
        ids = part.column(0).to_numpy()
        index = whole.fit(whole.items(part.select(range(1, 1 + len(whole.names))), run), run)
        # One more than k: the query itself may be among them.
        wanted = min(self.recipe.n_neighbors + self.recipe.exclude_self, part.num_rows)
        distances, rows = index.kneighbors(queries, wanted, run=run)
        rows = rows.ravel()
        labels = self._labels(part)
        found = Lists(
            np.repeat(query_ids, wanted), ids[rows], distances.ravel(), None if labels is None else labels[rows]
        )
        return found.without_self() if self.recipe.exclude_self else found

    def _labels(self, part):
        if not self.labelled:
            return None
        labels = part.column(part.num_columns - 1)
        if self.classes is not None:
            return self.classes.of(labels)
        run = task_run(self.recipe.device)
        table = _core.Table.of_arrow(pa.table([labels], names=["label"]).__arrow_c_stream__(), run=run)
        return table.column(0).array().astype(np.float64)


def sorted_by_id(part):
    """The rows in the order of their ids, in which the engine breaks ties."""
    ids = part.column(0).to_numpy()
    if (ids[1:] > ids[:-1]).all():
        return part
    order = np.argsort(ids, kind="stable")
    return part.combine_chunks().take(pa.array(order))


def parts_of(batches, rows_per_part):
    """Arrow tables of at most so many rows: the batches in their order."""
    held, n_rows = [], 0
    for batch in batches:
        while batch.num_rows:
            taken = batch.slice(0, rows_per_part - n_rows)
            batch = batch.slice(taken.num_rows)
            held.append(taken)
            n_rows += taken.num_rows
            if n_rows == rows_per_part:
                yield pa.Table.from_batches(held)
                held, n_rows = [], 0
    if held:
        yield pa.Table.from_batches(held)


def search_parts(search, queries, batches):
    """Task of mapInArrow over items: the k best of all queries, which came with the task."""
    lists = search.lists(parts_of(batches, search.recipe.rows_per_part), table_of_bytes(queries))
    if lists is not None:
        yield from lists.batches()


def search_crossed_parts(search, items, queries):
    """Task of a cogroup: one part of the items, and one block of the queries. Both end with the numbers of the two."""
    items, queries = (side.select(range(side.num_columns - 2)) for side in (items, queries))
    parts = parts_of(items.to_batches(), search.recipe.rows_per_part)
    lists = search.lists(parts, queries)
    if lists is None:
        lists = no_lists(search.labelled)
    return pa.Table.from_batches(lists.batches(), lists.schema())
