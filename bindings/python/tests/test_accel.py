"""Zero-change mode: scikit-learn's classes stay its own, results stay the same, and the summary says who answered."""

import os
import pathlib
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer
from sklearn.linear_model import Ridge
from sklearn.metrics import DistanceMetric, pairwise_distances_argmin_min
from sklearn.neighbors import (
    VALID_METRICS,
    KDTree,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
)

import stope.accel
from stope.accel import _policy, _seam


@pytest.fixture
def accel():
    stope.accel.reset()
    stope.accel.install()
    yield stope.accel
    stope.accel.uninstall()


@pytest.fixture
def X():
    return np.random.default_rng(3).normal(size=(300, 6))


def rows_of(call):
    return [row for row in stope.accel.summary() if row["call"] == call]


def answered(call):
    return sum(row["answered"] for row in rows_of(call))


def with_and_without(compute):
    """What scikit-learn says, what stope says, and the summary of the latter."""
    stope.accel.uninstall()
    expected = compute()
    stope.accel.reset()
    with stope.accel.installed():
        return expected, compute(), stope.accel.summary()


METRICS = [
    ("euclidean", None), ("sqeuclidean", None), ("manhattan", None), ("chebyshev", None), ("canberra", None),
    ("minkowski", {"p": 3}), ("minkowski", {"p": 1.5, "w": np.arange(1.0, 7.0)}), ("seuclidean", {"V": np.arange(1.0, 7.0)}),
    ("mahalanobis", {"VI": np.diag(np.arange(1.0, 7.0)) + 0.1}), ("braycurtis", None), ("cosine", None),
    ("correlation", None), ("hamming", None), ("jaccard", None), ("dice", None), ("rogerstanimoto", None),
    ("sokalmichener", None), ("sokalsneath", None), ("russellrao", None), ("nan_euclidean", None),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("metric", "params"), METRICS)
def test_distances_are_scikit_learns_for_every_metric_that_stope_claims(X, metric, params, dtype):
    if metric not in VALID_METRICS["brute"]:
        pytest.skip(f"this scikit-learn has no {metric}")
    X = X.astype(dtype)
    if metric in ("hamming", "jaccard", "dice", "rogerstanimoto", "sokalmichener", "sokalsneath", "russellrao"):
        X = (X > 0.3).astype(dtype)
        X = X[X.any(axis=1)]
    nn = NearestNeighbors(n_neighbors=7, algorithm="brute", metric=metric, metric_params=params).fit(X)
    expected, given, summary = with_and_without(lambda: nn.kneighbors(X[:60]))
    assert summary[0]["answered"] == 1, summary
    np.testing.assert_allclose(given[0], expected[0], rtol=1e-4 if dtype == np.float32 else 1e-7, atol=1e-3 if dtype == np.float32 else 1e-6)
    assert given[0].dtype == expected[0].dtype
    assert given[1].dtype == expected[1].dtype

    radius = float(np.median(expected[0])) + 1e-5
    expected, given, summary = with_and_without(lambda: nn.radius_neighbors(X[:60], radius))
    assert summary[0]["answered"] == 1, summary
    for i in range(60):
        np.testing.assert_array_equal(given[1][i], expected[1][i])  # in row order, as scikit-learn's


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_an_estimator_with_a_tree_keeps_it_and_is_answered(accel, X, algorithm):
    nn = NearestNeighbors(n_neighbors=4, algorithm=algorithm).fit(X)
    tree = nn._tree
    distances, rows = nn.kneighbors(X[:50])
    assert answered("NearestNeighbors.kneighbors") == 1
    assert nn._tree is tree and nn._fit_method == algorithm
    by_tree = tree.query(X[:50], 4)
    np.testing.assert_allclose(distances, by_tree[0], atol=1e-12)
    np.testing.assert_array_equal(rows, by_tree[1])


