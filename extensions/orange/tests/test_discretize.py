"""Discretisation in scripts."""

import pickle

import numpy as np
import pytest
from Orange.data import ContinuousVariable, Domain, Table
from Orange.preprocess import Discretize
from Orange.preprocess.discretize import EntropyMDL

import oracle
import stope
from orangecontrib.stope import CutDiscretize
from orangecontrib.stope.discretize import METHODS, discretized_variable, find_cuts, interval_labels
from orangecontrib.stope.table import DataError, attribute_table
from tables import mixed_table, numeric_class, with_missing_classes, without_class

ENGINE_METHODS = [name for name, *_ in METHODS if name != "best-cut"]


@pytest.mark.parametrize("method", ENGINE_METHODS)
@pytest.mark.parametrize("group_values", [False, True])
def test_cuts_and_codes_are_those_of_the_python_package(method, group_values):
    data = Table("heart_disease")
    chosen = [v for v in data.domain.attributes if group_values or not v.is_discrete]
    part = data.transform(Domain(chosen, data.domain.class_var))
    how = CutDiscretize(method, group_values=group_values, remove_constant=False)
    cuts = find_cuts(how, data).points
    engine = stope.SupervisedDiscretizer(method, missing="value")
    engine.fit(stope.Table(attribute_table(part)), part.Y.astype(int))
    discretized = how(data)
    codes = engine.transform(stope.Table(attribute_table(part)))
    for place, (variable, expected) in enumerate(zip(chosen, engine.cuts_)):
        expected = [cut for cut in expected if cut != "?" and cut != -np.inf]
        assert sorted(cuts[variable]) == sorted(expected), variable.name
        if not variable.is_discrete:
            ours, known = discretized.get_column(variable.name), ~np.isnan(part.X[:, place])
            missing_first = int(len(engine.cuts_[place]) > len(expected))
            assert np.array_equal(ours[known], codes[known, place] - missing_first), variable.name
            assert np.isnan(ours[~known]).all()


def test_best_cuts_are_those_of_plain_loops():
    data = mixed_table(60, seed=21, missing=0)
    points = find_cuts(CutDiscretize("best-cut"), data).points
    for variable, found in points.items():
        score, cut = oracle.best_cut(data.get_column(variable).tolist(), data.Y, 3)
        assert found == ([cut] if score else []), variable.name


def test_mdlp_on_iris_finds_what_oranges_own_finds():
    iris = Table("iris")
    theirs = {v.name: v.compute_value.points for v in Discretize(EntropyMDL())(iris).domain.attributes}
    ours = {v.name: v.compute_value.points for v in CutDiscretize("mdlp")(iris).domain.attributes}
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert np.allclose(ours[name], theirs[name], rtol=0, atol=1e-12)


def test_other_tables_are_cut_where_the_first_one_was():
    iris = Table("iris")
    domain = CutDiscretize("md-global")(iris).domain
    for variable in domain.attributes:
        new = iris[::7].transform(domain)
        points = np.array(variable.compute_value.points)
        expected = (iris[::7].get_column(variable.name)[:, None] >= points).sum(axis=1)
        assert np.array_equal(new.get_column(variable), expected)


def test_a_value_that_equals_a_cut_belongs_to_the_right_and_missing_stays_missing():
    x = ContinuousVariable("x")
    new = discretized_variable(x, [1.5, 2.5])
    data = Table.from_numpy(Domain([x]), np.array([[1.5], [np.nextafter(1.5, 0)], [2.5], [np.nan], [9.0]]))
    assert np.array_equal(data.transform(Domain([new])).X[:, 0], [1, 0, 2, np.nan, 2], equal_nan=True)
    assert new.values == ("< 1.5", "1.5 - 2.5", "≥ 2.5")


def test_cuts_that_look_alike_get_labels_that_do_not_and_are_not_rounded():
    x = ContinuousVariable("x", number_of_decimals=1)
    points = [1.0000000001, 1.0000000002, 1e-30 + 1.0000000003]
    labels = interval_labels(x, points)
    assert len(set(labels)) == 4
    assert discretized_variable(x, points).compute_value.points == tuple(points)


