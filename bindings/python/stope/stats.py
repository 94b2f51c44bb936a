"""Statistics of columns, in one pass (docs/NUMERICS.md)."""

import html

import numpy as np

from . import _core
from ._classes import free_name
from ._columns import is_missing, plain_layout
from ._data import array_of, check_X
from ._device import device_view
from ._frames import is_pandas_frame
from ._run import Reports, job
from .errors import UnsupportedError

__all__ = ["ColumnStatistics", "Correlation", "column_stats", "correlation"]

_ARRAYS = (
    "count", "missing", "zeros", "min", "max", "min_row", "max_row", "sum", "mean", "variance", "std", "skewness",
)


def column_stats(X, *, by=None, distinct=False, histogram_bins=0, quantiles=(), depth="all", device="auto"):
    """Return the statistics of every column of X.

    Parameters
    ----------
    X : array of shape (n_rows,) or (n_rows, n_columns), or frame
        NumPy arrays of whole numbers, float32, float64 and bool are read in place, whatever their strides; whole
        numbers are computed exactly. NaN is missing. Frames of pandas, polars and Arrow may have columns of names. An
        array in a GPU's memory is read there.
    by : str or array of shape (n_rows,), default=None
        Name of a column of names of a frame, or one label a row: adds the statistics of each class of rows.
    distinct : bool, default=False
        Counts the different values of numeric columns, in a second pass.
    histogram_bins : int, default=0
        Counts values in that many bins of equal width, in a second pass; 0 makes no histograms.
    quantiles : float or sequence of floats from 0 to 1, default=()
        Exact quantiles of the values that are present, as numpy.nanquantile computes them, in a second pass; 0.5 is the
        median.
    depth : {"all", "extremes"}, default="all"
        "extremes" computes count, missing, zeros, min and max alone, with less arithmetic.
    device : str, default="auto"
        "auto", "cpu", "cuda", or "cuda:0,1".

    Returns
    -------
    statistics : ColumnStatistics
        An array for each statistic. The bits do not depend on threads or device.

    Examples
    --------
    >>> import numpy as np
    >>> from stope import column_stats
    >>> statistics = column_stats(np.array([[1, 5], [2, 5], [6, 5]]))
    >>> statistics.mean, statistics.max, statistics.max_row
    (array([3., 5.]), array([6, 5]), array([2, 0]))
    """
    reports = Reports()
    shares = [] if isinstance(quantiles, tuple) and not quantiles else np.atleast_1d(np.asarray(quantiles, dtype=np.float64)).tolist()
    with job(reports, device=device) as run:
        view = device_view(X.reshape(-1, 1) if _is_gpu_column(X) else X)
        if view is not None:
            if by is not None:
                raise UnsupportedError("classes of rows need X in the host's memory")
            columns, classes = _core.describe_array(view.native, depth, bool(distinct), int(histogram_bins), shares, run)
            named = False
        else:
            named, source = _source(X, run)
            if by is None and not named:
                columns, classes = _core.describe_array(source, depth, bool(distinct), int(histogram_bins), shares, run)
            else:
                table = source if named else _core.Table.of_array(source, [], True, run)
                if by is None:
                    by_name = ""
                elif isinstance(by, str):
                    by_name = by
                else:
                    table, by_name = _with_classes(table, by)
                columns, classes = _core.describe_table(
                    table, by_name, depth, bool(distinct), int(histogram_bins), shares, run
                )
                if by is not None and not isinstance(by, str):  # it is no column of X
                    columns = _without_last(columns)
                    values, rows, whole, numbers, further = classes
                    further = [_without_last(of_class) for of_class in further]
                    classes = values, rows, whole[..., :-1], numbers[..., :-1], further
    return ColumnStatistics(columns, classes, named, reports.last, shares)


class Correlation:
    """Correlations of columns.

    Attributes
    ----------
    names : list of str
        Of the numeric columns, in their order; x0, x1, ... for arrays.
    values : ndarray of shape (n_columns, n_columns)
        Symmetric; NaN where a correlation does not exist.
    counts : ndarray of int64 of shape (n_columns, n_columns)
        Rows in which both values are present.
    """

    def __init__(self, names, values, counts):
        self.names, self.values, self.counts = names, values, counts

    def to_pandas(self):
        """Return a pandas.DataFrame, as DataFrame.corr does."""
        import pandas as pd

        return pd.DataFrame(self.values, index=self.names, columns=self.names)

    def __repr__(self):
        return f"<stope.Correlation of {len(self.names)} columns>"


def correlation(X, *, method="pearson"):
    """Correlate the numeric columns of X, each pair over the rows in which both values are present.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns), or frame
        As in :func:`column_stats`; columns of names are left out. NaN is missing.
    method : {"pearson", "spearman"}, default="pearson"
        Of the values, or of their ranks in the rows of the pair; equal values share their mean rank.

    Returns
    -------
    correlation : Correlation
        The bits do not depend on threads.

    Examples
    --------
    >>> import numpy as np
    >>> from stope import correlation
    >>> correlation(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])).values[0, 1].round(12).item()
    1.0
    """
    with job() as run:
        named, source = _source(X, run)
        table = source if named else _core.Table.of_array(source, [], True, run)
        names, values, counts = _core.correlation(table, method, run)
    return Correlation(names if named else [f"x{i}" for i in range(len(names))], values, counts)


