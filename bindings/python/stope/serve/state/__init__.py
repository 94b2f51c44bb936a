"""The state folder: tables, models, and a spool of what is not complete."""

import shutil
from pathlib import Path

from .room import Room
from .stored_models import StoredModels
from .stored_tables import StoredTables

__all__ = ["Store"]


class Store:
    """What outlives the process.

    The folder has three parts. ``tables`` and ``models`` hold complete files alone. ``spool`` holds what is being
    written or received; whatever a dead process left there is removed at the start.

    Parameters
    ----------
    settings : Settings

    Attributes
    ----------
    tables : StoredTables
    models : StoredModels
    spool : Path
    room : Room
    """

    def __init__(self, settings):
        state, limits = Path(settings.state), settings.limits
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.spool = state / "spool"
        if self.spool.is_dir() and not self.spool.is_symlink():
            shutil.rmtree(self.spool)
        self.spool.mkdir(mode=0o700)
        self._keep_seconds = limits.keep_seconds
        self.room = Room(state, limits.state_bytes, lambda: self.tables.bytes + self.models.bytes)
        self.tables = StoredTables(state / "tables", self.spool, self.room)
        self.models = StoredModels(state / "models", self.spool, self.room)

    def expire(self) -> int:
        """Delete anonymous tables and models that nobody has used for long; return how many."""
        return self.tables.expire(self._keep_seconds) + self.models.expire(self._keep_seconds)

    def counts(self) -> dict:
        """Numbers for the metrics."""
        return {
            "tables": len(self.tables), "models": len(self.models), "table_bytes": self.tables.bytes,
            "model_bytes": self.models.bytes,
        }

    def close(self) -> None:
        """Remove what is not complete."""
        shutil.rmtree(self.spool, ignore_errors=True)
