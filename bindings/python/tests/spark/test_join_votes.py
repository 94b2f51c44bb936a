"""stope.spark.knn_join with a label: the predictions of one machine, bit for bit."""

import numpy as np
import pyarrow as pa
import pytest
from one_machine import predictions
from tables_of_tests import frame_of, mixed_table

pytest.importorskip("pyspark", reason="SKIP: pyspark is missing")
from stope.spark import knn_join  # noqa: E402

FEATURES = ["ties", "zeros", "with.dots", "name"]
ITEMS, QUERIES = mixed_table(200), mixed_table(40, seed=5)


def voted(spark, label, k, **arguments):
    frames = frame_of(spark, ITEMS, 3), frame_of(spark, QUERIES)
    found = knn_join(*frames, k, id="id", columns=FEATURES, label=label, rows_per_part=30, **arguments)
    return found.toArrow().sort_by("query_id")


def check_classes(found, expected):
    ids, winners, confidences, names = expected
    assert found["query_id"].to_pylist() == ids.tolist()
    assert found["prediction"].to_pylist() == winners
    assert found.column_names == ["query_id", "prediction", *(f"confidence({name})" for name in names)]
    for i, name in enumerate(names):
        ours = found[f"confidence({name})"].to_numpy()
        assert ours.tobytes() == np.ascontiguousarray(confidences[:, i]).tobytes()


@pytest.mark.parametrize("weights, k", [("uniform", 6), ("distance", 200)])
def test_names_vote_as_on_one_machine(spark, weights, k):
    check_classes(voted(spark, "class", k, weights=weights), predictions(
        ITEMS, QUERIES, k, FEATURES, "class", weights=weights
    ))


def test_numbers_vote_for_classes_where_that_is_said(spark):
    check_classes(voted(spark, "whole", 5, label_is_nominal=True), predictions(ITEMS, QUERIES, 5, FEATURES, "whole"))


def test_booleans_vote_for_classes(spark):
    items = ITEMS.append_column("vote", pa.array(ITEMS["target"].to_numpy() > 0))
    frames = frame_of(spark, items, 3), frame_of(spark, QUERIES)
    found = knn_join(*frames, 5, id="id", columns=FEATURES, label="vote", rows_per_part=30)
    words = items.set_column(items.num_columns - 1, "vote", pa.array(np.where(ITEMS["target"].to_numpy() > 0, "true", "false")))
    check_classes(found.toArrow().sort_by("query_id"), predictions(words, QUERIES, 5, FEATURES, "vote"))


def test_numbers_have_a_mean_of_the_same_bits(spark):
    found = voted(spark, "target", 7, weights="distance")
    expected = predictions(ITEMS, QUERIES, 7, FEATURES, "target", weights="distance", nominal=False)
    assert found["prediction"].to_numpy().tobytes() == expected[1].tobytes()


def test_a_list_that_weighs_nothing_predicts_nothing(spark):
    items = frame_of(spark, pa.table({"id": [1, 2], "x": [1.0, 2.0], "y": ["a", "b"]}))
    queries = frame_of(spark, pa.table({"id": [1], "x": [None]}, pa.schema([("id", pa.int64()), ("x", pa.float64())])))
    found = knn_join(items, queries, 2, id="id", label="y", weights="distance").first()
    assert found["prediction"] is None and np.isnan(found["confidence(a)"])
