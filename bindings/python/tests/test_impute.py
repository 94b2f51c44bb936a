"""KNNImputer, compared with scikit-learn's on numbers and with a plain loop on mixed tables."""

import pickle

import numpy as np
import pandas as pd
import pytest
import stope
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.impute import KNNImputer as Rival
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks


def holes(random, n, d, share, decimals=None):
    X = random.normal(size=(n, d))
    if decimals is not None:
        X = np.round(X, decimals)
    X[random.random((n, d)) < share] = np.nan
    return X


@pytest.fixture
def random():
    return np.random.default_rng(11)


@parametrize_with_checks([stope.KNNImputer(), stope.KNNImputer(weights="distance", n_neighbors=2)])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1 / (1 + d), lambda d: None])
@pytest.mark.parametrize("n_neighbors", [1, 5, 200])
def test_numbers_are_scikit_learns(share, weights, n_neighbors, random):
    train, test = holes(random, 120, 7, share), holes(random, 60, 7, share)
    ours = stope.KNNImputer(weights=weights, n_neighbors=n_neighbors).fit(train)
    theirs = Rival(weights=weights, n_neighbors=n_neighbors).fit(train)
    for X in (train, test):
        assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-7, atol=1e-9)


def test_a_column_that_few_rows_have_is_filled_from_those_rows(random):
    X = holes(random, 300, 6, 0.1)
    X[random.random(300) < 0.95, 2] = np.nan  # rare: a search of its own
    X[:, 5] = np.where(X[:, 0] > 0.3, np.nan, X[:, 5])  # the neighbours lack it, too
    X[:, 4] = np.where(np.isnan(X[:, 5]), np.nan, X[:, 4])
    assert_allclose(stope.KNNImputer().fit_transform(X), Rival().fit_transform(X), rtol=1e-7, atol=1e-9)


def test_donors_of_a_rare_column_need_a_common_attribute(random):
    X = random.normal(size=(60, 3))
    X[:, 2] = np.nan
    X[:4] = [[100, np.nan, 1], [200, np.nan, 2], [np.nan, 0, 40], [np.nan, 0, 80]]
    X[4, 1] = np.nan  # shares nothing with two of the four donors, which are no neighbours of its own
    for weights in ("uniform", "distance"):
        ours = stope.KNNImputer(n_neighbors=3, weights=weights).fit_transform(X)
        assert_allclose(ours, Rival(n_neighbors=3, weights=weights).fit_transform(X), rtol=1e-7, atol=1e-9)


def test_blocks_of_rows_do_not_show_in_the_result(random):
    X = holes(random, 3000, 6, 0.3)
    expected = stope.KNNImputer().fit_transform(X)
    with stope.config_context(memory_limit=2_000_000):  # blocks of some hundred rows
        assert_array_equal(stope.KNNImputer().fit_transform(X), expected)


def test_rows_without_a_common_attribute_get_the_mean():
    X = np.array([[1.0, np.nan], [np.nan, 3.0], [np.nan, 7.0], [4.0, np.nan]])
    assert_array_equal(stope.KNNImputer().fit_transform(X), Rival().fit_transform(X))
    assert_array_equal(stope.KNNImputer().fit_transform(X), [[1, 5], [2.5, 3], [2.5, 7], [4, 5]])


def test_rows_at_no_defined_distance_do_not_donate():
    X = np.array([[1.0, np.nan, np.nan], [1.0, 2.0, np.nan], [np.nan, 9.0, np.nan], [np.nan, 50.0, 4.0]])
    assert_array_equal(stope.KNNImputer(n_neighbors=3).fit_transform(X), Rival(n_neighbors=3).fit_transform(X))


def test_the_first_of_equally_near_rows_donates():
    X = np.array([[0.0, 10.0], [0.0, 20.0], [0.0, 30.0], [0.0, np.nan]])
    assert stope.KNNImputer(n_neighbors=2).fit_transform(X)[3, 1] == 15


