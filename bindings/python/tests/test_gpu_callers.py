"""What callers do with arrays in a real GPU: their streams, views, types, gradients, other GPUs, memory that is none."""

import threading

import numpy as np
import pytest

from stope import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors, _core, column_stats, errors
from stope._device import device_kneighbors, device_view

torch = pytest.importorskip("torch", reason="needs an NVIDIA GPU and PyTorch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU and PyTorch")

N_ROWS, N_QUERIES, N_COLUMNS, K = 20_000, 300, 24, 7
CYCLES = 400_000_000  # of a stream that is kept busy: some 0.2 s


class Search:
    """A model on a GPU, its queries, and the lists of the CPU."""

    def __init__(self):
        rng = np.random.default_rng(3)
        self.rows = rng.normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32)
        self.rows[100] = self.rows[7]  # a tie
        self.queries = self.rows[:N_QUERIES] + np.float32(0.125)
        self.cpu = NearestNeighbors(n_neighbors=K, device="cpu").fit(self.rows)
        self.gpu = NearestNeighbors(n_neighbors=K, device="cuda").fit(self.rows)
        self.expected = self.cpu.kneighbors(self.queries)
        self.gpu.kneighbors(self.tensor())  # everything is loaded

    def tensor(self, gpu=0):
        return torch.as_tensor(self.queries, device=f"cuda:{gpu}")

    def check(self, lists):
        for found, expected in zip(lists, self.expected):
            assert np.array_equal(host(found), expected)


def host(array):
    if isinstance(array, np.ndarray):
        return array
    return array.get() if hasattr(array, "get") else array.cpu().numpy()


@pytest.fixture(scope="module")
def search():
    return Search()


@pytest.fixture
def stream():
    made = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(made):
        yield made