def test_the_metric_of_a_tree_that_was_handed_in_holds(accel, X):
    nn = NearestNeighbors(n_neighbors=3).fit(KDTree(X, metric="manhattan"))
    distances, _ = nn.kneighbors(X[:50])
    assert answered("NearestNeighbors.kneighbors") == 1
    np.testing.assert_allclose(distances, KDTree(X, metric="manhattan").query(X[:50], 3)[0], atol=1e-12)


def test_equal_distances_are_ordered_by_row(accel):
    X = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    _, rows = NearestNeighbors(n_neighbors=7, algorithm="brute").fit(X).kneighbors([[1.0]])
    assert rows.tolist() == [[5, 6, 7, 8, 9, 0, 1]]


def test_a_training_row_is_not_its_own_neighbour(accel, X):
    _, rows = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(X).kneighbors()
    assert not (rows == np.arange(len(X))[:, None]).any()


def test_rows_changed_after_fit_count_as_in_scikit_learn(accel, X):
    X = X.copy()
    nn = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(X)
    nn.kneighbors(X[:50])
    X[7] = 1000.0
    assert nn.kneighbors([[1000.0] * 6], return_distance=False).tolist() == [[7]]


@pytest.mark.parametrize("make", [
    lambda X: np.asfortranarray(X), lambda X: X[::2], lambda X: X[:, ::2], lambda X: (X * 10).astype(int),
    lambda X: X + 1e6, lambda X: np.repeat(X[:3], 100, axis=0), lambda X: np.ones_like(X), lambda X: csr_matrix(np.maximum(X, 0)),
])
def test_layouts_types_offsets_duplicates_and_constants_give_the_same_distances(X, make):
    X = make(X)
    nn = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(X)
    expected, given, summary = with_and_without(lambda: nn.kneighbors(X))
    assert summary[0]["answered"] == 1, summary
    offset = abs(X).max() > 1e5  # scikit-learn itself loses digits there
    np.testing.assert_allclose(given[0], expected[0], atol=1e-1 if offset else 1e-6)


def test_read_only_rows_are_searched(accel, X):
    X.flags.writeable = False
    NearestNeighbors(algorithm="brute").fit(X).kneighbors(X)
    assert answered("NearestNeighbors.kneighbors") == 1


@pytest.mark.parametrize(("make", "why"), [
    (lambda: NearestNeighbors(metric="precomputed"), "metric='precomputed'"),
    (lambda: NearestNeighbors(metric=lambda a, b: abs(a - b).sum()), "a callable metric"),
    (lambda: NearestNeighbors(metric="yule", algorithm="brute"), "metric='yule'"),
])
def test_what_stope_does_not_answer_is_scikit_learns_and_says_why(accel, X, make, why):
    square = abs(X[:6, :6] + X[:6, :6].T)
    np.fill_diagonal(square, 0)
    make().fit(square).kneighbors(square, 2)
    (row,) = rows_of("NearestNeighbors.kneighbors")
    assert (row["answered"], row["left"], row["why"]) == (0, 1, {why: 1})
    assert why in str(stope.accel.summary())


def test_a_search_inside_another_keeps_its_own_metric(X):
    inner = NearestNeighbors(n_neighbors=3, metric="manhattan", algorithm="brute").fit(X)

    class Rows:
        def __array__(self, dtype=None, copy=None):
            self.found = inner.kneighbors(X[:5] + 0.1)
            return X[:5]

    def compute():
        rows = Rows()
        NearestNeighbors(n_neighbors=3, algorithm="brute").fit(X).kneighbors(rows)
        return rows.found

    expected, given, _ = with_and_without(compute)
    np.testing.assert_allclose(given[0], expected[0], rtol=1e-12)
    np.testing.assert_array_equal(given[1], expected[1])


def test_rows_that_lie_between_other_bytes_are_taken(accel, X):
    packed = np.zeros(len(X), dtype=[("row", "f8", (6,)), ("mark", "i1")])
    packed["row"] = X
    bytes_apart = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    for rows in (packed["row"], bytes_apart):
        components = PCA(2, svd_solver="full").fit(rows).components_
        np.testing.assert_allclose(components, PCA(2, svd_solver="full").fit(X).components_, atol=1e-12)
        Ridge().fit(rows, X[:, 0])
    for call in ("PCA.fit", "ridge_regression"):
        (row,) = rows_of(call)
        assert row["left"] == 0, row


