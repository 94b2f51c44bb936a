"""The estimators of neighbours as objects: scikit-learn's checks, data kinds, copies, pickles, threads, memory."""

import copy
import pickle
import threading

import joblib
import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import NearestNeighbors as TheirNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import stope
from stope import errors

PREDICTORS = [
    stope.KNeighborsClassifier, stope.KNeighborsRegressor, stope.RadiusNeighborsClassifier,
    stope.RadiusNeighborsRegressor,
]
ALL = [stope.NearestNeighbors, *PREDICTORS]


@parametrize_with_checks([make() for make in ALL])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def mixed_frame(n=200):
    rng = np.random.default_rng(0)
    return pd.DataFrame({
        "a": rng.normal(size=n), "b": rng.choice(["x", "y", "z"], n), "c": rng.normal(size=n).astype("f4"),
        "d": pd.Categorical(rng.choice(["u", "v"], n)),
    })


def mixed_distances(queries, train):
    parts = []
    for name in train:
        q, t = queries[name].to_numpy()[:, None], train[name].to_numpy()[None, :]
        if name in ("b", "d"):
            parts.append((q.astype(object) != t.astype(object)).astype(float))
        else:
            parts.append((q.astype(float) - t.astype(float)) ** 2)
    return np.sqrt(sum(parts))


