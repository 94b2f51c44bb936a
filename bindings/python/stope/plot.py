"""Pictures of trees, cuts, scores and neighbours, drawn with Matplotlib.

Each function takes ``ax``, the axes to draw on (None makes new ones), and returns the axes. Text and lines take the
colours of Matplotlib's style, so pictures fit light and dark pages.
"""

from numbers import Integral

import numpy as np

from . import _core
from ._axes import axes, background, class_colors, ink, number, plain, pyplot, text_on, tidy
from ._base import StopeEstimator, check_is_fitted
from ._classes import Classes, free_name, seed_of, training_table
from ._columns import is_missing
from ._data import check_X
from ._plot_neighbors import explain_neighbor
from ._run import job
from .errors import InvalidArgumentError

__all__ = [
    "explain_neighbor", "plot_accuracy_over_k", "plot_confusion_matrix", "plot_cuts", "plot_scree", "plot_tree",
]


# --- trees ------------------------------------------------------------------------------------------------------------


def _tree_places(nodes, shown):
    """The place of every node that is shown: leaves side by side, each node above the middle of its children."""
    x = {}
    n_leaves = 0
    for node in reversed(range(nodes.node_count)):  # children come after their parents, the right ones last
        if not shown[node]:
            continue
        left, right = nodes.children_left[node], nodes.children_right[node]
        if left >= 0 and shown[left]:
            x[node] = (x[left] + x[right]) / 2
        else:
            x[node] = -n_leaves
            n_leaves += 1
    return {node: place + n_leaves - 1 for node, place in x.items()}, n_leaves


def _branch_texts(nodes, node, value_format):
    category = nodes.category[node]
    if category is not None:
        return f"≠ {plain(category, 16)}", f"= {plain(category, 16)}"
    cut = nodes.threshold[node]
    if np.isneginf(cut):
        return "missing", "present"
    return f"< {value_format(cut)}", f"≥ {value_format(cut)}"


def _font_size(ax, n_leaves, of_leaves, of_tests):
    """Points at which boxes side by side do not touch. ``of_leaves`` and ``of_tests`` are the letters of their texts."""
    width = 72 * ax.get_window_extent().width / ax.figure.dpi / (n_leaves + 0.4)
    letters = max(9, *of_leaves, *(0.7 * n_letters for n_letters in of_tests))  # tests lie further apart than leaves
    return min(9.0, max(4.0, width / (0.62 * letters + 1.2)))


def plot_tree(tree, *, max_depth=None, value_format=number, ax=None):
    """Draw a fitted tree: what each node tests, and the rows and the class of each leaf.

    Parameters
    ----------
    tree : LocalDiscretizationTreeClassifier
    max_depth : int or None
        Deeper nodes are left out; a node whose children are left out ends in "…".
    value_format : callable
        Makes a str of a cut.
    ax : matplotlib axes or None
    """
    check_is_fitted(tree)
    if max_depth is not None and max_depth < 0:
        raise InvalidArgumentError(f"max_depth: {max_depth} is below 0")
    nodes = tree.tree_
    shown = nodes.depth <= (nodes.max_depth if max_depth is None else max_depth)
    places, n_leaves = _tree_places(nodes, shown)
    depth = int(nodes.depth[shown].max())
    ax = axes(ax, figsize=(max(3.0, 1.5 * n_leaves), max(1.6, 1.25 * (depth + 1))))
    colors = class_colors(len(tree.classes_))
    behind = background(ax)
    names = [attribute["name"] for attribute in tree._model.fitted.attributes()]
    letters_of = [[len(plain(text, 18)) for text in texts] for texts in (tree.classes_, names)]
    size = _font_size(ax, n_leaves, *letters_of)
    for node, x in places.items():
        y = -int(nodes.depth[node])
        left, right = nodes.children_left[node], nodes.children_right[node]
        if left in places:
            for child, text in zip((left, right), _branch_texts(nodes, node, value_format)):
                ax.plot([x, places[child]], [y, y - 1], color=ink(), alpha=0.45, linewidth=1, zorder=1)
                ax.text(
                    (x + places[child]) / 2, y - 0.55, text, ha="center", va="center", fontsize=0.9 * size, zorder=2,
                    bbox={"facecolor": behind, "edgecolor": "none", "pad": 1.5},
                )
        majority = nodes.majority[node]
        n_rows = f"{nodes.n_node_samples[node]:,} rows"
        if left < 0:
            share = nodes.value[node, majority] / max(nodes.value[node].sum(), 1e-300)
            face = (*pyplot().matplotlib.colors.to_rgb(colors[majority]), 0.25 + 0.6 * share)
            text, letters = f"{plain(tree.classes_[majority], 18)}\n{n_rows}", text_on(face, behind)
        else:
            face, letters = behind, ink()
            more = "" if left in places else " …"
            text = f"{plain(names[nodes.feature[node]], 18)}{more}\n{n_rows}"
        box = {"boxstyle": "round,pad=0.4", "facecolor": face, "edgecolor": ink(), "linewidth": 0.8}
        ax.text(x, y, text, ha="center", va="center", fontsize=size, color=letters, bbox=box, zorder=3)
    ax.set_xlim(-0.7, n_leaves - 0.3)
    ax.set_ylim(-depth - 0.5, 0.5)
    ax.set_axis_off()
    return ax


