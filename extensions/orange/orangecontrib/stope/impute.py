"""Missing values filled in from the nearest rows, as a preprocessor of Orange.

>>> from Orange.data import Table
>>> from orangecontrib.stope import KnnImpute
>>> filled = KnnImpute(n_neighbors=5)(Table("heart_disease"))

The new variables compute themselves from the old ones, so other tables are filled in from the same rows.
"""

import hashlib

import numpy as np
from Orange.data import Domain
from Orange.data.util import SharedComputeValue
from Orange.preprocess.preprocess import Preprocess

from . import engine
from .knn import check_attributes
from .measures import MEASURES
from .table import DataError, attribute_table, training_table

__all__ = ["IMPUTE_MEASURES", "STRATEGIES", "FilledValue", "KnnImpute", "NearestRows"]

STRATEGIES = (("mean", "Mean of the neighbors"), ("median", "Median of the neighbors"))
IMPUTE_MEASURES = tuple(
    sorted((measure for measure in MEASURES if measure.takes_missing), key=lambda one: one.name != "nan-euclidean")
)


class KnnImpute(Preprocess):
    """Fills missing values of the attributes from the nearest rows that have them.

    A numeric attribute gets the mean or the median of its neighbours, a categorical one the value that most of them
    have. Classes and metas stay as they are, and take no part.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours of a value; fewer, where fewer rows have it.
    metric : str, default="nan-euclidean"
        One of ``IMPUTE_MEASURES``: those that compare rows with missing values.
    weights : {"uniform", "distance"}, default="uniform"
    strategy : {"mean", "median"}, default="mean"
    normalize : {"none", "range", "z", "proportion", "interquartile"}, default="range"
        How numeric attributes are scaled before rows are compared. What is filled in keeps its unit.
    metric_params : dict or None
    device : str, default="auto"
    """

    def __init__(self, n_neighbors=5, metric="nan-euclidean", weights="uniform", strategy="mean", normalize="range",
                 metric_params=None, device="auto"):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.strategy = strategy
        self.normalize = normalize
        self.metric_params = metric_params
        self.device = device

    def __call__(self, data):
        return data.transform(self.domain_of(data.domain, self.fit(data)))

    def fit(self, data):
        """Keep the rows of a table as donors: a :class:`NearestRows`."""
        if len(data) == 0:
            raise DataError("The data have no rows.")
        table = training_table(data, target=False, weights=False)  # refuses sparse tables
        check_attributes(self.metric, data)
        options = {
            "n_neighbors": self.n_neighbors, "metric": self.metric, "weights": self.weights, "strategy": self.strategy,
            "normalize": self.normalize,
            **{f"metric.{name}": value for name, value in (self.metric_params or {}).items()},
        }
        return NearestRows(data.domain.attributes, engine.fit("impute", table, options, self.device))

    @staticmethod
    def domain_of(domain, rows):
        """The domain whose attributes are filled in from ``rows``."""
        attributes = [
            variable.copy(compute_value=FilledValue(rows, variable, place))
            for place, variable in enumerate(domain.attributes)
        ]
        return Domain(attributes, domain.class_vars, domain.metas)


class NearestRows:
    """Fills tables from the training rows: one search for all attributes.

    Attributes
    ----------
    fitted : engine.FittedModel
    report : dict or None
        What the last call filled in.
    """

    def __init__(self, attributes, fitted):
        self.attributes = tuple(attributes)
        self.fitted = fitted
        self.report = None
        self._digest = None
        self._hash = None

    def __getstate__(self):
        return {**self.__dict__, "_hash": None}  # texts hash differently in another process

    def __call__(self, data):
        """The attributes' values, filled in, of shape (n_rows, n_attributes)."""
        if data.domain.attributes != self.attributes:
            data = data.transform(Domain(self.attributes))
        X = np.array(data.X, dtype=np.float64)
        if not np.isnan(X).any():
            return X
        filled, self.report = self.fitted.transform(attribute_table(data))
        columns = {filled.column(index).name: filled.column(index) for index in range(filled.n_columns)}
        for place, variable in enumerate(self.attributes):
            missing = np.isnan(X[:, place])
            if missing.any():
                X[missing, place] = _values_of(columns[variable.name], variable)[missing]
        return X

    def digest(self):
        """A text that two sets of rows share only if they fill in alike."""
        if self._digest is None:
            self._digest = hashlib.sha256(self.fitted.predictor.model.to_bytes()).hexdigest()
        return self._digest

    def __eq__(self, other):
        if self is other:
            return True
        return type(self) is type(other) and self.attributes == other.attributes and self.digest() == other.digest()

    def __hash__(self):
        # Kept: Orange asks once for each attribute, and hashing them all takes as long as there are attributes.
        if self._hash is None:
            self._hash = hash((type(self), self.attributes))
        return self._hash


class FilledValue(SharedComputeValue):
    """One attribute of those that :class:`NearestRows` fills in."""

    InheritEq = True

    def __init__(self, rows, variable, place):
        super().__init__(rows, variable)
        self.place = place

    def compute(self, data, shared_data):
        return shared_data[:, self.place]


def _values_of(column, variable):
    """A column of the engine as Orange's numbers: codes count into the variable's values."""
    values = column.array()
    if not variable.is_discrete:
        return values
    code_of = {name: code for code, name in enumerate(variable.values)}
    codes = np.array([code_of[name] for name in column.values.names()] + [np.nan], dtype=float)
    return codes[values]
