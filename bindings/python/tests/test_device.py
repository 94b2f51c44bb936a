"""Arrays in a GPU's memory, by objects that describe memory which is not there: nothing may read it."""

import ctypes

import numpy as np
import pytest

from stope import NearestNeighbors, _core, _device, errors
from stope._device import device_kneighbors, device_view

BOGUS = 0x7F0000000000
# What a search in such memory ends with: CUDA is off or, on a machine with a GPU, no GPU has the memory.
NO_MEMORY = (errors.DeviceUnavailableError, errors.InvalidArgumentError)


class Device:
    def __init__(self, id):
        self.id = id


class Array:
    """Says that an array of ``shape`` lies in a GPU."""

    def __init__(self, shape=(4, 3), typestr="<f4", address=BOGUS, gpu=0, **more):
        self.device = Device(gpu)
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (address, False), "version": 3,
                                         **more}


def test_an_array_in_a_gpu_is_seen_as_it_describes_itself():
    view = device_view(Array((4, 3), gpu=2, stream=7))
    native = view.native
    assert (native.address, native.type, native.shape, native.strides) == (BOGUS, "float32", (4, 3), (3, 1))
    assert (native.gpu, native.stream, view.n_rows, view.shape) == (2, 7, 4, (4, 3))
    for typestr, name in (("<f8", "float64"), ("|b1", "boolean"), ("|i1", "int8"), ("<u4", "uint32"), ("<i8", "int64")):
        assert device_view(Array(typestr=typestr)).native.type == name
    assert device_view(Array(strides=(32, 8))).native.strides == (8, 2)
    assert device_view(Array(strides=(4, 16))).native.strides == (1, 4)
    assert device_view(Array(strides=(-12, 4))).native.strides == (-3, 1)
    assert device_view(Array((0, 3), address=0)).native.shape == (0, 3)


def test_streams_are_those_of_the_interface():
    assert device_view(Array(stream=None)).native.stream == 0
    assert device_view(Array(stream=1)).native.stream == 0  # the default stream
    assert device_view(Array(stream=2)).native.stream == 2  # the default stream of a thread
    for bad in (0, -1, "x", 2**64, True):
        with pytest.raises(ValueError, match="has the stream"):
            device_view(Array(stream=bad))


@pytest.mark.parametrize("wrong", [
    {"shape": (3,)}, {"shape": (2, 2, 2)}, {"shape": (-1, 3)}, {"shape": (1.5, 3)}, {"shape": None},
    {"shape": (2**63, 3)}, {"shape": (2**62, 3)}, {"shape": (True, 3)}, {"typestr": "<f2"}, {"typestr": ">f4"},
    {"typestr": "<c8"}, {"typestr": "x"}, {"typestr": None}, {"typestr": "<u8"}, {"typestr": "|O"}, {"address": 0},
    {"address": None}, {"address": 2**64}, {"address": -4}, {"address": "a"}, {"address": BOGUS + 1},
    {"strides": 3},
    {"strides": (4,)}, {"strides": (12, 2)}, {"strides": (0, 4)}, {"strides": (2**70, 4)}, {"strides": ("a", 4)},
    {"mask": 3}, {"gpu": -1},
])
def test_an_interface_that_contradicts_itself_is_an_exception(wrong):
    with pytest.raises((ValueError, TypeError)):
        device_view(Array(**wrong))


def test_an_interface_that_lacks_a_key_is_an_exception():
    for key in ("shape", "typestr", "data"):
        array = Array()
        del array.__cuda_array_interface__[key]
        with pytest.raises(errors.InvalidArgumentError, match="lacks shape, typestr or data"):
            device_view(array)
    array = Array()
    array.__cuda_array_interface__ = [1]
    with pytest.raises(errors.InvalidArgumentError):
        device_view(array)


def test_everything_else_is_no_array_in_a_gpu():
    import pandas as pd
    import polars as pl

    class Refuses:
        def __init__(self, how):
            self.how = how

        @property
        def __cuda_array_interface__(self):
            raise self.how

    for other in (None, 3, [[1.0]], np.eye(2), np.eye(2).view(np.matrix), pd.DataFrame({"a": [1]}),
                  pl.DataFrame({"a": [1]}), Refuses(TypeError("requires grad")), Refuses(KeyError("float8"))):
        assert device_view(other) is None


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _DLManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DLManagedTensor))
_DLManagedTensor._fields_ = [("tensor", _DLTensor), ("manager", ctypes.c_void_p), ("deleter", _Deleter)]


class Tensor:
    """An array that only DLPack tells of, as those of JAX."""

    def __init__(self, shape=(4, 3), device=(2, 1), name=b"dltensor", code=2, bits=32, lanes=1):
        self.shape, self.device, self.name, self.streams, self.freed = shape, device, name, [], 0
        self._sizes = (ctypes.c_int64 * len(shape))(*shape)
        self._deleter = _Deleter(self._free)
        self._managed = _DLManagedTensor(
            _DLTensor(BOGUS, *device, len(shape), code, bits, lanes, self._sizes, None, 0), None, self._deleter)

    def _free(self, _):
        self.freed += 1

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, **_):
        self.streams.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self._managed), self.name, None)


