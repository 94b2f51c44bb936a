"""What users hand in as X: arrays and frames become what the engine takes."""

import numpy as np

from . import _core
from ._checks import check_finite, check_names, check_shape, name_of, refuse_missing, string_names
from ._columns import as_numbers, is_nominal_array, is_read_only
from ._frames import arrow_columns, column_of_array, column_of_series, held, is_pandas_frame, table_columns
from ._run import data_run
from .errors import InvalidDataError

__all__ = ["Rows", "array_of", "check_X"]

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class Rows:
    """The rows of an X: an array if all columns are numbers, else a table.

    Attributes
    ----------
    array : ndarray of shape (n_rows, n_columns) or None
        Native float64 or float32 with any strides; None if a column is nominal. It may be X itself. The rows of a frame
        whose columns lie apart are gathered when the array is first asked for.
    table : _core.Table or None
        The columns of X, in order, all of them features; None if all are numbers.
    names : list of str or None
        The columns' names at ``fit``, where X had names.
    """

    def __init__(self, array, table, names, columns=None, shape=None, lend=False, dtype=np.float64):
        self._array, self._table, self.names = array, table, names
        self._columns, self._shape, self._lend, self._dtype = columns, shape, lend, dtype
        self._check = self._lent = None

    @property
    def n_rows(self):
        return self._shape_of()[0]

    @property
    def n_columns(self):
        return self._shape_of()[1]

    def _shape_of(self):
        if self._shape is None:
            self._shape = self._array.shape if self._array is not None else (self._table.n_rows, self._table.n_columns)
        return self._shape

    @property
    def dtype(self):
        """float32 where all columns of X are float32, else float64."""
        return np.dtype(self._dtype if self._array is None else self._array.dtype)

    @property
    def nominal(self):
        """Whether each column is nominal: a list of bool."""
        if self._columns is not None:
            return [column.nominal for column in self._columns]
        if self._array is not None:
            return [False] * self.n_columns
        return [self._table.column(i).is_nominal for i in range(self.n_columns)]

    @property
    def categories(self):
        """For each column None, or the values of its codes as X had them: an array of objects."""
        return [None] * self.n_columns if self._columns is None else [column.categories for column in self._columns]

    @property
    def array(self):
        if self._array is None and self._columns is not None and not any(self.nominal):
            self._array = np.empty(self._shape, dtype=self._dtype)
            for index, column in enumerate(self._columns):
                self._array[:, index] = column.numbers
        return self._array

    @property
    def table(self):
        if self._columns is not None and not any(self.nominal):
            return None
        return self._made_table()

    def _made_table(self, run=None, share=False):
        if self._table is None and self._columns is not None:
            run = run or data_run()
            names = self.column_names()
            made = [column.native(name, share or self._lend, run) for name, column in zip(names, self._columns)]
            self._table = _core.Table.of_columns(made, self.n_rows)
        return self._table

    def column_names(self):
        """One name for each column: the names at ``fit``, or x0, x1, ... where there are none or one stands twice."""
        if self.names and len(set(self.names)) == self.n_columns:
            if any("\0" in name or not _is_text(name) for name in self.names):
                raise InvalidDataError("a column's name is not Unicode text, or has a NUL in it")
            return list(self.names)
        return [f"x{i}" for i in range(self.n_columns)]

    def as_table(self, run, share=False):
        """The rows as a table.

        ``share`` lends the array's memory: nobody may write to it as long as the table lives. Memory that is read-only
        or Arrow's is lent in any case.
        """
        if self._columns is not None or self._array is None:
            return self._made_table(run, share)
        self.check()
        if share and self._lent is not None:
            return self._lent
        table = _core.Table.of_array(self._array, self.engine_names(), share or is_read_only(self._array), run)
        self._lent = table if share else None
        return table

    def without_table(self, compute):
        """The result of ``compute(array)`` for rows that are an array in C order, else None. It returns None for values
        that are not finite, too."""
        if self._columns is not None or self._array is None or not self._array.flags.c_contiguous:
            return None
        return compute(self._array)

    def engine_names(self):
        """The names of an array's columns as the engine takes them: none for x0, x1, ..."""
        return self.column_names() if self.names else []

    def check_later(self, check):
        """Puts off ``check()``, which refuses values, until somebody needs it: the engine may find all of them finite."""
        self._check = check

    @property
    def unchecked(self):
        """Whether nobody has looked for missing and infinite values yet."""
        return self._check is not None

    def check(self):
        check, self._check = self._check, None
        if check is not None:
            check()


