"""Progress for people: tqdm's bar where it is installed, else a line on stderr."""

import sys
import time

from . import _core

__all__ = ["Bar"]

_LINE_EVERY = 0.2  # seconds


class Bar:
    """A progress callback that shows one bar for each phase of a job that takes longer than a second."""

    def __init__(self):
        self._begin, self._delay = time.monotonic(), _core.progress_delay() / 1000
        self._phase, self._shown = None, None

    def __call__(self, phase, done, total):
        if time.monotonic() - self._begin < self._delay:
            return
        if phase != self._phase:
            self.close()
            self._phase, self._shown = phase, _shown(phase, total)
        self._shown.show(done, total)

    def close(self):
        """Take the bar away."""
        if self._shown is not None:
            self._shown.close()
        self._phase, self._shown = None, None


def _shown(phase, total):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(phase)
    return _Tqdm(tqdm(desc=phase, total=total or None, leave=False, unit_scale=True, unit=""))


class _Tqdm:
    def __init__(self, bar):
        self._bar = bar

    def show(self, done, total):
        self._bar.update(done - self._bar.n)

    def close(self):
        self._bar.close()


class _Line:
    """A line that is written over; where stderr is no terminal, one line for the phase."""

    def __init__(self, phase):
        self._phase, self._width, self._last = phase, 0, float("-inf")
        self._stream = sys.stderr
        self._terminal = self._stream is not None and self._stream.isatty()
        if self._stream is not None and not self._terminal:
            self._stream.write(f"stope: {phase}\n")

    def show(self, done, total):
        if not self._terminal or time.monotonic() - self._last < _LINE_EVERY:
            return
        self._last = time.monotonic()
        self._write(f"{self._phase}: {100 * done // total} %" if total else f"{self._phase}: {done}")

    def close(self):
        if self._terminal and self._width:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, text):
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)
