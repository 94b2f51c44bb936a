"""A join as operations on DataFrames: search parts, gather the lists of each query, merge them, vote."""

import math

from .. import _core
from ..errors import InvalidDataError
from ._frame_columns import expression, quoted, require_pyspark
from ._frame_ids import refuse_ids_given_twice, refuse_missing_ids
from ._join_lists import lists_schema
from ._join_merge import NEIGHBORS, Votes, merge_lists, predictions_schema, vote_with_lists
from ._join_parts import Search, search_crossed_parts, search_parts
from ._join_recipe import Whole, bytes_of_table

__all__ = ["Plan"]

_PART_BYTES = 64 << 20  # of the values of one index; a task holds about four times as much
_BLOCK_BYTES = 16 << 20  # of queries that travel with every task, or of a block of them
_MERGED_ENTRIES = 1 << 14  # of one merging task, times the number of lists that a query has


class Plan:
    """How a surveyed join runs."""

    def __init__(self, survey, k, weights, exclude_self, parts, rows_per_part, device):
        self.survey, self.parts = survey, parts
        if rows_per_part is None:
            rows_per_part = max(_PART_BYTES // (8 * len(survey.features)), 1024)
            if parts is not None:
                rows_per_part = min(rows_per_part, math.ceil(survey.n_items / parts))
        self.rows_per_part = int(rows_per_part)
        self.recipe = survey.recipe(k, exclude_self, self.rows_per_part, device)
        self.search = Search(self.recipe, survey.labelled, survey.classes)
        classes = None if survey.classes is None else survey.classes.names
        self.votes = Votes(int(k), weights, classes)

    def frame(self, queries, query_id, rows_per_block):
        """The DataFrame of the join's result."""
        functions = require_pyspark()
        features = self.survey.features
        row = queries.agg(
            functions.count("*").alias("rows"), functions.count(quoted(query_id)).alias("ids"),
            *[functions.sum(functions.octet_length(quoted(column.name))) for column in features if column.nominal],
        ).first()
        refuse_missing_ids(row["rows"] - row["ids"], "query_id", query_id)
        n_bytes = 8 * (1 + len(features)) * row["rows"] + sum(size or 0 for size in row[2:])
        chosen = [functions.col(quoted(query_id)).cast("bigint").alias("id")]
        chosen += [expression(self._of(queries, column)).alias(f"c{i}") for i, column in enumerate(features)]
        chosen = queries.select(*chosen)
        if rows_per_block is None and n_bytes <= _BLOCK_BYTES:
            lists = self._shipped(chosen.toArrow(), query_id)
        else:
            refuse_ids_given_twice(chosen, "query_id", query_id)
            n_blocks = math.ceil(row["rows"] / rows_per_block if rows_per_block else n_bytes / _BLOCK_BYTES)
            lists = self._crossed(chosen, max(n_blocks, 1))
        return self._merged(lists, row["rows"])

    @staticmethod
    def _of(queries, column):
        """The column of that name in the queries, with their type."""
        return type(column)(column.name, queries.schema[column.name].dataType.simpleString())

    def _shipped(self, queries, query_id):
        """Lists of queries that travel with every task to the partitions of the items."""
        import pyarrow.compute as pc

        ids = queries.column(0)
        if pc.count_distinct(ids).as_py() < len(ids):
            twice = pc.value_counts(ids).to_pylist()
            first = next(one for one in twice if one["counts"] > 1)
            raise InvalidDataError(
                f"query_id: {first['counts']} rows have the id {first['values']} in the column {query_id!r}"
            )
        whole = Whole(self.recipe)  # what the engine refuses in the queries, it refuses here
        whole.queries(queries.drop_columns([queries.column_names[0]]), _core.Run())
        search, data = self.search, bytes_of_table(queries)

        def search_partition(batches):
            yield from search_parts(search, data, batches)

        items = self.survey.items
        if self.parts is not None:
            items = items.repartition(self.parts, "id")
        return items.mapInArrow(search_partition, lists_schema(self.survey.labelled))

    def _crossed(self, queries, n_blocks):
        """Lists of queries in blocks, each of which meets every part of the items."""
        functions = require_pyspark()
        n_parts = self.parts or math.ceil(self.survey.n_items / self.rows_per_part)
        items = _numbered(self.survey.items, "part", n_parts).withColumn("block", _all(functions, n_blocks))
        queries = _numbered(queries, "block", n_blocks).withColumn("part", _all(functions, n_parts))
        items = items.select(*self.survey.items.columns, "part", "block")
        queries = queries.select("id", *[f"c{i}" for i in range(len(self.survey.features))], "part", "block")
        search, labelled = self.search, self.survey.labelled

        def search_pair(items, queries):
            return search_crossed_parts(search, items, queries)

        pairs = items.groupBy("part", "block").cogroup(queries.groupBy("part", "block"))
        return pairs.applyInArrow(search_pair, lists_schema(labelled))

    def _merged(self, lists, n_queries):
        votes, labelled = self.votes, self.survey.labelled
        n_groups = max(math.ceil(n_queries * votes.n_neighbors / _MERGED_ENTRIES), 1)

        def merge(table):
            table = table.drop_columns(["merge_group"])
            return vote_with_lists(votes, table) if labelled else merge_lists(votes.n_neighbors, table)

        schema = NEIGHBORS
        if labelled:
            schema = ", ".join(f"{quoted(name)} {kind}" for name, kind in predictions_schema(votes.classes))
        grouped = _numbered(lists, "merge_group", n_groups, "query").groupBy("merge_group")
        return grouped.applyInArrow(merge, schema)


def _numbered(rows, name, n, by="id"):
    """The rows with a number from 0 to n - 1, which a hash of the id spreads evenly."""
    functions = require_pyspark()
    return rows.withColumn(name, functions.pmod(functions.xxhash64(by), functions.lit(n)).cast("int"))


def _all(functions, n):
    """Every number from 0 to n - 1, each in a copy of the row."""
    return functions.explode(functions.sequence(functions.lit(0), functions.lit(n - 1)))