# --- cuts -------------------------------------------------------------------------------------------------------------


def _place_of(estimator, feature):
    names = getattr(estimator, "feature_names_in_", None)
    if isinstance(feature, str):
        names = [f"x{i}" for i in range(estimator.n_features_in_)] if names is None else list(names)
        if feature not in names:
            raise InvalidArgumentError(f"feature: there is no column {feature!r}")
        return names.index(feature), feature
    if not isinstance(feature, Integral) or not 0 <= feature < estimator.n_features_in_:
        raise InvalidArgumentError(f"feature: {feature!r} is not from 0 to {estimator.n_features_in_ - 1}")
    return int(feature), f"x{feature}" if names is None else names[feature]


def _cuts_of(estimator, place, name):
    cuts = estimator.cuts_
    found = cuts.get(name, ()) if isinstance(cuts, dict) else cuts[place]
    if found is None:
        return []
    return [found] if isinstance(found, (float, str)) else list(found)


def _values_of(X, place, name):
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):
        columns = list(getattr(X, "column_names", X.columns))
        return np.asarray(X[name if name in columns else columns[place]])
    X = np.asarray(X)
    return X[:, place] if X.ndim == 2 else X


def plot_cuts(estimator, X, y, feature=0, *, bins=40, ax=None):
    """Draw the cuts of one feature over the histograms of the classes.

    Parameters
    ----------
    estimator : SupervisedDiscretizer, CutRanker or LocalDiscretizationTreeClassifier
        Fitted.
    X, y : the rows and their classes, such as those it was fitted with
        X of one dimension is the feature itself.
    feature : int or str, default=0
    bins : int, default=40
        Bins of the histogram of a numeric feature. A nominal one has a bar a value.
    ax : matplotlib axes or None
    """
    check_is_fitted(estimator)
    place, name = _place_of(estimator, feature)
    values = _values_of(X, place, name)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    cuts = _cuts_of(estimator, place, name)
    ax = axes(ax, figsize=(6.4, 3.6))
    colors = class_colors(len(classes))
    if values.dtype.kind in "fiub":
        numbers = values.astype(float)
        finite = np.isfinite(numbers)
        ax.hist(
            [numbers[finite & (codes == k)] for k in range(len(classes))], bins=bins, stacked=True, color=colors,
            label=[plain(one) for one in classes], alpha=0.85,
        )
        for cut in cuts:
            if np.isfinite(cut):
                ax.axvline(cut, color=ink(), linestyle="--", linewidth=1)
                ax.annotate(
                    number(cut), (cut, 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
                    textcoords="offset points", ha="center", fontsize=8,
                )
    else:
        _bars_of_values(ax, values, classes, codes, colors, cuts)
    ax.set_xlabel(plain(name))
    ax.set_ylabel("rows")
    ax.legend(frameon=False, title=plain(getattr(y, "name", None) or "class"))
    tidy(ax)
    return ax


def _bars_of_values(ax, values, classes, codes, colors, cuts):
    """Bars of a nominal feature; values with a code of their own stand first, a line divides them from the others."""
    present = sorted({str(value) for value in values if not is_missing(value)})
    present = [value for value in cuts if value in present] + [value for value in present if value not in cuts]
    texts = np.array([str(value) for value in values])
    bottom = np.zeros(len(present))
    for k, color in enumerate(colors):
        counts = np.array([np.count_nonzero((texts == value) & (codes == k)) for value in present])
        ax.bar(range(len(present)), counts, bottom=bottom, color=color, label=plain(classes[k]), alpha=0.85)
        bottom += counts
    ax.set_xticks(range(len(present)), [plain(value, 14) for value in present])
    ax.margins(y=0.12)
    n_own = sum(value in cuts for value in present)
    for place in range(1, min(n_own, len(present) - 1) + 1):
        ax.axvline(place - 0.5, color=ink(), linestyle="--", linewidth=1)


# --- scores -----------------------------------------------------------------------------------------------------------

_LETTERS_OF_A_CELL = 8  # of a class's name that stands upright below its column


def _in_order(labels):
    """The labels sorted; those of different types by type."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def plot_confusion_matrix(y_true, y_pred, *, labels=None, normalize=None, ax=None):
    """Draw how many rows of each true class were predicted as each class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rows,)
        None or NaN as a prediction has a column of its own, "none".
    labels : list or None
        The classes, in order; None takes those that occur, sorted.
    normalize : {"true", None}, default=None
        "true": cells are shares of the rows of their true class.
    ax : matplotlib axes or None
    """
    if normalize not in (None, "true"):
        raise InvalidArgumentError(f"normalize: {normalize!r} is neither 'true' nor None")
    y_true, y_pred = np.asarray(y_true, dtype=object), np.asarray(y_pred, dtype=object)
    if y_true.shape != y_pred.shape or y_true.ndim != 1:
        raise InvalidArgumentError(f"y_true and y_pred have the shapes {y_true.shape} and {y_pred.shape}")
    if len(y_true) == 0 or any(map(is_missing, y_true)):
        raise InvalidArgumentError("y_true has no rows" if len(y_true) == 0 else "y_true has a missing value")
    absent = np.array([is_missing(value) for value in y_pred], dtype=bool)
    if labels is None:
        labels = _in_order({*y_true.tolist(), *y_pred[~absent].tolist()})
    place = {label: index for index, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels) + 1), dtype=np.int64)
    for truth, guess, none in zip(y_true.tolist(), y_pred.tolist(), absent.tolist()):
        if truth in place and (none or guess in place):
            counts[place[truth], len(labels) if none else place[guess]] += 1
    names = [plain(label, 16) for label in labels]
    if not counts[:, -1].any():
        counts = counts[:, :-1]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = max(3.2, 0.55 * len(labels) + 1.6)
    ax = axes(ax, figsize=(size, size))
    image = ax.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    if len(labels) <= 30:
        for (row, column), share in np.ndenumerate(shares):
            text = f"{share:.2f}" if normalize else f"{counts[row, column]:,}"
            letters = text_on(image.cmap(image.norm(share)), "white")
            ax.text(column, row, text, ha="center", va="center", color=letters, fontsize=9)
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    fits = len(names) <= 5 and max(map(len, names), default=0) <= _LETTERS_OF_A_CELL
    ax.set_xticks(range(counts.shape[1]), (names + ["none"])[: counts.shape[1]], **({} if fits else slanted))
    ax.set_yticks(range(len(labels)), names)
    ax.set_xlabel("predicted class")
    ax.set_ylabel("true class")
    return ax


class _AnyEstimator(StopeEstimator):
    """Stands in for an estimator where a function checks X."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _evaluation(X, y, ks, metric, weights, normalize, scheme, n_folds, holdout, random_state, missing, categorical):
    stand_in = _AnyEstimator()
    rows = check_X(stand_in, X, reset=True, categorical_features=categorical, missing=missing)
    numbers = np.asarray(y)
    regression = numbers.dtype.kind == "f" and not np.array_equal(numbers, np.floor(numbers))
    if metric == "auto":
        metric = "euclidean" if rows.array is not None else "mixed-euclidean"
    with job() as run:
        table = rows.as_table(run, share=True)
        if regression:
            columns = [table.column(index) for index in range(table.n_columns)]
            name = free_name("target", [column.name for column in columns])
            label = _core.Column.numeric(name, numbers, run=run)
            label.role = "label"
            table = _core.Table.of_columns([*columns, label], rows.n_rows)
        else:
            table = training_table(table, Classes(y, rows.n_rows, stand_in), None, run)
        return _core.evaluate_knn(
            table, metric=metric, metric_params={}, feature_weights=[], normalize=normalize, weights=weights,
            scheme=scheme, n_folds=n_folds, holdout=holdout, seed=seed_of(random_state), ks=ks, run=run,
        )


