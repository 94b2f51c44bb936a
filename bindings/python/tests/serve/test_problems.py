"""Refusals and failures: their status, their code, and what they do not tell."""

import asyncio
import errno
import json

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")

from fastapi import Query, Request  # noqa: E402
from stope import _core, errors  # noqa: E402
from stope.serve.problems import Problem, answer_of, problem_of  # noqa: E402


@pytest.mark.parametrize("name, status, code", [
    ("invalid_argument", 400, "invalid-argument"), ("invalid_data", 422, "invalid-data"),
    ("unsupported", 422, "unsupported"), ("out_of_memory", 507, "out-of-memory"),
    ("device_unavailable", 503, "device-unavailable"), ("device_lost", 503, "device-lost"),
    ("cancelled", 409, "cancelled"), ("io", 500, "file"), ("internal", 500, "internal"),
])
def test_each_error_of_the_engine_has_a_status(name, status, code):
    error = errors._exception_of(name, "/state/x: secret", "k", "age", 3, None, 5, 2, 100)
    problem = problem_of(error)
    assert (problem.status, problem.code) == (status, code)
    assert ("secret" in problem.detail) == (status != 500)


def test_every_class_of_errors_has_a_status_of_its_own():
    internal = {errors.InternalError, errors.FileError}
    for kind in set(errors._CLASSES.values()) - internal:
        assert problem_of(kind("x")).code not in ("internal", "file"), kind


def test_the_place_of_an_error_is_told_and_the_path_of_the_body_is_not(tmp_path):
    path = tmp_path / "spool-1234.csv"
    path.write_text('a,b\n1,2\n"3,4\n')
    with pytest.raises(errors.InvalidDataError) as raised:
        _core.read_table(str(path), {}, _core.Run())
    told = problem_of(raised.value).to_dict()
    assert told["status"] == 422 and told["line"] == raised.value.line
    assert "body" in told["detail"] and "spool" not in json.dumps(told) and str(tmp_path) not in json.dumps(told)


@pytest.mark.parametrize("error, status, code", [
    (MemoryError(), 507, "out-of-memory"),
    (OSError(errno.ENOSPC, "No space", "/state/x"), 507, "disk-full"),
    (OSError(errno.EACCES, "Denied", "/state/x"), 500, "file"),
    (KeyError("/state/x"), 500, "internal"),
    (RuntimeError("/state/x"), 500, "internal"),
])
def test_errors_of_python_tell_nothing_of_the_server(error, status, code):
    problem = problem_of(error)
    assert (problem.status, problem.code) == (status, code) and "/state" not in problem.detail


def test_members_that_are_not_known_are_left_out():
    problem = Problem(422, "x", "y", {"Retry-After": "1"}, column="a", row=0, line=None)
    answer = answer_of(problem)
    assert json.loads(answer.body) == {
        "type": "about:blank", "title": problem.to_dict()["title"], "status": 422, "code": "x", "detail": "y", "column": "a", "row": 0}
    assert (answer.headers["content-type"], answer.headers["retry-after"]) == ("application/problem+json", "1")


@pytest.fixture
def failing(app):
    """The application with routes that fail."""
    async def number(n: int = Query(ge=1)):
        return n

    async def fail(request: Request):
        raise RuntimeError("secret value geheim")

    async def refuse(request: Request):
        raise errors._exception_of("invalid_argument", "n_neighbors: 0 is less than 1", "n_neighbors", None, None, None, None, None, None)

    for path, route in (("/test/number", number), ("/test/fail", fail), ("/test/refuse", refuse)):
        app.add_api_route(path, route)
    return app


def test_an_unexpected_failure_is_a_problem_without_its_text(failing, client, log_text):
    answer = client.get("/test/fail")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "geheim" not in answer.text and "geheim" not in log_text.getvalue()
    failure = next(line for line in map(json.loads, log_text.getvalue().splitlines()) if line["event"] == "failure")
    assert failure["error"] == ["RuntimeError"] and failure["request"] == answer.headers["x-request-id"]
    assert failure["places"][-1].startswith("test_problems.py:") and failure["places"][-1].endswith(" fail")


