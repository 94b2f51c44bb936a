"""k nearest neighbours as a learner of Orange, for classes and for numbers.

>>> >>> from orangecontrib.stope import KnnLearner
>>> model = KnnLearner(n_neighbors=3, metric="gower")(Table("heart_disease"))
"""

import numpy as np
from Orange.base import Learner
from Orange.classification.base_classification import LearnerClassification, ModelClassification
from Orange.data.filter import HasClass
from Orange.modelling.base import Fitter
from Orange.regression.base_regression import LearnerRegression, ModelRegression
from Orange.util import wrap_callback

from . import engine
from .engine import watched
from .measures import MEASURES_BY_NAME
from .table import DataError, attribute_table, rows_of_array, training_table

__all__ = ["KnnClassificationLearner", "KnnClassifier", "KnnLearner", "KnnRegressionLearner", "KnnRegressor"]


class _KnnModel:
    """What both kinds of model have: the engine's model, and lists of neighbours.

    Attributes
    ----------
    fitted : engine.FittedModel
    measure : str
        The engine's name of the measure.
    n_neighbors : int
    remarks : list of str
        What the engine, or this add-on, warned of when the model was fitted.
    """

    def __init__(self, domain, fitted, measure, n_neighbors, remarks):
        super().__init__(domain)
        self.fitted = fitted
        self.measure = measure
        self.n_neighbors = n_neighbors
        self.remarks = remarks

    def kneighbors(self, data):
        """Distances and training rows (from 0) of the neighbours of each row, nearest first.

        Parameters
        ----------
        data : Orange.data.Table

        Returns
        -------
        distances, rows : ndarray of shape (n_rows, n_neighbors)
            Of equal distances the first training row is the nearer one.
        """
        return self.fitted.neighbors(self._queries(self.data_to_model_domain(data)), self.n_neighbors)

    def predict(self, X):
        return self.predict_storage(rows_of_array(self.domain, X))

    def _queries(self, data):
        _check_missing(self.measure, data)
        return attribute_table(data)


class KnnClassifier(_KnnModel, ModelClassification):
    """Predicts the class that most neighbours have; of equal votes the first class in the variable's order."""

    def predict_storage(self, data):
        codes, shares = self.fitted.classify(self._queries(data))
        values = np.where(codes < 0, np.nan, codes)
        return values, np.where((codes < 0)[:, None], 0.0, shares)


class KnnRegressor(_KnnModel, ModelRegression):
    """Predicts the mean of the neighbours' numbers."""

    def predict_storage(self, data):
        return self.fitted.regress(self._queries(data))


class _KnnLearner(Learner):
    """Parameters, checks and the fit, whatever is predicted.

    Parameters
    ----------
    n_neighbors : int, default=5
        Where there are fewer training rows, all of them are neighbours.
    metric : str, default="mixed-euclidean"
        A name of ``orangecontrib.stope.measures.MEASURES``.
    weights : {"uniform", "distance"}, default="uniform"
        "distance": a vote weighs 1 / distance; neighbours at distance 0 share all the weight.
    normalize : {"none", "range", "z", "proportion", "interquartile"}, default="range"
        How continuous attributes are scaled before they are compared; fitted on the training rows.
    metric_params : dict or None
        Parameters of the measure, such as ``{"p": 3}`` for "minkowski".
    device : str, default="auto"
        "auto", "cpu" or "cuda"; the answer is the same.
    preprocessors : list or None
        None leaves out rows without a class, and nothing else: missing values are kept.
    """

    supports_weights = True
    preprocessors = [HasClass()]
    _kind = None
    _model = None

    def __init__(self, n_neighbors=5, metric="mixed-euclidean", weights="uniform", normalize="range",
                 metric_params=None, device="auto", preprocessors=None):
        super().__init__(preprocessors=preprocessors)
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.normalize = normalize
        self.metric_params = metric_params
        self.device = device
        self.params = {
            "n_neighbors": n_neighbors, "metric": metric, "weights": weights, "normalize": normalize,
            "metric_params": metric_params, "device": device,
        }

    def __call__(self, data, progress_callback=None):
        if progress_callback is None:
            return super().__call__(data)
        with watched(wrap_callback(progress_callback, start=0.1)):
            return super().__call__(data, progress_callback)

    def fit_storage(self, data):
        data = data[~np.isnan(np.asarray(data.Y, dtype=float).reshape(-1))]
        check_attributes(self.metric, data)
        n_neighbors, remarks = self.n_neighbors, []
        if len(data) == 0:
            raise DataError("No row has a class, so there is nothing to learn from.")
        if n_neighbors > len(data):
            n_neighbors = len(data)
            remarks.append(f"The data have {len(data)} rows, fewer than {self.n_neighbors} neighbours: all rows vote.")
        options = {
            "n_neighbors": n_neighbors, "metric": self.metric, "weights": self.weights, "normalize": self.normalize,
            **{f"metric.{name}": value for name, value in (self.metric_params or {}).items()},
        }
        fitted = engine.fit(self._kind, training_table(data), options, self.device)
        return self._model(data.domain, fitted, self.metric, n_neighbors, remarks + fitted.remarks)


