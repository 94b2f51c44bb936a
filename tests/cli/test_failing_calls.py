"""Every system call of every command that writes files fails once: results are the same bytes, or there is one clear error,
every output is old or complete, and nothing is left behind. And a signal or kill -9 ends the command right before each of
them. tests/fault/failing_calls.cpp does both."""

import collections
import errno
import pathlib
import signal

import pytest

import program
from program import run
from writers import JOBS, make_inputs

LIBRARY = pathlib.Path(program.PROGRAM).resolve().parents[1] / "tests" / "libstope_failing_calls.so"
pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason=f"no {LIBRARY.name} beside the program's tests")

ERRORS = {"open": errno.EMFILE, "read": errno.EIO, "write": errno.ENOSPC, "fsync": errno.EIO, "rename": errno.EACCES,
          "link": errno.EPERM, "mmap": errno.ENOMEM, "fallocate": errno.ENOSPC, "thread": errno.EAGAIN}
OLD = b"old\n"


# Tables that memory does not hold lie in mapped files: big.csv and big.npy have 40,000 rows of 7 numbers.
LIMIT = ["--memory-limit", "3MB"]
MAPPED = {
    "convert in little memory": (["convert", "big.csv", "o.csv", *LIMIT], ["o.csv"]),
    "convert an array in little memory": (["convert", "big.npy", "o.csv", *LIMIT], ["o.csv"]),
    "stats in little memory": (["stats", "big.csv", "-o", "s.csv", *LIMIT], ["s.csv"]),
    "normalize in little memory": (["normalize", "big.csv", "--target", "y", "--method", "z", "-o", "z.csv", *LIMIT], ["z.csv"]),
}
EVERY = JOBS | MAPPED


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = make_inputs(tmp_path_factory.mktemp("inputs"))
    run("gen", "linear", 6, 40_000, "-o", "big.csv", cwd=folder)
    run("convert", "big.csv", "big.npy", cwd=folder)
    return folder


@pytest.fixture
def box(tmp_path, inputs):
    for path in inputs.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def calls_of(box, args):
    """Runs a job and returns its calls, (kind, what about), in their order; the library changes no result."""
    log = box.parent / (box.name + ".calls")
    run(*args, cwd=box, env={"LD_PRELOAD": str(LIBRARY), "STOPE_CALLS_LOG": str(log)})
    lines = log.read_text().splitlines()
    log.unlink()
    return [tuple(line.split(" ", 1)) for line in lines]


def run_with(box, args, failing, code=None):
    return run(*args, cwd=box, code=code, env={"LD_PRELOAD": str(LIBRARY), "STOPE_FAILING_CALL": failing})


def contents(box):
    return {path.name: path.read_bytes() for path in box.iterdir()}


@pytest.mark.parametrize("name", EVERY)
def test_every_call_fails_once(box, name):
    args, outputs = EVERY[name]
    before = contents(box)
    run(*args, cwd=box)
    want = {o: (box / o).read_bytes() for o in outputs}
    counts = collections.Counter(kind for kind, _ in calls_of(box, args) if kind in ERRORS)
    for kind, count in counts.items():
        for n in range(1, count + 1):
            where = f"{name}: {kind} {n} of {count}"
            for o in outputs:
                (box / o).write_bytes(OLD)
            done = run_with(box, args, f"{kind} {n} {ERRORS[kind]}")
            after = contents(box)
            assert set(after) == set(before) | set(outputs), f"{where}: {set(after) - set(before) - set(outputs)} stays"
            assert all(after[known] == before[known] for known in before), f"{where}: an input has changed"
            if done.code == 0:
                assert {o: after[o] for o in outputs} == want, where
            else:
                assert done.code == (4 if kind in ("mmap", "thread") else 3), f"{where}: exit {done.code}\n{done.err}"
                assert len(done.error_lines()) == 1, f"{where}\n{done.err}"
                for o in outputs:
                    assert after[o] in (OLD, want[o]), f"{where}: {o} is neither old nor complete"
    assert counts["write"] >= len(outputs) and counts["rename"] >= len(outputs)
    assert name not in MAPPED or (counts["mmap"] >= 2 and counts["fallocate"] >= 1)


