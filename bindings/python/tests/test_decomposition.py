"""PCA and TruncatedSVD: scikit-learn's and LAPACK's answers, on awkward data too."""

import gc
import pickle
import resource
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.decomposition
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import stope
from stope import PCA, TruncatedSVD


def table(n, p, seed=0, rank=None, offset=0.0):
    rng = np.random.default_rng(seed)
    rank = min(n, p) if rank is None else rank
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p)) + offset


def truth(X, k, centred=True):
    """Components, singular values and scores by LAPACK's SVD, with the signs that the engine promises."""
    shifted = X - X.mean(axis=0) if centred else X
    _, s, vt = np.linalg.svd(shifted, full_matrices=False)
    vt = vt[:k] * np.sign(vt[np.arange(k), np.abs(vt[:k]).argmax(axis=1)])[:, None]
    return vt, s[:k], shifted @ vt.T


def close(a, b, rtol=1e-9, scale=None):
    scale = np.abs(b).max() if scale is None else scale
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(scale, 1e-300))


@parametrize_with_checks([PCA(), PCA(missing="mean"), PCA(scaling="z", whiten=True), TruncatedSVD(1), TruncatedSVD()])
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("n, p, k", [(100, 7, 7), (100, 7, 3), (300, 40, 5), (12, 60, 11), (30, 30, 30), (5, 1, 1)])
def test_pca_agrees_with_lapack(n, p, k, offset):
    X = table(n, p, offset=offset)
    components, s, scores = truth(X, k)
    pca = PCA(k).fit(X)
    rtol = 1e-9 if offset == 0 else 1e-7  # LAPACK's own rounding of the centred matrix grows with the offset
    keep = s > 1e-8 * s[0]  # the direction of rows that are centred and fewer than columns means nothing
    close(pca.components_[keep], components[keep], rtol)
    close(pca.singular_values_, s, rtol)
    close(pca.explained_variance_, s**2 / (n - 1), rtol)
    close(pca.mean_, X.mean(axis=0), 1e-12)
    close(pca.transform(X)[:, keep], scores[:, keep], rtol)
    close(pca.components_ @ pca.components_.T, np.eye(k), 1e-12)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [None, 1, 4, 0.5, 0.9999, "mle"])
def test_every_attribute_agrees_with_scikit_learn(n_components, whiten):
    X = table(80, 6, rank=6) + 5
    ours = PCA(n_components, whiten=whiten).fit(X)
    theirs = sklearn.decomposition.PCA(n_components, whiten=whiten, svd_solver="full").fit(X)
    for name in ("n_components_", "n_samples_", "n_features_in_"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        close(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9, atol=1e-12)
    close(ours.transform(X), theirs.transform(X))
    close(ours.fit_transform(X), theirs.fit_transform(X))
    close(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    if not whiten:
        close(ours.get_covariance(), theirs.get_covariance())
        close(ours.get_precision(), theirs.get_precision(), 1e-8)
        close(ours.score_samples(X), theirs.score_samples(X), 1e-8)
        assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-9)


def test_the_covariance_of_all_components_is_that_of_the_columns():
    X = table(200, 5) * [1, 10, 100, 1, 1]
    for options in ({}, {"whiten": True}, {"scaling": "z"}, {"scaling": "z", "whiten": True}):
        pca = PCA(**options).fit(X)
        close(pca.get_covariance(), np.cov(X.T), 1e-10)
        close(pca.get_precision(), np.linalg.inv(np.cov(X.T)), 1e-8)


def test_rows_come_back_from_all_their_scores():
    X = table(40, 6, offset=100) * [1, 2, 3, 4, 5, 1000]
    for options in ({}, {"whiten": True}, {"scaling": "z"}, {"scaling": "z", "whiten": True}):
        pca = PCA(**options).fit(X)
        close(pca.inverse_transform(pca.transform(X)), X, 1e-10)


def test_scaled_columns_have_the_components_of_their_correlations():
    X = table(100, 4) * [1, 10, 1000, 1e-3]
    pca = PCA(scaling="z").fit(X)
    close(pca.explained_variance_, np.sort(np.linalg.eigvalsh(np.corrcoef(X.T)))[::-1], 1e-10)
    close(pca.scale_, X.std(axis=0, ddof=1), 1e-12)


def test_no_component_leaves_all_variance_as_noise():
    X = table(50, 5)
    ours, theirs = PCA(0).fit(X), sklearn.decomposition.PCA(0, svd_solver="full").fit(X)
    assert ours.components_.shape == (0, 5) and ours.transform(X).shape == (50, 0)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_, rel=1e-12)
    close(ours.get_covariance(), theirs.get_covariance())
    close(pickle.loads(pickle.dumps(ours)).inverse_transform(np.zeros((2, 0))), np.tile(X.mean(axis=0), (2, 1)))
    with pytest.raises(stope.StopeError, match="at least one component"):
        ours._to_model()


