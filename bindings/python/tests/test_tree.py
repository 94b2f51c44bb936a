import copy
import itertools
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from command_line import stope
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from stope import LocalDiscretizationTreeClassifier
from stope.errors import DeviceUnavailableError, InvalidArgumentError, InvalidDataError


@parametrize_with_checks([LocalDiscretizationTreeClassifier(), LocalDiscretizationTreeClassifier(missing="value")])
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(7)
    n_rows = 120
    frame = pd.DataFrame({
        "height": rng.normal(size=n_rows).round(1),
        "color": pd.Categorical(rng.choice(["red", "green", "blue"], n_rows)),
        "text": rng.choice(["a", "b"], n_rows),
        "flat": np.ones(n_rows),
    })
    y = np.where((frame.height > 0.2) & (frame.color == "red"), "yes", rng.choice(["no", "maybe"], n_rows))
    return frame, pd.Series(y, name="play")


def pairs_apart(left, right):
    """The pairs of rows of different classes that a split separates."""
    classes = np.unique(np.concatenate((left, right)))
    same = sum(int(np.sum(left == k)) * int(np.sum(right == k)) for k in classes)
    return len(left) * len(right) - same


def oracle(X, y, rows, path=()):
    """Every split of a tree by brute force: {path of turns: (feature, cut, pairs)}, leaves {path: classes}."""
    best = (0, None, None)
    for feature in range(X.shape[1]):
        values = np.unique(X[rows, feature])
        for low, high in itertools.pairwise(values):
            cut = (low + high) / 2
            right = X[rows, feature] >= cut
            worth = pairs_apart(y[rows[~right]], y[rows[right]])
            if worth > best[0]:
                best = (worth, feature, cut)
    worth, feature, cut = best
    if worth == 0:
        return {path: sorted(y[rows].tolist())}
    right = X[rows, feature] >= cut
    return {
        path: (feature, cut, worth),
        **oracle(X, y, rows[~right], (*path, 0)),
        **oracle(X, y, rows[right], (*path, 1)),
    }


def found_tree(tree, X, y):
    nodes = tree.tree_
    leaves = tree.apply(X)
    paths = {0: ()}
    found = {}
    for node in range(nodes.node_count):
        if nodes.feature[node] < 0:
            found[paths[node]] = sorted(y[leaves == node].tolist())
            continue
        paths[nodes.children_left[node]] = (*paths[node], 0)
        paths[nodes.children_right[node]] = (*paths[node], 1)
        found[paths[node]] = (nodes.feature[node], nodes.threshold[node], nodes.score[node])
    return found


@pytest.mark.parametrize("seed", range(12))
def test_a_tree_is_that_of_a_brute_force_search(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(30, 3)).astype(float) + 1e6 * (seed % 2)
    y = rng.integers(0, 3, size=30)
    tree = LocalDiscretizationTreeClassifier().fit(X, y)
    assert found_tree(tree, X, y) == oracle(X, y, np.arange(30))


def test_every_layout_and_type_of_an_array_gives_the_same_tree(iris):
    X, y = iris
    X = X.astype(np.float32).astype(np.float64)
    expected = LocalDiscretizationTreeClassifier().fit(X, y)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.zeros((len(X), 8))
    wide[:, ::2] = X
    for other in (X.astype(np.float32), np.asfortranarray(X), frozen, wide[:, ::2], X.tolist()):
        tree = LocalDiscretizationTreeClassifier().fit(other, y)
        assert tree.export("text") == expected.export("text")
        assert np.array_equal(tree.apply(other), expected.apply(X))


def test_the_json_of_a_tree_is_that_of_the_command_line(iris, mixed, tmp_path):
    X, y = iris
    frame, play = mixed
    tables = [(pd.DataFrame(X, columns=["a", "b", "c", "d"]), pd.Series(y, name="kind")), (frame, play)]
    for X, y in tables:
        path = tmp_path / "table.csv"
        X.assign(**{y.name: y}).to_csv(path, index=False)
        for criterion in ("discernibility", "gini", "entropy"):
            tree = LocalDiscretizationTreeClassifier(criterion=criterion, max_depth=4).fit(X, y)
            said = stope("tree", path, "--target", y.name, "--format", "json", "--criterion", criterion,
                         "--max-depth", 4)
            assert json.loads(tree.export("json")) == json.loads(said)


