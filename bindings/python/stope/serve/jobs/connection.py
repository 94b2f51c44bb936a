"""Whether the client of a request is still there."""

import asyncio

from starlette.requests import Request

from ..problems import Problem

__all__ = ["Connection"]


class Connection:
    """Stands between a request and its connection, and notes when the body is complete.

    Only afterwards may somebody else listen for the connection's end: until then, what is received is the body's.
    """

    def __init__(self, request: Request):
        self._receive = request.receive
        self._complete = asyncio.Event()
        self.is_gone = False
        self.request = Request(request.scope, self._listen)

    async def _listen(self):
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.is_gone = True
            self._complete.set()
        elif not message.get("more_body", False):
            self._complete.set()
        return message

    def has_no_body(self) -> None:
        """Note that nobody will read the body: the rows are a stored table. A request that has both is refused."""
        length = self.request.headers.get("content-length", "0")
        if length.strip() not in ("0", ""):
            raise Problem(400, "invalid-argument", "the rows are a stored table or the body, not both", option="table")
        self._complete.set()

    @property
    def is_complete(self) -> bool:
        """Whether the whole body has arrived and has been taken."""
        return self._complete.is_set()

    async def gone(self) -> None:
        """Return once the client has closed the connection."""
        await self._complete.wait()
        while not self.is_gone:
            message = await self._receive()
            self.is_gone = message["type"] == "http.disconnect"
