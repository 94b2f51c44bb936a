"""Columns of a Spark DataFrame: which the engine takes, as what, and in which words it refuses the others."""

import difflib
from dataclasses import dataclass

from ..errors import InvalidArgumentError, UnsupportedError

__all__ = ["FrameColumn", "Extremes", "check_id", "columns_of", "expression", "quoted", "require_pyspark"]

_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
_NUMBERS = _WHOLE | {"float", "double", "boolean", "void", "date", "timestamp", "timestamp_ntz"}


def require_pyspark():
    """Import pyspark's functions, or say what to install."""
    try:
        from pyspark.sql import functions
    except ImportError as error:
        raise ImportError("stope.spark needs PySpark 4: pip install 'stope[spark]'") from error
    return functions


@dataclass(frozen=True)
class FrameColumn:
    """One column of a DataFrame: its name, its type in Spark's words, and whether it holds names instead of numbers."""

    name: str
    type: str

    @property
    def nominal(self):
        return self.type.partition("(")[0] in ("string", "char", "varchar") or self.type.startswith("string ")

    @property
    def fractional(self):
        """Whether the column can hold NaN."""
        return self.type in ("float", "double")


def quoted(name):
    """The name as SQL's expressions take any name, with dots and backquotes in it."""
    return "`" + name.replace("`", "``") + "`"


def _column(df, name, what):
    if not isinstance(name, str):
        raise InvalidArgumentError(f"{what}: the name of a column is a str; got {name!r}")
    found = df.columns.count(name)
    if found == 0:
        near = difflib.get_close_matches(name, df.columns, 1)
        raise InvalidArgumentError(
            f"{what}: the DataFrame has no column {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    if found > 1:
        raise InvalidArgumentError(f"{what}: the DataFrame has {found} columns of the name {name!r}")
    return FrameColumn(name, df.schema[name].dataType.simpleString())


def columns_of(df, names, what="columns", without=()):
    """The columns that are features: those named, or all but ``without``.

    Raises
    ------
    InvalidArgumentError
        For a name that the DataFrame lacks or has twice, and where there is no column at all.
    UnsupportedError
        For a type that is neither numbers nor names.
    """
    if names is None:
        names = [name for name in df.columns if name not in without]
    elif isinstance(names, str):
        raise InvalidArgumentError(f"{what}: a list of names is wanted; got the str {names!r}")
    names = list(names)
    if not names:
        raise InvalidArgumentError(f"{what}: there is no column left to compute with")
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgumentError(f"{what}: {name!r} stands twice")
        if name in without:
            raise InvalidArgumentError(f"{what}: {name!r} has another use in this call")
    columns = [_column(df, name, what) for name in names]
    for column in columns:
        if not column.nominal and column.type not in _NUMBERS and not column.type.startswith("decimal("):
            raise UnsupportedError(
                f"column {column.name!r} has the type {column.type}, which is neither numbers nor names"
            )
    return columns


def check_id(df, name, what):
    """The column of ids. Raises InvalidArgumentError if it is none of whole numbers."""
    column = _column(df, name, what)
    if column.type not in _WHOLE:
        raise InvalidArgumentError(
            f"{what}: {name!r} has the type {column.type}; ids are whole numbers of at most 64 bits"
        )
    return column


def expression(column):
    """The column as tasks read it: booleans are the whole numbers 0 and 1, and nothing is missing numbers.

    Names lose their collation, which may take different names for equal ones.
    """
    functions = require_pyspark()
    found = functions.col(quoted(column.name))
    other = "string" if column.nominal else {"boolean": "int", "void": "double"}.get(column.type)
    return found if other in (None, column.type) else found.cast(other)


class Extremes:
    """Aggregates that find the smallest and the largest present value of numbers, without NaN."""

    def __init__(self, columns):
        self.columns = [column for column in columns if not column.nominal]

    def aggregates(self):
        """Two aggregates a column."""
        functions = require_pyspark()
        found = []
        for index, column in enumerate(self.columns):
            value = expression(column)
            if column.fractional:
                value = functions.when(~functions.isnan(value), value)
            found.append(functions.min(value).alias(f"min{index}"))
            found.append(functions.max(value).alias(f"max{index}"))
        return found

    def arrays(self, row):
        """An array of two values for each column, by its name, out of the one row of aggregates (an Arrow table)."""
        import pyarrow as pa

        return {
            column.name: pa.concat_arrays([
                row.column(f"min{index}").combine_chunks(), row.column(f"max{index}").combine_chunks()
            ])
            for index, column in enumerate(self.columns)
        }
