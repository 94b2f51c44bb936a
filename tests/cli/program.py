"""Runs the program under test (STOPE_BIN, default build/release/cli/stope) and reads what it writes."""

import csv
import ctypes
import io
import json
import math
import os
import pathlib
import signal
import struct
import subprocess
from dataclasses import dataclass

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("STOPE_BIN", str(ROOT / "build" / "release" / "cli" / "stope"))
SHARED = pathlib.Path(os.environ.get("STOPE_SHARED", str(ROOT.parent / "shared")))


@dataclass
class Result:
    code: int
    out: bytes
    err: str

    @property
    def text(self):
        return self.out.decode("utf-8")

    def json(self):
        return json.loads(self.text)

    def error_lines(self):
        return [line for line in self.err.splitlines() if line.startswith("stope: ") and not is_warning(line)]


def is_warning(line):
    return line.startswith("stope: warning")


FORCED = {}  # variables of every run of the present test, for fixtures


def environment(extra=None):
    """The environment of a run: no fault, back end or tile override leaks in from outside."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("STOPE_")}
    env.update(FORCED)
    env.update(extra or {})
    return env


def without_root():
    """For preexec_fn: root passes over no file's mode any more, so that permissions hold for it as for their owner."""
    drop, dac_override, dac_read_search = 24, 1, 2  # PR_CAPBSET_DROP and capabilities of Linux
    for capability in (dac_override, dac_read_search):
        if os.geteuid() == 0 and LIBC.prctl(drop, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


LIBC = ctypes.CDLL(None, use_errno=True)


def attend_signals():
    """Whoever starts a command in the background has it ignore signals of the keyboard or the terminal, and the program
    would keep to that: from here on they do what they usually do."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def run(*args, code=0, stdin=None, env=None, cwd=None, timeout=120, **more):
    """Runs `stope ARGS`; asserts the exit code unless `code` is None."""
    words = [PROGRAM, *[str(a) for a in args]]
    done = subprocess.run(
        words,
        input=stdin if stdin is not None else b"",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(env),
        cwd=cwd,
        timeout=timeout,
        **more,
    )
    result = Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
    if code is not None:
        assert result.code == code, f"exit {result.code}, expected {code}: {' '.join(words)}\n{result.err[-2000:]}"
    return result


def backends():
    """Returns the back ends that this machine has."""
    return [b["name"] for b in json.loads(run("device", "--json").text)["backends"] if b["available"]]


def records(text):
    """Returns the records of CSV text as dictionaries."""
    return list(csv.DictReader(io.StringIO(text)))


def rows(text):
    """Returns the header and the records of CSV text as lists."""
    table = list(csv.reader(io.StringIO(text)))
    return table[0], table[1:]


def neighbor_lists(text):
    """Turns `row,pos,train_index,distance` into {row: [(train_index, distance), ...]} in the order of pos."""
    lists = {}
    for r in records(text):
        entries = lists.setdefault(int(r["row"]), [])
        assert int(r["pos"]) == len(entries), f"positions of row {r['row']} do not count from 0"
        entries.append((int(r["train_index"]), float(r["distance"])))
    return lists


def bits(value):
    """Returns a key that two doubles share if they are the same value to the bit; every NaN is one value."""
    return "nan" if math.isnan(value) else struct.pack("<d", value)


def same_bits(a, b):
    """True if two arrays agree to the bit (NaN equals NaN, -0.0 differs from 0.0)."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return a.shape == b.shape and bool(
        np.all((a.view(np.uint64) == b.view(np.uint64)) | (np.isnan(a) & np.isnan(b))))


def find_key(tree, key):
    """Returns the first value of `key` anywhere in a JSON tree, breadth first; KeyError if there is none."""
    level = [tree]
    while level:
        below = []
        for node in level:
            if isinstance(node, dict):
                if key in node:
                    return node[key]
                below.extend(node.values())
            elif isinstance(node, list):
                below.extend(node)
        level = below
    raise KeyError(key)


def number_text(value):
    """Returns a number as the CSV files of the tests spell it; missing is an empty field."""
    value = float(value)
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def write_csv(path, columns):
    """Writes {name: values} as CSV; numbers round-trip, None and NaN are empty."""
    names = list(columns)
    n = len(columns[names[0]]) if names else 0
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        for i in range(n):
            record = []
            for name in names:
                v = columns[name][i]
                record.append("" if v is None else v if isinstance(v, str) else number_text(v))
            if record == [""]:
                out.write('""\n')
            else:
                writer.writerow(record)
    return path


def write_matrix(path, matrix, **more):
    """Writes a numeric matrix with columns a0, a1, ... and further columns."""
    matrix = np.asarray(matrix, dtype=np.float64)
    columns = {f"a{j}": matrix[:, j] for j in range(matrix.shape[1])}
    columns.update(more)
    return write_csv(path, columns)
