"""The state folder: versions, two writers, what survives a restart, and what a full disk does."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")
pytest.importorskip("pyarrow", reason="SKIP: pyarrow is not installed")

from stope import Table, _core  # noqa: E402
from stope.serve import Limits, Settings  # noqa: E402
from stope.serve.state.conditions import Condition  # noqa: E402
from stope.serve.state.names import anonymous_name, check_name, check_new_name  # noqa: E402
from stope.serve.problems import Problem  # noqa: E402
from stope.serve.state import Store  # noqa: E402


def store_at(folder, **limits):
    return Store(Settings(state=folder, limits=Limits(**limits)))


def mixed_table():
    """Every type and role, with missing values, signed zeros, NaN payloads and values that no row has."""
    run = _core.Run(1)
    payload = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]
    numbers = np.array([1.5, -0.0, payload, 5e-324, np.inf])
    columns = [
        _core.Column.numeric("real", numbers, "real", True, run),
        _core.Column.numeric("single", numbers.astype(np.float32), "real", True, run),
        _core.Column.numeric("whole", np.array([1.0, 2.0, np.nan, 4.0, 5.0]), "integer", True, run),
        _core.Column.numeric("day", np.array([0.5, np.nan, -np.inf, 19000.123456789, 1.0]), "date", True, run),
        _core.Column.nominal("colour", np.array([0, -1, 2, 1, 0], np.int32), _core.Values(["", "é\n", "never, \"x\""]),
                             "polynominal", True),
        _core.Column.nominal("class", np.array([0, 1, 0, 1, 1], np.int32), _core.Values(["no", "yes", "perhaps"]),
                             "nominal", True),
    ]
    columns[5].role, columns[2].role, columns[0].role, columns[1].role = "label", "id", "weight", "ignore"
    return _core.Table.of_columns(columns, 5)


def facts(table):
    """All that a table says, bit for bit."""
    columns = [table.column(index) for index in range(table.n_columns)]
    return table.n_rows, [
        (column.name, column.type, column.role, column.array().dtype.str, column.array().tobytes(),
         column.values.names() if column.is_nominal else None) for column in columns
    ]


def numbers_table(value, n_rows=1000):
    return Table({"x": np.full(n_rows, float(value))})._core_table


def test_a_table_comes_back_bit_for_bit_after_a_restart(tmp_path):
    table = mixed_table()
    stored, is_new = store_at(tmp_path).tables.put("mixed", table)
    again = store_at(tmp_path).tables.get("mixed")
    assert is_new
    assert facts(stored.table) == facts(table)
    assert facts(again.table) == facts(table)
    assert again.missing == [1, 1, 1, 1, 1, 0]
    assert again.entry.etag == stored.entry.etag


def test_tables_without_rows_and_without_columns_come_back(tmp_path):
    store = store_at(tmp_path)
    empty = Table({"x": np.empty(0), "y": np.array([], dtype=object)})._core_table
    store.tables.put("empty", empty)
    store.tables.put("bare", _core.Table.of_columns([], 3))
    store = store_at(tmp_path)
    assert facts(store.tables.get("empty").table) == facts(empty)
    assert store.tables.get("bare").table.n_rows == 3


def test_numbers_of_a_stored_table_are_mapped_and_not_copied(tmp_path):
    store = store_at(tmp_path)
    stored, _ = store.tables.put("big", Table({"x": np.arange(1 << 20, dtype=np.float64)})._core_table)
    address = stored.table.column(0).array().__array_interface__["data"][0]
    with open("/proc/self/maps") as file:
        ranges = [line.split() for line in file if line.rstrip().endswith("big.arrow")]
    ranges = [tuple(int(part, 16) for part in line[0].split("-")) for line in ranges]
    assert any(low <= address < high for low, high in ranges), (hex(address), ranges)


def test_other_programs_read_a_stored_table(tmp_path):
    import pyarrow as pa

    store_at(tmp_path).tables.put("mixed", mixed_table())
    with pa.OSFile(str(tmp_path / "tables" / "mixed.arrow")) as file:
        table = pa.ipc.open_file(file).read_all()
    table.validate(full=True)
    assert table["colour"].to_pylist() == ["", None, "never, \"x\"", "é\n", ""]


@pytest.mark.parametrize("name", [
    "", ".", "..", ".hidden", "-x", "a/b", "a\\b", "a b", "a\n", "a\0", "é", "x" * 101, "~short", "~" + "a" * 23, "%2e",
])
def test_a_name_that_is_no_plain_name_is_refused(name, tmp_path):
    with pytest.raises(Problem) as refused:
        check_name(name, "table")
    assert refused.value.code == "invalid-name"
    with pytest.raises(Problem):
        store_at(tmp_path).tables.delete(name)


def test_only_the_server_gives_names_with_a_tilde():
    assert check_name(anonymous_name(), "table")
    with pytest.raises(Problem, match="given by the server"):
        check_new_name(anonymous_name(), "table")


def test_every_version_has_an_etag_of_its_own(tmp_path):
    store = store_at(tmp_path)
    etags = {store.tables.put("x", numbers_table(value))[0].entry.etag for value in range(50)}
    assert len(etags) == 50


def test_a_reader_keeps_the_version_that_it_holds(tmp_path):
    store = store_at(tmp_path)
    first, _ = store.tables.put("x", numbers_table(1))
    store.tables.put("x", numbers_table(2))
    store.tables.delete("x")
    assert set(first.table.column(0).array()) == {1.0}
    with pytest.raises(Problem) as gone:
        store.tables.get("x")
    assert gone.value.status == 404


@pytest.mark.parametrize("condition, status", [
    (Condition(if_match='"other"'), 412), (Condition(if_none_match="*"), 412), (Condition(if_match="*"), None),
    (Condition(if_match='W/"x", "y"'), 412),
])
def test_a_condition_that_fails_keeps_the_old_version(condition, status, tmp_path):
    store = store_at(tmp_path)
    old = store.tables.put("x", numbers_table(1))[0]
    if status is None:
        store.tables.put("x", numbers_table(2), condition)
        return
    with pytest.raises(Problem) as refused:
        store.tables.put("x", numbers_table(2), condition)
    assert refused.value.status == status
    assert store.tables.get("x").entry.etag == old.entry.etag
    assert list(store.spool.iterdir()) == []


def test_a_condition_that_holds_lets_the_writer_write(tmp_path):
    store = store_at(tmp_path)
    old = store.tables.put("x", numbers_table(1), Condition(if_none_match="*"))[0]
    new = store.tables.put("x", numbers_table(2), Condition(if_match=f'"a", {old.entry.etag}'))[0]
    with pytest.raises(Problem, match="another version"):
        store.tables.put("x", numbers_table(3), Condition(if_match=old.entry.etag))
    assert store.tables.get("x").entry.etag == new.entry.etag
    with pytest.raises(Problem, match="nothing of that name"):
        store.tables.put("y", numbers_table(1), Condition(if_match="*"))


def test_of_writers_with_one_expectation_one_wins(tmp_path):
    store = store_at(tmp_path)
    old = store.tables.put("x", numbers_table(0))[0].entry.etag
    outcomes, begin = [], threading.Barrier(8)

    def write(value):
        begin.wait()
        try:
            store.tables.put("x", numbers_table(value), Condition(if_match=old))
            outcomes.append(value)
        except Problem as problem:
            outcomes.append(problem.status)

    threads = [threading.Thread(target=write, args=(value,)) for value in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [outcome for outcome in outcomes if outcome != 412]
    assert len(won) == 1
    assert set(store.tables.get("x").table.column(0).array()) == {float(won[0])}


def test_readers_beside_writers_see_whole_versions_only(tmp_path):
    store = store_at(tmp_path)
    store.tables.put("x", numbers_table(0))
    done, wrong = threading.Event(), []

    def read():
        while not done.is_set():
            seen = set(store.tables.get("x").table.column(0).array())
            if len(seen) != 1:
                wrong.append(seen)

    def write(first):
        for value in range(first, first + 40):
            store.tables.put("x", numbers_table(value))

    readers = [threading.Thread(target=read) for _ in range(3)]
    writers = [threading.Thread(target=write, args=(first,)) for first in (100, 200)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert list(store.spool.iterdir()) == []


def test_a_limit_of_the_state_folder_refuses_and_keeps_the_old_table(tmp_path):
    store = store_at(tmp_path, state_bytes=100_000)
    old = store.tables.put("x", numbers_table(1, 5000))[0]
    with pytest.raises(Problem) as refused:
        store.tables.put("y", numbers_table(2, 10_000))
    assert refused.value.status == 507 and "100000" in refused.value.detail
    with pytest.raises(Problem):
        store.tables.put("x", numbers_table(2, 13_000))
    assert store.tables.get("x").entry.etag == old.entry.etag
    store.tables.put("x", numbers_table(3, 9000))  # the old version does not count beside the new one
    assert list(store.spool.iterdir()) == []


def test_a_full_disk_is_a_507_and_keeps_the_old_table(tmp_path):
    # A limit on the size of files fails a write in the middle, as a full disk does.
    program = f"""
