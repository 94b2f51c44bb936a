"""stope.spark.knn_join: the neighbours of one machine, bit for bit, however rows are spread."""

import numpy as np
import pyarrow as pa
import pytest
from one_machine import joined_rows, neighbors, same_bits
from tables_of_tests import frame_of, mixed_table

pytest.importorskip("pyspark", reason="SKIP: pyspark is missing")
from stope.spark import knn_join  # noqa: E402

FEATURES = ["ties", "zeros", "with.dots", "whole", "day", "moment", "name", "truth"]
NUMBERS = ["ties", "zeros", "with.dots", "whole"]


def repeated_rows():
    """Items of which every fourth row stands there once more with another id."""
    table = mixed_table(200)
    again = table.slice(0, 50)
    return pa.concat_tables([table, again.set_column(0, "id", pa.array(np.arange(50) * 3 + 100_001))])


ITEMS = repeated_rows()
QUERIES = mixed_table(30, seed=9, names=("red", "violet", "Ä"))  # no item is violet


def test_partitions_batches_and_parts_do_not_show(spark, batch_rows):
    expected = neighbors(ITEMS, QUERIES, 6, FEATURES)
    for n_partitions, batch, how in (
        (1, 10_000, {}), (2, 1, {"rows_per_part": 41}), (7, 100, {"parts": 1}), (17, 100, {"rows_per_part": 1}),
        (3, 100, {"parts": 5, "rows_per_block": 8}), (1, 1, {"rows_per_block": 100, "rows_per_part": 3}),
    ):
        batch_rows(batch)
        frames = frame_of(spark, ITEMS, n_partitions), frame_of(spark, QUERIES, 2)
        found = joined_rows(knn_join(*frames, 6, id="id", columns=FEATURES, **how))
        assert same_bits(found, expected), (n_partitions, batch, how)


def test_skewed_and_empty_partitions_do_not_show(spark):
    skewed = frame_of(spark, ITEMS).repartition(17, "truth")
    found = joined_rows(knn_join(skewed, frame_of(spark, QUERIES, 7), 4, id="id", columns=FEATURES, rows_per_part=30))
    assert same_bits(found, neighbors(ITEMS, QUERIES, 4, FEATURES))


@pytest.mark.parametrize("features, arguments", [
    (FEATURES, {"metric": "gower"}),
    (FEATURES, {"metric": "heom", "normalize": "range", "feature_weights": [1, 2, 0.5, 0, 1, 0.1, 3, 1]}),
    (NUMBERS, {"metric": "minkowski", "metric_params": {"p": 3}, "normalize": "range"}),
    (["name", "class"], {"metric": "nominal-jaccard"}),
    (NUMBERS, {"metric": "correlation"}),  # NaN wherever a value is missing: half of the lists
], ids=lambda value: value.get("metric") if isinstance(value, dict) else "")
def test_measures_compare_by_the_whole_of_the_items(spark, features, arguments):
    frames = frame_of(spark, ITEMS, 3), frame_of(spark, QUERIES)
    found = joined_rows(knn_join(*frames, 9, id="id", columns=features, rows_per_part=40, **arguments))
    expected = neighbors(
        ITEMS, QUERIES, 9, features, metric=arguments["metric"], normalize=arguments.get("normalize", "none"),
        params={name: str(value) for name, value in arguments.get("metric_params", {}).items()},
        weights=arguments.get("feature_weights", ()),
    )
    assert same_bits(found, expected)


def test_an_item_is_not_its_own_neighbour_where_that_is_asked(spark):
    expected = neighbors(ITEMS, ITEMS, 5, FEATURES, exclude_self=True)
    frame = frame_of(spark, ITEMS, 2)
    for how in ({"rows_per_part": 60}, {"rows_per_block": 90, "parts": 2}):
        found = knn_join(frame, frame, 5, id="id", columns=FEATURES, exclude_self=True, **how)
        assert same_bits(joined_rows(found), expected), how


def test_ties_go_to_the_smallest_id_wherever_it_stands(spark):
    ids = [2**62, -(2**62), 7, -7, 0, 2**53 + 1]
    items = pa.table({"id": ids, "x": [0.0, -0.0, 0.0, -0.0, 0.0, 5.0]})
    queries = pa.table({"number": pa.array([3], pa.int16()), "x": pa.array([0], pa.int8())})
    frames = frame_of(spark, items, 4), frame_of(spark, queries)
    found = joined_rows(knn_join(*frames, 6, id="id", query_id="number", rows_per_part=1))
    assert found[2].tolist() == [-(2**62), -7, 0, 7, 2**62, 2**53 + 1] and found[0].tolist() == [3] * 6


def test_rows_without_any_value_come_last_by_id(spark):
    items = pa.table({"id": [3, 1, 2, 4], "x": [None, None, 5.0, float("nan")]})
    queries = pa.table({"id": [1, 2], "x": [4.0, None]})
    found = joined_rows(knn_join(frame_of(spark, items, 2), frame_of(spark, queries), 4, id="id"))
    assert found[2].tolist() == [2, 1, 3, 4, 1, 2, 3, 4]
    assert found[3][0] == 1.0 and np.isnan(found[3][1:]).all()


def test_queries_of_long_text_do_not_travel_with_every_task(spark, monkeypatch):
    from stope.spark import _join_plan

    monkeypatch.setattr(_join_plan, "_BLOCK_BYTES", 1000)
    monkeypatch.setattr(_join_plan.Plan, "_shipped", None)
    items, queries = spark.sql("select 1L as id, 'a' as x"), spark.sql("select 7L as id, repeat('x', 1000) as x")
    found = knn_join(items, queries, 1, id="id", metric="hamming")
    assert joined_rows(found)[0].tolist() == [7]


def test_no_queries_give_no_rows(spark):
    frame = frame_of(spark, ITEMS)
    assert knn_join(frame, frame_of(spark, QUERIES).where("false"), 2, id="id", columns=FEATURES).count() == 0
    crossed = knn_join(
        frame, frame_of(spark, QUERIES).where("false"), 2, id="id", columns=FEATURES, rows_per_block=5
    )
    assert crossed.count() == 0


@pytest.mark.modes("connect")
def test_connect_gives_the_same_lists(spark):
    frames = frame_of(spark, ITEMS, 5), frame_of(spark, QUERIES, 2)
    expected = neighbors(ITEMS, QUERIES, 6, FEATURES)
    for how in ({"rows_per_part": 41}, {"parts": 3, "rows_per_block": 8}):
        found = knn_join(*frames, 6, id="id", columns=FEATURES, **how)
        assert same_bits(joined_rows(found), expected), how