def test_donors_at_distance_zero_share_all_the_weight():
    X = np.array([[1.0, 10.0], [1.0, 20.0], [2.0, 90.0], [1.0, np.nan]])
    assert stope.KNNImputer(n_neighbors=3, weights="distance").fit_transform(X)[3, 1] == 15


def test_values_far_from_zero_are_filled_by_their_nearest_rows(random):
    near = random.normal(size=(60, 3)) * 1e-3
    near[random.random(near.shape) < 0.15] = np.nan
    shifted = stope.KNNImputer().fit_transform(near + 1e6)  # scikit-learn's own distances lose these digits
    assert_allclose(shifted - 1e6, Rival().fit_transform(near), atol=1e-9)


@pytest.mark.parametrize("missing_values", [-1, 0.0, np.nan, None])
def test_any_number_may_stand_for_a_missing_value(missing_values, random):
    X = holes(random, 50, 4, 0.2)
    given = X if missing_values is None else np.where(np.isnan(X), missing_values, X)
    ours = stope.KNNImputer(missing_values=missing_values).fit_transform(given)
    assert_allclose(ours, Rival().fit_transform(X), rtol=1e-7, atol=1e-9)


def test_nan_is_refused_where_another_value_is_missing():
    with pytest.raises(ValueError, match="NaN"):
        stope.KNNImputer(missing_values=-1).fit([[1.0, np.nan], [2.0, -1.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["F", "strided", "read-only"])
def test_every_layout_gives_the_same_bits(dtype, layout, random):
    X = holes(random, 80, 5, 0.2).astype(dtype)
    given = {"F": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=1)[:, ::2], "read-only": X.copy()}[layout]
    if layout == "read-only":
        given.flags.writeable = False
    before = given.copy()
    filled = stope.KNNImputer().fit_transform(given)
    assert filled.dtype == dtype
    assert_array_equal(filled, stope.KNNImputer().fit_transform(X))
    assert_array_equal(given, before)


def test_a_table_that_changes_after_fit_changes_no_answer(random):
    X = holes(random, 60, 4, 0.2)
    imputer = stope.KNNImputer().fit(X)
    test = holes(random, 30, 4, 0.2)
    expected = imputer.transform(test)
    X[:] = 0
    assert_array_equal(imputer.transform(test), expected)


def test_without_copy_the_array_itself_is_filled_in(random):
    X = holes(random, 40, 4, 0.2)
    expected = stope.KNNImputer().fit_transform(X)
    imputer = stope.KNNImputer(copy=False).fit(X.copy())
    assert imputer.transform(X) is X
    assert_array_equal(X, expected)


def test_empty_columns_go_or_become_zero_and_the_indicator_is_appended(random):
    X = holes(random, 40, 5, 0.2)
    X[:, 1] = np.nan
    for keep in (False, True):
        ours = stope.KNNImputer(add_indicator=True, keep_empty_features=keep).fit(X)
        theirs = Rival(add_indicator=True, keep_empty_features=keep).fit(X)
        assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-7, atol=1e-9)
        assert len(ours.get_feature_names_out()) == ours.transform(X).shape[1]
    assert list(stope.KNNImputer(add_indicator=True).fit(X).get_feature_names_out()) == list(
        Rival(add_indicator=True).fit(X).get_feature_names_out()
    )


def test_a_function_may_be_the_metric(random):
    def absolute(x, y, *, missing_values=np.nan):
        return np.nansum(np.abs(x - y))

    X = holes(random, 30, 4, 0.2)
    assert_allclose(stope.KNNImputer(metric=absolute).fit_transform(X), Rival(metric=absolute).fit_transform(X))


def test_frames_come_out_as_frames(random):
    frame = pd.DataFrame(holes(random, 30, 3, 0.2), columns=list("abc"), index=np.arange(30) * 2)
    filled = stope.KNNImputer().set_output(transform="pandas").fit_transform(frame)
    assert list(filled.columns) == ["a", "b", "c"]
    assert_array_equal(filled.index, frame.index)
    assert_allclose(filled, Rival().fit_transform(frame))


