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


def test_lists_of_more_bytes_than_31_bits_count(tmp_path):
    """20,000 lists of 7,000 neighbours are 1.4e8 entries of 16 bytes: the first and the last lists against NumPy's."""
    n, k = 20_000, 7_000
    x = np.random.default_rng(2).normal(size=(n, 2))
    np.save(tmp_path / "x.npy", x)
    run("knn", "x.npy", "x.npy", "-k", k, "--device", "cpu", "--output-format", "npy", "-o", "out", cwd=tmp_path, timeout=900)
    indices, distances = (np.load(tmp_path / f"out.{what}.npy", mmap_mode="r") for what in ("indices", "distances"))
    assert indices.shape == distances.shape == (n, k)
    for row in [0, 9_586, 9_587, 19_173, 19_174, n - 1]:  # 9,587 x 7,000 x 32 and 19,174 x 7,000 x 16 are just above 2^31
        difference = x - x[row]
        distance = np.sqrt(difference[:, 0] * difference[:, 0] + difference[:, 1] * difference[:, 1])
        order = np.lexsort((np.arange(n), distance))[:k]
        assert np.array_equal(indices[row], order)
        assert np.array_equal(distances[row], distance[order])


def test_distances_of_more_bytes_than_32_bits_count(tmp_path):
    """24,000 x 24,000 distances are 4.6e9 bytes: rows on both sides of 2^31 and 2^32 bytes, and the last."""
    n = 24_000
    x = np.random.default_rng(3).normal(size=(n, 2))
    np.save(tmp_path / "x.npy", x)
    run("pairwise", "x.npy", "x.npy", "--device", "cpu", "--output-format", "npy", "-o", "d.npy", cwd=tmp_path, timeout=900)
    found = np.load(tmp_path / "d.npy", mmap_mode="r")
    assert found.shape == (n, n)
    for row in [0, 11_184, 11_185, 22_369, 22_370, n - 1]:
        difference = x - x[row]
        assert np.array_equal(found[row], np.sqrt(difference[:, 0] * difference[:, 0] + difference[:, 1] * difference[:, 1]))


def test_text_of_more_bytes_than_32_bits_counts(tmp_path):
    """A CSV text of 4.4e9 bytes."""
    line, block = b"1" + b" " * 98 + b"\n", 100_000
    n = 440 * block
    with open(tmp_path / "x.csv", "wb") as out:
        out.write(b"x\n")
        for _ in range(n // block):
            out.write(line * block)
    column = run("stats", "x.csv", "--json", cwd=tmp_path, timeout=900).json()["columns"][0]
    assert (column["count"], column["sum"]) == (n, float(n))


def test_arrays_of_more_bytes_than_32_bits_count(tmp_path):
    """An array of 4.4e9 bytes with holes, which take no disk: its last cell is found."""
    n = 550_000_000
    x = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float64, shape=(n, 1))
    x[-1] = 5.0
    x.flush()
    column = run("stats", "x.npy", "--one-pass", "--json", cwd=tmp_path, timeout=900).json()["columns"][0]
    assert (column["count"], column["max"], column["max_row"], column["sum"]) == (n, 5.0, n - 1, 5.0)


def test_more_cells_than_31_bits_count(tmp_path):
    """An array of 2.2e9 floats in eight columns, again with holes."""
    n, columns = 275_000_000, 8
    x = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float32, shape=(n, columns))
    x[-1, -1] = 5.0
    x.flush()
    found = run("stats", "x.npy", "--one-pass", "--json", cwd=tmp_path, timeout=900).json()["columns"]
    assert [column["count"] for column in found] == [n] * columns
    assert (found[-1]["max"], found[-1]["max_row"], found[-1]["sum"]) == (5.0, n - 1, 5.0)
