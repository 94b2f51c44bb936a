"""Jobs of stope's engine: started, watched, stopped, and what they warned of.

The add-on calls jobs by name, as the server does (``stope._core.fit_model``). So one model holds normalisation and
search, pickles as a model file, and can be cancelled while it is fitted.
"""

import json
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

__all__ = ["EngineMissing", "FittedModel", "best_cuts", "find_cuts", "fit", "job", "native", "watched"]

_watcher = ContextVar("stope_watcher", default=None)


class EngineMissing(ImportError):
    """The Python package stope cannot be imported."""


def native():
    """The engine's module.

    Raises
    ------
    EngineMissing
        Where the package stope is not installed, or cannot be loaded.
    """
    try:
        from stope import _core
    except ImportError as error:
        raise EngineMissing(
            f"The package stope is missing: install its wheel into Orange's Python, and start Orange again. ({error})"
        ) from error
    return _core


@contextmanager
def watched(callback):
    """Jobs inside the ``with`` block call ``callback(share)``, with a share from 0 to 1, about every 50 ms.

    Whatever the callback raises cancels the job, and leaves it.
    """
    token = _watcher.set(callback)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def job(device="auto", remarks=None):
    """Yield the run of one job. ``remarks`` is a list that gets the sentences that the engine warns with."""
    core = native()
    from stope import get_config

    config = get_config()
    watcher = _watcher.get()
    raised = []

    def attend(phase, done, total):
        try:
            if not raised:
                watcher(done / total if total > 0 else 0.0)
        except BaseException as error:
            raised.append(error)
            run.cancel()

    run = core.Run(
        config["threads"] or 0, config["memory_limit"] or 0, device, None if watcher is None else attend
    )
    try:
        yield run
    except Exception:
        if raised:
            raise raised[0] from None
        raise
    if raised:
        raise raised[0]
    if remarks is not None:
        remarks.extend(text for _, text in run.warnings if text not in remarks)


class FittedModel:
    """A model of the engine. It pickles as the bytes of a model file.

    Attributes
    ----------
    predictor : stope._core.Predictor
    device : str
        Where it computes.
    remarks : list of str
        What the engine warned of.
    """

    def __init__(self, predictor, device="auto", remarks=()):
        self.predictor = predictor
        self.device = device
        self.remarks = list(remarks)

    def __getstate__(self):
        return {"model": self.predictor.model, "device": self.device, "remarks": self.remarks}

    def __setstate__(self, state):
        with job() as run:
            self.__init__(native().Predictor.of(state["model"], run), state["device"], state["remarks"])

    def classify(self, table):
        """The class of every row (-1 is none), and the classes' confidences, of shape (n_rows, n_classes)."""
        with job(self.device) as run:
            return self.predictor.classify(table, run)

    def regress(self, table):
        """The number predicted for every row."""
        with job(self.device) as run:
            return self.predictor.regress(table, run)

    def neighbors(self, table, n_neighbors):
        """Distances and training rows of the nearest neighbours, each of shape (n_rows, n_neighbors)."""
        with job(self.device) as run:
            lists = native().model_neighbors(self.predictor, table, n_neighbors, run=run)
        found = {lists.column(index).name: lists.column(index).array() for index in range(lists.n_columns)}
        shape = (table.n_rows, n_neighbors)
        return found["distance"].reshape(shape), found["train_index"].astype(np.int64).reshape(shape)

    def transform(self, table):
        """The table that the model makes of a table, and the engine's report as a dict."""
        with job(self.device) as run:
            made = self.predictor.transform(table, run)
        return made, json.loads(run.report_json or "{}")

    def fitted(self):
        """What was fitted: a ``_core.DecisionTree``, or a dict."""
        return self.predictor.model.fitted


def fit(kind, table, options, device="auto"):
    """Fit a model of a kind of the engine: "classify", "regress", "tree", ..."""
    remarks = []
    with job(device, remarks) as run:
        native().require_backend(run)
        predictor = native().fit_model(kind, table, {name: _text(value) for name, value in options.items()}, run=run)
    return FittedModel(predictor, device, remarks)


def best_cuts(table, *, criterion, missing, n_permutations, seed, device="auto", remarks=None):
    """The best cut of every attribute: a list of dicts, in the order of the attributes."""
    with job(device, remarks) as run:
        found = native().best_cuts(
            table, criterion=criterion, missing=missing, n_permutations=n_permutations, seed=seed, run=run
        )["cuts"]
    return sorted(found, key=lambda one: one["feature"])


def find_cuts(table, *, method, missing, n_bins, max_cuts, confidence, min_intervals, device="auto", remarks=None):
    """The cuts of every attribute that has any, as (name, numbers or values)."""
    with job(device, remarks) as run:
        return native().find_cuts(
            table, method=method, missing=missing, n_bins=n_bins, max_cuts=max_cuts, confidence=confidence,
            min_intervals=min_intervals, run=run,
        )


def _text(value):
    """An option's value as the engine reads it: a number has all of its digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)
