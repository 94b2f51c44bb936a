"""Sizes whose products exceed 32 bits. They take minutes or gigabytes: `make soak` sets STOPE_LARGE."""

import os

import numpy as np
import pytest

from program import neighbor_lists, run

pytestmark = pytest.mark.skipif(not os.environ.get("STOPE_LARGE"), reason="STOPE_LARGE is not set: this takes minutes")


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_more_pairs_than_32_bits_count(tmp_path, metric):
    """70,000 x 70,000 rows are 4.9e9 pairs. Some lists, the last ones among them, are compared with NumPy's."""
    x = np.random.default_rng(1).normal(size=(70_000, 3))
    np.save(tmp_path / "x.npy", x)
    got = neighbor_lists(run("knn", "x.npy", "x.npy", "-k", 3, "--metric", metric, "--device", "cpu", cwd=tmp_path, timeout=900).text)
    assert len(got) == len(x)
    for row in [0, 1, 30_678, 61_356, 69_998, 69_999]:  # 61,356 x 70,000 is just above 2^32
        difference = x - x[row]
        total = np.zeros(len(x))
        for column in difference.T:
            total += column * column if metric == "euclidean" else np.abs(column)
        distance = np.sqrt(total) if metric == "euclidean" else total
        order = np.lexsort((np.arange(len(x)), distance))[:3]
        assert got[row] == [(i, distance[i]) for i in order]


def test_more_bytes_than_31_bits_count(tmp_path):
    """An array of 2.2e9 bytes: its last rows are read, and counted, as its first."""
    n = 275_000_000
    x = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float64, shape=(n, 1))
    x[:] = 1.0
    x[-1] = 5.0
    x.flush()
    column = run("stats", "x.npy", "--json", cwd=tmp_path, timeout=900).json()["columns"][0]
    assert (column["count"], column["max"], column["max_row"], column["sum"]) == (n, 5.0, n - 1, n + 4.0)
