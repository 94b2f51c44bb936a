"""Inputs that another program changes while they are read. A file that is cut short under its mapping ends the command with one
line, and no temporary file stays. Bytes that change give a table of old and new bytes or an error, never a crash."""

import os
import random
import signal
import subprocess
import threading
import time

import pytest

import program
from program import run

pytestmark = pytest.mark.bad_input

SIZE = 3_000_000  # files from 1 MiB on are mapped
CHANGED = (0, 3)  # a table, or a mistake that the changed bytes are


def waiting_check(box, name="a.gram"):
    """A command that has mapped its matrix and opened its output, and waits for the second input."""
    run("gen", 100, 10_000, "-o", name, cwd=box)
    run("ata", name, "-o", "z", cwd=box)
    result = (box / "z").read_bytes()
    (box / "z").unlink()
    os.mkfifo(box / "z")
    child = subprocess.Popen([program.PROGRAM, "check", name, "z", "-o", "out.txt"], cwd=box, stderr=subprocess.PIPE,
                             env=program.environment())
    for _ in range(200):
        if name in open(f"/proc/{child.pid}/maps").read() and any(box.glob(".stope-*.tmp")):
            return child, result
        time.sleep(0.05)
    child.kill()
    pytest.fail("it never mapped its input")


def test_an_input_that_is_cut_short_under_its_mapping_is_an_error_and_leaves_no_temporary_file(tmp_path):
    child, result = waiting_check(tmp_path)
    os.truncate(tmp_path / "a.gram", 4096)
    (tmp_path / "z").write_bytes(result)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 3, err
    assert err == b"stope: a.gram: was cut short by another program while it was read\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gram", "z"]


def test_the_name_of_an_input_that_is_cut_short_cannot_steer_a_terminal(tmp_path):
    child, result = waiting_check(tmp_path, "a\x1bb")
    os.truncate(tmp_path / "a\x1bb", 0)
    (tmp_path / "z").write_bytes(result)
    assert b"stope: a\\x1bb: was cut short" in child.communicate(timeout=60)[1]


def test_a_bus_error_that_somebody_sends_ends_the_program_as_any_other(tmp_path):
    child, _ = waiting_check(tmp_path)
    child.send_signal(signal.SIGBUS)
    _, err = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGBUS and err == b""


def changing(path, change, words, times):
    """Runs a command while `change` writes to its mapped input over and over again."""
    stop = threading.Event()

    def work():
        with open(path, "r+b", buffering=0) as file:
            while not stop.is_set():
                change(file)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(times):
            done = run(*words, cwd=path.parent, code=None)
            assert done.code in CHANGED, f"exit {done.code}: {done.err}"
    finally:
        stop.set()
        thread.join()


def test_letters_that_become_longer_while_a_text_is_converted_write_nowhere_else(tmp_path):
    """The room for the text as UTF-8 is counted before it is written."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"xyz,uvw\n" * (SIZE // 8))
    plain, longer = b"xyz,uvw\n" * (SIZE // 16), b"\x80\x80\x80,\x80\x80\x80\n" * (SIZE // 16)

    def change(file):
        for text in (plain, longer):
            file.seek(SIZE // 16 * 8)
            file.write(text)

    changing(path, change, ["info", "t.csv", "--encoding", "windows-1252"], 30)


@pytest.mark.parametrize("rows, columns", [(60, 6000), (60_000, 6)], ids=["wide", "long"])
def test_separators_that_go_while_a_text_is_parsed_lead_nowhere_else(tmp_path, rows, columns):
    draw = random.Random(1)
    path = tmp_path / "t.csv"
    path.write_text("\n".join(",".join(f"w{draw.randrange(10**8)}" for _ in range(columns)) for _ in range(rows)) + "\n")
    text = path.read_bytes()
    places = [i for i, byte in enumerate(text) if byte in b",\n"]

    def change(file):
        for byte in (b"q", None):
            for i in draw.sample(places[columns:], 200):
                file.seek(i)
                file.write(byte or text[i:i + 1])

    changing(path, change, ["info", "t.csv"], 15)
