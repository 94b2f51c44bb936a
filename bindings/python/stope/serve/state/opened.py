"""Things that are kept open: tables that are mapped, models that are ready."""

import threading
from collections import OrderedDict
from typing import Callable, Hashable, Tuple, TypeVar

__all__ = ["Opened"]

T = TypeVar("T")


class _Opening:
    """One thing that a thread is making, while others wait for it."""

    def __init__(self):
        self.lock = threading.Lock()


class Opened:
    """The things used last, as many as a number of bytes allows.

    A thing that is dropped lives on as long as somebody uses it. Threads that ask for the same thing make it once.

    Parameters
    ----------
    most_bytes : int
        A thing that is larger by itself is kept until another is opened.
    """

    def __init__(self, most_bytes: int):
        self._most_bytes = most_bytes
        self._things: "OrderedDict[Hashable, Tuple[object, int]]" = OrderedDict()
        self._openings: dict = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def ready(self, key: Hashable):
        """The thing, or None where it is not open. Takes no time."""
        with self._lock:
            found = self._things.get(key)
            if found is None:
                return None
            self._things.move_to_end(key)
            return found[0]

    def get(self, key: Hashable, make: Callable[[], Tuple[T, int]]) -> T:
        """The thing; ``make`` returns it and its bytes where it is not open."""
        thing = self.ready(key)
        if thing is not None:
            return thing
        with self._lock:
            opening = self._openings.setdefault(key, _Opening())
        try:
            with opening.lock:
                thing = self.ready(key)
                if thing is None:
                    thing, n_bytes = make()
                    self._keep(key, thing, n_bytes)
                return thing
        finally:
            with self._lock:
                self._openings.pop(key, None)

    def _keep(self, key, thing, n_bytes):
        dropped = []
        with self._lock:
            self._things[key] = thing, n_bytes
            self._bytes += n_bytes
            while self._bytes > self._most_bytes and len(self._things) > 1:
                _, (old, old_bytes) = self._things.popitem(last=False)
                self._bytes -= old_bytes
                dropped.append(old)
        del dropped  # their memory goes outside the lock: that may take long

    def drop(self, key: Hashable) -> None:
        with self._lock:
            thing, n_bytes = self._things.pop(key, (None, 0))
            self._bytes -= n_bytes
        del thing
