"""Metrics by name, by callable and as a matrix, against SciPy and scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn import neighbors
from sklearn.metrics import DistanceMetric, pairwise_distances

import stope
from stope import _core

RNG = np.random.default_rng(1)
X, Q = RNG.normal(size=(60, 4)), RNG.normal(size=(20, 4))
X[5], Q[0] = X[4], X[3]
BITS, QUERY_BITS = RNG.random((60, 8)) < 0.4, RNG.random((20, 8)) < 0.4
W = np.array([1.0, 2.0, 0.5, 3.0])
COVARIANCE = np.cov(X.T)


def check(D, train, queries, tolerance=1e-12, **words):
    search = stope.NearestNeighbors(n_neighbors=7, **words).fit(train)
    distances, indices = search.kneighbors(queries)
    order = np.argsort(D, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_allclose(distances, np.take_along_axis(D, order, 1), rtol=tolerance, atol=1e-13)
    radius = float(np.nanquantile(D, 0.3)) * (1 + 1e-9)
    for found, row in zip(search.radius_neighbors(queries, radius, return_distance=False), D):
        assert set(found) == set(np.flatnonzero(row <= radius))
    assert search.report_["backend"]
    return search


@pytest.mark.parametrize("metric, params", [
    ("euclidean", {}), ("l2", {}), ("sqeuclidean", {}), ("manhattan", {}), ("l1", {}), ("cityblock", {}),
    ("chebyshev", {}), ("infinity", {}), ("minkowski", {"p": 3}), ("minkowski", {"p": 1.5, "w": W}),
    ("minkowski", {"p": 2, "w": W}), ("minkowski", {"p": 1, "w": W}), ("cosine", {}), ("correlation", {}),
    ("canberra", {}), ("hamming", {}), ("mahalanobis", {"VI": np.linalg.inv(COVARIANCE)}), ("nan_euclidean", {}),
    ("seuclidean", {"V": np.var(X, axis=0, ddof=1)}),
])
def test_names_of_scipy_mean_what_they_mean_there(metric, params):
    names = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean", "infinity": "chebyshev",
             "nan_euclidean": "euclidean"}
    D = cdist(Q, X, names.get(metric, metric), **params)
    check(D, X, Q, metric=metric, metric_params=params or None, p=None)


@pytest.mark.parametrize("metric", [
    "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule", "hamming",
])
def test_measures_of_booleans_are_scipys(metric):
    # SciPy 1.17 has dropped this name for the same measure.
    theirs = "rogerstanimoto" if metric == "sokalmichener" else metric
    check(cdist(QUERY_BITS, BITS, theirs), BITS, QUERY_BITS, metric=metric)


def test_measures_that_need_the_training_rows_take_them():
    check(cdist(Q, X, "mahalanobis", VI=np.linalg.inv(COVARIANCE)), X, Q, metric="mahalanobis", tolerance=1e-10)
    check(cdist(Q, X, "seuclidean", V=X.var(axis=0, ddof=1)), X, Q, metric="seuclidean")
    check(cdist(Q, X, "mahalanobis", VI=np.linalg.inv(COVARIANCE)), X, Q, metric="mahalanobis",
          metric_params={"V": COVARIANCE})


def test_other_distances_are_scikit_learns():
    check(cdist(abs(Q), abs(X), "braycurtis"), abs(X), abs(Q), metric="braycurtis")
    places, near = RNG.uniform(-1, 1, (50, 2)), RNG.uniform(-1, 1, (9, 2))
    check(pairwise_distances(near, places, metric="haversine"), places, near, metric="haversine")
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.2] = np.nan
    D = pairwise_distances(Q, holes, metric="nan_euclidean")
    search = stope.NearestNeighbors(n_neighbors=7, metric="nan_euclidean").fit(holes)
    np.testing.assert_array_equal(search.kneighbors(Q)[1], np.argsort(D, axis=1, kind="stable")[:, :7])


@pytest.mark.parametrize("p, name", [(1, "manhattan"), (2, "euclidean"), (np.inf, "chebyshev"), (3, "minkowski")])
def test_p_chooses_among_minkowskis_distances(p, name):
    for metric in ("auto", "minkowski"):
        search = check(cdist(Q, X, "minkowski", p=p), X, Q, metric=metric, p=p)
        assert search.effective_metric_ == name
        assert search.effective_metric_params_ == ({"p": 3, "w": None} if p == 3 else {})


def test_a_second_p_is_warned_of_and_wins():
    with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
        check(cdist(Q, X, "cityblock"), X, Q, p=2, metric_params={"p": 1})
    with pytest.warns(UserWarning, match="not distance metrics"):
        check(cdist(Q, X, "minkowski", p=0.5), X, Q, p=0.5)


@pytest.mark.parametrize("metric", [
    lambda a, b: np.abs(a - b).sum(), DistanceMetric.get_metric("manhattan"), "precomputed",
])
def test_a_callable_and_a_matrix_give_exact_lists(metric):
    D = cdist(Q, X, "cityblock")
    if metric != "precomputed":
        assert "no formula" in check(D, X, Q, metric=metric).report_["reason"]
        return
    train = cdist(X, X, "cityblock")
    search = check(D, train, D, metric=metric)
    usual = stope.NearestNeighbors(n_neighbors=7, metric="manhattan").fit(X)
    np.testing.assert_array_equal(search.kneighbors()[1], usual.kneighbors()[1])
    with pytest.raises(ValueError, match="must be square"):
        stope.NearestNeighbors(metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="Negative values"):
        stope.NearestNeighbors(metric="precomputed").fit(-train)


def test_distances_that_are_not_numbers_come_last():
    D = np.array([[0.0, np.nan, 2.0, 1.0]])
    with_nan = stope.NearestNeighbors(n_neighbors=4, metric=lambda a, b: D[0, int(b[0])] if a[0] == 9 else 0.0)
    np.testing.assert_array_equal(with_nan.fit(np.arange(4.0)[:, None]).kneighbors([[9.0]])[1], [[0, 3, 2, 1]])


@pytest.mark.parametrize("info", _core.metrics(), ids=lambda info: info["name"])
def test_every_measure_of_the_engine_is_a_metric_here(info):
    rng = np.random.default_rng(2)
    columns = {"itakura-saito": 1, "logarithmic-loss": 1, "logistic-loss": 1, "squared-loss": 1, "haversine": 2}
    train = rng.uniform(0.1, 0.9, (30, columns.get(info["name"], 3)))
    if info["accepts"] == "nominal":
        train = pd.DataFrame({name: rng.choice(list("uvw"), 30) for name in "abc"})
    distances, indices = stope.NearestNeighbors(n_neighbors=3, metric=info["name"]).fit(train).kneighbors(train[:5])
    assert distances.shape == (5, 3)
    assert (distances[:, 1:] >= distances[:, :-1])[~np.isnan(distances[:, 1:])].all()
    if info["rapidminer"]:
        full = f"{info['family']}.{info['rapidminer']}"
        again = stope.NearestNeighbors(n_neighbors=3, metric=full).fit(train).kneighbors(train[:5])
        np.testing.assert_array_equal(again[1], indices)


def test_feature_weights_multiply_the_parts_of_the_distance():
    D = cdist(Q, X, "minkowski", p=2, w=W)
    check(D, X, Q, feature_weights=W)
    frame = pd.DataFrame(X, columns=list("abcd"))
    check(D, frame, pd.DataFrame(Q, columns=list("abcd")), feature_weights={"b": 2.0, "c": 0.5, "d": 3})
    with pytest.raises(ValueError, match="give one of them"):
        stope.NearestNeighbors(feature_weights=W, metric="minkowski", metric_params={"w": W}).fit(X)
    with pytest.raises(ValueError, match="no meaning"):
        stope.NearestNeighbors(feature_weights=W, metric=lambda a, b: 0.0).fit(X)
    with pytest.raises(ValueError, match="no meaning"):
        stope.NearestNeighbors(feature_weights=np.ones(60), metric="precomputed").fit(cdist(X, X))


def test_an_unknown_metric_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'euclidean'"):
        stope.NearestNeighbors(metric="eucldiean").fit(X)


def test_braycurtis_of_negative_values_is_scikit_learns():
    for algorithm in ("brute", "ball_tree"):
        theirs = neighbors.NearestNeighbors(n_neighbors=7, metric="braycurtis", algorithm=algorithm).fit(X)
        ours = stope.NearestNeighbors(n_neighbors=7, metric="braycurtis", algorithm=algorithm).fit(X)
        for found, wanted in zip(ours.kneighbors(Q), theirs.kneighbors(Q)):
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize("metric, params, words", [
    ("pyfunc", None, "a function of two rows"), ("pyfunc", {"func": 3}, "a function of two rows"),
    ("euclidean", {"V": [1, 2]}, "neither a number nor a word"), ("euclidean", {1: 2}, "names"),
    ("minkowski", {"w": [1.0, 2.0]}, "2 feature weights"),
])
def test_parameters_that_no_measure_has_are_a_value_error_in_words(metric, params, words):
    with pytest.raises(ValueError, match=words):
        stope.NearestNeighbors(metric=metric, metric_params=params, p=None).fit(X)


def test_no_p_is_the_p_of_mixed_tables():
    frame = pd.DataFrame({"a": X[:, 0], "b": list("xyz") * 20})
    assert stope.NearestNeighbors(p=None).fit(frame).effective_metric_ == "mixed-euclidean"


@pytest.mark.parametrize("metric", ["euclidean", lambda a, b: 0.0])
def test_a_radius_that_is_no_number_is_refused(metric):
    with pytest.raises(ValueError, match="not a number"):
        stope.NearestNeighbors(metric=metric).fit(X).radius_neighbors(Q, np.nan)
