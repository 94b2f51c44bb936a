"""`stope evaluate` against scikit-learn: every model, several measures, repeats, ROC AUC, log loss, kept predictions,
class weights; and what it refuses."""

import json

import numpy as np
import pytest
from sklearn import datasets, linear_model, metrics, model_selection
from sklearn.neighbors import KNeighborsClassifier

from program import records, rows, run

CLOSE = dict(rel=1e-11, abs=1e-13)


def write(path, x, label, name="y", columns=None):
    names = columns or [f"x{i}" for i in range(x.shape[1])]
    lines = [",".join([*names, name])]
    lines += [",".join([*(repr(float(v)) for v in row), str(value)]) for row, value in zip(x, label)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("evaluate")
    iris = datasets.load_iris()
    write(place / "iris.csv", iris.data, [f"c{c}" for c in iris.target])
    random = np.random.default_rng(1)
    x = random.normal(size=(200, 3))
    y = x[:, 0] + random.normal(size=200) > 0.9  # a quarter
    write(place / "two.csv", x, ["yes" if v else "no" for v in y])
    write(place / "numbers.csv", x, 2.0 * x[:, 0] - x[:, 2] + random.normal(size=200))
    (place / "mixed.csv").write_text(
        "n,s,y\n" + "".join(f"{'' if i % 9 == 0 else i % 7},{'pqr'[i % 3]},{'ab'[(i * i) % 2]}\n" for i in range(60)))
    return place


def kept(folder, table, *words):
    """The scores as JSON, and what was predicted out of fold."""
    tree = run("evaluate", table, "--target", "y", "--json", "--predictions-out", "seen.csv", *words, cwd=folder).json()
    return tree, records((folder / "seen.csv").read_text())


def confidences(seen):
    names = [name for name in seen[0] if name.startswith("confidence(")]
    classes = [name[len("confidence("):-1] for name in names]
    return classes, np.array([[float(row[name]) for name in names] for row in seen])


MODELS = {"knn": ["-k", "7"], "distance": ["-k", "9", "--weights", "distance"], "weighed": ["-k", "9", "--class-weight", "balanced"],
          "tree": ["--model", "tree", "--min-samples-leaf", "4"]}


@pytest.mark.parametrize("table", ["iris.csv", "two.csv"])
@pytest.mark.parametrize("model", MODELS)
def test_scores_are_scikit_learns_of_the_kept_predictions(folder, table, model):
    tree, seen = kept(folder, table, "--cv", "5", *MODELS[model])
    truth, predicted = [row["truth"] for row in seen], [row["prediction"] for row in seen]
    classes, p = confidences(seen)
    scores = tree["scores"]
    assert scores["accuracy"] == pytest.approx(metrics.accuracy_score(truth, predicted), **CLOSE)
    assert scores["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, predicted), **CLOSE)
    assert scores["log_loss"] == pytest.approx(metrics.log_loss(truth, p, labels=classes), **CLOSE)
    if len(classes) == 2:
        auc = metrics.roc_auc_score([value == classes[1] for value in truth], p[:, 1])
    else:
        auc = metrics.roc_auc_score(truth, p, multi_class="ovr", average="macro", labels=classes)
    assert scores["roc_auc"] == pytest.approx(auc, **CLOSE)
    assert len({row["row"] for row in seen}) == len(seen) == scores["rows"]
    assert {row["fold"] for row in seen} == set("01234")


def test_a_class_that_no_test_row_has_is_left_out_of_the_mean(folder):
    """scikit-learn's score of that class is undefined, and so would be its mean."""
    x = np.arange(24, dtype=float).reshape(24, 1)
    label = ["a" if i % 3 == 0 else "b" if i % 3 == 1 else "c" for i in range(23)] + ["rare"]
    write(folder / "rare.csv", x, label)
    for seed in range(10):  # until the hold-out misses the rare row
        tree, seen = kept(folder, "rare.csv", "--holdout", "0.3", "-k", "5", "--seed", seed)
        if all(row["truth"] != "rare" for row in seen):
            break
    classes, p = confidences(seen)
    truth = np.array([row["truth"] for row in seen])
    assert "rare" in classes and "rare" not in truth
    defined = [metrics.roc_auc_score(truth == name, p[:, i]) for i, name in enumerate(classes) if name in truth]
    assert tree["scores"]["roc_auc"] == pytest.approx(np.mean(defined), **CLOSE)
    assert tree["scores"]["log_loss"] == pytest.approx(metrics.log_loss(truth, p, labels=classes), **CLOSE)


def test_kept_predictions_are_scikit_learns_on_the_same_folds(folder):
    tree, seen = kept(folder, "two.csv", "--cv", "4", "-k", "7", "--class-weight", "yes=3")
    table = np.array(rows((folder / "two.csv").read_text())[1])
    x, y = table[:, :3].astype(float), table[:, 3]
    fold = np.empty(len(y), dtype=int)
    for row in seen:
        fold[int(row["row"])] = int(row["fold"])
    for row in seen[:60]:
        own, training = int(row["row"]), fold != int(row["fold"])
        model = KNeighborsClassifier(7, algorithm="brute").fit(x[training], y[training])
        near = model.kneighbors(x[own:own + 1])[1][0]
        votes = np.where(y[training][near] == "yes", 3.0, 1.0)
        expected = votes[y[training][near] == "yes"].sum() / votes.sum()
        assert float(row["confidence(yes)"]) == pytest.approx(expected, **CLOSE)
    counts = [sum(fold == f) for f in range(4)]
    assert max(counts) - min(counts) <= 1


def test_least_squares_are_scikit_learns_on_the_same_folds(folder):
    for alpha, model in ((0.0, linear_model.LinearRegression()), (3.0, linear_model.Ridge(alpha=3.0))):
        tree, seen = kept(folder, "numbers.csv", "--model", "lsq", "--cv", "5", "--alpha", alpha)
        table = np.array(rows((folder / "numbers.csv").read_text())[1], dtype=float)
        x, y = table[:, :3], table[:, 3]
        fold = np.empty(len(y), dtype=int)
        for row in seen:
            fold[int(row["row"])] = int(row["fold"])
        predicted = model_selection.cross_val_predict(model, x, y, cv=model_selection.PredefinedSplit(fold))
        ours = np.array([float(row["prediction"]) for row in sorted(seen, key=lambda row: int(row["row"]))])
        np.testing.assert_allclose(ours, predicted, rtol=1e-9, atol=1e-9)
        assert tree["scores"]["rmse"] == pytest.approx(metrics.root_mean_squared_error(y, predicted), rel=1e-9)
        assert tree["scores"]["r2"] == pytest.approx(metrics.r2_score(y, predicted), rel=1e-9)
        assert len(tree["fold_scores"]) == 5


def test_aliases_name_the_models(folder):
    for alias, name in (("k-nn", "knn"), ("decision-tree", "tree")):
        assert run("evaluate", "iris.csv", "--target", "y", "--model", alias, "--json", cwd=folder).json()["options"]["model"] == name
    for alias in ("ols", "ridge", "linear"):
        tree = run("evaluate", "numbers.csv", "--target", "y", "--model", alias, "--json", cwd=folder).json()
        assert tree["options"]["model"] == "lsq"


def test_several_measures_and_normalisations_are_one_table(folder):
    words = ["--metric", "gower,heom,mixed-euclidean", "--normalize", "none,range,z", "-k", "1,5", "--cv", "4"]
    whole = run("evaluate", "mixed.csv", "--target", "y", *words, "--json", cwd=folder).json()
    table = records(run("evaluate", "mixed.csv", "--target", "y", *words, "-o", "g.csv", cwd=folder) and
                    (folder / "g.csv").read_text())
    assert len(table) == 3 * 3 * 2 and len(whole["grid"]) == 9
    lines = iter(table)
    for cell in whole["grid"]:
        alone = run("evaluate", "mixed.csv", "--target", "y", "--metric", cell["metric"], "--normalize", cell["normalize"], "-k", "1,5",
                    "--cv", "4", "--json", cwd=folder).json()
        assert cell["of_k"] == alone["of_k"]
        for of_k in alone["of_k"]:
            line = next(lines)
            assert (line["metric"], line["normalize"], line["k"]) == (cell["metric"], cell["normalize"], str(of_k["k"]))
            for score in ("accuracy", "kappa", "macro_f1", "balanced_accuracy", "roc_auc", "log_loss"):
                assert float(line[score]) == of_k["scores"][score]
    best = whole["best"]
    accuracies = [of_k["scores"]["accuracy"] for cell in whole["grid"] for of_k in cell["of_k"]]
    cell = next(c for c in whole["grid"] if (c["metric"], c["normalize"]) == (best["metric"], best["normalize"]))
    assert next(of_k for of_k in cell["of_k"] if of_k["k"] == best["k"])["scores"]["accuracy"] == max(accuracies)
    text = run("evaluate", "mixed.csv", "--target", "y", *words, cwd=folder).text
    assert text.count(" best\n") == 1 and f"best k {best['k']} of {best['metric']}, normalize {best['normalize']}" in text


def test_repeats_have_means_and_deviations(folder):
    words = ["--cv", "5", "-k", "3,9"]
    whole = run("evaluate", "two.csv", "--target", "y", *words, "--repeats", "4", "--seed", "10", "--json", cwd=folder).json()
    single = [run("evaluate", "two.csv", "--target", "y", *words, "--seed", 10 + r, "--json", cwd=folder).json() for r in range(4)]
    for at in range(2):
        for score in ("accuracy", "kappa", "roc_auc", "log_loss"):
            values = [one["of_k"][at]["scores"][score] for one in single]
            found = whole["of_k"][at]["repeats"][score]
            assert found["mean"] == pytest.approx(np.mean(values), **CLOSE)
            assert found["std"] == pytest.approx(np.std(values, ddof=1), rel=1e-9)
        assert whole["of_k"][at]["fold_scores"] == sum((one["of_k"][at]["fold_scores"] for one in single), [])
    run("evaluate", "two.csv", "--target", "y", *words, "--repeats", "4", "-o", "r.csv", cwd=folder)
    line = records((folder / "r.csv").read_text())[0]
    assert list(line)[:4] == ["k", "accuracy", "kappa", "macro_f1"] and float(line["accuracy_std"]) > 0
    text = run("evaluate", "two.csv", "--target", "y", "--repeats", "3", "--model", "tree", cwd=folder).text
    assert "repeated 3 times" in text and " +- " in text
    tree, seen = kept(folder, "two.csv", "--repeats", "2", "--cv", "3")
    assert len(seen) == 400 and {row["repeat"] for row in seen} == {"0", "1"}


def test_repeats_agree_with_scikit_learns_within_their_deviation(folder):
    ours = run("evaluate", "two.csv", "--target", "y", "--cv", "5", "-k", "9", "--repeats", "20", "--json", cwd=folder).json()
    table = np.array(rows((folder / "two.csv").read_text())[1])
    folds = model_selection.RepeatedStratifiedKFold(n_splits=5, n_repeats=20, random_state=0)
    theirs = model_selection.cross_val_score(KNeighborsClassifier(9), table[:, :3].astype(float), table[:, 3], cv=folds)
    found = ours["of_k"][0]["repeats"]["accuracy"]
    deviation = np.std(theirs.reshape(20, 5).mean(axis=1), ddof=1)
    assert abs(found["mean"] - theirs.mean()) < 4 * np.hypot(found["std"], deviation) / np.sqrt(20)
    assert 0.4 < found["std"] / deviation < 2.5


@pytest.mark.parametrize("words", [["--model", "lsq"], ["-k", "5"]])
def test_numbers_have_their_scores_and_no_confidences(folder, words):
    tree, seen = kept(folder, "numbers.csv", *words)
    assert list(seen[0]) == ["row", "fold", "truth", "prediction"]
    assert "roc_auc" not in tree["scores"]
    assert tree["scores"]["mae"] == pytest.approx(
        metrics.mean_absolute_error([float(r["truth"]) for r in seen], [float(r["prediction"]) for r in seen]), **CLOSE)


def test_least_squares_fill_missing_values_and_leave_nominal_ones_out(folder):
    (folder / "holes.csv").write_text("a,s,y\n" + "".join(f"{'' if i == 3 else i},{'pq'[i % 2]},{2 * i}\n" for i in range(20)))
    words = ["evaluate", "holes.csv", "--target", "y", "--model", "lsq", "--cv", "4"]
    assert "--numeric-only" in run(*words, cwd=folder, code=None).err
    assert "--missing-policy fill" in run(*words, "--numeric-only", cwd=folder, code=3).err
    assert run(*words, "--numeric-only", "--missing-policy", "fill", "--json", cwd=folder).json()["scores"]["r2"] > 0.9


def test_json_of_a_tree_has_its_options_and_leaves(folder):
    tree = run("evaluate", "iris.csv", "--target", "y", "--model", "tree", "--criterion", "gini", "--max-depth", "2", "--class-weight",
               "c0=2", "--prune-holdout", "0.3", "--json", cwd=folder).json()
    assert tree["options"]["criterion"] == "gini" and tree["options"]["max_depth"] == 2
    assert tree["options"]["class_weight"] == {"c0": 2.0} and tree["mean_leaves"] <= 4
    assert tree["scores"]["accuracy"] > 0.8


@pytest.mark.bad_input
@pytest.mark.parametrize("words, part", [
    (["--model", "forest"], "--model: 'forest'"),
    (["--model", "tree", "-k", "5"], "-k has no effect on --model tree: it is for knn"),
    (["--model", "tree", "--metric", "gower"], "--metric has no effect"),
    (["--criterion", "gini"], "--criterion has no effect on --model knn: it is for tree"),
    (["--alpha", "1"], "--alpha has no effect on --model knn: it is for lsq"),
    (["--missing-policy", "fill"], "--missing-policy has no effect on --model knn: it is for tree and lsq"),
    (["--model", "lsq", "--class-weight", "balanced"], "--class-weight has no effect"),
    (["--model", "lsq"], "'y' is nominal"),
    (["--model", "tree", "--min-samples-leaf", "0"], "--min-samples-leaf: 0 is below 1"),
    (["--metric", "gower,euclidian"], "did you mean 'euclidean'"),
    (["--metric", "gower", "--metric-param", "p=3"], "parameter 'p'"),
    (["--normalize", "none,zz"], "--normalize: 'zz'"),
    (["--repeats", "0"], "--repeats: 0 is not at least 1"),
    (["--repeats", "2", "--loo"], "--repeats: --loo has one way"),
    (["--class-weight", "nobody=2"], "no class is called 'nobody'"),
    (["--class-weight", "c0"], "'c0' is not CLASS=W"),
    (["--class-weight", "c0=1,balanced"], "either balanced, or CLASS=W"),
    (["--class-weight", "c0=-1"], "the weight of 'c0' is -1"),
    (["--class-weight", "balanced", "--compat", "rapidminer"], "RapidMiner"),
    (["--predictions-out", "p.npy"], "no .npy file"),
    (["--predictions-out", "-"], "stdout"),
    (["--predictions-out", "iris.csv"], "iris.csv"),
    (["--predictions-out", "s.csv", "-o", "s.csv"], "s.csv"),
])
def test_mistakes_are_one_line(folder, words, part):
    done = run("evaluate", "iris.csv", "--target", "y", *words, cwd=folder, code=2)
    lines = done.error_lines()
    assert len(lines) == 1 and part in lines[0], done.err
    assert not (folder / "p.npy").exists() and not (folder / "s.csv").exists()


@pytest.mark.bad_input
@pytest.mark.parametrize("words", [["--model", "tree", "--nominal", "y"], ["--model", "lsq", "--missing-policy", "fill"],
                                   ["-k", "1"]])
def test_a_missing_label_is_named_by_its_line_in_the_file(folder, words):
    (folder / "gap.csv").write_text("x,y\n" + "".join(f"{i},{'' if i == 17 else i % 3}\n" for i in range(30)))
    done = run("evaluate", "gap.csv", "--target", "y", "--cv", "3", *words, cwd=folder, code=3)
    assert "gap.csv:19:4: column 'y', row 17: the label is missing" in done.err


def test_scores_without_confidences_for_many_classes_say_so(folder):
    (folder / "many.csv").write_text("x,y\n" + "".join(f"{i},c{i % 5000}\n" for i in range(10000)))
    done = run("evaluate", "many.csv", "--target", "y", "-k", "1..3", "--cv", "2", "--json", cwd=folder)
    assert "no ROC AUC and no log loss" in done.err
    assert json.loads(done.text)["scores"]["roc_auc"] is None


def test_classify_and_its_saved_model_weigh_classes(folder):
    words = ["two.csv", "two.csv", "--target", "y", "--proba"]
    plain = run("classify", *words, "-k", "9", cwd=folder).text
    weighed = run("classify", *words, "-k", "9", "--class-weight", "balanced", "--model-out", "w.stope", cwd=folder).text
    yes = [sum(row["prediction"] == "yes" for row in records(text)) for text in (plain, weighed)]
    assert yes[1] > yes[0]
    assert run("predict", "w.stope", "two.csv", "--proba", cwd=folder).text == weighed
    assert "class_weight" in run("info", "w.stope", cwd=folder).text
    other = run("classify", *words, "--class-weight", "balanced", "-k", "3", "--weights", "distance", cwd=folder).text
    assert run("predict", "w.stope", "two.csv", "--proba", "-k", "3", "--weights", "distance", cwd=folder).text == other