def test_nominal_columns_differ_or_not():
    frame = mixed_frame()
    queries = frame.iloc[:30].copy()
    queries.loc[3, "b"] = "a value that training lacks"
    search = stope.NearestNeighbors(n_neighbors=4).fit(frame)
    assert search.effective_metric_ == "mixed-euclidean"
    distances, indices = search.kneighbors(queries)
    D = mixed_distances(queries, frame)
    expected = np.argsort(D, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(distances, np.take_along_axis(D, expected, 1))


def test_pandas_polars_and_arrow_give_the_same_bits():
    frame = mixed_frame()
    expected = stope.NearestNeighbors(n_neighbors=4).fit(frame).kneighbors(frame)
    for convert in (polars.from_pandas, lambda f: polars.from_pandas(f).to_arrow()):
        other = convert(frame)
        found = stope.NearestNeighbors(n_neighbors=4).fit(other).kneighbors(other)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_missing_values_are_refused_unless_the_metric_takes_them():
    frame = mixed_frame()
    frame.loc[5, "a"], frame.loc[6, "b"] = np.nan, None
    with pytest.raises(ValueError, match="contains NaN"):
        stope.NearestNeighbors().fit(frame)
    skipping = stope.NearestNeighbors(n_neighbors=1, missing="skip").fit(frame)
    np.testing.assert_array_equal(skipping.kneighbors(frame.iloc[:10])[1].ravel(), np.arange(10))
    for metric in ("gower", "heom"):
        stope.NearestNeighbors(metric=metric).fit(frame).kneighbors(frame)
    holes = np.array([[np.nan, 0.0], [1.0, 5.0], [3.0, 2.0]])
    found = stope.NearestNeighbors(n_neighbors=3, missing="skip").fit(holes).kneighbors([[1.0, 1.0]])
    np.testing.assert_allclose(found[0], [[1.0, np.sqrt(5), 4.0]])
    with pytest.raises(ValueError, match="has no meaning for metric='correlation'"):
        stope.NearestNeighbors(metric="correlation", missing="skip").fit(holes)
    with pytest.raises(ValueError, match="needs a measure of the engine"):
        stope.NearestNeighbors(metric=lambda a, b: 0.0, missing="skip").fit(holes)


def test_numeric_metrics_refuse_nominal_columns():
    for words in ({"metric": "euclidean"}, {"p": 1}, {"metric": "yule"}, {"metric": "precomputed"},
                  {"categorical_features": None}):
        with pytest.raises(ValueError):
            stope.NearestNeighbors(**words).fit(mixed_frame())


def test_sparse_rows_are_refused_with_advice():
    with pytest.raises(TypeError, match="toarray"):
        stope.NearestNeighbors().fit(scipy.sparse.eye(10).tocsr())
    with pytest.raises(TypeError, match="toarray"):
        stope.NearestNeighbors().fit(np.eye(10)).kneighbors(scipy.sparse.eye(10).tocsr())
    with pytest.raises(TypeError, match="toarray"):
        stope.KNeighborsClassifier().fit(np.eye(10), scipy.sparse.eye(10).tocsr())


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("words", [{}, {"metric": "gower"}, {"feature_weights": [1.0, 2.0, 0.0, 1.0]}])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_pickle_answers_as_its_original(make, words, mixed):
    frame = mixed_frame()
    X = frame if mixed else frame[["a", "c"]].assign(e=1.5, f=frame["a"] * 2)
    y = (frame["a"] > 0).astype(int)
    model = make(**words).fit(X, y)
    answer = model.kneighbors if make is stope.NearestNeighbors else model.predict
    expected = answer(X)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        found = (again.kneighbors if make is stope.NearestNeighbors else again.predict)(X)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
        assert again.get_params().keys() == model.get_params().keys()
        assert again.n_samples_fit_ == len(X) and dict(again.report_)["backend"]
    assert not hasattr(clone(model), "n_samples_fit_")
    assert pickle.loads(pickle.dumps(make(**words))).get_params() == make(**words).get_params()


def test_a_mapped_file_is_searched_where_it_lies(tmp_path):
    X = np.random.default_rng(0).normal(size=(5000, 16))
    model = stope.KNeighborsClassifier().fit(X, X[:, 0] > 0)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert isinstance(mapped._fit_X, np.memmap) and not mapped._fit_X.flags.writeable
    np.testing.assert_array_equal(mapped.predict(X), model.predict(X))
    writable = joblib.load(tmp_path / "model", mmap_mode="r+")
    assert not isinstance(writable._fit_X.base, np.memmap) and not np.shares_memory(writable._fit_X, mapped._fit_X)
    np.testing.assert_array_equal(writable.predict(X), model.predict(X))


def test_only_memory_that_nobody_can_write_to_is_shared():
    X = np.random.default_rng(0).normal(size=(50, 3))
    view = X.view()
    view.flags.writeable = False  # X itself can still be written to
    for rows in (X, view, X[:, ::-1]):
        assert not np.shares_memory(stope.NearestNeighbors().fit(rows)._fit_X, X)
    search = stope.NearestNeighbors().fit(X)
    expected = search.kneighbors()
    X[:] = 0.0
    np.testing.assert_array_equal(search.kneighbors()[0], expected[0])
    X.flags.writeable = False
    assert stope.NearestNeighbors().fit(X)._fit_X is X
    assert not search._fit_X.flags.writeable


@pytest.mark.parametrize("layout", [
    np.asfortranarray, lambda X: X.repeat(2, axis=0)[::2], lambda X: X[::-1][::-1], lambda X: X.astype("f4"),
    lambda X: X.astype(">f8"), lambda X: X.tolist(), lambda X: X.astype(object), lambda X: pd.DataFrame(X).to_numpy(),
    lambda X: np.ma.masked_array(X),
])
def test_every_layout_gives_the_same_lists(layout):
    X = np.random.default_rng(0).integers(0, 9, (40, 3)).astype(float)
    expected = stope.NearestNeighbors().fit(X).kneighbors(X)
    given = layout(X)
    for train, queries in ((given, X), (X, given), (given, given)):
        found = stope.NearestNeighbors().fit(train).kneighbors(queries)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_sixteen_threads_search_one_model():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(500, 6)), rng.normal(size=(16, 100, 6))
    model = stope.KNeighborsClassifier().fit(X, rng.integers(0, 3, 500))
    expected = [(model.kneighbors(q), model.predict(q)) for q in Q]
    wrong = []

    def work(which):
        for _ in range(100):
            found, labels = model.kneighbors(Q[which]), model.predict(Q[which])
            (distances, indices), winners = expected[which]
            if (found[0] != distances).any() or (found[1] != indices).any() or (labels != winners).any():
                wrong.append(which)

    threads = [threading.Thread(target=work, args=(which,)) for which in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_scikit_learns_tools_take_the_estimators():
    frame = mixed_frame()
    y = (frame["a"] > 0).astype(int)
    assert is_classifier(stope.KNeighborsClassifier()) and is_regressor(stope.KNeighborsRegressor())
    assert cross_val_score(stope.KNeighborsClassifier(), frame, y, n_jobs=2).mean() > 0.8
    search = GridSearchCV(stope.KNeighborsClassifier(), {"n_neighbors": [1, 5], "weights": ["uniform", "distance"]})
    assert search.fit(frame, y).best_score_ > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = stope.KNeighborsClassifier().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(scaler, model).fit(frame[["a"]], y, sample_weight=np.arange(200))
        assert pipeline[-1]._sample_weight[0] == 0 and pipeline.predict(frame[["a"]]).shape == (200,)


def test_names_of_columns_are_compared():
    frame = mixed_frame()[["a", "c"]]
    search = stope.NearestNeighbors().fit(frame)
    np.testing.assert_array_equal(search.feature_names_in_, ["a", "c"])
    with pytest.raises(ValueError, match="feature names"):
        search.kneighbors(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="features"):
        search.kneighbors(np.zeros((1, 3)))
    with pytest.warns(UserWarning, match="valid feature names"):
        search.kneighbors(np.zeros((1, 2)))


@pytest.mark.parametrize("make", PREDICTORS)
def test_a_y_that_does_not_fit_x_is_refused(make):
    X = np.eye(6)
    for y in (None, [0, 1], [0, 1, 2, 0, 1, np.nan], np.zeros((6, 2, 2)), np.zeros((6, 0))):
        with pytest.raises(ValueError):
            make().fit(X, y)
    if is_classifier(make()):
        with pytest.raises(ValueError, match="Unknown label type"):
            make().fit(X, np.linspace(0, 1, 6))
        with pytest.warns(sklearn.exceptions.DataConversionWarning):
            make().fit(X, np.arange(6)[:, None])
    else:
        assert make().fit(X, np.arange(6.0)[:, None]).predict(X).shape == (6, 1)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_label_that_is_missing_is_refused(missing):
    for y in (["a", missing, "b"], pd.Series(["a", missing, "b"], dtype=object)):
        with pytest.raises(ValueError, match="y contains NaN"):
            stope.KNeighborsClassifier(1).fit(np.eye(3), np.array(y, dtype=object))


def test_labels_keep_their_type():
    X = np.arange(6.0)[:, None]
    for y in (["b", "a"] * 3, [True, False] * 3, np.array([3, -1] * 3, dtype="i2"), pd.Series(["u", "v"] * 3)):
        model = stope.KNeighborsClassifier(1).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), np.asarray(y))
        assert model.predict(X).dtype == model.classes_.dtype