class ColumnStatistics:
    """Statistics of columns: one array for each statistic, one entry a column.

    A number that does not exist (the mean of nothing, the variance of one value) is NaN; such a row is -1.

    Attributes
    ----------
    names : list of str
        Of the columns; x0, x1, ... for arrays.
    types : list of str
        "real", "integer", "date", "nominal", ...
    count, missing, zeros : ndarray of int64
        Values that are present, that are missing, that are 0.
    min, max : ndarray of float64, or int64 where all columns are whole numbers
    min_row, max_row : ndarray of int64
        The first row with that value. In the statistics of a class, rows count within the class.
    sum : ndarray of float64, or int64 where all columns are whole numbers and no sum needs more than 64 bits
    mean, variance, std, skewness : ndarray of float64
        Variance with ddof 1; skewness from the population's moments, m3 / m2^1.5.
    distinct : list of int or None
        Number of different values, where that was counted.
    value_counts : list of dict or None
        For columns of names: how often each occurs.
    histograms : list of (counts, edges) or None
        As numpy.histogram returns them.
    quantiles : dict of float to ndarray of float64
        One array for each share that was asked for; NaN for columns of names.
    median : ndarray of float64
        Only where the share 0.5 was asked for.
    classes : dict of str to ColumnStatistics
        For ``by``, in the order of its values; else empty.
    report_ : Report
        What computed the statistics, and why.
    """

    def __init__(self, columns, classes, named, report, shares=()):
        self.types = columns["type"]
        self.names = columns["name"] if named else [f"x{i}" for i in range(len(self.types))]
        self._fill(columns["whole"], columns["numbers"], columns, columns["values"], named, report, shares)
        self.n_rows = int(self.count[0] + self.missing[0]) if len(self.types) else 0
        for value, n_rows, whole, numbers, further in zip(*classes):
            of_class = self.classes[value] = ColumnStatistics.__new__(ColumnStatistics)
            of_class.types, of_class.names, of_class.n_rows = self.types, self.names, n_rows
            of_class._fill(whole, numbers, further, columns["values"], named, report, shares)

    def _fill(self, whole, numbers, further, values, named, report, shares):
        """Set the statistics of all rows, or of one class of them, as the engine hands them out."""
        n = len(self.types)
        self._named, self.report_, self.classes = named, report, {}
        self.count, self.missing, self.zeros, self.min_row, self.max_row = whole
        self.min, self.max, self.sum, self.mean, self.variance, self.std, self.skewness = numbers
        self._set_integers(further["integers"])
        self.distinct = further["distinct"] or [None] * n
        self.value_counts = [None] * n
        for at, counts, codes in further["nominal"]:
            names = values[at] if codes is None else map(values[at].__getitem__, codes)
            self.value_counts[at] = dict(zip(names, counts))
        self.histograms = [_histogram(each) for each in further["histogram"]] if further["histogram"] else [None] * n
        self.quantiles = _quantiles(further["quantiles"], shares, n)
        if 0.5 in self.quantiles:
            self.median = self.quantiles[0.5]

    def _set_integers(self, integers):
        """Exact minima, maxima and sums, where all columns have them."""
        if integers is None or any(each is None for each in integers) or not self.count.all():
            return
        self.min = np.array([each[0] for each in integers], np.int64)
        self.max = np.array([each[1] for each in integers], np.int64)
        if all(each[2] is not None for each in integers):
            self.sum = np.array([each[2] for each in integers], np.int64)

    def __len__(self):
        return len(self.types)

    def __getitem__(self, column):
        """Return the statistics of one column, by its name or its number: a dict."""
        at = self.names.index(column) if isinstance(column, str) else range(len(self))[column]
        one = {"name": self.names[at], "type": self.types[at]}
        one.update((name, getattr(self, name)[at]) for name in _ARRAYS)
        one.update(quantiles={share: values[at] for share, values in self.quantiles.items()})
        one.update(distinct=self.distinct[at], value_counts=self.value_counts[at], histogram=self.histograms[at])
        return one

    def to_pandas(self):
        """Return a pandas.DataFrame: a row for each column of X. With classes, its index is (class, column)."""
        import pandas as pd

        if self.classes:
            frames = {value: of_class.to_pandas() for value, of_class in self.classes.items()}
            return pd.concat(frames, names=["class", "column"])
        members = {"type": self.types, **{name: getattr(self, name) for name in _ARRAYS}}
        if any(each is not None for each in self.distinct):
            members["distinct"] = self.distinct
        members.update((f"q{share:g}", values) for share, values in self.quantiles.items())
        return pd.DataFrame(members, index=pd.Index(self.names, name="column"))

    _SHOWN = ("count", "missing", "min", "max", "mean", "std", "skewness")

    def _lines(self):
        """The cells that people read: a list for each column of X."""
        for at, name in enumerate(self.names):
            numbers = [_text(getattr(self, each)[at]) for each in self._SHOWN]
            yield [name, self.types[at], *numbers, *(_text(values[at]) for values in self.quantiles.values())]

    def _heads(self):
        return ["column", "type", *self._SHOWN, *(f"q{share:g}" for share in self.quantiles)]

    def __repr__(self):
        lines = [self._heads(), *self._lines()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        rows = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
        if self.classes:
            rows.append(f"and {len(self.classes)} classes of rows: " + ", ".join(self.classes))
        return "\n".join(rows)

    def _repr_html_(self):
        head = "".join(f"<th>{each}</th>" for each in self._heads())
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in self._lines()
        )
        text = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        for value, of_class in self.classes.items():
            text += f"<p>{html.escape(value)}: {of_class.n_rows} rows</p>{of_class._repr_html_()}"
        return text


