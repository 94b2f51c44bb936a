"""LinearRegression and Ridge: scikit-learn's and LAPACK's answers, on awkward data too."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import stope
from stope import LinearRegression, Ridge


def problem(n, p, seed=0, n_targets=None, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + offset
    shape = (p,) if n_targets is None else (p, n_targets)
    b = rng.normal(size=shape)
    y = X @ b + rng.normal(size=(n, *shape[1:]))
    return X, y, rng.random(n)


def close(a, b, rtol=1e-9):
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(np.abs(b).max(), 1e-300))


def closed_form(X, y, alpha, fit_intercept=True, weights=None):
    """Ridge by a QR decomposition of the rows and of one more for each penalty."""
    weights = np.ones(len(X)) if weights is None else weights
    x_mean = np.average(X, axis=0, weights=weights) if fit_intercept else 0.0
    y_mean = np.average(y, axis=0, weights=weights) if fit_intercept else 0.0
    root = np.sqrt(weights)
    rows = np.vstack([root[:, None] * (X - x_mean), np.sqrt(alpha) * np.eye(X.shape[1])])
    targets = np.concatenate([root * (y - y_mean), np.zeros(X.shape[1])])
    coef = np.linalg.lstsq(rows, targets, rcond=None)[0]
    return coef, y_mean - x_mean @ coef if fit_intercept else 0.0


@parametrize_with_checks(
    [LinearRegression(), LinearRegression(missing="mean"), Ridge(), Ridge(missing="mean"), Ridge(fit_intercept=False)]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_targets", [None, 1, 3, 20])
@pytest.mark.parametrize("alpha", [0.0, 1.5])
@pytest.mark.parametrize("n, p", [(60, 5), (400, 30), (10, 40)])
def test_both_models_agree_with_scikit_learn(n, p, alpha, n_targets, fit_intercept, weighted):
    X, y, weights = problem(n, p, n_targets=n_targets, offset=2)
    weights = weights if weighted else None
    if alpha == 0:
        ours, theirs = LinearRegression(fit_intercept=fit_intercept), sklearn.linear_model.LinearRegression()
    else:
        ours, theirs = Ridge(alpha, fit_intercept=fit_intercept), sklearn.linear_model.Ridge(alpha, solver="svd")
    theirs.set_params(fit_intercept=fit_intercept)
    ours.fit(X, y, weights)
    theirs.fit(X, y, weights)
    assert ours.coef_.shape == theirs.coef_.shape and np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    close(ours.coef_, theirs.coef_)
    close(np.atleast_1d(ours.intercept_), np.atleast_1d(theirs.intercept_), 1e-8)
    assert ours.predict(X).shape == theirs.predict(X).shape
    close(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y, weights) == pytest.approx(theirs.score(X, y, weights), rel=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
def test_an_offset_of_a_million_costs_no_digits(alpha):
    X, y, weights = problem(200, 6, offset=1e6)
    coef, intercept = closed_form(X, y, alpha, weights=weights)
    model = Ridge(alpha).fit(X, y, weights)
    close(model.coef_, coef, 1e-8)
    assert model.intercept_ == pytest.approx(intercept, rel=1e-8)


def test_one_alpha_for_each_target():
    X, y, _ = problem(50, 5, n_targets=3)
    model = Ridge(np.array([0.5, 2.0, 0.5])).fit(X, y)
    for i, alpha in enumerate([0.5, 2.0, 0.5]):
        alone = Ridge(alpha).fit(X, y[:, i])
        assert np.array_equal(model.coef_[i], alone.coef_) and model.intercept_[i] == alone.intercept_
    theirs = sklearn.linear_model.Ridge(np.array([0.5, 2.0, 0.5])).fit(X, y)
    close(model.coef_, theirs.coef_)
    with pytest.raises(ValueError, match="do not correspond: 2 != 3"):
        Ridge([1.0, 2.0]).fit(X, y)


@pytest.mark.parametrize("n, p", [(50, 5), (6, 30), (3000, 40)])
def test_several_targets_have_the_bits_of_each_alone(n, p):
    X, y, weights = problem(n, p, n_targets=18)
    y[:, 3] *= 1e12
    y[:, 4] = 2.5
    for model in (LinearRegression(), Ridge(0.3), LinearRegression(fit_intercept=False)):
        together = clone(model).fit(X, y, weights)
        predictions = together.predict(X)
        for i in (0, 3, 4, 17):
            alone = clone(model).fit(X, y[:, i], weights)
            assert np.array_equal(together.coef_[i], alone.coef_)
            assert np.array_equal(predictions[:, i], alone.predict(X))


def test_dependent_columns_get_the_solution_of_least_norm():
    X, y, _ = problem(40, 4)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(40, 3.0)])
    with pytest.warns(stope.StopeWarning, match="rank 4"):
        model = LinearRegression().fit(X, y)
    assert model.rank_ == 4
    expected, _ = closed_form(X, y, 0.0)
    close(model.coef_, expected, 1e-8)
    close(model.coef_, sklearn.linear_model.LinearRegression().fit(X, y).coef_, 1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_standard_errors_are_those_of_the_textbook(intercept):
    X, y, _ = problem(50, 3, offset=4)
    model = LinearRegression(standard_errors=True, fit_intercept=intercept).fit(X, y)
    A = np.column_stack([np.ones(50), X]) if intercept else X
    b, rss = np.linalg.lstsq(A, y, rcond=None)[:2]
    errors = np.sqrt(np.diag(np.linalg.inv(A.T @ A)) * rss / (50 - A.shape[1]))
    close(model.standard_errors_, errors[-3:], 1e-9)
    if intercept:
        assert model.intercept_standard_error_ == pytest.approx(errors[0], rel=1e-9)
    both = LinearRegression(standard_errors=True, fit_intercept=intercept).fit(X, np.column_stack([y, 2 * y]))
    close(both.standard_errors_, [model.standard_errors_, 2 * model.standard_errors_])
    with pytest.raises(ValueError, match="no standard errors"):
        LinearRegression(standard_errors=True).fit(X[:4], y[:4])


def test_a_row_of_weight_zero_does_not_count():
    X, y, weights = problem(30, 3)
    weights[:10] = 0
    y[0] = 1e9
    close(Ridge().fit(X, y, weights).coef_, Ridge().fit(X[10:], y[10:], weights[10:]).coef_, 1e-12)


def test_a_weight_counts_as_often_as_it_says():
    X, y, _ = problem(30, 3)
    times = np.arange(30) % 4
    for model in (LinearRegression(), Ridge()):
        a = clone(model).fit(X, y, times)
        b = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        close(a.coef_, b.coef_)
    close(LinearRegression().fit(X, y, 3.0).coef_, LinearRegression().fit(X, y).coef_)


@pytest.mark.parametrize(
    "weights, words",
    [([-1.0] * 30, "Negative"), ([1.0] * 29, "shape"), ([[1.0]] * 30, "1D"), ([np.nan] * 30, "NaN"), ([0.0] * 30, "zero")],
)
def test_wrong_weights_are_refused(weights, words):
    X, y, _ = problem(30, 3)
    with pytest.raises(ValueError, match=words):
        Ridge().fit(X, y, weights)


@pytest.mark.parametrize(
    "y, words",
    [
        (None, "requires y"), (np.zeros(29), "inconsistent"), (np.full(30, np.nan), "NaN"), (np.full(30, np.inf), "inf"),
        (["a"] * 30, "string"), (np.zeros((30, 2, 2)), "1d array"), (np.zeros((30, 0)), "1d array"),
        (np.zeros(30, complex), "Complex"),
    ],
)
def test_wrong_targets_are_refused(y, words):
    for model in (LinearRegression(), Ridge()):
        with pytest.raises(ValueError, match=words):
            model.fit(problem(30, 3)[0], y)


@pytest.mark.parametrize(
    "model, words",
    [
        (Ridge(-1.0), "alpha"), (Ridge(np.nan), "alpha"), (Ridge("much"), "alpha"), (Ridge(solver="qr"), "solver"),
        (Ridge(max_iter=0), "max_iter"), (Ridge(positive=True), "positive"), (LinearRegression(positive=True), "positive"),
        (Ridge(missing="skip"), "missing"),
    ],
)
def test_a_wrong_parameter_is_named(model, words):
    X, y, _ = problem(30, 3)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.5)])
def test_every_memory_layout_gives_the_same_bits(model):
    X, y, weights = problem(70, 9)
    wide = np.zeros((140, 18))
    wide[::2, ::2] = X
    expected = clone(model).fit(X, y, weights)
    predictions = expected.predict(X)
    strided = np.repeat(y, 2)[::2]
    for layout in (np.asfortranarray(X), wide[::2, ::2], X[::-1].copy()[::-1], pd.DataFrame(X), X.tolist()):
        fitted = clone(model).fit(layout, strided, weights.tolist())
        assert np.array_equal(fitted.coef_, expected.coef_)
        assert np.array_equal(fitted.predict(layout), predictions)
    series = clone(model).fit(X, pd.Series(y, index=np.arange(70)[::-1]), pd.Series(weights))
    assert np.array_equal(series.coef_, expected.coef_)


def test_float32_stays_float32_and_is_computed_in_float64():
    X, y, _ = problem(60, 5, offset=3)
    X = X.astype(np.float32)
    narrow, wide = Ridge().fit(X, y), Ridge().fit(X.astype(float), y)
    assert narrow.coef_.dtype == np.float32 and narrow.predict(X).dtype == np.float32
    assert isinstance(narrow.intercept_, np.float32)
    assert np.array_equal(narrow.coef_, wide.coef_.astype(np.float32))
    assert np.array_equal(narrow.predict(X.astype(float)), wide.predict(X.astype(float)))


def test_missing_values_are_refused_or_count_as_the_mean():
    X, y, _ = problem(30, 3)
    X[4, 1] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    for model in (LinearRegression(), Ridge()):
        with pytest.raises(ValueError, match="NaN"):
            clone(model).fit(X, y)
        tolerant = clone(model).set_params(missing="mean").fit(X, y)
        close(tolerant.coef_, clone(model).fit(filled, y).coef_)
        close(tolerant.predict(X), clone(model).fit(filled, y).predict(filled))


def test_one_row_is_its_own_mean():
    model = Ridge().fit([[1.0, 2.0]], [5.0])
    assert model.coef_.tolist() == [0.0, 0.0] and model.intercept_ == 5.0
    assert sklearn.linear_model.Ridge().fit([[1.0, 2.0]], [5.0]).intercept_ == 5.0


def test_a_constant_target_has_coefficients_of_zero():
    X, _, _ = problem(20, 3, offset=1e6)
    model = LinearRegression().fit(X, np.full(20, 7.0))
    assert model.coef_.tolist() == [0.0] * 3 and model.intercept_ == 7.0


@pytest.mark.parametrize("n_targets", [None, 1, 4])
@pytest.mark.parametrize("model", [LinearRegression(), LinearRegression(standard_errors=True), Ridge(missing="mean")])
def test_a_pickled_model_gives_the_same_bits(model, n_targets):
    X, y, weights = problem(40, 5, n_targets=n_targets)
    model = clone(model).fit(X, y, weights)
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.predict(X), model.predict(X))
    assert np.array_equal(other.coef_, model.coef_)
    assert str(other.report_) == str(model.report_)


def test_a_model_file_holds_one_target():
    X, y, _ = problem(40, 5, n_targets=2)
    assert LinearRegression().fit(X, y[:, 0])._to_model()
    with pytest.raises(stope.StopeError, match="one target"):
        LinearRegression().fit(X, y)._to_model()


def test_the_steps_and_the_way_are_told():
    X, y, _ = problem(40, 5, n_targets=2)
    model = Ridge().fit(X, y)
    assert model.solver_ == "normal equations" and model.n_iter_.shape == (2,) and (model.n_iter_ >= 1).all()
    assert model.report_["method"] == "normal equations"


def test_tables_beyond_the_memory_limit_are_solved_step_by_step():
    X, y, weights = problem(900, 300, n_targets=2)
    with stope.config_context(memory_limit=2_000_000):
        ridge, line = Ridge().fit(X, y, weights), LinearRegression().fit(X, y)
        assert ridge.solver_ == "lsqr" and (ridge.n_iter_ > 1).all() and line.rank_ is None
        assert np.array_equal(Ridge().fit(X, y[:, 1], weights).coef_, ridge.coef_[1])
        with pytest.raises(stope.StopeError, match="converge"):
            Ridge(max_iter=2).fit(X, y)
        svd = stope.PCA(3, random_state=1).fit(X)
        assert svd.report_["method"] == "block Lanczos"
    close(ridge.coef_, Ridge().fit(X, y, weights).coef_, 1e-7)
    close(line.coef_, LinearRegression().fit(X, y).coef_, 1e-7)
    close(svd.explained_variance_, stope.PCA(3).fit(X).explained_variance_, 1e-9)


def test_a_grid_search_finds_the_alpha_of_scikit_learn():
    X, y, _ = problem(60, 10)
    grid = {"alpha": [1e-3, 1e-1, 1.0, 10.0, 100.0]}
    ours = GridSearchCV(Ridge(), grid).fit(X, y)
    theirs = GridSearchCV(sklearn.linear_model.Ridge(), grid).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    close(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_foreign_objects_are_refused_by_the_native_module():
    run = stope._core.Run()
    table = stope._core.Table.of_array(np.zeros((4, 2)), [], False, run)
    with pytest.raises(TypeError):
        stope._core.predict_linear([object()], table, run)
    with pytest.raises((TypeError, ValueError)):
        stope._core.predict_linear([None], table, run)
    with pytest.raises(ValueError):
        stope._core.predict_linear([], table, run)
    with pytest.raises(ValueError, match="length"):
        stope._core.fit_linear(table, np.zeros((3, 1), order="F"), None, [1.0], True, False, "error", 0, run)
    with pytest.raises(ValueError, match="length"):
        stope._core.fit_linear(table, np.zeros((4, 2), order="F"), None, [1.0], True, False, "error", 0, run)
