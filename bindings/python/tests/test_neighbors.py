"""Lists, votes and means of neighbours, against references that order by (distance, row)."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import neighbors as sklearn_neighbors
from sklearn.utils.class_weight import compute_sample_weight

import stope

from command_line import stope as stope_text

METRICS = {"euclidean": "euclidean", "manhattan": "cityblock", "chebyshev": "chebyshev", "sqeuclidean": "sqeuclidean"}


def make_case(seed):
    """Rows, queries, k and metric: random, full of ties, far from 0, float32 in F order, all the same."""
    rng = np.random.default_rng(seed)
    n, d, q = int(rng.integers(3, 150)), int(rng.integers(1, 20)), int(rng.integers(1, 40))
    k = int(rng.integers(1, min(n - 1, 12) + 1))
    X, Q = [
        lambda: (rng.normal(size=(n, d)), rng.normal(size=(q, d))),
        lambda: (rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, (q, d)).astype(float)),
        lambda: (rng.integers(0, 3, (n, d)) + 1e6, rng.integers(0, 3, (q, d)) + 1e6),
        lambda: (rng.normal(size=(n, d)).astype("f4"), np.asfortranarray(rng.normal(size=(q, d)).astype("f4"))),
        lambda: (np.ones((n, d)), np.ones((q, 2 * d))[::-1, ::2]),
    ][seed % 5]()
    return rng, X, Q, k, list(METRICS)[seed % 4]


def distances_of(Q, X, metric):
    return cdist(np.asarray(Q, float), np.asarray(X, float), METRICS[metric])


def nearest(D, k):
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, indices, 1), indices


def weights_of(word, distances):
    if word == "uniform":
        return np.ones_like(distances)
    if callable(word):
        return word(distances)
    with np.errstate(divide="ignore"):
        weights = 1 / distances
    zero = np.isinf(weights)
    weights[zero.any(axis=1)] = zero[zero.any(axis=1)]
    return weights


def decay(distances):
    return np.exp(-distances)


@pytest.mark.parametrize("seed", range(40))
def test_lists_are_ordered_by_distance_then_row(seed):
    rng, X, Q, k, metric = make_case(seed)
    D = distances_of(Q, X, metric)
    search = stope.NearestNeighbors(n_neighbors=k, metric=metric).fit(X)
    distances, indices = search.kneighbors(Q)
    assert distances.dtype == np.float64 and indices.dtype == np.int64
    expected, rows = nearest(D, k)
    np.testing.assert_array_equal(indices, rows)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)
    np.testing.assert_array_equal(search.kneighbors(Q, return_distance=False), rows)

    radius = float(np.quantile(D, 0.2))
    by_row = search.radius_neighbors(Q, radius, return_distance=False)
    for found, sorted_rows, row in zip(search.radius_neighbors(Q, radius, sort_results=True)[1], by_row, D):
        order = np.argsort(row, kind="stable")
        exact = np.abs(row - radius) > 1e-9 * radius
        inside = order[(row[order] <= radius) & exact[order]]
        np.testing.assert_array_equal(found[exact[found]], inside)
        np.testing.assert_array_equal(np.sort(found), sorted_rows)


@pytest.mark.parametrize("seed", range(10))
def test_no_training_row_is_its_own_neighbour(seed):
    rng, X, Q, k, metric = make_case(seed)
    D = distances_of(X, X, metric)
    np.fill_diagonal(D, np.inf)
    search = stope.NearestNeighbors(n_neighbors=k, metric=metric, radius=float(np.quantile(D, 0.1))).fit(X)
    np.testing.assert_array_equal(search.kneighbors()[1], nearest(D, k)[1])
    for i, row in enumerate(search.radius_neighbors(return_distance=False)):
        assert i not in row


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weights", ["uniform", "distance", decay])
def test_votes_are_those_of_the_ordered_lists(seed, weights):
    rng, X, Q, k, metric = make_case(seed)
    distances, indices = nearest(distances_of(Q, X, metric), k)
    given = weights_of(weights, distances)
    for y in (rng.integers(0, 4, len(X)), rng.integers(0, 3, (len(X), 3))):
        model = stope.KNeighborsClassifier(k, metric=metric, weights=weights).fit(X, y)
        shares, labels = model.predict_proba(Q), model.predict(Q).reshape(len(Q), -1)
        for output, column in enumerate(y.reshape(len(X), -1).T):
            classes, codes = np.unique(column, return_inverse=True)
            expected = np.zeros((len(Q), len(classes)))
            for j in range(k):
                expected[np.arange(len(Q)), codes[indices[:, j]]] += given[:, j]
            expected /= expected.sum(axis=1, keepdims=True)
            found = shares[output] if y.ndim == 2 else shares
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
            if weights == "uniform":  # then equal votes are equal to the bit, and the first class wins
                np.testing.assert_array_equal(labels[:, output], classes[expected.argmax(axis=1)])
    for y in (rng.normal(size=len(X)), rng.normal(size=(len(X), 2))):
        means = stope.KNeighborsRegressor(k, metric=metric, weights=weights).fit(X, y).predict(Q)
        expected = (y.reshape(len(X), -1)[indices] * given[:, :, None]).sum(axis=1) / given.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(means.reshape(len(Q), -1), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weights", ["uniform", "distance", decay])
def test_votes_within_a_radius_are_scikit_learns(seed, weights):
    rng = np.random.default_rng(seed)
    X, Q = rng.normal(size=(80, 3)), rng.normal(size=(30, 3))
    y, several = rng.integers(0, 4, 80), rng.integers(0, 3, (80, 2))
    theirs_weights = weights if isinstance(weights, str) else lambda lists: np.array([decay(d) for d in lists], object)
    ours = {"radius": 0.8, "weights": weights}
    theirs = {"radius": 0.8, "weights": theirs_weights, "algorithm": "brute"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for labels, outlier in [(y, 1), (y, 77), (several, "most_frequent"), (several, [0, 2])]:
            a = stope.RadiusNeighborsClassifier(**ours, outlier_label=outlier).fit(X, labels)
            b = sklearn_neighbors.RadiusNeighborsClassifier(**theirs, outlier_label=outlier).fit(X, labels)
            for found, expected in zip(np.atleast_3d(a.predict_proba(Q)), np.atleast_3d(b.predict_proba(Q))):
                np.testing.assert_allclose(found, expected, rtol=1e-9)
            np.testing.assert_array_equal(a.predict(Q), b.predict(Q))
        for targets in (rng.normal(size=80), rng.normal(size=(80, 2))):
            a = stope.RadiusNeighborsRegressor(**ours).fit(X, targets).predict(Q)
            b = sklearn_neighbors.RadiusNeighborsRegressor(**theirs).fit(X, targets).predict(Q)
            np.testing.assert_allclose(a, b, rtol=1e-9)


def test_a_query_without_neighbours_is_refused_unless_it_has_a_label():
    X, y = [[0.0], [1.0]], ["a", "b"]
    with pytest.raises(ValueError, match="No neighbors found for test samples"):
        stope.RadiusNeighborsClassifier().fit(X, y).predict([[9.0]])
    with pytest.raises(TypeError, match="inconsistent with classes"):
        stope.RadiusNeighborsClassifier(outlier_label=3.5).fit(X, [0, 1])
    with pytest.raises(ValueError, match="length of outlier_label"):
        stope.RadiusNeighborsClassifier(outlier_label=[0, 1]).fit(X, [0, 1])
    with pytest.warns(UserWarning, match="not in training classes"):
        shares = stope.RadiusNeighborsClassifier(outlier_label="z").fit(X, y).predict_proba([[9.0]])
    np.testing.assert_array_equal(shares, [[0.0, 0.0]])
    with pytest.warns(UserWarning, match="predicting NaN"):
        assert np.isnan(stope.RadiusNeighborsRegressor().fit(X, [1.0, 2.0]).predict([[9.0]])).all()


def test_graphs_are_scikit_learns():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(60, 3)), rng.normal(size=(9, 3))
    a = stope.NearestNeighbors(n_neighbors=4, radius=0.7).fit(X)
    b = sklearn_neighbors.NearestNeighbors(n_neighbors=4, radius=0.7).fit(X)
    for rows in (None, Q):
        for mode in ("connectivity", "distance"):
            for call in ("kneighbors_graph", "radius_neighbors_graph"):
                found, expected = getattr(a, call)(rows, mode=mode), getattr(b, call)(rows, mode=mode)
                assert found.format == "csr" and found.shape == expected.shape
                np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12)
    with pytest.raises(ValueError, match="Unsupported mode"):
        a.kneighbors_graph(mode="both")


def test_an_array_of_weights_multiplies_the_votes_of_its_rows():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    model = stope.KNeighborsClassifier(3, weights=[4.0, 1.0, 1.0]).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[4 / 6, 2 / 6]])
    means = stope.KNeighborsRegressor(3, weights=np.array([4.0, 1.0, 1.0])).fit(X, [0.0, 6.0, 12.0])
    np.testing.assert_allclose(means.predict([[1.0]]), [3.0])
    within = stope.RadiusNeighborsClassifier(5.0, weights=[4.0, 1.0, 1.0]).fit(X, y)
    np.testing.assert_allclose(within.predict_proba([[1.0]]), [[4 / 6, 2 / 6]])
    with pytest.raises(ValueError, match=r"weights\.shape"):
        stope.KNeighborsClassifier(3, weights=[1.0, 1.0]).fit(X, y).predict([[1.0]])


def test_an_array_of_weights_weighs_classes_as_the_command_line_does(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (90, 2)), rng.choice(["a", "b", "c"], 90, p=[0.7, 0.2, 0.1])
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    table = tmp_path / "t.csv"
    text = stope_text("classify", table, table, "--target", "y", "-k", 7, "--class-weight", "balanced", "--proba")
    wanted = np.array([line.split(",")[2:] for line in text.splitlines()[1:]], float)
    weighed = stope.KNeighborsClassifier(7, weights=compute_sample_weight("balanced", y)).fit(X, y)
    np.testing.assert_array_equal(weighed.predict_proba(X), wanted)
    assert (weighed.predict(X) != stope.KNeighborsClassifier(7).fit(X, y).predict(X)).any()


@pytest.mark.parametrize("weights", ["uniform", "distance", decay])
@pytest.mark.parametrize("seed", range(6))
def test_a_row_of_weight_w_counts_as_w_rows(seed, weights):
    rng = np.random.default_rng(seed)
    X, Q = rng.integers(0, 4, (40, 2)).astype(float), rng.integers(0, 4, (15, 2)).astype(float)
    y, counts = rng.integers(0, 3, 40), rng.integers(0, 4, 40)
    X2, y2 = X.repeat(counts, axis=0), y.repeat(counts)
    a = stope.KNeighborsClassifier(7, weights=weights).fit(X, y, sample_weight=counts)
    b = stope.KNeighborsClassifier(7, weights=weights).fit(X2, y2)
    np.testing.assert_allclose(a.predict_proba(Q), b.predict_proba(Q), rtol=1e-12)
    for make in (stope.KNeighborsRegressor, stope.RadiusNeighborsRegressor):
        a = make(weights=weights).fit(X, y, sample_weight=counts)
        np.testing.assert_allclose(a.predict(Q), make(weights=weights).fit(X2, y2).predict(Q), rtol=1e-12)
    with pytest.raises(ValueError, match="counts as w rows"):
        stope.KNeighborsClassifier(7).fit(X, y, sample_weight=np.full(40, 0.1)).predict(Q)


def test_sample_weights_leave_rows_out_of_themselves_and_of_computed_distances():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    weights = np.where(np.arange(60) < 5, 0.1, rng.integers(0, 3, 60))
    usual = stope.KNeighborsClassifier(4).fit(X, y, sample_weight=weights).predict_proba(None)
    computed = stope.KNeighborsClassifier(4, metric=lambda a, b: np.sqrt(((a - b) ** 2).sum()))
    np.testing.assert_allclose(computed.fit(X, y, sample_weight=weights).predict_proba(None), usual)
    for i in range(60):
        others = np.arange(60) != i
        model = stope.KNeighborsClassifier(4).fit(X[others], y[others], sample_weight=weights[others])
        np.testing.assert_allclose(model.predict_proba(X[i : i + 1])[0], usual[i])
    tenths = stope.KNeighborsRegressor(1).fit(np.arange(10.0)[:, None], np.arange(10.0), sample_weight=np.full(10, 0.1))
    np.testing.assert_allclose(tenths.predict([[0.0], [9.0]]), [4.5, 4.5])


@pytest.mark.parametrize("sample_weight", [None, np.ones(4)])
def test_a_distance_that_is_not_a_number_weighs_nothing(sample_weight):
    X, y = [[np.nan, 1.0], [0.0, np.nan], [1.0, 1.0], [2.0, 3.0]], [0, 1, 0, 1]
    words = {"missing": "skip", "weights": "distance"}
    model = stope.KNeighborsClassifier(4, **words).fit(X, y, sample_weight=sample_weight)
    np.testing.assert_allclose(model.predict_proba([[np.nan, 1.5]]), [[6 / 7, 1 / 7]])  # distances .5, NaN, .5, 1.5
    negative = stope.KNeighborsRegressor(2, metric="inner-product", weights="distance")
    with pytest.raises(ValueError, match="distances >= 0"):
        negative.fit(np.ones((4, 2)), y, sample_weight=sample_weight).predict([[1.0, 1.0]])


def test_weights_that_are_all_zero_are_refused():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    for weights in (np.zeros_like, [0.0, 1.0, 1.0]):
        with pytest.raises(ValueError, match="zero weights"):
            stope.KNeighborsClassifier(1, weights=weights).fit(X, y).predict([[0.0]])
    with pytest.raises(ValueError, match="'uniform', 'distance'"):
        stope.KNeighborsClassifier(1, weights="often").fit(X, y).predict([[0.0]])


def test_predictions_of_the_training_rows_leave_each_row_out():
    rng = np.random.default_rng(5)
    X, y, t = rng.normal(size=(50, 3)), rng.integers(0, 3, 50), rng.normal(size=50)
    for ours, theirs, labels in [
        (stope.KNeighborsClassifier(), sklearn_neighbors.KNeighborsClassifier(), y),
        (stope.KNeighborsRegressor(), sklearn_neighbors.KNeighborsRegressor(), t),
    ]:
        ours.fit(X, labels)
        np.testing.assert_allclose(ours.predict(None), theirs.fit(X, labels).predict(None))
        assert ours.score(None, labels) == pytest.approx(theirs.score(None, labels))


@pytest.mark.parametrize("k, error", [(0, ValueError), (-2, ValueError), (1.5, TypeError), (11, ValueError)])
def test_a_number_of_neighbours_that_cannot_be_is_refused(k, error):
    search = stope.NearestNeighbors().fit(np.eye(10))
    with pytest.raises(error, match="n_neighbors"):
        search.kneighbors(np.eye(10), k)
    with pytest.raises(ValueError, match="n_neighbors < n_samples_fit"):
        search.kneighbors(n_neighbors=10)


@pytest.mark.parametrize("words", [
    {"n_neighbors": 0}, {"radius": -1.0}, {"algorithm": "fast"}, {"leaf_size": 0}, {"p": 0}, {"metric_params": 3},
    {"missing": "mean"}, {"metric": "euclidian"}, {"metric": 3}, {"feature_weights": [1.0]},
    {"feature_weights": {"z": 1.0}}, {"feature_weights": [-1.0, 1.0]}, {"device": "abacus"}, {"n_jobs": 0},
    {"metric_params": {"q": 1}}, {"algorithm": "kd_tree", "metric": lambda a, b: 0.0},
    {"algorithm": "kd_tree", "p": 0.5},
])
def test_parameters_that_mean_nothing_are_refused(words):
    with pytest.raises(ValueError):
        stope.NearestNeighbors(**words).fit(np.random.default_rng(0).normal(size=(20, 2))).kneighbors()
