"""kill -9 of a writer at twenty moments: nothing that was acknowledged is lost, and nothing is half-written."""

import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")
pytest.importorskip("pyarrow", reason="SKIP: pyarrow is not installed")

from stope.serve import Settings  # noqa: E402
from stope.serve.state import Store  # noqa: E402

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


def test_a_killed_server_starts_again_with_all_that_it_has_acknowledged(tmp_path):
    import httpx

    from .server_process import ServerProcess

    state, acknowledged = tmp_path / "state", {}
    for round_number in range(3):
        server = ServerProcess(state)
        with httpx.Client(base_url=server.url, timeout=60) as client:
            for name, rows in acknowledged.items():
                assert client.get(f"/v1/tables/{name}").json()["rows"] == rows
            for number in range(5 + round_number):
                name, rows = f"t{number}", 10 * round_number + number + 1
                body = "x\n" + "1\n" * rows
                answer = client.put(f"/v1/tables/{name}", content=body, headers={"Content-Type": "text/csv"})
                assert answer.status_code in (200, 201)
                acknowledged[name] = rows
        server.kill()
    server = ServerProcess(state)
    try:
        listed = {table["name"]: table["rows"] for table in httpx.get(server.url + "/v1/tables", timeout=60).json()["tables"]}
    finally:
        server.kill()
    assert listed == acknowledged