def test_the_holdout_of_pruning_is_that_of_the_command_line(mixed, tmp_path):
    X, y = mixed
    path = tmp_path / "table.csv"
    X.assign(play=y).to_csv(path, index=False)
    tree = LocalDiscretizationTreeClassifier(prune_holdout=0.3, random_state=5).fit(X, y)
    said = stope("tree", path, "--target", "play", "--prune-holdout", 0.3, "--seed", 5)
    assert tree.export("text") == said


def test_a_weight_of_two_is_a_row_that_stands_twice(iris):
    X, y = iris
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = LocalDiscretizationTreeClassifier().fit(X, y, sample_weight=weights)
    repeated = LocalDiscretizationTreeClassifier().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.array_equal(weighted.tree_.threshold, repeated.tree_.threshold, equal_nan=True)
    assert np.array_equal(weighted.tree_.value, repeated.tree_.value)
    assert np.allclose(weighted.feature_importances_, repeated.feature_importances_)


def test_balanced_classes_weigh_the_same(iris):
    X, y = iris
    X, y = X[:120], y[:120]
    balanced = LocalDiscretizationTreeClassifier(class_weight="balanced").fit(X, y)
    assert np.allclose(balanced.tree_.value[0], 40, atol=1e-3)
    by_hand = LocalDiscretizationTreeClassifier(class_weight={0: 0.8, 1: 0.8, 2: 2.0}).fit(X, y)
    assert balanced.export("rules") == by_hand.export("rules")


def test_a_class_weight_of_no_class_is_warned_of(iris):
    with pytest.warns(UserWarning, match="no class 9"):
        LocalDiscretizationTreeClassifier(class_weight={9: 2}).fit(*iris)


def test_light_leaves_are_taken_back_with_their_counts(iris):
    X, y = iris
    tree = LocalDiscretizationTreeClassifier(min_weight_fraction_leaf=0.1).fit(X, y)
    nodes = tree.tree_
    leaves = nodes.feature < 0
    assert nodes.value[leaves].sum(axis=1).min() >= 15
    assert nodes.value[leaves].sum() == 150
    assert np.array_equal(nodes.value.sum(axis=1), nodes.n_node_samples)
    assert np.array_equal(np.bincount(tree.apply(X), minlength=len(leaves))[leaves], nodes.n_node_samples[leaves])
    whole = LocalDiscretizationTreeClassifier().fit(X, y)
    assert nodes.node_count < whole.tree_.node_count
    assert nodes.threshold[0] == whole.tree_.threshold[0]
    with pytest.raises(ValueError, match="min_weight_fraction_leaf"):
        LocalDiscretizationTreeClassifier(min_weight_fraction_leaf=0.7).fit(X, y)


@pytest.mark.parametrize("policy", ["value", "drop", "fill"])
def test_missing_values_are_what_the_policy_says(policy, mixed, tmp_path):
    X, y = mixed
    X = X.copy()
    X.loc[3:9, "height"] = np.nan
    X.loc[7:12, "color"] = None
    tree = LocalDiscretizationTreeClassifier(missing=policy).fit(X, y)
    path = tmp_path / "table.csv"
    X.assign(play=y).to_csv(path, index=False)
    assert tree.export("text") == stope("tree", path, "--target", "play", "--missing-policy", policy)
    predicted = tree.predict(X)
    if policy == "drop":
        absent = np.equal(predicted, None)
        assert absent.any() and absent[3:13].sum() == absent.sum()
        assert np.array_equal(tree.predict_proba(X).sum(axis=1) == 0, absent)
        assert [reason is None for reason in tree.reasons(X)] == absent.tolist()
    else:
        assert set(predicted) <= {"yes", "no", "maybe"}


def test_missing_values_are_refused_by_default(iris):
    X, y = iris
    X = X.copy()
    tree = LocalDiscretizationTreeClassifier().fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        LocalDiscretizationTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        tree.predict(X)


