"""Connections of clients that are slow, endless, malformed or too many: a real server over sockets."""

import asyncio
import json
import os
import socket
import time
from random import Random

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")


def connect(server):
    return socket.create_connection((server.host, server.port), timeout=60)


def read_all(connection):
    """What the server sends until it closes the connection."""
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def problem_in(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    return int(head.split()[1]), json.loads(body)["code"]


def read_one(connection):
    """One whole answer of a connection that stays open."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(1)
    length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    body = b""
    while len(body) < length:
        body += connection.recv(length - len(body))
    return answer + body


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for all tests that leave it as it was."""
    from .server_process import ServerProcess

    state = tmp_path_factory.mktemp("connections") / "state"
    server = ServerProcess(state, "--header-time", "1s", "--idle", "1s", "--header-size", "16KiB")
    yield server
    server.kill()


def test_a_header_that_never_ends_is_given_up(server):
    with connect(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        assert problem_in(read_all(connection)) == (408, "slow-headers")


def test_a_client_that_says_nothing_is_given_up(server):
    with connect(server) as connection:
        assert read_all(connection) == b""


def test_a_header_that_drips_is_given_up(server):
    with connect(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        try:
            for _ in range(600):  # a minute, unless the server ends it
                connection.sendall(b"X: y\r\n")
                time.sleep(0.1)
            raise AssertionError("the server waits for ever")
        except (BrokenPipeError, ConnectionResetError):
            pass


def test_blank_lines_between_requests_are_no_way_to_stay(server):
    with connect(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in read_one(connection)
        connection.sendall(b"\r\n")
        assert problem_in(read_all(connection)) == (408, "slow-headers")


def refusals(server):
    return [line["problem"] for line in server.log() if line["event"] == "refused"]


@pytest.mark.parametrize("begin", [b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"GET /health?", b"GET /health HTTP/1.1\r\nHost: localhost\r\n"])
def test_headers_without_end_are_refused(server, begin):
    piece = b"X-B: " + b"b" * 1000 + b"\r\n" if begin.endswith(b"\n") else b"a" * 1000
    refused = len(refusals(server))
    with connect(server) as connection:
        connection.sendall(begin)
        try:
            for _ in range(200_000):
                connection.sendall(piece)
            raise AssertionError("the server took 200 MB of headers")
        except (BrokenPipeError, ConnectionResetError):
            pass
    until = time.monotonic() + 60
    while refusals(server)[refused:] != ["headers-too-long"]:
        assert time.monotonic() < until


def test_headers_that_are_too_long_but_end_are_refused(server):
    with connect(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * (17 << 10) + b"\r\n\r\n")
        assert problem_in(read_all(connection)) == (431, "headers-too-long")


def test_headers_below_the_limit_pass(server):
    with connect(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-A: " + b"a" * (15 << 10) + b"\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("text", [
    b"NONSENSE\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40,
    b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
])
def test_what_is_no_request_is_refused(server, text):
    with connect(server) as connection:
        connection.sendall(text)
        assert problem_in(read_all(connection)) == (400, "malformed-request")


def test_clients_that_vanish_behind_their_request_are_no_failures_of_the_server(server):
    text = b"PUT /v1/tables/t HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nx\n1\n\r\n0\r\n\r\n"
    for i in range(100):
        for end in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with connect(server) as connection:
                connection.sendall(text + end)
                if i % 5 == 0:
                    connection.shutdown(socket.SHUT_WR)
                    read_all(connection)
    with connect(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in read_one(connection)
    assert not [line for line in server.log() if line["event"] in ("failure", "no JSON")]


def ask_and_end(server, text):
    """What a client gets that ends its side of the connection behind its text."""
    with connect(server) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        return read_all(connection)


_PUT = b"PUT /v1/tables/ended HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"


def test_whoever_ends_its_side_behind_a_request_is_answered(server):
    get = b"GET /v1/tables/ended/rows HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert b" 201 " in ask_and_end(server, _PUT + b"Content-Length: 8\r\n\r\na,b\n1,2\n").split(b"\r\n")[0]
    for text, n in ((get, 1), (get * 3, 3), (get + b"GET /hea", 1)):
        assert ask_and_end(server, text).count(b"HTTP/1.1 200") == n


@pytest.mark.parametrize("text", [
    b"GET /hea", b"GET /health HTTP/1.1\r\nHost: local", _PUT + b"Content-Length: 80\r\n\r\na,b\n1,2\n",
    _PUT + b"Transfer-Encoding: chunked\r\n\r\n8\r\na,b\n1"])
def test_a_request_that_ends_too_early_is_refused(server, text):
    assert problem_in(ask_and_end(server, text)) == (400, "incomplete-request")


def test_a_body_that_is_no_chunk_is_refused(server):
    assert problem_in(ask_and_end(server, _PUT + b"Transfer-Encoding: chunked\r\n\r\nno number\r\n")) == (400, "malformed-request")


def test_a_client_that_ends_without_a_word_gets_none(server):
    assert ask_and_end(server, b"") == b""


_SEEDS = [
    b"GET /v1/tables/x/rows?limit=2&columns=a HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n",
    b"POST /v1/models/m/fit?kind=classify&n_neighbors=3 HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
    b"Content-Length: 12\r\n\r\na,b\n1,2\n3,4\n",
    b"PUT /v1/tables/t HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"7\r\n[{\"a\":1\r\n2\r\n}]\r\n0\r\nX-Trailer: y\r\n\r\n",
    b"DELETE /v1/jobs/abcdefghijklmnopqrstuv HTTP/1.1\r\nHost: [::1]:80\r\nIf-Match: \"x\"\r\nExpect: 100-continue\r\n\r\n",
]


def _changed(text, random):
    text = bytearray(text)
    for _ in range(random.randrange(1, 8)):
        i = random.randrange(len(text))
        how = random.randrange(4)
        if how == 0:
            text[i] = random.randrange(256)
        elif how == 1:
            del text[i:i + random.randrange(1, 20)]
        elif how == 2:
            text[i:i] = bytes(random.choices(b"\0\r\n :;,%/?&=\xff\x80{}[]\"0123456789abcZ", k=random.randrange(1, 20)))
        else:
            text[i:i] = text[random.randrange(len(text)):][:50]
        text = text or bytearray(b"x")
    return bytes(text)


def test_changed_requests_never_hurt_the_server(start_server):
    """No answer is a 500, no connection stays open, and the server serves afterwards."""
    server = start_server("--header-time", "0.5s", "--idle", "0.5s")
    random = Random(20261125)
    for _ in range(int(os.environ.get("STOPE_CASES", "150"))):
        text = _changed(random.choice(_SEEDS), random)
        with connect(server) as connection:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            answer = read_all(connection)
        assert b"HTTP/1.1 500" not in answer, text
    with connect(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in read_one(connection)
    assert not [line for line in server.log() if line["event"] in ("failure", "no JSON")]


def test_a_body_that_nobody_wants_is_not_waited_for(server):
    with connect(server) as connection:
        connection.sendall(b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx")
        assert b"405" in read_one(connection)
        try:
            for _ in range(600):  # a minute, unless the server ends it
                connection.sendall(b"x")
                time.sleep(0.1)
            raise AssertionError("the server waits for ever")
        except (BrokenPipeError, ConnectionResetError):
            pass


def test_a_client_that_offers_other_protocols_is_answered(server):
    with connect(server) as connection:
        for _ in range(2):
            connection.sendall(b"POST /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                               b"HTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 3\r\n\r\nabc")
            assert b"405" in read_one(connection)
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert b"200 OK" in read_one(connection)


def test_connections_beyond_the_limit_are_told_so_and_then_cut(start_server):
    server = start_server("--connections", "3", "--header-time", "60s")
    idle = [connect(server) for _ in range(3)]
    try:
        with connect(server) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert problem_in(read_all(connection)) == (503, "too-many-connections")
        idle += [connect(server) for _ in range(3)]
        with connect(server) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read_all(connection) == b""
    finally:
        for connection in idle:
            connection.close()
    until = time.monotonic() + 60
    while True:  # the server notices the closed ones soon
        with connect(server) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            if b"200 OK" in read_all(connection):
                break
        assert time.monotonic() < until


def test_a_client_that_does_not_read_is_cut(server):
    with connect(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(2000):
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert server.wait_for_log(event="slow-reader")
        try:
            for _ in range(600):  # a minute, unless the connection is gone
                connection.sendall(b"x")
                time.sleep(0.1)
            raise AssertionError("the connection is still there")
        except (BrokenPipeError, ConnectionResetError):
            pass


def test_many_new_connections_are_accepted_in_one_turn_of_the_loop(tmp_path):
    uvloop = pytest.importorskip("uvloop", reason="SKIP: uvloop is not installed")
    from stope.serve import Settings, server

    accepted = []

    class Noted(asyncio.Protocol):
        def connection_made(self, transport):
            accepted.append(transport)

    async def connect_16():
        listeners = server._listen(Settings(state=tmp_path, port=0))
        servers = [await asyncio.get_running_loop().create_server(Noted, sock=listener) for listener in listeners]
        clients = [socket.create_connection(listeners[0].getsockname()) for _ in range(16)]
        for _ in range(4):
            await asyncio.sleep(0)
        found = len(accepted)
        for one in (*clients, *accepted, *servers):
            one.close()
        return found

    loop = uvloop.new_event_loop()
    assert loop.run_until_complete(connect_16()) == 16
    loop.close()
