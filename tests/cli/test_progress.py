"""Progress in a pseudo-terminal: in every command the line appears after its delay, moves, and never goes back. And what
is under way stops at a signal: decompositions, and waiting for a FIFO."""

import os
import pty
import re
import signal
import subprocess
import time

import numpy as np
import pytest

import program
from program import run, write_matrix

FRAME = re.compile(r"^(?P<phase>.+?)  (?:\[[#.]{24}\] +(?P<percent>\d+) %|(?P<count>[\d.]+(?: [kMGTP])?)(?:  |$))")
POWERS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    """Tables that keep each command busy for some tenths of a second."""
    folder = tmp_path_factory.mktemp("progress")
    for name, kind, columns, rows in [("blobs", "blobs", 8, 30000), ("many", "blobs", 8, 200000), ("few", "blobs", 8, 3000),
                                      ("wide", "blobs", 300, 1500), ("linear", "linear", 60, 20000)]:
        run("gen", kind, columns, rows, "-o", folder / f"{name}.csv")
    run("gen", 3000, 3000, "-o", folder / "matrix.gram")
    (folder / "ids.csv").write_text("a,y\n" + "".join(f"{i},c{i}\n" for i in range(2600)))
    run("tree", "few.csv", "--target", "class", "--model-out", "tree.stope", "-o", "tree.json", cwd=folder)
    run("convert", "blobs.csv", "blobs.csv.gz", cwd=folder)
    run("convert", "linear.csv", "linear.npy", cwd=folder)
    run("ata", "matrix.gram", "-o", "result.gram", cwd=folder)
    return folder


def frames_of(*args, cwd):
    """Runs a command with stderr on a pseudo-terminal; returns what was drawn as (phase, position, text)."""
    main, side = pty.openpty()
    child = subprocess.Popen([program.PROGRAM, *map(str, args)], cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=side, env=program.environment({"STOPE_PROGRESS_DELAY": "1"}))
    os.close(side)
    drawn = b""
    while True:
        try:
            more = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not more:
            break
        drawn += more
    os.close(main)
    assert child.wait(timeout=120) == 0, drawn[-2000:]
    frames = []
    for piece in drawn.decode("utf-8", "replace").split("\r"):
        text = piece.split("\x1b[K")[0]
        match = FRAME.match(text)
        if not match:
            continue
        if match["percent"]:
            position = float(match["percent"])
        else:
            number, _, power = match["count"].partition(" ")
            position = float(number) * POWERS[power]
        frames.append((match["phase"], position, text))
    return frames, drawn


OF_EVERY_TABLE = ("load", "decompress", "read", "columns")  # a second table begins anew

