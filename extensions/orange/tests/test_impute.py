"""Imputation in scripts."""

import pickle
import statistics

import numpy as np
import pytest
from Orange.classification import LogisticRegressionLearner
from Orange.data import ContinuousVariable, Domain, Table
from Orange.evaluation import CA, CrossValidation

import oracle
from orangecontrib.stope import KnnImpute
from orangecontrib.stope.engine import native
from orangecontrib.stope.impute import IMPUTE_MEASURES
from orangecontrib.stope.table import DataError
from tables import mixed_table, without_class


def mixed_numbers():
    data = mixed_table()
    return data.transform(Domain([v for v in data.domain.attributes if not v.is_discrete]))


def filled_by_loops(train, data, k, formula, median=False, by_distance=False):
    """The values of ``data``, filled in from the rows of ``train`` by plain loops."""
    discrete = [variable.is_discrete for variable in train.domain.attributes]
    rows, filled = train.X.tolist(), data.X.copy()
    spans = oracle.spans(rows, discrete)
    for i, query in enumerate(data.X.tolist()):
        for j in range(len(query)):
            if not np.isnan(query[j]):
                continue
            pairs = [(formula(row, query, discrete, spans), n) for n, row in enumerate(rows) if not np.isnan(row[j])]
            pairs = sorted(pair for pair in pairs if not np.isnan(pair[0]))[:k]
            values = [rows[n][j] for _, n in pairs]
            weights = oracle.vote_weights([d for d, _ in pairs], by_distance)
            filled[i, j] = _of_donors(values, weights, discrete[j], median)
    return filled


def _of_donors(values, weights, discrete, median):
    if discrete:
        votes = {}
        for value, weight in zip(values, weights):
            votes[value] = votes.get(value, 0.0) + weight
        return min(votes, key=lambda value: (-votes[value], value))
    if median:
        return statistics.median(values)
    return sum(v * w for v, w in zip(values, weights)) / sum(weights)


@pytest.mark.parametrize("metric, normalize, formula", [
    ("nan-euclidean", "range", oracle.scaled_euclidean), ("gower", "none", oracle.gower),
])
@pytest.mark.parametrize("weights, strategy", [("uniform", "mean"), ("distance", "mean"), ("uniform", "median")])
def test_values_are_those_of_plain_loops(metric, normalize, formula, weights, strategy):
    train, other = mixed_table(60, seed=41, missing=0.15), mixed_table(30, seed=42, missing=0.3)
    how = KnnImpute(4, metric, weights, strategy, normalize)
    domain = how(train).domain
    for data in (train, other):
        expected = filled_by_loops(train, data, 4, formula, strategy == "median", weights == "distance")
        assert np.allclose(data.transform(domain).X, expected, rtol=0, atol=1e-9)


def test_values_that_are_there_stay_and_classes_and_metas_too():
    data = mixed_table(80, missing=0.2)
    filled = KnnImpute()(data)
    known = ~np.isnan(data.X)
    assert np.array_equal(filled.X[known], data.X[known]) and not np.isnan(filled.X).any()
    assert np.array_equal(filled.Y, data.Y) and filled.domain.metas == data.domain.metas
    assert [variable.name for variable in filled.domain.attributes] == [v.name for v in data.domain.attributes]


def test_one_search_serves_all_attributes_of_a_table(monkeypatch):
    from orangecontrib.stope.engine import FittedModel

    data, calls = mixed_table(40, missing=0.2), []
    domain, transform = KnnImpute()(data).domain, FittedModel.transform
    monkeypatch.setattr(FittedModel, "transform", lambda self, table: calls.append(1) or transform(self, table))
    data.transform(domain)
    assert calls == [1]


def test_part_of_the_attributes_is_filled_from_all_of_them():
    data = mixed_table(60, missing=0.2)
    domain = KnnImpute()(data).domain
    part = Domain([domain["b"]], data.domain.class_var)
    assert np.array_equal(data.transform(part).X[:, 0], data.transform(domain).get_column("b"))


