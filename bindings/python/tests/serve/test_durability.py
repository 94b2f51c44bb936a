"""kill -9 of a writer, and of a server, at twenty moments: nothing that was acknowledged is lost, and nothing is half-written."""

import os
import signal
import subprocess
import sys
import threading
import time
from random import Random

import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")
pytest.importorskip("pyarrow", reason="SKIP: pyarrow is not installed")
httpx = pytest.importorskip("httpx", reason="SKIP: httpx is not installed")

from stope.serve import Settings, create_app  # noqa: E402
from stope.serve.state import Store  # noqa: E402

from .in_process import InProcess  # noqa: E402
from .server_process import ServerProcess  # noqa: E402

_N_KILLS = 20
_N_ROWS = 20_000
_N_NAMES = 5

# Writes tables of one number each, in turn under five names, and says which are safe. Every seventh is a deletion.
_WRITER = f"""
import itertools, pathlib, sys, numpy
from stope import Table
from stope.serve import Settings
from stope.serve.state import Store
store = Store(Settings(state=pathlib.Path(sys.argv[1])))
for value in itertools.count(int(sys.argv[2])):
    name = "t" + str(value % {_N_NAMES})
    if value % 7 == 0 and store.tables.find(name):
        print("deleting", name, value, flush=True)
        store.tables.delete(name)
        print("deleted", name, value, flush=True)
    else:
        print("writing", name, value, flush=True)
        store.tables.put(name, Table({{"x": numpy.full({_N_ROWS}, float(value))}})._core_table)
        print("written", name, value, flush=True)
"""


def _kill_after(folder, first, n_lines):
    """Start a writer, kill it after so many lines of its output, and return the lines as (word, name, value)."""
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(folder), str(first)], stdout=subprocess.PIPE)
    lines = [writer.stdout.readline() for _ in range(n_lines)]
    os.kill(writer.pid, signal.SIGKILL)
    rest, _ = writer.communicate()
    lines += rest.splitlines(keepends=True)
    # The last line may be cut: it was not read whole, so it promised nothing.
    words = [line.decode().split() for line in lines if line.endswith(b"\n")]
    return [(word, name, int(value)) for word, name, value in words]


def test_nothing_acknowledged_is_lost_and_nothing_is_half_written(tmp_path):
    sure, first, found = {}, 1, 0
    for kill in range(_N_KILLS):
        lines = _kill_after(tmp_path, first, 3 + 2 * kill)
        maybe = {}
        for word, name, value in lines:
            if word in ("writing", "deleting"):
                maybe = {name: value if word == "writing" else None}
            else:
                sure[name] = maybe.pop(name)
        first = lines[-1][2] + 1

        store = Store(Settings(state=tmp_path))
        assert list(store.spool.iterdir()) == []
        for name in {*sure, *maybe}:
            entry = store.tables.find(name)
            held = None if entry is None else store.tables.get(name).table.column(0).array()
            assert held is None or (len(held) == _N_ROWS and len(set(held)) == 1), f"{name} is half-written"
            value = None if held is None else int(held[0])
            assert value == sure.get(name) or (name in maybe and value == maybe[name]), (kill, name)
            sure[name] = value
            found += held is not None
    assert found > _N_KILLS


class _Client(threading.Thread):
    """Writes one number after the other under three names, and notes what was acknowledged and what was on its way."""

    def __init__(self, url, first, write):
        super().__init__()
        self.sure, self.maybe, self.next, self.refused = {}, {}, first, None
        self._url, self._write = url, write

    def run(self):
        with httpx.Client(base_url=self._url, timeout=60) as client:
            while True:
                name, value = f"n{self.next % 3}", self.next
                self.maybe, self.next = {name: value}, value + 1
                try:
                    answer = self._write(client, name, value)
                except httpx.TransportError:
                    return
                if answer.status_code not in (200, 201):
                    self.refused = answer.text
                    return
                self.sure[name], self.maybe = value, {}


def _put(client, name, value):
    body = "x\n" + f"{value}\n" * 5000
    return client.put(f"/v1/tables/{name}", content=body, headers={"Content-Type": "text/csv"})


def _fit(client, name, value):
    rows = [{"x": float(row), "y": float(value * row)} for row in range(50)]
    return client.post(f"/v1/models/{name}/fit?kind=lsq&target=y", json=rows)


def _value_of_table(client, name):
    answer = client.get(f"/v1/tables/{name}/rows")
    if answer.status_code == 404:
        return None
    values = {row[0] for row in answer.json()["rows"]}
    assert len(values) == 1 and len(answer.json()["rows"]) == 5000, f"{name} is half-written"
    return values.pop()


def _value_of_model(client, name):
    answer = client.post(f"/v1/models/{name}/predict", json=[{"x": 1.0}])
    return None if answer.status_code == 404 else round(answer.json()["rows"][0][0])


def test_a_server_killed_at_twenty_moments_has_all_that_it_has_acknowledged(tmp_path):
    state, random = tmp_path / "state", Random(20261125)
    kinds = [(_put, _value_of_table, {}), (_fit, _value_of_model, {})]
    first, n_written = 1, 0
    for kill in range(_N_KILLS):
        server = ServerProcess(state)
        clients = [_Client(server.url, first, write) for write, _, _ in kinds]
        for client in clients:
            client.start()
        # Half of the kills come after something was acknowledged, however slow the machine is.
        while kill % 2 and not any(client.sure for client in clients) and all(client.is_alive() for client in clients):
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.25))
        server.kill()
        for client in clients:
            client.join()
        first = max(client.next for client in clients)
        with InProcess(create_app(Settings(state=state, tokens=False))) as after:
            assert list((state / "spool").iterdir()) == []
            for client, (_, value_of, known) in zip(clients, kinds):
                assert client.refused is None
                n_written += len(client.sure)
                known.update(client.sure)
                for name in ("n0", "n1", "n2"):
                    found = value_of(after, name)
                    assert found == known.get(name) or found == client.maybe.get(name, -1), name
                    known[name] = found
    assert n_written >= _N_KILLS // 2
