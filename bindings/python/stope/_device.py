"""Arrays in a GPU's memory: CuPy's, PyTorch's, Numba's, and all that speak DLPack or ``__cuda_array_interface__``."""

import importlib

import numpy as np

from . import _core
from ._checks import check_shape, refuse_missing
from .errors import InvalidArgumentError, UnsupportedError

__all__ = ["DeviceView", "checked_view", "device_kneighbors", "device_view", "estimator_kneighbors", "on_host"]

_CUDA = (2, 13)  # DLPack's numbers of CUDA's memory, and of the one that it shares with the CPU
_DEFAULT_STREAM = 1  # the number of the default stream in both interfaces; the engine's is 0


class DeviceView:
    """An array of another library in a GPU's memory.

    Attributes
    ----------
    native : _core.DeviceArray
        Its memory, type, shape, GPU and stream. The engine reads it after all that the stream has queued.
    source : object
        The array itself.
    library : str
        The library's name: cupy, torch, numba, jax, ...
    """

    def __init__(self, source, native):
        self.source, self.native = source, native
        self.library = type(source).__module__.partition(".")[0]

    @property
    def shape(self):
        return self.native.shape

    @property
    def n_rows(self):
        return self.native.shape[0]

    def empty(self, n_columns, dtype):
        """A new array of the same library, in the same GPU, with as many rows: for results."""
        shape = (self.n_rows, n_columns)
        if self.library == "cupy":
            import cupy

            with cupy.cuda.Device(self.native.gpu):
                return cupy.empty(shape, dtype=dtype)
        if self.library == "torch":
            import torch

            return torch.empty(shape, dtype=getattr(torch, dtype), device=self.source.device)
        if self.library == "numba":
            from numba import cuda

            with cuda.gpus[self.native.gpu]:
                return cuda.device_array(shape, dtype=dtype)
        raise UnsupportedError(f"stope cannot make arrays of {self.library}; give it arrays of CuPy, PyTorch or Numba "
                               "for the results: out=(distances, indices)")

    def labels(self, classes, codes):
        """The classes of codes that lie in this GPU: an array of the same library, or of NumPy where the library has no
        such type."""
        try:
            if classes.dtype.kind in "fiub" and self.library == "cupy":
                import cupy

                with cupy.cuda.Device(self.native.gpu):
                    return cupy.asarray(classes)[codes]
            if classes.dtype.kind in "fiub" and self.library == "torch":
                import torch

                return torch.as_tensor(classes, device=self.source.device)[codes.long()]
        except (TypeError, ValueError):
            pass  # unsigned or long numbers
        labels = classes[on_host(codes)]
        if classes.dtype.kind in "fiub" and self.library == "numba":
            from numba import cuda

            with cuda.gpus[self.native.gpu]:
                return cuda.to_device(labels)
        return labels

    def finiteness(self):
        """"finite", "nan" or "infinite", by the array's own library; "finite" where that has no such function."""
        if self.library not in ("cupy", "torch") or self.native.type not in ("float32", "float64"):
            return "finite"
        module = importlib.import_module(self.library)
        if bool(module.isfinite(self.source).all()):
            return "finite"
        return "infinite" if bool(module.isinf(self.source).any()) else "nan"


def device_view(array):
    """Return the :class:`DeviceView` of an array that lies in a GPU's memory; None for all other objects.

    Nothing is copied, and no CUDA library is needed. Raises ValueError for an interface that contradicts itself, and
    for arrays that have not two dimensions.
    """
    if type(array) is np.ndarray:
        return None
    try:
        interface = getattr(array, "__cuda_array_interface__", None)
    except (TypeError, RuntimeError, KeyError):  # PyTorch's answers for a tensor that needs a gradient, and for float8
        interface = None
    if interface is not None:
        return DeviceView(array, _of_interface(array, interface))
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        kind = tuple(array.__dlpack_device__())
        if len(kind) == 2 and int(kind[0]) in _CUDA:
            capsule = array.__dlpack__(stream=_DEFAULT_STREAM)
            native = _core.DeviceArray.of_dlpack(capsule, 0, array)
            return DeviceView(array, native)
    return None


def on_host(array):
    """An array of a GPU as NumPy's; anything else as it is."""
    if type(array) is np.ndarray:
        return array
    for copy in ("get", "copy_to_host"):  # CuPy's, Numba's
        if hasattr(array, "__cuda_array_interface__") and hasattr(array, copy):
            return getattr(array, copy)()
    if type(array).__module__.partition(".")[0] == "torch":
        return array.detach().cpu().numpy()
    return array


