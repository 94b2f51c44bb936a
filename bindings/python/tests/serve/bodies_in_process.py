"""Requests without a socket: bodies as the server reads them, and answers as a client gets them."""

import asyncio
import tempfile

from stope import _core
from stope.serve.answers import answer
from stope.serve.bodies import ReadingOptions, blocks_of_body, table_of_body
from stope.serve.settings import Limits
from starlette.requests import Request

CSV = "text/csv"
JSON = "application/json"
RECORDS = "application/json; profile=records"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
ROWS = "application/vnd.stope.rows"


def request_of(parts, media_type="", headers=(), wait=None, query=""):
    """A request whose body comes in parts: bytes, or a list of them. ``wait()`` is awaited before each."""
    parts = [parts] if isinstance(parts, bytes) else list(parts) or [b""]
    fields = {"content-type": media_type, **dict(headers)}
    left = iter(enumerate(parts, 1))

    async def receive():
        if wait is not None:
            await wait()
        number, part = next(left, (0, b""))
        if number == 0:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": number < len(parts)}

    raw = [(name.encode(), value.encode()) for name, value in fields.items()]
    return Request(
        {"type": "http", "method": "POST", "path": "/", "headers": raw, "query_string": query.encode()}, receive
    )


def cut(body, size):
    """A body in parts of a size; whole for 0."""
    return [body[at : at + size] for at in range(0, len(body), size)] if size else [body]


def whole(parts, media_type, options=ReadingOptions(), limits=Limits(), headers=(), spool=None):
    """The stope.Table of a whole body."""
    spool = spool or tempfile.gettempdir()
    request = request_of(parts, media_type, headers)
    return asyncio.run(table_of_body(request, options, spool, limits, _core.Run(2)))


def blocks(parts, media_type, features, limits=Limits(), headers=(), spool=None, **how):
    """The blocks of a body for a model."""
    spool = spool or tempfile.gettempdir()

    async def read():
        request = request_of(parts, media_type, headers)
        return [block async for block in blocks_of_body(request, features, spool, limits, **how)]

    return asyncio.run(read())


def answered(tables, accept=JSON, headers=(), query=""):
    """(status, headers, body) of an answer with a table, or with a list of blocks."""

    async def given():
        for table in tables:
            yield table

    async def read():
        request = request_of(b"", headers={"accept": accept, **dict(headers)}, query=query)
        response = await answer(request, given() if isinstance(tables, list) else tables)
        sent = []

        async def send(message):
            sent.append(message)

        await response({"type": "http", "method": "POST", "path": "/"}, None, send)
        fields = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], fields, b"".join(message.get("body", b"") for message in sent)

    return asyncio.run(read())


def column(table, name):
    """Values of a column: numbers as an array, names as a list of str and None."""
    core = getattr(table, "_core_table", table)
    found = core.column(core.find(name))
    if not found.is_nominal:
        return found.array()
    names = found.values.names()
    return [None if code < 0 else names[code] for code in found.array().tolist()]
