"""Discretisation by stope's cuts, as a preprocessor of Orange.

>>> from Orange.data import Table
>>> from orangecontrib.stope import CutDiscretize
>>> discretized = CutDiscretize(method="mdlp")(Table("iris"))

The new variables compute themselves from the old ones, so other tables are discretised by the same cuts.
"""

import re
from dataclasses import dataclass, field

import numpy as np
from Orange.data import DiscreteVariable, Domain
from Orange.preprocess.discretize import Discretizer
from Orange.preprocess.preprocess import Preprocess
from Orange.preprocess.transformation import Transformation

from . import engine
from .table import DataError, training_table

__all__ = [
    "METHODS", "CutDiscretize", "Cuts", "cut_texts", "discretized_variable", "find_cuts", "interval_labels",
    "labelled_rows",
]

# The engine's name, what a person reads, and whether the method looks at the class.
METHODS = (
    ("mdlp", "MDLP (Fayyad and Irani)", True),
    ("md-global", "Most pairs separated, all attributes together", True),
    ("md-local", "Most pairs separated, in a tree", True),
    ("best-cut", "The best cut of each attribute", True),
    ("chimerge", "ChiMerge", True),
    ("equal-width", "Equal width", False),
    ("equal-frequency", "Equal frequency", False),
)
_WITHOUT_CLASSES = {name for name, _, supervised in METHODS if not supervised}


@dataclass
class Cuts:
    """What a method found.

    Attributes
    ----------
    points : dict
        For each attribute that was looked at: a list of numbers, or of the values that stand for themselves.
    remarks : list of str
        What the engine warned of, and what was left out.
    """

    points: dict
    remarks: list = field(default_factory=list)


class CutDiscretize(Preprocess):
    """Replaces attributes by intervals that end where the classes change.

    Parameters
    ----------
    method : str, default="mdlp"
        "mdlp", "md-global", "md-local", "best-cut", "chimerge", "equal-width" or "equal-frequency".
    n_bins : int, default=5
        Intervals of "equal-width" and "equal-frequency".
    max_cuts : int or None, default=None
        "md-global": cuts at most, in all attributes together; None takes as many as are needed.
    confidence : float, default=0.9
        "chimerge": neighbouring intervals stay apart if they differ at this level.
    min_intervals : int, default=3
        "chimerge": it merges no further than to this many intervals.
    missing : {"value", "drop"}, default="value"
        What a missing value means while cuts are sought. "value": a value of its own. "drop": the row does not count.
        In the result a missing value stays missing.
    group_values : bool, default=False
        Also group the values of discrete attributes. Otherwise they stay as they are, and take no part in the search.
    remove_constant : bool, default=True
        Leave attributes out for which no cut was found.
    device : str, default="auto"
    """

    def __init__(self, method="mdlp", n_bins=5, max_cuts=None, confidence=0.9, min_intervals=3, missing="value",
                 group_values=False, remove_constant=True, device="auto"):
        self.method = method
        self.n_bins = n_bins
        self.max_cuts = max_cuts
        self.confidence = confidence
        self.min_intervals = min_intervals
        self.missing = missing
        self.group_values = group_values
        self.remove_constant = remove_constant
        self.device = device

    def __call__(self, data):
        return data.transform(self.domain_of(data.domain, find_cuts(self, data)))

    def domain_of(self, domain, cuts):
        """The domain with new variables for those of ``cuts``."""
        attributes = []
        for variable in domain.attributes:
            if variable not in cuts.points:
                attributes.append(variable)
            elif cuts.points[variable] or not self.remove_constant:
                attributes.append(discretized_variable(variable, cuts.points[variable]))
        return Domain(attributes, domain.class_vars, domain.metas)


def find_cuts(how, data):
    """The :class:`Cuts` that a :class:`CutDiscretize` finds in a table."""
    attributes = [var for var in data.domain.attributes if how.group_values or not var.is_discrete]
    if not attributes:
        raise DataError("The data have no numeric attributes to discretize.")
    if len(data) == 0:
        raise DataError("The data have no rows.")
    remarks = []
    supervised = how.method not in _WITHOUT_CLASSES
    if supervised and not data.domain.class_vars:
        raise DataError(
            "The data have no class. Select one with Select Columns, or choose equal width or equal frequency."
        )
    if supervised:
        data = labelled_rows(data, remarks)
    table = training_table(data, attributes, target=supervised)
    if how.method == "best-cut":
        found = {
            one["name"]: [one["value"] if one["symbolic"] else one["cut"]]
            for one in engine.best_cuts(table, criterion="discernibility", missing=how.missing, n_permutations=0,
                                        seed=0, device=how.device, remarks=remarks)
            if one["score"] > 0
        }
    else:
        found = dict(engine.find_cuts(
            table, method=how.method, missing=how.missing, n_bins=how.n_bins, max_cuts=how.max_cuts or 0,
            confidence=float(how.confidence), min_intervals=how.min_intervals, device=how.device, remarks=remarks,
        ))
    return Cuts({variable: _kept(variable, found.get(variable.name, ())) for variable in attributes}, remarks)


