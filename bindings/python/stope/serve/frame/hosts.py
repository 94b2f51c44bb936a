"""Requests that a browser sends because a foreign page told it to are refused.

A page of another site can make the browser send requests to a server on this machine, and can give its own name this
machine's address (DNS rebinding). Without tokens nothing else would stop it. ``Host`` tells of rebinding; ``Origin`` and
``Sec-Fetch-Site`` tell of foreign pages. A request with ``Authorization`` needs no look at its origin: a browser
asks us before it sends that header across sites, and we never agree.
"""

from urllib.parse import urlsplit

from ..problems import Problem
from ..settings import is_loopback

__all__ = ["HostCheck"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _name_of(host):
    """The name in a ``Host`` header without its port, in small letters."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


class HostCheck:
    """The check of one server.

    Parameters
    ----------
    settings : Settings
        On the loopback ``Host`` must name the loopback or one of ``settings.hosts``. Elsewhere any name is good,
        because there every request needs a token.
    """

    def __init__(self, settings):
        names = [name.lower() for name in settings.hosts]
        self._names = frozenset([*_LOOPBACK, settings.host.lower(), *names]) if is_loopback(settings.host) else None
        self._good = set()  # headers that passed; their number is bounded, because names and ports are

    def refusal(self, method, hosts, origin, site, has_token):
        """Return the ``Problem`` of a request, or None.

        Parameters
        ----------
        method : str
        hosts : list of str
            All ``Host`` headers.
        origin, site : str or None
            ``Origin`` and ``Sec-Fetch-Site``.
        has_token : bool
            Whether there is an ``Authorization`` header.
        """
        if len(hosts) != 1:
            return Problem(400, "host", "A request has exactly one Host header.")
        if self._names is not None and hosts[0] not in self._good:
            if _name_of(hosts[0]) not in self._names:
                return Problem(403, "wrong-host", "The Host header names another machine; --allow-host NAME permits a name.")
            if len(self._good) < 1000:
                self._good.add(hosts[0])
        if method in _SAFE or has_token:
            return None
        if origin is not None and _place_of(origin) != hosts[0].lower():
            return Problem(403, "wrong-origin", "A page of another site may not change anything here.")
        if origin is None and site in ("cross-site", "same-site"):
            return Problem(403, "wrong-origin", "A page of another site may not change anything here.")
        return None


def _place_of(origin):
    """The host and port of an ``Origin``; "null" and what is malformed have none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
