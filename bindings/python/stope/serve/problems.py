"""Refusals and failures, as every answer of the server has them: application/problem+json (RFC 9457)."""

import errno
import json
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import Response

from .. import errors

__all__ = ["MEDIA_TYPE", "Problem", "answer_of", "install", "problem_of", "schema"]

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that is refused, or that failed.

    Parameters
    ----------
    status : int
        The HTTP status.
    code : str
        What programs may compare, such as "invalid-argument"; it never changes.
    detail : str
        One sentence for people. It has no secrets and no paths of the server.
    headers : dict, optional
        Headers of the answer.
    **members
        What else is known: option, column, row, line, bytes, job. None is left out.
    """

    def __init__(self, status, code, detail, headers=None, **members):
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = {name: value for name, value in members.items() if value is not None}

    def to_dict(self) -> dict:
        """Return the members of the JSON object."""
        return {
            "type": "about:blank", "title": _phrase(self.status), "status": self.status, "code": self.code,
            "detail": self.detail, **self.members,
        }


def _phrase(status):
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


# The engine's classes of errors; what is in none of them is a defect of the server.
_KINDS = [
    (errors.InvalidArgumentError, 400, "invalid-argument"),
    (errors.InvalidDataError, 422, "invalid-data"),
    (errors.UnsupportedError, 422, "unsupported"),
    (errors.OutOfMemoryError, 507, "out-of-memory"),
    (errors.DeviceUnavailableError, 503, "device-unavailable"),
    (errors.DeviceLostError, 503, "device-lost"),
    (errors.CancelledError, 409, "cancelled"),
]
_FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_HTTP_CODES = {
    400: "bad-request", 404: "not-found", 405: "method-not-allowed", 406: "not-acceptable", 413: "body-too-large",
    415: "media-type",
}
_HTTP_TEXTS = {
    404: "Nothing is at this address; GET /docs lists the addresses.",
    405: "This address does not know this method; the header Allow has those that it knows.",
}


def problem_of(error: Exception) -> Problem:
    """Return what a client is told of an exception. What is not the client's business has no text of its own."""
    if isinstance(error, Problem):
        return error
    for kind, status, code in _KINDS:
        if isinstance(error, kind):
            return _problem_of_engine(error, status, code)
    if isinstance(error, MemoryError):
        return Problem(507, "out-of-memory", "The server has too little memory for this.")
    if isinstance(error, OSError) and error.errno in _FULL_DISK:
        return Problem(507, "disk-full", "The server's disk has no room for this.")
    if isinstance(error, OSError):  # the engine's FileError is one
        return Problem(500, "file", "The server could not read or write one of its own files.")
    if isinstance(error, HTTPException):
        return _problem_of_http(error)
    return Problem(500, "internal", "The server failed; its log says where.")


def _problem_of_engine(error, status, code):
    text = str(error)
    if error.file:  # a file of the server's own, which the client knows as the body
        text = text.replace(f"{error.file}: is ", "the body is ").replace(f"'{error.file}'", "FILE")
        text = text.replace(error.file, "the body")
    column = error.feature if error.feature is not None else error.column
    return Problem(status, code, text, option=error.option, column=column, row=error.row, line=error.line,
                   bytes=error.bytes)


def _problem_of_http(error):
    status = error.status_code
    return Problem(status, _HTTP_CODES.get(status, "http"), _HTTP_TEXTS.get(status, str(error.detail)), error.headers)


def _problem_of_validation(error):
    """The first of FastAPI's findings. Its text names the parameter and the rule; the value stays out."""
    found = error.errors()[0] if error.errors() else {"loc": (), "msg": "is not valid"}
    place = [str(part) for part in found.get("loc", ())]
    name = ".".join(place[1:]) or "the request"
    where = f"{place[0]} parameter {name}" if len(place) > 1 else name
    if found.get("type") == "missing":
        return Problem(400, "invalid-parameter", f"the {where} has to be given", option=name)
    if found.get("type") == "string_pattern_mismatch":  # only names have a pattern
        rule = "22 to 64 of A-Z a-z 0-9 _ -" if name == "id" else "1 to 100 of A-Z a-z 0-9 . _ - and begins with a letter or a digit"
        return Problem(400, "invalid-parameter", f"the {where} is a name: it has {rule}", option=name)
    return Problem(400, "invalid-parameter", f"{where}: {found['msg']}", option=name)


def answer_of(problem: Problem) -> Response:
    """Return the response that tells of a problem."""
    body = json.dumps(problem.to_dict(), allow_nan=False, default=str).encode()
    return Response(body, problem.status, problem.headers, MEDIA_TYPE)


async def _answer(request, error):
    problem = problem_of(error)
    request.scope["stope.problem"] = problem.code
    return answer_of(problem)


async def _answer_validation(request, error):
    return await _answer(request, _problem_of_validation(error))


def install(app) -> None:
    """Let a FastAPI application answer all refusals as problems. Unexpected exceptions are the frame's."""
    from fastapi.exceptions import RequestValidationError

    app.add_exception_handler(Problem, _answer)
    app.add_exception_handler(errors.StopeError, _answer)
    app.add_exception_handler(MemoryError, _answer)
    app.add_exception_handler(OSError, _answer)
    app.add_exception_handler(HTTPException, _answer)
    app.add_exception_handler(RequestValidationError, _answer_validation)


def schema() -> dict:
    """Return the JSON schema of a problem, for the OpenAPI description."""
    place = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    return {
        "type": "object",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
            "type": {"type": "string", "const": "about:blank"},
            "title": {"type": "string", "description": "The status in words."},
            "status": {"type": "integer"},
            "code": {"type": "string", "description": "What programs may compare, such as `invalid-argument`."},
            "detail": {"type": "string", "description": "One sentence for people."},
            "option": {"type": "string", "description": "The parameter that is wrong."},
            "column": {**place, "description": "The column by name, or counted from 1."},
            "row": {"type": "integer", "description": "The row of the table, counted from 0."},
            "line": {"type": "integer", "description": "The line of the body, counted from 1."},
            "bytes": {"type": "integer", "description": "The limit that would do."},
            "job": {"type": "string"},
        },
    }
