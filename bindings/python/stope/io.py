"""Tables from files, and model files, which the command line and the other languages read and write, too.

An estimator takes part by one method, ``_to_model()``: it returns a ``_core.Model``, or the bytes of a model file.
``_core.Model.of_tree(table, tree)`` makes one of a tree, ``_core.Model.of_neighbors(...)`` of k-NN, and
``_core.Model.of_cuts(...)`` of a set of cuts. The model keeps the table's columns without its rows.
"""

import os
from typing import Union

import numpy as np

from . import _core, _html
from ._base import check_is_fitted
from ._columns import as_numbers
from ._data import array_of, check_X
from ._run import Reports, job
from .discretize import SupervisedDiscretizer
from .errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from ._columnar_files import by_pyarrow, read_by_pyarrow, write_by_pyarrow
from .table import Table
from .tree import LocalDiscretizationTreeClassifier, cuts_by_name

__all__ = ["Model", "chain", "load", "read_cuts", "read_table", "save", "write_cuts", "write_table"]

FilePath = Union[str, "os.PathLike[str]"]

_LISTS = ("names", "missing", "select", "ignore", "nominal", "numeric", "date")


def _path_text(path):
    """The path as the engine takes it: UTF-8 text that no NUL cuts off."""
    text = os.fsdecode(path)
    try:
        is_text = "\0" not in text and text.encode() is not None
    except UnicodeEncodeError:
        is_text = False
    if not is_text:
        raise InvalidArgumentError(f"path: {path!r} is not UTF-8 text, or has a NUL in it")
    return text


def read_table(path: FilePath, **options) -> Table:
    """Read a table from a file: CSV, TSV, ARFF, NPY, fvecs, bvecs, ivecs or raw, each also as .gz and .zst.

    Parquet (.parquet, .pq) and Arrow (.arrow, .feather, .ipc, .arrows) are read by the plug-in for files where it lies
    beside the package's library, else by pyarrow.

    Parameters
    ----------
    path : str or path-like
        "-" is standard input. A folder, or a pattern such as "parts/*.csv", makes one table of several files.
    **options
        format, encoding, separator, decimal, comment : str
            What the suffix and the text do not show.
        skip_lines : int
            Lines before the table.
        thousands : str
            The mark between groups of three digits, as in 1,234,567.5.
        allow_ragged : bool
            Fill records that are too short with missing values, and cut those that are too long.
        header : bool or "automatic"
            Whether the first record holds names.
        names : list of str
            One name a column.
        missing : list of str
            Spellings of a missing value, by default "?", "", "NA" and "NaN".
        target, id, sample_weight : str
            Columns by name or by number, counted from 1, that are no features.
        target_is_nominal : bool
            Read the target as it is spelled: for classification.
        select, ignore, nominal, numeric, date : list of str
            Columns to keep, to leave out, or to read as such: names, numbers, patterns ("gene_*") or ranges ("3-10").
        sample, sample_seed : int
            Keep so many rows, chosen by chance; the same seed gives the same rows.
        sheet : str or int
            A workbook's sheet by name or number; by default the first one that is shown.
        nominal_order : "sorted" or "appearance"
        schema, schema_part : str
            A schema file, and "train" or "test".
        unknown_columns : "error" or "skip"
            What happens if an option names a column that the file lacks.
        n_features, dtype
            The columns and the element type of a raw file.

    Returns
    -------
    Table

    Raises
    ------
    InvalidDataError
        With ``file``, ``line`` and ``column``, where the file is malformed.
    FileError
        Where the system refuses to read it.
    """
    for name in _LISTS:
        if isinstance(options.get(name), str):
            options[name] = [options[name]]
        elif name in options:
            options[name] = [str(item) for item in options[name]]
    for name in ("target", "id", "sample_weight", "schema", "sheet"):
        if name in options:
            options[name] = os.fspath(options[name]) if name == "schema" else str(options[name])
    if isinstance(options.get("header"), bool):
        options["header"] = "yes" if options["header"] else "no"
    path = _path_text(path)
    format = by_pyarrow(path, options.get("format", ""))
    with job() as run:
        table = read_by_pyarrow(path, format, options, run) if format else _core.read_table(path, options, run)
    return Table(table)


