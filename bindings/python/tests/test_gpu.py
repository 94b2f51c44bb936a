"""Arrays of CuPy and PyTorch in a real GPU, on the caller's stream; every job on the GPU has the CPU's bits."""

import numpy as np
import pytest

import stope
from stope import NearestNeighbors, column_stats

N_ROWS, N_QUERIES, K = 20_000, 500, 7


def gpus():
    try:
        import torch

        return torch.cuda.device_count()
    except ImportError:
        return 0


pytestmark = pytest.mark.skipif(gpus() == 0, reason="needs an NVIDIA GPU and PyTorch")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(N_ROWS, 24)).astype(np.float32)
    rows[100] = rows[7]  # a tie
    return rows, rows[:N_QUERIES] + np.float32(0.125)


def arrays_of(library, array):
    if library == "cupy":
        return pytest.importorskip("cupy").asarray(array)
    return pytest.importorskip("torch").as_tensor(array, device="cuda")


def host(array):
    return array.get() if hasattr(array, "get") else array.cpu().numpy()


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_queries_in_a_gpu_have_the_cpus_lists(library, dtype, data):
    rows, queries = (array.astype(dtype) for array in data)
    expected = NearestNeighbors(n_neighbors=K, device="cpu").fit(rows).kneighbors(queries)
    model = NearestNeighbors(n_neighbors=K, device="cuda").fit(rows)
    distances, indices = model.kneighbors(arrays_of(library, queries))
    assert type(distances).__module__.partition(".")[0] == library
    assert np.array_equal(host(distances), expected[0]) and np.array_equal(host(indices), expected[1])
    assert "cuda" in str(model.report_).lower()


def test_work_that_waits_in_the_callers_stream_comes_first(data):
    """The queries are written by a stream that is still busy: a search that did not wait would read zeros."""
    torch = pytest.importorskip("torch")
    rows, queries = data
    expected = NearestNeighbors(n_neighbors=K, device="cpu").fit(rows).kneighbors(queries)
    model = NearestNeighbors(n_neighbors=K, device="cuda").fit(rows)
    model.kneighbors(torch.zeros((4, rows.shape[1]), device="cuda"))  # everything is loaded
    source = torch.as_tensor(queries, device="cuda")
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        late = torch.zeros_like(source)
        torch.cuda._sleep(400_000_000)  # some 0.2 s of clock cycles
        late.copy_(source)
        distances, indices = model.kneighbors(late)
    assert np.array_equal(host(distances), expected[0]) and np.array_equal(host(indices), expected[1])


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_statistics_of_an_array_in_a_gpu_are_the_cpus(library, data):
    rows, _ = data
    expected = column_stats(rows)
    found = column_stats(arrays_of(library, rows))
    for name in ("min", "max", "max_row", "mean", "variance"):
        assert np.array_equal(np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))), name


def test_transposed_and_strided_arrays_are_read_where_they_lie(data):
    torch = pytest.importorskip("torch")
    rows, queries = data
    expected = NearestNeighbors(n_neighbors=K, device="cpu").fit(rows).kneighbors(queries)
    model = NearestNeighbors(n_neighbors=K, device="cuda").fit(rows)
    column_major = torch.as_tensor(np.ascontiguousarray(queries.T), device="cuda").T
    every_second = torch.as_tensor(np.repeat(queries, 2, axis=0), device="cuda")[::2]
    for view in (column_major, every_second):
        distances, indices = model.kneighbors(view)
        assert np.array_equal(host(distances), expected[0]) and np.array_equal(host(indices), expected[1])


def test_missing_values_in_a_gpu_are_refused_as_in_numpy(data):
    torch = pytest.importorskip("torch")
    rows, _ = data
    bad = torch.full((3, rows.shape[1]), float("nan"), device="cuda")
    with pytest.raises(ValueError, match="NaN"):
        NearestNeighbors(device="cuda").fit(rows).kneighbors(bad)


def fitted(device):
    """What every job gives on a table of numbers and classes."""
    rng = np.random.default_rng(5)
    X = np.asfortranarray(rng.normal(size=(30_000, 12)))
    y = np.where(X[:, 0] + X[:, 3] ** 2 > 0.5, "a", "b")
    tree = stope.LocalDiscretizationTreeClassifier(max_depth=5, device=device).fit(X, y)
    yield "tree", tree.predict_proba(X)
    yield "cuts", stope.CutRanker(device=device).fit(X, y).scores_
    yield "k-NN", stope.KNeighborsClassifier(9, weights="distance", device=device).fit(X, y).predict_proba(X[:999])
    yield "regression", stope.KNeighborsRegressor(5, device=device).fit(X, X[:, 1]).predict(X[:999])
    yield "PCA", stope.PCA(4, device=device).fit_transform(X)
    yield "least squares", stope.LinearRegression(device=device).fit(X, X[:, 2] * 2 + 1).coef_
    yield "Aᵀ(Ax)", stope.gram_matvec(X, X[0], device=device)
    yield "variance", column_stats(X, device=device).variance
    yield "distances", stope.pairwise_distances(X[:200], X[:300], metric="manhattan", device=device)


def test_every_job_has_the_cpus_bits_on_a_gpu():
    for (name, on_cpu), (_, on_gpu) in zip(fitted("cpu"), fitted("cuda")):
        assert np.array_equal(np.asarray(on_cpu), np.asarray(on_gpu)), name
