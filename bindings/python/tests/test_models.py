import doctest
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import stope as command
from command_line import stope_json
from sklearn.datasets import load_iris, make_regression

import stope.discretize
import stope.io
import stope.tree
from stope import (
    PCA, CutRanker, KNeighborsClassifier, KNeighborsRegressor, LinearRegression, LocalDiscretizationTreeClassifier,
    Model, NearestNeighbors, RadiusNeighborsClassifier, StopeError, SupervisedDiscretizer, _core, load, read_table, save,
)
from stope._run import job
from stope.errors import FileError, InvalidArgumentError, InvalidDataError, UnsupportedError
from stope.io import read_cuts, write_cuts, write_table


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]), pd.Series(y, name="kind")


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(5)
    n_rows = 100
    frame = pd.DataFrame({
        "height": rng.normal(size=n_rows).round(1),
        "color": pd.Categorical(rng.choice(["red", "green", "blue"], n_rows)),
    })
    y = np.where((frame.height > 0.2) & (frame.color == "red"), "yes", rng.choice(["no", "maybe"], n_rows))
    return frame, pd.Series(y, name="play")


@pytest.fixture
def files(tmp_path):
    return lambda name: tmp_path / name


def written(frame, path, y=None):
    (frame if y is None else frame.assign(**{y.name: y})).to_csv(path, index=False)
    return path


def predicted(model, path):
    """What the command line predicts with a model file, as its CSV."""
    out = path.with_suffix(".predicted.csv")
    command("predict", model, path, "-o", out)
    return pd.read_csv(out, keep_default_na=False)


def test_a_tree_from_python_predicts_on_the_command_line(iris, mixed, files):
    for X, y in (iris, mixed):
        tree = LocalDiscretizationTreeClassifier(max_depth=3).fit(X, y)
        save(tree, files("tree.stope"))
        said = predicted(files("tree.stope"), written(X, files("rows.csv")))
        column = next(name for name in said if "prediction" in name)
        assert said[column].astype(str).tolist() == [str(value) for value in tree.predict(X)]


def test_a_tree_from_the_command_line_predicts_in_python(mixed, files):
    X, y = mixed
    path = written(X, files("t.csv"), y)
    command("tree", path, "--target", "play", "--model-out", files("t.stope"), "-o", files("t.txt"))
    model = load(files("t.stope"))
    assert isinstance(model, Model)
    tree = LocalDiscretizationTreeClassifier().fit(X, y)
    assert model.kind == "decision tree" and model.gives == "classes" and model.target == "play"
    assert sorted(model.classes_) == ["maybe", "no", "yes"]
    assert model.feature_names_in_.tolist() == ["height", "color"] and model.n_features_in_ == 2
    expected = tree.predict(X)
    for rows in (X, X[["color", "height"]], pl.from_pandas(X), X.to_numpy(dtype=object), pl.from_pandas(X).to_arrow()):
        assert np.array_equal(model.predict(rows), expected)
    crowded = X.assign(note="text", when=pd.Timestamp("2020-01-01"))
    for rows in (crowded, dict(crowded.items()), pl.from_pandas(crowded), pl.from_pandas(crowded).to_arrow()):
        assert np.array_equal(model.predict(rows), expected)
    order = [model.classes_.tolist().index(name) for name in tree.classes_]
    assert np.array_equal(model.predict_proba(X)[:, order], tree.predict_proba(X))
    assert model.export("text") == files("t.txt").read_text()


def test_classes_that_are_whole_numbers_are_named_so(files):
    for y in ([1.0, 2.0], [1, 2], [True, False]):
        save(LocalDiscretizationTreeClassifier().fit([[0.0], [1.0]], y), files("a.stope"))
        names = load(files("a.stope")).classes_.tolist()
        assert names == (["False", "True"] if y[0] is True else ["1", "2"])


def test_cuts_go_both_ways(mixed, files):
    X, y = mixed
    path = written(X, files("t.csv"), y)
    command("discretize", path, "--target", "play", "--method", "md-global", "--model-out", files("cuts.stope"))
    codes = SupervisedDiscretizer().fit(X, y)
    table = load(files("cuts.stope")).transform(X)
    table = table._core_table
    for index, name in enumerate(X.columns):
        assert np.array_equal(table.column(table.find(name)).array(), codes.transform(X)[:, index])
    labels = SupervisedDiscretizer(encode="labels").fit(X, y)
    save(labels, files("labels.stope"))
    said = predicted(files("labels.stope"), written(X, files("rows.csv")))
    assert said["height"].tolist() == labels.transform(X)[:, 0].tolist()


