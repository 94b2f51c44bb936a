import itertools
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import stope
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from stope import CutRanker, LocalDiscretizationTreeClassifier, SupervisedDiscretizer, Table
from stope.errors import InvalidArgumentError, InvalidDataError, UnsupportedError

METHODS = ["md-global", "md-local", "mdlp", "chimerge", "equal-width", "equal-frequency"]


@parametrize_with_checks([
    SupervisedDiscretizer(), SupervisedDiscretizer("equal-width", encode="onehot"),
    SupervisedDiscretizer(missing="fill"), CutRanker(), CutRanker(k=1),
])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]), pd.Series(y, name="kind")


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(3)
    n_rows = 100
    frame = pd.DataFrame({
        "height": rng.normal(size=n_rows).round(1),
        "color": pd.Categorical(rng.choice(["red", "green", "blue"], n_rows)),
        "flat": np.ones(n_rows),
        "text": rng.choice(["a", "b"], n_rows),
    })
    y = np.where((frame.height > 0.2) & (frame.color == "red"), "yes", rng.choice(["no", "maybe"], n_rows))
    return frame, pd.Series(y, name="play")


@pytest.fixture(scope="module")
def holed(mixed):
    frame, y = mixed
    frame = frame.copy()
    frame.loc[3:9, "height"] = np.nan
    frame.loc[7:12, "color"] = None
    return frame, y


def written(frame, y, folder):
    path = folder / "table.csv"
    frame.assign(**{y.name: y}).to_csv(path, index=False)
    return path


def same_cuts(estimator, said):
    """Whether the estimator's cuts are those of the command line's JSON."""
    names = estimator.feature_names_in_
    found = {
        name: [value if isinstance(value, str) else float(value) for value in cuts]
        for name, cuts in zip(names, estimator.cuts_) if len(cuts)
    }
    found = {name: ["-inf" if cut == -np.inf else cut for cut in cuts] for name, cuts in found.items()}
    assert found == json.loads(said)


@pytest.mark.parametrize("method", METHODS)
def test_cuts_are_those_of_the_command_line(method, iris, mixed, tmp_path):
    for X, y in (iris, mixed):
        path = written(X, y, tmp_path)
        fitted = SupervisedDiscretizer(method).fit(X, y)
        same_cuts(fitted, stope("discretize", path, "--target", y.name, "--method", method))


@pytest.mark.parametrize("policy", ["value", "drop", "fill"])
@pytest.mark.parametrize("method", ["md-global", "md-local", "mdlp", "equal-frequency"])
def test_missing_values_are_what_the_policy_says(method, policy, holed, tmp_path):
    X, y = holed
    path = written(X, y, tmp_path)
    fitted = SupervisedDiscretizer(method, missing=policy).fit(X, y)
    same_cuts(fitted, stope("discretize", path, "--target", y.name, "--method", method, "--missing-policy", policy))


@pytest.mark.parametrize("policy", ["error", "value"])
def test_codes_and_labels_are_those_of_the_command_line(policy, mixed, holed, tmp_path):
    X, y = mixed if policy == "error" else holed
    path = written(X, y, tmp_path)
    for option, encode in ((), "ordinal"), (("--labels",), "labels"):
        coded = SupervisedDiscretizer(missing=policy, encode=encode).fit(X, y)
        stope("discretize", path, "--target", y.name, "--method", "md-global", "--missing-policy", policy,
              "-o", tmp_path / "coded.csv", *option)
        said = pd.read_csv(tmp_path / "coded.csv", keep_default_na=False, dtype=str)
        out = coded.transform(X)
        for index, name in enumerate(X.columns):
            if name not in said:
                assert len(coded.cuts_[index]) == 0 and len(set(out[:, index])) == 1
            elif encode == "labels":
                assert out[:, index].tolist() == said[name].tolist()
            else:
                assert [f"s{int(code) + 1}" for code in out[:, index]] == said[name].tolist()


def test_md_global_keeps_apart_what_can_be_kept_apart(iris):
    X, y = iris
    codes = SupervisedDiscretizer().fit_transform(X, y)
    classes = {}
    for row, kind in zip(codes.tolist(), y):
        classes.setdefault(tuple(row), set()).add(kind)
    assert all(len(kinds) == 1 for kinds in classes.values())