def mixed_frame(random, n, share=0.15):
    frame = pd.DataFrame(
        {
            "x": random.normal(size=n),
            "colour": pd.Categorical(random.choice(["red", "green", "blue"], size=n)),
            "y": random.normal(size=n),
            "word": random.choice(["a", "b"], size=n).astype(object),
        }
    )
    for name in frame:
        frame.loc[random.random(n) < share, name] = np.nan if name in "xy" else None
    return frame


def filled_by_a_loop(train, test, n_neighbors):
    """The definition: donors by sqrt(columns / compared * sum of terms), then by row; means and votes."""
    result = [list(row) for row in test.itertuples(index=False)]
    fitted = [list(row) for row in train.itertuples(index=False)]
    absent = lambda v: v is None or v != v  # noqa: E731
    for row in result:
        original = list(row)
        distances = []
        for i, other in enumerate(fitted):
            terms = [
                float(a != b) if isinstance(a, str) else (a - b) ** 2
                for a, b in zip(original, other) if not absent(a) and not absent(b)
            ]
            if terms:
                distances.append((np.sqrt(sum(terms) / len(terms)), i))
        distances.sort()
        for j, value in enumerate(original):
            if not absent(value):
                continue
            donors = [fitted[i][j] for _, i in distances if not absent(fitted[i][j])][:n_neighbors]
            if isinstance(donors[0], str):
                order = sorted(set(donors))
                row[j] = max(order, key=lambda v: (donors.count(v), -order.index(v)))
            else:
                row[j] = np.mean(donors)
    return result


def test_mixed_tables_are_filled_by_means_and_votes(random):
    train, test = mixed_frame(random, 80), mixed_frame(random, 40)
    train["colour"] = train["colour"].cat.set_categories(["blue", "green", "red"])
    filled = stope.KNNImputer(n_neighbors=4).fit(train).transform(test)
    expected = filled_by_a_loop(train, test, 4)
    for ours, theirs in zip(filled.tolist(), expected):
        assert ours[1] == theirs[1]
        assert ours[3] == theirs[3]
        assert_allclose([ours[0], ours[2]], [theirs[0], theirs[2]], rtol=1e-12)


def test_mixed_frames_keep_their_types(random):
    frame = mixed_frame(random, 60)
    filled = stope.KNNImputer().set_output(transform="pandas").fit_transform(frame)
    assert filled["x"].dtype == np.float64
    assert filled["colour"].dtype == frame["colour"].dtype
    assert not filled.isna().any().any()
    kept = frame.notna()
    for name in frame:
        assert (filled[name][kept[name]] == frame[name][kept[name]]).all()


def test_pandas_polars_and_arrow_give_the_same_values(random):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = mixed_frame(random, 60)
    plain = frame.astype({"colour": object})
    expected = stope.KNNImputer().fit_transform(plain).tolist()
    columns = {name: [None if v != v else v for v in plain[name]] for name in plain}
    for given in (polars.DataFrame(columns), pyarrow.table(columns)):
        assert stope.KNNImputer().fit_transform(given).tolist() == expected
    out = stope.KNNImputer().set_output(transform="polars").fit_transform(polars.DataFrame(columns))
    assert isinstance(out, polars.DataFrame)
    assert out.columns == list(frame)


def test_categories_that_fit_has_not_seen_stay_and_differ_from_all():
    train = pd.DataFrame({"c": ["u", "v", "u"], "x": [1.0, 2.0, 3.0]})
    test = pd.DataFrame({"c": ["w", "w"], "x": [np.nan, 2.0]})
    filled = stope.KNNImputer(n_neighbors=3).fit(train).transform(test)
    assert filled.tolist() == [["w", 2.0], ["w", 2.0]]


def test_of_equal_votes_the_first_category_wins():
    train = pd.DataFrame({"x": [0.0, 0.0, 0.0], "c": ["z", "a", None]})
    assert stope.KNNImputer(n_neighbors=2).fit_transform(train)[2, 1] == "a"


