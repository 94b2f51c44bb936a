"""The k-NN learners in scripts."""

import pickle

import numpy as np
import pytest
from Orange.classification import KNNLearner as OrangeKnn
from Orange.data import Domain, Table
from Orange.evaluation import CA, RMSE, CrossValidation
from Orange.preprocess import Discretize

import oracle
from orangecontrib.stope import KnnClassificationLearner, KnnLearner, KnnRegressionLearner
from orangecontrib.stope.engine import native
from orangecontrib.stope.measures import MEASURES, NORMALIZATIONS
from orangecontrib.stope.table import DataError
from tables import mixed_table, numeric_class, with_missing_classes

CASES = [("gower", "none", oracle.gower), ("mixed-euclidean", "range", oracle.mixed_euclidean)]


def distance_of(data, formula):
    discrete = [variable.is_discrete for variable in data.domain.attributes]
    spans = oracle.spans(data.X.tolist(), discrete)
    return lambda x, y: formula(x, y, discrete, spans)


@pytest.mark.parametrize("metric, normalize, formula", CASES)
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_classes_and_shares_are_those_of_plain_loops(metric, normalize, formula, weights):
    train, test = mixed_table(80, seed=3), mixed_table(40, seed=4)
    model = KnnLearner(n_neighbors=4, metric=metric, normalize=normalize, weights=weights)(train)
    values, shares = model(test, model.ValueProbs)
    distance = distance_of(train, formula)
    for row in range(len(test)):
        pairs = oracle.nearest(train.X.tolist(), test.X[row].tolist(), distance, 4)
        expected = oracle.vote(pairs, train.Y, 3, weights == "distance")
        assert np.allclose(shares[row], expected, rtol=0, atol=1e-12), row
        assert shares[row].argmax() == values[row]


@pytest.mark.parametrize("metric, normalize, formula", CASES)
def test_numbers_are_the_mean_of_the_neighbours(metric, normalize, formula):
    train, test = numeric_class(mixed_table(80, seed=5)), mixed_table(30, seed=6)
    model = KnnLearner(n_neighbors=3, metric=metric, normalize=normalize)(train)
    distance = distance_of(train, formula)
    expected = [
        np.mean([train.Y[row] for _, row in oracle.nearest(train.X.tolist(), x.tolist(), distance, 3)]) for x in test.X
    ]
    assert np.allclose(model(test.transform(Domain(test.domain.attributes))), expected, rtol=0, atol=1e-12)


def test_lists_of_neighbours_are_those_of_plain_loops():
    train = mixed_table(70, seed=7)
    distances, rows = KnnLearner(n_neighbors=5, metric="gower", normalize="none")(train).kneighbors(train[:9])
    distance = distance_of(train, oracle.gower)
    for i in range(9):
        pairs = oracle.nearest(train.X.tolist(), train.X[i].tolist(), distance, 5)
        assert rows[i].tolist() == [row for _, row in pairs]
        assert np.allclose(distances[i], [one for one, _ in pairs], rtol=0, atol=1e-12)


def test_euclidean_predictions_agree_with_oranges_own_where_no_votes_are_tied():
    iris = Table("iris")
    ours = KnnLearner(n_neighbors=1, metric="euclidean", normalize="none")(iris)
    theirs = OrangeKnn(n_neighbors=1)(iris)
    assert np.array_equal(ours(iris), theirs(iris))


def test_every_measure_of_the_engine_is_offered_and_described_as_the_engine_does():
    ours = {one.name: (one.accepts, one.takes_missing) for one in MEASURES}
    theirs = {one["name"]: (one["accepts"], one["allows_missing"]) for one in native().metrics()}
    del theirs["kernel-euclidean"]  # nine parameters: scripts give them as metric_params
    assert ours == theirs


def test_every_measure_predicts_where_it_takes_the_attributes():
    iris = Table("iris").copy()
    with iris.unlocked(iris.X):
        iris.X /= 10  # some measures take numbers between 0 and 1 only
    nominal = Discretize()(iris)
    for measure in MEASURES:
        if measure.name == "haversine":
            continue
        data = nominal if measure.accepts == "nominal" else iris
        if "of one attribute" in measure.label:
            data = iris.transform(Domain([iris.domain["petal width"]], iris.domain.class_var))
        model = KnnLearner(n_neighbors=3, metric=measure.name, normalize="none")(data)
        assert len(model(data[:5])) == 5, measure.name


