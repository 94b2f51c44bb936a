"""The rule for files that nobody means well with, for every reader and every kind of model: the peak of memory is at most
64 MB and 8 times the file beyond what the result itself needs; a memory limit holds; twice the file takes no four times
the work. hostile_files.py and hostile_models.py make the files. CPU time is compared with itself, not with a clock: other programs run, too."""

import pathlib
import re
import shutil
from dataclasses import dataclass

import pytest

import hostile_models  # noqa: F401, its makers join CASES
from hostile_files import CASES, Case
from measured import Measured, measured
from program import ROOT, run

BESIDES, FACTOR = 64_000_000, 8
LIMIT = 50_000_000
GROWTH, SLACK = 3.0, 0.3  # twice the file: at most so many times the CPU time, and so many seconds more
LEAST = 16 << 10  # smaller files only declare a size: they do not grow with it

@dataclass
class Run:
    case: Case
    folder: pathlib.Path
    words: list
    needed: int  # bytes that the result needs
    size: int  # bytes of the files
    done: Measured


def run_of(case, folder, n):
    words = case.make(folder, n)
    words, needed = words if isinstance(words, tuple) else (words, 0)
    size = sum(path.stat().st_size for path in folder.iterdir())
    return Run(case, folder, words, needed, size, measured(words, folder))


@pytest.fixture(scope="module")
def program_itself(tmp_path_factory):
    """The memory of the program with hardly a file to read."""
    folder = tmp_path_factory.mktemp("itself")
    (folder / "t.csv").write_text("x0,x1\n1,2\n")
    return measured(["info", "t.csv"], folder).peak


@pytest.fixture(scope="module", params=CASES, ids=[f"{case.reader}: {case.name}" for case in CASES])
def first(request, tmp_path_factory):
    """The case's command without a limit. The tests of one case follow each other, so that its files are made once."""
    folder = tmp_path_factory.mktemp("hostile")
    yield run_of(request.param, folder, request.param.n)
    shutil.rmtree(folder)


def left_behind(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith((".stope-", "o.")))


def test_memory_is_64_MB_and_8_times_the_file_beyond_the_result(first, program_itself):
    done = first.done
    assert done.code in (0, 2, 3), done.err
    assert len(done.err) < 10_000
    most = program_itself + BESIDES + FACTOR * first.size + first.needed
    assert done.peak <= most, f"{done.peak / 1e6:.0f} MB of {most / 1e6:.0f}, for {first.size / 1e6:.1f} MB: {done.err[:300]}"
    assert done.code == 0 or not left_behind(first.folder)


def test_the_limit_holds_and_the_error_names_what_was_too_large(first, program_itself):
    for output in first.folder.glob("o.*"):
        output.unlink()
    done = measured([*first.words, "--memory-limit", LIMIT], first.folder)
    assert done.code in (0, 2, 3, 4), done.err
    assert done.peak <= program_itself + LIMIT + BESIDES + first.size, f"{done.peak / 1e6:.0f} MB: {done.err[:300]}"
    if done.code == 4:
        assert re.search(r"[hwct]\.[a-z]+(\.gz)?: ", done.err) and re.search(r"\d+ bytes", done.err), done.err
    assert done.code == 0 or not left_behind(first.folder)


def test_twice_the_file_takes_no_four_times_the_work(first, tmp_path):
    if first.size < LEAST:
        return
    twice = run_of(first.case, tmp_path, 2 * first.case.n)
    seconds = first.done.cpu, twice.done.cpu
    if seconds[1] > GROWTH * seconds[0] + SLACK:  # the machine may have been busy
        seconds = [min(measured(run.words, run.folder).cpu for _ in range(2)) for run in (first, twice)]
    assert seconds[1] <= GROWTH * seconds[0] + SLACK, seconds


def read_formats():
    """What the help of the command line and docs/FORMATS.md say that tables come as."""
    choices = re.search(r"--input-format ([a-z|]+)", run("info", "--help").text).group(1).split("|")
    rows = re.findall(r"^\| (`\.[^|]*) \|[^|]*\| ([^|]*) \|", (ROOT / "docs" / "FORMATS.md").read_text(), re.MULTILINE)
    suffixes = [suffix for names, read in rows if read != "no" for suffix in re.findall(r"`\.(\w+)`", names)]
    alike = {"pq": "parquet", "feather": "arrow", "ipc": "arrow", "arrows": "arrow", "xlsm": "xlsx"}
    return {alike.get(name, name) for name in [*choices, *suffixes]}


def kinds_of_models():
    text = (ROOT / "docs" / "formats" / "models.md").read_text()
    kinds = re.findall(r"^\| `([a-z ]+)` \|", text[text.index("| kind |"):], re.MULTILINE)
    return {"cuts model" if kind == "cuts" else kind for kind in kinds}


OUTPUTS = {"--output", "--report", "--filled-out", "--explain-out", "--cuts-out", "--correlation", "--components-out", "--model-out",
           "--predictions-out", "--train-out", "--test-out"}
# Options that read a file, and the reader whose cases stand for them.
INPUTS = {"--schema": "schema", "--test-schema": "schema", "--after": "chain", "--feature-weights": "--feature-weights",
          "discretize --apply": "cuts", "normalize --apply": "normalization", "pca --apply": "pca --apply", "lsq --apply": "lsq --apply"}


def options_of_files():
    """Every option of every command whose value is a file: (command, option)."""
    overview = run("help").text
    commands = re.findall(r"^  ([a-z]+)  +\S", overview[overview.index("Commands"):overview.index("Topics")], re.MULTILINE)
    for command in commands:
        if command in ("completion", "help", "device"):
            continue
        for option in re.findall(r"(--[a-z-]+) (?:FILE|MODEL)\b", run(command, "--help").text):
            yield command, option


def test_every_reader_has_a_hostile_file():
    there = {case.reader for case in CASES}
    wanted = read_formats() | kinds_of_models() | {"gz", "gram", "cuts", "schema"}
    for command, option in options_of_files():
        if option not in OUTPUTS:
            reader = INPUTS.get(option, INPUTS.get(f"{command} {option}"))
            assert reader, f"{command} {option} reads a file: name its cases, or add one to hostile_files.py"
            wanted.add(reader)
    assert wanted <= there, f"no hostile file for {sorted(wanted - there)}: add a case to hostile_files.py"
