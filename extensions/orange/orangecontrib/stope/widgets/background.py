"""Jobs of widgets in a thread: progress, cancellation, and words for what went wrong."""

import logging

from ..engine import EngineMissing, watched
from ..table import DataError

__all__ = ["Interrupted", "run_watched", "words_of"]

log = logging.getLogger(__name__)


class Interrupted(Exception):
    """The widget has new data or new settings, or is closed."""


def run_watched(job, *args, state):
    """Run ``job(*args)`` in a thread of ``ConcurrentWidgetMixin``, which passes ``state``."""

    def attend(share, *_):
        if state.is_interruption_requested():
            raise Interrupted
        state.set_progress_value(100 * share)

    with watched(attend):
        attend(0.0)
        return job(*args)


def words_of(error):
    """What a person is told of a job that failed: the text of an error that was expected, else its type, too."""
    if isinstance(error, MemoryError):
        return f"There is not enough memory. {error}".strip()
    expected = isinstance(error, (DataError, EngineMissing)) or type(error).__module__.startswith("stope")
    if expected:
        text = str(error)
        return text[:1].upper() + text[1:] + ("" if text.endswith((".", ")", "?")) else ".")
    log.error("a job failed", exc_info=error)
    return f"{type(error).__name__}: {error}"