def _is_gpu_column(X):
    """Whether X is an array of one dimension in a GPU's memory."""
    return not isinstance(X, np.ndarray) and getattr(X, "ndim", 0) == 1 and hasattr(X, "__cuda_array_interface__")


def _source(X, run):
    """Whether columns of X have names, and X as a table or as an array that the engine reads."""
    if type(X) is np.ndarray and X.dtype.kind in "fiub":  # all of the questions below would take longer than a small job
        return False, _readable_array(X)
    X = getattr(X, "_core_table", X)
    if isinstance(X, _core.Table):
        return True, X
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("stope takes dense data, not sparse matrices; use X.toarray()")
    if hasattr(X, "to_frame") and not hasattr(X, "columns"):  # a Series of pandas or polars
        X = X.to_frame() if getattr(X, "name", None) is not None else X.to_frame("x0")
    if is_pandas_frame(X):
        return True, _table_of_pandas(X, run)
    if hasattr(X, "__arrow_c_stream__"):
        return True, _core.Table.of_arrow(X.__arrow_c_stream__(None), run=run)
    return False, _readable_array(array_of(X))


def _readable_array(array):
    if array.ndim not in (1, 2):
        raise ValueError(f"X has {array.ndim} dimensions; it needs 1 or 2")
    return _readable(array)


def _table_of_pandas(X, run):
    """The frame through Arrow where pandas has pyarrow, else column by column."""
    try:
        stream = X.__arrow_c_stream__(None)
    except (AttributeError, ImportError):
        return check_X("column_stats", X, reset=True, categorical_features="from_dtype", missing="skip").as_table(run)
    return _core.Table.of_arrow(stream, run=run)


def _readable(array):
    """The array with elements that the engine knows, each aligned to its size."""
    dtype = array.dtype
    if dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        array = array.astype(np.float32 if dtype.itemsize == 2 else np.float64)
    elif dtype == np.uint64:
        if array.size and array.max() > np.iinfo(np.int64).max:
            raise UnsupportedError("X has whole numbers beyond 2^63 - 1; convert it to float64")
        array = array.astype(np.int64)
    elif dtype.kind not in "fiub":
        array = array.astype(np.float64)
    return plain_layout(array)


def _with_classes(table, by):
    """The table with the labels of its rows as a last column, and that column's name."""
    labels = np.asarray(by)
    if labels.shape != (table.n_rows,):
        raise ValueError(f"by has the shape {labels.shape}; X has {table.n_rows} rows")
    missing = np.array([is_missing(label) for label in labels.tolist()], bool)
    present = labels[~missing]
    if labels.dtype.kind == "O":
        present = present.astype(str)
    values, found = np.unique(present, return_inverse=True)
    codes = np.full(len(labels), -1, np.int32)
    codes[~missing] = found
    columns = [table.column(i) for i in range(table.n_columns)]
    name = free_name("by", [column.name for column in columns])
    column = _core.Column.nominal(name, codes, _core.Values([str(value) for value in values]))
    return _core.Table.of_columns([*columns, column], table.n_rows), name


def _without_last(columns):
    """The statistics of all columns but the last: arrays and lists have one entry a column, or are None."""
    others = {
        name: each[..., :-1] if isinstance(each, np.ndarray) else each and each[:-1] for name, each in columns.items()
    }
    return others | {"nominal": columns["nominal"][:-1]}  # the last one is the classes


def _quantiles(rows, shares, n_columns):
    """An array for each share, in their order; columns of names have no quantiles."""
    if not shares:
        return {}
    return dict(zip(shares, np.full((len(shares), n_columns), np.nan) if rows is None else rows))


def _histogram(histogram):
    if histogram is None:
        return None
    low, high, counts = histogram
    return counts, np.linspace(low, high, len(counts) + 1)


def _text(number):
    if isinstance(number, (float, np.floating)):
        return "" if np.isnan(number) else f"{number:.6g}"
    return str(number)
