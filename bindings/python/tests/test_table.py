"""Tables: what they hold, how they are shown, and how they travel between libraries."""

import copy
import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from stope import Table, _core
from stope._data import check_X

DATA = {
    "real": [1.5, None, -2.0], "whole": [1, 2, 3], "text": ["b", None, "a<b"],
    "day": [datetime.date(2024, 1, 1), None, datetime.date(1969, 12, 31)],
}
POLARS = pl.DataFrame(DATA)
TABLE = Table(POLARS).with_roles(label="text")


def same(a, b):
    assert a.columns == b.columns and a.dtypes == b.dtypes and a.roles == b.roles and a.shape == b.shape
    for name in a.columns:
        np.testing.assert_array_equal(a[name], b[name])
        assert a.categories(name) == b.categories(name)


def test_a_table_says_what_it_holds():
    assert TABLE.columns == ["real", "whole", "text", "day"]
    assert TABLE.dtypes == {"real": "real", "whole": "integer", "text": "polynominal", "day": "date"}
    assert TABLE.roles == {"real": "regular", "whole": "regular", "text": "label", "day": "regular"}
    assert TABLE.shape == (3, 4) and len(TABLE) == 3 and "text" in TABLE and "none" not in TABLE and 3 not in TABLE
    assert TABLE.missing_counts() == {"real": 1, "whole": 0, "text": 1, "day": 1}
    assert TABLE["text"].tolist() == ["b", None, "a<b"] and TABLE.categories("text") == ["a<b", "b"]
    assert TABLE.codes("text").tolist() == [1, -1, 0] and TABLE.codes("real") is None
    np.testing.assert_array_equal(TABLE["day"], [19723.0, np.nan, -1.0])
    assert TABLE.nbytes >= 3 * (8 + 8 + 4 + 8)
    for bad in ("none", 3, None):
        with pytest.raises(KeyError):
            TABLE[bad]


def test_columns_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        TABLE["real"][0] = 1


def test_tables_travel_through_every_library_and_come_back():
    same(Table(TABLE.to_arrow()), TABLE)
    unlabelled = Table(POLARS)
    again = Table.from_polars(unlabelled.to_polars())
    assert again.dtypes == {**unlabelled.dtypes, "whole": "real"}  # polars keeps no metadata
    for name in TABLE.columns:
        np.testing.assert_array_equal(again[name], TABLE[name])
    frame = unlabelled.to_pandas()
    assert [str(dtype) for dtype in frame.dtypes] == ["float64", "int64", "category", "datetime64[us]"]
    back = Table.from_pandas(frame)
    assert back.columns == TABLE.columns and back.dtypes["day"] == "date"
    for name in TABLE.columns:
        np.testing.assert_array_equal(back[name], TABLE[name])
    assert pl.DataFrame(TABLE)["text"].to_list() == DATA["text"]
    assert pl.DataFrame(TABLE)["day"].to_list() == DATA["day"]
    same(Table(TABLE), TABLE)
    same(Table(TABLE._core_table), TABLE)


def test_an_array_of_numbers_comes_back_as_one():
    for dtype in (np.float64, np.float32):
        X = np.arange(6, dtype=dtype).reshape(3, 2)
        table = Table.from_numpy(X, ["p", "q"])
        assert table.columns == ["p", "q"] and table.to_numpy().dtype == dtype
        np.testing.assert_array_equal(table.to_numpy(), X)
        np.testing.assert_array_equal(np.asarray(Table(X), dtype=float), X)
    assert TABLE.to_numpy()[2].tolist() == [-2.0, 3.0, "a<b", -1.0]
    assert Table({"a": [1, float("inf")]})["a"].tolist() == [1, float("inf")]
    for names in (["p"], ["p", "p"]):
        with pytest.raises(ValueError):
            Table.from_numpy(np.zeros((2, 2)), names)


def test_whole_numbers_keep_their_type():
    for data in (np.arange(3)[:, None], pd.DataFrame({"x0": [0, 1, 2]}), pl.DataFrame({"x0": [0, 1, 2]}),
                 pd.DataFrame({"x0": pd.array([0, 1, 2], dtype="Int64")}), {"x0": [0, 1, 2]}):
        assert Table(data).dtypes == {"x0": "integer"}, type(data)
        assert Table(data).to_pandas()["x0"].tolist() == [0, 1, 2]


def test_changing_an_array_does_not_change_the_table_made_of_it():
    X = np.asfortranarray(np.zeros((3, 2)))
    table = Table(X)
    X[:] = 7
    assert (table.to_numpy() == 0).all()


def test_rows_are_taken_in_any_order():
    assert TABLE.take([2, 0, 2])["text"].tolist() == ["a<b", "b", "a<b"]
    assert TABLE.take([])["text"].tolist() == [] and TABLE.take(np.array([1]))["whole"].tolist() == [2]
    assert len(TABLE.head(2)) == 2 and len(TABLE.head(9)) == 3 and len(TABLE.head(-1)) == 0
    assert TABLE.take([0]).roles["text"] == "label"
    for bad in ([3], [-1]):
        with pytest.raises(IndexError):
            TABLE.take(bad)
    for bad in ([0.5], [[0]], ["a"], 1):
        with pytest.raises(ValueError):
            TABLE.take(bad)


def test_roles_are_set_by_name():
    table = TABLE.with_roles(weight="real", id="day", ignore=["whole"])
    assert table.roles == {"real": "weight", "whole": "ignore", "text": "label", "day": "id"}
    assert TABLE.roles["real"] == "regular"
    with pytest.raises(KeyError):
        TABLE.with_roles(label="none")