def test_neighbours_from_the_command_line_predict_in_python(iris, mixed, files):
    for X, y in (iris, mixed):
        path = written(X, files("t.csv"), y)
        rows = written(X, files("rows.csv"))
        command("classify", path, rows, "--target", y.name, "--n-neighbors", 4, "--model-out", files("knn.stope"),
              "-o", files("out.csv"))
        said = predicted(files("knn.stope"), rows)
        model = load(files("knn.stope"))
        column = next(name for name in said if "prediction" in name)
        assert model.predict(X).tolist() == said[column].astype(str).tolist()
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
        assert "backend" in model.report_ and "training rows" in model._repr_html_()
        assert model.parameters_["n_neighbors"] == 4
        nearest = model.with_vote(1)
        assert set(nearest.predict_proba(X).ravel()) == {0.0, 1.0}


def test_explanations_are_those_of_the_command_line(iris, files):
    X, y = iris
    path, rows = written(X, files("t.csv"), y), written(X[::7], files("rows.csv"))
    command("classify", path, "--target", y.name, "-k", 3, "--weights", "distance", "--model-out", files("knn.stope"))
    command("predict", files("knn.stope"), rows, "-o", files("p.csv"), "--explain-out", files("e.csv"), "--explain-attributes", 2)
    said, found = pd.read_csv(files("e.csv")), load(files("knn.stope")).explain(X[::7], n_attributes=2).to_pandas()
    for name in ("row", "train_index", "distance", "weight", "vote_share", "attribute_share"):
        np.testing.assert_allclose(found[name].to_numpy(float), said[name].to_numpy(float))
    assert found.attribute.astype(object).fillna("").tolist() == said.attribute.fillna("").tolist()
    linear = LinearRegression().fit(X[["a", "b"]], X["d"])
    save(linear, files("lsq.stope"))
    parts = load(files("lsq.stope")).explain(X[["a", "b"]]).to_pandas()
    np.testing.assert_allclose(parts.groupby("row").contribution.sum(), linear.predict(X[["a", "b"]]))
    tree = LocalDiscretizationTreeClassifier().fit(X, y)
    save(tree, files("tree.stope"))
    reasons = load(files("tree.stope")).explain(X).to_pandas()
    assert len(reasons) == len(X) and reasons.because.str.contains("c|d").all()
    with pytest.raises(InvalidArgumentError, match="at least 0"):
        load(files("tree.stope")).explain(X, n_attributes=-1)


def test_weights_of_classes_come_with_the_file(iris, files):
    X, y = iris
    path, rows = written(X, files("t.csv"), y), written(X, files("rows.csv"))
    weights = ["--class-weight", "1=5,2=0.5"]
    command("classify", path, rows, "--target", y.name, "-k", 9, *weights, "--proba", "--model-out", files("w.stope"), "-o",
            files("p.csv"))
    said = pd.read_csv(files("p.csv")).filter(like="confidence").to_numpy()
    np.testing.assert_array_equal(load(files("w.stope")).predict_proba(X), said)
    by_rows = KNeighborsClassifier(9, weights=y.map({0: 1.0, 1: 5.0, 2: 0.5}).to_numpy()).fit(X, y)
    np.testing.assert_array_equal(by_rows.predict_proba(X), said)


def test_another_vote_is_kept_by_pickles_and_files(iris, files):
    X, y = iris
    save(KNeighborsClassifier(9).fit(X, y), files("knn.stope"))
    model = load(files("knn.stope")).with_vote(2, "distance")
    save(model, files("vote.stope"))
    for kept in (pickle.loads(pickle.dumps(model)), load(files("vote.stope"))):
        assert kept.parameters_["n_neighbors"] == model.parameters_["n_neighbors"] == 2
        assert kept.parameters_["weights"] == model.parameters_["weights"] == "distance"
        assert np.array_equal(kept.predict_proba(X), model.predict_proba(X))
    assert load(files("knn.stope")).parameters_["n_neighbors"] == 9