def test_an_error_of_the_engine_keeps_its_sentence_and_option(failing, client):
    answer = client.get("/test/refuse").json()
    assert (answer["detail"], answer["option"]) == ("n_neighbors: 0 is less than 1", "n_neighbors")


@pytest.mark.parametrize("query, says", [("", "has to be given"), ("?n=0", "greater than or equal to 1"), ("?n=geheim", "integer")])
def test_a_parameter_that_is_not_valid_is_named_and_its_value_is_not(failing, client, query, says):
    answer = client.get(f"/test/number{query}")
    assert (answer.status_code, answer.json()["code"], answer.json()["option"]) == (400, "invalid-parameter", "n")
    assert says in answer.json()["detail"] and "geheim" not in answer.text


@pytest.mark.parametrize("method, path, status, code", [
    ("GET", "/v2", 404, "not-found"), ("GET", "/static/../app.py", 404, "not-found"),
    ("GET", "/static/%2e%2e/app.py", 404, "not-found"), ("GET", "/static//etc/passwd", 404, "not-found"),
    ("GET", "/docs/..%2fapp.py", 404, "not-found"), ("POST", "/health", 405, "method-not-allowed"),
    ("BREW", "/health", 405, "method-not-allowed"), ("GET", "/health/", 404, "not-found"), ("GET", "/%00", 404, "not-found"),
])
def test_addresses_that_are_nothing_are_refused_as_problems(client, method, path, status, code):
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_query_without_end_is_refused(client, monkeypatch):
    monkeypatch.setattr("stope.serve.frame._MOST_QUERY_BYTES", 100)  # httpx has a limit of its own
    assert client.get("/health?" + "a" * 100).status_code == 200
    answer = client.get("/health?" + "a" * 101)
    assert (answer.status_code, answer.json()["code"]) == (414, "query-too-long")


def test_a_failure_within_an_answer_leaves_it_incomplete(app, log_text):
    """The frame swallows the error and returns without the last message: uvicorn then cuts the connection."""
    from stope.serve.frame import Frame

    async def half(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"1,2\n", "more_body": True})
        raise RuntimeError("secret value geheim")

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    asyncio.run(Frame(half, app.state)(scope, None, send))
    assert [message.get("more_body") for message in sent] == [None, True]
    lines = [json.loads(line) for line in log_text.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["failure", "request"]
    assert lines[1]["aborted"] and lines[1]["problem"] == "internal" and "geheim" not in log_text.getvalue()
    assert b"stope_aborted_requests_total 1.0" in app.state.metrics.text(0)


@pytest.mark.parametrize("content, detail", [
    (b"\x89PNG\r\n\x1a\n" + bytes(100), "the body is a PNG image, which is not read as a table; "),
    (b"PK\3\4" + bytes(60), "the body is a ZIP archive, which is not read as a table; the way round: unzip -p FILE | stope info -"),
    (b"\xff\xfea\0,\0b\0\n\0", "the body is UTF-16 by its byte order mark; "),
])
def test_a_body_of_another_kind_is_refused_in_a_sentence(client, content, detail):
    answer = client.put("/v1/tables/t", content=content, headers={"Content-Type": "text/csv"})
    assert answer.json()["detail"].startswith(detail)


@pytest.mark.parametrize("method, path, detail", [
    ("PUT", "/v1/tables/la%20bor", "the path parameter name is a name: it has 1 to 100 of A-Z a-z 0-9 . _ - and begins with a letter or a digit"),
    ("GET", "/v1/jobs/short", "the path parameter id is a name: it has 22 to 64 of A-Z a-z 0-9 _ -"),
    ("POST", "/v1/models/a/fit", "the query parameter kind has to be given"),
])
def test_a_parameter_that_cannot_be_is_refused_in_a_sentence(client, method, path, detail):
    assert client.request(method, path).json()["detail"] == detail