COMMANDS = {
    "stats": ("stats", "blobs.csv", "-o", "o.csv"),
    "stats of classes": ("stats", "blobs.csv", "--by", "class", "-o", "o.csv"),
    "knn": ("knn", "blobs.csv", "blobs.csv", "-o", "o.csv"),
    "knn by the reference": ("knn", "few.csv", "few.csv", "--metric", "mahalanobis", "--ignore", "class", "-o", "o.csv"),
    "classify": ("classify", "blobs.csv", "blobs.csv", "--target", "class", "-o", "o.csv"),
    "evaluate": ("evaluate", "few.csv", "--target", "class", "-o", "o.csv"),
    "pairwise": ("pairwise", "few.csv", "few.csv", "-o", "o.csv"),
    "normalize": ("normalize", "blobs.csv", "--method", "interquartile", "-o", "o.csv"),
    "pca": ("pca", "wide.csv", "--ignore", "class", "-o", "o.csv"),
    "lsq": ("lsq", "linear.csv", "--target", "y", "--standard-errors", "-o", "o.csv"),
    "chimerge": ("discretize", "blobs.csv", "--target", "class", "--method", "chimerge", "-o", "o.csv"),
    "mdlp": ("discretize", "blobs.csv", "--target", "class", "--method", "mdlp", "-o", "o.csv"),
    "permutations": ("discretize", "wide.csv", "--target", "class", "--method", "best-cut", "--permutations", 50, "-o", "o.csv"),
    "tree": ("tree", "blobs.csv", "--target", "class", "-o", "o.json"),
    "predict": ("predict", "tree.stope", "many.csv", "-o", "o.csv"),
    "convert": ("convert", "blobs.csv", "o.csv"),
    "convert to gz": ("convert", "blobs.csv", "o.csv.gz"),
    "convert to zst": ("convert", "blobs.csv", "o.csv.zst"),
    "reading gz": ("convert", "blobs.csv.gz", "o.csv"),
    "reading arrays": ("convert", "linear.npy", "o.csv"),
    "gen": ("gen", "fvecs", 32, 300000, "-o", "o.fvecs"),
    "gen of a matrix": ("gen", 2000, 5000, "-o", "o.gram"),
    "ata": ("ata", "matrix.gram", "-o", "o.gram"),
    "check": ("check", "matrix.gram", "result.gram"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_appears_and_moves(box, name):
    frames, drawn = frames_of(*COMMANDS[name], "--seed", 1, cwd=box)
    assert len({text for _, _, text in frames}) >= 3, drawn[-2000:]
    phase, before = None, 0.0
    for now, position, text in frames:
        if now == phase and now not in OF_EVERY_TABLE:
            assert position >= before, f"{text!r} after {before}"
        phase, before = now, position
    assert not drawn.decode("utf-8", "replace").endswith(frames[-1][2]), "the line is taken off at the end"


@pytest.mark.parametrize("command", [
    ("convert", "many.csv", "o.json"),
    ("pairwise", "few.csv", "few.csv", "-k", "40", "-o", "o.csv"),
    ("classify", "ids.csv", "ids.csv", "--target", "y", "-k", "1", "--proba", "-o", "o.csv"),
], ids=lambda command: command[0])
def test_writing_rows_is_a_phase_that_moves(box, command):
    frames, drawn = frames_of(*command, cwd=box)
    written = [position for phase, position, _ in frames if phase == "write"]
    assert len(set(written)) > 1 and written == sorted(written), drawn[-2000:]


def test_nothing_is_drawn_before_the_delay(box):
    main, side = pty.openpty()
    done = subprocess.run([program.PROGRAM, "convert", "few.csv", "o.csv"], cwd=box, stdout=subprocess.DEVNULL,
                          stderr=side, env=program.environment({"STOPE_PROGRESS_DELAY": "1000000"}))
    os.close(side)
    assert done.returncode == 0
    os.set_blocking(main, False)
    with pytest.raises(OSError):
        assert os.read(main, 100) == b""
        raise OSError
    os.close(main)


def test_a_pipe_to_which_nobody_writes_is_shown(tmp_path):
    child = subprocess.Popen([program.PROGRAM, "info", "-", "--progress", "yes"], stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=program.environment())
    time.sleep(2.5)
    child.kill()
    _, err = child.communicate(timeout=60)
    assert err.count(b"load  0") >= 2, err


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """Tables of as many classes as the search of cuts is to notice: few.csv of blocks of 4 rows, each.csv of single rows."""
    folder = tmp_path_factory.mktemp("classes")
    (folder / "few.csv").write_text("a,y\n" + "".join(f"{i},c{i // 4}\n" for i in range(40_000)))
    (folder / "each.csv").write_text("a,y\n" + "".join(f"{i},c{i}\n" for i in range(100_000)))
    return folder


def test_mdlp_takes_no_longer_for_many_classes_than_for_their_rows(classes):
    run("discretize", "few.csv", "--target", "y", "--method", "mdlp", "--cuts-out", "c.json", cwd=classes, timeout=15)


# --- signals ----------------------------------------------------------------------------------------------------------


def start(*args, cwd):
    return subprocess.Popen([program.PROGRAM, *map(str, args)], cwd=cwd, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=program.environment())


def wait_for_handler(child):
    """Returns when the program catches SIGINT."""
    while child.poll() is None:
        with open(f"/proc/{child.pid}/status") as status:
            caught = re.search(r"SigCgt:\s*([0-9a-f]+)", status.read())
        if int(caught[1], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.01)


@pytest.mark.parametrize("command", [
    ("pca", "square.npy", "-o", "o.csv"),
    ("lsq", "square.npy", "--target", 1, "--standard-errors", "-o", "o.csv"),
])
def test_a_decomposition_stops_at_a_signal(tmp_path, command):
    g = np.random.default_rng(1)
    np.save(tmp_path / "square.npy", g.normal(size=(2600, 1500)))
    child = start(*command, "--progress", "yes", cwd=tmp_path)
    for line in child.stderr:
        if line.startswith(b"tridiagonal form"):
            break
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err.decode()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["square.npy"], "nothing is left behind"


@pytest.mark.parametrize("writer", [False, True])
@pytest.mark.parametrize("command", [
    ("convert", "fifo", "o.csv"),
    ("convert", "t.csv", "o.csv", "--schema", "fifo"),
    ("info", "fifo"),
])
def test_waiting_for_a_fifo_stops_at_a_signal(tmp_path, command, writer):
    write_matrix(tmp_path / "t.csv", np.ones((3, 2)))
    os.mkfifo(tmp_path / "fifo")
    child = start(*command, cwd=tmp_path)
    wait_for_handler(child)
    descriptor = -1
    while writer and descriptor < 0 and child.poll() is None:
        try:
            descriptor = os.open(tmp_path / "fifo", os.O_WRONLY | os.O_NONBLOCK)  # works once the program has opened it
        except OSError:
            time.sleep(0.01)
    if not writer:
        time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    try:
        _, err = child.communicate(timeout=60)
    finally:
        child.kill()
        if descriptor >= 0:
            os.close(descriptor)
    assert child.returncode == 130, err.decode()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fifo", "t.csv"], "nothing is left behind"


@pytest.mark.parametrize("command", [
    ("tree", "each.csv", "--target", "y", "--criterion", "entropy"),
    ("discretize", "each.csv", "--target", "y", "--method", "mdlp", "--cuts-out", "c.json"),
], ids=lambda command: command[0])
def test_a_scan_over_very_many_classes_stops_at_a_signal(classes, command):
    child = start(*command, "--progress", "yes", cwd=classes)
    time.sleep(1.5)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=5)
    assert child.returncode == 130 and (b"level 0" in err or b"cuts" in err), err.decode()
