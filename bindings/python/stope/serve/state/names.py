"""Names of tables and models, which are also names of files, and names of jobs."""

import re
import secrets

from ..problems import Problem

__all__ = ["ANONYMOUS", "JOB", "NAME", "NAMED", "anonymous_name", "check_name", "check_new_name", "is_anonymous"]

NAMED = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
ANONYMOUS = r"~[A-Za-z0-9_-]{22}"
NAME = rf"^({NAMED}|{ANONYMOUS})$"  # what a path of the API may name
JOB = r"^[A-Za-z0-9_-]{22,64}$"

# `\Z` and not `$`: the latter also matches before a newline at the end.
_NAMED = re.compile(NAMED + r"\Z")
_ANONYMOUS = re.compile(ANONYMOUS + r"\Z")


def anonymous_name() -> str:
    """Return a name that nobody guesses: a tilde and 128 random bits."""
    return "~" + secrets.token_urlsafe(16)


def is_anonymous(name: str) -> bool:
    return name.startswith("~")


def check_name(name: str, what: str) -> str:
    """Return the name of something that may be there; a Problem says which names there are."""
    if _NAMED.match(name) or _ANONYMOUS.match(name):
        return name
    raise Problem(400, "invalid-name", f"the name of a {what} is 1 to 100 of A-Z a-z 0-9 . _ - and begins with a "
                  f"letter or a digit; got {name[:120]!r}")


def check_new_name(name: str, what: str) -> str:
    """Return a name that a caller gives. Names with a tilde are the server's."""
    if is_anonymous(name):
        raise Problem(400, "invalid-name", f"names with a tilde are given by the server: POST the {what} in place of "
                      "a PUT")
    return check_name(name, what)
