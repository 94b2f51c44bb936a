"""Parquet and Arrow files where the plug-in for files is missing: pyarrow reads and writes them, if it is installed."""

import os
import threading

from . import _core
from .errors import InvalidArgumentError, InvalidDataError, StopeError, UnsupportedError

__all__ = ["by_pyarrow", "read_by_pyarrow", "write_by_pyarrow"]

_PARQUET, _ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc", ".arrows")
_OPTIONS = ("target", "id", "sample_weight", "target_is_nominal", "nominal", "numeric")


def _format(path, format):
    if format:
        return format if format in ("parquet", "arrow") else ""
    lower = path.lower()
    return "parquet" if lower.endswith(_PARQUET) else "arrow" if lower.endswith(_ARROW) else ""


def by_pyarrow(path, format):
    """ "parquet" or "arrow", where pyarrow has to read or write this file; else the empty string."""
    found = _format(path, format)
    return "" if not found or _core.files_available() else found


def _pyarrow(path, format):
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        name = "a Parquet" if format == "parquet" else "an Arrow"
        raise UnsupportedError(
            f"{path}: is {name} file, which this build reads and writes by pyarrow alone: pip install pyarrow"
        ) from None
    return pyarrow


def read_by_pyarrow(path, format, options, run):
    """The engine's table of a file. Columns that are ignored are not read."""
    pyarrow = _pyarrow(path, format)
    options = {name: value for name, value in options.items() if name != "format"}
    ignored = options.pop("ignore", [])
    for name in options:
        if name not in _OPTIONS:
            raise InvalidArgumentError(f"read_table has no option '{name}' for files that pyarrow reads")
    try:
        names = _names(pyarrow, path, format)
        gone = {_name_of(item, names, path) for item in ignored}
        data = _read(pyarrow, path, format, [name for name in names if name not in gone])
    except (pyarrow.ArrowException, ValueError) as error:
        if isinstance(error, StopeError):
            raise
        raise InvalidDataError(f"{path}: {str(error).splitlines()[0]}") from None
    for option in ("target", "id", "sample_weight"):
        if options.get(option):
            options[option] = _name_of(options[option], names, path, option)
    return _core.Table.of_arrow(data.__arrow_c_stream__(), source=path, run=run, **options)


def _names(pyarrow, path, format):
    if format == "parquet":
        return pyarrow.parquet.read_schema(path).names
    return _opened(pyarrow, path).schema.names


def _read(pyarrow, path, format, names):
    if format == "parquet":
        return pyarrow.parquet.ParquetFile(path).read(columns=names)
    return _opened(pyarrow, path).read_all().select(names)


def _opened(pyarrow, path):
    source = pyarrow.memory_map(os.fspath(path))
    try:
        return pyarrow.ipc.open_file(source)
    except pyarrow.ArrowInvalid:
        source.seek(0)
        return pyarrow.ipc.open_stream(source)


def _name_of(item, names, path, option="ignore"):
    if item in names:
        return item
    if item.isdigit() and 1 <= int(item) <= len(names):
        return names[int(item) - 1]
    raise InvalidDataError(f"{path}: no column '{item}' ({option}) among its {len(names)} columns")


def write_by_pyarrow(table, path, format):
    """Write a Table; the file appears complete or not at all."""
    pyarrow = _pyarrow(path, format)
    data = pyarrow.table(table)
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with open(temporary, "xb") as file:
            if format == "parquet":
                pyarrow.parquet.write_table(data, file, compression="zstd")
            else:
                open_writer = pyarrow.ipc.new_stream if path.lower().endswith(".arrows") else pyarrow.ipc.new_file
                with open_writer(file, data.schema) as writer:
                    writer.write_table(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