class KnnClassificationLearner(_KnnLearner, LearnerClassification):
    """Nearest neighbours that vote for a class."""

    __returns__ = KnnClassifier
    _kind, _model = "classify", KnnClassifier


class KnnRegressionLearner(_KnnLearner, LearnerRegression):
    """Nearest neighbours whose numbers are averaged."""

    __returns__ = KnnRegressor
    _kind, _model = "regress", KnnRegressor


class KnnLearner(Fitter):
    """Nearest neighbours for either kind of class: :class:`KnnClassificationLearner`, :class:`KnnRegressionLearner`.

    It takes their parameters, by name.
    """

    __fits__ = {"classification": KnnClassificationLearner, "regression": KnnRegressionLearner}
    name = "k-NN (stope)"

    def __call__(self, data, progress_callback=None):
        if progress_callback is None:
            return super().__call__(data)
        with watched(wrap_callback(progress_callback, start=0.1)):
            return super().__call__(data, progress_callback)

    def incompatibility_reason(self, domain):
        if len(domain.class_vars) > 1:
            return "Too many target variables."
        if domain.class_var is None:
            return "A class variable expected."
        return None


def check_attributes(metric, data):
    """Raise DataError where a measure does not take the attributes of the data, or their missing values."""
    attributes = data.domain.attributes
    if not attributes:
        raise DataError("The data have no attributes to compare rows by.")
    measure = MEASURES_BY_NAME.get(metric)
    if measure is None:
        return  # the engine knows more names and refuses all others with the nearest one
    discrete = [variable.name for variable in attributes if variable.is_discrete]
    if measure.accepts == "numeric" and discrete:
        raise DataError(
            f"{measure.label} takes numeric attributes only, and '{discrete[0]}' is categorical. Choose Gower, HEOM or "
            "another mixed measure, or put Continuize before this widget."
        )
    if measure.accepts == "nominal" and len(discrete) < len(attributes):
        numeric = next(variable.name for variable in attributes if not variable.is_discrete)
        raise DataError(
            f"{measure.label} takes categorical attributes only, and '{numeric}' is numeric. Choose Gower, HEOM or "
            "another mixed measure, or put Discretize before this widget."
        )
    _check_missing(metric, data)


def _check_missing(metric, data):
    measure = MEASURES_BY_NAME.get(metric)
    if measure is None or measure.takes_missing or data.is_sparse():
        return
    missing = np.isnan(data.X)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise DataError(
            f"{measure.label} has no distance where a value is missing, and '{data.domain.attributes[column].name}' is "
            f"missing in row {row + 1}. Choose Gower, HEOM or Euclidean, or put Impute before this widget."
        )