def plot_accuracy_over_k(
    X, y, ks=None, *, metric="auto", weights="uniform", normalize="none", scheme="cross-validation", n_folds=10,
    holdout=0.3, random_state=0, missing="error", categorical_features="from_dtype", ax=None,
):
    """Draw the score of k-NN for each k: accuracy for classes, RMSE for numbers. One search a fold serves every k.

    Parameters
    ----------
    X, y : the rows and their labels
        A floating-point y that is not whole makes it regression.
    ks : list of int or None
        None takes 1, 3, 5, ... up to 31, or as far as the training parts reach.
    metric, weights : str
        As in KNeighborsClassifier.
    normalize : {"none", "range", "z", "proportion", "interquartile"}, default="none"
        Fitted to each fold's training rows.
    scheme : {"cross-validation", "hold-out", "leave-one-out"}, default="cross-validation"
    n_folds, holdout, random_state
        The folds of a cross-validation, the share of a hold-out, and the seed of both.
    missing : {"error", "skip"}, default="error"
        "error" refuses missing values. "skip" hands them to the metric, which must take them.
    categorical_features : "from_dtype", mask, list of names or indices, or None, default="from_dtype"
        Which columns are nominal.
    ax : matplotlib axes or None

    Notes
    -----
    The band is the standard deviation of the folds' scores. The dot marks the best k, the smallest of equal ones.
    """
    n_rows = len(y)
    if ks is None:
        smallest = {"leave-one-out": n_rows - 1, "hold-out": int(n_rows * (1 - holdout))}.get(
            scheme, n_rows - -(-n_rows // max(n_folds, 1))  # the engine refuses less
        )
        ks = [k for k in range(1, 32, 2) if k <= smallest]
    ks = sorted(int(k) for k in ks)
    found = _evaluation(
        X, y, ks, metric, weights, normalize, scheme, n_folds, holdout, random_state, missing, categorical_features
    )
    score = "accuracy" if found["nominal"] else "rmse"
    scores = np.array([one[score] for one in found["of_k"]])
    ax = axes(ax, figsize=(6.0, 3.6))
    (line,) = ax.plot(ks, scores, marker="o", markersize=4, linewidth=1.5)
    deviations = [np.std(one["fold_scores"]) if len(one["fold_scores"]) > 1 else 0.0 for one in found["of_k"]]
    if any(deviations):
        low, high = np.maximum(scores - deviations, 0), scores + deviations
        if found["nominal"]:
            high = np.minimum(high, 1)
        ax.fill_between(ks, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    best = found["best"]
    ax.plot(ks[best], scores[best], marker="o", markersize=9, color=line.get_color())
    ax.annotate(
        f"k = {ks[best]}: {scores[best]:.4f}", (ks[best], scores[best]), xytext=(8, 8), textcoords="offset points"
    )
    ax.set_xlabel("number of neighbours k")
    ax.set_ylabel("accuracy" if found["nominal"] else "RMSE")
    ax.grid(alpha=0.25)
    tidy(ax)
    return ax


# --- components --------------------------------------------------------------------------------------------------------


def plot_scree(pca, *, max_components=30, ax=None):
    """Draw the share of the variance that each component explains, and their running sum.

    Parameters
    ----------
    pca : PCA, TruncatedSVD or Model
        Fitted, or read from a file.
    max_components : int, default=30
    ax : matplotlib axes or None
    """
    if hasattr(pca, "parameters_"):
        shares = pca.parameters_.get("explained_variance_ratio")
        if shares is None:
            raise InvalidArgumentError(f"pca: {pca!r} has no components")
    else:
        check_is_fitted(pca)
        shares = pca.explained_variance_ratio_
    shares = np.asarray(shares)[:max_components]
    numbers = np.arange(1, len(shares) + 1)
    ax = axes(ax, figsize=(6.0, 3.6))
    ax.bar(numbers, shares, alpha=0.85, label="of each component")
    ax.plot(numbers, np.cumsum(shares), marker="o", markersize=4, color=ink(), linewidth=1.2, label="together")
    ax.set_ylim(0, 1.05)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("component")
    ax.set_ylabel("share of the variance")
    ax.legend(frameon=False)
    tidy(ax)
    return ax