def test_a_word_may_stand_for_a_missing_value():
    train = pd.DataFrame({"x": [0.0, 0.1, 5.0], "c": ["a", "?", "b"]})
    assert stope.KNNImputer(missing_values="?", n_neighbors=1).fit_transform(train)[1, 1] == "a"


def test_a_nominal_column_without_values_goes_or_gets_a_word():
    frame = pd.DataFrame({"x": [0.0, 1.0], "c": pd.Categorical([None, None], categories=["a"])})
    assert stope.KNNImputer().fit_transform(frame).shape == (2, 1)
    filled = stope.KNNImputer(keep_empty_features=True).fit_transform(frame)
    assert filled[:, 1].tolist() == ["missing_value"] * 2


@pytest.mark.parametrize("mixed", [False, True])
def test_pickles_and_clones_answer_the_same(mixed, random):
    X = mixed_frame(random, 60) if mixed else holes(random, 60, 4, 0.2)
    imputer = stope.KNNImputer(n_neighbors=3).fit(X)
    expected = imputer.transform(X).tolist()
    assert pickle.loads(pickle.dumps(imputer)).transform(X).tolist() == expected
    assert clone(imputer).fit(X).transform(X).tolist() == expected


def test_it_works_in_a_pipeline_and_says_what_ran(random):
    X = holes(random, 50, 4, 0.2)
    X[:, 3] = np.where(X[:, 0] > 0.5, np.nan, X[:, 3])
    assert np.isfinite(make_pipeline(stope.KNNImputer(), StandardScaler()).fit_transform(X)).all()
    imputer = stope.KNNImputer().fit(X)
    imputer.transform(X)
    assert imputer.report_["backend"]
    # The report is that of the search for all rows, not that of one for a few values that were left over.
    assert imputer.report_["pairs"] == np.isnan(X).any(axis=1).sum() * len(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 2.5}, "n_neighbors"),
        ({"weights": "near"}, "weights"),
        ({"weights": lambda d: np.ones(3)}, "shape"),
        ({"metric": "cosine"}, "metric"),
    ],
)
def test_wrong_parameters_are_a_value_error_in_words(parameters, words, random):
    with pytest.raises(ValueError, match=words):
        stope.KNNImputer(**parameters).fit_transform(holes(random, 30, 4, 0.2))


def test_equal_votes_are_settled_alike_for_pandas_and_polars():
    values = {"x": [0.0, 0.0, 0.0], "c": ["z", "a", None]}
    pandas = pd.DataFrame({**values, "c": pd.Categorical(values["c"], categories=["z", "a"])})
    polars = pytest.importorskip("polars")
    for frame in (pandas, polars.DataFrame(values, schema_overrides={"c": polars.Categorical})):
        assert stope.KNNImputer(n_neighbors=2).fit_transform(frame)[2, 1] == "a"


def test_lists_and_columns_of_one_name_come_out_as_frames():
    imputer = stope.KNNImputer(n_neighbors=1).set_output(transform="pandas")
    filled = imputer.fit_transform([[1.0, "a"], [np.nan, "a"], [2.0, "b"]])
    assert filled.to_numpy().tolist() == [[1.0, "a"], [1.0, "a"], [2.0, "b"]]
    twice = pd.DataFrame([[1.0, "a", 3.0], [np.nan, "a", 3.0], [2.0, "b", 9.0]], columns=["x", "x", "y"])
    filled = imputer.fit_transform(twice)
    assert filled.columns.tolist() == ["x", "x", "y"] and filled.iloc[1].tolist() == [1.0, "a", 3.0]


def test_a_word_stands_for_nothing_in_a_table_of_numbers():
    with pytest.raises(ValueError, match="missing_values"):
        stope.KNNImputer(missing_values="?").fit(np.eye(3))


def test_the_report_of_a_call_that_searched_nothing_is_none(random):
    X = holes(random, 20, 3, 0.2)
    imputer = stope.KNNImputer().fit(X)
    imputer.transform(X)
    imputer.transform(np.ones((2, 3)))
    assert imputer.report_ is None