def test_arrays_of_every_type_and_layout_are_predicted(iris, files):
    X, y = iris
    save(KNeighborsClassifier().fit(X.astype(np.float32), y), files("knn.stope"))
    model, rows = load(files("knn.stope")), X.to_numpy().round()
    expected = model.predict(rows)
    packed = np.zeros(150, dtype=[("row", "f8", (4,)), ("mark", "i1")])
    packed["row"] = rows
    for dtype in ("f2", ">f8", "f4", "u8", "i1", np.longdouble):
        assert np.array_equal(model.predict(rows.astype(dtype)), expected), dtype
    assert np.array_equal(model.predict(packed["row"]), expected)
    assert np.array_equal(model.predict(np.broadcast_to(rows[0], (5, 4))), expected[[0] * 5])
    masked, missing = np.ma.array(rows, mask=rows > 6), np.where(rows > 6, np.nan, rows)
    assert np.array_equal(model.predict_proba(masked), model.predict_proba(missing))
    assert not np.array_equal(model.predict_proba(masked), model.predict_proba(rows))


def test_a_path_that_the_system_would_cut_off_is_refused(iris, files):
    tree = LocalDiscretizationTreeClassifier().fit(*iris)
    save(tree, str(files("a.stope")).encode())
    before = files("a.stope").read_bytes()
    for path in (f"{files('a.stope')}\0b", f"{files('a')}\udcff"):
        for call in (load, read_table, read_cuts, lambda p: save(tree, p), lambda p: write_cuts(tree, p)):
            with pytest.raises(InvalidArgumentError, match="path"):
                call(path)
    assert files("a.stope").read_bytes() == before


def test_neighbours_without_a_label_are_lists(iris, files):
    X, _ = iris
    with job() as run:
        table = _core.Table.of_array(X.to_numpy(), list(X.columns), False, run)
        model = _core.Model.of_neighbors(
            table, metric="euclidean", metric_params={}, feature_weights=[], n_neighbors=3, weights="uniform",
            normalize="none", run=run,
        )
    save(model, files("lists.stope"))
    distances, indices = load(files("lists.stope")).kneighbors(X)
    assert distances.shape == indices.shape == (150, 3) and (distances[:, 0] == 0).all()
    assert indices[0, 0] == 0


def test_numbers_scores_and_scales_from_the_command_line_come_back(iris, files):
    X, y = make_regression(60, 3, noise=1, random_state=0)
    X, y = pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(y, name="y")
    path = written(X, files("t.csv"), y)
    rows = written(X, files("rows.csv"))
    command("lsq", path, "--target", "y", "--model-out", files("lsq.stope"), "-o", files("lsq.csv"))
    command("pca", rows, "--n-components", 2, "--model-out", files("pca.stope"), "-o", files("pca.csv"))
    command("normalize", rows, "--normalize", "z", "--model-out", files("z.stope"), "-o", files("z.csv"))
    column = [name for name in predicted(files("lsq.stope"), rows) if "prediction" in name][0]
    said = predicted(files("lsq.stope"), rows)[column]
    linear = load(files("lsq.stope"))
    assert np.array_equal(linear.predict(X), said)
    assert np.allclose(X @ linear.parameters_["coefficients"] + linear.parameters_["intercept"], said)
    assert "coefficient" in linear._repr_html_() and linear.parameters_["feature_names"] == ["a", "b", "c"]
    scores = predicted(files("pca.stope"), rows)[["pc1", "pc2"]].to_numpy()
    pca = load(files("pca.stope"))
    assert np.array_equal(pca.transform(X.to_numpy()), scores)
    assert pca.parameters_["components"].shape == (2, 3) and "share of the variance" in pca._repr_html_()
    scaled = predicted(files("z.stope"), rows)[["a", "b", "c"]].to_numpy()
    scales = load(files("z.stope"))
    assert np.array_equal(scales.transform(X), scaled)
    assert scales.parameters_["columns"][1]["name"] == "b" and "shift" in scales._repr_html_()


def test_models_survive_pickling_and_saving_again(mixed, files):
    X, y = mixed
    save(LocalDiscretizationTreeClassifier().fit(X, y), files("a.stope"))
    model = load(files("a.stope"))
    save(model, files("b.stope"))
    assert files("a.stope").read_bytes() == files("b.stope").read_bytes()
    copied = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copied.predict(X), model.predict(X))
    assert model._model.to_bytes() == files("a.stope").read_bytes()


def test_a_large_file_is_mapped_and_may_be_replaced(files):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 8))
    lists = NearestNeighbors(n_neighbors=2).fit(X)
    save(lists, files("large.stope"))
    assert files("large.stope").stat().st_size > 1 << 20
    model = load(files("large.stope"))
    with open("/proc/self/maps") as maps:
        assert any("large.stope" in line for line in maps)
    save(NearestNeighbors(n_neighbors=2).fit(X[:10]), files("large.stope"))
    assert np.array_equal(model.kneighbors(X[:5])[1], lists.kneighbors(X[:5])[1])