def labelled_rows(data, remarks):
    """The rows that have a class. Raises DataError where there are no classes, or fewer than two."""
    domain = data.domain
    if len(domain.class_vars) != 1:
        raise DataError(
            "The data have no class. Select one with Select Columns."
            if not domain.class_vars else "The data have several class variables. Select one with Select Columns."
        )
    if not domain.class_var.is_discrete:
        raise DataError(
            f"The class '{domain.class_var.name}' is numeric, and a categorical one is needed. Discretize it first, or "
            "select another one with Select Columns."
        )
    known = ~np.isnan(np.asarray(data.Y, dtype=float).reshape(-1))
    if not known.all():
        n_left_out = int((~known).sum())
        remarks.append(f"Left out: {n_left_out} row{'s' * (n_left_out != 1)} without a class.")
        data = data[np.flatnonzero(known)]
    classes = np.unique(data.Y)
    if len(classes) < 2:
        what = "No row has a class" if len(classes) == 0 else "All rows have the same class"
        raise DataError(f"{what}, so there is nothing to tell apart.")
    return data


def _kept(variable, found):
    """The cuts without what only divides missing from known values: a missing value stays missing."""
    if variable.is_discrete:
        return [value for value in found if value in variable.values]
    return [float(cut) for cut in found if np.isfinite(cut)]


def discretized_variable(variable, points):
    """The discrete variable that one attribute becomes.

    Intervals hold their lower end: ``x >= cut`` belongs to the right.
    """
    if variable.is_discrete:
        return _grouped(variable, points)
    return DiscreteVariable(variable.name, values=interval_labels(variable, points),
                            compute_value=CutIntervals(variable, tuple(points)), sparse=variable.sparse)


class CutIntervals(Discretizer):
    """The number of the interval into which a value falls, from 0.

    Orange's own class rounds cuts where they look the same when they are printed; these stay as they are.
    """

    InheritEq = True


def interval_labels(variable, points):
    """A label for each interval."""
    if not points:
        return ("single_value",)
    texts = cut_texts(variable, points)
    between = [f"{low} - {high}" for low, high in zip(texts, texts[1:])]
    return (f"< {texts[0]}", *between, f"≥ {texts[-1]}")


def cut_texts(variable, points):
    """The cuts of a numeric attribute as a person reads them, with as many digits as tell them apart."""
    texts = [variable.str_val(point) for point in points]
    if not variable.is_time:
        texts = [_without_zeros(text) for text in texts]
    for digits in range(6, 18):
        if len(set(texts)) == len(points):
            break
        texts = [f"{point:.{digits}g}" for point in points]
    return texts


def _without_zeros(text):
    return text.rstrip("0").rstrip(".") if re.fullmatch(r"-?\d+\.\d+", text) else text


class ValueGroups(Transformation):
    """The group of each value of a discrete variable; a missing value stays missing."""

    def __init__(self, variable, groups):
        super().__init__(variable)
        self.groups = tuple(groups)

    def transform(self, c):
        known = ~np.isnan(c)
        result = np.full(len(c), np.nan)
        result[known] = np.array(self.groups, dtype=float)[c[known].astype(int)]
        return result

    def __eq__(self, other):
        return super().__eq__(other) and self.groups == other.groups

    def __hash__(self):
        return hash((type(self), self.variable, self.groups))


def _grouped(variable, points):
    own = [value for value in variable.values if value in set(points)]
    others = "other"
    while others in own:
        others += "_"
    code_of = {value: code for code, value in enumerate(own)}
    groups = [code_of.get(value, len(own)) for value in variable.values]
    values = own if len(own) == len(variable.values) else [*own, others]
    return DiscreteVariable(variable.name, values=tuple(values), compute_value=ValueGroups(variable, groups))
