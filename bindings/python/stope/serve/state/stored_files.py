"""A folder of named files, each of which is old or new as a whole, whenever the process dies."""

import errno
import os
import secrets
import stat
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional, TypeVar

from ..problems import Problem
from .conditions import Condition
from .names import check_name, is_anonymous
from .room import Room, disk_full

__all__ = ["Entry", "Replaced", "StoredFiles", "sync_folder"]

T = TypeVar("T")

_TOUCH = 60  # seconds between two notes of an anonymous file's use


@dataclass(frozen=True)
class Entry:
    """One version of a file. ``etag`` tells versions apart, also after a restart."""

    name: str
    path: Path
    etag: str
    bytes: int
    changed: float


class Replaced(Exception):
    """The file of an Entry is no longer there: another version has taken its place, or it has been deleted."""


def sync_folder(folder: Path) -> None:
    """Make names that were added to a folder last."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class StoredFiles:
    """Named files in one folder.

    A file is written into the spool folder of the same disk, synced, and renamed. So a name has the old file or the new
    one, and readers that hold the old one keep it. The index in memory is right because one server owns the folder.

    Parameters
    ----------
    folder, spool : Path
    suffix : str
        Of the files, such as ".arrow".
    what : str
        A word for messages: "table" or "model".
    room : Room
    """

    def __init__(self, folder: Path, spool: Path, suffix: str, what: str, room: Room):
        self._folder, self._spool, self._suffix, self._what, self._room = folder, spool, suffix, what, room
        self._lock = threading.Lock()
        self._last_stamp = 0
        self._touched: Dict[str, float] = {}
        folder.mkdir(mode=0o700, exist_ok=True)
        self._entries = {entry.name: entry for entry in self._found()}

    def _found(self):
        for path in self._folder.iterdir():
            name = path.name.removesuffix(self._suffix)
            try:
                check_name(name, self._what)
            except Problem:
                continue  # not ours
            facts = path.lstat()
            if path.name != name + self._suffix or not stat.S_ISREG(facts.st_mode):
                continue
            self._last_stamp = max(self._last_stamp, facts.st_mtime_ns)
            yield _entry(name, path, facts)

    @property
    def bytes(self) -> int:
        return sum(entry.bytes for entry in list(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    def listed(self) -> List[Entry]:
        """The files that callers have named, sorted by name."""
        entries = [entry for entry in list(self._entries.values()) if not is_anonymous(entry.name)]
        return sorted(entries, key=lambda entry: entry.name)

    def find(self, name: str) -> Optional[Entry]:
        return self._entries.get(check_name(name, self._what))

    def entry(self, name: str) -> Entry:
        """The current version of a name, or a Problem 404."""
        entry = self.find(name)
        if entry is None:
            raise Problem(404, f"no-{self._what}", f"there is no {self._what} {name!r}")
        if is_anonymous(name):
            self._note_use(entry)
        return entry

    def current(self, name: str, use: Callable[[Entry], T]) -> T:
        """Call ``use`` with the current version, and again with the next one as often as it raises Replaced."""
        while True:
            entry = self.entry(name)
            try:
                return use(entry)
            except Replaced:
                continue

    def open(self, entry: Entry) -> int:
        """Open a file for reading and return its descriptor, or raise Replaced."""
        try:
            handle = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            raise Replaced from None
        if _etag(os.fstat(handle)) != entry.etag:
            os.close(handle)
            raise Replaced
        return handle

    def new_path(self) -> Path:
        """A path in the spool folder that nobody has."""
        return self._spool / (secrets.token_hex(16) + self._suffix)

    def require_room(self, name: str, n_bytes: int) -> None:
        """Raise a Problem 507 if a file of so many bytes has no room under that name."""
        old = self._entries.get(name)
        self._room.require(n_bytes, old.bytes if old else 0)

    def check(self, name: str, condition: Condition) -> None:
        """Raise a Problem 412 before anything is read or computed for nothing."""
        old = self._entries.get(name)
        condition.check(old.etag if old else None)

    def commit(self, name: str, written: Path, condition: Condition = Condition()) -> tuple:
        """Give a complete file in the spool folder a name, and return (Entry, whether the name is new).

        When it returns, the file survives a crash of the machine.
        """
        try:
            return self._commit(name, written, condition)
        except OSError as error:
            raise disk_full() if _is_full(error) else error
        finally:
            written.unlink(missing_ok=True)

    def _commit(self, name, written, condition):
        handle = os.open(written, os.O_RDWR | os.O_CLOEXEC)
        try:
            os.fsync(handle)  # long: not under the lock
            with self._lock:
                old = self._entries.get(name)
                condition.check(old.etag if old else None)
                size = os.fstat(handle).st_size
                self._room.require(size, old.bytes if old else 0, in_spool=size)
                self._stamp(handle)
                os.fsync(handle)
                path = self._folder / (name + self._suffix)
                os.rename(written, path)
                entry = _entry(name, path, os.fstat(handle))
                self._entries[name] = entry
                sync_folder(self._folder)
                return entry, old is None
        finally:
            os.close(handle)

    def _stamp(self, handle):
        # The version is made of size, inode and this time, which is never given twice, so that it needs no file of its
        # own: two files of one size within a clock's tick differ, also where the second has the inode of the first.
        self._last_stamp = max(time.time_ns(), self._last_stamp + 1000)
        os.utime(handle, ns=(self._last_stamp, self._last_stamp))

    def delete(self, name: str, condition: Condition = Condition()) -> None:
        check_name(name, self._what)
        with self._lock:
            entry = self.entry(name)
            condition.check(entry.etag)
            os.unlink(entry.path)
            del self._entries[name]
            self._touched.pop(name, None)
            sync_folder(self._folder)

    def _note_use(self, entry):
        now = time.time()
        if now - self._touched.get(entry.name, 0) < _TOUCH:
            return
        self._touched[entry.name] = now
        try:
            changed = os.stat(entry.path).st_mtime_ns
            os.utime(entry.path, ns=(int(now * 1e9), changed))
        except OSError:
            pass  # it has been deleted, or the disk is read-only: it expires a little earlier

    def expire(self, keep_seconds: float) -> int:
        """Delete anonymous files that nobody has used for so long, and return how many."""
        n_deleted = 0
        for entry in [entry for entry in list(self._entries.values()) if is_anonymous(entry.name)]:
            try:
                used = max(os.stat(entry.path).st_atime, self._touched.get(entry.name, 0))
                if time.time() - used > keep_seconds:
                    self.delete(entry.name)
                    n_deleted += 1
            except (OSError, Problem):
                continue  # deleted by its owner meanwhile
        return n_deleted


def _is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _etag(facts: os.stat_result) -> str:
    return f'"{facts.st_mtime_ns:x}-{facts.st_ino:x}-{facts.st_size:x}"'


def _entry(name, path, facts):
    return Entry(name, path, _etag(facts), facts.st_size, facts.st_mtime)
