"""stope.spark.best_cuts: the ranking of one machine, bit for bit."""

import numpy as np
import pyarrow as pa
import pytest
from stope import CutRanker
from stope.errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from tables_of_tests import frame_of, mixed_table, sorted_by_id

pytest.importorskip("pyspark", reason="SKIP: pyspark is missing")
from stope.spark import best_cuts  # noqa: E402


def alone(table, label, without=("id",), **options):
    """The ranking of one machine."""
    rows = sorted_by_id(table)
    ranker = CutRanker(**options).fit(rows.drop_columns([label, *without]), rows[label].to_pylist())
    for cut in ranker.ranking_:
        cut["family_p_value"] = None
    return list(ranker.ranking_)


@pytest.mark.parametrize("n_partitions, per_task, options", [
    pytest.param(7, 3, {"missing": "value"}, marks=pytest.mark.modes("local", "connect")),
    (1, 3, {"missing": "value", "criterion": "entropy"}),
    (2, 1, {"missing": "drop", "criterion": "gini"}),
    (7, 4, {"missing": "fill", "criterion": "gini", "n_permutations": 30, "random_state": 5}),
], ids=str)
def test_the_ranking_is_that_of_one_machine(spark, n_partitions, per_task, options):
    table = mixed_table(400)
    found = best_cuts(frame_of(spark, table, n_partitions), "class", id="id", columns_per_task=per_task, **options)
    assert list(found) == alone(table, "class", **options)


def test_batches_of_one_row_and_skewed_partitions_do_not_show(spark, batch_rows):
    table = mixed_table(150, seed=3)
    frame = frame_of(spark, table).repartition(17, "class")  # most of the partitions are empty
    batch_rows(1)
    found = best_cuts(frame, "class", ["ties", "zeros", "name"], missing="value")
    expected = alone(table, "class", ("id", "with.dots", "whole", "day", "moment", "truth", "target"), missing="value")
    assert list(found) == expected


def test_numbers_and_booleans_are_classes_in_ascending_order(spark):
    random = np.random.default_rng(4)
    table = pa.table({
        "id": np.arange(300), "x": random.normal(size=300), "z": random.normal(size=300),
        "level": random.choice([1, 2, 10], 300), "sign": pa.array(random.random(300) < 0.3),
    })
    for label, other in (("level", "sign"), ("sign", "level")):
        rows = table.drop_columns([other])
        found = best_cuts(frame_of(spark, rows, 3), label, id="id", criterion="entropy")
        ranker = CutRanker(criterion="entropy").fit(rows.select(["x", "z"]), rows[label].to_pylist())
        assert [(cut["name"], cut["score"], cut["cut"]) for cut in found] == [
            (cut["name"], cut["score"], cut["cut"]) for cut in ranker.ranking_
        ]


def test_what_is_not_exact_or_not_meant_is_refused_in_words(spark):
    frame = frame_of(spark, mixed_table(30))
    for arguments, error, words in (
        ({"missing": "fill"}, UnsupportedError, "a DataFrame has none; name a column `id`"),
        ({"n_permutations": 5, "missing": "value"}, UnsupportedError, "n_permutations: the order of the rows"),
        ({}, InvalidDataError, "rows have no value in the column 'with.dots'"),
        ({"criterion": "ginni"}, InvalidArgumentError, "none of discernibility"),
        ({"device": "gpu"}, InvalidArgumentError, "unknown device 'gpu'"),
        ({"columns_per_task": 0}, InvalidArgumentError, "no whole number from 1 on"),
        ({"columns": ["class"]}, InvalidArgumentError, "has another use"),
        ({"id": "class"}, InvalidArgumentError, "cannot be the label"),
    ):
        with pytest.raises(error, match=words):
            best_cuts(frame, "class", **arguments)
    twice = frame_of(spark, pa.table({"id": [1, 2, 1], "x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}))
    with pytest.raises(InvalidDataError, match="2 rows have the id 1"):
        best_cuts(twice, "y", id="id")
    with pytest.raises(InvalidDataError, match="no row remains"):
        best_cuts(spark.sql("select 1.0d as x, cast(null as double) as z, 'a' as y"), "y", missing="drop")
    with pytest.raises(InvalidDataError, match="1 rows have no value in the column 'y'"):
        best_cuts(spark.sql("select 1.0d as x, cast(null as string) as y"), "y")