def check_X(estimator, X, *, reset, categorical_features=None, missing="error", ensure_min_samples=1, later=False):
    """Check X as scikit-learn does, and return its :class:`Rows`.

    Parameters
    ----------
    estimator : object or str
        Gets the attributes that ``reset`` sets, and its name stands in messages. A str is such a name alone.
    X : array-like, DataFrame of pandas or polars, or an object with ``__arrow_c_stream__``
        Read where it lies if it is made of float64 or float32 numbers, copied at most once otherwise.
    reset : bool
        True in ``fit``: sets ``n_features_in_`` and ``feature_names_in_``. False: X must agree with them, and each
        column is nominal if it was so in ``fit``.
    categorical_features : None, "from_dtype", mask, or list of names or indices
        None: all columns are numbers, or X is refused. "from_dtype": columns of strings, categories and objects that
        are not all numbers are nominal. Columns that are named are nominal by their values, whatever their type.
    missing : "error", "skip" or "any"
        "error" refuses missing values as scikit-learn does. Infinity is refused by both "error" and "skip".
    ensure_min_samples : int
        The least number of rows.
    later : bool
        Whether the values of an array in C order are checked by ``Rows.check`` alone, which ``Rows.as_table`` calls.

    Raises
    ------
    ValueError
        For what scikit-learn refuses, with its messages, and for whole numbers beyond 2^53.
    TypeError
        For SciPy's sparse matrices, and for objects that are no values.
    """
    if type(X) is np.ndarray and X.dtype in _FLOATS and X.ndim == 2 and not reset:
        rows = _ready_rows(estimator, X, missing, ensure_min_samples, later)
        if rows is not None:
            return rows
    if hasattr(X, "toarray") and not hasattr(X, "__array__") or type(X).__module__.startswith("scipy.sparse"):
        raise TypeError("Sparse data was passed, but stope takes dense data; use X.toarray() to convert it to a dense "
                        "array.")
    if type(X).__name__ == "LazyFrame":
        raise TypeError("a LazyFrame has no rows yet; use X.collect() to make a DataFrame of it")
    checker = _Checker(estimator, reset, categorical_features, missing, ensure_min_samples, later)
    try:
        return checker.rows_of(X)
    except ValueError as error:
        asked = getattr(estimator, "categorical_features", "from_dtype")
        if not reset or isinstance(asked, str) or "could not convert string" not in str(error):
            raise
        raise ValueError(f"{error}; categorical_features='from_dtype' takes columns of text as nominal") from None


def _ready_rows(estimator, X, missing, ensure_min_samples, later):
    """The short way for arrays that need nothing done: None where there is anything to say."""
    known = getattr(estimator, "__dict__", {})
    if (
        known.get("n_features_in_") != X.shape[1] or "feature_names_in_" in known or X.shape[0] < ensure_min_samples
        or known.get("_nominal_in") is not None or not X.flags.aligned
        or X.strides[0] % X.itemsize or X.strides[1] % X.itemsize or 0 in X.strides
    ):
        return None
    return _checked_rows(estimator, X, missing, later)


def _checked_rows(estimator, array, missing, later):
    """The rows of an array whose values are checked, now or later."""
    rows = Rows(array, None, None)
    if later and array.flags.c_contiguous:
        rows.check_later(lambda: check_finite(estimator, array, missing))
    else:
        check_finite(estimator, array, missing)
    return rows


