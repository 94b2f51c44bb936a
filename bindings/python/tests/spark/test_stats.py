"""stope.spark.column_stats: the same numbers for every partitioning, and those of one machine where both are exact."""

import math
import struct
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
import stope
from stope.errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from tables_of_tests import frame_of, mixed_table, sorted_by_id

pytest.importorskip("pyspark", reason="SKIP: pyspark is missing")
from stope.spark._exact_sums import power_sums  # noqa: E402
from stope.spark import column_stats  # noqa: E402

ARRAYS = ("count", "missing", "zeros", "min", "max", "min_row", "max_row", "sum", "mean", "variance", "std", "skewness")


def bits_of(statistics):
    """All numbers of the statistics, bit for bit."""
    arrays = b"".join(np.asarray(getattr(statistics, name)).tobytes() for name in ARRAYS)
    return arrays + repr((statistics.names, statistics.types, statistics.value_counts, statistics.distinct)).encode()


def test_partitions_and_batches_do_not_show(spark, batch_rows):
    table, found = mixed_table(700), set()
    for n_partitions, batch in ((1, 10_000), (2, 100), (7, 1), (17, 100)):
        batch_rows(batch)
        found.add(bits_of(column_stats(frame_of(spark, table, n_partitions), id="id")))
    assert len(found) == 1


@pytest.mark.modes("local", "connect")
def test_what_is_exact_has_the_bits_of_one_machine(spark):
    table = mixed_table(900, seed=1)
    found = column_stats(frame_of(spark, table, 3), id="id")
    alone = sorted_by_id(table)
    local = stope.column_stats(alone.drop_columns(["id"]))
    ids = alone["id"].to_numpy()
    assert found.names == local.names and found.types == local.types
    for name in ("count", "missing", "zeros", "min", "max"):
        assert getattr(found, name).tobytes() == getattr(local, name).tobytes(), name
    numeric = local.min_row >= 0
    np.testing.assert_array_equal(found.min_row[numeric], ids[local.min_row[numeric]])
    np.testing.assert_array_equal(found.max_row[numeric], ids[local.max_row[numeric]])
    assert [dict(each or {}) for each in found.value_counts] == [
        {name: n for name, n in (each or {}).items() if n} for each in local.value_counts
    ]
    assert "min_row" in found.exact and "mean" not in found.exact and "mean" in found.rounded_once


def test_sums_and_moments_are_the_real_numbers_rounded_once(spark):
    values = [1e300, 1.0, -1e300, 2.0**-1074, 3.5, -7.25, 0.1]
    found = column_stats(frame_of(spark, pa.table({"x": values}), 3))
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    m2 = sum((value - mean) ** 2 for value in exact)
    assert found.sum[0] == float(sum(exact)) and found.mean[0] == float(mean)
    assert found.variance[0] == math.inf  # beyond float64
    small = [0.1, 0.2, 0.7, -3.0, 1e10]
    found = column_stats(frame_of(spark, pa.table({"x": small}), 2))
    exact = [Fraction(value) for value in small]
    mean = sum(exact) / len(exact)
    m2 = sum((value - mean) ** 2 for value in exact)
    assert found.variance[0] == float(m2 / (len(small) - 1))
    assert abs(Fraction(float(found.std[0])) ** 2 - m2 / 4) <= m2 / 4 * Fraction(1, 2**52)
    m3 = float(sum((value - mean) ** 3 for value in exact) / 5)
    assert found.skewness[0] == pytest.approx(m3 / float(m2 / 5) ** 1.5, rel=1e-14)


def test_sums_of_powers_have_no_rounding_at_all():
    random = np.random.default_rng(2)
    patterns = random.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    values = np.concatenate([patterns[np.isfinite(patterns)], [0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308]])
    sums = power_sums(values)
    exact = [Fraction(value) for value in values.tolist()]
    assert Fraction(sums.first, 2**1126) == sum(exact)
    assert Fraction(sums.second, 2**2252) == sum(value**2 for value in exact)
    assert Fraction(sums.third, 2**3378) == sum(value**3 for value in exact)


def test_infinity_nothing_and_empty_partitions_are_what_they_are_on_one_machine(spark):
    table = pa.table({
        "up": [math.inf, 1.0, 2.0], "both": [math.inf, -math.inf, 2.0], "none": pa.array([None] * 3, pa.float64()),
        "one": pa.array([None, 5.0, None]), "name": pa.array([None] * 3, pa.string()),
    })
    found, local = column_stats(frame_of(spark, table, 7)), stope.column_stats(table)
    for name in ("count", "missing", "zeros", "min", "max", "sum", "mean", "variance", "std", "skewness"):
        np.testing.assert_array_equal(getattr(found, name), getattr(local, name), name)
    nobody = column_stats(frame_of(spark, table).where("false"))
    assert nobody.count.tolist() == [0] * 5 and nobody.types == local.types and np.isnan(nobody.mean).all()


def test_moments_can_be_left_out(spark):
    found = column_stats(frame_of(spark, pa.table({"x": [1.0, 4.0]})), moments=False)
    assert found.max[0] == 4.0 and np.isnan(found.mean[0]) and found.rounded_once == ()


def test_mistakes_are_refused_in_words(spark):
    frame = frame_of(spark, mixed_table(20))
    for arguments, error, words in (
        ({"columns": ["tise"]}, InvalidArgumentError, "did you mean 'ties'"),
        ({"id": "name"}, InvalidArgumentError, "ids are whole numbers"),
        ({"columns": []}, InvalidArgumentError, "no column left"),
        ({"max_names": 0}, InvalidArgumentError, "max_names"),
    ):
        with pytest.raises(error, match=words):
            column_stats(frame, **arguments)
    with pytest.raises(UnsupportedError, match="array<int>"):
        column_stats(spark.sql("select array(1) as x"))
    with pytest.raises(InvalidDataError, match="without an id"):
        column_stats(spark.sql("select cast(null as int) as id, 1.0d as x"), id="id")
    with pytest.raises(Exception, match="more than 2 different names"):
        column_stats(frame, ["name"], max_names=2)
