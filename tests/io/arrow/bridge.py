"""The C structures of Arrow, and import_arrow and export_arrow (bridge.cpp) called through ctypes."""

import ctypes
import os
import pathlib
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int32, c_int64, c_void_p

import numpy as np
import pyarrow as pa

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARY = os.environ.get("STOPE_ARROW_BRIDGE", str(ROOT / "build" / "release" / "tests" / "libstope_arrow_bridge.so"))
ROLES = ["regular", "label", "id", "weight", "ignore"]


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))), ("dictionary", POINTER(Schema)), ("release", c_void_p), ("private_data", c_void_p),
]
Array._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))), ("dictionary", POINTER(Array)),
    ("release", c_void_p), ("private_data", c_void_p),
]


class DeviceArray(ctypes.Structure):
    _fields_ = [("array", Array), ("device_id", c_int64), ("device_type", c_int32), ("sync_event", c_void_p),
                ("reserved", c_int64 * 3)]


class Stream(ctypes.Structure):
    _fields_ = [("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p), ("release", c_void_p),
                ("private_data", c_void_p)]


def _library():
    library = ctypes.CDLL(LIBRARY)
    for name, result, arguments in [
        ("error", c_char_p, []),
        ("import_stream", c_void_p, [c_void_p, c_int32, c_int32]),
        ("import_batch", c_void_p, [c_void_p, c_void_p]),
        ("import_device", c_void_p, [c_void_p, c_void_p]),
        ("export_stream", c_bool, [c_void_p, c_void_p, c_int64]),
        ("export_batch", c_bool, [c_void_p, c_void_p, c_void_p]),
        ("free", None, [c_void_p]),
        ("n_rows", c_int64, [c_void_p]),
        ("n_columns", c_int64, [c_void_p]),
        ("name", c_char_p, [c_void_p, c_int64]),
        ("type", c_char_p, [c_void_p, c_int64]),
        ("set_role", None, [c_void_p, c_int64, c_int32]),
        ("role", c_int32, [c_void_p, c_int64]),
        ("address", c_void_p, [c_void_p, c_int64]),
        ("width", c_int64, [c_void_p, c_int64]),
        ("values", None, [c_void_p, c_int64, POINTER(c_double)]),
        ("n_values", c_int64, [c_void_p, c_int64]),
        ("value_name", c_void_p, [c_void_p, c_int64, c_int64, POINTER(c_int64)]),
    ]:
        function = getattr(library, "arrow_" + name)
        function.restype, function.argtypes = result, arguments
    return library


library = _library()


class Refused(Exception):
    """What import_arrow or export_arrow threw: "code: message"."""


def _checked(result):
    if not result:
        raise Refused(library.arrow_error().decode("utf-8", "replace"))
    return result


def pointer(structure):
    return ctypes.addressof(structure)


class Table:
    """A stope::Table that was imported."""

    def __init__(self, handle):
        self.handle = _checked(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        library.arrow_free(self.handle)
        self.handle = None

    @property
    def n_rows(self):
        return library.arrow_n_rows(self.handle)

    @property
    def names(self):
        return [library.arrow_name(self.handle, c).decode() for c in range(library.arrow_n_columns(self.handle))]

    def type(self, column):
        return library.arrow_type(self.handle, column).decode()

    def role(self, column):
        return ROLES[library.arrow_role(self.handle, column)]

    def set_role(self, column, role):
        library.arrow_set_role(self.handle, column, ROLES.index(role))

    def address(self, column):
        return library.arrow_address(self.handle, column)

    def width(self, column):
        return library.arrow_width(self.handle, column)

    def numbers(self, column):
        values = np.empty(self.n_rows)
        library.arrow_values(self.handle, column, values.ctypes.data_as(POINTER(c_double)))
        return values

    def value_list(self, column):
        size = c_int64()
        return [ctypes.string_at(library.arrow_value_name(self.handle, column, code, ctypes.byref(size)), size.value).decode()
                for code in range(library.arrow_n_values(self.handle, column))]

    def strings(self, column):
        names = self.value_list(column)
        return [None if np.isnan(code) else names[int(code)] for code in self.numbers(column)]

    def to_stream(self, batch_rows=0):
        stream = Stream()
        _checked(library.arrow_export_stream(self.handle, pointer(stream), batch_rows))
        return pa.RecordBatchReader._import_from_c(pointer(stream)).read_all()

    def to_batch(self):
        schema, array = Schema(), Array()
        _checked(library.arrow_export_batch(self.handle, pointer(schema), pointer(array)))
        return pa.RecordBatch._import_from_c(pointer(array), pointer(schema))


def from_stream(reader, by_appearance=False, copied=False):
    stream = Stream()
    reader._export_to_c(pointer(stream))
    handle = library.arrow_import_stream(pointer(stream), int(by_appearance), int(copied))
    assert stream.release is None
    return Table(handle)


def from_batch(batch, spoil=None):
    """Imports a batch. `spoil` may damage its schema and its array on the way."""
    schema, array = Schema(), Array()
    batch._export_to_c(pointer(array), pointer(schema))
    kept = spoil(schema, array) if spoil is not None else None
    handle = library.arrow_import_batch(pointer(schema), pointer(array))
    assert schema.release is None and array.release is None
    del kept
    return Table(handle)


def from_device(batch, device_type):
    schema, device = Schema(), DeviceArray()
    batch._export_to_c(pointer(device.array), pointer(schema))
    device.device_type, device.device_id = device_type, 1
    handle = library.arrow_import_device(pointer(schema), pointer(device))
    assert schema.release is None and device.array.release is None
    return Table(handle)
