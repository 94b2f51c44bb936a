"""Inputs on which well-known nearest-neighbour programs fail or contradict themselves, on every back end. The numbers
are those of their issues."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier

import measures
import program
from program import backends, neighbor_lists, records, rows, run, write_csv, write_matrix


@pytest.fixture(autouse=True, params=backends())
def backend(request, monkeypatch):
    monkeypatch.setitem(program.FORCED, "STOPE_BACKEND", request.param)


def test_every_run_is_forced_to_the_back_end(tmp_path, backend, request):
    table = write_matrix(tmp_path / "t.csv", np.eye(3))
    plan = run("knn", table, table, "-k", 1, "--json", "-o", tmp_path / "o.csv").json()["plan"]
    assert plan["backend"] == request.node.callspec.params["backend"]


def assert_neighbors(text, distances, k):
    """The lists must be the k smallest by (distance, row), with the same bits."""
    order, values = measures.nearest(distances, k)
    lists = neighbor_lists(text)
    assert sorted(lists) == list(range(len(distances)))
    for i, entries in lists.items():
        assert [t for t, _ in entries] == list(order[i]), f"row {i}"
        np.testing.assert_array_equal([d for _, d in entries], values[i])


def search(folder, train, query, k, *args):
    a, b = write_matrix(folder / "train.csv", train), write_matrix(folder / "query.csv", query)
    return run("knn", a, b, "-k", k, *args).text


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan"])
def test_coordinates_of_one_town(tmp_path, metric):
    """faiss#3245: GPS positions a few metres apart collapse in float32 and in |a|^2 + |b|^2 - 2ab."""
    g = np.random.default_rng(1)
    train = np.array([52.520008, 13.404954]) + np.round(g.uniform(-1e-3, 1e-3, (500, 2)), 6)
    query = train[::7] + 1e-7
    full = getattr(measures, metric)(query, train, np.ones(2))
    assert_neighbors(search(tmp_path, train, query, 10, "--metric", metric), full, 10)


@pytest.mark.parametrize("offset", [1e6, -1e6, 1e12])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "correlation"])
def test_rows_far_from_zero(tmp_path, offset, metric):
    """faiss#5285."""
    g = np.random.default_rng(2)
    train, query = offset + g.normal(size=(300, 8)), offset + g.normal(size=(40, 8))
    full = getattr(measures, metric)(query, train, np.ones(8))
    assert_neighbors(search(tmp_path, train, query, 9, "--metric", metric), full, 9)


@pytest.mark.parametrize("huge", [1e18, 1e100, 1e160, 1e300])
def test_one_huge_column(tmp_path, huge):
    """faiss#1086: one column dwarfs the others; past 1e154 its squares overflow and every such pair is infinite."""
    g = np.random.default_rng(3)
    train, query = g.normal(size=(200, 5)), g.normal(size=(33, 5))
    train[:, 2] *= huge
    query[:, 2] *= huge
    query[0, 2] = train[0, 2]
    with np.errstate(over="ignore"):
        full = measures.euclidean(query, train, np.ones(5))
    assert_neighbors(search(tmp_path, train, query, 20, "--metric", "euclidean"), full, 20)


@pytest.mark.parametrize("k", [1, 5, 15])
def test_moons(tmp_path, k):
    """cuvs#1632: classification of two interleaved half circles."""
    x, y = make_moons(1000, noise=0.25, random_state=0)
    train = write_matrix(tmp_path / "train.csv", x[:700], label=[f"m{v}" for v in y[:700]])
    test = write_matrix(tmp_path / "test.csv", x[700:], label=[f"m{v}" for v in y[700:]])
    done = run("classify", train, test, "--target", "label", "-k", k, "--metric", "euclidean")
    want = KNeighborsClassifier(k, algorithm="brute").fit(x[:700], y[:700]).predict(x[700:])
    assert [r["prediction"] for r in records(done.text)] == [f"m{v}" for v in want]


