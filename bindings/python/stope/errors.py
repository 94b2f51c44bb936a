"""The exceptions of stope: one class for each kind of failure, below the class that Python programs expect."""

__all__ = [
    "StopeError", "InvalidArgumentError", "InvalidDataError", "UnsupportedError", "OutOfMemoryError",
    "DeviceUnavailableError", "DeviceLostError", "CancelledError", "FileError", "InternalError",
]


class StopeError(Exception):
    """A failure of the engine.

    Attributes are None where they are not known: ``option`` (the parameter's name in the C++ API), ``feature`` (a
    column's name), ``row`` (from 0), ``file``, ``line`` and ``column`` (from 1), ``bytes`` (a memory limit that would
    do).
    """

    option = feature = row = file = line = column = bytes = None


class InvalidArgumentError(StopeError, ValueError):
    """The caller asked for something impossible: k = 0, an unknown metric, negative weights."""


class InvalidDataError(StopeError, ValueError):
    """Malformed or inconsistent data."""


class UnsupportedError(StopeError, ValueError):
    """Well-formed, but nothing that stope can do, such as a numeric metric on a nominal column."""


class OutOfMemoryError(StopeError, MemoryError):
    """The bytes needed exceed the memory limit or the machine."""


class DeviceUnavailableError(StopeError, RuntimeError):
    """The back end that was asked for is not available."""


class DeviceLostError(StopeError, RuntimeError):
    """A device failed in the middle of a job."""


class CancelledError(StopeError, RuntimeError):
    """The job was cancelled."""


class FileError(StopeError, OSError):
    """The operating system refused to open, read, write or rename a file."""


class InternalError(StopeError, RuntimeError):
    """A defect of stope."""


_CLASSES = {
    "invalid_argument": InvalidArgumentError,
    "invalid_data": InvalidDataError,
    "unsupported": UnsupportedError,
    "out_of_memory": OutOfMemoryError,
    "device_unavailable": DeviceUnavailableError,
    "device_lost": DeviceLostError,
    "cancelled": CancelledError,
    "io": FileError,
    "internal": InternalError,
}


def _exception_of(code, message, option, feature, row, file, line, column, bytes):
    """The exception of one stope::Error; called by the native module."""
    error = _CLASSES[code](message)
    error.option, error.feature, error.row = option, feature, row
    error.file, error.line, error.column, error.bytes = file, line, column, bytes
    return error