def test_the_examples_of_the_docstrings_are_true():
    for module in (stope.discretize, stope.io, stope.tree):
        tried = doctest.testmod(module)
        assert tried.attempted > 0 and tried.failed == 0


def test_damaged_files_and_wrong_questions_are_refused(mixed, files):
    X, y = mixed
    path = files("a.stope")
    save(LocalDiscretizationTreeClassifier().fit(X, y), path)
    model = load(path)
    good = path.read_bytes()
    for at in range(0, len(good), 97):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        with pytest.raises(StopeError):
            load(path)
    path.write_bytes(good[:-5])
    with pytest.raises(InvalidDataError):
        load(path)
    with pytest.raises(FileError):
        load(files("absent.stope"))
    with pytest.raises(InvalidArgumentError, match="gives classes"):
        model.transform(X)
    with pytest.raises(InvalidDataError, match="no column 'color'"):
        model.predict(X[["height"]])
    with pytest.raises(InvalidDataError, match="2 features"):
        model.predict(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="height|tall"):
        model.predict(X.assign(height="tall"))
    with pytest.raises(UnsupportedError, match="CutRanker"):
        save(CutRanker(), path)
    with pytest.raises(ValueError):
        save(LocalDiscretizationTreeClassifier(), path)
    with pytest.raises(TypeError):
        _core.Model.of_bytes("text", None)
    with pytest.raises(InvalidDataError):
        _core.Model.__new__(_core.Model).__setstate__(good[:100] + b"x" + good[101:])


def test_a_native_object_that_was_never_made_raises():
    for name, attribute in (("DecisionTree", "n_leaves"), ("Predictor", "gives"), ("Model", "kind")):
        kind = getattr(_core, name)
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(kind.__new__(kind), attribute)


def test_missing_predictions_are_none(mixed, files):
    X, y = mixed
    save(LocalDiscretizationTreeClassifier(missing="drop").fit(X, y), files("a.stope"))
    other = X.copy()
    other.loc[0, "height"] = np.nan
    other.loc[0, "color"] = None
    said = load(files("a.stope")).predict(other)
    assert said[0] is None and said[1] is not None


def test_cuts_go_through_json_files(mixed, files):
    X, y = mixed
    fitted = SupervisedDiscretizer().fit(X, y)
    write_cuts(fitted, files("cuts.json"))
    read = read_cuts(files("cuts.json"))
    assert read["color"] == fitted.cuts_[1] and np.array_equal(read["height"], fitted.cuts_[0])
    command("discretize", written(X, files("rows.csv")), "--apply", files("cuts.json"), "-o", files("coded.csv"))
    said = pd.read_csv(files("coded.csv"))
    assert said["height"].tolist() == [f"s{code + 1:.0f}" for code in fitted.transform(X)[:, 0]]
    tree = LocalDiscretizationTreeClassifier().fit(X, y)
    write_cuts(tree, files("cuts.json"))
    assert set(read_cuts(files("cuts.json"))) == set(tree.cuts_)
    with pytest.raises(UnsupportedError, match="CutRanker"):
        write_cuts(CutRanker().fit(X, y), files("cuts.json"))
    files("cuts.json").write_text('{"a": [2, 1]}')
    with pytest.raises(InvalidDataError):
        read_cuts(files("cuts.json"))


def test_a_table_that_is_written_is_read_again(mixed, files):
    X, _ = mixed
    write_table(X, files("t.csv.gz"))
    assert read_table(files("t.csv.gz")).to_pandas().astype({"color": str}).equals(X.astype({"color": str}))
    write_table(X[["height"]], files("t.npy"))
    assert np.array_equal(np.load(files("t.npy"))[:, 0], X["height"])
    with pytest.raises(FileError):
        write_table(X, files("absent") / "t.csv")


def test_views_escape_names(files):
    X = pd.DataFrame({"<script>": [0.0, 1.0]})
    save(LocalDiscretizationTreeClassifier().fit(X, ["<b>", "&"]), files("a.stope"))
    model = load(files("a.stope"))
    assert "<script" not in model._repr_html_() and "<b>" not in model._repr_html_()
    assert "decision tree" in repr(model)
    save(SupervisedDiscretizer().fit(X, ["<b>", "&"]), files("a.stope"))
    assert "&lt;script&gt;" in load(files("a.stope"))._repr_html_()