@pytest.mark.parametrize("n", [1, 31, 32, 33, 255, 256, 257, 512, 1024, 1025])
def test_sizes_at_tile_edges(tmp_path, n):
    """cuml#4624: exactly 256 rows."""
    g = np.random.default_rng(4)
    train, query = g.normal(size=(n, 3)), g.normal(size=(n, 3))
    k = min(n, 7)
    assert_neighbors(search(tmp_path, train, query, k, "--metric", "euclidean"),
                     measures.euclidean(query, train, np.ones(3)), k)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "canberra"])
def test_infinities(tmp_path, metric):
    """raft#1822: infinite values give infinite distances, two equal infinities give NaN, and NaN comes last."""
    g = np.random.default_rng(5)
    train, query = g.normal(size=(60, 4)), g.normal(size=(20, 4))
    train[::5, 1] = np.inf
    train[1::5, 2] = -np.inf
    query[::4, 1] = np.inf
    with np.errstate(all="ignore"):
        full = getattr(measures, metric)(query, train, np.ones(4))
    assert np.isnan(full).any()
    assert_neighbors(search(tmp_path, train, query, 60, "--metric", metric), full, 60)


def test_top_100_is_a_prefix_of_top_10000(tmp_path):
    """faiss#1985."""
    g = np.random.default_rng(6)
    train, query = np.round(g.normal(size=(12000, 3)), 1), np.round(g.normal(size=(20, 3)), 1)
    few = neighbor_lists(search(tmp_path, train, query, 100, "--metric", "euclidean"))
    many = neighbor_lists(search(tmp_path, train, query, 10000, "--metric", "euclidean"))
    for row, entries in few.items():
        assert many[row][:100] == entries


def test_all_nominal_table(tmp_path):
    g = np.random.default_rng(7)
    words = ["", "a", "b", "c", "d"]

    def table(path, n):
        t = g.integers(0, 5, (n, 4))
        write_csv(path, {f"c{j}": [words[v] for v in t[:, j]] for j in range(4)})
        return np.where(t == 0, np.nan, t.astype(float))

    train, query = table(tmp_path / "train.csv", 300), table(tmp_path / "query.csv", 50)
    full = measures.mixed_euclidean(query, train, np.ones(4), [True] * 4)
    done = run("knn", tmp_path / "train.csv", tmp_path / "query.csv", "-k", 50)
    assert_neighbors(done.text, full, 50)


def test_negative_distances(tmp_path):
    """The inner product as a distance is negative where rows agree; the most negative is the nearest."""
    g = np.random.default_rng(8)
    train, query = g.normal(size=(100, 4)), g.normal(size=(10, 4))
    full = np.zeros((10, 100))
    for j in range(4):
        full = full + query[:, j][:, None] * train[:, j][None, :]
    assert_neighbors(search(tmp_path, train, query, 100, "--metric", "Numerical.InnerProductSimilarity"), -full, 100)


def test_zero_distances_come_in_row_order(tmp_path):
    train = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [-0.0, 0.0], [1.0, 2.0]])
    lists = neighbor_lists(search(tmp_path, train, train, 5, "--metric", "euclidean"))
    assert [t for t, _ in lists[2]] == [0, 2, 4, 1, 3]
    assert [t for t, _ in lists[3]] == [1, 3, 0, 2, 4]


@pytest.mark.parametrize("k", [1, 31, 33, 1000, 3000])
def test_thousands_of_equal_rows(tmp_path, k):
    train = np.ones((3000, 3))
    train[1500] = 7
    lists = neighbor_lists(search(tmp_path, train, [[1, 1, 1], [7, 7, 7], [4, 4, 4]], k, "--metric", "euclidean"))
    ones = [i for i in range(3000) if i != 1500]
    assert [t for t, _ in lists[0]] == (ones + [1500])[:k]
    assert [t for t, _ in lists[1]] == ([1500] + ones)[:k]
    assert [t for t, _ in lists[2]] == list(range(3000))[:k]  # all equally far


