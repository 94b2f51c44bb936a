"""pairwise_distances and cross_distances, compared with scikit-learn's and SciPy's."""

import warnings

import numpy as np
import pandas as pd
import pytest
import stope
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances as sklearn_distances
from stope import _core

NUMERIC = [
    "euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "cosine", "braycurtis", "canberra", "chebyshev",
    "correlation", "minkowski", "seuclidean", "mahalanobis",
]
BINARY = ["dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule"]


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.mark.parametrize("metric", NUMERIC)
@pytest.mark.parametrize("own", [True, False])
def test_numbers_have_scikit_learns_distances(metric, own, random):
    X, Y = random.normal(size=(23, 6)), None if own else random.normal(size=(17, 6))
    ours = stope.pairwise_distances(X, Y, metric=metric)
    assert ours.dtype == np.float64
    # scikit-learn wants V and VI where there are two tables; SciPy computes them.
    theirs = cdist(X, Y, metric) if metric in ("seuclidean", "mahalanobis") and not own else (
        sklearn_distances(X, Y, metric=metric)
    )
    assert_allclose(ours, theirs, rtol=1e-10, atol=1e-7 if own else 1e-12)


@pytest.mark.parametrize("metric", BINARY)
def test_zeros_and_ones_have_scikit_learns_distances(metric, random):
    X, Y = random.random(size=(23, 9)) < 0.5, random.random(size=(17, 9)) < 0.4
    X[:2], Y[:1] = False, False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if metric == "sokalsneath":  # scipy refuses two rows of zeros, where the distance is 0
            X[:2], Y[:1] = True, True
        # SciPy 1.17 has dropped one of two names for the same measure.
        theirs = sklearn_distances(X, Y, metric="rogerstanimoto" if metric == "sokalmichener" else metric)
    assert_allclose(stope.pairwise_distances(X, Y, metric=metric), theirs, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", [m for m in NUMERIC + BINARY if m != "yule"])
def test_the_matrix_of_one_table_is_symmetric_with_a_zero_diagonal(metric, random):
    X = random.random(size=(40, 5)) + 0.1 if metric not in BINARY else random.random(size=(40, 5)) < 0.6
    X[7] = X[21]
    X = np.array(X)
    if metric in ("dice", "russellrao", "sokalsneath", "jaccard"):
        X[:, 0] = True
    D = stope.pairwise_distances(X, metric=metric)
    assert_array_equal(D, D.T)
    if metric != "russellrao":  # counts what neither row has
        assert_array_equal(np.diag(D), 0)
        assert abs(D[7, 21]) < 1e-15


def test_rows_far_from_zero_keep_their_distances(random):
    X = random.normal(size=(30, 4)) * 1e-3 + 1e6
    assert_allclose(stope.pairwise_distances(X), cdist(X, X), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8, bool])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "read-only"])
def test_every_layout_gives_the_same_bits(dtype, layout, random):
    X = random.integers(0, 2 if dtype is bool else 50, size=(20, 6)).astype(dtype)
    given = X
    if layout == "F":
        given = np.asfortranarray(X)
    elif layout == "strided":
        given = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "reversed":
        given = X[::-1].copy()[::-1]
    elif layout == "read-only":
        given = X.copy()
        given.flags.writeable = False
    D = stope.pairwise_distances(given, given[:7])
    assert_array_equal(D, stope.pairwise_distances(X.astype(np.float64), X[:7].astype(np.float64)))
    assert_allclose(D, cdist(X.astype(float), X[:7].astype(float)), rtol=1e-14)


def test_nan_euclidean_takes_missing_values_and_has_scikit_learns_numbers(random):
    X = random.normal(size=(30, 5))
    X[random.random(X.shape) < 0.3] = np.nan
    X[3] = np.nan
    ours = stope.pairwise_distances(X, metric="nan_euclidean")
    theirs = sklearn_distances(X, metric="nan_euclidean")
    assert_array_equal(np.isnan(ours), np.isnan(theirs))
    assert_allclose(ours, theirs, atol=1e-7)


def test_missing_values_are_refused_unless_they_are_to_be_skipped():
    X = np.array([[0.0, np.nan], [3.0, 4.0]])
    with pytest.raises(ValueError, match="NaN"):
        stope.pairwise_distances(X, metric="euclidean")
    assert_array_equal(stope.pairwise_distances(X, metric="euclidean", missing="skip"), [[0, 3], [3, 0]])


def test_parameters_are_keywords_or_a_dict(random):
    X, w = random.normal(size=(9, 3)), np.array([1.0, 2.0, 0.5])
    expected = cdist(X, X, "minkowski", p=3, w=w)
    assert_allclose(stope.pairwise_distances(X, metric="minkowski", p=3, w=w), expected, rtol=1e-12)
    same = stope.pairwise_distances(X, metric="minkowski", metric_params={"p": 3}, feature_weights=w)
    assert_allclose(same, expected, rtol=1e-12)


def test_weights_may_name_columns_as_estimators_let_them():
    frame = pd.DataFrame({"a": [0.0, 3.0], "b": [0.0, 4.0]})
    assert_allclose(stope.pairwise_distances(frame, feature_weights={"b": 0.0}), [[0, 3], [3, 0]])