def test_exceptions_are_scikit_learns_and_are_not_counted(accel, X):
    nn = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(X)
    for bad, exception in (
        (lambda: nn.kneighbors(X[:, :2]), ValueError), (lambda: nn.kneighbors([[np.nan] * 6]), ValueError),
        (lambda: nn.kneighbors(X, 1000), ValueError), (lambda: nn.kneighbors(X, 1.5), TypeError),
        (lambda: NearestNeighbors().kneighbors(X), sklearn.exceptions.NotFittedError),
        (lambda: nn.kneighbors(X, k=3), TypeError),
    ):
        with pytest.raises(exception):
            bad()
    assert stope.accel.summary() == []


def test_a_refusal_of_the_engine_leaves_the_call_to_scikit_learn(accel):
    X = np.array([[2**60 + 1], [2**60 + 3], [5]])  # no float64 has these values
    NearestNeighbors(n_neighbors=1, algorithm="brute").fit(X).kneighbors(X)
    (row,) = rows_of("NearestNeighbors.kneighbors")
    assert row["left"] == 1 and next(iter(row["why"])).startswith("stope: ")


def test_a_distance_metric_object_is_understood(accel, X):
    metric = DistanceMetric.get_metric("minkowski", p=3)
    NearestNeighbors(algorithm="brute", metric=metric).fit(X).kneighbors(X)
    assert answered("NearestNeighbors.kneighbors") == 1


def test_classes_and_probabilities_are_scikit_learns(X):
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    for make in (
        lambda: KNeighborsClassifier(algorithm="brute", metric="manhattan"),
        lambda: KNeighborsClassifier(weights="distance"),
        lambda: RadiusNeighborsClassifier(radius=5.0, algorithm="brute", metric="manhattan"),
    ):
        model = make().fit(X, y)
        expected, given, summary = with_and_without(lambda m=model: (m.predict(X[:60]), m.predict_proba(X[:60])))
        assert summary[0]["answered"] == 2 and summary[0]["left"] == 0, summary
        np.testing.assert_array_equal(given[0], expected[0])
        np.testing.assert_allclose(given[1], expected[1], atol=1e-9)
    model = KNeighborsRegressor(algorithm="brute").fit(X, X[:, :2])
    expected, given, _ = with_and_without(lambda: model.predict(X[:60]))
    np.testing.assert_allclose(given, expected)


def test_the_nearest_row_of_another_table_is_answered(X):
    expected, given, summary = with_and_without(lambda: pairwise_distances_argmin_min(X, X[::-1].copy()))
    assert summary[0]["call"] == "pairwise_distances_argmin_min" and summary[0]["answered"] == 1
    np.testing.assert_array_equal(given[0], expected[0])
    np.testing.assert_allclose(given[1], expected[1], atol=1e-6)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1 / (1 + d)])
@pytest.mark.parametrize("missing", [np.nan, -1.0])
def test_missing_values_are_filled_in_as_scikit_learn_does(X, weights, missing):
    rng = np.random.default_rng(5)
    train, test = X[:200].copy(), X[200:].copy()
    for rows in (train, test):
        rows[rng.random(rows.shape) < 0.3] = missing
    train[:, 5] = missing  # a column without donors
    test[0] = missing  # a row without distances
    for keep in (False, True):
        imputer = KNNImputer(weights=weights, missing_values=missing, keep_empty_features=keep, add_indicator=True).fit(train)
        expected, given, summary = with_and_without(lambda i=imputer: i.transform(test))
        assert summary[0]["answered"] == 1, summary
        np.testing.assert_allclose(given, expected, rtol=1e-9)