class _Checker:
    """One check of one X."""

    def __init__(self, estimator, reset, categorical_features, missing, ensure_min_samples, later):
        self.estimator, self.reset, self.missing, self.later = estimator, reset, missing, later
        self.categorical_features, self.ensure_min_samples = categorical_features, ensure_min_samples

    def rows_of(self, X):
        core = getattr(X, "_core_table", X)
        if is_pandas_frame(X):
            return self.rows_of_pandas(X)
        if isinstance(core, _core.Table):
            return self.rows_of_columns(table_columns(core, self.kinds_of), core.n_rows)
        if hasattr(X, "__arrow_c_stream__") and not _is_series(X):
            columns, n_rows, single = arrow_columns(X, self.kinds_of)
            return self.rows_of_columns(columns, n_rows, np.float32 if single else np.float64)
        if isinstance(X, dict):
            return self.rows_of_dict(X)
        return self.rows_of_array(X)

    def kinds_of(self, names):
        """Checks the names; returns those that messages use, and for each column whether it is to be nominal."""
        self.names = string_names(names)
        if not isinstance(self.estimator, str):
            check_names(self.estimator, self.names, self.reset)
        n = len(names)
        shown = [f"column {name!r}" if isinstance(name, str) else f"column {name}" for name in names]
        fitted = None if self.reset else getattr(self.estimator, "_nominal_in", None)
        if fitted is not None:
            if n:
                check_shape(self.estimator, (self.ensure_min_samples, n), False, self.ensure_min_samples)
            return shown, list(fitted) if n else []
        if not self.reset and hasattr(self.estimator, "n_features_in_"):
            return shown, [False] * n
        return shown, self.asked_kinds(n)

    def asked_kinds(self, n):
        asked = self.categorical_features
        if asked is None:
            return [False] * n
        if isinstance(asked, str):
            if asked != "from_dtype":
                raise ValueError("categorical_features must be 'from_dtype', None, a mask, names or indices; got "
                                 f"{asked!r}")
            return [None] * n
        asked = np.asarray(asked)
        if asked.ndim != 1:
            raise ValueError(f"categorical_features must have one dimension; got {asked.ndim}")
        if asked.size == 0:
            return [False] * n
        if asked.dtype.kind == "b":
            if asked.size != n:
                raise ValueError(f"categorical_features set as a boolean mask should have shape (n_features,), got: "
                                 f"{asked.shape}")
            return asked.tolist()
        chosen = self.chosen_columns(asked, n)
        return [i in chosen for i in range(n)]

    def chosen_columns(self, asked, n):
        if asked.dtype.kind in "iu":
            wrong = [int(i) for i in asked if not -n <= i < n]
            if wrong:
                raise ValueError(f"categorical_features set as integer indices should be in [0, n_features - 1]; got "
                                 f"{wrong} for {n} features")
            return {int(i) % n for i in asked}
        place = {name: i for i, name in enumerate([] if self.names is None else self.names)}
        unknown = [name for name in asked.tolist() if not isinstance(name, str) or name not in place]
        if unknown and self.names is None:
            raise ValueError("categorical_features names columns, but X has no names")
        if unknown:
            raise ValueError(f"categorical_features has a name that X lacks: {unknown[0]!r}")
        return {place[name] for name in asked.tolist()}

    def rows_of_pandas(self, X):
        frame = X.copy(deep=False)  # it shares memory, and makes pandas copy before anybody writes
        shown, kinds = self.kinds_of(list(frame.columns))
        dtypes = list(frame.dtypes)
        plain = all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes)
        if dtypes and plain and not any(kinds) and self.missing != "any":
            values = held(frame.to_numpy(), frame)
            for index in _large_integers(values, dtypes):
                as_numbers(frame.iloc[:, index].to_numpy(), shown[index])
            return self.rows_of_numbers(values)
        columns = [column_of_series(series, *of) for (_, series), *of in zip(frame.items(), shown, kinds)]
        single = bool(dtypes) and all(str(dtype) in ("float32", "Float32") for dtype in dtypes)
        return self.rows_of_columns(columns, len(frame), np.float32 if single else np.float64)

    def rows_of_dict(self, X):
        shown, kinds = self.kinds_of(list(X))
        arrays = [array_of(values) for values in X.values()]
        if any(array.ndim != 1 for array in arrays) or len({len(array) for array in arrays}) > 1:
            raise ValueError("a dict of columns must have columns of one dimension and one length")
        columns = [column_of_array(*of) for of in zip(arrays, shown, kinds)]
        single = bool(columns) and all(array.dtype == np.float32 for array in arrays)
        return self.rows_of_columns(columns, len(arrays[0]) if arrays else 0, np.float32 if single else np.float64)

    def rows_of_array(self, X):
        if isinstance(X, np.matrix):
            raise TypeError("np.matrix is not supported. Please convert to a numpy array with np.asarray. For more "
                            "information see: https://numpy.org/doc/stable/reference/generated/numpy.matrix.html")
        array = array_of(X)
        n = array.shape[1] if array.ndim == 2 else 0
        kinds = self.kinds_of(range(n))[1]
        if array.dtype.kind in "SUT" and any(kind is not False for kind in kinds):
            array = _objects_of(X, array)
        if array.dtype.kind == "O" and array.ndim == 2:
            kinds = [is_nominal_array(array[:, i]) if kind is None else kind for i, kind in enumerate(kinds)]
        if not any(kinds) and (self.missing != "any" or array.ndim != 2):
            numbers = as_numbers(array)
            self.check_dimensions(X, numbers)
            return self.rows_of_numbers(numbers)
        columns = [column_of_array(array[:, i], f"column {i}", kind) for i, kind in enumerate(kinds)]
        return self.rows_of_columns(columns, array.shape[0])

    def check_dimensions(self, X, array):
        """Refuses what does not have two dimensions, in scikit-learn's words."""
        if array.ndim == 2:
            return
        advice = ("Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
                  "array.reshape(1, -1) if it contains a single sample.")
        if array.ndim == 0:
            raise ValueError(f"Expected 2D array, got scalar array instead:\narray={array}.\n{advice}")
        if array.ndim == 1 and _is_series(X):
            raise ValueError(f"Expected a 2-dimensional container but got {type(X)} instead. Pass a DataFrame "
                             "containing a single row (i.e. single sample) or a single column (i.e. single feature) instead.")
        if array.ndim == 1:
            raise ValueError(f"Expected 2D array, got 1D array instead:\narray={array}.\n{advice}")
        raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required by {name_of(self.estimator)}.")

    def rows_of_numbers(self, array):
        array = as_numbers(array)
        missing = self.missing if self.ensure_min_samples or array.size else "any"
        rows = _checked_rows(self.estimator, array, missing, self.later)
        self.settle(array.shape, [False] * array.shape[1])
        rows.names = self.fitted_names()
        return rows

    def rows_of_columns(self, columns, n_rows, dtype=np.float64):
        for column in columns:
            if column.nominal:
                if self.missing == "error" and column.codes.size and column.codes.min() < 0:
                    refuse_missing(self.estimator)
            else:
                check_finite(self.estimator, column.numbers, self.missing)
        shape = (n_rows, len(columns))
        nominal = [column.nominal for column in columns]
        self.settle(shape, nominal)
        return Rows(None, None, self.fitted_names(), columns, shape, lend=not self.reset, dtype=dtype)

    def settle(self, shape, nominal):
        """Compares the shape; ``fit`` keeps which columns are nominal."""
        if isinstance(self.estimator, str):
            check_shape(self.estimator, shape, False, self.ensure_min_samples)
            return
        check_shape(self.estimator, shape, self.reset, self.ensure_min_samples)
        if self.reset:
            self.estimator._nominal_in = tuple(nominal) if any(nominal) else None

    def fitted_names(self):
        names = self.names if isinstance(self.estimator, str) else getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else list(names)