def test_constant_table(tmp_path):
    train = write_matrix(tmp_path / "train.csv", np.full((50, 4), 3.5), label=["b", "a"] * 25)
    for normalize in ("none", "range", "z", "interquartile"):
        done = run("classify", train, train, "--target", "label", "-k", 4, "--normalize", normalize, "--proba")
        header, body = rows(done.text)
        assert header[2:] == ["confidence(a)", "confidence(b)"]
        # Rows 0 to 3 are the neighbours of every row; two votes each, and a tie goes to the first class.
        assert all(r[1] == "a" and float(r[2]) == float(r[3]) == 0.5 for r in body)


@pytest.mark.parametrize("n", [1, 2, 33])
def test_k_is_n(tmp_path, n):
    g = np.random.default_rng(9)
    train, query = g.normal(size=(n, 2)), g.normal(size=(5, 2))
    assert_neighbors(search(tmp_path, train, query, n, "--metric", "euclidean"),
                     measures.euclidean(query, train, np.ones(2)), n)


def test_duplicates_on_the_boundary(tmp_path):
    """Among several rows at the k-th distance the first ones are taken, whatever lies before them."""
    train = np.array([[5.0], [1.0], [3.0], [1.0], [-1.0], [3.0], [0.5], [1.0]])
    lists = neighbor_lists(search(tmp_path, train, [[0.0]], 3, "--metric", "manhattan"))
    assert lists[0] == [(6, 0.5), (1, 1.0), (3, 1.0)]


def tables(folder):
    g = np.random.default_rng(10)
    n, m = 1037, 97
    a, b = np.round(g.normal(size=(n, 5)), 1), np.round(g.normal(size=(m, 5)), 1)
    a[g.random(a.shape) < 0.1] = np.nan
    b[g.random(b.shape) < 0.1] = np.nan
    words = ["u", "v", "w"]
    train = write_matrix(folder / "train.csv", a, c=[words[i] for i in g.integers(0, 3, n)],
                         label=[words[i] for i in g.integers(0, 3, n)])
    query = write_matrix(folder / "query.csv", b, c=[words[i] for i in g.integers(0, 3, m)],
                         label=[words[i] for i in g.integers(0, 3, m)])
    return train, query


COMMANDS = {
    "knn": ["knn", "-k", 17],
    "knn-rapidminer": ["knn", "-k", 17, "--compat", "rapidminer"],
    "radius": ["knn", "--radius", 1.0],
    "classify": ["classify", "-k", 9, "--weights", "distance", "--proba"],
    "pairwise": ["pairwise", "-k", 5],
    "pairwise-all": ["pairwise", "--metric", "gower"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_threads_and_tiles_show_in_no_byte(tmp_path, command):
    train, query = tables(tmp_path)
    name, *args = COMMANDS[command]
    words = [name, train, query, "--target", "label", *args]
    if name == "pairwise":
        words = [name, query, train, "--target", "label", *args]
    want = run(*words).out
    assert want
    for threads in (1, 2, 3, 7):
        assert run(*words, "-j", threads).out == want, f"-j {threads}"
    for size in (1, 31, 32, 33, 1000):
        for tile in ("STOPE_TILE_QUERIES", "STOPE_TILE_ROWS"):
            assert run(*words, env={tile: str(size)}).out == want, f"{tile}={size}"
    assert run(*words, env={"STOPE_TILE_QUERIES": "7", "STOPE_TILE_ROWS": "13"}).out == want
    for scan in ("differences", "products", "bytes"):
        for order in ("table", "near"):
            assert run(*words, env={"STOPE_SCAN": scan, "STOPE_BLOCK_ORDER": order}).out == want, f"{scan}, {order}"
    assert run(*words, env={"STOPE_PART_ROWS": "17"}).out == want
    assert run(*words, env={"STOPE_BACKEND": "reference"}).out == want
    assert run(*words, "--memory-limit", "3MB").out == want