class OnlyDLPack:
    """A tensor that tells of itself by DLPack alone."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **how):
        return self.tensor.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


class Interface:
    """An array that says of itself what it is told to."""

    def __init__(self, shape, address, typestr="<f4", read_only=False):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (address, read_only), "version": 3}


def new_lists(rows=N_QUERIES, **where):
    where = where or {"device": "cuda"}
    return torch.empty((rows, K), dtype=torch.float64, **where), torch.empty((rows, K), dtype=torch.int64, **where)


def kneighbors_into(search, queries, out):
    return device_kneighbors(search.gpu._search.index, device_view(queries), K, _core.Run(0, 0, "cuda"), out)


# --- the order of streams


def test_a_reader_in_the_callers_stream_finds_whole_lists(search, stream):
    queries = search.tensor()
    lists = search.gpu.kneighbors(queries)
    copies = [array.clone() for array in lists]
    for array in lists:
        array.zero_()
    search.check(copies)


def test_what_waits_in_the_callers_stream_for_the_memory_of_the_lists_comes_first(search, stream):
    queries, out = search.tensor(), new_lists()
    torch.cuda._sleep(CYCLES)
    for array in out:
        array.fill_(-1)
    search.check(kneighbors_into(search, queries, out))


def test_dlpack_puts_a_busy_stream_in_order(search, stream):
    source, out = search.tensor(), new_lists()
    late = torch.zeros_like(source)
    torch.cuda._sleep(CYCLES)
    late.copy_(source)
    search.check(kneighbors_into(search, OnlyDLPack(late), out))


def test_a_stream_of_cupy_that_does_not_block_comes_first(search):
    cupy = pytest.importorskip("cupy")
    source, heavy = cupy.asarray(search.queries), cupy.ones((8192, 8192), dtype=np.float32)
    late = cupy.zeros_like(source)
    cupy.matmul(heavy, heavy)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as busy:
        for _ in range(12):
            product = cupy.matmul(heavy, heavy)
        late[...] = source + product[0, 0] * 0
        lists = search.gpu.kneighbors(late)
        assert type(lists[0]).__module__.startswith("cupy")
        copies = [array.copy() for array in lists]
        busy.synchronize()
    search.check(copies)


def test_statistics_wait_for_the_callers_stream(search, stream):
    source = search.tensor()
    late = torch.zeros_like(source)
    torch.cuda._sleep(CYCLES)
    late.copy_(source)
    assert np.array_equal(column_stats(late).mean, column_stats(search.queries).mean)


def test_a_tensor_that_is_freed_behind_the_call_was_read_before(search, stream):
    lists = search.gpu.kneighbors(search.tensor() + 0.0)
    for _ in range(20):  # the allocator gives its memory to the next
        torch.full((N_QUERIES, N_COLUMNS), float("nan"), device="cuda")
    search.check(lists)


def test_threads_with_streams_of_their_own_search_at_once(search):
    found, source = [None] * 8, search.tensor()

    def work(i):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(5):
                late = torch.zeros_like(source)
                torch.cuda._sleep(CYCLES // 50)
                late.copy_(source)
                found[i] = search.gpu.kneighbors(late)

    torch.cuda.synchronize()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    for lists in found:
        search.check(lists)


def test_the_callers_stream_and_gpu_stay_what_they_were(search, stream):
    before = torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream
    search.gpu.kneighbors(search.tensor())
    column_stats(search.tensor())
    NearestNeighbors(device="cuda").fit(search.rows).kneighbors(search.queries)
    assert (torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream) == before


# --- types and views


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda"])
def test_lists_lie_with_the_queries_wherever_the_search_ran(device, search):
    lists = NearestNeighbors(n_neighbors=K, device=device).fit(search.rows).kneighbors(search.tensor())
    assert all(array.is_cuda for array in lists)
    search.check(lists)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "bool", "float64"])
def test_every_type_of_a_tensor_means_its_numbers(dtype, search):
    values = torch.as_tensor((search.queries * 40), device="cuda").clamp(-100, 100)
    values = values.abs() if dtype == "uint8" else values
    tensor = values.to(getattr(torch, dtype))
    expected = search.cpu.kneighbors(tensor.cpu().numpy().astype(np.float64))
    for found, wanted in zip(search.gpu.kneighbors(tensor), expected):
        assert np.array_equal(host(found), wanted)
    of_gpu, of_cpu = column_stats(tensor), column_stats(tensor.cpu().numpy())
    assert np.array_equal(of_gpu.mean, of_cpu.mean) and np.array_equal(of_gpu.variance, of_cpu.variance)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "float8_e4m3fn"])
def test_a_type_that_stope_does_not_take_is_refused_in_words(dtype, search):
    tensor = search.tensor().to(getattr(torch, dtype))
    for job in (search.gpu.kneighbors, column_stats):
        with pytest.raises((ValueError, TypeError, BufferError)) as refusal:
            job(tensor)
        assert str(refusal.value)


def test_views_are_read_where_they_lie(search):
    wide = torch.full((2 * N_QUERIES, N_COLUMNS + 5), float("nan"), device="cuda")
    inner = wide[1::2, 3 : 3 + N_COLUMNS]
    inner.copy_(search.tensor())
    search.check(search.gpu.kneighbors(inner))
    spread = torch.full((N_QUERIES, N_COLUMNS, 3), float("nan"), device="cuda")
    spread[:, :, 1] = search.tensor()
    search.check(search.gpu.kneighbors(spread[:, :, 1]))
    assert np.array_equal(column_stats(inner).mean, column_stats(search.queries).mean)
    assert np.array_equal(column_stats(inner[:, 2]).mean, column_stats(search.queries[:, 2]).mean)


def test_a_view_that_runs_backwards_is_read_backwards(search):
    cupy = pytest.importorskip("cupy")
    backwards = cupy.asarray(search.queries[::-1].copy())[::-1]
    assert backwards.strides[0] < 0
    search.check(search.gpu.kneighbors(backwards))
    assert np.array_equal(column_stats(backwards).max_row, column_stats(search.queries).max_row)


def test_one_row_that_is_repeated_by_a_stride_of_zero_is_refused(search):
    with pytest.raises(errors.UnsupportedError, match="repeats one row"):
        search.gpu.kneighbors(search.tensor()[:1].expand(4, N_COLUMNS))


def test_one_query_and_none(search):
    distances, indices = search.gpu.kneighbors(search.tensor()[:1])
    assert np.array_equal(host(distances), search.expected[0][:1])
    assert np.array_equal(host(indices), search.expected[1][:1])
    with pytest.raises(ValueError, match="0 sample"):
        search.gpu.kneighbors(search.tensor()[:0])


def test_a_tensor_that_needs_a_gradient_is_refused_with_the_way_out(search):
    with pytest.raises((ValueError, TypeError, RuntimeError, BufferError), match="detach"):
        search.gpu.kneighbors(search.tensor().requires_grad_())
    search.check(search.gpu.kneighbors(search.tensor().requires_grad_().detach()))


def test_a_sparse_tensor_is_refused(search):
    with pytest.raises((ValueError, TypeError, RuntimeError, BufferError)):
        search.gpu.kneighbors(search.tensor().to_sparse())


def test_arrays_of_jax_are_read_by_what_they_tell(search, monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    array = jax.numpy.asarray(search.queries)
    if "cuda" not in str(array.device).lower():
        pytest.skip("this JAX has no GPU")
    assert np.array_equal(column_stats(array).variance, column_stats(search.queries).variance)
    search.check(kneighbors_into(search, array, new_lists()))
    with pytest.raises(errors.UnsupportedError, match="cannot make arrays of jax"):
        search.gpu.kneighbors(array)


# --- memory that is not what it is said to be


def test_queries_that_are_read_only_are_read_and_such_lists_are_refused(search):
    tensor, out = search.tensor(), new_lists()
    told = Interface(tuple(tensor.shape), tensor.data_ptr(), read_only=True)
    search.check(kneighbors_into(search, told, out))
    locked = Interface(tuple(out[0].shape), out[0].data_ptr(), "<f8", read_only=True)
    with pytest.raises(errors.InvalidArgumentError, match="read-only"):
        kneighbors_into(search, tensor, (locked, out[1]))


def test_memory_of_the_host_that_says_it_is_a_gpus_is_refused(search):
    there = search.queries.ctypes.data
    for job in (lambda array: kneighbors_into(search, array, new_lists()), column_stats):
        with pytest.raises(ValueError, match="no GPU's"):
            job(Interface(search.queries.shape, there))
    search.check(search.gpu.kneighbors(search.tensor()))  # and CUDA has kept no error


def test_memory_that_ends_before_the_array_is_refused(search):
    tensor = search.tensor()
    with pytest.raises(ValueError, match="no GPU's"):
        column_stats(Interface((1 << 40, N_COLUMNS), tensor.data_ptr()))
    search.check(search.gpu.kneighbors(tensor))


def test_lists_in_the_hosts_memory_are_refused(search):
    with pytest.raises(errors.InvalidArgumentError, match="must lie in the GPU"):
        kneighbors_into(search, search.tensor(), new_lists(device="cpu"))


def test_managed_memory_is_read(search):
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        queries = cupy.asarray(search.queries)
    cupy.cuda.Device().synchronize()
    search.check(search.gpu.kneighbors(queries))


def test_a_tensor_of_the_host_gives_lists_of_numpy(search):
    lists = search.gpu.kneighbors(torch.as_tensor(search.queries).pin_memory())
    assert all(type(array) is np.ndarray for array in lists)
    assert all(np.array_equal(found, wanted) for found, wanted in zip(lists, search.expected))


# --- fits, predictions and scores


class Voted:
    """Estimators fitted on both sides, and what the host predicts."""

    def __init__(self, search, weights):
        rng = np.random.default_rng(5)
        self.labels, self.targets = rng.integers(3, 8, N_ROWS), rng.normal(size=N_ROWS)
        self.truth = rng.integers(3, 8, N_QUERIES)
        rows = torch.as_tensor(search.rows, device="cuda")
        self.classifier = KNeighborsClassifier(K, weights=weights, device="cuda").fit(rows, torch.as_tensor(self.labels))
        self.regressor = KNeighborsRegressor(K, weights=weights, device="cuda").fit(rows, self.targets)
        self.host_classifier = KNeighborsClassifier(K, weights=weights, device="cpu").fit(search.rows, self.labels)
        self.host_regressor = KNeighborsRegressor(K, weights=weights, device="cpu").fit(search.rows, self.targets)
        rows.fill_(float("nan"))  # the fit has read them


@pytest.fixture(params=["uniform", "distance"])
def voted(request, search):
    return Voted(search, request.param)


def test_predictions_lie_with_the_queries_and_are_the_hosts(voted, search):
    queries = search.tensor()
    labels, shares = voted.classifier.predict(queries), voted.classifier.predict_proba(queries)
    means = voted.regressor.predict(queries)
    assert labels.is_cuda and shares.is_cuda and means.is_cuda
    assert "on the GPU" in str(voted.regressor.report_)
    assert np.array_equal(host(labels), voted.host_classifier.predict(search.queries))
    assert np.array_equal(host(shares), voted.host_classifier.predict_proba(search.queries))
    assert np.array_equal(host(means), voted.host_regressor.predict(search.queries))
    truth = torch.as_tensor(voted.truth, device="cuda")
    assert voted.classifier.score(queries, truth) == voted.host_classifier.score(search.queries, voted.truth)
    assert voted.regressor.score(queries, truth) == voted.host_regressor.score(search.queries, voted.truth)


def test_predictions_wait_for_a_busy_stream(voted, search, stream):
    source = search.tensor()
    late = torch.zeros_like(source)
    torch.cuda._sleep(CYCLES)
    late.copy_(source)
    assert np.array_equal(host(voted.classifier.predict(late)), voted.host_classifier.predict(search.queries))


def test_a_fit_waits_for_a_busy_stream(search, stream):
    source = torch.as_tensor(search.rows, device="cuda")
    late = torch.zeros_like(source)
    torch.cuda._sleep(CYCLES)
    late.copy_(source)
    model = NearestNeighbors(n_neighbors=K, device="cuda").fit(late)
    late.zero_()
    search.check(model.kneighbors(search.tensor()))
    search.check(model.kneighbors(search.queries))  # by the host's rows or the GPU's
    assert np.array_equal(model._fit_X, search.rows.astype(np.float64))


def test_predictions_of_cupy_are_arrays_of_cupy(voted, search):
    cupy = pytest.importorskip("cupy")
    labels = voted.classifier.predict(cupy.asarray(search.queries))
    assert type(labels).__module__.startswith("cupy")
    assert np.array_equal(labels.get(), voted.host_classifier.predict(search.queries))


def test_rows_that_lack_values_are_refused_in_a_gpu(search):
    rows = torch.as_tensor(search.rows, device="cuda")
    rows[5, 2] = float("nan")
    with pytest.raises(ValueError, match="Input X contains NaN"):
        NearestNeighbors(device="cuda").fit(rows)
    rows[5, 2] = float("inf")
    with pytest.raises(ValueError, match="Input X contains infinity"):
        NearestNeighbors(device="cuda").fit(rows)


# --- several GPUs


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two NVIDIA GPUs")
def test_queries_of_another_gpu_are_searched_there(search):
    lists = NearestNeighbors(n_neighbors=K, device="cuda:1").fit(search.rows).kneighbors(search.tensor(1))
    assert all(array.device.index == 1 for array in lists)
    search.check(lists)
    assert torch.cuda.current_device() == 0
    assert np.array_equal(column_stats(search.tensor(1)).mean, column_stats(search.queries).mean)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two NVIDIA GPUs")
def test_a_search_that_is_bound_to_one_gpu_refuses_queries_of_another(search):
    bound = NearestNeighbors(n_neighbors=K, device="cuda:0").fit(search.rows)
    with pytest.raises(ValueError, match="GPU 1 has its memory, but the device is 'cuda:0'"):
        bound.kneighbors(search.tensor(1))
    with pytest.raises(errors.InvalidArgumentError, match="GPU of the queries"):
        kneighbors_into(search, search.tensor(), new_lists(device="cuda:1"))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two NVIDIA GPUs")
def test_two_gpus_share_a_search(search):
    model = NearestNeighbors(n_neighbors=K, device="cuda:0,1").fit(search.rows)
    assert all(np.array_equal(a, b) for a, b in zip(model.kneighbors(search.queries), search.expected))
