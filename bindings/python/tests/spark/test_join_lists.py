"""Lists of parts, joined and cut without Spark: (distance, id) with NaN last decides."""

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="SKIP: pyspark is missing")
from stope import _core  # noqa: E402
from stope.spark._join_lists import Lists, no_lists  # noqa: E402
from stope.spark._join_parts import parts_of  # noqa: E402


def random_lists(seed, n):
    random = np.random.default_rng(seed)
    return Lists(
        random.integers(-3, 4, n), random.permutation(10 * n)[:n] - 5 * n,
        random.choice([0.0, -0.0, 1.0, np.nan, np.inf, -1.0], n), random.normal(size=n),
    )


def test_the_nearest_are_those_of_the_engines_merge():
    lists = random_lists(0, 300)
    found = lists.nearest(7)
    for query in range(-3, 4):
        of_query = lists.queries == query
        ids, distances = lists.items[of_query], lists.distances[of_query]
        native = np.array([0, len(ids)]), ids - ids.min(), distances  # the engine takes -1 for padding
        _, rows, best = _core.merge_neighbors([native], 7)
        np.testing.assert_array_equal(found.items[found.queries == query], rows + ids.min())
        assert found.distances[found.queries == query].tobytes() == best.tobytes()


def test_labels_stay_with_their_items():
    lists = random_lists(1, 100)
    label_of = dict(zip(lists.items.tolist(), lists.labels.tolist()))
    found = lists.joined(random_lists(2, 0)).nearest(5)
    assert [label_of[item] for item in found.items.tolist()] == found.labels.tolist()


def test_arrow_keeps_every_bit():
    lists = random_lists(3, 200).nearest(9)
    again = Lists.of_arrow(pa.Table.from_batches(lists.batches()))
    for name in ("queries", "items", "distances", "labels"):
        assert getattr(again, name).tobytes() == getattr(lists, name).tobytes()
    assert len(list(no_lists(True).batches())) == 0 and no_lists(False).nearest(3).schema().names[-1] == "distances"


def test_batches_are_regrouped_to_the_rows_of_a_part():
    batches = [pa.record_batch({"x": list(range(n))}) for n in (3, 0, 1, 10, 2)]
    for rows in (1, 4, 5, 100):
        parts = list(parts_of(iter(batches), rows))
        assert [part.num_rows for part in parts] == [rows] * (16 // rows) + [16 % rows] * (16 % rows > 0)
        assert pa.concat_tables(parts)["x"].to_pylist() == [x for batch in batches for x in batch["x"].to_pylist()]
    assert list(parts_of(iter(()), 3)) == []
