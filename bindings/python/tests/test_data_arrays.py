"""X as an array: what is taken, what is refused, and in which words."""

import decimal
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from stope import _core, _data, errors
from stope._data import Rows, check_X


class Thing(BaseEstimator):
    pass


def rows_of(X, **options):
    thing = Thing()
    return check_X(thing, X, reset=True, **options)


def of_both(X, estimator=None, reset=True):
    """What scikit-learn and stope say of X: an array or an exception."""
    said = []
    for check in (
        lambda thing: validate_data(thing, X, reset=reset, dtype=[np.float64, np.float32]),
        lambda thing: check_X(thing, X, reset=reset).array,
    ):
        try:
            said.append(check(estimator or Thing()))
        except Exception as error:
            said.append(error)
    return said


def fitted(X):
    thing = Thing()
    check_X(thing, X, reset=True)
    return thing


NAN, INF = float("nan"), float("inf")
BASE = np.arange(24.0).reshape(6, 4)
TAKEN = {
    "float64": BASE, "float32": BASE.astype(np.float32), "float16": BASE.astype(np.float16),
    "longdouble": BASE.astype(np.longdouble), "bool": BASE > 7, "swapped": BASE.astype(">f8"),
    "swapped32": BASE.astype(">f4"), "F": np.asfortranarray(BASE), "strided": np.arange(96.0).reshape(12, 8)[::2, ::2],
    "reversed": BASE[::-1, ::-1], "lists": BASE.tolist(), "tuples": tuple(map(tuple, BASE.tolist())),
    "objects": BASE.astype(object), "text": BASE.astype(str), "texts": BASE.astype(str).astype(object),
    "decimals": [[decimal.Decimal("0.1"), 1]], "broadcast": np.broadcast_to(np.arange(3.0), (5, 3)),
    "unaligned": np.frombuffer(b"x" + BASE.tobytes(), dtype=np.float64, offset=1).reshape(6, 4),
    "field": np.zeros(5, dtype=[("a", "f8", (2,)), ("b", "i1")])["a"],
    **{kind: BASE.astype(kind) for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4")},
}


@pytest.mark.parametrize("name", TAKEN)
def test_an_array_is_taken_as_scikit_learn_takes_it(name):
    theirs, ours = of_both(TAKEN[name])
    assert (ours.dtype == theirs.dtype or name == "swapped32") and ours.dtype.isnative and ours.flags.aligned
    np.testing.assert_array_equal(ours, theirs)
    table = rows_of(TAKEN[name]).as_table(_core.Run())
    np.testing.assert_array_equal(np.column_stack([table.column(i).array() for i in range(table.n_columns)]), theirs)


REFUSED = {
    "scalar": 3.0, "one dimension": np.arange(3.0), "list": [1.0, 2.0], "three": np.zeros((2, 2, 2)),
    "no rows": np.zeros((0, 3)), "no columns": np.zeros((3, 0)), "text": [["a", "b"]], "objects": [[1, "a"], [2, None]],
    "complex": BASE + 1j, "nan": [[1, NAN]], "none": np.array([[1, None]], dtype=object), "inf": [[1.0, INF]],
    "inf32": np.array([[1, -INF]], dtype=np.float32), "both": [[NAN, INF]], "ragged": [[1, 2], [3]], "None": None,
    "dict in it": np.array([[1, {}]], dtype=object), "matrix": np.matrix([[1.0]]), "string": "abc",
    "strided nan": np.where(BASE == 7, NAN, BASE)[:, ::-1], "F inf": np.asfortranarray(np.where(BASE == 7, INF, BASE)),
    "half inf": np.array([[1, INF]], dtype=np.float16),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_an_array_is_refused_in_scikit_learns_words(name):
    theirs, ours = of_both(REFUSED[name])
    assert type(ours) is type(theirs), (ours, theirs)
    assert str(ours).split("\n")[0] == str(theirs).split("\n")[0]


@pytest.mark.parametrize("X", [np.zeros((2, 3)), np.zeros((2, 3), dtype=int), np.zeros(4), [], np.zeros((0, 4))])
def test_another_number_of_columns_is_refused_in_scikit_learns_words(X):
    theirs, ours = of_both(X, fitted(BASE), reset=False)
    assert type(ours) is type(theirs) and str(ours) == str(theirs)


def test_the_order_of_elements_does_not_hide_a_nan_or_an_infinity():
    for dtype in (np.float64, np.float32):
        for bad, word in ((NAN, "nan"), (INF, "infinite"), (-INF, "infinite")):
            for row in range(5):
                for column in range(3):
                    a = np.zeros((5, 3), dtype=dtype)
                    a[row, column] = bad
                    wide = np.zeros((10, 9), dtype=dtype)
                    wide[::2, ::3] = a
                    for view in (a, np.asfortranarray(a), a[::-1], a.T, wide[::2, ::3], wide[::2, ::3].T):
                        assert _core.finiteness(view) == word
                    wide[::2, ::3] = 0
                    wide[1, 1] = bad
                    assert _core.finiteness(wide[::2, ::3]) == "finite"
        big = np.full((3, 3), np.finfo(dtype).max)
        assert _core.finiteness(big) == _core.finiteness(-big) == "finite"
        assert _core.finiteness(np.array([[NAN, INF]], dtype=dtype)) == "infinite"
    assert _core.finiteness(np.zeros((0, 3))) == "finite"
    assert _core.finiteness(np.zeros(3, dtype=int)) == "finite"


def test_missing_values_pass_where_they_are_skipped_and_infinity_does_not():
    assert np.isnan(rows_of([[1, NAN]], missing="skip").array[0, 1])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        rows_of([[INF, NAN]], missing="skip")
    thing = fitted(BASE)
    assert check_X(thing, np.full((1, 4), NAN), reset=False, missing="skip").n_rows == 1
    with pytest.raises(ValueError, match="Input X contains NaN.\nThing does not accept"):
        check_X(thing, np.full((1, 4), NAN), reset=False)


def test_whole_numbers_that_no_double_holds_are_refused():
    for bad in (2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)):
        with pytest.raises(errors.UnsupportedError, match=f"{bad} in row 1") as caught:
            rows_of(np.array([[0, 0], [0, bad]]))
        assert caught.value.row == 1
        with pytest.raises(errors.UnsupportedError, match="in row 1"):
            rows_of(np.array([[0, 0], [None, bad]], dtype=object), missing="skip")
    with pytest.raises(errors.UnsupportedError):
        rows_of(np.array([[2**64 - 1]], dtype=np.uint64))
    assert rows_of(np.array([[2**53, -(2**53)]])).array.tolist() == [[2.0**53, -(2.0**53)]]


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_array", "csr_array", "lil_matrix", "dia_array"])
def test_sparse_matrices_are_refused_in_one_sentence(kind):
    with pytest.raises(TypeError, match=r"^Sparse data was passed, but stope takes dense data; use X.toarray\(\)"):
        rows_of(getattr(scipy.sparse, kind)(BASE))


def test_masked_values_are_missing():
    masked = np.ma.masked_array(BASE, BASE == 5)
    with pytest.raises(ValueError, match="contains NaN"):
        rows_of(masked)
    array = rows_of(masked, missing="skip").array
    assert np.isnan(array[1, 1]) and np.isnan(array).sum() == 1


def test_structured_arrays_are_refused():
    with pytest.raises(ValueError, match="use a DataFrame"):
        rows_of(np.zeros((2, 2), dtype=[("a", "f8"), ("b", "i4")]))


def test_dates_and_durations_are_days():
    dates = np.array([["2024-01-01T12", "1969-12-31T00"]], dtype="M8[h]")
    for unit in ("h", "m", "s", "ms", "us", "ns"):
        assert rows_of(dates.astype(f"M8[{unit}]")).array.tolist() == [[19723.5, -1.0]]
    assert rows_of(np.array([["2024-01"]], dtype="M8[M]")).array.tolist() == [[19723.0]]
    assert rows_of(np.array([[36]], dtype="m8[h]")).array.tolist() == [[1.5]]
    assert np.isnan(rows_of(np.array([["NaT"]], dtype="M8[s]"), missing="skip").array)
    with pytest.raises(ValueError, match="contains NaN"):
        rows_of(np.array([["NaT"]], dtype="M8[s]"))


def test_nanoseconds_are_rounded_once():
    from fractions import Fraction

    counts = np.array([1_700_000_000_123_456_789, -1_700_000_000_123_456_789, 2**63 - 1, -(2**63) + 1, 1, 2**53 + 1])
    exact = [float(Fraction(int(count), 86400 * 10**9)) for count in counts]
    assert _core.days(counts, 86400 * 10**9).tolist() == exact


def test_float_arrays_are_read_where_they_lie():
    for dtype in (np.float64, np.float32):
        base = BASE.astype(dtype)
        for X in (base, np.asfortranarray(base), base[::2], base[:, ::-1], base.T):
            assert np.shares_memory(rows_of(X).array, X)
            thing = fitted(X)
            assert np.shares_memory(check_X(thing, X, reset=False).array, X)


def address(table, index):
    return table.column(index).array().__array_interface__["data"][0]


def test_only_memory_that_nobody_can_write_to_is_lent_at_fit():
    X = np.asfortranarray(BASE)
    own = X.__array_interface__["data"][0]
    assert address(rows_of(X).as_table(_core.Run()), 0) != own
    assert address(rows_of(X).as_table(_core.Run(), share=True), 0) == own
    X.flags.writeable = False
    table = rows_of(X).as_table(_core.Run())
    assert [address(table, i) for i in range(4)] == [own + 48 * i for i in range(4)]


def test_lent_memory_outlives_the_array():
    X = np.asfortranarray(np.random.default_rng(0).random((1000, 2)))
    copy = X.copy()
    X.flags.writeable = False
    table = rows_of(X).as_table(_core.Run())
    del X
    for _ in range(20):
        np.full((1000, 2), 7.0)
    np.testing.assert_array_equal(table.column(1).array(), copy[:, 1])


def test_columns_of_objects_are_nominal_unless_all_are_numbers():
    X = np.array([[1, "b", None, True], [2.5, "a", 3, False], [None, NAN, 4, None]], dtype=object)
    rows = rows_of(X, categorical_features="from_dtype", missing="skip")
    assert rows.nominal == [False, True, False, True]
    assert rows.array is None and rows.n_rows == 3 and rows.n_columns == 4
    table = rows.table
    assert table.column(1).array().tolist() == [1, 0, -1] and table.column(1).values.names() == ["a", "b"]
    assert table.column(3).values.names() == ["False", "True"]
    assert rows.categories[1].tolist() == ["a", "b"] and rows.categories[3].tolist() == [False, True]
    np.testing.assert_array_equal(table.column(0).array(), [1, 2.5, NAN])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        rows_of(X[:, 1:2], categorical_features="from_dtype")


def test_numbers_become_nominal_by_value_where_they_are_named():
    X = np.array([[10.0, 2.0], [9.0, NAN], [10.0, 0.5]])
    for asked in ([1], [-1], [False, True], np.array([1])):
        rows = rows_of(X, categorical_features=asked, missing="skip")
        assert rows.nominal == [False, True]
        assert rows.table.column(1).values.names() == ["0.5", "2"]
        assert rows.table.column(1).array().tolist() == [1, -1, 0]
    assert rows_of(X, categorical_features=[], missing="skip").array is not None
    names = rows_of(X[:, :1].astype(int), categorical_features=[0]).table.column(0).values.names()
    assert names == ["9", "10"]  # in the order of numbers


@pytest.mark.parametrize("asked, message", [
    ([4], "should be in"), ([True], "boolean mask"), (["a"], "X has no names"), ("auto", "must be 'from_dtype'"),
    ([[1]], "one dimension"),
])
def test_wrong_categorical_features_are_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        rows_of(BASE, categorical_features=asked)


def test_one_value_has_one_name_in_every_type():
    thing = Thing()
    check_X(thing, np.array([[1, 0.0], [2, 1.0]]), reset=True, categorical_features=[0])
    for X in (np.array([[2, 0]]), np.array([[2.0, 0]]), np.array([[2, 0]], dtype=object), [[2, 0]], [["2", 0]]):
        assert check_X(thing, X, reset=False).table.column(0).values.names() == ["2"]
    assert check_X(thing, [[3, 1.0]], reset=False).table.column(0).values.names() == ["3"]


def test_two_values_of_one_name_are_an_error():
    with pytest.raises(errors.InvalidDataError, match="two values of the name '1': "):
        rows_of(np.array([[1], ["1"]], dtype=object), categorical_features="from_dtype")


def test_values_that_are_not_text_or_cannot_be_hashed_are_errors():
    for bad in ({}, [1], {1}):
        X = np.empty((2, 1), dtype=object)
        X[:, 0] = ["a", None]
        X[1, 0] = bad
        with pytest.raises(TypeError, match="argument must be a string or a real number"):
            rows_of(X, categorical_features="from_dtype")
    for bad in (["\ud800", "a"], ["\ud800", 1]):
        with pytest.raises(ValueError, match="not Unicode text"):
            rows_of(np.array(bad, dtype=object)[:, None], categorical_features="from_dtype")


def test_text_in_lists_leaves_the_numbers_beside_it_numbers():
    rows = rows_of([[1.5, "a"], [2.5, "b"]], categorical_features="from_dtype")
    assert rows.nominal == [False, True] and rows.table.column(0).array().tolist() == [1.5, 2.5]


def test_strings_are_sorted_by_code_points_and_counted_right():
    rng = np.random.default_rng(1)
    words = ["", "a", "ab", "é", "zz", "\U0001f600", "aaaaaaaab", "aaaaaaaaa", "A", "\x00", "a\x00b", "日本"]
    for size in (1, 7, 5000):
        values = np.array(words, dtype=object)[rng.integers(0, len(words), size)]
        numbers = np.array([str(i) for i in rng.integers(0, size, size)], dtype=object)
        for column in (values, numbers):
            codes, names, first = _core.factorize([*column.tolist(), None, NAN])
            assert names.names() == sorted(set(column)) == column[first].tolist()
            row_of = {name: row for row, name in reversed([*enumerate(column)])}
            assert [row_of[name] for name in names.names()] == first.tolist()
            assert [names.names()[c] for c in codes[:-2]] == column.tolist() and codes[-2:].tolist() == [-1, -1]
    assert _core.factorize(["a", 1]) is None and _core.factorize([b"a"]) is None
    codes, names, first = _core.factorize([])
    assert codes.size == 0 and len(names) == 0 and first.size == 0


def test_kinds_of_columns_stay_as_they_were_at_fit():
    thing = Thing()
    check_X(thing, [[1.5, "a"], [2.5, "b"]], reset=True, categorical_features="from_dtype")
    empty = check_X(thing, np.array([[1, None]], dtype=object), reset=False, missing="skip")
    assert empty.nominal == [False, True] and empty.table.column(1).array().tolist() == [-1]
    with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
        check_X(thing, [["x", "a"]], reset=False)
    with pytest.raises(ValueError, match="X has 3 features, but Thing is expecting 2 features as input"):
        check_X(thing, [["x", "a", 3]], reset=False)
    check_X(thing, BASE, reset=True)
    assert check_X(thing, BASE, reset=False).array is BASE


def test_a_name_may_stand_for_the_estimator():
    assert check_X("column_stats", BASE, reset=True).array is BASE
    with pytest.raises(ValueError, match="required by column_stats"):
        check_X("column_stats", BASE[:0], reset=True)


def test_finite_numbers_are_assumed_where_scikit_learn_is_told_so():
    import sklearn

    with sklearn.config_context(assume_finite=True):
        assert np.isnan(rows_of([[1.0, NAN]]).array[0, 1])


def test_an_array_that_lies_is_an_exception():
    class Liar:
        def __array__(self, dtype=None, copy=None):
            return "no array"

    class Thrower:
        def __array__(self, dtype=None, copy=None):
            raise KeyError("no")

    class Shrinks:
        shape = (5, 4)

        def __array__(self, dtype=None, copy=None):
            return BASE[:2, :2]

    with pytest.raises(Exception):
        rows_of(Liar())
    with pytest.raises(KeyError):
        rows_of(Thrower())
    assert rows_of(Shrinks()).array.shape == (2, 2)

    class Interface:
        __array_interface__ = {"shape": (2, 2), "typestr": "<f8", "data": None, "version": 3}

    with pytest.raises(Exception):
        rows_of(Interface())


def test_rows_can_be_made_by_hand():
    rows = Rows(BASE, None, ["a", "b", "c", "d"])
    assert rows.nominal == [False] * 4 and rows.as_table(_core.Run()).column(3).name == "d"
    table = rows.as_table(_core.Run())
    assert Rows(None, table, None).n_columns == 4 and Rows(None, table, None).table is table


def test_an_array_that_repeats_one_row_is_copied_and_the_engine_refuses_it():
    X = np.broadcast_to(np.arange(3.0), (5, 3))
    assert 0 not in check_X(fitted(X), X, reset=False).array.strides
    for view in (X, np.broadcast_to(np.float64(3), (5,))):
        with pytest.raises(errors.UnsupportedError, match="stride of 0"):
            _core.Table.of_array(view, [], False, _core.Run())


def test_an_array_of_the_fitted_shape_is_not_looked_at_further(monkeypatch):
    thing = fitted(BASE)
    monkeypatch.setattr(_data, "_Checker", None)
    assert check_X(thing, BASE[:1], reset=False).array.tolist() == BASE[:1].tolist()


def test_no_warning_comes_from_plain_arrays():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thing = fitted(BASE)
        check_X(thing, BASE, reset=False)
