"""The log: one JSON object a line on standard error. It tells who did what and when, and never what is in the data."""

import json
import logging
import sys
import threading
import time
import traceback

__all__ = ["Log", "take_over"]


class Log:
    """Writes lines.

    Parameters
    ----------
    stream : text file, optional
        By default standard error. A stream that cannot be written to is given up silently: the server goes on.
    """

    def __init__(self, stream=None):
        self._stream = stream if stream is not None else sys.stderr
        self._lock = threading.Lock()

    def write(self, event: str, **members) -> None:
        """Write one line with the time, the event and the members that are not None."""
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
        line = {"time": f"{stamp}.{int(now % 1 * 1000):03d}Z", "event": event}
        line.update((name, value) for name, value in members.items() if value is not None)
        text = json.dumps(line, default=str) + "\n"
        try:
            with self._lock:
                self._stream.write(text)
                self._stream.flush()
        except (OSError, ValueError):
            pass  # nobody reads it any more

    def failure(self, error: BaseException, **members) -> None:
        """Write what failed: the classes and the places in the code, without messages, which may quote data."""
        self.write("failure", error=_classes_of(error), places=_places_of(error), **members)


def _classes_of(error):
    names = []
    while error is not None and len(names) < 5:
        names.append(type(error).__name__)
        error = error.__cause__ or error.__context__
    return names


def _places_of(error):
    innermost = error
    for _ in range(5):
        innermost = innermost.__cause__ or innermost.__context__ or innermost
    frames = traceback.extract_tb(innermost.__traceback__)[-8:]
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]


class _Handler(logging.Handler):
    """Sends records of other packages to the log. Their arguments and exceptions' messages may be data."""

    def __init__(self, log):
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record):
        text = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
        text = text.strip().partition("\n")[0][:200]  # further lines are tracebacks, whose messages may quote data
        if record.exc_info and record.exc_info[1] is not None:
            self._log.failure(record.exc_info[1], source=record.name, text=text)
        else:
            self._log.write("message", source=record.name, level=record.levelname.lower(), text=text)


def take_over(log: Log) -> None:
    """Let the warnings of all packages in the process go to ``log``, as lines like the others."""
    root = logging.getLogger()
    root.handlers[:] = [_Handler(log)]
    root.setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = name != "uvicorn.access"
        logger.setLevel(logging.ERROR)  # its warnings are of clients, which have their own lines
