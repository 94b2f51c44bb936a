import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from stope import (
    PCA, CutRanker, LocalDiscretizationTreeClassifier, NearestNeighbors, SupervisedDiscretizer, Table, load, plot, save,
)
from stope.errors import InvalidArgumentError


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(params=["default", "dark_background"])
def style(request):
    with plt.style.context(request.param):
        yield request.param


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, pd.Series(data.target_names[data.target], name="species")


def rendered(ax, tmp_path):
    """Draws the figure, and checks that something is on it."""
    path = tmp_path / "picture.png"
    ax.figure.savefig(path, dpi=50)
    image = plt.imread(path)
    assert image[..., :3].std() > 0.02
    return image


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_tree_shows_its_tests_its_cuts_and_its_leaves(iris, style, tmp_path):
    tree = LocalDiscretizationTreeClassifier().fit(*iris)
    ax = plot.plot_tree(tree)
    rendered(ax, tmp_path)
    said = texts(ax)
    assert len([text for text in said if "rows" in text]) == tree.tree_.node_count
    assert "petal length (cm)\n150 rows" in said and "setosa\n50 rows" in said
    assert "< 2.45" in said and "≥ 2.45" in said
    boxes = {text.get_position() for text in ax.texts if "rows" in text.get_text()}
    assert len(boxes) == tree.tree_.node_count


def test_a_tree_can_be_cut_off(iris):
    ax = plot.plot_tree(LocalDiscretizationTreeClassifier().fit(*iris), max_depth=1)
    assert sum("rows" in text for text in texts(ax)) == 3
    assert any("…" in text for text in texts(ax))


def test_a_tree_of_one_leaf_is_drawn(tmp_path):
    rendered(plot.plot_tree(LocalDiscretizationTreeClassifier().fit([[1.0], [1.0]], ["a", "a"])), tmp_path)


def test_nominal_tests_and_hostile_names_are_drawn_as_they_are(tmp_path):
    X = pd.DataFrame({"$\\frac{": ["$a", "b", "$a", "b"]})
    tree = LocalDiscretizationTreeClassifier().fit(X, ["$x$", "_{", "$x$", "_{"])
    ax = plot.plot_tree(tree)
    rendered(ax, tmp_path)
    assert any(text.startswith("= ") for text in texts(ax)) and any(text.startswith("≠ ") for text in texts(ax))


@pytest.mark.parametrize("make", [SupervisedDiscretizer, CutRanker, LocalDiscretizationTreeClassifier])
def test_cuts_are_lines_over_the_classes(make, iris, style, tmp_path):
    X, y = iris
    fitted = make().fit(X, y)
    ax = plot.plot_cuts(fitted, X, y, "petal length (cm)", bins=20)
    rendered(ax, tmp_path)
    cuts = fitted.cuts_["petal length (cm)"] if isinstance(fitted.cuts_, dict) else np.atleast_1d(fitted.cuts_[2])
    lines = [line.get_xdata()[0] for line in ax.lines]
    assert lines == list(cuts)
    assert sum(bar.get_height() for bar in ax.patches if isinstance(bar, plt.Rectangle)) == 150
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]
    assert ax.get_xlabel() == "petal length (cm)"


def test_a_nominal_feature_has_a_bar_a_value(tmp_path):
    X = pd.DataFrame({"color": ["red", "red", "blue", "green", None]})
    y = ["yes", "yes", "no", "no", "no"]
    ax = plot.plot_cuts(SupervisedDiscretizer(missing="value").fit(X, y), X, y, "color")
    rendered(ax, tmp_path)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["red", "blue", "green"]
    assert sum(bar.get_height() for bar in ax.patches) == 4 and len(ax.lines) == 1


def test_a_feature_that_is_not_there_is_refused(iris):
    fitted = SupervisedDiscretizer().fit(*iris)
    for feature in ("petal", 4, -1, 1.5):
        with pytest.raises(InvalidArgumentError, match="feature"):
            plot.plot_cuts(fitted, *iris, feature)


def test_a_column_is_found_by_its_place_where_the_names_differ(iris):
    X, y = iris
    fitted = SupervisedDiscretizer().fit(X.to_numpy(), y)
    for rows in (X, X.to_numpy(), X.to_numpy().tolist(), Table(X)):
        ax = plot.plot_cuts(fitted, rows, y, 2)
        assert [line.get_xdata()[0] for line in ax.lines] == list(fitted.cuts_[2])
        assert sum(bar.get_height() for bar in ax.patches if isinstance(bar, plt.Rectangle)) == 150