import resource, signal, numpy, pathlib
from stope import Table
from stope.serve import Limits, Settings
from stope.serve.problems import Problem
from stope.serve.state import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(Settings(state=pathlib.Path({str(tmp_path)!r})))
small = Table({{"x": numpy.ones(1000)}})._core_table
old = store.tables.put("x", small)[0].entry.etag
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    store.tables.put("x", Table({{"x": numpy.ones(1 << 20)}})._core_table)
    print("written")
except Problem as problem:
    print(problem.status, problem.code)
print(store.tables.get("x").entry.etag == old, list(store.spool.iterdir()))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["507 state-full", "True []"]


def test_what_a_dead_process_left_half_written_is_removed(tmp_path):
    store = store_at(tmp_path)
    store.tables.put("x", numbers_table(1))
    (store.spool / "0123.arrow").write_bytes(b"half")
    (store.spool / "folder").mkdir()
    (tmp_path / "tables" / "notes.txt").write_text("not ours")
    os.symlink("/etc/passwd", tmp_path / "tables" / "passwd.arrow")
    store = store_at(tmp_path)
    assert list(store.spool.iterdir()) == []
    assert [entry.name for entry in store.tables.listed()] == ["x"]
    assert (tmp_path / "tables" / "notes.txt").exists()


@pytest.mark.parametrize("damage", [b"", b"ARROW1\0\0 no more", b"x" * 5000])
def test_a_damaged_file_is_said_to_be_damaged(damage, tmp_path):
    store_at(tmp_path).tables.put("x", numbers_table(1))
    (tmp_path / "tables" / "x.arrow").write_bytes(damage)
    with pytest.raises(Problem) as refused:
        store_at(tmp_path).tables.get("x")
    assert (refused.value.status, refused.value.code) == (500, "damaged-file")


