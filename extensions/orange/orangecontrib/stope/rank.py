"""Attributes ranked by their best cut, and a scorer for Orange's Rank widget."""

import numpy as np
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, StringVariable, Table
from Orange.preprocess.score import Scorer

from . import engine
from .discretize import labelled_rows
from .table import DataError, training_table

__all__ = ["CRITERIA", "CutScorer", "ranking", "scores_table"]

# The engine's names, and what a person reads.
CRITERIA = (
    ("discernibility", "Pairs of rows that it separates"),
    ("gini", "Gini impurity that it removes"),
    ("entropy", "Entropy that it removes"),
)


def ranking(data, criterion="discernibility", missing="value", n_permutations=0, random_state=0, device="auto",
            remarks=None):
    """The best cut of every attribute of a table.

    Parameters
    ----------
    data : Orange.data.Table
        With one discrete class. Rows without a class are left out.
    criterion : {"discernibility", "gini", "entropy"}
    missing : {"value", "drop", "fill"}
        What a missing value means: a value of its own, a row to leave out, or the mean or the most frequent value.
    n_permutations : int
        Permutations of the classes, for p- and q-values; 0 is none.
    random_state : int
        Draws the permutations.
    remarks : list or None
        Gets what the engine warned of, and what was left out.

    Returns
    -------
    list of dict
        One for each attribute, in the domain's order: "feature" (its place), "name", "symbolic", "score", "pairs",
        "cut" or "value", "p_value", "family_p_value" and "q_value"; None is what does not apply, and the "value" of a
        cut between known and missing values.
    """
    if not data.domain.attributes:
        raise DataError("The data have no attributes to rank.")
    remarks = [] if remarks is None else remarks
    data = labelled_rows(data, remarks)
    found = engine.best_cuts(
        training_table(data), criterion=criterion, missing=missing, n_permutations=n_permutations, seed=random_state,
        device=device, remarks=remarks,
    )
    for one, variable in zip(found, data.domain.attributes):
        if one["symbolic"] and one["value"] not in variable.values:
            one["value"] = None  # the engine's name of missing values
    return found


def scores_table(found):
    """A ranking as an Orange table: a row for each attribute, with its name and its best cut as metas."""
    names = ["Score"] + (["p", "q"] if found and found[0]["p_value"] is not None else [])
    fields = {"Score": "score", "p": "p_value", "q": "q_value"}
    metas = [StringVariable("Feature"), StringVariable("Best cut")]
    domain = Domain([ContinuousVariable(name) for name in names], metas=metas)
    X = np.array([[one[fields[name]] for name in names] for one in found], dtype=float).reshape(len(found), len(names))
    metas = np.array([[one["name"], cut_text(one)] for one in found], dtype=object).reshape(len(found), 2)
    table = Table.from_numpy(domain, X, metas=metas)
    table.name = "Scores by best cut"
    return table


def cut_text(one):
    """The best cut of an attribute as a person reads it; empty where no cut separates anything."""
    if one["score"] <= 0:
        return ""
    if one["symbolic"]:
        return "known or missing" if one["value"] is None else f"= {one['value']}"
    return "known or missing" if np.isneginf(one["cut"]) else f"≥ {one['cut']:.10g}"


class CutScorer(Scorer):
    """Scores attributes by their best cut: connect it with Orange's Rank widget, or call it.

    Parameters
    ----------
    criterion : {"discernibility", "gini", "entropy"}, default="discernibility"
    missing : {"value", "drop", "fill"}, default="value"
    device : str, default="auto"
    """

    feature_type = (ContinuousVariable, DiscreteVariable)
    class_type = DiscreteVariable
    supports_sparse_data = False
    preprocessors = []
    name = "Best cut (stope)"
    friendly_name = "Best cut (stope)"

    def __init__(self, criterion="discernibility", missing="value", device="auto"):
        self.criterion = criterion
        self.missing = missing
        self.device = device

    def __call__(self, data, feature=None):
        scores = self.score_data(data, feature)
        return scores if feature is not None else scores[0]

    def score_data(self, data, feature=None):
        """The scores, of shape (1, n_attributes); with ``feature``, the score of that attribute."""
        if feature is not None:
            data = data.transform(Domain([data.domain[feature]], data.domain.class_vars))
        found = ranking(data, self.criterion, self.missing, device=self.device)
        scores = np.array([one["score"] for one in found])
        return scores[0] if feature is not None else scores[np.newaxis, :]