def test_what_no_picture_can_show_is_refused(iris):
    with pytest.raises(InvalidArgumentError, match="max_depth"):
        plot.plot_tree(LocalDiscretizationTreeClassifier().fit(*iris), max_depth=-1)
    with pytest.raises(InvalidArgumentError, match="folds"):
        plot.plot_accuracy_over_k(*iris, n_folds=0)
    with pytest.raises(InvalidArgumentError, match="feature_weights"):
        plot.explain_neighbor([1.0, 2.0], [2.0, 3.0], feature_weights=[1.0])


def test_a_confusion_matrix_counts_rows(style, tmp_path):
    truth = np.array(["a", "a", "b", "b", "c"])
    guess = np.array(["a", "b", "b", "b", None], dtype=object)
    ax = plot.plot_confusion_matrix(truth, guess)
    rendered(ax, tmp_path)
    cells = np.array([int(text) for text in texts(ax)]).reshape(3, 4)
    assert cells.tolist() == [[1, 1, 0, 0], [0, 2, 0, 0], [0, 0, 0, 1]]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c", "none"]
    shares = texts(plot.plot_confusion_matrix(truth, guess, normalize="true"))
    assert shares[:2] == ["0.50", "0.50"]
    with pytest.raises(InvalidArgumentError, match="normalize"):
        plot.plot_confusion_matrix(truth, guess, normalize="all")
    with pytest.raises(InvalidArgumentError, match="shapes"):
        plot.plot_confusion_matrix(truth, guess[:2])


@pytest.mark.parametrize("n_classes", [2, 3, 5, 6, 12])
def test_long_names_of_classes_do_not_touch(n_classes):
    names = [f"a class of number {number}" for number in range(n_classes)]
    ax = plot.plot_confusion_matrix(names, names)
    ax.figure.canvas.draw()
    labels = ax.get_xticklabels()
    angles = [label.get_rotation() for label in labels]
    assert angles == [45] * n_classes and {label.get_ha() for label in labels} == {"right"}
    apart = np.diff([ax.transData.transform((place, 0))[0] for place in range(n_classes)])
    height = labels[0].get_fontsize() * ax.figure.dpi / 72
    assert (apart * np.sin(np.pi / 4) > height).all()  # from one slanted line to the next
    assert [label.get_rotation() for label in plot.plot_confusion_matrix([0, 1], [0, 1]).get_xticklabels()] == [0, 0]


