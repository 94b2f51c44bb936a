"""Trees that split where most pairs of rows of different classes are separated."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real

import numpy as np

from . import _core, _html
from ._base import ClassifierMixin, StopeEstimator, check_is_fitted
from ._checks import check_types
from ._classes import Classes, seed_of, training_table
from ._data import check_X
from .errors import InvalidArgumentError

__all__ = ["LocalDiscretizationTreeClassifier", "TreeNodes", "cuts_by_name"]


@dataclass
class TreeNodes:
    """The nodes of a tree as arrays, in preorder, left first; node 0 is the root.

    Attributes
    ----------
    children_left, children_right, parent : ndarray of int64 of shape (n_nodes,)
        Numbers of nodes; -1 stands for none.
    feature : ndarray of int64
        The feature that the node tests; -1 in leaves. (scikit-learn has -2 there.)
    threshold : ndarray of float64
        The cut of a numeric feature: rows with x >= threshold go right. (scikit-learn's trees send x <= threshold
        left.) -inf divides missing from present values. NaN in leaves and for nominal features.
    category : ndarray of object
        The value of a nominal feature: rows that have it go right. None elsewhere.
    score : ndarray of float64
        What the split is worth; 0 in leaves.
    depth, n_node_samples : ndarray of int64
    majority : ndarray of int64
        The class of most weight, an index into ``classes_``; of equal ones the first.
    value : ndarray of float64 of shape (n_nodes, n_classes)
        The training weight of each class.
    """

    parent: np.ndarray
    children_left: np.ndarray
    children_right: np.ndarray
    depth: np.ndarray
    n_node_samples: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    category: np.ndarray
    score: np.ndarray
    majority: np.ndarray
    value: np.ndarray

    @classmethod
    def of(cls, tree):
        """The nodes of a ``_core.DecisionTree``."""
        arrays = tree.nodes()
        attributes = tree.attributes()
        symbolic = np.array([one["symbolic"] for one in attributes] + [False])
        feature = arrays["feature"]
        nominal = symbolic[feature]
        category = np.full(len(feature), None, dtype=object)
        for node in np.flatnonzero(nominal):
            category[node] = attributes[feature[node]]["values"][arrays["category"][node]]
        arrays["category"] = category
        arrays["threshold"] = np.where(nominal | (feature < 0), np.nan, arrays["threshold"])
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    @property
    def node_count(self):
        return len(self.feature)

    @property
    def n_leaves(self):
        return int(np.count_nonzero(self.feature < 0))

    @property
    def max_depth(self):
        return int(self.depth.max())


def cuts_by_name(cuts):
    """The engine's list of cuts as a dict: an array of numbers, or a list of values, for each feature that has any."""
    return {name: list(found) if found and isinstance(found[0], str) else np.asarray(found) for name, found in cuts}


