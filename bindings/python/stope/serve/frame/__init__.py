"""What surrounds every request: its number, the checks before routing, security headers, the log line and the metrics.

One plain ASGI layer does all of it, because layers cost more than what they do. An exception that nobody has handled
ends here. Before the answer began it becomes a problem; after that the connection is cut, so that a half answer never
looks like a whole one.
"""

import asyncio
import os
import re
import time

from ..problems import Problem, answer_of, problem_of
from .hosts import HostCheck

__all__ = ["CONTENT_SECURITY_POLICY", "Frame"]

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "POST", "DELETE"})
_WHILE_STOPPING = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})
_NAME = re.compile(r"[A-Za-z0-9~][A-Za-z0-9._-]{0,99}")
_MOST_QUERY_BYTES = 64 << 10


class Frame:
    """The ASGI layer around a FastAPI application whose state has settings, log and metrics."""

    def __init__(self, app, state):
        self._app = app
        self._state = state
        self._hosts = HostCheck(state.settings)

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket
            await send({"type": "websocket.close", "code": 1008})
            return
        exchange = Exchange(scope, receive, send, self._state.stopping)
        self._state.requests_now += 1
        try:
            problem = self._refusal(scope)
            if problem is None:
                await self._app(scope, exchange.receive, exchange.send)
            else:
                scope["stope.problem"] = problem.code
                await answer_of(problem)(scope, exchange.receive, exchange.send)
        except Exception as error:
            await self._fail(exchange, error)
        except asyncio.CancelledError:
            if not self._state.stopping:
                raise
            await self._fail(exchange, Problem(503, "stopping", "The server is stopping."))
        finally:
            self._state.requests_now -= 1
            self._tell(exchange)

    def _refusal(self, scope):
        hosts, origin, site, has_token = [], None, None, False
        for name, value in scope["headers"]:
            if name == b"host":
                hosts.append(value.decode("latin-1"))
            elif name == b"origin":
                origin = value.decode("latin-1")
            elif name == b"sec-fetch-site":
                site = value.decode("latin-1")
            elif name == b"authorization":
                has_token = True
        if "stope.crowded" in scope:
            return Problem(503, "too-many-connections", "The server has too many connections.",
                           {"Retry-After": "5", "Connection": "close"})
        if "stope.too_long" in scope:
            return Problem(431, "headers-too-long", "The request's headers are too long.", {"Connection": "close"})
        problem = self._hosts.refusal(scope["method"], hosts, origin, site, has_token)
        if problem is None and len(scope["query_string"]) > _MOST_QUERY_BYTES:
            problem = Problem(414, "query-too-long", f"A query has at most {_MOST_QUERY_BYTES} bytes.")
        if problem is None and self._state.stopping and scope["method"] not in _WHILE_STOPPING:
            problem = Problem(503, "stopping", "The server is stopping.", {"Retry-After": "10"})
        return problem

    async def _fail(self, exchange, error):
        problem = problem_of(error)
        exchange.scope["stope.problem"] = problem.code
        if problem.status == 500:
            self._state.log.failure(error, request=exchange.id)
        if not exchange.status:
            await answer_of(problem)(exchange.scope, exchange.receive, exchange.send)

    def _tell(self, exchange):
        scope = exchange.scope
        seconds = time.perf_counter() - exchange.began
        route = getattr(scope.get("route"), "path", None) or "none"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._state.metrics.request(
            method, route, exchange.status, seconds, exchange.bytes_in, exchange.bytes_out, exchange.complete)
        self._state.log.write(
            "request", request=exchange.id, method=method, route=route, name=_name_in(scope, route),
            status=exchange.status, problem=scope.get("stope.problem"), bytes_in=exchange.bytes_in,
            bytes_out=exchange.bytes_out, seconds=round(seconds, 6), caller=scope.get("stope.caller"),
            job=exchange.job, aborted=None if exchange.complete else True)


def _name_in(scope, route):
    """The name of the table or model. What is no name may be anything, and is not for the log."""
    name = scope.get("path_params", {}).get("name") if route.startswith("/v1/") else None
    return name if name is not None and _NAME.fullmatch(name) else None


class Exchange:
    """One request and its answer, as they pass."""

    __slots__ = ("scope", "_receive", "_send", "_stopping", "id", "began", "status", "bytes_in", "bytes_out", "job",
                 "complete")

    def __init__(self, scope, receive, send, stopping):
        self.scope, self._receive, self._send, self._stopping = scope, receive, send, stopping
        self.id = os.urandom(8).hex()
        self.began = time.perf_counter()
        self.status = self.bytes_in = self.bytes_out = 0
        self.job = None
        self.complete = False
        scope["stope.request"] = self.id

    async def receive(self):
        message = await self._receive()
        if message["type"] == "http.request":
            self.bytes_in += len(message.get("body", b""))
        return message

    async def send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._headers(message.get("headers", ()))}
        await self._send(message)
        if message["type"] == "http.response.body":
            self.bytes_out += len(message.get("body", b""))
            self.complete = not message.get("more_body", False)

    def _headers(self, headers):
        headers = [*headers, *_HEADERS, (b"x-request-id", self.id.encode())]
        names = {name: value for name, value in headers}
        if b"cache-control" not in names:
            headers.append((b"cache-control", b"no-store"))
        if b"stope-job" in names:
            self.job = names[b"stope-job"].decode("latin-1")
        if self._stopping:
            headers.append((b"connection", b"close"))
        return headers
