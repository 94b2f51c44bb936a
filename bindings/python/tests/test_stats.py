"""column_stats: NumPy's numbers, exact for whole numbers, for arrays and frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats

import stope
from stope import column_stats, correlation

TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "f2", ">f8", ">i4"]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_element_type_has_numpys_statistics(dtype):
    X = (np.random.default_rng(0).random((100, 4)) * 7).astype(dtype)
    found, wide = column_stats(X), X.astype(np.float64)
    assert np.array_equal(found.min, wide.min(axis=0)) and np.array_equal(found.max, wide.max(axis=0))
    assert np.array_equal(found.min_row, X.argmin(axis=0)) and np.array_equal(found.max_row, X.argmax(axis=0))
    np.testing.assert_allclose(found.mean, wide.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(found.sum, wide.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(found.variance, wide.var(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(found.std, wide.std(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(found.skewness, scipy.stats.skew(wide), rtol=1e-9, atol=1e-12)
    assert np.array_equal(found.zeros, (X == 0).sum(axis=0))
    assert found.count.tolist() == [100] * 4 and found.missing.tolist() == [0] * 4 and found.n_rows == 100


def test_large_whole_numbers_are_exact():
    X = np.array([[2**62, -(2**63)], [2**62 - 1, 5]])
    found = column_stats(X)
    assert found.max.dtype == np.int64 and found.max.tolist() == [2**62, 5]
    assert found.min.tolist() == [2**62 - 1, -(2**63)] and found.sum.dtype == np.int64
    assert found.sum.tolist() == [2**63 - 1, 5 - 2**63]
    overflow = column_stats(np.full((4, 1), 2**62))
    assert overflow.sum.dtype == np.float64 and overflow.sum[0] == 2.0**64
    with pytest.raises(ValueError, match="2\\^63"):
        column_stats(np.array([2**64 - 1], np.uint64))


def test_an_offset_of_a_million_costs_no_digits():
    x = np.random.default_rng(0).normal(size=10000)
    np.testing.assert_allclose(column_stats(x + 1e6).variance, x.var(ddof=1), rtol=1e-9)


def test_every_memory_layout_gives_the_same_bits():
    X = np.random.default_rng(0).normal(size=(1000, 5))
    wide = np.zeros((2000, 10))
    wide[::2, ::2] = X
    packed = np.zeros(1000, np.dtype([("pad", "i1"), ("x", "f8", 5)]))
    packed["x"] = X
    locked = X.copy()
    locked.flags.writeable = False
    expected = column_stats(X)
    for layout in (np.asfortranarray(X), wide[::2, ::2], packed["x"], locked, X[:, ::-1].copy()[:, ::-1], X.tolist()):
        found = column_stats(layout)
        for name in ("min", "max", "sum", "mean", "variance", "std", "skewness"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    backwards = column_stats(X[::-1])
    assert np.array_equal(backwards.min_row, 999 - expected.min_row)


def test_missing_values_are_left_out_and_counted():
    found = column_stats([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]])
    assert found.count.tolist() == [2, 0] and found.missing.tolist() == [1, 2 + 1]
    assert found.mean[0] == 2.0 and np.isnan(found.mean[1]) and found.min_row.tolist() == [0, -1]


def test_masked_values_are_missing():
    X = np.ma.array([[1.0, 2.0], [3.0, 999.0]], mask=[[False, False], [False, True]])
    for rows in (X, X.astype(np.int64)):
        found = column_stats(rows)
        assert found.missing.tolist() == [0, 1] and found.max.tolist() == [3.0, 2.0]


@pytest.mark.parametrize("missing", [pd.NA, None, np.nan])
def test_a_row_without_a_class_is_in_no_class(missing):
    found = column_stats(np.arange(3.0), by=pd.Series(["a", missing, "b"], dtype=object))
    assert {name: one.n_rows for name, one in found.classes.items()} == {"a": 1, "b": 1}


def test_rows_and_columns_that_repeat_are_read():
    for X in (np.broadcast_to(np.arange(3.0), (5, 3)), np.broadcast_to(np.arange(5.0)[:, None], (5, 3))):
        assert np.array_equal(column_stats(X).mean, X.mean(axis=0))


def test_nothing_has_statistics_of_nothing():
    found = column_stats(np.empty((0, 3)))
    assert found.count.tolist() == [0, 0, 0] and np.isnan(found.mean).all() and found.n_rows == 0
    assert np.isnan(column_stats(np.empty((0, 2), int)).min).all()
    assert len(column_stats(np.empty((3, 0)))) == 0
    assert np.isnan(column_stats([5.0]).variance[0])


def test_one_dimension_is_one_column():
    assert column_stats(np.arange(5)).mean.tolist() == [2.0]
    assert column_stats(pd.Series([1, 2, 3], name="n")).names == ["n"]
    assert column_stats(pl.Series("n", [1, 2, 3])).names == ["n"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_have_names_and_columns_of_names(kind):
    frame = pd.DataFrame({"size": [1.5, 2.5, np.nan], "n": [1, 2, 3], "colour": ["red", "blue", "red"]})
    X = {"pandas": frame, "polars": pl.from_pandas(frame), "arrow": pl.from_pandas(frame).to_arrow()}[kind]
    found = column_stats(X)
    assert found.names == ["size", "n", "colour"] and found.missing.tolist() == [1, 0, 0]
    assert found["size"]["mean"] == 2.0 and found[1]["max"] == 3
    assert found["colour"]["value_counts"] == {"red": 2, "blue": 1}
    assert found["n"]["value_counts"] is None and np.isnan(found["colour"]["mean"])
    classes = column_stats(X, by="colour").classes
    assert set(classes) == {"red", "blue"} and classes["red"].n_rows == 2
    assert classes["blue"]["size"]["mean"] == 2.5


@pytest.mark.parametrize("labels", [["a", "b", "a", None], np.array([1.0, 2.0, 1.0, np.nan]), pd.Series([1, 2, 1, 2])])
def test_classes_of_rows_have_statistics_of_their_own(labels):
    X = np.array([[1.0, 5], [2, 5], [3, 5], [9, 5]])
    found = column_stats(X, by=labels)
    first = next(iter(found.classes.values()))
    assert first.n_rows == 2 and first.mean.tolist() == [2.0, 5.0] and first.max_row.tolist() == [1, 0]
    assert len(found) == 2 and found.mean.tolist() == [3.75, 5.0]
    with pytest.raises(ValueError, match="4 rows"):
        column_stats(X, by=["a", "b"])


def test_many_classes_count_the_names_that_they_have():
    frame = pd.DataFrame({"name": [f"n{i % 300}" for i in range(600)], "of": [f"c{i // 2}" for i in range(600)]})
    classes = column_stats(frame, by="of").classes  # 300 classes x 300 names are more than 65,536
    assert len(classes) == 300
    for i in (0, 1, 200):
        assert classes[f"c{i}"]["name"]["value_counts"] == {f"n{2 * i % 300}": 1, f"n{(2 * i + 1) % 300}": 1}


def test_distinct_values_and_histograms_are_numpys():
    X = np.random.default_rng(0).integers(0, 50, (500, 3)).astype(float)
    found = column_stats(X, distinct=True, histogram_bins=7)
    assert found.distinct == [len(np.unique(X[:, j])) for j in range(3)]
    for j in range(3):
        counts, edges = np.histogram(X[:, j], 7)
        assert np.array_equal(found.histograms[j][0], counts)
        np.testing.assert_allclose(found.histograms[j][1], edges)
    assert column_stats(X).distinct == [None] * 3 and column_stats(X).histograms == [None] * 3


def test_extremes_alone_are_the_same():
    X = np.random.default_rng(0).normal(size=(100, 3))
    found = column_stats(X, depth="extremes")
    assert np.array_equal(found.max, X.max(axis=0)) and np.isnan(found.mean).all()
    with pytest.raises(ValueError, match="extremes"):
        column_stats(X, depth="deep")
    with pytest.raises(ValueError):
        column_stats(X, histogram_bins=-1)


def test_results_become_frames_text_and_html():
    frame = pd.DataFrame({"<b>": [1.0, 2.0], "c": ["<i>", "y"]})
    found = column_stats(frame, by="c")
    table = found.to_pandas()
    assert table.index.names == ["class", "column"] and table.loc[("<i>", "<b>"), "mean"] == 1.0
    assert column_stats(frame).to_pandas().loc["<b>", "mean"] == 1.5
    text = found._repr_html_()
    assert "<b>" not in text and "<i>" not in text and "&lt;b&gt;" in text
    assert "1.5" in repr(found) and "<b>" in repr(found)
    assert found.report_["backend"]


def test_what_is_no_table_is_refused():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="sparse"):
        column_stats(csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="Complex"):
        column_stats(np.zeros(3, complex))
    with pytest.raises(ValueError, match="dimensions"):
        column_stats(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError):
        column_stats([["a", "b"]])
    with pytest.raises(ValueError):
        column_stats(pd.DataFrame({"a": [1.0]}), by="b")
    with pytest.raises(TypeError):
        stope._core.describe_array("abc", run=stope._core.Run())


@pytest.mark.parametrize("shape", [(5, 2), (5,)])
def test_an_array_in_a_gpus_memory_is_looked_for_there(shape):
    class OnGpu:
        ndim = len(shape)
        __cuda_array_interface__ = {"shape": shape, "typestr": "<f4", "data": (4096, False), "version": 3}

        def reshape(self, *_):
            other = OnGpu()
            other.__cuda_array_interface__ = {**self.__cuda_array_interface__, "shape": (5, 1)}
            return other

    with pytest.raises(stope.StopeError) as caught:
        column_stats(OnGpu())
    assert isinstance(caught.value, RuntimeError)  # DeviceUnavailableError: there is no such memory here
    with pytest.raises(ValueError, match="host"):
        column_stats(OnGpu(), by=["a"] * 5)


def test_the_report_is_that_of_the_run():
    found = column_stats(np.zeros((10, 2)), device="cpu")
    assert "backend" in str(found.report_)


SHARES = [0.0, 0.05, 1 / 3, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.int64])
@pytest.mark.parametrize("n", [1, 2, 1000, 200_000])
def test_quantiles_are_numpys(dtype, n):
    rng = np.random.default_rng(n)
    X = (rng.standard_normal((n, 3)) * 100).astype(dtype)
    found = column_stats(X, quantiles=SHARES)
    expected = np.quantile(X.astype(np.float64), SHARES, axis=0)
    assert np.array_equal(np.array(list(found.quantiles.values())), expected)
    assert np.array_equal(found.median, expected[3])


def test_quantiles_leave_missing_values_out_and_names_alone():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.random(500), "name": rng.choice(["a", "b"], 500)})
    frame.loc[rng.random(500) < 0.2, "x"] = np.nan
    found = column_stats(frame, by="name", quantiles=0.25)
    assert found["x"]["quantiles"] == {0.25: np.nanquantile(frame.x, 0.25)}
    assert np.isnan(found["name"]["quantiles"][0.25])
    for value, part in frame.groupby("name"):
        assert found.classes[value]["x"]["quantiles"][0.25] == np.nanquantile(part.x, 0.25)
    assert "q0.25" in repr(found) and "q0.25" in found.to_pandas().columns
    assert column_stats(frame).quantiles == {} and not hasattr(column_stats(frame), "median")
    for wrong in (-0.1, 1.5, np.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            column_stats(frame, quantiles=[0.5, wrong])


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("missing", [False, True])
def test_correlations_are_those_of_pandas(method, missing):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((3000, 20)) + rng.standard_normal((3000, 1)) * np.linspace(-2, 2, 20)
    X[:, 3] = np.round(X[:, 3])  # ties
    X[:, 4] = 0.1
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
        X[:, 5] = np.nan
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(20)]).assign(word="a")
    found = correlation(frame, method=method)
    expected = frame.drop(columns="word").corr(method=method)
    if missing:  # pandas finds tiny spreads in a constant column
        expected.loc["c4"] = expected["c4"] = np.nan
    np.testing.assert_allclose(found.values, expected.to_numpy(), atol=1e-12)
    assert found.names == list(expected.columns) and found.to_pandas().columns.equals(expected.columns)
    present = (~np.isnan(X)).astype(int)
    assert np.array_equal(found.counts, present.T @ present)
    assert np.array_equal(correlation(X, method=method).values, found.values, equal_nan=True)


def test_a_correlation_needs_numbers_and_a_known_method():
    with pytest.raises(ValueError, match="no numeric columns"):
        correlation(pd.DataFrame({"a": ["x", "y"]}))
    with pytest.raises(ValueError, match="kendall"):
        correlation([[1.0, 2.0]], method="kendall")
    assert np.isnan(correlation([[1.0, 2.0]]).values).all()