def test_values_are_grouped_into_those_that_are_named_and_all_others():
    data = Table("titanic")
    found = find_cuts(CutDiscretize("md-global", group_values=True), data).points
    discretized = CutDiscretize("md-global", group_values=True)(data)
    for old, named in found.items():
        new = discretized.domain[old.name]
        texts = np.array(old.values)[data.get_column(old).astype(int)]
        expected = [text if text in named or len(named) == len(old.values) else "other" for text in texts]
        assert [new.str_val(v) for v in discretized.get_column(new)] == expected


def test_a_cut_between_missing_and_known_values_makes_no_interval():
    data = mixed_table(40, missing=0)
    with data.unlocked():
        data.Y[:] = data.Y == 1
        data.X[:, 0] = np.where(data.Y == 1, np.nan, data.X[:, 0])
    variable = data.domain["a"]
    for method in ("best-cut", "md-global", "md-local"):
        points = find_cuts(CutDiscretize(method), data).points[variable]
        assert np.isfinite(points).all(), method
    assert find_cuts(CutDiscretize("best-cut"), data).points[variable] == []


def test_attributes_without_cuts_are_left_out_or_become_one_value():
    data = mixed_table(40, missing=0)
    with data.unlocked():
        data.X[:, 0] = 4.0
    assert "a" not in CutDiscretize("best-cut")(data).domain
    kept = CutDiscretize("best-cut", remove_constant=False)(data)
    assert kept.domain["a"].values == ("single_value",) and set(kept.get_column("a")) == {0.0}


def test_time_variables_are_cut_at_dates():
    data = mixed_table(60, missing=0)
    label = CutDiscretize("equal-width", n_bins=2)(data).domain["when"].values[1]
    assert label.startswith("≥ 1970-01-03")


def test_equal_width_and_frequency_need_no_class():
    data = without_class(mixed_table(60))
    for method in ("equal-width", "equal-frequency"):
        assert len(CutDiscretize(method, n_bins=3)(data).domain["b"].values) == 3
    assert len(CutDiscretize("equal-width", n_bins=4)(numeric_class(data)).domain["b"].values) == 4


def test_equal_preprocessors_make_equal_variables_and_everything_survives_pickle():
    data = mixed_table(60)
    how = CutDiscretize("best-cut", group_values=True)
    domain, again = how(data).domain, pickle.loads(pickle.dumps(how))(data).domain
    assert domain.attributes == again.attributes and hash(domain) == hash(again)
    restored = pickle.loads(pickle.dumps(how(data)))
    assert np.array_equal(restored.X, how(data).X, equal_nan=True)
    assert how(data).domain.attributes != CutDiscretize("equal-width", group_values=True)(data).domain.attributes


def test_rows_without_a_class_do_not_count_and_are_discretized_all_the_same():
    data = mixed_table(60)
    holes = with_missing_classes(data, [3, 4])
    cuts = find_cuts(CutDiscretize("best-cut"), holes)
    assert cuts.remarks[0] == "Left out: 2 rows without a class."
    kept = find_cuts(CutDiscretize("best-cut"), data[[i for i in range(60) if i not in (3, 4)]])
    assert cuts.points == kept.points
    assert len(CutDiscretize("best-cut")(holes)) == 60


@pytest.mark.parametrize("data, words", [
    (without_class(mixed_table()), "no class.*Select Columns"),
    (numeric_class(mixed_table()), "'y' is numeric"),
    (with_missing_classes(mixed_table(), slice(None)), "No row has a class"),
    (Table("titanic"), "no numeric attributes"),
    (mixed_table()[:0], "no rows"),
    (Table("iris").to_sparse(), "sparse"),
    (Table("iris")[:50], "same class"),
])
def test_data_that_cannot_be_cut_are_refused_in_words(data, words):
    with pytest.raises(DataError, match=words):
        CutDiscretize("mdlp")(data)


def test_a_method_that_is_none_is_refused_with_the_nearest_one():
    with pytest.raises(ValueError, match="mdlp"):
        CutDiscretize("mldp")(Table("iris"))
