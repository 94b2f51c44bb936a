"""Joins on executors that are processes of their own, one of which is killed in the middle."""

import functools

import pytest
from one_machine import joined_rows, neighbors, same_bits
from tables_of_tests import frame_of, mixed_table
from test_cluster import _kill_once

from stope.spark import knn_join

FEATURES = ["ties", "zeros", "whole", "name", "truth"]


@pytest.mark.parametrize("how", [
    pytest.param({"rows_per_part": 100}, marks=pytest.mark.modes("cluster2")),
    pytest.param({"parts": 3, "rows_per_block": 40}, marks=pytest.mark.modes("cluster3")),
], ids=str)
def test_an_executor_killed_in_the_middle_changes_no_list(spark, tmp_path, how):
    items, queries = mixed_table(2_000), mixed_table(60, seed=8)
    mark = tmp_path / "killed"
    mark.touch()  # nobody is killed while the items are surveyed
    frame = frame_of(spark, items.select(["id", *FEATURES]), 4)  # mapInArrow itself takes no names with dots
    frame = frame.mapInArrow(functools.partial(_kill_once, str(mark), "executor"), frame.schema)
    found = knn_join(frame, frame_of(spark, queries), 5, id="id", columns=FEATURES, **how)
    mark.unlink()
    assert same_bits(joined_rows(found), neighbors(items, queries, 5, FEATURES))
    assert mark.read_text(), "nobody was killed"
