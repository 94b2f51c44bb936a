"""Tables by name: mapped files that are the engine's layout."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import List

from stope import _core

from ..problems import Problem
from .conditions import Condition
from .opened import Opened
from .room import Room, disk_full
from .stored_files import Entry, StoredFiles

__all__ = ["StoredTable", "StoredTables"]

_KEPT_VALUES = 256 << 20  # bytes of nominal values of tables that are open; numbers are the page cache's


@dataclass(frozen=True)
class StoredTable:
    """A table that is mapped, with what its file says of it."""

    entry: Entry
    table: "_core.Table"
    missing: List[int]


class StoredTables(StoredFiles):
    """The folder of tables."""

    def __init__(self, folder: Path, spool: Path, room: Room):
        super().__init__(folder, spool, ".arrow", "table", room)
        self._opened = Opened(_KEPT_VALUES)

    def put(self, name: str, table: "_core.Table", condition: Condition = Condition()) -> tuple:
        """Keep a table under a name, and return (StoredTable, whether the name is new).

        Afterwards the mapped file takes the place of the table in memory.
        """
        from .table_files import write_table

        self.check(name, condition)
        self.require_room(name, table.nbytes)
        path = self.new_path()
        try:
            write_table(table, path)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise disk_full() from error
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # what is written here, whoever is faster with the name
        try:
            old = self.find(name)
            entry, is_new = self.commit(name, path, condition)
            if old is not None:
                self._opened.drop((name, old.etag))
            return self._opened.get((name, entry.etag), lambda: _mapped(entry, os.dup(handle))), is_new
        finally:
            os.close(handle)

    def get(self, name: str) -> StoredTable:
        return self.current(name, self._stored)

    def delete(self, name: str, condition: Condition = Condition()) -> None:
        entry = self.find(name)
        super().delete(name, condition)
        if entry is not None:
            self._opened.drop((name, entry.etag))

    def _stored(self, entry: Entry) -> StoredTable:
        return self._opened.get((entry.name, entry.etag), lambda: _mapped(entry, self.open(entry)))


def _mapped(entry, handle):
    from .table_files import map_table

    try:
        table, missing, n_bytes = map_table(handle)
    except (KeyError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise Problem(500, "damaged-file", f"the file of the table {entry.name!r} is damaged") from error
    return StoredTable(entry, table, missing), n_bytes