def write_table(table, path: FilePath, *, format: str = "", separator: str = "", dtype: str = "") -> None:
    """Write a table into a file, which appears complete or not at all.

    Parameters
    ----------
    table : Table, or what :class:`Table` takes
    path : str or path-like
        Its suffix names the format unless ``format`` does; .gz and .zst compress. "-" is standard output.
    format : str
        csv, tsv, arff, npy, fvecs, bvecs, ivecs, raw, parquet or arrow.
    separator : str
        Of CSV; by default a comma.
    dtype : str
        Of npy (float64) and raw (float32).
    """
    path = _path_text(path)
    by = by_pyarrow(path, format)
    if by:
        write_by_pyarrow(Table(table), path, by)
        return
    table = Table(table)._core_table
    with job() as run:
        _core.write_table(path, table, format, separator, dtype, run)


def read_cuts(path: FilePath) -> dict:
    """Read a JSON file of cuts, and return a dict: an array of numbers or a list of values for each attribute."""
    with job() as run:
        return cuts_by_name(_core.read_cuts(_path_text(path), run))


def write_cuts(estimator, path: FilePath) -> None:
    """Write the cuts of a fitted discretizer or tree as JSON, which the command line applies to tables."""
    if isinstance(estimator, SupervisedDiscretizer):
        check_is_fitted(estimator)
        cuts = estimator._cuts
    elif isinstance(estimator, LocalDiscretizationTreeClassifier):
        check_is_fitted(estimator)
        cuts = estimator._model.fitted.cuts()
    else:
        raise UnsupportedError(f"a {type(estimator).__name__} has no set of cuts")
    with job() as run:
        _core.write_cuts(_path_text(path), cuts, run)


def _model_of(estimator):
    if isinstance(estimator, _core.Model):
        return estimator
    if not hasattr(estimator, "_to_model"):
        raise UnsupportedError(f"a {type(estimator).__name__} has no model file; pickle keeps it")
    model = estimator._to_model()
    if isinstance(model, bytes):
        with job() as run:
            return _core.Model.of_bytes(model, run)
    return model


def save(estimator, path: FilePath) -> None:
    """Write a fitted estimator, or a :class:`Model`, into a model file, which appears complete or not at all.

    Raises
    ------
    NotFittedError
        For an estimator that is not fitted.
    UnsupportedError
        For one that no model file can hold.

    Examples
    --------
    >>> import os, tempfile
    >>> from stope import LocalDiscretizationTreeClassifier, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tree.stope")
    ...     save(LocalDiscretizationTreeClassifier().fit([[1.0], [2.0]], ["no", "yes"]), path)
    ...     load(path)
    <stope.Model: decision tree of 'class', 1 feature>
    """
    model = _model_of(estimator)
    with job() as run:
        model.write(_path_text(path), run)


def chain(*steps) -> "Model":
    """Join fitted estimators and models into one :class:`Model`: a table passes them in this order.

    Every step but the last gives a table (normalisations, cuts, components); the last may be of any kind. A step finds
    the columns of the one before it by their names: those of frames, and pc1, pc2, ... of components.

    Raises
    ------
    InvalidArgumentError
        Naming the column that a step needs and the one before it does not give.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from stope import PCA, LocalDiscretizationTreeClassifier, chain
    >>> X = pd.DataFrame({"a": np.arange(6.0), "b": [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]})
    >>> y = ["no", "no", "no", "yes", "yes", "yes"]
    >>> pca = PCA(n_components=1).fit(X)
    >>> tree = LocalDiscretizationTreeClassifier().fit(pd.DataFrame(pca.transform(X), columns=["pc1"]), y)
    >>> chain(pca, tree).predict(X)[0]
    'no'
    """
    return Model(_core.Model.chain([_model_of(step) for step in steps]))


def load(path: FilePath) -> "Model":
    """Read a model file, whoever wrote it, and return a :class:`Model`.

    A plain file of 1 MiB or more is mapped, so processes that load one file share its memory. Such a file may be
    replaced, as :func:`save` does, but not written into.

    Raises
    ------
    InvalidDataError
        For a file that is no model, is damaged, or has a newer version.
    """
    with job() as run:
        return Model(_core.Model.read(_path_text(path), run))


def _selected(X, names):
    """The columns of those names, in their order: of a frame of pandas, polars or Arrow, or of a dict of columns."""
    present = set(X if isinstance(X, dict) else getattr(X, "column_names", X.columns))
    for name in names:
        if name not in present:
            raise InvalidDataError(f"X has no column {name!r}")
    if isinstance(X, dict):
        return {name: X[name] for name in names}
    return X.select(names) if hasattr(X, "select") else X[names]