@pytest.mark.parametrize("noise", [0.3, 2.0])
def test_minkas_estimate_is_that_of_scikit_learn(noise):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = table(int(rng.integers(12, 100)), 12, seed, rank=int(rng.integers(1, 12))) + rng.normal(size=12)
        X += noise * rng.normal(size=X.shape)
        assert PCA("mle").fit(X).n_components_ == sklearn.decomposition.PCA("mle").fit(X).n_components_, seed


@pytest.mark.parametrize(
    "options, words",
    [
        ({"n_components": -1}, "between 0 and"), ({"n_components": 6}, "between 0 and"), ({"n_components": 1.0}, "int"),
        ({"n_components": 2.5}, "int"), ({"n_components": "max"}, "mle"), ({"n_components": float("nan")}, "int"),
        ({"n_components": 0, "svd_solver": "randomized"}, "between 1 and"),
        ({"n_components": 5, "svd_solver": "arpack"}, "strictly less"),
        ({"n_components": 0.5, "svd_solver": "arpack"}, "whole number"),
        ({"n_components": "mle", "svd_solver": "randomized"}, "string"), ({"svd_solver": "lapack"}, "svd_solver"),
        ({"tol": -1.0}, "tol"), ({"missing": "skip"}, "missing"), ({"scaling": "range"}, "scaling"),
        ({"n_oversamples": 0}, "n_oversamples"), ({"iterated_power": -1}, "iterated_power"),
        ({"power_iteration_normalizer": "SVD"}, "power_iteration_normalizer"), ({"n_components": True}, "int"),
        ({"random_state": "7"}, "random_state"), ({"random_state": -1}, "random_state"),
        ({"random_state": 3.7}, "random_state"),
    ],
)
def test_a_wrong_parameter_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        PCA(**options).fit(table(20, 5))


def test_mle_needs_as_many_rows_as_columns():
    with pytest.raises(ValueError, match="n_samples >= n_features"):
        PCA("mle").fit(table(5, 20))


def test_arpack_leaves_one_component_out_as_in_scikit_learn():
    assert PCA(svd_solver="arpack").fit(table(20, 5)).n_components_ == 4


@pytest.mark.parametrize("model", [PCA(3), PCA(3, whiten=True), TruncatedSVD(3)])
def test_every_memory_layout_gives_the_same_bits(model):
    X = table(70, 9)
    wide = np.zeros((140, 18))
    wide[::2, ::2] = X
    locked = X.copy()
    locked.flags.writeable = False
    expected = clone(model).fit(X)
    scores = expected.transform(X)
    layouts = [
        np.asfortranarray(X), wide[::2, ::2], locked, X[::-1].copy()[::-1], pd.DataFrame(X), X.tolist(),
        X.astype(">f8"), np.asfortranarray(X)[:, ::-1].copy()[:, ::-1],
    ]
    for layout in layouts:
        fitted = clone(model).fit(layout)
        assert np.array_equal(fitted.components_, expected.components_)
        assert np.array_equal(fitted.transform(layout.to_numpy() if isinstance(layout, pd.DataFrame) else layout), scores)


@pytest.mark.parametrize("model", [PCA(3), TruncatedSVD(3)])
def test_polars_and_arrow_have_numpys_bits(model):
    for dtype in (np.float64, np.float32):
        X = table(300, 5).astype(dtype)
        frame = pd.DataFrame(X, columns=list("abcde"))
        expected = clone(model).fit(X)
        for other in (frame, pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()):
            fitted = clone(model).fit(other)
            scores = fitted.transform(other)
            assert scores.dtype == dtype and fitted.components_.dtype == dtype
            assert np.array_equal(fitted.components_, expected.components_)
            assert np.array_equal(scores, expected.transform(X))
            with pytest.warns(UserWarning, match="feature names"):
                assert np.array_equal(fitted.transform(X), scores)