def _large_integers(values, dtypes):
    """The columns of integers that may have one beyond 2^53, which their name is to be told of."""
    wide = [i for i, dtype in enumerate(dtypes) if dtype.kind in "iu" and dtype.itemsize == 8]
    if not wide or values.dtype.kind == "O":
        return wide
    large = ((values >= 2**53) | (values <= -(2**53))).any(axis=0)
    return [i for i in wide if large[i]]


def _is_series(X):
    """Whether X is a column of pandas or polars."""
    return type(X).__name__ == "Series" and type(X).__module__.split(".")[0] in ("pandas", "polars")


def _is_text(name):
    """Whether a string can be written as UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def array_of(X):
    """X as an array of any type; masked values are missing."""
    if isinstance(X, np.ma.MaskedArray):
        X = X.astype(np.float64).filled(np.nan) if X.dtype.kind in "iufb" else X.filled(None)
    with np.errstate(all="ignore"):
        array = np.asarray(X)
    if array.dtype.names is not None or array.dtype.kind == "V":
        raise ValueError(f"X has the dtype {array.dtype}, which stope does not take; use a DataFrame for columns of "
                         "different types")
    return array


def _objects_of(X, array):
    """The cells as they were before NumPy made text of all of them: lists hold numbers beside text."""
    return array.astype(object) if isinstance(X, np.ndarray) else np.array(X, dtype=object)
