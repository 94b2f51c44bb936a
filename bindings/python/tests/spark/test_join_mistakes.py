"""What stope.spark.knn_join refuses, and in which words."""

import pyarrow as pa
import pytest
from stope.errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from tables_of_tests import frame_of, mixed_table

pytest.importorskip("pyspark", reason="SKIP: pyspark is missing")
from stope.spark import knn_join  # noqa: E402
from stope.spark._join_recipe import Recipe, Whole, bytes_of_table  # noqa: E402

NUMBERS = ["ties", "zeros", "with.dots", "whole"]


@pytest.mark.parametrize("arguments, error, words", [
    ({"compat": "rapidminer"}, UnsupportedError, "lists of parts do not merge"),
    ({"metric": "mahalanobis"}, UnsupportedError, "covariance of all items"),
    ({"metric": "MahalanobisDistance"}, UnsupportedError, "covariance of all items"),
    ({"metric": "euclidian"}, InvalidArgumentError, "did you mean 'euclidean'"),
    ({"metric": "minkowski", "metric_params": {"p": -1}}, InvalidArgumentError, "p"),
    ({"metric": "kl"}, None, None),
    ({"metric": "itakura-saito"}, ValueError, "itakura-saito"),
    ({"metric": "gower", "columns": ["ties", "id"]}, InvalidArgumentError, "another use"),
    ({"normalize": "z"}, UnsupportedError, "depends on the order of all rows"),
    ({"normalize": "rnage"}, InvalidArgumentError, "neither 'none' nor 'range'"),
    ({"weights": "inverse"}, InvalidArgumentError, "neither 'uniform' nor 'distance'"),
    ({"k": 0}, InvalidArgumentError, "k: 0 is no whole number from 1 on"),
    ({"k": 41}, InvalidArgumentError, "there are 40 items"),
    ({"k": 40, "exclude_self": True}, InvalidArgumentError, "one of them itself"),
    ({"k": True}, InvalidArgumentError, "k: True"),
    ({"device": "gpu"}, InvalidArgumentError, "unknown device 'gpu'"),
    ({"parts": 2.5}, InvalidArgumentError, "parts: 2.5"),
    ({"id": "name"}, InvalidArgumentError, "ids are whole numbers"),
    ({"columns": ["ties", "tise"]}, InvalidArgumentError, "did you mean 'ties'"),
    ({"columns": "ties"}, InvalidArgumentError, "a list of names is wanted"),
    ({"label": "id"}, InvalidArgumentError, "cannot be the label"),
    ({"label": "with.dots"}, InvalidDataError, "rows have no value in the column 'with.dots'"),
    ({"feature_weights": [1.0]}, InvalidArgumentError, "1 weights for 4 features"),
    ({"feature_weights": ["much", 1, 1, 1]}, InvalidArgumentError, "a list of numbers is wanted"),
    ({"feature_weights": [1, 1, -1, 1]}, InvalidArgumentError, "weight"),
], ids=str)
def test_arguments_are_refused_before_any_part_is_searched(spark, arguments, error, words):
    frame = spark_frame(spark)
    columns = [name for name in NUMBERS if name != arguments.get("label")]
    arguments = {"id": "id", "columns": columns, "k": 3, **arguments}
    if error is None:
        knn_join(frame, frame, **arguments)
        return
    with pytest.raises(error, match=words):
        knn_join(frame, frame, **arguments)


_frames = {}


def spark_frame(spark):
    """One frame for all refusals."""
    if spark not in _frames:
        _frames[spark] = frame_of(spark, mixed_table(40)).cache()
    return _frames[spark]


@pytest.mark.parametrize("items, queries, words", [
    ("select 1L as id, 2.0d as x union all select null, 3.0d", None, "id: 1 rows have no value"),
    ("select 1L as id, 2.0d as x union all select 1L, 3.0d", None, "2 rows have the id 1"),
    ("select 1L as id, 2.0d as x where false", None, "there is no row to search among"),
    ("select 1L as id, 2.0d as x", "select 1L as id, 2.0d as x union all select 1L, 2.0d", "query_id: 2 rows"),
    ("select 1L as id, 2.0d as x", "select null as id, 2.0d as x", "query_id: .*whole numbers|no value"),
    ("select 1L as id, 2.0d as x", "select 1L as id, 'two' as x", "the items have numbers there"),
    ("select 1L as id, 2.0d as x", "select 1L as id, 2.0d as y", "queries: the DataFrame has no column 'x'"),
    ("select 1L as id, array(1) as x", "select 1L as id, 2.0d as x", "neither numbers nor names"),
    ("select 1L as id, cast(x'ff' as string) as x", None, "column 'x' has text that is not UTF-8"),
    ("select 1L as id, 9007199254740993L as x", "select 1L as id, 2.0d as x", "9007199254740993"),
    ("select 1L as id, 2.0d as x", "select 1L as id, 9007199254740993L as x", "9007199254740993"),
])
def test_rows_that_no_join_takes_are_refused(spark, items, queries, words):
    items = spark.sql(items)
    with pytest.raises((InvalidDataError, InvalidArgumentError, UnsupportedError), match=words):
        knn_join(items, items if queries is None else spark.sql(queries), 1, id="id")


def test_more_classes_than_columns_can_be_are_refused(spark):
    items = spark.range(10_001).selectExpr("id", "1.0d as x", "cast(id as string) as y")
    with pytest.raises(UnsupportedError, match="10001 classes"):
        knn_join(items, items, 1, id="id", columns=["x"], label="y")


def test_ids_given_twice_in_crossed_queries_are_refused(spark):
    queries = spark.sql("select 5L as id, 2.0d as x union all select 5L, 1.0d")
    with pytest.raises(InvalidDataError, match="query_id: 2 rows have the id 5"):
        knn_join(spark.sql("select 1L as id, 2.0d as x"), queries, 1, id="id", rows_per_block=1)


def test_a_name_that_appears_between_two_reads_is_an_error():
    names = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", "b"]))
    recipe = Recipe(bytes_of_table(pa.table({"x": names})), "hamming", {}, [], "none", 1, False, 1, "cpu")
    with pytest.raises(InvalidDataError, match="have changed during the join: column 'x' has the value 'c'"):
        Whole(recipe).items(pa.table({"x": ["a", None, "c"]}), None)