def test_dlpack_is_asked_to_synchronise_with_the_stream_that_reads():
    tensor = Tensor()
    view = device_view(tensor)
    assert tensor.streams == [1]
    native = view.native
    assert (native.address, native.type, native.shape, native.strides) == (BOGUS, "float32", (4, 3), (3, 1))
    assert (native.gpu, native.stream) == (1, 0)
    assert tensor.freed == 0
    del view, native
    assert tensor.freed == 1


@pytest.mark.parametrize("wrong", [
    {"shape": (3,)}, {"shape": (1, 2, 3)}, {"name": b"other"}, {"bits": 16}, {"code": 5, "bits": 64}, {"lanes": 4},
])
def test_a_tensor_that_no_search_takes_is_an_exception(wrong):
    with pytest.raises((ValueError, TypeError)):
        device_view(Tensor(**wrong))


def test_a_tensor_of_the_cpu_is_no_array_in_a_gpu():
    assert device_view(Tensor(device=(1, 0))) is None


INDEX = NearestNeighbors(n_neighbors=2).fit(np.random.default_rng(0).random((10, 3)))


def out(rows=4, k=2, **more):
    return Array((rows, k), "<f8", **more), Array((rows, k), "<i8", **more)


def test_a_search_in_memory_that_no_gpu_has_reads_nothing():
    view = device_view(Array())
    with pytest.raises(NO_MEMORY, match="CUDA is off|no GPU's"):
        device_kneighbors(INDEX._search.index, view, 2, _core.Run(), out())
    with pytest.raises(NO_MEMORY, match="CUDA is off|no GPU's"):
        device_kneighbors(INDEX._search.index, device_view(Tensor(device=(2, 0))), 2, _core.Run(), out())


@pytest.mark.parametrize("wrong", [
    lambda: (Array((4, 2), "<f4"), out()[1]), lambda: (out()[1], out()[0]), lambda: (out(3)[0], out()[1]),
    lambda: out(4, 3), lambda: out(strides=(64, 8)), lambda: out(gpu=1), lambda: out()[:1],
    lambda: (np.zeros((4, 2)),) * 2,
])
def test_memory_that_cannot_hold_the_lists_is_refused(wrong):
    with pytest.raises(errors.InvalidArgumentError, match="out"):
        device_kneighbors(INDEX._search.index, device_view(Array()), 2, _core.Run(), wrong())


def test_lists_that_say_they_are_read_only_are_not_written():
    locked = out()[0]
    locked.__cuda_array_interface__["data"] = (BOGUS, True)
    with pytest.raises(errors.InvalidArgumentError, match="read-only"):
        device_kneighbors(INDEX._search.index, device_view(Array()), 2, _core.Run(), (locked, out()[1]))
    queries = Array()
    queries.__cuda_array_interface__["data"] = (BOGUS, True)
    assert device_view(queries).native.address == BOGUS


def test_lists_are_made_by_the_library_of_the_queries(monkeypatch):
    import types

    made = []

    class CupyArray(Array):
        pass

    CupyArray.__module__ = "cupy._core.core"

    class Current:
        def __init__(self, gpu):
            made.append(gpu)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    class Mask:
        def __init__(self, value):
            self.value = value

        def all(self):
            return self.value

        any = all

    finite = [True]
    cupy = types.SimpleNamespace(
        empty=lambda shape, dtype: made.append((shape, dtype)) or Array(shape, np.dtype(dtype).str),
        cuda=types.SimpleNamespace(Device=Current), isfinite=lambda array: Mask(finite[0]),
        isinf=lambda array: Mask(False),
    )
    monkeypatch.setitem(__import__("sys").modules, "cupy", cupy)
    with pytest.raises(NO_MEMORY, match="CUDA is off|no GPU's"):
        INDEX.kneighbors(CupyArray())
    assert made == [0, ((4, 2), "float64"), 0, ((4, 2), "int64")]
    with pytest.raises(ValueError, match="X has 5 features, but NearestNeighbors is expecting 3"):
        INDEX.kneighbors(CupyArray((4, 5)))
    with pytest.raises(ValueError, match="n_neighbors = 11"):
        INDEX.kneighbors(CupyArray(), 11)
    finite[0] = False
    with pytest.raises(ValueError, match="Input X contains NaN"):
        INDEX.kneighbors(CupyArray())


def test_a_library_that_cannot_make_arrays_is_told_of_out():
    with pytest.raises(errors.UnsupportedError, match=r"out=\(distances, indices\)"):
        _device.DeviceView(Tensor(), device_view(Tensor()).native).empty(2, "float64")


def test_nominal_columns_and_metrics_of_python_do_not_take_a_gpus_rows():
    mixed = NearestNeighbors().fit([[1.0, "a"]] * 6)
    with pytest.raises(errors.UnsupportedError, match="columns of numbers only"):
        mixed.kneighbors(Array((2, 2)))
    called = NearestNeighbors(metric=lambda a, b: 0.0).fit(np.eye(6))
    with pytest.raises(errors.UnsupportedError, match="metric of the engine"):
        called.kneighbors(Array((2, 6)))
