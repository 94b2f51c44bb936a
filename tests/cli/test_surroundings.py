"""Bad days around the program: descriptors that are closed or full, signals, limits, hostile names and links. No text gets into
a file, no temporary file stays, and the exit code is the documented one."""

import os
import signal
import subprocess
import time

import numpy as np
import pytest

import program
from program import run

pytestmark = pytest.mark.bad_input

TABLE = "x,z,y\n" + "".join(f"{i % 7},{i % 3},{'ab'[i % 2]}\n" for i in range(60))


@pytest.fixture
def box(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path


def shell(line, cwd, code=0):
    """Runs a line of bash, where $S is the program."""
    done = subprocess.run(["bash", "-c", line], cwd=cwd, capture_output=True, timeout=120,
                          env=program.environment({"S": program.PROGRAM}))
    assert done.returncode == code, f"exit {done.returncode}, expected {code}: {line}\n{done.stderr.decode()}"
    return done


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# --- the descriptors 0 to 2 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_no_text_gets_into_a_file_where_descriptors_are_closed(box, closed):
    shell("$S tree t.csv --target y --model-out whole.stope >tree.txt", box)
    shell(f"$S tree t.csv --target y --model-out m.stope {closed} >other.txt", box)
    assert (box / "m.stope").read_bytes() == (box / "whole.stope").read_bytes()
    assert (box / "other.txt").read_bytes() == (box / "tree.txt").read_bytes()


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full"])
def test_output_to_a_closed_stdout_is_an_error(box, closed):
    shell(f"$S classify t.csv t.csv --target y --model-out m.stope {closed}", box, code=3)
    assert names(box) == ["t.csv"]


def test_stdout_may_be_closed_where_nothing_is_written_to_it(box):
    shell("$S classify t.csv t.csv --target y -o p.csv >&-", box)
    assert (box / "p.csv").read_text().startswith("row,prediction\n0,")


def test_a_closed_stdin_is_an_error_where_it_is_read(box):
    assert b"Bad file descriptor" in shell("$S info - <&-", box, code=3).stderr


@pytest.mark.parametrize("lost", ["2>/dev/full", "2>&-", "2>&1 >/dev/null | true"])
@pytest.mark.parametrize("words, code", [("nosuch", 2), ("", 2), ("info nowhere.csv", 3), ("info t.csv", 0),
                                         ("knn t.csv t.csv --ignore y --progress yes --explain -o o.csv", 0)])
def test_a_lost_stderr_changes_no_exit_code(box, words, code, lost):
    shell(f"set -o pipefail; $S {words} {lost}", box, code)


# --- outputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", [">(cat >got.csv)", "/dev/fd/3 3>got.csv", "/proc/self/fd/3 3>got.csv", "/dev/stdout >got.csv",
                                    "/dev/stdout | cat >got.csv", "/dev/stderr 2> >(cat >got.csv)",
                                    "/dev/fd/3 3> >(cat >got.csv)"])
def test_descriptors_and_pipes_are_outputs(box, output):
    whole = run("convert", "t.csv", "-", cwd=box).out
    shell(f"$S convert t.csv -q --output-format csv -o {output}", box)
    for _ in range(100):  # the shell does not wait for >(...)
        if (box / "got.csv").read_bytes() == whole:
            break
        time.sleep(0.05)
    assert (box / "got.csv").read_bytes() == whole
    assert names(box) == ["got.csv", "t.csv"]


@pytest.mark.parametrize("words", ["info {}", "stats {}", "convert {} -", "evaluate {} --target y -k 1", "tree {} --target y",
                                   "knn {} {} -k 1 --ignore y", "classify {} {} --target y", "info - < {}"])
def test_pipes_are_inputs(box, words):
    whole = shell("$S " + words.replace("{}", "t.csv"), box)
    piped = shell("$S " + words.replace("{}", "<(cat t.csv)"), box)
    assert [line for line in piped.stdout.splitlines() if b"t.csv" not in line and b"/dev/fd" not in line] == \
        [line for line in whole.stdout.splitlines() if b"t.csv" not in line]


def test_a_limit_of_file_sizes_is_an_error(box):
    np.save(box / "n.npy", np.random.default_rng(1).normal(size=(1000, 4)))
    (box / "o.csv").write_text("old")
    done = shell("ulimit -f 100; $S knn n.npy n.npy -k 200 -o o.csv", box, code=3)
    assert b"o.csv: cannot write: File too large" in done.stderr
    assert (box / "o.csv").read_text() == "old"
    assert names(box) == ["n.npy", "o.csv", "t.csv"]


@pytest.mark.parametrize("words", ["--model-out both >both", "--model-out both >>both", "--model-out /dev/stdout >both",
                                   "-o - --model-out /dev/fd/1 >both", "--model-out m.stope --json -o /dev/stdout >both"])
def test_stdout_and_an_output_are_two_files(box, words):
    done = shell(f"$S classify t.csv t.csv --target y {words}", box, code=2)
    assert b"stdout" in done.stderr
    assert names(box) == ["both", "t.csv"]


# --- signals ----------------------------------------------------------------------------------------------------------


def long_job(folder, **more):
    """A search of many seconds, after its output was opened."""
    np.save(folder / "big.npy", np.random.default_rng(3).normal(size=(120000, 16)))
    child = subprocess.Popen([program.PROGRAM, "knn", "big.npy", "big.npy", "-k", "100", "-o", "out.csv", "--device", "cpu"],
                             cwd=folder, stderr=subprocess.PIPE, env=program.environment(), **more)
    time.sleep(1.0)
    assert child.poll() is None, child.stderr.read().decode()
    return child


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGUSR1", "SIGUSR2",
                                  "SIGIO", "SIGPWR", "SIGXCPU"])