def test_an_estimator_that_is_not_fitted_says_so():
    for call in ("kneighbors", "radius_neighbors", "kneighbors_graph", "radius_neighbors_graph"):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            getattr(stope.NearestNeighbors(), call)([[0.0]])
    for make in PREDICTORS:
        with pytest.raises(sklearn.exceptions.NotFittedError):
            make().predict([[0.0]])


def test_the_report_says_what_ran_the_last_call():
    search = stope.NearestNeighbors().fit(np.random.default_rng(0).normal(size=(300, 4)))
    search.kneighbors([[0.0] * 4])
    assert search.report_["pairs"] == 300 and search.report_["backend"] in str(search.report_)
    search.radius_neighbors()
    assert search.report_["pairs"] == 90000


def test_device_and_memory_are_the_runs():
    X = np.random.default_rng(0).normal(size=(2000, 8))
    with pytest.raises((errors.DeviceUnavailableError, errors.InvalidArgumentError)):
        stope.NearestNeighbors(device="cuda:99").fit(X).kneighbors()
    with stope.config_context(memory_limit=1000), pytest.raises(MemoryError):
        stope.NearestNeighbors(radius=9.0).fit(X).radius_neighbors()
    search = stope.NearestNeighbors(device="cpu", n_jobs=1).fit(X)
    search.kneighbors(X)
    assert search.report_["threads"] == 1
    np.testing.assert_array_equal(search.kneighbors(X)[1], TheirNeighbors(algorithm="brute").fit(X).kneighbors(X)[1])


def test_a_target_of_complex_numbers_is_refused():
    for make in (stope.KNeighborsRegressor, stope.KNeighborsClassifier):
        with pytest.raises(ValueError, match="Complex data not supported"):
            make().fit(np.eye(6), np.arange(6) * 1j)


def test_a_date_that_is_missing_is_no_label():
    with pytest.raises(ValueError, match="Input y contains NaN"):
        stope.KNeighborsClassifier().fit(np.eye(2), np.array(["2024-01-01", "NaT"], dtype="M8[D]"))


@pytest.mark.parametrize("make", [make for make in ALL if make is not stope.NearestNeighbors])
@pytest.mark.parametrize("weights", ["often", [1.0, 2.0], [[1.0] * 6], [-1.0] * 6])
def test_votes_that_mean_nothing_are_refused_by_fit(make, weights):
    with pytest.raises(ValueError, match="weights"):
        make(weights=weights).fit(np.eye(6), np.arange(6) % 2)