class Model:
    """A fitted model of any kind, as a model file holds it, from :func:`load`.

    Columns of frames are matched by name, those of arrays by place.

    Attributes
    ----------
    kind : str
        "k-NN classifier", "decision tree", "principal components", ...
    gives : {"classes", "numbers", "neighbors", "table"}
        What it gives: ``predict`` (and ``predict_proba``), ``predict``, ``kneighbors``, or ``transform``.
    feature_names_in_ : ndarray of str
    n_features_in_ : int
    target : str or None
        The name of the column that it predicts.
    classes_ : ndarray of str
        Where it gives classes: their names, as the file has them.
    report_ : Report or None
        What ran the last call, and why.
    """

    def __init__(self, model):
        self._model = model
        self._reports = Reports()
        columns = model.columns
        all_columns = [columns.column(index) for index in range(columns.n_columns)]
        self._features = [column for column in all_columns if column.role == "regular"]
        self.target = next((column.name for column in all_columns if column.role == "label"), None)
        with job() as run:
            self._predictor = _core.Predictor.of(model, run)
        self.feature_names_in_ = np.array([column.name for column in self._features], dtype=object)
        if self.gives == "classes":
            self.classes_ = np.array(self._predictor.classes, dtype=object)

    @property
    def kind(self):
        return self._model.kind

    @property
    def gives(self):
        return self._predictor.gives

    @property
    def n_features_in_(self):
        return len(self._features)

    @property
    def report_(self):
        return self._reports.last

    def predict(self, X):
        """Return the class (a str, or None where a model leaves a row without one) or the number of every row."""
        if self.gives == "numbers":
            with job(self._reports) as run:
                return self._predictor.regress(self._table(X, run), run)
        codes, _ = self._classify(X)
        return np.append(self.classes_, None)[codes]

    def predict_proba(self, X):
        """Return the confidences of the classes, of shape (n_rows, n_classes)."""
        return self._classify(X)[1]

    def kneighbors(self, X):
        """Return (distances, indices) of the nearest training rows, each of shape (n_rows, n_neighbors)."""
        self._require("neighbors")
        with job(self._reports) as run:
            offsets, indices, distances = self._predictor.neighbors(self._table(X, run), run)
        n_rows = len(offsets) - 1
        return distances.reshape(n_rows, -1), indices.reshape(n_rows, -1)

    def transform(self, X):
        """Return the scores or the normalised columns as an array, or the codes of cuts as a :class:`Table`."""
        self._require("table")
        with job(self._reports) as run:
            table = self._predictor.transform(self._table(X, run), run)
        columns = [table.column(index) for index in range(table.n_columns)]
        columns = [column for column in columns if column.role == "regular"]
        if not any(column.is_nominal for column in columns):
            return np.column_stack([column.array() for column in columns]) if columns else np.empty((table.n_rows, 0))
        return Table(table)

    def explain(self, X, n_attributes=5):
        """Return what decided the prediction of every row, as a :class:`Table`.

        Parameters
        ----------
        X : array-like, DataFrame or Table
            The rows.
        n_attributes : int, default=5
            k-NN: how many attributes of each neighbour are listed, the largest share of its distance first.

        Returns
        -------
        table : Table
            k-NN: a row for each query ("row"), neighbour ("pos", "train_index", "train_label", "distance", "weight",
            "vote_share") and attribute ("attribute", "term", "attribute_share"). Trees: "rule" and "because". Least
            squares: the "contribution" of every "attribute"; the one without a name is the intercept.
        """
        with job(self._reports) as run:
            options = {"explain": "true", "explain_attributes": str(n_attributes)}
            return Table(_core.apply_model(self._predictor, self._table(X, run), options, run))

    def export(self, format="text"):
        """Return a tree as a str: "text", "json", "dot", "svg" or "rules"."""
        return self._tree().format(format)

    def with_vote(self, n_neighbors, weights="uniform"):
        """Return the same k-NN model with another k and other weights of votes; nothing is fitted again.

        :func:`save` and pickle keep the new vote.
        """
        model = object.__new__(Model)
        model.__dict__.update(self.__dict__)
        model._reports = Reports()
        model._predictor = self._predictor.with_vote(n_neighbors, weights)
        model._model = model._predictor.model
        return model

    def _classify(self, X):
        self._require("classes")
        with job(self._reports) as run:
            return self._predictor.classify(self._table(X, run), run)

    def _require(self, what):
        if self.gives != what:
            raise InvalidArgumentError(f"this model ({self.kind}) gives {self.gives}, not {what}")

    def _tree(self):
        fitted = self._model.fitted
        if not isinstance(fitted, _core.DecisionTree):
            raise InvalidArgumentError(f"this model ({self.kind}) is no tree")
        return fitted

    def _table(self, X, run):
        """The rows of X as a table with this model's features."""
        if isinstance(X, (Table, _core.Table)):
            return getattr(X, "_core_table", X)
        names = [column.name for column in self._features]
        nominal = [column.name for column in self._features if column.is_nominal]
        if hasattr(X, "columns") or isinstance(X, dict):
            X = _selected(X, names)
        else:
            X = array_of(X)
            if X.ndim != 2 or X.shape[1] != len(names):
                raise InvalidDataError(f"Expected 2D array with {len(names)} features, got an array of shape {X.shape}")
            if X.dtype.kind in "fiub" and not nominal:
                return _core.Table.of_array(as_numbers(X), names, True, run)
            X = {name: X[:, index] for index, name in enumerate(names)}
        rows = check_X(
            "Model", X, reset=True, categorical_features=nominal or None, missing="any", ensure_min_samples=0
        )
        return rows.as_table(run, share=True)

    def _to_model(self):
        return self._model

    @property
    def parameters_(self):
        """What was fitted, as a dict; it depends on the kind. A tree has "nodes", "rules" and "cuts", a chain "steps"."""
        return self._parameters_of(self._model)

    def _parameters_of(self, model):
        fitted = model.fitted
        if isinstance(fitted, _core.DecisionTree):
            return {"nodes": fitted.nodes(), "rules": fitted.rules(), "cuts": fitted.cuts()}
        if "steps" in fitted:
            return {"steps": [(step.kind, self._parameters_of(step)) for step in fitted["steps"]]}
        return fitted

    def __reduce__(self):
        return Model, (self._model,)

    def __repr__(self):
        of = f" of {self.target!r}" if self.target else ""
        features = "1 feature" if self.n_features_in_ == 1 else f"{self.n_features_in_} features"
        return f"<stope.Model: {self.kind}{of}, {features}>"

    def _repr_html_(self):
        facts = [("kind", self.kind), ("target", self.target), ("features", len(self._features))]
        if self.gives == "classes":
            facts.append(("classes", ", ".join(self.classes_[:20])))
        fitted = self._model.fitted
        if isinstance(fitted, _core.DecisionTree):
            is_small = len(fitted.nodes()["parent"]) <= _html.MOST_NODES_IN_A_VIEW
            part = _html.svg(fitted.format("svg")) if is_small else ""
        elif "steps" in fitted:
            part = _html.table(["step", "kind"], ((at, step.kind) for at, step in enumerate(fitted["steps"], start=1)))
        elif "coefficients" in fitted:
            facts += [("intercept", fitted["intercept"]), ("R²", fitted["r2"])]
            rows = zip(fitted["feature_names"], fitted["coefficients"].tolist())
            part = _html.table(["feature", "coefficient"], rows)
        elif "components" in fitted:
            shares = fitted["explained_variance_ratio"].tolist()
            part = _html.table(["component", "share of the variance"], enumerate(shares, start=1))
        elif "metric" in fitted:
            facts += [(name, fitted[name]) for name in ("metric", "n_neighbors", "weights", "normalize")]
            facts.append(("training rows", fitted["train"].n_rows))
            part = _html.table(["feature", "type"], [(column.name, column.type) for column in self._features])
        elif "cuts" in fitted:
            rows = [(name, len(cuts), ", ".join(map(str, cuts[:12]))) for name, cuts in fitted["cuts"]]
            part = _html.table(["feature", "cuts", "which"], rows)
        else:
            facts.append(("method", fitted["method"]))
            rows = [(one["name"], one["shift"], one["scale"]) for one in fitted["columns"]]
            part = _html.table(["column", "shift", "scale"], rows)
        return _html.card("stope.Model", _html.pairs(facts), part)