def test_a_table_is_read_as_its_options_say(files):
    path = files("t.csv")
    path.write_text("a;b;c\n1,5;x;2020-01-02\n2,5;;2020-01-03\n")
    table = read_table(path, separator=";", decimal=",", nominal="b", target="b", target_is_nominal=True, header=True)
    table = table._core_table
    assert table.n_rows == 2 and table.column(0).array().tolist() == [1.5, 2.5]
    assert table.column(1).role == "label" and table.column(1).array().tolist() == [0, -1]
    assert table.column(2).type == "date"
    with pytest.raises(InvalidArgumentError, match="separators"):
        read_table(path, separators=";")
    with pytest.raises(InvalidArgumentError, match="one character"):
        read_table(path, separator="::")
    with pytest.raises(FileError):
        read_table(files("absent.csv"))
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(InvalidDataError) as raised:
        read_table(path)
    assert raised.value.line == 3 and raised.value.file.endswith("t.csv")
    with pytest.raises(InvalidArgumentError, match="skip_lines"):
        read_table(path, skip_lines="many")


def test_a_table_from_a_file_is_what_the_command_line_sees(mixed, files):
    X, y = mixed
    path = written(X, files("t.csv"), y)
    table = read_table(path)
    assert np.array_equal(table.to_pandas()["height"], X["height"])
    table = table._core_table
    info = stope_json("info", path, "--json")
    assert table.n_rows == 100 and [table.column(i).name for i in range(3)] == ["height", "color", "play"]
    assert "100" in str(info)




@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_from_python_predict_on_the_command_line(weights, iris, mixed, files):
    for X, y in (iris, mixed):
        model = KNeighborsClassifier(4, weights=weights).fit(X, y)
        save(model, files("knn.stope"))
        said = predicted(files("knn.stope"), written(X, files("rows.csv")))
        column = next(name for name in said if "prediction" in name)
        assert said[column].astype(str).tolist() == [str(value) for value in model.predict(X)]
        loaded = load(files("knn.stope"))
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_neighbours_of_numbers_and_of_nothing_are_saved_too(iris, files):
    X, _ = iris
    X, y = X.to_numpy()[:, :3], X.to_numpy()[:, 3]
    row_weights = np.linspace(1, 2, len(y))
    for weights in ("uniform", row_weights):
        regressor = KNeighborsRegressor(3, weights=weights, metric="manhattan", feature_weights=[1, 2, 0.5]).fit(X, y)
        save(regressor, files("knn.stope"))
        assert np.array_equal(load(files("knn.stope")).predict(X), regressor.predict(X))
    lists = NearestNeighbors(n_neighbors=4, p=3).fit(X)
    save(lists, files("knn.stope"))
    for mine, theirs in zip(load(files("knn.stope")).kneighbors(X), lists.kneighbors(X)):
        assert np.array_equal(mine, theirs)


def test_neighbours_that_no_file_holds_are_refused(iris, files):
    X, y = iris
    refused = [
        (KNeighborsClassifier(weights=lambda d: 1 / (1 + d)), y),
        (KNeighborsClassifier(metric=lambda a, b: abs(a - b).sum()), y),
        (RadiusNeighborsClassifier(radius=9.0), y),
        (KNeighborsClassifier(), np.column_stack((y, y))),
        (KNeighborsRegressor(), X.to_numpy()[:, :2]),
    ]
    for estimator, target in refused:
        with pytest.raises(UnsupportedError, match="model file holds"):
            save(estimator.fit(X, target), files("knn.stope"))
    with pytest.raises(UnsupportedError, match="sample_weight"):
        save(KNeighborsClassifier().fit(X, y, sample_weight=np.ones(150)), files("knn.stope"))
    with pytest.raises(ValueError, match="fitted"):
        save(KNeighborsClassifier(), files("knn.stope"))


def test_estimators_of_numbers_save_what_the_command_line_reads(iris, files):
    X, _ = iris
    pca = PCA(2).fit(X)
    save(pca, files("pca.stope"))
    said = predicted(files("pca.stope"), written(X, files("rows.csv")))
    assert np.allclose(said[["pc1", "pc2"]], pca.transform(X), rtol=1e-12, atol=1e-12)
    linear = LinearRegression().fit(X[["a", "b"]], X["c"])
    save(linear, files("lsq.stope"))
    assert np.allclose(load(files("lsq.stope")).predict(X), linear.predict(X[["a", "b"]]), rtol=1e-12)
