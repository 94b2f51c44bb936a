"""stope-serve: predictions of one row a request, with percentiles, and a table of 1 GB up and predictions down.

The load tool is wrk (Debian's package of that name) on the same cores. The floors are GET /health, which computes
nothing, and the same rows predicted one by one in one process without HTTP. The predictions are checked against the
engine's in this process. Memory is the server's anonymous memory, sampled; mapped files are the page cache's.
"""
import argparse
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from support.machine import ROOT, write_result

ARROW = "application/vnd.apache.arrow.stream"
N_TRAIN, N_FEATURES, N_BODIES = 100_000, 50, 500
CONNECTIONS = (1, 4, 16, 64)

_LUA = """
local bodies = {}
for line in io.lines("%s") do bodies[#bodies + 1] = line end
local at = 0
request = function()
  at = at %% #bodies + 1
  return wrk.format("POST", nil, {["Content-Type"] = "application/json", ["Authorization"] = "Bearer %s"}, bodies[at])
end
local bad = 0
response = function(status) if status ~= 200 then bad = bad + 1 end end
done = function(summary, latency)
  io.write(string.format('{"requests": %%d, "seconds": %%f, "errors": %%d, "other_status": %%d, "p50_ms": %%f, "p90_ms": %%f, '
    .. '"p99_ms": %%f, "p99.9_ms": %%f, "max_ms": %%f}\\n', summary.requests, summary.duration / 1e6,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout, summary.errors.status,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3,
    latency.max / 1e3))
end
"""


class Server:
    """``stope-serve run`` in a process of its own, at a port that the system chooses."""

    def __init__(self, state, build):
        self.environment = {**os.environ, "PYTHONPATH": str(build / "python")}
        command = [sys.executable, "-m", "stope.serve"]
        made = subprocess.run([*command, "token", "add", "bench", "--right", "compute", "--state", state],
                              env=self.environment, capture_output=True, text=True, check=True)
        self.token = re.search(r"stope_\S+", made.stdout).group()
        self.log = open(state.with_suffix(".log"), "w+")
        self.process = subprocess.Popen([*command, "run", "--state", state, "--port", "0"], env=self.environment,
                                        stderr=self.log, stdout=self.log)
        self.port = self._port(state.with_suffix(".log"))
        self.url = f"http://127.0.0.1:{self.port}"

    def _port(self, log):
        for _ in range(600):
            found = re.search(r'"address": "http://127\.0\.0\.1:(\d+)', log.read_text())
            if found:
                return int(found.group(1))
            time.sleep(0.1)
        raise SystemExit("the server did not start: " + log.read_text())

    def memory(self):
        """(anonymous memory, all resident memory) in bytes."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return tuple(1024 * int(re.search(rf"^{name}:\s*(\d+)", text, re.M).group(1)) for name in ("RssAnon", "VmRSS"))

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def send(self, method, path, body=b"", kind=ARROW, accept="application/json"):
        """Send a body, or an iterable of its parts, and read the answer: (status, bytes of the answer)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        headers = {"Content-Type": kind, "Authorization": f"Bearer {self.token}", "Accept": accept}
        connection.request(method, path, body, headers, encode_chunked=not isinstance(body, bytes))
        answer = connection.getresponse()
        return answer.status, answer.read()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()


class Peak:
    """The most memory of the server inside a ``with`` block."""

    def __init__(self, server):
        self._server, self._done = server, threading.Event()
        self.before = server.memory()[0]
        self.anonymous = self.resident = 0

    def __enter__(self):
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self):
        while not self._done.wait(0.01):
            anonymous, resident = self._server.memory()
            self.anonymous, self.resident = max(self.anonymous, anonymous), max(self.resident, resident)

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def figures(self):
        return {"anonymous_before_mb": self.before / 1e6, "peak_anonymous_mb": self.anonymous / 1e6,
                "peak_resident_mb": self.resident / 1e6}


def wrk(server, path, bodies, connections, seconds, folder):
    """One run of the load tool: requests a second, and percentiles of the latency."""
    script = folder / "load.lua"
    script.write_text(_LUA % (bodies, server.token) if bodies else _LUA[_LUA.index("done ="):].replace("%%", "%"))
    begin = server.cpu_seconds()
    done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", script, server.url + path],
                          capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["errors"] == found["other_status"] == 0, done.stdout
    cpu = (server.cpu_seconds() - begin) / max(found["requests"], 1)
    return {"connections": connections, "requests_per_second": found["requests"] / found["seconds"],
            "server_cpu_us": cpu * 1e6, **found}


def arrow_of(columns):
    import pyarrow as pa

    table, to = pa.table(columns), io.BytesIO()
    with pa.ipc.new_stream(to, table.schema) as writer:
        writer.write_table(table)
    return to.getvalue()


