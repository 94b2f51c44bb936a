"""A model of stope as a stage of Spark's pipelines, which are saved and loaded with it."""

import hashlib
import os

from pyspark.ml import Transformer
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasPredictionCol, HasProbabilityCol
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter

from .. import _core
from .._run import job
from ..errors import InvalidArgumentError, InvalidDataError
from ..io import Model
from ._apply import _opened, transform

__all__ = ["StopeTransformer"]

_BYTES_OF_A_ROW = 16 << 20  # of a model that is saved: parts of this size fit every limit of Spark


class StopeTransformer(Transformer, HasInputCols, HasPredictionCol, HasProbabilityCol, MLReadable, MLWritable):
    """Applies a model of any kind, as :func:`stope.spark.transform` does.

    ``save`` and ``load`` keep the model beside the parameters, on any file system that Spark writes to. A Pipeline or
    PipelineModel with this stage is saved and loaded like any other.

    Parameters
    ----------
    model : estimator, stope.Model, str or path-like
        A fitted estimator, a model, or the path of a model file.
    inputCols : list of str, default=None
        A column for each feature, in the model's order. None finds columns by name.
    predictionCol : str, default="prediction"
    probabilityCol : str, default=""
        A column for the confidences of all classes, as an array. "" leaves it out.
    nNeighbors : int, default=0
        Replaces the number of neighbours of a k-NN model. 0 keeps it.
    device : str, default="auto"
        As of :func:`stope.spark.transform`.
    """

    nNeighbors = Param(Params._dummy(), "nNeighbors", "neighbours of a k-NN model; 0 keeps the model's number",
                       typeConverter=TypeConverters.toInt)
    device = Param(Params._dummy(), "device", "where a task computes: auto, cpu, cuda, cuda:0,1",
                   typeConverter=TypeConverters.toString)

    def __init__(self, model=None, *, inputCols=None, predictionCol=None, probabilityCol=None, nNeighbors=None,
                 device=None):
        super().__init__()
        self._setDefault(predictionCol="prediction", probabilityCol="", nNeighbors=0, device="auto")
        given = {"inputCols": inputCols, "predictionCol": predictionCol, "probabilityCol": probabilityCol,
                 "nNeighbors": nNeighbors, "device": device}
        self._set(**{name: value for name, value in given.items() if value is not None})
        self._model = None if model is None else _opened(model, False)[0]

    @property
    def model(self):
        """The stope.Model that is applied."""
        if self._model is None:
            raise InvalidArgumentError("this StopeTransformer has no model: StopeTransformer(model=...)")
        return self._model

    def setInputCols(self, value):
        """Set the columns of the features, in the model's order."""
        return self._set(inputCols=value)

    def setPredictionCol(self, value):
        """Set the name of the predictions' column."""
        return self._set(predictionCol=value)

    def setProbabilityCol(self, value):
        """Set the name of the column of confidences; "" leaves it out."""
        return self._set(probabilityCol=value)

    def setNNeighbors(self, value):
        """Set the number of neighbours; 0 keeps the model's."""
        return self._set(nNeighbors=value)

    def getNNeighbors(self):
        """Get the number of neighbours; 0 is the model's."""
        return self.getOrDefault(self.nNeighbors)

    def setDevice(self, value):
        """Set where a task computes."""
        return self._set(device=value)

    def getDevice(self):
        """Get where a task computes."""
        return self.getOrDefault(self.device)

    def _transform(self, dataset):
        return transform(
            dataset, self.model, columns=self.getInputCols() if self.isDefined(self.inputCols) else None,
            prediction=self.getPredictionCol(), probability=self.getProbabilityCol() or None,
            n_neighbors=self.getNNeighbors() or None, device=self.getDevice(),
        )

    def write(self):
        """Return the writer of this stage."""
        return _Writer(self)

    @classmethod
    def read(cls):
        """Return the reader of such stages."""
        return _Reader(cls)


class _Writer(MLWriter):
    """Writes the parameters as Spark's own stages do, and the model as a table of bytes."""

    def __init__(self, instance):
        super().__init__()
        self._instance = instance

    def save(self, path):
        """Write to a path of any file system that Spark knows. The base class would need a JVM in this process."""
        mode = "overwrite" if self.shouldOverwrite else "error"
        content = self._instance.model._model.to_bytes()
        starts = range(0, len(content), _BYTES_OF_A_ROW)
        rows = [(place, bytearray(content[start:start + _BYTES_OF_A_ROW])) for place, start in enumerate(starts)]
        spark = self.sparkSession
        frame = spark.createDataFrame(rows, "part int, content binary")
        frame.coalesce(1).write.mode(mode).parquet(os.path.join(path, "model"))
        metadata = DefaultParamsWriter._get_metadata_to_save(self._instance, spark, {"sha256": _hash(content)})
        frame = spark.createDataFrame([(metadata,)], "value string")
        frame.coalesce(1).write.mode(mode).text(os.path.join(path, "metadata"))


class _Reader(MLReader):
    """Reads what the writer wrote."""

    def __init__(self, cls):
        super().__init__()
        self._class = cls

    def load(self, path):
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, spark)
        rows = spark.read.parquet(os.path.join(path, "model")).sort("part").toLocalIterator()
        content = b"".join(bytes(row["content"]) for row in rows)
        if _hash(content) != metadata.get("sha256"):
            raise InvalidDataError(f"the model in {path} is not the one that was saved with its parameters")
        with job() as run:
            stage = self._class(Model(_core.Model.of_bytes(content, run)))
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage


def _hash(content):
    return hashlib.sha256(content).hexdigest()