def test_variances_and_covariances_may_be_given(random):
    X, Y = random.normal(size=(12, 3)), random.normal(size=(8, 3))
    V = np.array([1.0, 4.0, 0.25])
    assert_allclose(stope.pairwise_distances(X, Y, "seuclidean", V=V), cdist(X, Y, "seuclidean", V=V), rtol=1e-12)
    VI = np.linalg.inv(np.cov(X.T))
    for given in ({"VI": VI}, {"V": np.cov(X.T)}):
        ours = stope.pairwise_distances(X, Y, "mahalanobis", **given)
        assert_allclose(ours, cdist(X, Y, "mahalanobis", VI=VI), rtol=1e-9)


def test_haversine_has_scikit_learns_numbers(random):
    X = np.column_stack([random.uniform(-1.5, 1.5, 15), random.uniform(-3.1, 3.1, 15)])
    assert_allclose(
        stope.pairwise_distances(X, metric="haversine"), sklearn_distances(X, metric="haversine"), atol=1e-7
    )


def test_auto_is_mixed_euclidean_where_a_column_is_nominal():
    frame = pd.DataFrame({"a": [0.0, 3.0, 0.0], "b": ["x", "y", "z"]})
    assert_allclose(stope.pairwise_distances(frame), np.sqrt([[0, 10, 1], [10, 0, 10], [1, 10, 0]]))
    other = pd.DataFrame({"a": [0.0], "b": ["never seen"]})
    assert_allclose(stope.pairwise_distances(other, frame), np.sqrt([[1, 10, 1]]))


def test_gower_takes_mixed_tables_with_missing_values():
    frame = pd.DataFrame({"a": [0.0, 4.0, np.nan], "b": ["x", "y", "x"]})
    assert_allclose(stope.pairwise_distances(frame, metric="gower"), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_no_rows_give_an_empty_matrix_or_an_error_in_words():
    with pytest.raises(ValueError, match="0 sample"):
        stope.pairwise_distances(np.empty((0, 3)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"metric": "euclidian"}, "euclidean"),
        ({"metric": "precomputed"}, "nothing to compute"),
        ({"metric": lambda x, y: 0.0}, "a metric is a name"),
        ({"p": 3}, "p"),
        ({"missing": "ignore"}, "'skip'"),
        ({"feature_weights": [1.0]}, "shape"),
        ({"feature_weights": [1.0, -1.0, 1.0]}, "-1"),
        ({"metric": "seuclidean", "V": [1.0, 0.0, 1.0]}, "variances above 0"),
        ({"metric": "mahalanobis", "VI": -np.eye(3)}, "positive definite"),
        ({"Y": np.ones((2, 4))}, "4 features"),
        ({"metric": "yule", "V": 3}, "no parameter 'V'"),
        ({"metric": "correlation", "missing": "skip"}, "no meaning"),
        ({"metric": "mahalanobis", "missing": "skip"}, "no meaning"),
        ({"metric": "yule", "missing": "skip"}, "no meaning"),
        ({"metric": "euclidean", "V": [1.0]}, "neither a number nor a word"),
    ],
)
def test_nonsense_is_a_value_error_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        stope.pairwise_distances(np.eye(3), **arguments)


def test_pairs_are_the_matrix_row_by_row(random):
    X, Y = random.integers(0, 4, size=(9, 3)).astype(float), random.integers(0, 4, size=(11, 3)).astype(float)
    D = stope.pairwise_distances(X, Y)
    rows_X, rows_Y, distances = stope.cross_distances(X, Y)
    assert_array_equal(rows_X, np.repeat(np.arange(9), 11))
    assert_array_equal(rows_Y, np.tile(np.arange(11), 9))
    assert_array_equal(distances, D.ravel())
    for search_for, key in (("nearest", D), ("farthest", -D)):
        rows_X, rows_Y, distances = stope.cross_distances(X, Y, n_neighbors=4, search_for=search_for)
        order = np.argsort(key, axis=1, kind="stable")[:, :4]
        assert_array_equal(rows_Y.reshape(9, 4), order)
        assert_array_equal(distances.reshape(9, 4), np.take_along_axis(D, order, axis=1))


def test_pairs_of_fewer_than_one_neighbour_are_refused():
    with pytest.raises(ValueError, match="n_neighbors"):
        stope.cross_distances(np.eye(3), n_neighbors=0)
    with pytest.raises(ValueError):
        stope.cross_distances(np.eye(3), n_neighbors=4)


@pytest.mark.parametrize("job", [_core.distance_matrix, _core.distance_pairs])
@pytest.mark.parametrize(
    ("X", "Y"),
    [
        (None, np.eye(3)), (np.eye(3), None), ("rows", np.eye(3)), (np.eye(3), [[1.0, 2.0, 3.0]]),
        (np.eye(3), np.eye(4)), (np.ones((2, 2, 2)), np.eye(2)), (np.eye(3, dtype=complex), np.eye(3)),
        (np.empty((3, 0)), np.empty((3, 0))), (np.eye(3), np.empty((0, 3))),
    ],
)
def test_the_native_module_refuses_what_is_no_two_tables(job, X, Y):
    with pytest.raises((TypeError, ValueError)):
        job(X, Y, run=_core.Run())


def test_no_requests_give_an_empty_matrix():
    assert _core.distance_matrix(np.empty((0, 3)), np.eye(3), run=_core.Run()).shape == (0, 3)


def test_results_outlive_the_rows_they_came_from(random):
    X = random.normal(size=(50, 3))
    D, expected = stope.pairwise_distances(X), cdist(X, X)
    X[:] = 0
    del X
    assert_allclose(D, expected, rtol=1e-13)
