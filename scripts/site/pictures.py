#!/usr/bin/env python3
"""Draws the pictures of the gallery from real runs: pictures.py PROJECT FOLDER.

Each function below is one entry: its first line of documentation is the title, the rest the caption, its body the code
that the page shows. It returns the axes that it has drawn on.
"""

import inspect
import os
import pathlib
import sys
import textwrap

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import pandas as pd

import stope
from stope import plot

SETTINGS = {"svg.hashsalt": "stope", "svg.fonttype": "path", "font.size": 10, "figure.facecolor": "white"}


def tree():
    """A decision tree

    Every node tests one column, and the colour of a leaf is its class. The cuts are those that separate the most pairs
    of rows of different classes.
    """
    iris = pd.read_csv("iris-train.csv")
    model = stope.LocalDiscretizationTreeClassifier(min_samples_leaf=3)
    model.fit(iris.drop(columns="species"), iris["species"])
    return plot.plot_tree(model)


def mixed_tree():
    """A tree of mixed columns with gaps

    Labour negotiations: words and numbers, a third of the cells missing. A missing value may be a branch of its own.
    """
    labor = pd.read_csv("labor.csv")
    model = stope.LocalDiscretizationTreeClassifier(min_samples_leaf=2, missing="value")
    model.fit(labor.drop(columns="class"), labor["class"])
    return plot.plot_tree(model)


def cuts():
    """Cuts over the histograms of the classes

    Supervised discretisation cuts a column where the classes change. Here MDLP has decided how many cuts are worth it.
    """
    iris = pd.read_csv("iris.csv")
    X, y = iris.drop(columns="species"), iris["species"]
    cuts = stope.SupervisedDiscretizer(method="mdlp").fit(X, y)
    return plot.plot_cuts(cuts, X, y, feature="petal_length")


def confusion_matrix():
    """A confusion matrix

    Rows are true classes, columns are predictions, colours are shares of the true class.
    """
    train, test = pd.read_csv("labor-train.csv"), pd.read_csv("labor-test.csv")
    model = stope.KNeighborsClassifier(n_neighbors=3, metric="gower")
    model.fit(train.drop(columns="class"), train["class"])
    return plot.plot_confusion_matrix(test["class"], model.predict(test.drop(columns="class")))


def accuracy_over_k():
    """Accuracy over k

    Ten folds of a table with gaps. One search a fold serves every k; the band is the deviation of the folds.
    """
    labor = pd.read_csv("labor.csv")
    return plot.plot_accuracy_over_k(labor.drop(columns="class"), labor["class"], metric="gower", missing="skip")


def neighbor():
    """A neighbour explained

    Which attribute contributed how much to the distance of two flowers.
    """
    iris = pd.read_csv("iris.csv").drop(columns="species")
    index = stope.NearestNeighbors(n_neighbors=2).fit(iris)
    nearest = index.kneighbors(iris.iloc[[106]], return_distance=False)[0]
    other = nearest[nearest != 106][0]
    return plot.explain_neighbor(iris.iloc[106], iris.iloc[other])


def scree():
    """A scree plot

    How much of the variance each principal component explains, and all of them so far.
    """
    from sklearn.datasets import load_wine

    X = load_wine().data
    return plot.plot_scree(stope.PCA().fit((X - X.mean(axis=0)) / X.std(axis=0)))


ENTRIES = [tree, mixed_tree, cuts, confusion_matrix, accuracy_over_k, neighbor, scree]
SCREENSHOTS = [
    ("images/rapidminer-operator.png", "The RapidMiner extension: operators, parameters and help of *k-NN (stope)*."),
    ("images/rapidminer-result.png", "The model that *k-NN (stope)* has learned, in RapidMiner's result view."),
    ("images/weka-classify.png", "*StopeIBk* of the WEKA package beside *IBk*, in WEKA's Explorer."),
    ("images/weka-tree.png", "A tree of *StopeTree* in WEKA's tree viewer."),
]


def code_of(entry):
    lines = inspect.getsource(entry).split("\n")
    end = next(n for n, line in enumerate(lines[2:], 2) if line.strip().endswith('"""'))
    return textwrap.dedent("\n".join(lines[end + 1:])).strip().replace("return ", "", 1)


def main():
    project, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    os.chdir(project / "examples/data")
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    page = [
        "---\nhide: [navigation]\n---\n\n# Gallery\n",
        "Each picture was drawn by the code below it when this site was built, from the tables in "
        "[examples/data](source/examples/data/index.md). `import stope, pandas as pd` and `from stope import plot` "
        "stand above all of them. [`stope.plot`](reference/python/plot.md) is the reference.\n",
    ]
    for entry in ENTRIES:
        title, caption = inspect.getdoc(entry).split("\n\n", 1)
        with plt.rc_context(SETTINGS):
            figure = entry().figure
            figure.savefig(folder / f"gallery/{entry.__name__}.svg", metadata={"Date": None}, bbox_inches="tight")
            plt.close(figure)
        caption = " ".join(caption.split())
        page.append(f"## {title}\n\n{caption}\n\n![{title}](gallery/{entry.__name__}.svg)\n")
        page.append(f'??? quote "Code"\n\n    ```python\n{textwrap.indent(code_of(entry), "    ")}\n    ```\n')
    page.append("## In RapidMiner\n")
    for place, caption in SCREENSHOTS:
        page.append(f"{caption}\n\n![{caption.replace('*', '')}]({place})\n")
    (folder / "gallery.md").write_text("\n".join(page), encoding="utf-8")
    print(f"gallery: {len(ENTRIES)} pictures")


if __name__ == "__main__":
    main()