def test_signals_that_end_the_program_leave_no_temporary_file(tmp_path, name):
    child = long_job(tmp_path)
    child.send_signal(getattr(signal, name))
    child.send_signal(getattr(signal, name))  # a lost terminal may say it twice
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert names(tmp_path) == ["big.npy"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_a_signal_that_the_caller_ignores_stays_ignored(tmp_path, name):
    child = long_job(tmp_path, preexec_fn=lambda: signal.signal(getattr(signal, name), signal.SIG_IGN))
    child.send_signal(getattr(signal, name))
    time.sleep(1.0)
    assert child.poll() is None, "it was ended"
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=60) == 130


def test_a_pipe_whose_name_promises_cuts_is_opened_once(box):
    os.mkfifo(box / "pipe.json")
    child = subprocess.Popen([program.PROGRAM, "info", "pipe.json"], cwd=box, stderr=subprocess.PIPE, env=program.environment())
    (box / "pipe.json").write_text('[{"a": 1}]')
    _, err = child.communicate(timeout=20)
    assert child.returncode == 3 and b"pipe.json" in err


def test_a_signal_ends_the_wait_for_the_reader_of_a_pipe(box):
    os.mkfifo(box / "pipe")
    child = subprocess.Popen([program.PROGRAM, "convert", "t.csv", "-o", "pipe", "--output-format", "csv"], cwd=box,
                             stderr=subprocess.PIPE, env=program.environment())
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130 and err == b"stope: cancelled\n"


@pytest.mark.parametrize("words", [
    ["knn", "many.csv", "many.csv", "-k", "20"],
    ["predict", "knn.stope", "many.csv"],
    ["convert", "many.csv", "pipe", "--output-format", "csv"],
    ["gen", "300", "30000"],
], ids=lambda words: words[0])
def test_a_signal_ends_the_wait_for_a_reader_that_reads_no_more(box, words):
    (box / "many.csv").write_text("x,y\n" + "".join(f"{i % 97},{'ab'[i % 2]}\n" for i in range(20_000)))
    run("classify", "many.csv", "--target", "y", "--model-out", "knn.stope", cwd=box)
    os.mkfifo(box / "pipe")
    output = [] if "pipe" in words else ["-o", "pipe"]
    child = subprocess.Popen([program.PROGRAM, *words, *output], cwd=box, stderr=subprocess.PIPE, env=program.environment())
    reader = os.open(box / "pipe", os.O_RDONLY)
    assert os.read(reader, 100)
    time.sleep(1.0)  # long enough to fill the pipe
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=20)
    os.close(reader)
    assert child.returncode == 130 and err.endswith(b"stope: cancelled\n")


def test_a_signal_while_nobody_reads_the_json_is_an_interrupt(box):
    np.save(box / "wide.npy", np.zeros((2, 3000)))
    child = subprocess.Popen([program.PROGRAM, "info", "wide.npy", "--json"], cwd=box, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=program.environment())
    time.sleep(1.5)  # long enough to fill the pipe
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=20)
    assert child.returncode == 130 and err == b"stope: cancelled\n"


def test_a_slow_reader_gets_every_byte(box):
    (box / "many.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(200_000)))
    with subprocess.Popen([program.PROGRAM, "convert", "many.csv", "-"], cwd=box, stdout=subprocess.PIPE,
                          env=program.environment()) as child:
        time.sleep(0.5)
        text = child.stdout.read()
    assert child.returncode == 0 and text == (box / "many.csv").read_bytes()


# --- what a terminal would obey ---------------------------------------------------------------------------------------


STEERING = {  # without NUL (no text), tab, LF and CR (they part fields and records)
    "C0": [chr(c) for c in range(1, 32) if chr(c) not in "\t\n\r"],
    "DEL and C1": [*map(chr, range(0x7f, 0xa0))],
    "marks of direction": ["\u061c", "\u200e", "\u200f", *map(chr, range(0x202a, 0x202f)), *map(chr, range(0x2066, 0x206a))],
}


@pytest.mark.parametrize("kind", STEERING)
def test_names_cannot_steer_a_terminal(box, kind):
    hostile = STEERING[kind]
    columns = [f"a{c}b" for c in hostile]
    (box / "h.csv").write_text(",".join(columns) + ",y\n" + ",".join(f"p{c}q" for c in hostile) + ",k\n" +
                               ",".join("r" for _ in hostile) + ",l\n", encoding="utf-8")
    every = "".join(hostile)
    for text in [run("info", "h.csv", cwd=box).text, run("stats", "h.csv", cwd=box).text,
                 run("classify", "h.csv", "h.csv", "--target", f"no{every}", cwd=box, code=3).err,
                 run("info", f"no{every}.csv", cwd=box, code=3).err]:
        for c in hostile:
            assert c not in text, repr(c)
            assert "".join(f"\\x{byte:02x}" for byte in c.encode()) in text, repr(c)


def test_messages_have_a_bounded_length(box):
    (box / "long.csv").write_text("a,y\n1,p\n" + "n" * 3_000_000 + ",q\n")
    done = run("info", "long.csv", "--numeric", "a", cwd=box, code=3)
    assert len(done.err) < 1200 and done.err.startswith("stope: long.csv:3:1: ") and "nnn...nnn" in done.err
    (box / "cuts.json").write_text('{"a": [' + "1" * 1_000_000 + "x]}")
    assert len(run("info", "cuts.json", cwd=box, code=3).err) < 1200
