"""Tokens: who may ask, and for what. The state folder keeps salted hashes; a secret is shown once, when it is made."""

import asyncio
import hashlib
import hmac
import json
import os
import re
import secrets
import time
from dataclasses import asdict, dataclass

from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from .atomic_file import locked, write_atomically
from .problems import Problem

__all__ = ["RIGHTS", "Caller", "TokenFileError", "Tokens", "caller_of", "require"]

RIGHTS = ("read", "compute", "admin")  # each includes those before it
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
# stope_ID_SECRET: the ID finds the entry, so that one hash is computed however many tokens there are.
_TOKEN = re.compile(r"stope_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_WAIT_SECONDS = 0.5  # a wrong token's answer comes so late
_MOST_WAITING = 50  # wrong tokens that wait at once; further ones are refused without a look at them


@dataclass(frozen=True)
class Caller:
    """Who sent a request: the name of the token, and what it may do."""

    name: str
    right: str

    def may(self, right: str) -> bool:
        return RIGHTS.index(self.right) >= RIGHTS.index(right)


@dataclass(frozen=True)
class Entry:
    """One token as the file keeps it."""

    id: str
    name: str
    right: str
    salt: str
    hash: str
    created: str


class TokenFileError(Exception):
    """The file of tokens, or what it is asked for, is not possible; the text says why."""


def _hash_of(salt, secret):
    # The secret has 256 random bits: no list of likely ones exists, so a slow hash would only slow down the server.
    return hashlib.sha256(bytes.fromhex(salt) + secret.encode()).hexdigest()


def _entries_of(text):
    try:
        entries = [Entry(**entry) for entry in json.loads(text)["tokens"]]
    except (ValueError, TypeError, KeyError):
        raise TokenFileError("the file of tokens is damaged") from None
    for entry in entries:
        if entry.right not in RIGHTS:
            raise TokenFileError("the file of tokens has a right that this version does not know")
    return entries


class Tokens:
    """The tokens of a state folder. Every change of the file counts from the next request on.

    Parameters
    ----------
    path : pathlib.Path
        STATE/tokens.json; it may be missing.
    """

    def __init__(self, path):
        self._path = path
        self._seen = None  # the file's inode, time and size when it was read last
        self._by_id = {}
        self.waiting = 0  # wrong tokens whose answer is delayed now

    def entries(self) -> list:
        """Return the entries of the file as it is now."""
        self._refresh()
        return list(self._by_id.values())

    def add(self, name: str, right: str) -> str:
        """Make a token, keep its hash, and return it. It is not kept anywhere else."""
        if not _NAME.fullmatch(name):
            raise TokenFileError("a token's name has 1 to 64 letters, digits, and . _ @ -, and begins with a letter or digit")
        if right not in RIGHTS:
            raise TokenFileError(f"a right is one of {', '.join(RIGHTS)}")
        with locked(self._path):
            entries = self.entries()
            if any(entry.name == name for entry in entries):
                raise TokenFileError(f"there is a token {name!r} already; remove it first")
            identity, secret, salt = secrets.token_hex(6), secrets.token_urlsafe(32), secrets.token_hex(16)
            created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self._write([*entries, Entry(identity, name, right, salt, _hash_of(salt, secret), created)])
        return f"stope_{identity}_{secret}"

    def remove(self, name: str) -> None:
        """Remove a token: the next request that uses it is refused."""
        with locked(self._path):
            entries = self.entries()
            if not any(entry.name == name for entry in entries):
                raise TokenFileError(f"there is no token {name!r}")
            self._write([entry for entry in entries if entry.name != name])

    def caller(self, token: str):
        """Return the caller whose token this is, or None."""
        found = _TOKEN.fullmatch(token)
        if not found:
            return None
        self._refresh()
        entry = self._by_id.get(found.group(1))
        if entry is None or not hmac.compare_digest(entry.hash, _hash_of(entry.salt, found.group(2))):
            return None
        return Caller(entry.name, entry.right)

    def _write(self, entries):
        text = json.dumps({"version": 1, "tokens": [asdict(entry) for entry in entries]}, indent=1)
        write_atomically(self._path, text.encode(), mode=0o600)

    def _refresh(self):
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            self._seen, self._by_id = None, {}
            return
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        if seen != self._seen:
            self._by_id = {entry.id: entry for entry in _entries_of(self._path.read_bytes())}
            self._seen = seen


_ANYBODY = Caller("anybody", "admin")


def caller_of(request: Request) -> Caller:
    """Return who sent a request. A request without a token, or with a wrong one, raises a 401 ``Problem``."""
    state = request.app.state
    if not state.settings.tokens:
        return _ANYBODY
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise _unauthorized("no-token", "This needs a token: send the header `Authorization: Bearer TOKEN`.", "")
    caller = state.tokens.caller(token.strip())
    if caller is None:
        raise _unauthorized("wrong-token", "The token is wrong, or it was removed.", ', error="invalid_token"')
    return caller


def _unauthorized(code, text, error):
    return Problem(401, code, text, {"WWW-Authenticate": f'Bearer realm="stope"{error}'})


class _Required(SecurityBase):
    """A dependency that returns the caller, and tells OpenAPI that a token is wanted."""

    scheme_name = "token"
    model = HTTPBearer(description="A token that `stope-serve token add` has made.")

    def __init__(self, right):
        self.right = right

    async def __call__(self, request: Request) -> Caller:
        try:
            caller = caller_of(request)
        except Problem as problem:
            if problem.code == "wrong-token":
                await _delay(request.app.state.tokens)
            raise
        request.scope["stope.caller"] = caller.name
        if not caller.may(self.right):
            raise Problem(403, "no-right", f"This needs the right {self.right}; the token {caller.name!r} has {caller.right}.")
        return caller


async def _delay(tokens):
    """Makes guessing slow. Right tokens never wait, whoever else guesses from the same address."""
    if tokens.waiting >= _MOST_WAITING:
        raise Problem(429, "too-many-wrong-tokens", "Too many requests have wrong tokens.", {"Retry-After": "1"})
    tokens.waiting += 1
    try:
        await asyncio.sleep(_WAIT_SECONDS)
    finally:
        tokens.waiting -= 1


_REQUIRED = {right: _Required(right) for right in RIGHTS}


def require(right: str):
    """Return a dependency of FastAPI: it returns the :class:`Caller`, or refuses with 401 or 403."""
    return _REQUIRED[right]
