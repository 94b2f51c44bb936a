"""One job of the engine: what Python says of it, and what it says of itself."""

import json
import operator
import os
import sys
import warnings
from contextlib import contextmanager

from . import _core
from ._config import get_config

__all__ = ["Report", "StopeWarning", "job", "warn"]


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
        self._last = None  # a Report, or its JSON and text: most reports are never read

    def keep(self, report_json, report_text):
        """Keeps a report of the engine's. It is parsed when it is asked for."""
        self._last = report_json, report_text

    @property
    def last(self):
        last = self._last
        return Report(json.loads(last[0]), last[1]) if isinstance(last, tuple) else last

    @last.setter
    def last(self, report):
        self._last = report


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


@contextmanager
def job(reports=None, *, n_jobs=None, device="auto"):
    """Yield the ``_core.Run`` of one job; afterwards its report is in ``reports.last`` and its warnings are given."""
    config = get_config()
    if device == "auto":
        device = config["device"] or "auto"
    progress = _progress(config["progress"])
    run = _core.Run(_threads(n_jobs), config["memory_limit"] or 0, device, progress)
    try:
        yield run
    finally:
        if hasattr(progress, "close"):
            progress.close()
    if reports is not None and run.report_json:
        reports.keep(run.report_json, run.report_text)
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