def test_anonymous_tables_expire_and_others_do_not(tmp_path):
    store = store_at(tmp_path, keep_seconds=3600)
    name, used = anonymous_name(), anonymous_name()
    for each in (name, used, "named"):
        store.tables.put(each, numbers_table(1))
        path = tmp_path / "tables" / f"{each}.arrow"
        os.utime(path, ns=(int((time.time() - 7200) * 1e9), path.stat().st_mtime_ns))
    store.tables.get(used)
    assert store.expire() == 1
    store = store_at(tmp_path, keep_seconds=3600)
    assert store.tables.find(name) is None
    assert store.tables.find(used) is not None and store.tables.find("named") is not None
    assert [entry.name for entry in store.tables.listed()] == ["named"]


def test_an_old_version_is_not_opened_for_a_new_name(tmp_path):
    store = store_at(tmp_path)
    store.tables.put("x", numbers_table(1))
    store.tables.delete("x")
    store.tables.put("x", numbers_table(2))
    assert set(store.tables.get("x").table.column(0).array()) == {2.0}


def test_open_tables_hold_no_descriptors(tmp_path):
    store = store_at(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    held = [store.tables.put(f"t{number}", numbers_table(number))[0] for number in range(20)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert [stored.table.column(0).array()[-1] for stored in held] == list(range(20))