def device_kneighbors(index, view, n_neighbors, run, out=None):
    """Search for the nearest rows of rows in a GPU's memory.

    Parameters
    ----------
    index : _core.KnnIndex
    view : DeviceView
        The queries, of shape (n_queries, n_features).
    out : tuple of two arrays or None
        Where distances (float64) and indices (int64) go: arrays in C order of shape (n_queries, n_neighbors), in the
        GPU of the queries. None makes new ones of the same library.

    Returns
    -------
    distances, indices : arrays of the same kind as the queries, or those of ``out``
    """
    if out is None:
        out = view.empty(n_neighbors, "float64"), view.empty(n_neighbors, "int64")
    if len(out) != 2:
        raise InvalidArgumentError("out is a pair of arrays: distances and indices")
    views = [device_view(array) for array in out]
    if None in views:
        raise InvalidArgumentError("out: distances and indices must lie in the GPU of the queries")
    if any(_is_read_only(array) for array in out):
        raise InvalidArgumentError("out: distances and indices are written, but an array says that it is read-only")
    _core.kneighbors_into(index, view.native, n_neighbors, views[0].native, views[1].native, run)
    return tuple(out)


def estimator_kneighbors(estimator, view, n_neighbors=None, return_distance=True):
    """The ``kneighbors`` of an estimator of neighbours for a :class:`DeviceView`: lists of the same kind of array."""
    index = checked_view(estimator, view)
    k = estimator._checked_k(n_neighbors, view)
    with estimator._job() as run:
        distances, indices = device_kneighbors(index, view, k, run)
    return (distances, indices) if return_distance else indices


def checked_view(estimator, view):
    """Check queries of a fitted estimator that lie in a GPU; returns the engine's index."""
    estimator._require_fit()
    check_shape(estimator, view.shape, False, 1)
    index = getattr(estimator._search, "index", None)
    if index is None or not estimator._has_numbers:
        raise UnsupportedError("rows in a GPU's memory need a metric of the engine and columns of numbers only")
    state = view.finiteness()
    if state == "infinite":
        raise ValueError(f"Input X contains infinity or a value too large for {view.native.type}.")
    if state == "nan" and not estimator._takes_missing:
        refuse_missing(estimator)
    return index


def _of_interface(array, interface):
    """The array that a ``__cuda_array_interface__`` describes."""
    try:
        shape = tuple(interface["shape"])
        typestr = interface["typestr"]
        address = interface["data"][0]
    except (KeyError, TypeError, IndexError) as error:
        raise InvalidArgumentError("__cuda_array_interface__ lacks shape, typestr or data") from error
    if interface.get("mask") is not None:
        raise UnsupportedError("__cuda_array_interface__ has a mask; stope takes arrays without one")
    _check_shape(shape)
    dtype = _dtype_of(typestr)
    strides = interface.get("strides")
    if strides is None:
        strides = (shape[1] * dtype.itemsize, dtype.itemsize)
    if not isinstance(strides, (tuple, list)) or len(strides) != 2 or not all(_is_whole(stride) for stride in strides):
        raise InvalidArgumentError(f"__cuda_array_interface__ has the strides {strides} for the shape {shape}")
    if any(stride % dtype.itemsize for stride in strides):
        raise UnsupportedError("an array has strides that are no whole numbers of elements")
    if address is None:
        address = 0
    if not _is_whole(address) or not 0 <= address < 2**64 or address % dtype.itemsize:
        raise InvalidArgumentError(f"__cuda_array_interface__ has the address {address!r}")
    if max(*shape, *map(abs, strides)) >= 2**62:
        raise InvalidArgumentError(f"__cuda_array_interface__ has the shape {shape} and the strides {strides}")
    kind = "boolean" if dtype.kind == "b" else dtype.name
    steps = [stride // dtype.itemsize for stride in strides]
    return _core.DeviceArray(address, kind, *shape, *steps, _gpu_of(array), _stream_of(array, interface), array)


def _is_read_only(array):
    interface = getattr(array, "__cuda_array_interface__", None)
    return interface is not None and bool(interface["data"][1])


def _is_whole(number):
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _check_shape(shape):
    if len(shape) != 2 or not all(_is_whole(size) and size >= 0 for size in shape):
        raise InvalidArgumentError(f"Expected 2D array, got an array of the shape {tuple(shape)} in a GPU's memory")


def _dtype_of(typestr):
    try:
        dtype = np.dtype(typestr if isinstance(typestr, str) else "")
    except TypeError as error:
        raise InvalidArgumentError(f"__cuda_array_interface__ has the type {typestr!r}") from error
    if not dtype.isnative:
        raise UnsupportedError(f"an array has elements of the type {typestr}, of another byte order than the machine's")
    return dtype


def _gpu_of(array):
    """The number of the GPU: the interface does not tell it, the array's own attributes do."""
    device = getattr(array, "device", None)
    for attribute in ("id", "index"):
        number = getattr(device, attribute, None)
        if _is_whole(number):
            return int(number)
    if hasattr(array, "__dlpack_device__"):
        return int(tuple(array.__dlpack_device__())[1])
    return 0


def _stream_of(array, interface):
    """The stream whose work comes before the search: the interface's, else the library's current one."""
    stream = interface.get("stream")
    if stream is not None:
        if not _is_whole(stream) or not 0 < stream < 2**64:
            raise InvalidArgumentError(f"__cuda_array_interface__ has the stream {stream!r}; 0 is not allowed")
        return 0 if stream == _DEFAULT_STREAM else int(stream)
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        import torch

        return int(torch.cuda.current_stream(array.device).cuda_stream)
    return 0
