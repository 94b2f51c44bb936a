"""Orange's tables as tables of the engine, and back."""

import numpy as np
import pytest
from Orange.data import ContinuousVariable, Domain, Table

from orangecontrib.stope.engine import EngineMissing
from orangecontrib.stope.table import DataError, attribute_table, from_stope, to_stope, training_table
from tables import mixed_table, numeric_class, with_missing_classes, without_class


def same(a, b):
    return np.array_equal(np.nan_to_num(np.asarray(a, float), nan=-77), np.nan_to_num(np.asarray(b, float), nan=-77))


def columns_of(table):
    return {table.column(index).name: table.column(index) for index in range(table.n_columns)}


def test_every_kind_of_variable_keeps_its_values_and_their_order():
    data = mixed_table()
    columns = columns_of(training_table(data))
    assert list(columns) == ["a", "when", "color", "b", "size", "class"]
    assert columns["size"].values.names() == ["L", "M", "S"]
    assert columns["class"].role == "label"
    for place, variable in enumerate(data.domain.attributes):
        values = columns[variable.name].array()
        expected = data.X[:, place]
        assert same(values, np.where(np.isnan(expected), -1, expected) if variable.is_discrete else expected)


def test_a_table_survives_the_way_to_the_engine_and_back():
    data = mixed_table(weights=True)
    back = from_stope(to_stope(data))
    assert [v.name for v in back.domain.attributes] == [v.name for v in data.domain.attributes]
    assert same(back.X, data.X)
    assert same(back.Y, data.Y)
    assert same(back.W, data.W)
    assert back.domain.class_var.values == data.domain.class_var.values
    names = [back.domain["name"].str_val(value) for value in back.get_column("name")]
    assert names == [str(row["name"]) for row in data]
    assert same(back.get_column("note"), data.get_column("note"))


def test_dates_of_the_engine_become_time_variables():
    import stope

    table = stope.Table({"day": np.array(["2026-01-02", "NaT"], dtype="M8[D]"), "x": [1.0, 2.0]})
    data = from_stope(table, name="days")
    assert data.domain["day"].is_time and data.name == "days"
    assert data.X[0, 0] == np.datetime64("2026-01-02", "s").astype(int)
    assert np.isnan(data.X[1, 0])


def test_weights_become_a_column_of_weights_whatever_the_attributes_are_called():
    data = mixed_table(weights=True)
    renamed = Table.from_numpy(
        Domain([ContinuousVariable("weight"), *data.domain.attributes[1:]], data.domain.class_var), data.X, data.Y,
        W=data.W,
    )
    columns = columns_of(training_table(renamed))
    assert columns["weight_"].role == "weight" and same(columns["weight_"].array(), data.W)
    assert columns["weight"].role == "regular"


def test_a_class_with_the_name_of_no_attribute_keeps_it_and_numbers_may_be_a_class():
    columns = columns_of(training_table(numeric_class(mixed_table())))
    assert columns["y"].role == "label" and not columns["y"].is_nominal


def test_missing_classes_are_missing_in_the_engine_too():
    data = with_missing_classes(mixed_table(), [0, 5])
    assert (columns_of(training_table(data))["class"].array()[[0, 5]] == -1).all()


def test_a_table_without_rows_keeps_its_columns():
    table = attribute_table(mixed_table()[:0])
    assert table.n_rows == 0 and table.n_columns == 5


def test_sparse_tables_are_refused_in_words():
    with pytest.raises(DataError, match="sparse.*dense"):
        attribute_table(without_class(mixed_table(missing=0)).to_sparse())


def test_an_infinite_value_is_refused_with_its_place():
    data = mixed_table(missing=0)
    with data.unlocked(data.X):
        data.X[6, 3] = -np.inf
    with pytest.raises(DataError, match="'b' is infinite in row 7"):
        training_table(data)


def test_an_infinite_class_is_refused_with_its_row():
    data = numeric_class(mixed_table())
    with data.unlocked(data.Y):
        data.Y[2] = np.inf
    with pytest.raises(DataError, match="'y' is infinite in row 3"):
        training_table(data)


@pytest.mark.parametrize("name", ["a\ud800", "\udcff"])
def test_names_that_are_no_text_are_refused(name):
    data = Table.from_numpy(Domain([ContinuousVariable(name)]), np.zeros((2, 1)))
    with pytest.raises(DataError, match="is no Unicode text"):
        attribute_table(data)


def test_without_the_package_stope_the_error_says_how_to_get_it(no_engine):
    with pytest.raises(EngineMissing, match="install its wheel"):
        attribute_table(mixed_table())