# Between two of these calls nothing changes on the disk.
CHANGING = ("open", "write", "fsync", "rename", "link", "unlink", "fallocate")


@pytest.mark.parametrize("name", EVERY)
def test_a_signal_before_any_change_on_the_disk_leaves_outputs_old_or_complete(box, name):
    """kill -9 leaves each output old or complete, and at most temporary files besides. After the others all outputs are old or all
    complete, and the exit code is 130, or the signal came before main() took it over."""
    args, outputs = EVERY[name]
    before = contents(box)
    run(*args, cwd=box)
    want = {o: (box / o).read_bytes() for o in outputs}
    counts = collections.Counter(kind for kind, _ in calls_of(box, args) if kind in CHANGING)
    for kind, count in counts.items():
        for n in range(1, count + 1):
            for how in (signal.SIGKILL, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[n % 3]):
                where = f"{name}: {how.name} before {kind} {n} of {count}"
                old = {o: OLD if n % 2 else None for o in outputs}
                for o in outputs:
                    (box / o).write_bytes(OLD) if n % 2 else (box / o).unlink(missing_ok=True)
                done = run_with(box, args, f"{kind} {n} {-how}")
                after = contents(box)
                temporary = {path for path in after if path.startswith(".stope-") and path.endswith(".tmp")}
                assert set(after) - temporary - set(outputs) == set(before), where
                assert all(after[known] == before[known] for known in before), f"{where}: an input has changed"
                found = {o: after.get(o) for o in outputs}
                if how == signal.SIGKILL and done.code != 0:  # 0: where there was no old file, a call may be missing
                    assert done.code == -how, f"{where}: exit {done.code}"
                    assert all(found[o] in (old[o], want[o]) for o in outputs), f"{where}: neither old nor complete"
                    for path in temporary:
                        (box / path).unlink()
                else:
                    assert not temporary, f"{where}: {temporary} stay"
                    assert (done.code, found) in ((130, old), (130, want), (-how, old), (0, want)), f"{where}: exit {done.code}\n{done.err}"


@pytest.mark.parametrize("name", JOBS)
def test_calls_that_do_less_than_asked_or_are_interrupted_change_nothing(box, name):
    """A read or a write may move some bytes only, and a signal may end it before the first (EINTR)."""
    args, outputs = JOBS[name]
    run(*args, cwd=box)
    want = {o: (box / o).read_bytes() for o in outputs}
    counts = collections.Counter(kind for kind, _ in calls_of(box, args))
    for failing in ["short", *(f"{kind} {n} {errno.EINTR}" for kind in ("read", "write") for n in range(1, counts[kind] + 1))]:
        for o in outputs:
            (box / o).unlink()
        run_with(box, args, failing, code=0)
        assert {o: (box / o).read_bytes() for o in outputs} == want, f"{name}, {failing}"


@pytest.mark.parametrize("name", JOBS)
def test_outputs_are_on_disk_before_they_have_their_names(box, name):
    """fsync of every file, then the renames, then fsync of the folders: a power cut leaves the old file or the whole new one."""
    args, outputs = JOBS[name]
    run(*args, cwd=box)  # the outputs are there: the renames replace them
    last = [(kind, pathlib.Path(about).name) for kind, about in calls_of(box, args) if kind in ("write", "fsync", "rename")]
    first_rename = next(i for i, (kind, _) in enumerate(last) if kind == "rename")
    synced = [name for kind, name in last[:first_rename] if kind == "fsync"]
    assert len(set(synced)) == len(outputs) and all(name.startswith(".stope-") for name in synced)
    for name in synced:
        position = last.index(("fsync", name))
        assert ("write", name) in last[:position] and ("write", name) not in last[position:], "written after its fsync"
    assert [name for kind, name in last if kind == "rename"] == outputs or {n for k, n in last if k == "rename"} == set(outputs)
    behind = last[max(i for i, (kind, _) in enumerate(last) if kind == "rename") + 1:]
    assert [kind for kind, name in behind if name == box.name] == ["fsync"] * len(outputs)
