"""The log: what it tells, and what it never tells."""

import io
import json
import logging

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")

from stope.serve.frame.logs import Log, take_over  # noqa: E402


def lines_of(text):
    return [json.loads(line) for line in text.getvalue().splitlines()]


def test_a_request_is_one_line_of_json(client, log_text):
    answer = client.get("/health")
    (line,) = lines_of(log_text)
    assert line.pop("time").endswith("Z") and line.pop("seconds") >= 0
    assert line == {"event": "request", "request": answer.headers["x-request-id"], "method": "GET", "route": "/health",
                    "status": 200, "bytes_in": 0, "bytes_out": len(answer.content)}


def test_paths_queries_headers_and_bodies_stay_out_of_the_log(client, log_text):
    secret = "geheim42"
    client.get(f"/{secret}?{secret}={secret}", headers={"X-Data": secret, "Cookie": secret, "User-Agent": secret})
    client.put(f"/static/{secret}", content=secret, headers={"Referer": secret, "Authorization": f"Bearer {secret}"})
    client.request(secret.upper(), "/health")
    assert [line["route"] for line in lines_of(log_text)][:1] == ["none"]
    assert secret not in log_text.getvalue()


def test_a_method_that_nobody_knows_is_not_spelled(client, log_text):
    client.request("GEHEIM", "/health")
    assert "GEHEIM" not in log_text.getvalue() and lines_of(log_text)[0]["method"] == "other"


def test_bytes_are_counted_both_ways(client, app, log_text):
    from fastapi import Request

    async def echo(request: Request):
        return len(await request.body())

    app.add_api_route("/test/echo", echo, methods=["POST"])
    client.post("/test/echo", content=b"x" * 1000)
    line = lines_of(log_text)[-1]
    assert (line["bytes_in"], line["bytes_out"]) == (1000, 4)


def test_warnings_of_other_packages_become_lines_without_arguments():
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        take_over(Log(stream))
        logging.getLogger("some.package").warning("a value is %s\nTraceback: more", "secret42")
        try:
            raise ValueError("secret42")
        except ValueError:
            logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["source"], first["text"]) == ("some.package", "a value is %s")
    assert second["event"] == "failure" and second["error"] == ["ValueError"]
    assert "secret42" not in stream.getvalue()


def test_a_log_that_nobody_reads_stops_no_server():
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    Log(Broken()).write("x")
    closed = io.StringIO()
    closed.close()
    Log(closed).write("x")