@pytest.mark.parametrize(("solver", "n_components"), [
    ("full", None), ("full", 3), ("full", 0.7), ("full", "mle"), ("covariance_eigh", 2), ("covariance_eigh", "mle"),
    ("arpack", 2),
])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_components_and_scores_are_scikit_learns(X, solver, n_components, dtype):
    X = (X * [5, 3, 2, 1.5, 1.2, 1]).astype(dtype)
    make = lambda: PCA(n_components, svd_solver=solver, whiten=True)

    def compute():
        pca = make().fit(X)
        return pca, make().fit_transform(X)

    (expected, expected_scores), (given, scores), summary = with_and_without(compute)
    assert (summary[0]["call"], summary[0]["answered"]) == ("PCA.fit", 2), summary
    assert set(vars(given)) == set(vars(expected))
    tolerance = 1e-8 if dtype == np.float64 else 1e-4
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(given, name), getattr(expected, name), atol=tolerance, rtol=tolerance)
        assert getattr(given, name).dtype == dtype
    assert given.n_components_ == expected.n_components_
    np.testing.assert_allclose(given.noise_variance_, expected.noise_variance_, rtol=1e-3)
    np.testing.assert_allclose(scores, expected_scores, atol=1e4 * tolerance if dtype == np.float32 else tolerance)


def test_components_of_hardly_any_variance_are_scikit_learns(accel, X):
    X[:, 5] = X[:, 4] * (1 + 1e-9)
    PCA(svd_solver="full").fit(X)
    assert rows_of("PCA.fit")[0]["why"] == {"components of hardly any variance": 1}


@pytest.mark.parametrize("solver", ["auto", "svd", "cholesky"])
def test_ridge_coefficients_are_scikit_learns(X, solver):
    rng = np.random.default_rng(8)
    for y in (rng.normal(size=300), rng.normal(size=(300, 3))):
        weights = rng.random(300)
        expected, given, summary = with_and_without(lambda y=y, w=weights: Ridge(0.5, solver=solver).fit(X, y, w))
        assert (summary[0]["call"], summary[0]["answered"]) == ("ridge_regression", 1), summary
        np.testing.assert_allclose(given.coef_, expected.coef_, rtol=1e-9)
        np.testing.assert_allclose(given.intercept_, expected.intercept_, rtol=1e-9)
        assert given.coef_.shape == expected.coef_.shape


def test_scikit_learns_classes_stay_the_same_objects(accel, X):
    from sklearn.utils import all_estimators

    before = {name: cls for name, cls in all_estimators()}
    accel.uninstall()
    assert before == {name: cls for name, cls in all_estimators()}
    accel.install()

    class Mine(NearestNeighbors):
        """A user's subclass."""

    mine = Mine(n_neighbors=2, algorithm="brute").fit(X)
    assert isinstance(clone(mine), NearestNeighbors)
    assert NearestNeighbors.__module__.startswith("sklearn.") and NearestNeighbors.kneighbors.__module__.startswith("sklearn.")
    assert repr(NearestNeighbors(n_neighbors=2)) == "NearestNeighbors(n_neighbors=2)"
    mine.kneighbors(X)
    assert answered("Mine.kneighbors") == 1


def test_uninstalling_leaves_nothing_behind():
    from sklearn.neighbors import _base

    before = dict(vars(_base)), NearestNeighbors.kneighbors, PCA._fit_full
    stope.accel.install()
    assert NearestNeighbors.kneighbors is not before[1]
    stope.accel.uninstall()
    assert (dict(vars(_base)), NearestNeighbors.kneighbors, PCA._fit_full) == before


def test_a_fitted_estimator_is_unpickled_where_stope_is_not_imported(accel, X):
    model = KNeighborsClassifier(algorithm="brute").fit(X, X[:, 0] > 0)
    expected = model.predict(X).tolist()
    code = "import pickle, sys; m, X = pickle.load(sys.stdin.buffer); print(m.predict(X).tolist(), 'stope' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps((model, X)), capture_output=True, check=True)
    assert done.stdout.decode().strip() == f"{expected} False"