def one_row(server, folder, seconds):
    import numpy as np

    from stope import _core

    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(N_TRAIN, N_FEATURES)), [f"x{i}" for i in range(N_FEATURES)]
    labels = np.where(X[:, 0] + X[:, 1] ** 2 > 1, "yes", "no")
    status, _ = server.send("PUT", "/v1/tables/train?target=y", arrow_of({**dict(zip(names, X.T)), "y": labels}))
    assert status == 201, status
    status, _ = server.send("POST", "/v1/models/index/fit?kind=classify&table=train&n_neighbors=5")
    assert status == 201, status
    rows = rng.normal(size=(N_BODIES, N_FEATURES))
    bodies = folder / "bodies.txt"
    bodies.write_text("".join(json.dumps({"columns": names, "rows": [row]}) + "\n" for row in rows.tolist()))

    _, file = server.send("GET", "/v1/models/index/file")
    predictor = _core.Predictor.of(_core.Model.of_bytes(file, _core.Run()), _core.Run())
    tables = [_core.Table.of_array(rows[i:i + 1], names, True, _core.Run()) for i in range(N_BODIES)]
    wanted, took = in_process(predictor, tables)
    for i, body in enumerate(bodies.read_bytes().splitlines()):
        _, answer = server.send("POST", "/v1/models/index/predict", body, "application/json")
        assert json.loads(answer)["rows"] == [[wanted[i]]], i
    path = "/v1/models/index/predict"
    wrk(server, path, bodies, 4, 3, folder)  # warm
    runs = [wrk(server, path, bodies, connections, seconds, folder) for connections in CONNECTIONS]
    health = wrk(server, "/health", None, 16, seconds, folder)
    return {"train": [N_TRAIN, N_FEATURES], "n_neighbors": 5, "checked": N_BODIES, "predict": runs, "health": health,
            "in_process_us": took * 1e6}


def in_process(predictor, tables):
    """The classes of the rows, and the median seconds of one call, in a thread as a server has it."""
    from stope import _core

    found, seconds = [], []

    def work():
        for table in tables:
            begin = time.perf_counter()
            answer = _core.apply_model(predictor, table, {}, _core.Run())
            seconds.append(time.perf_counter() - begin)
            column = answer.column(0)
            found.append(column.values.names()[column.array()[0]])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found, sorted(seconds)[len(seconds) // 2]


def parts_of_arrow(n_bytes):
    """A table of so many bytes of numbers, in batches, without a copy of all of it anywhere."""
    import numpy as np
    import pyarrow as pa

    schema = pa.schema([(f"x{i}", pa.float64()) for i in range(N_FEATURES)])
    block = np.random.default_rng(1).normal(size=(N_FEATURES, 20_000))
    batch = pa.record_batch([pa.array(column) for column in block], schema=schema)
    to = io.BytesIO()
    writer = pa.ipc.new_stream(to, schema)
    for _ in range(max(n_bytes // block.nbytes, 1)):
        writer.write_batch(batch)
        yield to.getvalue()
        to.seek(0)
        to.truncate()
    writer.close()
    yield to.getvalue()


def parts_of_csv(n_bytes):
    import numpy as np

    names = ",".join(f"x{i}" for i in range(N_FEATURES)) + "\n"
    block = np.random.default_rng(1).normal(size=(2000, N_FEATURES)).round(6)
    text = "".join(",".join(map(str, row)) + "\n" for row in block.tolist()).encode()
    yield names.encode()
    for _ in range(max(n_bytes // len(text), 1)):
        yield text


def large(server, n_bytes):
    """A large table up, and its predictions down while it still comes."""
    results = []
    status, text = server.send("POST", "/v1/models/line/fit?kind=lsq&target=x0&table=train&ignore=y")
    assert status == 201, text
    for name, parts, kind in (("arrow", parts_of_arrow, ARROW), ("csv", parts_of_csv, "text/csv")):
        with Peak(server) as peak:
            begin = time.monotonic()
            status, text = server.send("PUT", f"/v1/tables/big-{name}", parts(n_bytes), kind)
            seconds = time.monotonic() - begin
        assert status == 201, text
        rows = json.loads(text)["rows"]
        results.append({"what": "put", "format": name, "bytes": n_bytes, "rows": rows, "seconds": seconds, **peak.figures()})
        with Peak(server) as peak:
            begin = time.monotonic()
            status, answer = server.send("POST", "/v1/models/line/predict", parts(n_bytes), kind, "text/csv")
            seconds = time.monotonic() - begin
        assert status == 200 and answer.count(b"\n") == rows + 1, (status, answer[:200])
        results.append({"what": "predict", "format": name, "bytes": n_bytes, "rows": rows, "seconds": seconds,
                        "answer_bytes": len(answer), **peak.figures()})
        server.send("DELETE", f"/v1/tables/big-{name}")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?", default=ROOT / "build" / "release")
    parser.add_argument("--seconds", type=int, default=15, help="of each run of wrk")
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.build / "python"))
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed: apt-get install wrk")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        server = Server(folder / "state", arguments.build.resolve())
        try:
            result = {"one_row": one_row(server, folder, arguments.seconds)}
            result["large"] = large(server, int(arguments.gigabytes * 1e9))
        finally:
            server.stop()
    for run in result["one_row"]["predict"]:
        print("{connections:3} connections: {requests_per_second:6.0f} requests/s, {p50_ms:.2f} ms median, {p99_ms:.2f} ms p99, "
              "{server_cpu_us:.0f} us of CPU each".format(**run))
    print("GET /health: {requests_per_second:.0f} requests/s".format(**result["one_row"]["health"]))
    for row in result["large"]:
        print("{what} {format}: {seconds:.1f} s, {peak_anonymous_mb:.0f} MB peak ({anonymous_before_mb:.0f} MB before)".format(**row))
    print(f"wrote {write_result(arguments.results, 'serve', result)}")


if __name__ == "__main__":
    main()
