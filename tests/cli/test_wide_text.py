"""Text tables of more columns than rows: what is read is what narrow tables of the same columns give."""

import random

import numpy as np
import pytest

from program import run

KINDS = ["number", "whole", "word", "quoted", "date", "gap", "truth", "late text"]


def cell(rng, kind, row):
    if rng.random() < 0.05:
        return ""
    return {"number": lambda: f"{rng.uniform(-9, 9):.3f}", "whole": lambda: str(rng.randrange(1000)),
            "word": lambda: rng.choice(["red", "green", "blue"]), "quoted": lambda: f'"{rng.choice("abc")}, {rng.choice("xyz")}"',
            "date": lambda: f"2024-03-{rng.randrange(1, 29):02d}", "gap": lambda: "?", "truth": lambda: rng.choice(["true", "False"]),
            "late text": lambda: "n/a" if row == 4 else str(rng.randrange(9))}[kind]()


def write(path, names, rows, separator=",", end="\n"):
    path.write_text(end.join(separator.join(row) for row in [names, *rows]) + end, newline="")


def columns_of(path, *options):
    return run("info", path, "--json", *options).json()["columns"]


@pytest.mark.parametrize("shape", [(1, 3000), (2, 900), (5, 2000), (30, 700), (300, 600)])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_equals_narrow_tables(tmp_path, shape, threads):
    n_rows, n_columns = shape
    rng = random.Random(n_columns)
    names = [f"c{c + 1}" if c % 3 else f'"c{c + 1}"' for c in range(n_columns)]
    rows = [[cell(rng, KINDS[c % len(KINDS)], r) for c in range(n_columns)] for r in range(n_rows)]
    end = "\r\n" if n_rows == 5 else "\n"
    write(tmp_path / "wide.csv", names, rows, end=end)
    expected = []
    for first in range(0, n_columns, 97):
        write(tmp_path / "narrow.csv", names[first:first + 97], [row[first:first + 97] for row in rows], end=end)
        expected += columns_of(tmp_path / "narrow.csv", "--header", "yes")
    assert columns_of(tmp_path / "wide.csv", "--header", "yes", "-j", threads) == expected


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_arff_holds_the_same_table(tmp_path, threads):
    rng = random.Random(3)
    names = [f"c{c}" for c in range(5000)]
    kinds = ["number", "whole", "word", "quoted", "date"]
    write(tmp_path / "t.csv", names, [[cell(rng, kinds[c % 5] if c % 400 else "number", r) for c in range(5000)] for r in range(21)])
    run("convert", tmp_path / "t.csv", tmp_path / "t.arff")
    back = run("convert", tmp_path / "t.arff", "-", "--format", "csv", "-j", threads).text
    assert back == run("convert", tmp_path / "t.csv", "-", "-j", threads).text


def test_every_number_is_where_it_was(tmp_path):
    x = np.round(np.random.default_rng(1).normal(size=(30, 20_000)), 4)
    write(tmp_path / "t.csv", [f"c{c}" for c in range(20_000)], [[repr(float(v)) for v in row] for row in x])
    for threads in (1, 3):
        run("convert", tmp_path / "t.csv", tmp_path / "t.npy", "-j", threads)
        assert np.array_equal(np.load(tmp_path / "t.npy"), x)


def test_mistakes_have_their_places(tmp_path):
    names, row = [f"c{c}" for c in range(4000)], ["1"] * 4000
    bad = [*row[:3000], "x", *row[3001:]]
    write(tmp_path / "t.csv", names, [row, bad, [*bad[:5], "y", *bad[6:]]])
    done = run("info", tmp_path / "t.csv", "--numeric", "*", code=3)
    assert f"t.csv:3:{2 * 3000 + 1}: column 'c3000': 'x' is not a number" in done.err
    write(tmp_path / "t.csv", names, [row, row[:-1], row])
    done = run("info", tmp_path / "t.csv", code=3)
    assert "t.csv:3:1: expected 4000 fields, found 3999" in done.err
    write(tmp_path / "t.csv", [*names[:-1], "c7"], [row])
    done = run("info", tmp_path / "t.csv", "--header", "yes", code=3)
    assert "a second column is named 'c7'" in done.err


def test_text_describes_the_columns_that_it_shows(tmp_path):
    write(tmp_path / "t.csv", [f"c{c}" for c in range(300)], [[str(c % 7 + r) for c in range(300)] for r in range(4)])
    some, all_of_them = (run("stats", tmp_path / "t.csv", *more).text.splitlines() for more in ([], ["--all"]))
    assert some[-1] == "... and 200 more columns (--all)"
    assert [line.split() for line in some[:-1]] == [line.split() for line in all_of_them[:len(some) - 1]]