def test_a_value_that_equals_a_cut_belongs_to_the_right():
    X = np.array([[0.0], [1.0], [2.0]])
    fitted = SupervisedDiscretizer().fit(X, [0, 0, 1])
    assert fitted.cuts_[0].tolist() == [1.5]
    assert fitted.transform([[1.5], [np.nextafter(1.5, 0)]]).tolist() == [[1.0], [0.0]]
    assert fitted.bin_edges_[0].tolist() == [-np.inf, 1.5, np.inf]
    assert fitted.labels_ == [["(-inf,1.5)", "[1.5,+inf)"]] and fitted.n_bins_.tolist() == [2]


def test_a_feature_without_cuts_has_the_code_0(mixed):
    X, y = mixed
    fitted = SupervisedDiscretizer().fit(X, y)
    assert len(fitted.cuts_[2]) == 0 and fitted.labels_[2] == ["(-inf,+inf)"]
    assert (fitted.transform(X)[:, 2] == 0).all()


def test_values_that_training_did_not_have_take_the_last_code(mixed):
    X, y = mixed
    fitted = SupervisedDiscretizer("mdlp").fit(X, y)
    other = X.assign(color="violet").iloc[:2]
    assert fitted.transform(other)[:, 1].tolist() == [3.0, 3.0]


def test_dropped_values_stay_missing(holed):
    X, y = holed
    missing = X.isna().to_numpy()
    ordinal = SupervisedDiscretizer(missing="drop").fit(X, y).transform(X)
    assert np.array_equal(np.isnan(ordinal), missing)
    labels = SupervisedDiscretizer(missing="drop", encode="labels").fit(X, y).transform(X)
    assert np.array_equal(np.equal(labels, None), missing)
    onehot = SupervisedDiscretizer(missing="drop", encode="onehot").fit(X, y)
    assert np.array_equal(onehot.transform(X).sum(axis=1), (~missing).sum(axis=1))


def test_filled_values_are_those_of_training(holed):
    X, y = holed
    fitted = SupervisedDiscretizer(missing="fill").fit(X, y)
    filled = X.copy()
    filled["height"] = filled["height"].fillna(X["height"].mean())
    filled["color"] = filled["color"].fillna(X["color"].mode()[0])
    assert np.array_equal(fitted.transform(X), fitted.transform(filled))
    one_row = X.iloc[[3]]  # its own mean does not exist
    assert np.array_equal(fitted.transform(one_row), fitted.transform(filled.iloc[[3]]))
    with pytest.raises(UnsupportedError, match="fill"):
        fitted._to_model()


def test_rows_of_weight_0_fill_nothing(holed):
    X, y = holed
    weights = np.where(X["height"] > 1, 0.0, 1.0)
    weighted = SupervisedDiscretizer(missing="fill").fit(X, y, sample_weight=weights)
    kept = SupervisedDiscretizer(missing="fill").fit(X[weights > 0], y[weights > 0])
    assert weighted._fills == kept._fills and weighted._fills[0] < 1
    assert np.array_equal(weighted.transform(X), kept.transform(X))


def test_onehot_has_a_column_a_code(mixed):
    X, y = mixed
    ordinal = SupervisedDiscretizer().fit(X, y)
    onehot = SupervisedDiscretizer(encode="onehot").fit(X, y).set_output(transform="pandas")
    out = onehot.transform(X)
    begins = np.concatenate(([0], np.cumsum(ordinal.n_bins_)))
    for feature, codes in enumerate(ordinal.transform(X).T):
        block = out.to_numpy()[:, begins[feature]:begins[feature + 1]]
        assert np.array_equal(block.argmax(axis=1), codes) and (block.sum(axis=1) == 1).all()
    assert out.columns[:2].tolist()[0].startswith("height_(-inf,")


def test_frames_go_in_and_out(mixed):
    X, y = mixed
    expected = SupervisedDiscretizer().fit(X, y).transform(X)
    frame = pl.from_pandas(X.astype({"color": str}))
    fitted = SupervisedDiscretizer().fit(frame, y.to_numpy())
    assert np.array_equal(fitted.transform(frame), expected)
    out = fitted.set_output(transform="polars").transform(frame)
    assert isinstance(out, pl.DataFrame) and out.columns == X.columns.tolist()
    assert np.array_equal(out.to_numpy(), expected)