def test_features_of_a_table_are_its_regular_columns():
    class Thing:
        pass

    rows = check_X(Thing(), TABLE, reset=True, categorical_features="from_dtype", missing="skip")
    assert rows.names == ["real", "whole", "day"]
    assert rows.array.shape == (3, 3)


def test_a_table_can_be_pickled_and_copied():
    for again in (pickle.loads(pickle.dumps(TABLE)), copy.deepcopy(TABLE), copy.copy(TABLE)):
        same(again, TABLE)


def test_the_repr_shows_types_missing_counts_and_first_rows():
    text = repr(TABLE)
    assert text.splitlines()[0] == "Table of 3 rows and 4 columns"
    assert "polynominal, label" in text and "2024-01-01" in text and "a<b" in text and "?" in text
    assert repr(Table(np.zeros((9, 1)))).endswith("...")
    assert repr(Table(np.zeros((1, 1)))).startswith("Table of 1 row and 1 column\n")
    assert repr(TABLE.head(0)).count("\n") == 3
    page = TABLE._repr_html_()
    assert "a&lt;b" in page and "a<b" not in page and page.count("<tr>") == 6


class Hostile:
    def __init__(self, answer):
        self.answer = answer

    def __arrow_c_stream__(self, requested_schema=None):
        return self.answer() if callable(self.answer) else self.answer


def _used():
    capsule = POLARS.__arrow_c_stream__()
    _core.Table.of_arrow(capsule, run=_core.Run())
    return capsule


def test_hostile_streams_are_exceptions():
    import ctypes

    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    zeros = ctypes.create_string_buffer(256)
    schema = pa.schema([("a", pa.int32())]).__arrow_c_schema__()
    answers = [
        None, 3, "stream", schema, make(1, b"other", None), make(1, None, None),
        make(ctypes.addressof(zeros), b"arrow_array_stream", None), _used, lambda: 1 / 0,
    ]
    for answer in answers:
        for use in (Table, lambda X: check_X("X", X, reset=True)):
            with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
                use(Hostile(answer))


def test_what_no_table_holds_is_refused_by_name():
    for values in ([[1, 2]], [{"a": 1}], [b"x"], [datetime.timedelta(1)], [datetime.time(1)]):
        with pytest.raises(ValueError, match="'nested'"):
            Table(pa.table({"nested": pa.array(values)}))


def test_a_type_that_does_not_fit_the_values_is_refused():
    for make in (lambda: _core.Column.numeric("a", np.zeros(3), "nominal", run=_core.Run()),
                 lambda: _core.Column.nominal("a", np.zeros(3, dtype=np.int32), _core.Values(["x"]), "real"),
                 lambda: _core.Column.numeric("a", np.zeros(3), "none", run=_core.Run())):
        with pytest.raises(ValueError, match="type"):
            make()


def test_columns_of_other_lengths_and_names_twice_are_refused():
    run = _core.Run()
    a = _core.Column.numeric("a", np.zeros(3), run=run)
    for columns, rows in (([a, a], 3), ([a], 4), ([a, _core.Column.numeric("b", np.zeros(2), run=run)], 3)):
        with pytest.raises(ValueError):
            _core.Table.of_columns(columns, rows)
    for codes, values in (([0, 2], ["x"]), ([-2], ["x"])):
        with pytest.raises(ValueError):
            column = _core.Column.nominal("c", np.array(codes, dtype=np.int32), _core.Values(values))
            _core.Table.of_columns([column], len(codes))
    for index in (-1, 4, 10**18):
        with pytest.raises((IndexError, TypeError)):
            TABLE._core_table.column(index)


def test_a_read_only_view_of_memory_that_others_write_to_is_copied():
    X = np.asfortranarray(np.zeros((3, 2)))
    view = X.view()
    view.flags.writeable = False
    table, of_dict = Table(view), Table({"a": view[:, 0]})
    buffer = bytearray(24)
    lent = np.frombuffer(buffer)
    lent.flags.writeable = False
    of_buffer = Table({"a": lent})
    X[:] = 7
    buffer[:] = np.full(3, 7.0).tobytes()
    for made in (table, of_dict, of_buffer):
        assert (made.to_numpy() == 0).all()


def test_categories_without_an_order_are_numbered_alike_whatever_library_they_come_from():
    values, order = ["z", "a", None, "m"], ["z", "m", "a"]
    for made in (pd.DataFrame({"c": pd.Categorical(values, categories=order)}),
                 pl.DataFrame({"c": pl.Series(values, dtype=pl.Categorical)}),
                 pa.table({"c": pa.array(values).dictionary_encode()}), {"c": values}):
        table = Table(made)
        assert table.categories("c") == ["a", "m", "z"] and table.codes("c").tolist() == [2, 0, -1, 1], type(made)
    for made in (pd.DataFrame({"c": pd.Categorical(values, categories=order, ordered=True)}),
                 pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(order))})):
        assert Table(made).categories("c") == order and Table(made).codes("c").tolist() == [0, 2, -1, 1]


def test_a_table_goes_through_its_names_as_a_dict_does():
    assert list(TABLE) == TABLE.columns and dict.fromkeys(TABLE).keys() == TABLE.dtypes.keys()


def test_one_name_is_ignored_as_a_whole():
    table = Table({"ab": [1], "a": [1], "b": [1]}).with_roles(ignore="ab")
    assert table.roles == {"ab": "ignore", "a": "regular", "b": "regular"}


def test_an_array_of_a_table_is_a_copy_and_says_so():
    with pytest.raises(ValueError, match="copy"):
        np.asarray(Table({"a": [1.0]}), copy=False)
    assert np.asarray(Table({"a": [1.0]}), dtype=np.float32).dtype == np.float32
