"""X as a frame: pandas, polars, Arrow, a table of the engine."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from stope import _core, errors
from stope._data import check_X


class Thing(BaseEstimator):
    pass


def rows_of(X, **options):
    return check_X(Thing(), X, reset=True, **options)


def mixed(X, **options):
    return rows_of(X, categorical_features="from_dtype", missing="skip", **options)


def content(rows):
    """Names, kinds and values of all columns: numbers, or the values behind the codes."""
    table = rows.as_table(_core.Run())
    result = []
    for i in range(table.n_columns):
        column = table.column(i)
        values = column.array().astype(float)
        if column.is_nominal:
            names = [*column.values.names(), None]
            values = [names[int(code)] for code in values]
        else:
            values = [None if v != v else float(v) for v in values]
        result.append((column.name, column.is_nominal, values))
    return result


def address(values):
    return values.__array_interface__["data"][0]


NUMBERS = pd.DataFrame({"a": [1.5, 2.5, -3.0], "b": [0.0, 1e6, 7.0]})


def test_one_table_is_the_same_from_every_library():
    columns = {
        "real": [1.5, None, -2.0], "single": [1.5, None, -2.0], "whole": [1, 2, None], "text": ["b", None, "a"],
        "yes": [True, None, False], "day": [datetime.date(2024, 1, 1), None, datetime.date(1969, 12, 31)],
        "instant": [datetime.datetime(2024, 1, 1, 12), None, datetime.datetime(1969, 12, 31)],
    }
    arrow = pa.table({
        "real": pa.array(columns["real"], pa.float64()), "single": pa.array(columns["single"], pa.float32()),
        "whole": pa.array(columns["whole"], pa.int32()), "text": pa.array(columns["text"]),
        "yes": pa.array(columns["yes"]), "day": pa.array(columns["day"]),
        "instant": pa.array(columns["instant"], pa.timestamp("us")),
    })
    polars = pl.from_arrow(arrow)
    pandas = pd.DataFrame({
        "real": columns["real"], "single": np.array([1.5, np.nan, -2.0], dtype=np.float32),
        "whole": pd.array(columns["whole"], dtype="Int32"), "text": columns["text"],
        "yes": pd.array(columns["yes"], dtype="boolean"),
        "day": pd.to_datetime(columns["day"]), "instant": pd.to_datetime(columns["instant"]),
    })
    arrow_backed = pd.DataFrame({name: pd.arrays.ArrowExtensionArray(arrow[name]) for name in arrow.column_names})
    wanted = content(mixed(arrow))
    assert wanted[3] == ("text", True, ["b", None, "a"]) and wanted[5][2] == [19723.0, None, -1.0]
    assert wanted[4] == ("yes", False, [1.0, None, 0.0])
    for X in (polars, pandas, arrow_backed, arrow.to_batches()[0], mixed(arrow).table):
        assert content(mixed(X)) == wanted, type(X)


def test_categories_of_every_type_keep_their_values():
    for values in (["b", "a"], [2, 1], [2.5, 1.0], [True, False], [pd.Timestamp("2024"), pd.Timestamp("2025")]):
        for ordered in (True, False):
            series = pd.Series(pd.Categorical([values[0], None, values[1]], categories=values, ordered=ordered))
            rows = mixed(pd.DataFrame({"c": series}))
            wanted = values if ordered else sorted(values)
            assert rows.nominal == [True] and rows.categories[0].tolist() == wanted
            assert rows.table.column(0).array().tolist() == [wanted.index(values[0]), -1, wanted.index(values[1])]
    rows = mixed(pl.DataFrame({"c": ["x", None, "y"]}, schema={"c": pl.Categorical}))
    assert content(rows) == [("c", True, ["x", None, "y"])]
    rows = mixed(pl.DataFrame({"c": ["x", None, "y"]}, schema={"c": pl.Enum(["y", "x"])}))
    assert content(rows) == [("c", True, ["x", None, "y"])] and rows.categories[0].tolist() == ["y", "x"]


def test_categories_that_are_numbers_are_numbers_where_none_may_be_nominal():
    frame = pd.DataFrame({"c": pd.Categorical([3, 1, 3])})
    assert rows_of(frame).array.tolist() == [[3.0], [1.0], [3.0]]
    for X in (pd.DataFrame({"c": ["x", "y"]}), pd.DataFrame({"c": pd.Categorical(["x", "y"])}),
              pl.DataFrame({"c": ["x", "y"]}), pa.table({"c": ["x", "y"]})):
        with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
            rows_of(X)
    assert rows_of(pl.DataFrame({"c": ["1.5", "2"]})).array.tolist() == [[1.5], [2.0]]  # as scikit-learn does


def test_columns_of_objects_are_looked_into():
    frame = pd.DataFrame({
        "numbers": pd.Series([1, None, 2.5], dtype=object), "flags": pd.Series([True, None, False], dtype=object),
        "text": pd.Series(["x", float("nan"), pd.NA], dtype=object), "mixture": pd.Series(["x", 1, None], dtype=object),
        "nothing": pd.Series([None, pd.NA, pd.NaT], dtype=object),
    })
    assert content(mixed(frame)) == [
        ("numbers", False, [1.0, None, 2.5]), ("flags", True, ["True", None, "False"]),
        ("text", True, ["x", None, None]), ("mixture", True, ["x", "1", None]), ("nothing", False, [None] * 3),
    ]


@pytest.mark.parametrize("dtype", ["string", "str", object, "string[python]"])
def test_every_type_of_string_is_nominal(dtype):
    frame = pd.DataFrame({"s": pd.Series(["b", None, "a"], dtype=dtype)})
    assert content(mixed(frame)) == [("s", True, ["b", None, "a"])]
    with pytest.raises(ValueError, match="Input X contains NaN"):
        rows_of(frame, categorical_features="from_dtype")


MISSING = [
    pd.DataFrame({"a": [1.0, np.nan]}), pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    pd.DataFrame({"a": pd.array([1.0, None], dtype="Float32")}), pd.DataFrame({"a": pd.to_datetime(["2024", None])}),
    pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}), pd.DataFrame({"a": ["x", None]}),
    pd.DataFrame({"a": pd.Categorical(["x", None])}), pd.DataFrame({"a": pd.Series([1, pd.NA], dtype=object)}),
    pl.DataFrame({"a": [1, None]}), pl.DataFrame({"a": ["x", None]}), pl.DataFrame({"a": [None, None]}),
    pl.DataFrame({"a": [True, None]}), pa.table({"a": [1.0, None]}),
    pa.table({"a": pa.array(["x", None]).dictionary_encode()}),
    pl.DataFrame({"a": [1.0, float("nan")]}), {"a": [1, None]},
]


@pytest.mark.parametrize("number", range(len(MISSING)))
def test_missing_values_of_every_kind_are_refused_or_skipped(number):
    X = MISSING[number]
    with pytest.raises(ValueError, match="^Input X contains NaN.\nThing does not accept missing values"):
        rows_of(X, categorical_features="from_dtype")
    assert content(mixed(X))[0][2][1] is None


def test_infinity_is_refused_in_frames_too():
    for X in (pd.DataFrame({"a": [1.0, np.inf], "b": ["x", "y"]}), pl.DataFrame({"a": [1.0, np.inf]})):
        with pytest.raises(ValueError, match="Input X contains infinity or a value too large for dtype"):
            mixed(X)


def test_a_block_of_pandas_is_read_where_it_lies():
    for dtype in (np.float64, np.float32):
        frame = pd.DataFrame(np.arange(6, dtype=dtype).reshape(3, 2), columns=["a", "b"])
        array = rows_of(frame).array
        assert array.dtype == dtype and np.shares_memory(array, frame["a"].to_numpy())


def test_columns_are_read_where_they_lie():
    frame = pd.DataFrame({"t": ["x", "y", "x"], "a": [1.5, 2, 3], "c": pd.Categorical(["p", "q", "p"])})
    thing = Thing()
    check_X(thing, frame, reset=True, categorical_features="from_dtype")
    table = check_X(thing, frame, reset=False).table
    assert address(table.column(1).array()) == address(frame["a"].to_numpy())
    polars = pl.DataFrame({"a": [1.5, 2, 3], "b": np.array([1, 2, 3], dtype=np.float32)})
    rows = rows_of(polars)
    table = rows.as_table(_core.Run())
    for name in ("a", "b"):
        assert address(table.column(table.find(name)).array()) == address(polars[name].to_numpy())
    assert rows.table is None and rows.array.tolist() == [[1.5, 1], [2, 2], [3, 3]]
    arrow = pa.table({"a": [1.5, 2], "d": pa.array(["x", "y"]).dictionary_encode()})
    table = mixed(arrow).table
    assert address(table.column(0).array()) == arrow["a"].chunk(0).buffers()[1].address
    assert address(table.column(1).array()) == arrow["d"].chunk(0).indices.buffers()[1].address


def test_a_frame_that_is_written_to_does_not_change_what_was_lent():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "t": ["x", "y"]})
    for X in (frame[["a", "b"]], frame):
        table = mixed(X).as_table(_core.Run())
        lent = address(table.column(0).array()) == address(X["a"].to_numpy())
        X.loc[0, "a"] = 99.0
        X.iloc[:, 1] = 98.0
        assert table.column(0).array().tolist() == [1.0, 2.0] and table.column(1).array().tolist() == [3.0, 4.0]
        assert lent  # or this test shows nothing


def test_lent_columns_outlive_their_frame():
    frame = pd.DataFrame(np.random.default_rng(0).random((1000, 3)), columns=list("abc"))
    frame["t"] = "x"
    wanted = frame["b"].to_numpy().copy()
    table = mixed(frame).table
    arrow = mixed(pl.DataFrame({"b": wanted})).as_table(_core.Run())
    del frame
    for _ in range(10):
        np.full(3000, 7.0)
    np.testing.assert_array_equal(table.column(1).array(), wanted)
    np.testing.assert_array_equal(arrow.column(0).array(), wanted)


def theirs(X, reset=True, thing=None):
    return validate_data(thing or Thing(), X, reset=reset, dtype=[np.float64, np.float32])


@pytest.mark.parametrize("frame", [
    NUMBERS, NUMBERS.astype("float32"), NUMBERS.assign(c=[1, 2, 3]), NUMBERS.astype({"a": "float32"}),
    pd.DataFrame({"a": [True, False]}), pd.DataFrame({"a": pd.array([1, 2], dtype="Int64")}),
    pd.DataFrame({"a": pd.array([1.5, 2], dtype="Float32")}), pl.DataFrame({"a": [1, 2], "b": [1.5, 2]}),
    pl.DataFrame({"a": np.zeros(3, dtype=np.float32)}), pa.table({"a": [1.5, 2.0]}),
    pd.DataFrame({"a": [1.5, "2"]}, dtype=object), pd.DataFrame([[1.0, 2.0]]),
    NUMBERS.iloc[:0], NUMBERS.iloc[::2], NUMBERS["a"], pd.DataFrame({"a": [1j]}),
    pd.DataFrame({"a": [1.0], 3: [2.0]}), pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]),
])
def test_a_frame_of_numbers_is_taken_or_refused_as_scikit_learn_does(frame):
    ours = error = wanted = None
    thing, other = Thing(), Thing()
    try:
        wanted = theirs(frame, thing=other)
    except Exception as raised:
        error = raised
    if error is not None:
        with pytest.raises(type(error)) as caught:
            check_X(thing, frame, reset=True)
        assert str(caught.value).split("\n")[0] == str(error).split("\n")[0]
        return
    ours = check_X(thing, frame, reset=True).array
    np.testing.assert_array_equal(ours, wanted)
    single = str(frame.dtypes.iloc[0] if hasattr(frame, "iloc") else frame.schema).lower()
    assert ours.dtype == wanted.dtype or (ours.dtype == np.float32 and "float32" in single)  # kept, not widened
    names = getattr(other, "feature_names_in_", None)
    assert thing.n_features_in_ == other.n_features_in_
    if hasattr(frame, "__arrow_c_stream__") and not isinstance(frame, pd.DataFrame):  # scikit-learn may not know it
        names = np.array(frame.to_pandas().columns)
    if names is None:
        assert not hasattr(thing, "feature_names_in_")
    else:
        assert thing.feature_names_in_.tolist() == names.tolist() and thing.feature_names_in_.dtype == object


def said(check, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check(X)
            error = ""
        except ValueError as raised:
            error = str(raised)
    return error, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("X", [
    NUMBERS, NUMBERS[["b", "a"]], NUMBERS.rename(columns={"b": "z"}), NUMBERS[["a"]], NUMBERS.assign(c=1.0),
    NUMBERS.to_numpy(), pl.from_pandas(NUMBERS)[["b", "a"]], NUMBERS.rename(columns={"a": 0, "b": 1}),
    pd.DataFrame(np.zeros((2, 9)), columns=list("cdefghijk")),
])
@pytest.mark.parametrize("fitted", [NUMBERS, NUMBERS.to_numpy(), pl.from_pandas(NUMBERS)])
def test_names_are_compared_as_scikit_learn_compares_them(fitted, X):
    thing, other = Thing(), Thing()
    check_X(thing, fitted, reset=True)
    # Not all versions of scikit-learn know the names of polars.
    as_pandas = [x.to_pandas() if isinstance(x, pl.DataFrame) else x for x in (fitted, X)]
    theirs(as_pandas[0], thing=other)
    assert said(lambda x: check_X(thing, x, reset=False), X) == said(lambda x: theirs(x, False, other), as_pandas[1])


def test_fitting_without_names_forgets_them():
    thing = Thing()
    check_X(thing, NUMBERS, reset=True)
    check_X(thing, NUMBERS.to_numpy(), reset=True)
    assert not hasattr(thing, "feature_names_in_")


def test_warnings_point_at_the_caller():
    from stope._base import StopeEstimator

    class Fitted(StopeEstimator):
        def fit(self, X):
            check_X(self, X, reset=True)
            return self

        def predict(self, X):
            return check_X(self, X, reset=False)

    thing = Fitted().fit(NUMBERS)
    with pytest.warns(UserWarning, match="does not have valid feature names") as caught:
        thing.predict(NUMBERS.to_numpy())
    assert caught[0].filename == __file__


def test_names_may_be_any_text_and_may_repeat():
    frame = pd.DataFrame([[1.0, "x"]], columns=["é ", ""])
    assert [name for name, *_ in content(mixed(frame))] == ["é ", ""]
    frame = pd.DataFrame([[1.0, "x"]], columns=["a", "a"])
    assert [name for name, *_ in content(mixed(frame))] == ["x0", "x1"]
    for bad in ("\ud800", "a\0"):
        with pytest.raises(errors.InvalidDataError, match="not Unicode text"):
            mixed({bad: [1.0], "b": ["x"]}).as_table(_core.Run())


def test_columns_are_chosen_by_name_mask_or_number():
    frame = NUMBERS.assign(c=["x", "y", "x"])
    polars = pl.from_pandas(frame)
    for X in (frame, polars, pa.table(polars)):
        for asked in (["b", "c"], [False, True, True], [1, 2], np.array(["b", "c"]), ("b", -1 + 3 and "c")):
            rows = rows_of(X, categorical_features=asked)
            assert rows.nominal == [False, True, True]
            assert content(rows)[1] == ("b", True, ["0", "1000000", "7"])
        with pytest.raises(ValueError, match="name that X lacks: 'z'"):
            rows_of(X, categorical_features=["z"])
        with pytest.raises(ValueError, match="could not convert string to float"):
            rows_of(X, categorical_features=["b"])


def test_unseen_categories_and_other_types_are_taken_at_predict():
    thing = Thing()
    check_X(thing, pd.DataFrame({"n": [1.0, 2.0], "c": pd.Categorical([1, 2])}), reset=True,
            categorical_features="from_dtype")
    for column in ([7, 1], [7.0, 1.0], ["7", "1"], pd.Categorical([7, 1]), pd.array([7, 1], dtype="Int64")):
        rows = check_X(thing, pd.DataFrame({"n": [1.0, 2.0], "c": column}), reset=False)
        assert content(rows)[1] == ("c", True, ["7", "1"])
    rows = check_X(thing, pl.DataFrame({"n": [1, 2], "c": [7, 1]}), reset=False)
    assert content(rows) == [("n", False, [1.0, 2.0]), ("c", True, ["7", "1"])]
    with pytest.raises(ValueError, match="could not convert string to float"):
        check_X(thing, pd.DataFrame({"n": ["x", "y"], "c": [1, 2]}), reset=False)


def test_frames_without_columns_and_columns_without_frames_are_refused():
    for X in (NUMBERS[[]], pl.DataFrame(), pa.table({})):
        with pytest.raises(ValueError, match=r"minimum of 1 is required by Thing"):
            rows_of(X)
    for X in (NUMBERS["a"], pl.Series([1.0])):
        with pytest.raises(ValueError, match="Expected a 2-dimensional container but got <class"):
            rows_of(X)


def test_sparse_columns_are_refused():
    with pytest.raises(TypeError, match="Sparse data was passed in column .a., but"):
        rows_of(pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])}))


def test_whole_numbers_beyond_doubles_are_refused_in_frames():
    big = 2**53 + 1
    for X in (pd.DataFrame({"a": [1, big]}), pd.DataFrame({"a": [1, big], "b": ["x", "y"]}),
              pl.DataFrame({"a": [1, big]}),
              pd.DataFrame({"a": pd.array([1, big, None], dtype="Int64")}), pa.table({"a": [1, big]})):
        with pytest.raises(errors.UnsupportedError, match=f"{big}"):
            mixed(X)


def test_time_zones_are_instants():
    frame = pd.DataFrame({"t": pd.to_datetime(["2024-01-01T12:00"]).tz_localize("Asia/Tokyo")})
    assert rows_of(frame).array.tolist() == [[19723.125]]
    assert rows_of(pl.from_pandas(frame)).array.tolist() == [[19723.125]]


def test_a_dict_is_a_frame():
    rows = mixed({"a": [1, 2], "t": ["x", None]})
    assert content(rows) == [("a", False, [1.0, 2.0]), ("t", True, ["x", None])]
    with pytest.raises(ValueError, match="one length"):
        rows_of({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match="0 sample"):
        rows_of({})


def test_all_batches_of_a_table_are_rows():
    table = pa.concat_tables([pa.table({"a": [1.0, 2.0], "t": ["x", "y"]}), pa.table({"a": [3.0], "t": ["x"]})])
    assert content(mixed(table)) == [("a", False, [1.0, 2.0, 3.0]), ("t", True, ["x", "y", "x"])]
    lazily = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert content(mixed(lazily)) == content(mixed(table))


def test_labels_of_a_table_are_no_features():
    table = _core.Table.of_array(np.eye(3), ["a", "b", "y"], False, _core.Run()).with_roles([(2, "label")])
    assert rows_of(table).n_columns == 2


def test_random_frames_are_the_same_from_pandas_and_polars():
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = int(rng.integers(1, 30))
        data = {}
        for i in range(int(rng.integers(1, 6))):
            kind = rng.integers(4)
            known = (rng.random(n) < 0.8).tolist()
            if kind == 0:
                data[f"c{i}"] = pl.Series([v if k else None for v, k in zip(rng.normal(size=n), known)], dtype=pl.Float64)
            elif kind == 1:
                data[f"c{i}"] = pl.Series([v if k else None for v, k in zip(rng.integers(-9, 9, n), known)], dtype=pl.Int64)
            elif kind == 2:
                data[f"c{i}"] = pl.Series([v if k else None for v, k in zip(rng.choice(list("xyzé"), n), known)], dtype=pl.String)
            else:
                data[f"c{i}"] = pl.Series([bool(v) for v in rng.integers(0, 2, n)], dtype=pl.Boolean)
        polars = pl.DataFrame(data)
        pandas = pd.DataFrame({name: pd.Series(column.to_list(), dtype={
            pl.Float64: "float64", pl.Int64: "Int64", pl.String: "str", pl.Boolean: "bool"}[column.dtype])
            for name, column in data.items()})
        assert content(mixed(polars)) == content(mixed(pandas)) == content(mixed(polars.to_arrow()))


def test_odd_types_of_pandas_are_nominal_by_their_text_or_refused():
    period = pd.DataFrame({"p": pd.period_range("2024-01", periods=2, freq="M")})
    interval = pd.DataFrame({"i": pd.interval_range(0, 2)})
    assert content(mixed(period)) == [("p", True, ["2024-01", "2024-02"])]
    assert content(mixed(interval)) == [("i", True, ["(0, 1]", "(1, 2]"])]
    for frame in (period, interval):
        with pytest.raises((TypeError, ValueError)):
            rows_of(frame)


def test_durations_of_pandas_are_days():
    assert rows_of(pd.DataFrame({"t": pd.to_timedelta(["36h", "12h"])})).array.tolist() == [[1.5], [0.5]]


def test_dates_that_are_named_nominal_have_one_name_in_every_library():
    days = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2, 12)]
    thing = Thing()
    check_X(thing, pd.DataFrame({"d": pd.Categorical(pd.to_datetime(days))}), reset=True,
            categorical_features="from_dtype")
    names = check_X(thing, pd.DataFrame({"d": pd.to_datetime(days)}), reset=False).table.column(0).values.names()
    assert names == ["2024-01-01 00:00:00", "2024-01-02 12:00:00"]
    objects = pd.DataFrame({"d": pd.Series(days, dtype=object)})
    names = check_X(thing, objects, reset=False).table.column(0).values.names()
    assert names == ["2024-01-01 00:00:00", "2024-01-02 12:00:00"]
    names = check_X(thing, pl.DataFrame({"d": days}), reset=False).table.column(0).values.names()
    assert names == ["2024-01-01 00:00:00", "2024-01-02 12:00:00"]


def test_random_frames_of_numbers_are_scikit_learns_to_the_bit():
    rng = np.random.default_rng(5)
    kinds = ["float64", "float32", "int64", "int8", "uint16", "bool", "Int64", "Float64", "boolean", "object"]
    for _ in range(60):
        n = int(rng.integers(1, 9))
        frame = pd.DataFrame({
            f"c{i}": pd.Series(rng.integers(0, 2, n) if "bool" in kind else rng.integers(0, 100, n)).astype(kind)
            for i, kind in enumerate(rng.choice(kinds, int(rng.integers(1, 6))))
        })
        ours, wanted = check_X(Thing(), frame, reset=True).array, theirs(frame)
        np.testing.assert_array_equal(ours, wanted)
        assert ours.dtype == wanted.dtype


def test_a_whole_number_beyond_doubles_is_told_of_by_its_columns_name():
    for frame in (pd.DataFrame({"a": [1, 2], "b": [3, 2**53 + 1]}), pd.DataFrame({"a": [1.5, 1e300], "b": [3, -(2**60)]}),
                  pd.DataFrame({"a": [True, False], "b": [0, 2**53 + 1]}),
                  pd.DataFrame({"a": [1, -2], "b": np.array([0, 2**63 + 1], dtype=np.uint64)})):
        with pytest.raises(ValueError, match="column 'b' has the whole number .* in row 1"):
            rows_of(frame)
    assert rows_of(pd.DataFrame({"a": [1.5], "b": [2**53]})).array.tolist() == [[1.5, 2.0**53]]


def test_a_query_that_is_not_collected_is_refused_with_advice():
    with pytest.raises(TypeError, match="collect"):
        rows_of(pl.LazyFrame({"a": [1.0]}))


def test_a_dict_of_single_precision_is_single_precision():
    single, double = np.ones(2, dtype=np.float32), np.ones(2)
    assert rows_of({"a": single, "b": single}).dtype == rows_of({"a": single}).array.dtype == np.float32
    assert rows_of({"a": single, "b": double}).dtype == rows_of({"a": single, "b": double}).array.dtype == np.float64
