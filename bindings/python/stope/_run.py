"""One job of the engine: what Python says of it, and what it says of itself."""

import json
import operator
import os
import sys
import warnings

from . import _core
from ._config import get_config

__all__ = ["Report", "StopeWarning", "data_run", "job", "warn"]


class StopeWarning(UserWarning):
    """Something of the data or the answer that is probably not what was meant. ``code`` names the kind."""

    code = None


class Report(dict):
    """What ran a job, and why: the members of the engine's report. ``str(report)`` is a text for people."""

    def __init__(self, members=(), text=""):
        super().__init__(members)
        self.text = text

    def __str__(self):
        return self.text

    def __reduce__(self):
        return Report, (dict(self), self.text)


class Reports:
    """Holds an estimator's last report. Predicting replaces the report and leaves the estimator's own dict alone."""

    def __init__(self):
        self._last = None  # a Report, or the run that has one: most reports are never read

    def keep(self, run):
        """Keeps the report of a run. Its texts are made when it is asked for."""
        self._last = run

    @property
    def last(self):
        last = self._last
        return Report(json.loads(last.report_json), last.report_text) if isinstance(last, _core.Run) else last

    @last.setter
    def last(self, report):
        self._last = report

    def __getstate__(self):
        return {"_last": self.last}


def _threads(n_jobs):
    if n_jobs is None:
        return get_config()["threads"] or 0
    try:
        n_jobs = operator.index(n_jobs)
    except TypeError:
        raise TypeError(f"n_jobs is a whole number or None; got {n_jobs!r}") from None
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning")
    if n_jobs < 0:  # joblib's rule: -1 is all, -2 all but one
        return max((len(os.sched_getaffinity(0)) + 1 + n_jobs), 1) if n_jobs != -1 else 0
    return n_jobs


def _progress(setting):
    if setting is None or setting is False:
        return None
    if setting is True:
        from ._progress import Bar

        return Bar()
    return setting


def data_run():
    """A ``_core.Run`` that converts data: it has the threads and the memory limit that hold here, and no progress."""
    config = get_config()
    return _core.Run(_threads(None), config["memory_limit"] or 0)


class job:  # noqa: N801: a context manager; as a generator it would take twice as long
    """The ``_core.Run`` of one job; afterwards its report is in ``reports.last`` and its warnings are given."""

    def __init__(self, reports=None, *, n_jobs=None, device="auto"):
        config = get_config()
        if device == "auto":
            device = config["device"] or "auto"
        setting = config["progress"]
        progress = None if setting is None else _progress(setting)
        self._reports, self._bar = reports, None if progress is setting else progress
        self._run = _core.Run(_threads(n_jobs), config["memory_limit"] or 0, device, progress)

    def __enter__(self):
        return self._run

    def __exit__(self, kind, error, trace):
        if self._bar is not None:
            self._bar.close()
        if kind is not None:
            return
        run = self._run
        if self._reports is not None and run.has_report:
            self._reports.keep(run)
        for code, text in run.warnings:
            warning = StopeWarning(text)
            warning.code = code
            warn(warning)


_PASSED_THROUGH = ("stope", "sklearn", "contextlib")


def warn(warning):
    """Give a warning that points at the line of the caller's program, not into stope or scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED_THROUGH:
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level if frame is not None else 2)
