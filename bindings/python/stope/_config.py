"""How jobs run unless an estimator says otherwise: threads, memory, device, progress."""

from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["config_context", "get_config", "set_config"]

_DEFAULTS = {"threads": None, "memory_limit": None, "device": None, "progress": None}
_process = dict(_DEFAULTS)
_context = ContextVar("stope_config", default={})


def get_config():
    """Return the settings that hold here, as a dict."""
    return {**_process, **_context.get()}


def set_config(**settings):
    """Set defaults for all jobs of this process: the keywords of :func:`config_context`."""
    _process.update(_checked(settings))


@contextmanager
def config_context(**settings):
    """Settings for the jobs inside a ``with`` block, in this thread or task.

    Parameters
    ----------
    threads : int or None
        CPU threads of a job; None takes all that the process may use. An estimator's ``n_jobs`` wins.
    memory_limit : int or None
        Bytes that a job may hold beyond its inputs; None takes 80 % of what is available now.
    device : str or None
        "auto", "cpu", "cuda", "cuda:0,1", or "cuda:UUID"; an estimator's ``device`` wins unless it is "auto".
    progress : callable, True or None
        Called with (phase, done, total) about every 50 ms; True shows a bar (tqdm's, where it is installed).
    """
    token = _context.set({**_context.get(), **_checked(settings)})
    try:
        yield
    finally:
        _context.reset(token)


def _checked(settings):
    for name in settings:
        if name not in _DEFAULTS:
            raise TypeError(f"stope has no setting {name!r}; it has {', '.join(_DEFAULTS)}")
    for name in ("threads", "memory_limit"):
        number = settings.get(name)
        if number is not None and (not hasattr(number, "__index__") or isinstance(number, bool)):
            raise TypeError(f"{name} is a whole number or None; got {number!r}")
        if number is not None and number < 1:
            raise ValueError(f"{name} is at least 1; got {number}")
    device, progress = settings.get("device"), settings.get("progress")
    if device is not None and not isinstance(device, str):
        raise TypeError(f"device is a str or None; got {device!r}")
    if progress not in (None, True, False) and not callable(progress):
        raise TypeError(f"progress is a function of (phase, done, total), True or None; got {progress!r}")
    return settings
