"""Rankings and the scorer in scripts."""

import pickle

import numpy as np
import pytest
from Orange.data import Domain, Table

import oracle
import stope
from orangecontrib.stope import CutScorer, ranking
from orangecontrib.stope.rank import cut_text, scores_table
from orangecontrib.stope.table import DataError, attribute_table
from tables import mixed_table, numeric_class, with_missing_classes, without_class


def test_scores_and_cuts_of_numbers_are_those_of_plain_loops():
    data = mixed_table(70, seed=31)
    for one, variable in zip(ranking(data), data.domain.attributes):
        assert one["name"] == variable.name
        if not variable.is_discrete:
            score, cut = oracle.best_cut(data.get_column(variable).tolist(), data.Y, 3)
            assert (one["score"], one["cut"]) == (score, cut), variable.name


@pytest.mark.parametrize("criterion", ["discernibility", "gini", "entropy"])
@pytest.mark.parametrize("missing", ["value", "fill"])
def test_rankings_are_those_of_the_python_package(criterion, missing):
    data = Table("heart_disease")
    ours = ranking(data, criterion, missing, n_permutations=20, random_state=3)
    theirs = stope.CutRanker(criterion=criterion, missing=missing, n_permutations=20, random_state=3)
    theirs.fit(stope.Table(attribute_table(data)), data.Y.astype(int))
    assert [one["score"] for one in ours] == theirs.scores_.tolist()
    assert [one["p_value"] for one in ours] == theirs.pvalues_.tolist()


def test_the_table_of_scores_names_the_attributes_and_their_cuts():
    data = Table("iris")
    table = scores_table(ranking(data, n_permutations=10))
    assert [v.name for v in table.domain.attributes] == ["Score", "p", "q"]
    assert str(table[2]["Feature"]) == "petal length" and str(table[2]["Best cut"]) == "≥ 2.45"
    assert [v.name for v in scores_table(ranking(data)).domain.attributes] == ["Score"]


def test_cuts_are_told_in_words():
    one = {"score": 1.0, "symbolic": False, "cut": -np.inf, "value": None}
    assert cut_text(one) == "known or missing"
    assert cut_text({**one, "score": 0.0}) == ""
    assert cut_text({**one, "symbolic": True, "value": "red"}) == "= red"


def test_the_scorer_scores_all_attributes_or_one_of_them():
    data = Table("iris")
    scores = CutScorer("gini")(data)
    assert scores.shape == (4,)
    assert CutScorer("gini")(data, "petal width") == scores[3]
    assert np.array_equal(pickle.loads(pickle.dumps(CutScorer("gini")))(data), scores)


def test_rows_without_a_class_are_left_out_and_told_of():
    remarks = []
    holes = with_missing_classes(mixed_table(50), [0])
    found = ranking(holes, remarks=remarks)
    assert remarks[0] == "Left out: 1 row without a class."
    assert [one["score"] for one in found] == [one["score"] for one in ranking(mixed_table(50)[1:])]


@pytest.mark.parametrize("data, words", [
    (without_class(mixed_table()), "no class"),
    (numeric_class(mixed_table()), "'y' is numeric"),
    (mixed_table().transform(Domain([], mixed_table().domain.class_var)), "no attributes"),
    (Table("iris").to_sparse(), "sparse"),
    (Table("iris")[:50], "same class"),
])
def test_data_that_cannot_be_ranked_are_refused_in_words(data, words):
    with pytest.raises(DataError, match=words):
        ranking(data)


def test_a_cut_that_tells_missing_values_from_known_ones_says_so():
    data = mixed_table(60, missing=0)
    with data.unlocked():
        data.X[data.Y == 0, 2] = np.nan
    color, size = ranking(data)[2], ranking(data)[4]
    assert (color["value"], cut_text(color)) == (None, "known or missing")
    assert cut_text(size) == f"= {size['value']}"