def test_a_value_that_training_did_not_have_goes_left(mixed):
    X, y = mixed
    tree = LocalDiscretizationTreeClassifier().fit(X, y)
    other = X.assign(color="violet")
    assert set(tree.predict(other)) <= {"no", "maybe"}


def test_nodes_rules_and_paths_agree(mixed):
    X, y = mixed
    tree = LocalDiscretizationTreeClassifier().fit(X, y)
    nodes = tree.tree_
    leaves = tree.apply(X)
    assert [rule["leaf"] for rule in tree.rules_] == np.flatnonzero(nodes.feature < 0).tolist()
    text_of = {rule["leaf"]: rule["text"] for rule in tree.rules_}
    assert tree.reasons(X) == [text_of[leaf] for leaf in leaves]
    path = tree.decision_path(X)
    assert path.shape == (len(X), nodes.node_count)
    assert np.array_equal(np.asarray(path.sum(axis=1)).ravel(), nodes.depth[leaves] + 1)
    assert all(path[row, leaf] == 1 and path[row, 0] == 1 for row, leaf in enumerate(leaves))
    assert tree.get_depth() == nodes.depth.max() and tree.get_n_leaves() == len(tree.rules_)
    assert set(tree.cuts_["color"]) == {"red", "green", "blue"}
    assert nodes.category[nodes.feature == 1].tolist().count("red") >= 1
    assert np.isclose(tree.feature_importances_.sum(), 1) and tree.feature_importances_[3] == 0


def test_only_numeric_splits_have_a_threshold(mixed):
    nodes = LocalDiscretizationTreeClassifier().fit(*mixed).tree_
    numeric = np.isin(nodes.feature, [0, 3])
    assert np.array_equal(np.isnan(nodes.threshold), ~numeric)
    assert np.array_equal(np.equal(nodes.category, None), numeric | (nodes.feature < 0))
    assert (nodes.score[nodes.feature < 0] == 0).all() and (nodes.children_left[nodes.feature < 0] == -1).all()


def test_importances_of_gains_count_the_rows_of_a_node():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 0], [1, 0], [1, 0]], dtype=float)
    y = np.array([0, 1, 2, 2, 2, 2])
    tree = LocalDiscretizationTreeClassifier(criterion="gini").fit(X, y)
    gains = [tree.tree_.score[0] * 6, tree.tree_.score[1] * 2]
    assert np.allclose(tree.feature_importances_, np.array(gains) / sum(gains))


def test_exports_are_text_and_names_are_escaped():
    X = pd.DataFrame({"<script>alert(1)</script>": [0.0, 1.0, 2.0, 3.0]})
    tree = LocalDiscretizationTreeClassifier().fit(X, ["<b>", "<b>", "&", "&"])
    for format in ("text", "json", "dot", "svg", "rules"):
        assert isinstance(tree.export(format), str)
    assert "<script>" not in tree.export("svg")
    html = tree._repr_html_()
    assert "<script" not in html and "<b>" not in html and "svg+xml;base64" in html
    with pytest.raises(InvalidArgumentError, match="png"):
        tree.export("png")


def test_a_view_before_fit_says_so_and_a_large_tree_has_no_picture():
    assert "not fitted" in LocalDiscretizationTreeClassifier()._repr_html_()
    X = np.random.default_rng(0).normal(size=(500, 2))
    large = LocalDiscretizationTreeClassifier().fit(X, np.arange(500) % 2)
    assert "base64" not in large._repr_html_() and "too large" in large._repr_html_()


def test_copies_and_pickles_predict_the_same(mixed):
    X, y = mixed
    tree = LocalDiscretizationTreeClassifier().fit(X, y)
    for copied in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert np.array_equal(copied.predict(X), tree.predict(X))
        assert copied.export("json") == tree.export("json")
    assert not hasattr(clone(tree), "tree_")