def test_orange_s_tables_are_filled():
    for name in ("iris", "titanic", "heart_disease", "housing"):
        assert not np.isnan(KnnImpute()(Table(name)).X).any(), name


def test_a_table_without_a_class_is_filled_as_one_with_it():
    data = mixed_table(60, missing=0.2)
    assert np.array_equal(KnnImpute()(without_class(data)).X, KnnImpute()(data).X)


def test_an_attribute_that_nobody_has_stays_missing():
    data = mixed_table(30)
    with data.unlocked(data.X):
        data.X[:, 3] = np.nan
    filled = KnnImpute()(data)
    assert np.isnan(filled.X[:, 3]).all() and not np.isnan(filled.X[:, [0, 1, 2, 4]]).any()


def test_a_learner_takes_it_as_a_preprocessor_in_cross_validation():
    learner = LogisticRegressionLearner(preprocessors=[KnnImpute(), *LogisticRegressionLearner.preprocessors])
    assert CA(CrossValidation(k=3)(Table("heart_disease"), [learner]))[0] > 0.7


def test_equal_imputers_make_equal_variables_and_everything_survives_pickle():
    data = mixed_table(40)
    domain, again = KnnImpute()(data).domain, pickle.loads(pickle.dumps(KnnImpute()))(data).domain
    assert domain.attributes == again.attributes and hash(domain) == hash(again)
    assert domain.attributes != KnnImpute(3)(data).domain.attributes
    restored = pickle.loads(pickle.dumps(domain))
    assert np.array_equal(data.transform(restored).X, data.transform(domain).X)


def test_the_measures_offered_are_those_that_take_missing_values():
    theirs = {one["name"] for one in native().metrics() if one["allows_missing"]}
    assert {one.name for one in IMPUTE_MEASURES} == theirs
    assert IMPUTE_MEASURES[0].name == KnnImpute().metric


@pytest.mark.parametrize("how, data, words", [
    (KnnImpute(metric="euclidean"), mixed_table(), "'color' is categorical.*Gower"),
    (KnnImpute(metric="mahalanobis"), mixed_numbers(), "no distance where a value is missing"),
    (KnnImpute(), mixed_table()[:0], "no rows"),
    (KnnImpute(), without_class(mixed_table(missing=0)).to_sparse(), "sparse"),
    (KnnImpute(), mixed_table().transform(Domain([], mixed_table().domain.class_var)), "no attributes"),
])
def test_what_cannot_be_filled_is_refused_in_words(how, data, words):
    with pytest.raises(DataError, match=words):
        how(data)


def test_a_measure_without_missing_values_is_refused_where_nothing_is_missing_too():
    with pytest.raises(ValueError, match="nan-euclidean, gower and heom do"):
        KnnImpute(metric="mahalanobis")(Table("iris"))


def test_options_that_are_none_are_refused():
    with pytest.raises(ValueError, match="strategy"):
        KnnImpute(strategy="mode")(mixed_table())
    with pytest.raises(ValueError, match="n_neighbors|at least 1"):
        KnnImpute(0)(mixed_table())


def test_attributes_are_hashed_once_however_many_there_are():
    n_attributes, hashed = 60, []

    class Counted(ContinuousVariable):
        def __hash__(self):
            hashed.append(self.name)
            return super().__hash__()

    domain = Domain([Counted(f"x{place}") for place in range(n_attributes)])
    X = np.random.default_rng(4).normal(size=(20, n_attributes))
    X[3] = np.nan
    data = Table.from_numpy(domain, X)
    rows = KnnImpute().fit(data)
    hashed.clear()
    for _ in range(n_attributes):
        hash(rows)
    assert len(hashed) == n_attributes


def test_rows_that_were_pickled_are_equal_and_hash_alike():
    rows = KnnImpute().fit(mixed_table())
    again = pickle.loads(pickle.dumps(rows))
    assert again == rows and hash(again) == hash(rows)