def test_every_normalization_is_one_of_the_engines():
    for name, _ in NORMALIZATIONS:
        assert len(KnnLearner(normalize=name, metric="euclidean")(Table("iris"))(Table("iris")[:3])) == 3


def test_cross_validation_takes_the_learner_for_classes_and_for_numbers():
    heart, housing = Table("heart_disease"), Table("housing")
    assert CA(CrossValidation(k=3)(heart, [KnnLearner(n_neighbors=9)]))[0] > 0.75
    assert RMSE(CrossValidation(k=3)(housing, [KnnLearner()]))[0] < 6


def test_models_and_learners_survive_pickle():
    data = mixed_table()
    for learner in (KnnLearner(n_neighbors=3), KnnClassificationLearner(3, "gower")):
        model = pickle.loads(pickle.dumps(learner))(data)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again(data, again.Probs), model(data, model.Probs))


def test_other_tables_are_brought_into_the_models_domain():
    data = mixed_table()
    model = KnnLearner(metric="gower")(data)
    shuffled = data.transform(Domain(data.domain.attributes[::-1], data.domain.class_var, data.domain.metas))
    assert np.array_equal(model(shuffled), model(data))
    assert model(data[3]) == model(data)[3]
    assert np.array_equal(model(data.X), model(data))


def test_rows_without_a_class_are_left_out():
    data = mixed_table()
    holes = with_missing_classes(data, [1, 2, 30])
    kept = data[[i for i in range(len(data)) if i not in (1, 2, 30)]]
    learner = KnnLearner(metric="gower")
    assert np.array_equal(learner(holes)(data, 1), learner(kept)(data, 1))
    assert np.array_equal(learner.get_learner(data).fit_storage(holes)(data, 1), learner(kept)(data, 1))


def test_a_row_of_weight_two_votes_twice():
    data = mixed_table(30, missing=0, weights=True)
    model = KnnLearner(n_neighbors=len(data), metric="gower")(data)
    expected = np.bincount(data.Y.astype(int), data.W.reshape(-1), minlength=3) / data.W.sum()
    assert np.allclose(model(data[:1], model.Probs)[0], expected, rtol=0, atol=1e-12)


def test_more_neighbours_than_rows_are_all_rows_and_a_remark():
    data = mixed_table(6)
    model = KnnLearner(n_neighbors=50, metric="gower")(data)
    assert "6 rows, fewer than 50 neighbours" in model.remarks[0]
    assert np.allclose(model(data[:1], 1)[0], np.bincount(data.Y.astype(int), minlength=3) / 6)


def test_progress_is_told_and_whatever_the_callback_raises_ends_the_fit():
    class Stop(Exception):
        pass

    def stop(share, *_):
        if share >= 0.1:
            raise Stop

    shares = []
    KnnLearner()(Table("iris"), lambda share, *_: shares.append(share))
    assert shares[0] == 0 and shares[-1] == 1
    with pytest.raises(Stop):
        KnnLearner()(Table("iris"), stop)


@pytest.mark.parametrize("metric, words", [
    ("euclidean", "numeric attributes only, and 'color' is categorical.*Gower"),
    ("kulczynski", "categorical attributes only, and 'a' is numeric.*Gower"),
    ("gowr", "did you mean 'gower'"),
])
def test_a_measure_that_does_not_fit_is_refused_with_one_that_does(metric, words):
    with pytest.raises(ValueError, match=words):
        KnnLearner(metric=metric)(mixed_table())


def test_a_measure_without_missing_values_refuses_them_in_training_and_in_queries():
    iris = Table("iris")
    holes = iris.copy()
    with holes.unlocked(holes.X):
        holes.X[4, 2] = np.nan
    learner = KnnLearner(metric="mahalanobis", normalize="none")
    with pytest.raises(DataError, match="'petal length' is missing in row 5.*Impute"):
        learner(holes)
    with pytest.raises(DataError, match="missing in row 5"):
        learner(iris)(holes)


def test_what_cannot_be_learned_from_is_refused_in_words():
    data = mixed_table()
    with pytest.raises(DataError, match="No row has a class"):
        KnnClassificationLearner()(with_missing_classes(data, slice(None)))
    with pytest.raises(DataError, match="no attributes"):
        KnnLearner()(data.transform(Domain([], data.domain.class_var)))
    with pytest.raises(ValueError, match="class"):
        KnnLearner()(data.transform(Domain(data.domain.attributes)))
    with pytest.raises(ValueError, match="Numeric|numeric|ontinuous|egression"):
        KnnRegressionLearner()(data)
