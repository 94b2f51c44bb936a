"""Where executors find a model: inside the function that they are sent, in an artifact, or in a file that all see.

A model goes to workers as the bytes of a model file. A worker keeps models by the hash of these bytes, so it fits one
model once, whatever the number of its tasks.
"""

import hashlib
import os
import tempfile
import threading
import weakref
from dataclasses import dataclass

from .. import _core
from .._run import job
from ..errors import FileError, InvalidDataError
from ..io import Model, _path_text

__all__ = ["InArtifact", "InFile", "Inside", "open_model", "place_of"]

# A function of this size is sent with a stage, and read once a task: milliseconds. Larger models become files.
MOST_BYTES_INSIDE = 4 << 20
_AT_ONCE = 1 << 20  # bytes of a file that are hashed at a time


@dataclass(frozen=True)
class Inside:
    """The bytes travel inside the function."""

    key: str
    content: bytes

    def model(self, run):
        return _core.Model.of_bytes(self.content, run)


@dataclass(frozen=True)
class InArtifact:
    """Spark has copied the file to every executor."""

    key: str
    name: str

    def model(self, run):
        from pyspark import SparkFiles

        return _read(SparkFiles.get(self.name), self.key, run)


@dataclass(frozen=True)
class InFile:
    """Every executor sees the file under one path."""

    key: str
    path: str

    def model(self, run):
        return _read(self.path, self.key, run)


def open_model(place):
    """The model, ready for use. A large plain file is mapped, so the workers of a machine share its memory."""
    with job() as run:
        return Model(place.model(run))


def place_of(spark, native, shared_path=None):
    """Put a model where the workers of ``spark`` find it.

    Parameters
    ----------
    spark : SparkSession
        Of Spark Classic or of Spark Connect.
    native : _core.Model
    shared_path : str or None
        A model file that the driver and all executors see under this path.
    """
    if shared_path is not None:
        path = os.path.abspath(_path_text(shared_path))
        return InFile(_hash_of_file(path), path)
    with _adding:
        return _written(spark, native)


_adding = threading.Lock()
_folder = None  # of the files that are artifacts
_added = weakref.WeakKeyDictionary()  # the artifacts of a session, by name: Spark would send or compare them again


def _written(spark, native):
    """Write the model once, without a copy in memory; what to do with the file depends on its size."""
    global _folder
    if _folder is None:
        _folder = tempfile.TemporaryDirectory(prefix="stope-spark-")
    path = os.path.join(_folder.name, "model")
    with job() as run:
        native.write(path, run)
    key = _hash_of_file(path)
    if os.path.getsize(path) <= MOST_BYTES_INSIDE:
        with open(path, "rb") as file:
            return Inside(key, file.read())
    # Spark copies the file when a task first asks for it, perhaps much later: it stays until this process ends.
    name = f"stope-{key}.model"
    kept = os.path.join(_folder.name, name)
    os.replace(path, kept)
    if name not in _added.setdefault(spark, set()):
        spark.addArtifacts(kept, file=True)
        _added[spark].add(name)
    return InArtifact(key, name)


def _read(path, key, run):
    """Another file than the driver's would give other answers, on some executors only."""
    if _hash_of_file(path) != key:
        raise InvalidDataError(f"{path} is another file than the driver read: it was replaced, or is not shared")
    return _core.Model.read(path, run)


def _hash_of_file(path):
    digest = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as file:
            while part := file.read(_AT_ONCE):
                digest.update(part)
    except OSError as error:
        failure = FileError(f"cannot read the model file {path}: {error.strerror}")
        failure.file = path
        raise failure from error
    return digest.hexdigest()