def test_layouts_and_types_of_arrays_do_not_matter(iris):
    X, y = iris
    X = X.to_numpy(np.float32).astype(np.float64)
    for method in METHODS:
        expected = SupervisedDiscretizer(method).fit(X, y)
        for other in (X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
            fitted = SupervisedDiscretizer(method).fit(other, y)
            assert all(np.array_equal(a, b) for a, b in zip(fitted.cuts_, expected.cuts_))
            assert np.array_equal(fitted.transform(other), expected.transform(X))


def test_an_offset_of_a_million_moves_the_cuts_alone(iris):
    X, y = iris
    X = (X.to_numpy() * 10).round()
    near, far = SupervisedDiscretizer().fit(X, y), SupervisedDiscretizer().fit(X + 1e6, y)
    assert all(np.array_equal(a + 1e6, b) for a, b in zip(near.cuts_, far.cuts_))


def test_bins_that_ignore_the_classes_need_none(iris):
    X, _ = iris
    fitted = SupervisedDiscretizer("equal-width", n_bins=4).fit(X)
    low, high = X["a"].min(), X["a"].max()
    assert np.allclose(fitted.cuts_[0], low + (high - low) * np.arange(1, 4) / 4)
    fitted = SupervisedDiscretizer("equal-width").fit(X, np.linspace(0, 1, len(X)))
    assert len(fitted.cuts_[0]) == 4
    with pytest.raises(ValueError, match="requires y"):
        SupervisedDiscretizer().fit(X)


def test_discretising_serves_a_pipeline(mixed):
    X, y = mixed
    model = make_pipeline(SupervisedDiscretizer(encode="onehot"), LocalDiscretizationTreeClassifier())
    assert model.fit(X, y).score(X, y) > 0.9
    copied = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copied.predict(X), model.predict(X))


@pytest.mark.parametrize("parameters", [
    {"method": "best"}, {"encode": "binary"}, {"missing": "guess"}, {"n_bins": 0, "method": "equal-width"},
    {"max_cuts": -1}, {"max_cuts": 0}, {"max_cuts": 1.5}, {"confidence": 2.0, "method": "chimerge"},
    {"min_intervals": 0, "method": "chimerge"},
])
def test_parameters_out_of_range_are_refused(parameters, iris):
    with pytest.raises(InvalidArgumentError):
        SupervisedDiscretizer(**parameters).fit(*iris)


@pytest.mark.parametrize("parameters", [
    {"method": None}, {"missing": None}, {"n_bins": 2.5}, {"n_bins": True}, {"confidence": "high"},
    {"min_intervals": "few"}, {"encode": None},
])
def test_parameters_of_a_wrong_type_are_named(parameters, iris):
    with pytest.raises(InvalidArgumentError, match=f"^{next(iter(parameters))}: "):
        SupervisedDiscretizer(**parameters).fit(*iris)


@pytest.mark.parametrize("parameters", [{"criterion": None}, {"missing": 3}, {"n_permutations": 2.5}])
def test_a_rankers_parameters_of_a_wrong_type_are_named(parameters, iris):
    with pytest.raises(InvalidArgumentError, match=f"^{next(iter(parameters))}: "):
        CutRanker(**parameters).fit(*iris)


def test_the_means_that_fill_count_rows_and_not_weights(iris):
    X, y = iris
    X, weights = X.to_numpy().copy(), np.where(np.arange(150) < 50, 3.0, 1.0)
    X[::7, 2] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    for method in ("md-global", "mdlp"):
        fitted = SupervisedDiscretizer(method, missing="fill").fit(X, y, sample_weight=weights)
        same = SupervisedDiscretizer(method).fit(filled, y, sample_weight=weights)
        assert all(np.allclose(one, other) for one, other in zip(fitted.cuts_, same.cuts_))
        assert np.array_equal(fitted.transform(X), same.transform(filled))


def test_weights_that_do_not_fit_are_refused_before_they_fill(iris):
    for weights in (np.ones(3), np.ones((150, 2))):
        with pytest.raises(InvalidDataError, match="ample.weight"):
            SupervisedDiscretizer(missing="fill").fit(*iris, sample_weight=weights)


def brute_force(x, y):
    """The lowest of the best cuts of numbers, and the pairs that it separates."""
    best = (0, None)
    for low, high in itertools.pairwise(np.unique(x)):
        left, right = y[x < high], y[x >= high]
        worth = sum(int(np.sum(left == a)) * int(np.sum(right == b)) for a in set(y) for b in set(y) if a != b)
        if worth > best[0]:
            best = (worth, (low + high) / 2)
    return best


@pytest.mark.parametrize("seed", range(10))
def test_a_ranking_is_that_of_a_brute_force_search(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(25, 4)).astype(float)
    X[:, 3] = 1
    y = rng.integers(0, 3, size=25)
    ranker = CutRanker().fit(X, y)
    expected = [brute_force(X[:, feature], y) for feature in range(4)]
    assert ranker.scores_.tolist() == [worth for worth, _ in expected]
    assert ranker.cuts_ == [cut for _, cut in expected]
    order = sorted(range(4), key=lambda feature: (-expected[feature][0], feature))
    assert [one["feature"] for one in ranker.ranking_] == order
    assert ranker.ranking_[0]["pairs"] == max(worth for worth, _ in expected)