class LocalDiscretizationTreeClassifier(_html.RichEstimator, ClassifierMixin, StopeEstimator):
    """A decision tree by local discretisation: each split separates the most pairs of rows of different classes.

    Numeric features are split by a cut (x >= cut goes right), nominal ones by one value against all others. Ties go to
    the first feature, then to the lowest cut or the first value. The order of rows, the threads and the device never
    change a tree.

    Parameters
    ----------
    criterion : {"discernibility", "gini", "entropy"}, default="discernibility"
        What a split is worth: the pairs that it separates, or how much impurity or uncertainty it removes.
    max_depth : int or None, default=None
        The root has depth 0.
    min_samples_leaf : int, default=1
        A leaf has at least so many rows, whatever they weigh.
    min_score : float, default=0.0
        A split must be worth more than 0 and at least this.
    min_weight_fraction_leaf : float, default=0.0
        From 0 to 0.5. A split is taken back, with all below it, if one of its sides weighs less than this share of the
        training weight. (scikit-learn's trees look for another split instead.)
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, which multiply those of rows; classes that are not named weigh 1.
    ccp_alpha : float, default=0.0
        Cost-complexity pruning: a leaf costs as much as this share of the training weight misclassified.
        (scikit-learn's parameter of that name measures impurity instead.)
    missing : {"error", "value", "drop", "fill"}, default="error"
        What a missing value means, in training and in prediction. "value": it is a value of its own, below all numbers.
        "drop": the row is left out, and is predicted to have no class. "fill": the training mean or the most frequent
        value stands in.
    prune_holdout : float, default=0.0
        This share of the rows, drawn by class, prunes the tree that the others grow (reduced-error pruning). 0 is none.
    random_state : int, RandomState instance or None, default=None
        Draws those rows. The command line draws the same for ``--seed`` of the same number.
    categorical_features : "from_dtype", mask, list of names or indices, or None, default="from_dtype"
        Which columns are nominal.
    device : str, default="auto"
        Where to compute; trees are the same everywhere.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has names
    tree_ : TreeNodes
        The nodes as arrays.
    rules_ : list of dict
        One rule a leaf: its "leaf", its "text", and its "conditions", one for each feature tested. Exactly one fires
        for every row.
    cuts_ : dict
        The cuts of all inner nodes by the feature's name.
    feature_importances_ : ndarray of shape (n_features,)
        What the splits of each feature are worth together, as shares that sum to 1.
    report_ : Report
        What ran the last call, and why.

    Notes
    -----
    Cost: a sort of every feature, then a pass over all features for every level.

    Examples
    --------
    >>> from stope import LocalDiscretizationTreeClassifier
    >>> tree = LocalDiscretizationTreeClassifier().fit([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> tree.predict([[2.4], [2.5]])
    array(['no', 'yes'], dtype='<U3')
    >>> print(tree.export("rules"), end="")
    1: if x0 < 2.5 then class = no (2 rows)
    2: if x0 >= 2.5 then class = yes (2 rows)
    """

    _missing_advice = "missing='value', 'drop' or 'fill' says what they mean."

    def __init__(
        self, criterion="discernibility", *, max_depth=None, min_samples_leaf=1, min_score=0.0,
        min_weight_fraction_leaf=0.0, class_weight=None, ccp_alpha=0.0, missing="error", prune_holdout=0.0,
        random_state=None, categorical_features="from_dtype", device="auto",
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_score = min_score
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.missing = missing
        self.prune_holdout = prune_holdout
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.device = device

    def fit(self, X, y, sample_weight=None):
        """Grow the tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The classes; none is missing.
        sample_weight : array-like of shape (n_samples,) or None
            Weights >= 0, rounded to multiples of 2**-20. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._begin_fit()
        check_types(
            self, criterion=str, missing=str, min_samples_leaf=Integral, min_score=Real, ccp_alpha=Real,
            prune_holdout=Real, min_weight_fraction_leaf=Real,
            **({} if self.max_depth is None else {"max_depth": Integral}),
        )
        rows = self._rows(X, reset=True)
        classes = Classes(y, rows.n_rows, self)
        weights, balanced = self._class_weights(classes)
        with self._job() as run:
            table = training_table(rows.as_table(run, share=True), classes, sample_weight, run)
            tree = _core.DecisionTree.fit(
                table, criterion=self.criterion, missing=self.missing, max_depth=self.max_depth,
                min_samples_leaf=self.min_samples_leaf, min_score=self.min_score, class_weights=weights,
                balanced=balanced, ccp_alpha=self.ccp_alpha, prune_holdout=self.prune_holdout,
                min_weight_fraction_leaf=self.min_weight_fraction_leaf,
                seed=seed_of(self.random_state) if self.prune_holdout else 0, run=run,
            )
        self._model = _core.Model.of_tree(table, tree)
        self.classes_ = classes.values
        self.n_classes_ = len(classes.values)
        self.tree_ = TreeNodes.of(tree)
        self.cuts_ = cuts_by_name(tree.cuts())
        self.feature_importances_ = self._importances()
        return self

    def predict(self, X):
        """Return the class of every row.

        Under ``missing="drop"`` a row whose class needs a missing value has none: the result then holds NaN if the
        classes are floating-point numbers, else it is an object array that holds None.
        """
        leaves = self.apply(X)
        codes = np.where(leaves < 0, -1, self.tree_.majority[leaves])
        if (codes >= 0).all():
            return self.classes_[codes]
        nothing = np.nan if self.classes_.dtype.kind == "f" else None
        classes = self.classes_.astype(np.float64 if nothing is not None else object)
        predicted = classes[codes]
        predicted[codes < 0] = nothing
        return predicted

    def predict_proba(self, X):
        """Return the classes' shares of the training weight of every row's leaf, of shape (n_rows, n_classes).

        Under ``missing="drop"`` a row without a class has a row of zeros.
        """
        leaves = self.apply(X)
        value = self.tree_.value
        shares = value / value.sum(axis=1, keepdims=True)
        return np.where((leaves < 0)[:, None], 0.0, shares[leaves])

    def predict_log_proba(self, X):
        """Return the logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def apply(self, X):
        """Return the number of every row's leaf, int64; -1 where ``missing="drop"`` and a tested value is missing."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        with self._job() as run:
            return self._model.fitted.apply(rows.as_table(run, share=True), run)

    def decision_path(self, X):
        """Return which nodes every row passes: a SciPy CSR matrix of shape (n_rows, n_nodes)."""
        from scipy.sparse import csr_matrix

        ways = []
        for node in range(self.tree_.node_count):  # parents come first
            parent = self.tree_.parent[node]
            ways.append([node] if parent < 0 else [*ways[parent], node])
        ways.append([])
        of_rows = [ways[leaf] for leaf in self.apply(X)]
        indptr = np.concatenate(([0], np.cumsum([len(way) for way in of_rows], dtype=np.int64)))
        indices = np.array([node for way in of_rows for node in way], dtype=np.int64)
        shape = (len(of_rows), self.tree_.node_count)
        return csr_matrix((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=shape)

    def reasons(self, X):
        """Return why every row has its class: the text of the rule that fires, None where none does."""
        texts = [text for _, text in self._model.fitted.reasons()] if self.__sklearn_is_fitted__() else []
        return [None if leaf < 0 else texts[leaf] for leaf in self.apply(X)]

    def get_depth(self):
        """Return the depth of the deepest leaf; a tree of one leaf has 0."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self):
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def export(self, format="text"):
        """Return the tree as a str: "text", "json", "dot", "svg" or "rules"."""
        check_is_fitted(self)
        return self._model.fitted.format(format)

    @property
    def rules_(self):
        """One rule a leaf, in the order of the leaves; made when it is asked for."""
        check_is_fitted(self)
        return self._model.fitted.rules()

    def _rows(self, X, reset):
        return check_X(
            self, X, reset=reset, categorical_features=self.categorical_features,
            missing="error" if self.missing == "error" else "skip",
        )

    def _class_weights(self, classes):
        if self.class_weight is None:
            return [], False
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return [], True
        if not isinstance(self.class_weight, Mapping):
            raise InvalidArgumentError(f"class_weight: {self.class_weight!r} is not 'balanced', a dict or None")
        name_of = dict(zip(classes.values.tolist(), classes.names))
        weights = []
        for value, weight in self.class_weight.items():
            value = value.item() if isinstance(value, np.generic) else value
            if value not in name_of:
                warnings.warn(f"class_weight: y has no class {value!r}", UserWarning, stacklevel=3)
                continue
            weights.append((name_of[value], float(weight)))
        return weights, False

    def _importances(self):
        nodes = self.tree_
        inner = nodes.feature >= 0
        worth = nodes.score[inner]
        if self.criterion != "discernibility":  # a gain is that of the node's rows, whatever their share of all is
            worth = worth * nodes.value[inner].sum(axis=1)
        sums = np.bincount(nodes.feature[inner], weights=worth, minlength=self.n_features_in_)
        total = sums.sum()
        return sums / total if total > 0 else sums

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _to_model(self):
        check_is_fitted(self)
        return self._model

    def _html_parts(self):
        tree = self._model.fitted
        facts = [
            ("target", tree.target), ("classes", ", ".join(tree.classes[:20])), ("leaves", tree.n_leaves),
            ("depth", tree.max_depth), ("training rows", int(self.tree_.n_node_samples[0])),
        ]
        if self.tree_.node_count > _html.MOST_NODES_IN_A_VIEW:
            return [_html.pairs(facts), _html.note("export('svg') draws the tree; it is too large for this view")]
        return [_html.pairs(facts), _html.svg(tree.format("svg"))]
