"""Counts the calls that stope answered and those that it left to scikit-learn."""

import threading
import time
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

__all__ = ["Call", "Leave", "Summary", "call", "clear", "current", "hidden", "missing", "summary", "watch"]


class Leave(Exception):
    """Raised where a call turns out to be scikit-learn's; its text is the reason."""


@dataclass
class Call:
    """One call from outside scikit-learn."""

    name: str
    answered: bool = False
    why: str = ""  # stope left it, if not empty
    plan: object = None  # what the seams further in need to know


@dataclass
class _Count:
    answered: int = 0
    seconds: float = 0.0
    left: Counter = field(default_factory=Counter)


missing = []  # seams that this scikit-learn does not have
_counts = {}
_lock = threading.Lock()
_current = ContextVar("stope_accel_call", default=None)
_watchers = []


def current():
    """The call that is under way, or None."""
    return _current.get()


@contextmanager
def hidden():
    """Hide the plan of the call that is under way: the block is another call, which rows or hooks of a program make."""
    outer = _current.get()
    token = _current.set(replace(outer, plan=None))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def call(name):
    """Count the block as one call, which yields its :class:`Call`. Inside another call it yields None and counts not.

    A block that ends with an exception, and was not answered by then, is not counted: scikit-learn refused it.
    """
    if _current.get() is not None:
        yield None
        return
    this = Call(name)
    token = _current.set(this)
    began = time.perf_counter()
    try:
        yield this
    except BaseException:
        if this.answered:
            _add(this, time.perf_counter() - began)
        raise
    else:
        if this.answered or this.why:
            _add(this, time.perf_counter() - began)
    finally:
        _current.reset(token)


def _add(this, seconds):
    with _lock:
        count = _counts.setdefault(this.name, _Count())
        if this.answered:
            count.answered += 1
            count.seconds += seconds
        else:
            count.left[this.why] += 1
    for watcher in _watchers:
        watcher(this)


@contextmanager
def watch(watcher):
    """Call ``watcher`` with every call that ends inside the block."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def clear():
    with _lock:
        _counts.clear()


class Summary(list):
    """What :func:`stope.accel.summary` returns."""

    missing = ()

    def __str__(self):
        lines = ["Calls to scikit-learn in zero-change mode"]
        if not self:
            lines.append("  none that stope could answer")
        else:
            width = max(len("call"), *(len(row["call"]) for row in self))
            lines.append(f"  {'call':<{width}}  {'stope':>8}  {'seconds':>8}  {'sklearn':>8}  why scikit-learn")
            for row in self:
                why = ", ".join(f"{n} x {reason}" for reason, n in sorted(row["why"].items(), key=lambda w: (-w[1], w[0])))
                line = f"  {row['call']:<{width}}  {row['answered']:>8}  {row['seconds']:>8.3f}  {row['left']:>8}  {why}"
                lines.append(line.rstrip())
        lines += [f"  left alone: {text}" for text in self.missing]
        return "\n".join(lines)

    __repr__ = __str__


def summary():
    with _lock:
        rows = Summary(
            {
                "call": name,
                "answered": count.answered,
                "left": sum(count.left.values()),
                "seconds": count.seconds,
                "why": dict(count.left),
            }
            for name, count in sorted(_counts.items())
        )
    rows.missing = tuple(missing)
    return rows