def test_classes_of_several_types_and_missing_predictions_have_a_place():
    ax = plot.plot_confusion_matrix([1, "a", "b"], pd.Series([1, "a", pd.NA]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "a", "b", "none"]
    for truth in ([], [None, "a"], [np.nan, 1.0]):
        with pytest.raises(InvalidArgumentError, match="y_true"):
            plot.plot_confusion_matrix(truth, truth)


def test_a_target_of_numbers_is_named_as_no_column():
    X = pd.DataFrame({"target": np.arange(20.0), "target target": np.arange(20.0), "target_": 0.0})
    assert plot.plot_accuracy_over_k(X, np.arange(20) + 0.5, [1], n_folds=2).get_ylabel() == "RMSE"


def test_accuracy_over_k_is_that_of_leave_one_out(iris, style, tmp_path):
    X, y = iris
    ax = plot.plot_accuracy_over_k(X, y, [9, 1, 3], scheme="leave-one-out")
    rendered(ax, tmp_path)
    ks, scores = ax.lines[0].get_data()
    assert ks.tolist() == [1, 3, 9]
    distances = np.linalg.norm(X.to_numpy()[:, None] - X.to_numpy()[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    codes = np.unique(y, return_inverse=True)[1]
    for k, score in zip(ks, scores):
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
        votes = np.array([np.bincount(codes[row], minlength=3).argmax() for row in nearest])
        assert abs(score - (votes == codes).mean()) < 0.02  # sums in another order may tie differently
    assert "k = " in texts(ax)[0]


def test_accuracy_over_k_has_a_band_and_its_default_ks(iris, tmp_path):
    ax = plot.plot_accuracy_over_k(*iris, n_folds=5)
    rendered(ax, tmp_path)
    assert ax.lines[0].get_xdata().tolist() == list(range(1, 32, 2)) and len(ax.collections) == 1
    assert ax.collections[0].get_datalim(ax.transData).ymax == 1
    X = pd.DataFrame({"color": ["red", "blue"] * 10, "size": [0.0] * 20})
    mixed = plot.plot_accuracy_over_k(X, ["a", "b"] * 10, n_folds=2)
    assert mixed.lines[0].get_xdata().max() == 9 and mixed.lines[0].get_ydata()[0] == 1


def test_numbers_have_an_rmse_over_k(tmp_path):
    X = np.linspace(0, 1, 40)[:, None]
    ax = plot.plot_accuracy_over_k(X, np.sin(X[:, 0]), [1, 20], n_folds=4)
    rendered(ax, tmp_path)
    assert ax.get_ylabel() == "RMSE" and ax.lines[0].get_ydata()[0] < ax.lines[0].get_ydata()[1]


def test_a_neighbour_is_explained_by_its_features(style, tmp_path):
    query = pd.Series({"height": 1.0, "color": "red", "age": pd.NA, "same": 5.0})
    neighbor = pd.Series({"height": 3.0, "color": "blue", "age": 3.0, "same": 5.0})
    ax = plot.explain_neighbor(query, neighbor, metric="mixed-euclidean")
    rendered(ax, tmp_path)
    assert [bar.get_width() for bar in ax.patches] == [0.8, 0.2, 0.0, 0.0]
    assert ax.get_yticklabels()[0].get_text() == "height: 1 | 3"
    assert f"{np.sqrt(5):.4g}" in ax.get_title()
    weighted = plot.explain_neighbor(query, neighbor, metric="mixed-euclidean", feature_weights=[0, 1, 1, 1])
    assert [bar.get_width() for bar in weighted.patches] == [1.0, 0.0, 0.0, 0.0]
    many = plot.explain_neighbor(np.arange(30.0), np.zeros(30), metric="manhattan", max_features=5)
    assert len(many.patches) == 6 and "25 others" in many.get_yticklabels()[5].get_text()
    assert np.isclose(sum(bar.get_width() for bar in many.patches), 1)
    with pytest.raises(InvalidArgumentError, match="metric"):
        plot.explain_neighbor([1.0], [2.0], metric="cosine")
    with pytest.raises(InvalidArgumentError, match="shapes"):
        plot.explain_neighbor([1.0], [2.0, 3.0])


def test_the_neighbour_that_an_estimator_finds_is_explained(iris):
    X, _ = iris
    numbers = NearestNeighbors(feature_weights=[1, 2, 3, 4]).fit(X)
    mixed = NearestNeighbors().fit(X.assign(color=["red", "blue"] * 75))
    row = X.iloc[7] + 0.3
    for model, query in ((numbers, row), (mixed, pd.concat((row, pd.Series({"color": "green"}))))):
        ax = plot.explain_neighbor(query, 2, estimator=model)
        distances = model.kneighbors(query.to_frame().T.infer_objects(), 3)[0]
        assert f"distance {distances[0, 2]:.4g} " in ax.get_title()
        assert np.isclose(sum(bar.get_width() for bar in ax.patches), 1)
    ax = plot.explain_neighbor(X.to_numpy()[3], estimator=NearestNeighbors(metric="manhattan").fit(X.to_numpy()))
    assert "distance 0 (manhattan)" in ax.get_title()
    with pytest.raises(InvalidArgumentError, match="cosine"):
        plot.explain_neighbor(X.to_numpy()[3], estimator=NearestNeighbors(metric="cosine").fit(X.to_numpy()))


def test_two_equal_rows_have_no_bars(tmp_path):
    rendered(plot.explain_neighbor([1.0, 2.0], [1.0, 2.0]), tmp_path)


def test_a_scree_plot_shows_shares_and_their_sum(iris, style, tmp_path):
    fitted = PCA().fit(iris[0])
    ax = plot.plot_scree(fitted, max_components=3)
    rendered(ax, tmp_path)
    save(fitted, tmp_path / "pca.stope")
    read = plot.plot_scree(load(tmp_path / "pca.stope"), max_components=3)
    assert [bar.get_height() for bar in read.patches] == [bar.get_height() for bar in ax.patches]
    assert np.allclose([bar.get_height() for bar in ax.patches], fitted.explained_variance_ratio_[:3])
    assert np.allclose(ax.lines[0].get_ydata(), np.cumsum(fitted.explained_variance_ratio_[:3]))


def test_pictures_take_given_axes(iris):
    _, ax = plt.subplots()
    assert plot.plot_tree(LocalDiscretizationTreeClassifier().fit(*iris), ax=ax) is ax
    assert plot.plot_confusion_matrix([0, 1], [0, 1], ax=ax) is ax


def test_the_module_of_pictures_is_found_without_its_import():
    program = "import stope; assert callable(stope.plot.plot_tree); assert 'plot' in dir(stope); print('found')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "found", done.stderr


def test_without_matplotlib_the_error_says_what_to_install():
    program = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "from stope import plot\n"
        "try:\n"
        "    plot.plot_confusion_matrix([0, 1], [0, 1])\n"
        "except ImportError as error:\n"
        "    assert 'pip install matplotlib' in str(error), error\n"
        "    print('said')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "said", done.stderr