@pytest.mark.parametrize("criterion", ["discernibility", "gini", "entropy"])
def test_a_ranking_is_that_of_the_command_line(criterion, mixed, tmp_path):
    X, y = mixed
    ranker = CutRanker(criterion=criterion, n_permutations=50, random_state=4).fit(X, y)
    said = stope("discretize", written(X, y, tmp_path), "--target", "play", "--method", "best-cut", "--criterion",
                 criterion, "--permutations", 50, "--seed", 4, "--output-format", "jsonl")
    said = [json.loads(line) for line in said.splitlines()]
    assert [one["name"] for one in ranker.ranking_] == [one["name"] for one in said]
    for mine, theirs in zip(ranker.ranking_, said):
        assert mine["score"] == theirs["score"]
        assert mine["p_value"] == theirs["p_value"] and mine["q_value"] == theirs["q_value"]
        cut = mine["value"] if mine["symbolic"] else mine["cut"]
        assert str(theirs["cut"] if theirs["cut"] is not None else "") == str(cut if cut is not None else "")
    for one in ranker.ranking_:
        assert ranker.pvalues_[one["feature"]] == one["p_value"]


def test_a_ranker_selects_the_best_columns_in_their_order(mixed):
    X, y = mixed
    ranker = CutRanker(k=2).fit(X, y)
    kept = sorted(one["feature"] for one in ranker.ranking_[:2])
    assert ranker.get_support(indices=True).tolist() == kept
    assert ranker.get_support().sum() == 2
    out = ranker.transform(X)
    assert isinstance(out, pd.DataFrame) and out.columns.tolist() == X.columns[kept].tolist()
    assert ranker.transform(pl.from_pandas(X)).columns == X.columns[kept].tolist()
    assert ranker.get_feature_names_out().tolist() == X.columns[kept].tolist()
    assert ranker.transform(pl.from_pandas(X).to_arrow()).column_names == X.columns[kept].tolist()
    table = ranker.transform(Table(X))
    assert isinstance(table, Table) and table.columns == X.columns[kept].tolist() and len(table) == len(X)
    numbers = CutRanker(k=1).fit(X[["height", "flat"]].to_numpy(), y)
    assert numbers.transform(X[["height", "flat"]].to_numpy()).shape == (len(X), 1)
    with pytest.raises(InvalidArgumentError, match="k: 9"):
        CutRanker(k=9).fit(X, y)
    with pytest.raises(InvalidArgumentError, match="k: 'most'"):
        CutRanker(k="most").fit(X, y)


@pytest.mark.parametrize("k", [-1, 5, 1.5, True, None, "many", float("nan")])
def test_a_number_of_features_that_is_no_such_number_is_refused(k, iris):
    with pytest.raises(InvalidArgumentError, match="k: "):
        CutRanker(k=k).fit(*iris)


def test_a_weight_of_two_is_a_row_that_stands_twice(iris):
    X, y = iris
    X, y = X.to_numpy(), y.to_numpy()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    for estimator in (SupervisedDiscretizer(), CutRanker()):
        weighted = estimator.fit(X, y, sample_weight=weights).cuts_
        repeated = estimator.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).cuts_
        assert all(np.array_equal(a, b) for a, b in zip(weighted, repeated))


def test_views_escape_names():
    X = pd.DataFrame({"<script>x</script>": ["<b>", "<i>", "<b>", "<i>"]})
    for estimator in (SupervisedDiscretizer(), CutRanker()):
        html = estimator.fit(X, [0, 1, 0, 1])._repr_html_()
        assert "<script" not in html and "<b>" not in html and "&lt;script&gt;" in html
        assert "text/html" in estimator._repr_mimebundle_()
    assert "<script" not in estimator.ranking_._repr_html_()
    assert estimator.ranking_.to_pandas()["score"].tolist() == [4.0]


def test_rows_that_do_not_fit_are_refused(iris):
    X, y = iris
    fitted = SupervisedDiscretizer().fit(X, y)
    with pytest.raises(ValueError):
        fitted.transform(X.iloc[:, :2])
    with pytest.raises((ValueError, InvalidDataError)):
        fitted.transform(X.assign(a="word"))
    with pytest.raises(ValueError):
        SupervisedDiscretizer().fit(X, y[:10])