def test_labels_of_every_kind_come_back_as_they_were(iris):
    X, y = iris
    words = np.array(["a", "bé", "c"])[y]
    for labels in (y.astype(float), y == 1, y.astype(np.uint8), words, words.astype(object)):
        tree = LocalDiscretizationTreeClassifier().fit(X, labels)
        assert np.array_equal(tree.predict(X), labels)
        assert tree.classes_.dtype == np.asarray(labels).dtype or labels.dtype == object
    with pytest.raises(ValueError):
        LocalDiscretizationTreeClassifier().fit(X, X[:, 0])
    with pytest.raises(ValueError):
        LocalDiscretizationTreeClassifier().fit(X, np.where(y == 0, np.nan, y))
    with pytest.raises(ValueError):
        LocalDiscretizationTreeClassifier().fit(X, [None, *["a"] * 149])


def test_labels_of_every_library_are_taken(iris):
    X, y = iris
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    kinds = pd.Series(pd.Categorical(words)), pl.Series(words), pl.Series(words, dtype=pl.Categorical), list(words)
    for labels in kinds:
        tree = LocalDiscretizationTreeClassifier().fit(X, labels)
        assert tree.predict(X).tolist() == words.tolist()


def test_weights_are_routed_through_a_pipeline(iris):
    X, y = iris
    weights = np.where(y == 2, 0, 1)
    with sklearn.config_context(enable_metadata_routing=True):
        tree = LocalDiscretizationTreeClassifier().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), tree)
        pipeline.fit(X, y, sample_weight=weights)
    assert pipeline[-1].tree_.value[0].tolist() == [50, 50, 0]


def test_a_search_over_parameters_runs_in_processes(iris):
    search = GridSearchCV(LocalDiscretizationTreeClassifier(), {"max_depth": [1, 3]}, cv=3, n_jobs=2).fit(*iris)
    assert search.best_params_ == {"max_depth": 3}


def test_a_target_of_a_features_name_gets_another_name():
    X = pd.DataFrame({"class": [0.0, 1.0], "weight": [0.0, 0.0]})
    tree = LocalDiscretizationTreeClassifier().fit(X, [0, 1], sample_weight=[1, 2])
    assert tree.cuts_["class"].tolist() == [0.5]


@pytest.mark.parametrize("parameters", [
    {"criterion": "chance"}, {"missing": "guess"}, {"max_depth": -1}, {"min_samples_leaf": 0}, {"min_score": -1.0},
    {"ccp_alpha": -1.0}, {"class_weight": "heavy"}, {"prune_holdout": 1.5}, {"class_weight": {0: -1.0}},
])
def test_parameters_out_of_range_are_refused(parameters, iris):
    with pytest.raises(InvalidArgumentError):
        LocalDiscretizationTreeClassifier(**parameters).fit(*iris)


@pytest.mark.parametrize("parameters", [
    {"max_depth": "deep"}, {"max_depth": 2.5}, {"min_samples_leaf": None}, {"min_samples_leaf": 0.5}, {"criterion": 3},
    {"ccp_alpha": "much"}, {"missing": None}, {"prune_holdout": None}, {"min_score": [1]}, {"class_weight": [1, 2]},
    {"min_weight_fraction_leaf": None},
])
def test_parameters_of_a_wrong_type_are_named(parameters, iris):
    with pytest.raises(InvalidArgumentError, match=f"^{next(iter(parameters))}: "):
        LocalDiscretizationTreeClassifier(**parameters).fit(*iris)


def test_weights_that_do_not_fit_are_refused(iris):
    X, y = iris
    tree = LocalDiscretizationTreeClassifier()
    for weights in (np.ones(3), np.ones((150, 2)), np.full(150, np.nan), np.full(150, -1.0)):
        with pytest.raises((InvalidDataError, InvalidArgumentError)):
            tree.fit(X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.fit(X, y, sample_weight=2.0)


def test_a_device_that_is_not_there_is_an_error(iris):
    with pytest.raises(DeviceUnavailableError):
        LocalDiscretizationTreeClassifier(device="cuda:9").fit(*iris)


def test_the_report_says_what_ran(iris):
    tree = LocalDiscretizationTreeClassifier(device="cpu").fit(*iris)
    assert "backend" in tree.report_ and str(tree.report_)
