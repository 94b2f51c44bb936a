"""How much the state folder may hold."""

import os
from pathlib import Path
from typing import Callable

from ..problems import Problem

__all__ = ["Room", "disk_full"]

_LEAST_FREE = 0.05  # of the disk, where no limit is set


def disk_full(detail: str = "the disk of the server has no room for it; what was there is unchanged") -> Problem:
    return Problem(507, "state-full", detail)


class Room:
    """Says whether so many more bytes may be kept.

    Parameters
    ----------
    state : Path
        The state folder.
    most : int
        Bytes that all tables and models may have; 0 keeps only a twentieth of the disk free.
    used : callable
        Returns the bytes that tables and models have now.
    """

    def __init__(self, state: Path, most: int, used: Callable[[], int]):
        self._state, self._most, self._used = state, most, used

    def require(self, new_bytes: int, old_bytes: int = 0, in_spool: int = 0) -> None:
        """Raise a Problem if a file of ``new_bytes`` cannot replace one of ``old_bytes``.

        ``in_spool`` says how much of the new file the disk has already.
        """
        if self._most > 0:
            used = self._used() - old_bytes
            if used + new_bytes > self._most:
                raise disk_full(f"tables and models have {used} of {self._most} bytes, and this needs {new_bytes}; "
                                "delete some, or raise the limit of the state folder")
            return
        disk = os.statvfs(self._state)
        free = disk.f_bavail * disk.f_frsize - (new_bytes - in_spool)
        if free < _LEAST_FREE * disk.f_blocks * disk.f_frsize:
            raise disk_full(f"{new_bytes} bytes would leave less than a twentieth of the server's disk free; "
                            "delete tables or models that nobody needs")
