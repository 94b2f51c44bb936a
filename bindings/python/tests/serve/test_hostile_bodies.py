"""The rule of docs/adr/0053-hostile-files.md for bodies of requests: the peak of the server's memory is at most 64 MB and 8
times the body beyond what the result needs; a job's limit holds; a MB of the body, or of what it needs, takes at most a
second, and twice the body no four times the work. hostile_bodies.py makes the bodies. CPU time is compared, not a clock: other programs run, too."""

import http.client
import json
import pathlib
import sys
import threading
from dataclasses import dataclass

import pytest

for needed in ("fastapi", "uvicorn", "pyarrow", "zstandard"):
    pytest.importorskip(needed, reason=f"SKIP: the package {needed} is missing")

from .hostile_bodies import CASES, Body  # noqa: E402
from .server_process import ServerProcess  # noqa: E402

BESIDES, FACTOR = 64_000_000, 8
LIMIT = 100_000_000
GROWTH, SLACK = 3.0, 0.3
SECONDS_A_MB, AT_LEAST = 1.0, 1.0
CUT = 499  # no status of the server: a failure within an answer, or before the whole body was read, cuts the connection
# Where a body is read whole, and where it is read in blocks for a model of the columns x0 and x1.
ENDPOINTS = {"a table": "/v1/tables/t", "a prediction": "/v1/models/m/predict"}


@dataclass
class Done:
    status: int
    code: str
    peak: int  # bytes beyond what the server had before
    own: int  # the same without pages of files, which the system can take back
    cpu: float


class Watched(ServerProcess):
    """A server whose memory and CPU time are looked at."""

    def request(self, method, path, body=b"", headers=()):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=600)
        try:
            connection.request(method, path, body, {"Host": f"{self.host}:{self.port}", **dict(headers)})
            response = connection.getresponse()
            answer = response.read(1 << 20)
            while response.read(1 << 20):
                pass
            return response.status, answer
        except (http.client.IncompleteRead, ConnectionError):
            return CUT, b'{"code": "cut"}'
        finally:
            connection.close()

    def _status(self, name):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split(name + ":")[1].split()[0]) * 1024

    def _cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100  # USER_HZ

    def measured(self, method, path, body):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")  # the peak begins here
        before, own, cpu = self._status("VmHWM"), self._status("RssAnon"), self._cpu()
        kept = f"keep={body.kept}" if body.kept and path.endswith("predict") else ""
        words = "&".join(word for word in (body.query, kept) if word)
        path += f"?{words}" if words else ""
        most, over = [own], threading.Event()

        def look():
            while not over.wait(0.005):
                most[0] = max(most[0], self._status("RssAnon"))

        watch = threading.Thread(target=look)
        watch.start()
        status, answer = self.request(method, path, body.data, {"Content-Type": body.media_type, **body.headers})
        over.set()
        watch.join()
        done = Done(status, "", self._status("VmHWM") - before, most[0] - own, self._cpu() - cpu)
        if status >= 400:
            done.code = json.loads(answer)["code"]
        for left in ("/v1/tables/t", "/v1/models/h"):
            self.request("DELETE", left)
        return done


def started(folder, *flags):
    server = Watched(folder / "state", "--threads", "2", "--device", "cpu", *flags)
    status, answer = server.request("POST", "/v1/models/fit?kind=normalize&method=z", b"x0,x1\n1,2\n3,4\n5,6\n", {"Content-Type": "text/csv"})
    assert status == 201, answer
    model = json.loads(answer)["name"]
    content = server.request("GET", f"/v1/models/{model}/file")[1]
    status, answer = server.request("PUT", "/v1/models/m", content, {"Content-Type": "application/octet-stream"})
    assert status == 201, answer
    return server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that has read a body of every kind once: what its libraries take is not the body's."""
    server = started(tmp_path_factory.mktemp("server"))
    for case in CASES:
        body = case.make(100)
        for what, path in ENDPOINTS.items():
            server.measured(_method(path), path, body)
    yield server
    server.kill()


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    server = started(tmp_path_factory.mktemp("limited"), "--memory", str(LIMIT))
    yield server
    server.kill()


def _method(path):
    return "PUT" if path == "/v1/tables/t" else "POST"


@pytest.fixture(scope="module", params=CASES, ids=[f"{case.reader}: {case.name}" for case in CASES])
def case(request):
    return request.param


@pytest.fixture(scope="module")
def body(case):
    return case.make(case.n)


def check(done, body):
    assert done.status < 500 or done.code in ("out-of-memory",), done
    size = len(body.data)
    most = BESIDES + FACTOR * size + body.needed
    assert done.peak <= most, f"{done.peak / 1e6:.0f} MB of {most / 1e6:.0f}, for {size / 1e6:.2f} MB: {done}"


@pytest.mark.parametrize("what", ENDPOINTS)
def test_memory_and_time_follow_the_body(server, case, body, what):
    path = ENDPOINTS[what]
    done = server.measured(_method(path), path, body)
    check(done, body)
    unpacked = len(body.data) + body.needed
    assert done.cpu <= AT_LEAST + SECONDS_A_MB * unpacked / 1e6, done
    twice = case.make(2 * case.n)
    again = server.measured(_method(path), path, twice)
    check(again, twice)
    seconds = done.cpu, again.cpu
    if seconds[1] > GROWTH * seconds[0] + SLACK:  # the machine may have been busy
        seconds = [min(server.measured(_method(path), path, one).cpu for _ in range(2)) for one in (body, twice)]
    assert seconds[1] <= GROWTH * seconds[0] + SLACK, seconds


@pytest.mark.parametrize("what", ENDPOINTS)
def test_the_limit_of_a_job_holds(limited, case, body, what):
    path = ENDPOINTS[what]
    done = limited.measured(_method(path), path, body)
    assert done.status < 500 or done.code == "out-of-memory", done
    most = LIMIT + BESIDES + len(body.data)
    assert done.own <= most, f"{done.own / 1e6:.0f} MB of {most / 1e6:.0f}, for {len(body.data) / 1e6:.2f} MB: {done}"
