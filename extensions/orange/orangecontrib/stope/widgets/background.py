"""Jobs of widgets in a thread: progress, cancellation, and words for what went wrong."""

import logging

from Orange.widgets import gui
from Orange.widgets.utils.concurrent import ConcurrentWidgetMixin

from ..engine import EngineMissing, watched
from ..table import DataError
from .choices import DEVICES, name_combo

__all__ = ["Interrupted", "WatchedJobs", "run_watched", "words_of"]

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
        return f"There is not enough memory. {_sentence(str(error))} Take fewer rows with Data Sampler.".replace("  ", " ")
    if isinstance(error, (DataError, EngineMissing)) or type(error).__module__.startswith("stope"):
        return _sentence(str(error))
    log.error("a job failed", exc_info=error)
    return f"{type(error).__name__}: {error}"


def _sentence(text):
    ended = not text or text.endswith((".", ")", "?"))
    return text[:1].upper() + text[1:] + ("" if ended else ".")


class WatchedJobs(ConcurrentWidgetMixin):
    """A widget's jobs: where they compute, and what is told of them.

    The widget has the setting ``device``, ``Error.failed``, ``Warning.remarks``, ``settings_changed`` and
    ``send_nothing``.
    """

    def add_device_box(self):
        box = gui.vBox(self.controlArea, "Computation")
        self.device_combo = name_combo(box, self, "device", DEVICES, "On:", self.settings_changed)

    def begin(self):
        """End the job that runs, and take back what was told of it."""
        self.cancel()
        self.Error.failed.clear()
        self.Warning.remarks.clear()

    def tell_remarks(self, remarks):
        if remarks:
            self.Warning.remarks(" ".join(remarks))

    def on_exception(self, ex):
        if isinstance(ex, Interrupted):
            return
        self.Error.failed(words_of(ex))
        self.send_nothing()

    def on_partial_result(self, result):
        """Nothing: results come as a whole."""
