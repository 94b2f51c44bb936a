"""The local discretisation tree as a learner of Orange.

The model is a tree of Orange's own kind, so Tree Viewer and Pythagorean Tree show it. It predicts by the engine.
"""

import numpy as np
from Orange.classification.base_classification import LearnerClassification, ModelClassification
from Orange.data import Table
from Orange.tree import TreeModel
from Orange.util import wrap_callback

from . import engine
from .engine import watched
from .table import DataError, attribute_table, rows_of_array, training_table
from .tree_nodes import climb_rules, nodes_of

__all__ = ["MOST_LEVELS", "LocalDiscretizationTree", "LocalDiscretizationTreeLearner"]

# Orange walks and pickles trees by recursion. Python ends that at some 1000 calls, and a level takes up to five.
MOST_LEVELS = 100


class LocalDiscretizationTree(TreeModel, ModelClassification):
    """A fitted tree.

    Attributes
    ----------
    root : Orange.tree.Node
        A numeric attribute sends values from the cut on to the right, a categorical one a single value.
    instances : Orange.data.Table
        The training rows.
    fitted : engine.FittedModel
    remarks : list of str
        What the engine warned of.
    """

    def __init__(self, data, root, fitted, counts):
        self.fitted = fitted
        self.remarks = fitted.remarks
        self.counts = counts
        super().__init__(data, root)

    def _compile(self):
        """Nothing: the engine predicts."""

    def predict_storage(self, data):
        """The class of every row, and the classes' shares of its leaf."""
        codes, shares = self.fitted.classify(attribute_table(data))
        return codes.astype(float), shares

    def predict(self, X):
        return self.predict_storage(rows_of_array(self.domain, X))

    def leaves(self, X):
        """The engine's number of every row's leaf."""
        data = self.data_to_model_domain(X) if isinstance(X, Table) else rows_of_array(self.domain, X)
        with engine.job(self.fitted.device) as run:
            return self.fitted.fitted().apply(attribute_table(data), run)

    def get_values(self, X):
        """The training weights of the classes in every row's leaf."""
        return self.counts[self.leaves(X)]

    get_values_in_python = get_values

    @classmethod
    def rule(cls, node):
        return climb_rules(cls.climb(node))

    def text(self):
        """The tree as the engine writes it, for reports."""
        return self.fitted.fitted().format("text")


class LocalDiscretizationTreeLearner(LearnerClassification):
    """Grows a tree whose splits separate the most pairs of rows of different classes.

    Parameters
    ----------
    criterion : {"discernibility", "gini", "entropy"}, default="discernibility"
        What a split is worth.
    max_depth : int or None, default=None
        The root has depth 0. A tree of more than 100 levels is grown anew with 100, which a remark says.
    min_samples_leaf : int, default=1
    min_score : float, default=0.0
        What a split is worth at least.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning: what a leaf costs, as a share of the training weight misclassified.
    prune_holdout : float, default=0.0
        This share of the rows prunes the tree that the others grow; 0 is none.
    balanced : bool, default=False
        Classes weigh inversely to their rows.
    missing : {"value", "fill"}, default="value"
        "value": a missing value is a value of its own, below all numbers. "fill": the training mean, or the most
        frequent value, stands in.
    random_state : int, default=0
        Draws the rows of ``prune_holdout``.
    device : str, default="auto"
        "auto", "cpu" or "cuda"; the tree is the same.
    preprocessors : list or None
    """

    __returns__ = LocalDiscretizationTree
    supports_weights = True
    name = "local discretization tree"

    def __init__(self, criterion="discernibility", max_depth=None, min_samples_leaf=1, min_score=0.0, ccp_alpha=0.0,
                 prune_holdout=0.0, balanced=False, missing="value", random_state=0, device="auto",
                 preprocessors=None):
        super().__init__(preprocessors=preprocessors)
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_score = min_score
        self.ccp_alpha = ccp_alpha
        self.prune_holdout = prune_holdout
        self.balanced = balanced
        self.missing = missing
        self.random_state = random_state
        self.device = device
        self.params = {
            "criterion": criterion, "max_depth": max_depth, "min_samples_leaf": min_samples_leaf,
            "min_score": min_score, "ccp_alpha": ccp_alpha, "prune_holdout": prune_holdout, "balanced": balanced,
            "missing": missing, "random_state": random_state, "device": device,
        }

    def __call__(self, data, progress_callback=None):
        if progress_callback is None:
            return super().__call__(data)
        with watched(wrap_callback(progress_callback, start=0.1)):
            return super().__call__(data, progress_callback)

    def fit_storage(self, data):
        if self.missing not in ("value", "fill"):
            raise ValueError(f"missing is {self.missing!r}; a tree of Orange takes 'value' or 'fill'")
        labelled = np.flatnonzero(~np.isnan(np.asarray(data.Y, dtype=float).reshape(-1)))
        rows = data if len(labelled) == len(data) else data[labelled]
        if len(rows) == 0:
            raise DataError("No row has a class, so there is nothing to learn from.")
        options = {
            "criterion": self.criterion, "missing": self.missing,
            "max_depth": -1 if self.max_depth is None else self.max_depth, "min_samples_leaf": self.min_samples_leaf,
            "min_score": float(self.min_score), "ccp_alpha": float(self.ccp_alpha),
            "prune_holdout": float(self.prune_holdout), "balanced": self.balanced, "seed": self.random_state,
        }
        table = training_table(rows)
        fitted = engine.fit("tree", table, options, self.device)
        if fitted.fitted().max_depth > MOST_LEVELS:
            fitted = engine.fit("tree", table, {**options, "max_depth": MOST_LEVELS}, self.device)
            fitted.remarks.append(
                f"The tree was cut off at {MOST_LEVELS} levels, the most that Orange can show. Prune it, or ask for more "
                "rows of a leaf."
            )
        tree = fitted.fitted()
        with engine.job(self.device) as run:
            leaves = tree.apply(attribute_table(rows), run)
        root, counts = nodes_of(tree, data.domain, leaves, labelled)
        return LocalDiscretizationTree(data, root, fitted, counts)
