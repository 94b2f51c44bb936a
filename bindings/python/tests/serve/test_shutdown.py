"""The end of a server: nothing new begins, what runs is finished or told, and nothing waits for ever."""

import http.client
import json
import signal
import socket
import threading

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")

CSV = b"a,b\n1,2\n3,4\n"


def ask(server, method, path, body=None, **headers):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=120)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), dict(answer.getheaders())


def begin_upload(server):
    """The first half of a PUT; whoever sends the rest of CSV completes it."""
    connection = socket.create_connection((server.host, server.port), timeout=120)
    head = f"PUT /v1/tables/t HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: {len(CSV)}\r\n\r\n"
    connection.sendall(head.encode() + CSV[:5])
    while b"stope_requests_in_progress 2.0" not in ask(server, "GET", "/metrics")[1]:
        pass
    return connection


def test_an_idle_server_ends_at_once_with_code_0(start_server):
    server = start_server("--grace", "1h")
    ask(server, "GET", "/health")
    assert server.stop() == 0
    assert server.log()[-1]["event"] == "end"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_request_under_way_is_finished_and_new_work_is_refused(start_server, number):
    server = start_server("--grace", "1h")
    upload = begin_upload(server)
    server.send(number)
    server.wait_for_log(event="stopping")
    status, body, headers = ask(server, "GET", "/health")
    assert (status, json.loads(body)["code"], headers["connection"]) == (503, "stopping", "close")
    status, body, headers = ask(server, "PUT", "/v1/tables/u", CSV, **{"Content-Type": "text/csv"})
    assert (status, json.loads(body)["code"], headers["retry-after"]) == (503, "stopping", "10")
    assert ask(server, "GET", "/v1/tables")[0] == 200
    upload.sendall(CSV[5:])
    assert upload.recv(1 << 16).startswith(b"HTTP/1.1 201")
    assert server.process.wait(120) == 0


def test_what_outlasts_the_grace_time_is_told_so_and_leaves_nothing(start_server):
    server = start_server("--grace", "1s", "--threads", "1")
    upload = begin_upload(server)
    server.send()
    assert server.process.wait(120) == 0
    assert upload.recv(1 << 16).startswith(b"HTTP/1.1 503")
    again = start_server(state=server.state)
    assert json.loads(ask(again, "GET", "/v1/tables")[1]) == {"tables": []}  # nothing half-written


def test_a_second_signal_ends_it_at_once(start_server):
    server = start_server("--grace", "1h")
    upload = begin_upload(server)
    server.send()
    server.wait_for_log(event="stopping")
    server.send()
    assert server.process.wait(120) == 128 + signal.SIGTERM
    upload.close()


def test_a_job_is_cancelled_after_the_grace_time_and_its_client_is_told(start_server):
    server = start_server("--grace", "1s", "--threads", "1")
    rows = "\n".join(f"{i * 7919 % 10007},{i * 104729 % 9973},{i % 2}" for i in range(200_000))
    assert ask(server, "PUT", "/v1/tables/t?target=3&target_is_nominal=true", f"a,b,c\n{rows}\n".encode(),
               **{"Content-Type": "text/csv"})[0] == 201
    answers = []
    path = "/v1/compute/evaluate?table=t&n_neighbors=5&metric=canberra&scheme=leave-one-out"
    thread = threading.Thread(target=lambda: answers.append(ask(server, "POST", path)))
    thread.start()
    while b'stope_jobs{state="running"} 1.0' not in ask(server, "GET", "/metrics")[1]:
        assert thread.is_alive(), answers
    server.send()
    assert server.process.wait(120) == 0
    thread.join()
    ((status, body, _),) = answers
    assert (status, json.loads(body)["code"]) == (503, "stopping")
    assert server.wait_for_log(event="cancel")
    assert not [line for line in server.log() if line["event"] == "message"]  # nothing had to be cut by force