def test_a_script_runs_unchanged_and_a_table_says_what_was_answered(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("""
        import sys
        import numpy as np
        from sklearn.neighbors import NearestNeighbors
        X = np.random.default_rng(0).normal(size=(100, 3))
        NearestNeighbors(algorithm="brute").fit(X).kneighbors(X)
        NearestNeighbors(metric=lambda a, b: abs(a - b).max()).fit(X).kneighbors(X[:2])
        print(__name__, sys.argv[1:])
        sys.exit(3)
    """))
    run = [sys.executable, "-m", "stope.accel"]
    done = subprocess.run([*run, str(script), "--quiet", "-x"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "__main__ ['--quiet', '-x']\n")
    assert "NearestNeighbors.kneighbors         1" in done.stderr and "1 x a callable metric" in done.stderr
    package = pathlib.Path(stope.__file__).parents[1]
    absolute = {**os.environ, "PYTHONPATH": str(package.absolute())}
    done = subprocess.run([*run, "--quiet", "-m", "script", "a"], capture_output=True, text=True, cwd=tmp_path, env=absolute)
    assert (done.returncode, done.stdout, done.stderr) == (3, "__main__ ['a']\n", "")
    table = tmp_path / "table.txt"
    subprocess.run([*run, "--summary", str(table), str(script)], capture_output=True)
    assert "a callable metric" in table.read_text()


def test_a_script_finds_the_modules_that_python_would_find(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "colorsys.py").write_text("raise SystemExit('of the current folder')")
    (tmp_path / "folder" / "beside.py").write_text("name = 'beside'")
    script = tmp_path / "folder" / "script.py"
    script.write_text("import beside, colorsys; print(beside.name, hasattr(colorsys, 'rgb_to_hls'))")
    (tmp_path / "link.py").symlink_to(script)
    package = pathlib.Path(stope.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(package.absolute())}
    for path in ("folder/script.py", "link.py"):
        for run in ([], ["-m", "stope.accel", "--quiet"]):
            command = [sys.executable, *run, path]
            done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
            assert done.stdout == "beside True\n", done.stderr


def test_calls_that_scikit_learn_answers_sooner_are_left_unless_all_are_asked_for(X):
    nn = NearestNeighbors(n_neighbors=1).fit(np.random.default_rng(1).normal(size=(40_000, 3)))
    for always, left in ((False, 1), (True, 0)):
        stope.accel.reset()
        with stope.accel.installed(always=always):
            nn.kneighbors(np.zeros((100, 3)))
        assert stope.accel.summary()[0]["left"] == left
    assert not _policy.of_installation.always


def test_blocks_that_overlap_end_with_the_last_one():
    first, last = stope.accel.installed(always=True), stope.accel.installed()
    first.__enter__()
    last.__enter__()
    first.__exit__(None, None, None)
    assert stope.accel.is_installed() and not _policy.of_installation.always
    last.__exit__(None, None, None)
    assert not stope.accel.is_installed() and not _policy.of_installation.always


def test_threads_count_and_answer_independently(accel, X):
    nn = NearestNeighbors(n_neighbors=3, algorithm="brute").fit(X)
    expected = nn.kneighbors(X)
    same = []

    def work():
        for _ in range(20):
            given = nn.kneighbors(X)
            same.append((given[0] == expected[0]).all() and (given[1] == expected[1]).all())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(same) == 80 and all(same)
    assert answered("NearestNeighbors.kneighbors") == 81


def test_a_place_that_is_missing_or_has_changed_is_left_alone():
    made = []
    for place, parameters, why in (
        ("sklearn.no_module:name", (), "no such place"), ("sklearn.neighbors:NoClass.kneighbors", (), "no such place"),
        ("sklearn.neighbors._base:KNeighborsMixin.no_method", (), "no such place"),
        ("sklearn.neighbors._base:KNeighborsMixin.kneighbors", ("self", "rows"), "does not take (self, rows)"),
    ):
        assert why in _seam.Seam(place, made.append, parameters).open()
    assert made == []


def test_this_scikit_learn_has_every_place(accel):
    assert stope.accel.summary().missing == ()
