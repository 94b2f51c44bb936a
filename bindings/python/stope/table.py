"""Tables as the engine holds them: typed columns with roles, exchanged with other libraries through Arrow."""

import html

import numpy as np

from . import _core
from ._columns import as_dates
from ._data import check_X
from ._frames import arrow_table
from ._run import data_run

__all__ = ["Table"]

_SHOWN = 5  # rows of a repr


class Table:
    """A table of the engine: columns of numbers or of nominal values, each with a role.

    Tables come from :func:`stope.read_table` and from the ``from_*`` methods. A table never changes. It can be handed
    to every estimator as X: its columns of the role "regular" are the features. pandas, polars, pyarrow and DuckDB read
    it through ``__arrow_c_stream__``.

    Parameters
    ----------
    data : DataFrame, array, dict of columns, Table, or an object with ``__arrow_c_stream__``
        As X of the estimators; strings, categories and objects that are not all numbers become nominal. Missing values
        and infinity are kept.
    """

    def __init__(self, data):
        if isinstance(data, _core.Table):
            self._core_table = data
        elif isinstance(data, Table):
            self._core_table = data._core_table
        elif hasattr(data, "__arrow_c_stream__") and not type(data).__module__.startswith("pandas"):
            self._core_table = arrow_table(data)[0]
        else:
            rows = check_X("Table", data, reset=True, categorical_features="from_dtype", missing="any",
                           ensure_min_samples=0)
            self._core_table = rows.as_table(data_run())

    @classmethod
    def from_arrow(cls, data):
        """Make a table of anything with ``__arrow_c_stream__``. float64, float32 and codes without nulls are shared."""
        return cls(data)

    @classmethod
    def from_polars(cls, frame):
        """Make a table of a DataFrame of polars, whose memory it shares as far as :meth:`from_arrow` does."""
        return cls(frame)

    @classmethod
    def from_pandas(cls, frame):
        """Make a table of a DataFrame of pandas."""
        return cls(frame)

    @classmethod
    def from_numpy(cls, array, names=None):
        """Make a table of an array of shape (n_rows, n_columns); without names, columns are x0, x1, ..."""
        if names is None:
            return cls(array)
        array = np.asarray(array)
        names = list(names)
        if array.ndim != 2 or array.shape[1] != len(names):
            raise ValueError(f"{len(names)} names are given for an array of shape {array.shape}")
        if len(set(names)) < len(names):
            raise ValueError("two columns have the same name")
        return cls({name: array[:, i] for i, name in enumerate(names)})

    # What is in it.

    def _columns(self):
        return [self._core_table.column(i) for i in range(self._core_table.n_columns)]

    def _column(self, name):
        index = self._core_table.find(name) if isinstance(name, str) else -1
        if index < 0:
            raise KeyError(name)
        return self._core_table.column(index)

    @property
    def columns(self):
        """The columns' names: a list of str."""
        return [column.name for column in self._columns()]

    @property
    def dtypes(self):
        """The type of each column by name: real, integer, date, nominal, polynominal or binominal."""
        return {column.name: column.type for column in self._columns()}

    @property
    def roles(self):
        """The role of each column by name: regular, label, id, weight or ignore."""
        return {column.name: column.role for column in self._columns()}

    @property
    def shape(self):
        """(rows, columns)."""
        return self._core_table.n_rows, self._core_table.n_columns

    @property
    def nbytes(self):
        """Bytes of the values."""
        return self._core_table.nbytes

    def __len__(self):
        return self._core_table.n_rows

    def __iter__(self):
        return iter(self.columns)

    def __contains__(self, name):
        return isinstance(name, str) and self._core_table.find(name) >= 0

    def __getitem__(self, name):
        """Return a column as an array of shape (n_rows,).

        Numbers share the table's memory, and the array is read-only; NaN is missing. Nominal values are an array of
        str and None.
        """
        return _cells(self._column(name))

    def categories(self, name):
        """Return the values of a nominal column that its codes count into; None for a column of numbers."""
        column = self._column(name)
        return column.values.names() if column.is_nominal else None

    def codes(self, name):
        """Return the codes of a nominal column: a read-only array of int32, -1 is missing; None for numbers."""
        column = self._column(name)
        return _read_only(column.array()) if column.is_nominal else None

    def missing_counts(self):
        """Return how many values each column lacks, by name."""
        return {column.name: _missing(column) for column in self._columns()}

    # Other tables.

    def with_roles(self, *, label=None, weight=None, id=None, ignore=()):
        """Return the table with other roles. Columns that are not named keep theirs.

        Parameters
        ----------
        label, weight, id : str or None
            The column to predict, the one that weighs rows, and the one that names rows.
        ignore : str or list of str
            Columns that no job looks at.
        """
        ignore = [ignore] if isinstance(ignore, str) else ignore
        wanted = [("label", label), ("weight", weight), ("id", id), *(("ignore", name) for name in ignore)]
        roles = []
        for role, name in wanted:
            if name is None:
                continue
            if name not in self:
                raise KeyError(name)
            roles.append((self._core_table.find(name), role))
        return Table(self._core_table.with_roles(roles))

    def take(self, rows):
        """Return the table of the given rows, in that order: integers from 0, each any number of times."""
        rows = np.asarray(rows)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise ValueError("take expects row numbers: integers, in one dimension")
        if rows.size and (rows.min() < 0 or rows.max() >= len(self)):
            raise IndexError(f"a row is not there: the table has {len(self)}")
        return Table(self._core_table.take(rows.astype(np.int64).tolist()))

    def head(self, n=5):
        """Return the table of the first ``n`` rows."""
        return self.take(np.arange(min(max(n, 0), len(self))))

    # To other libraries.

    def __arrow_c_stream__(self, requested_schema=None):
        return self._core_table.__arrow_c_stream__()

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("an array of a table is a copy; its columns are lent one by one: table['name']")
        array = self.to_numpy()
        return array if dtype is None else array.astype(dtype)

    def to_arrow(self):
        """Return a pyarrow.Table, which shares the table's memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self):
        """Return a DataFrame of polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self):
        """Return a DataFrame of pandas.

        Numbers are float64 or float32, whole numbers of which none is missing int64, dates datetime64 in microseconds,
        and nominal columns category.
        """
        import pandas

        data = {}
        for index, column in enumerate(self._columns()):
            if column.is_nominal:
                data[index] = pandas.Categorical.from_codes(column.array(), categories=column.values.names())
            else:
                data[index] = _typed(column)
        frame = pandas.DataFrame(data, index=pandas.RangeIndex(len(self)))
        frame.columns = self.columns
        return frame

    def to_numpy(self):
        """Return an array of shape (n_rows, n_columns): of numbers, or of objects where a column is nominal."""
        columns = self._columns()
        if any(column.is_nominal for column in columns):
            result = np.empty(self.shape, dtype=object)
        else:
            result = np.empty(self.shape, dtype=np.result_type(np.float32, *(c.array().dtype for c in columns)))
        for index, column in enumerate(columns):
            result[:, index] = _cells(column)
        return result

    # Pickle.

    def __reduce__(self):
        columns = [
            (column.name, column.type, column.role, np.array(column.array()),
             column.values.names() if column.is_nominal else None)
            for column in self._columns()
        ]
        return _restored, (len(self), columns)

    # For people.

    def __repr__(self):
        rows = [[str(cell) for cell in row] for row in self._preview()]
        widths = [max(map(len, cells)) for cells in zip(*rows)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([self._title(), *lines, *(["..."] if len(self) > _SHOWN else [])])

    def _repr_html_(self):
        rows = self._preview()
        head = "".join(f"<th>{html.escape(str(name))}</th>" for name in rows[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows[1:]
        )
        return (f"<table><caption>{html.escape(self._title())}</caption><thead><tr>{head}</tr></thead>"
                f"<tbody>{body}</tbody></table>")

    def _title(self):
        n_rows, n_columns = self.shape
        return f"Table of {n_rows} row{'s' * (n_rows != 1)} and {n_columns} column{'s' * (n_columns != 1)}"

    def _preview(self):
        """Cells of the repr: names, types, missing counts and the first rows, with a name for each line in front."""
        columns = self._columns()
        first = self.head(_SHOWN)._columns()
        types = [c.type if c.role == "regular" else f"{c.type}, {c.role}" for c in columns]
        lines = [["", *(c.name for c in columns)], ["type", *types], ["missing", *map(_missing, columns)]]
        for row in range(min(_SHOWN, len(self))):
            lines.append([row, *(_shown(column, row) for column in first)])
        return lines


def _read_only(array):
    array.flags.writeable = False
    return array


def _cells(column):
    if not column.is_nominal:
        return _read_only(column.array())
    names = np.empty(len(column.values) + 1, dtype=object)
    names[:-1] = column.values.names()
    return names[column.array()]


def _missing(column):
    values = column.array()
    return int((values < 0).sum() if column.is_nominal else np.isnan(values).sum())


def _typed(column):
    """The numbers in the type of pandas that says most: whole numbers if none is missing, dates as dates."""
    values = column.array()
    if column.type == "date":
        return as_dates(values)
    if column.type == "integer" and np.isfinite(values).all():
        return values.astype(np.int64)
    return values


def _shown(column, row):
    value = column.array()[row]
    if column.is_nominal:
        return "?" if value < 0 else column.values.names()[value]
    if np.isnan(value):
        return "?"
    if column.type == "date":
        date = as_dates(np.array([value], dtype=np.float64))[0]
        return str(date if value % 1 else date.astype("M8[D]"))
    return f"{value:.6g}"


def _restored(n_rows, columns):
    """The table of a pickle."""
    run, made = data_run(), []
    for name, type_, role, values, names in columns:
        if names is None:
            column = _core.Column.numeric(name, values, type_, True, run)
        else:
            column = _core.Column.nominal(name, values, _core.Values(names), type_, True)
        column.role = role
        made.append(column)
    return Table(_core.Table.of_columns(made, n_rows))
