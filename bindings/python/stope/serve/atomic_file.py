"""Small files that are replaced whole: after a crash there is the old one or the new one."""

import fcntl
import os
from contextlib import contextmanager

__all__ = ["locked", "sync_folder", "write_atomically"]


def write_atomically(path, content: bytes, mode: int = 0o600) -> None:
    """Write ``content`` into a file in the same folder, bring it to the disk, and rename it to ``path``."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    try:
        with os.fdopen(file, "wb") as stream:
            os.fchmod(stream.fileno(), mode)  # whatever the umask is, and whatever an earlier crash has left
            _give_to_owner(stream.fileno(), path.parent)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
    sync_folder(path.parent)


def sync_folder(folder) -> None:
    """Make names that were added to a folder last."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path):
    """Wait until no other process changes ``path``, and keep them out meanwhile."""
    file = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _give_to_owner(file, path.parent)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _give_to_owner(file, folder):
    """Root makes tokens for a server that runs as somebody else, who must be able to read them."""
    if os.geteuid() == 0:
        owner = os.stat(folder)
        os.fchown(file, owner.st_uid, owner.st_gid)
