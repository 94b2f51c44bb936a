"""Models by name: model files, mapped, and predictors that are ready."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import List

from stope import _core
from stope.errors import FileError

from ..bodies.options import Feature, features_of
from ..machine_memory import available_bytes
from ..problems import Problem
from .conditions import Condition
from .opened import Opened
from .room import Room, disk_full
from .stored_files import Entry, StoredFiles

__all__ = ["StoredModel", "StoredModels"]

_SHORT_SECONDS = 0.002  # a computation that takes no longer may hold up the event loop
_SHARE = 0.25  # of the memory that is available at the start: what predictors that are ready may hold


class Pace:
    """How long a computation of a few rows takes. A model is slow until it has shown that it is not.

    CPU time counts: on a busy machine the wall time of a short computation is that of whoever else computes.
    """

    def __init__(self):
        self.seconds = float("inf")

    @property
    def is_short(self) -> bool:
        return self.seconds < _SHORT_SECONDS

    def timed(self, work, *arguments):
        """Return ``work(*arguments)`` and note how long it took."""
        began = time.thread_time()
        result = work(*arguments)
        self.seconds = time.thread_time() - began
        return result


@dataclass(frozen=True)
class StoredModel:
    """A model that is ready to predict."""

    entry: Entry
    predictor: "_core.Predictor"
    info: dict
    columns: "_core.Table"  # of the table to which it was fitted, without rows
    features: List[Feature]
    pace: Pace

    @property
    def kind(self) -> str:
        return self.info["kind"]


class StoredModels(StoredFiles):
    """The folder of models."""

    def __init__(self, folder: Path, spool: Path, room: Room):
        super().__init__(folder, spool, ".stope", "model", room)
        self._opened = Opened(int(_SHARE * available_bytes()))

    def put(self, name: str, model: "_core.Model", condition: Condition, run: "_core.Run") -> tuple:
        """Keep a model under a name, and return (Entry, whether the name is new)."""
        self.check(name, condition)
        path = self.new_path()
        try:
            model.write(str(path), run)
        except FileError as error:
            path.unlink(missing_ok=True)
            raise disk_full() from error
        return self._commit_new(name, path, condition)

    def put_file(self, name: str, path: Path, condition: Condition, run: "_core.Run") -> tuple:
        """Keep a model file that a client has sent, once it has been read: (Entry, its info, whether it is new)."""
        info = json.loads(_core.model_info(_core.Predictor.of(_core.Model.read(str(path), run), run)))
        entry, is_new = self._commit_new(name, path, condition)
        return entry, info, is_new

    def _commit_new(self, name, path, condition):
        old = self.find(name)
        entry, is_new = self.commit(name, path, condition)
        if old is not None:
            self._opened.drop((name, old.etag))
        return entry, is_new

    def ready(self, name: str):
        """The model if it is open already, else None. Takes no time, so the event loop may ask."""
        entry = self.entry(name)
        return self._opened.ready((name, entry.etag))

    def get(self, name: str, run: "_core.Run") -> StoredModel:
        """The model, which is read and made ready if need be."""
        return self.current(
            name, lambda entry: self._opened.get((name, entry.etag), lambda: self._open(entry, run))
        )

    def _open(self, entry, run):
        # A descriptor and not the path: the name may get another file meanwhile.
        handle = open(self.open(entry), "rb")
        with handle:
            try:
                model = _core.Model.read(f"/proc/self/fd/{handle.fileno()}", run)
            except ValueError as error:
                raise Problem(500, "damaged-file", f"the file of the model {entry.name!r} is damaged") from error
        predictor = _core.Predictor.of(model, run)
        info, columns = json.loads(_core.model_info(predictor)), model.columns
        # The model is mapped; a predictor of k-NN holds about as much again for its filters.
        return StoredModel(entry, predictor, info, columns, features_of(columns), Pace()), entry.bytes + 4096

    def delete(self, name: str, condition: Condition = Condition()) -> None:
        entry = self.find(name)
        super().delete(name, condition)
        if entry is not None:
            self._opened.drop((name, entry.etag))