def test_columns_of_names_are_refused():
    with pytest.raises(ValueError):
        PCA().fit(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    with pytest.raises(TypeError, match="parse"):
        PCA().fit(csr_array(np.eye(4)))


def test_sixteen_threads_share_a_model():
    X = table(200, 6)
    pca, line = PCA(3).fit(X), stope.LinearRegression().fit(X, X[:, 0])
    expected = pca.transform(X), line.predict(X)
    with ThreadPoolExecutor(16) as threads:
        for scores, predictions in threads.map(lambda _: (pca.transform(X), line.predict(X)), range(200)):
            assert np.array_equal(scores, expected[0]) and np.array_equal(predictions, expected[1])


def test_many_fits_leave_no_memory_behind():
    X = table(200, 20)

    def work():
        for _ in range(60):
            pickle.loads(pickle.dumps(PCA(5).fit(X))).transform(X)
            pickle.loads(pickle.dumps(stope.Ridge().fit(X, X[:, :3]))).predict(X)
            stope.column_stats(X)
            stope.gram_matvec(X, X[0])

    def held():
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    work()
    tracemalloc.start()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    after = [held() for _ in range(5)]
    tracemalloc.stop()
    # A leak grows in every round. A cache that is filled, or another thread's work, grows in some.
    assert min(later - earlier for earlier, later in zip(after, after[1:])) < 5_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000  # kB


def test_without_scikit_learn_the_answers_are_the_same():
    code = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "sklearn":
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
import numpy as np
import stope
X = np.random.default_rng(0).normal(size=(50, 4))
pca = stope.PCA(2).fit(X)
ridge = stope.Ridge().fit(X, X[:, :2], np.ones(50))
svd = stope.TruncatedSVD(2)
assert "sklearn" not in sys.modules and list(pca.get_feature_names_out()) == ["pca0", "pca1"]
values = [pca.fit_transform(X).sum(), svd.fit_transform(X).sum(), ridge.predict(X).sum(), ridge.score(X, X[:, :2]),
          stope.LinearRegression().fit(X, X[:, 0]).score(X, X[:, 0]), stope.column_stats(X).mean.sum()]
try:
    stope.PCA().transform(X)
except ValueError as error:
    assert "not fitted" in str(error), error
print([float(value).hex() for value in values], stope.PCA(2), pca.report_["method"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    X = np.random.default_rng(0).normal(size=(50, 4))
    ridge = stope.Ridge().fit(X, X[:, :2], np.ones(50))
    values = [PCA(2).fit_transform(X).sum(), TruncatedSVD(2).fit_transform(X).sum(), ridge.predict(X).sum()]
    assert done.stdout.startswith(str([float(value).hex() for value in values])[:-1])


def test_float32_stays_float32_and_is_computed_in_float64():
    X = table(60, 5, offset=100).astype(np.float32)
    narrow, wide = PCA(2).fit(X), PCA(2).fit(X.astype(np.float64))
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        assert getattr(narrow, name).dtype == np.float32
        assert np.array_equal(getattr(narrow, name), getattr(wide, name).astype(np.float32))
    assert narrow.transform(X).dtype == np.float32 and narrow.transform(X.astype(float)).dtype == np.float64
    assert np.array_equal(narrow.transform(X), wide.transform(X.astype(float)).astype(np.float32))
    assert narrow.inverse_transform(narrow.transform(X)).dtype == np.float32


def test_constant_columns_and_rank_deficient_tables_have_variances_of_zero():
    X = table(50, 6, rank=2)
    X[:, 3] = 7.25
    pca = PCA().fit(X)
    assert (pca.explained_variance_[2:] < 1e-12 * pca.explained_variance_[0]).all()
    assert pca.components_[:2, 3] == pytest.approx(0, abs=1e-15)
    constant = PCA().fit(np.full((10, 3), 1e6))
    assert (constant.explained_variance_ == 0).all() and (constant.explained_variance_ratio_ == 0).all()
    assert (constant.transform(np.full((4, 3), 1e6)) == 0).all()


def test_one_row_and_one_column_have_answers():
    assert PCA().fit([[1.0, 2.0, 3.0]]).explained_variance_.tolist() == [0.0]
    one = PCA().fit(np.arange(5.0)[:, None])
    assert one.components_.tolist() == [[1.0]] and one.transform([[3.0]]).tolist() == [[1.0]]


def test_whitened_scores_without_variance_stay_finite():
    X = table(20, 4, rank=2)
    assert np.isfinite(PCA(whiten=True).fit_transform(X)).all()


def test_missing_values_are_refused_or_count_as_the_mean():
    X = table(30, 4)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PCA().fit(X)
    filled = X.copy()
    filled[3, 1] = np.nanmean(X[:, 1])
    pca, expected = PCA(missing="mean").fit(X), PCA().fit(filled)
    close(pca.components_, expected.components_)
    close(pca.transform(X), expected.transform(filled))
    close(pca.score_samples(X), expected.score_samples(filled))


def test_scores_do_not_depend_on_the_other_rows():
    X = table(3000, 300)
    pca = PCA(20).fit(X)
    assert np.array_equal(pca.transform(X)[1234:1240], pca.transform(X[1234:1240]))


def test_frames_give_names_and_take_them_back():
    X = pd.DataFrame(table(30, 3), columns=["a", "b", "c"])
    pca = PCA(2).set_output(transform="pandas").fit(X)
    assert list(pca.transform(X).columns) == ["pca0", "pca1"]
    assert pca.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        pca.transform(X.rename(columns={"a": "z"}))
    close(pca.inverse_transform(pca.transform(X)), PCA(2).fit(X.to_numpy()).inverse_transform(pca.transform(X)))


@pytest.mark.parametrize("model", [PCA(2, whiten=True), PCA(scaling="z"), PCA(missing="mean"), TruncatedSVD(2)])
def test_a_pickled_model_gives_the_same_bits(model, tmp_path):
    X = table(40, 5).astype(np.float32)
    model = clone(model).fit(X)
    joblib.dump(model, tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert np.array_equal(other.transform(X), model.transform(X))
        assert np.array_equal(other.components_, model.components_)
        assert other.get_params() == model.get_params()


def test_damaged_pickles_are_refused():
    state = PCA(2).fit(table(20, 4))._to_model()
    for damaged in (b"", state[:100], state[:200] + bytes([state[200] ^ 1]) + state[201:], b"x" * 500):
        with pytest.raises(stope.StopeError):
            stope._core.Pca.of_bytes(damaged)
    line = stope.LinearRegression().fit(table(20, 4), np.arange(20.0))._to_model()
    with pytest.raises(stope.StopeError, match="another kind"):
        stope._core.Pca.of_bytes(line)


def test_wrong_columns_are_refused_by_the_native_module_too():
    run = stope._core.Run()
    model = PCA(2).fit(table(20, 4))._model
    with pytest.raises(ValueError, match="3 columns"):
        model.transform(stope._core.Table.of_array(table(5, 3), [], False, run), run=run)
    assert model.transform(stope._core.Table.of_array(np.empty((0, 4)), [], False, run), run=run).shape == (0, 2)


def test_the_report_says_what_ran():
    pca = PCA(2).fit(table(50, 4))
    assert pca.report_["method"] == "covariance" and "covariance" in str(pca.report_)
    pca.transform(table(5, 4))
    assert pca.report_


@pytest.mark.parametrize("offset", [0.0, 3.0, 1e6])
@pytest.mark.parametrize("n, p, k", [(100, 7, 7), (100, 7, 2), (12, 60, 12), (5, 60, 8)])
def test_truncated_svd_agrees_with_lapack(n, p, k, offset):
    X = table(n, p, offset=offset)
    k_found = min(n, k)
    components, s, scores = truth(X, k_found, centred=False)
    svd = TruncatedSVD(k).fit(X)
    keep = s > 1e-4 * s[0]  # components are right to 1e-15 (s_0 / s)^2
    close(svd.components_[keep], components[keep], 1e-7)
    close(svd.singular_values_, s, 1e-9)
    close(svd.transform(X)[:, keep], scores[:, keep], 1e-7)
    close(svd.explained_variance_[keep], svd.transform(X)[:, keep].var(axis=0), 1e-6)
    assert svd.fit_transform(X).shape == (n, k_found)


def test_truncated_svd_has_scikit_learns_attributes():
    X = table(60, 8) + 1
    ours, theirs = TruncatedSVD(3).fit(X), sklearn.decomposition.TruncatedSVD(3, algorithm="arpack").fit(X)
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
        close(getattr(ours, name), getattr(theirs, name), 1e-8)
    close(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), 1e-8)
    assert ours.get_feature_names_out().tolist() == ["truncatedsvd0", "truncatedsvd1", "truncatedsvd2"]


def test_more_components_than_columns_are_refused():
    with pytest.raises(ValueError, match="n_features"):
        TruncatedSVD(6).fit(table(20, 5))
    with pytest.raises(ValueError, match="n_components"):
        TruncatedSVD(0).fit(table(20, 5))
    with pytest.raises(ValueError, match="algorithm"):
        TruncatedSVD(algorithm="lapack").fit(table(20, 5))
