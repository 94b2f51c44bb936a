"""CSV bodies in blocks: where records end, which separator and header there is, and where an error is."""

import re

import numpy as np
import pytest

for needed in ("starlette", "pyarrow"):
    pytest.importorskip(needed, reason=f"SKIP: the package {needed} is missing")

from stope import _core  # noqa: E402
from stope.errors import StopeError  # noqa: E402
from stope.serve.bodies import csv as body_csv  # noqa: E402
from stope.serve.bodies import Feature, ReadingOptions  # noqa: E402
from stope.serve.bodies.csv_records import Records, ends_of_records  # noqa: E402
from stope.serve.problems import Problem  # noqa: E402

from .bodies_in_process import CSV, blocks, column, cut, whole  # noqa: E402

NAME = [Feature("name", "polynominal")]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few records, so that small bodies have many."""
    monkeypatch.setattr(body_csv, "_BLOCK_BYTES", 64)


def grammar(text, separator):
    """Ends of records, one character at a time: the plain reading of docs/formats/csv.md."""
    ends, at, state = [], 0, "start"
    while at < len(text):
        c = text[at]
        if state == "start" and c == '"':
            state = "quoted"
        elif state == "start" and c in " \t" and c != separator:
            pass
        elif state == "quoted":
            if c == '"' and text[at + 1 : at + 2] == '"':
                at += 1
            elif c == '"':
                state = "field"
        elif c in "\r\n":
            if c == "\r" and at + 1 == len(text):
                break
            at += text.startswith("\r\n", at)
            ends.append(at + 1)
            state = "start"
        else:
            state = "start" if c == separator else "field"
        at += 1
    return ends


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
def test_records_end_where_the_grammar_says(separator):
    random = np.random.default_rng(ord(separator))
    letters = ['"', '""', "\n", "\r\n", "\r", separator, "a", " ", "x", f'{separator}"', f'"{separator}']
    for _ in range(3000):
        text = "".join(random.choice(letters, random.integers(0, 14)))
        found = ends_of_records(text.encode(), separator.encode(), 1000).tolist()
        assert found == grammar(text, separator), repr(text)


def test_blocks_hold_all_bytes_once():
    random = np.random.default_rng(0)
    text = "".join(f'{n},"{"x" * random.integers(9)}\n",{n}\n' for n in range(500)).encode()
    records, taken = Records(7, 64), []
    for part in cut(text, 11):
        records.add(part)
        while records.is_ready and (block := records.take()):
            taken.append(block)
    while block := records.take(last=True):
        taken.append(block)
    assert b"".join(taken) == text and len(taken) > 50
    assert all(block.endswith(b"\n") and 1 <= len(re.findall(rb"^\d", block, re.M)) <= 7 for block in taken)


def test_a_quote_that_is_never_closed_is_refused(monkeypatch):
    from stope.serve.bodies import csv_records as body_csv_records

    monkeypatch.setattr(body_csv_records, "RECORD_BYTES", 1000)
    monkeypatch.setattr(body_csv, "_BLOCK_BYTES", 100)
    with pytest.raises(Problem, match="quote"):
        blocks(cut(b'name\n"' + b"x\n" * 5000, 50), CSV, NAME)


HOSTILE = [
    ",".join(["name", "note", "x"]) + "\n" + "".join(f'n{n},"a ""q"" {n}\n, more",{n}\n' for n in range(60)),
    "name;note;x\r\n" + "".join(f'n{n};5" disk;{n},5\r\n' for n in range(60)),
    "name\tnote\tx\r" + "".join(f'n{n}\t "tab\t{n}" \t{n}\r' for n in range(60)),
    "sep=|\nname|note|x\n" + "".join(f"n{n}|a,b,c,d|{n}\n" for n in range(60)),
    "\ufeffname,note,x\n" + "".join(f"n{n},ünï{n},{n}\n\n" for n in range(60)) + "last,no end,7",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("size", [0, 1, 13])
def test_blocks_read_as_the_whole_does(small_blocks, text, size, tmp_path):
    (tmp_path / "whole.csv").write_bytes(text.encode())
    table = _core.read_table(str(tmp_path / "whole.csv"), {"numeric": ["x"]}, _core.Run(1))
    found = blocks(cut(text.encode(), size), CSV, [Feature("x"), *NAME], keep=["note"], max_rows=9)
    assert len(found) > 5 and max(block.n_rows for block in found) <= 9
    for name in ("name", "note"):
        assert [value for block in found for value in column(block, name)] == column(table, name)
    assert np.concatenate([column(block, "x") for block in found]).tolist() == column(table, "x").tolist()


@pytest.mark.parametrize("size", [0, 1, 13])
def test_marks_between_thousands_and_ragged_records_read_in_blocks_as_in_a_file(small_blocks, size, tmp_path):
    text = "a title\nname;x;note\n# a remark\n"
    text += "".join(f"n{n};{n + 1},{n % 10}00;word\n" + f"n{n}b;1,234\n" * (n % 3 == 0) + "m;7;w;more\n" for n in range(60))
    words = {"thousands": ",", "allow_ragged": True, "comment": "#", "skip_lines": 1}
    (tmp_path / "whole.csv").write_text(text)
    table = _core.read_table(str(tmp_path / "whole.csv"), words, _core.Run(1))
    options = ReadingOptions(thousands=",", allow_ragged=True, comment="#", skip_lines="1")
    read = whole(cut(text.encode(), size), CSV, options)
    found = blocks(cut(text.encode(), size), CSV, [Feature("x"), *NAME], options=options, max_rows=9)
    assert len(found) > 5 and table.n_rows == 140
    broken = text + "last;word\n"
    with pytest.raises(Problem) as refusal:
        blocks(cut(broken.encode(), size), CSV, [Feature("x"), *NAME], options=options, max_rows=9)
    assert refusal.value.members["line"] == 144
    assert column(read, "x").tolist() == column(table, "x").tolist() and 1234.0 in column(table, "x")
    assert np.concatenate([column(block, "x") for block in found]).tolist() == column(table, "x").tolist()
    assert [value for block in found for value in column(block, "name")] == column(table, "name")


def test_errors_name_the_line_of_the_body_and_the_column(small_blocks):
    text = "name,x\n" + "".join(f"n{n},{n}\n" for n in range(100)) + "bad,word\n"
    for size in (0, 10):
        with pytest.raises(Problem) as refusal:
            blocks(cut(text.encode(), size), CSV, [Feature("x"), *NAME])
        assert (refusal.value.code, refusal.value.members["line"], refusal.value.members["column"]) == (
            "malformed-csv",
            102,
            "x",
        )
        assert refusal.value.detail.startswith("line 102, column 5: column 'x': 'word'")
    with pytest.raises(Problem) as refusal:
        whole(text.encode() + b"1,2,3\n", CSV)
    assert refusal.value.members["line"] == 103 and "/proc" not in refusal.value.detail


def test_a_later_block_that_has_other_columns_is_refused(small_blocks):
    text = "name,x\n" + "".join(f"n{n},{n}\n" for n in range(100)) + "n,1,more\n"
    with pytest.raises(Problem) as refusal:
        blocks(text.encode(), CSV, [Feature("x"), *NAME])
    assert (refusal.value.code, refusal.value.members["line"]) == ("malformed-csv", 102)


def test_names_twice_are_refused():
    with pytest.raises(Problem) as refusal:
        blocks(b"name,name\n1,2\n", CSV, NAME)
    assert refusal.value.status == 422 and "name" in refusal.value.detail


def test_a_body_without_names_is_refused_unless_the_options_say_so():
    with pytest.raises(Problem):
        blocks(b"1.5\n2.5\n", CSV, [Feature("x")])
    found = blocks(b"1.5,u\n2.5,v\n", CSV, [Feature("1"), Feature("2", "polynominal")])
    assert column(found[0], "1").tolist() == [1.5, 2.5]
    found = blocks(b"1,2\n3,4\n", "text/csv; header=present", [Feature("1"), Feature("2")])
    assert column(found[0], "1").tolist() == [3.0]


def test_missing_values_are_those_of_the_options(small_blocks):
    text = b"name,x\n" + b"a,-999\nb,1\n?,2\n" * 40
    found = blocks(text, CSV, [Feature("x"), *NAME], options=ReadingOptions(missing_values=("-999",)))
    assert np.isnan(column(found[0], "x")[0]) and column(found[-1], "name")[-1] == "?"


@pytest.mark.parametrize(
    ("encoding", "codec"), [("latin-1", "latin-1"), ("windows-1252", "cp1252"), ("utf-16", "utf-16")]
)
def test_other_encodings_are_read(small_blocks, encoding, codec):
    text = "name,x\n" + "".join(f"é{n},{n}\n" for n in range(100))
    for how in ({"options": ReadingOptions(encoding=encoding)}, {}):
        media_type = CSV if how else f"text/csv; charset={encoding}"
        found = blocks(cut(text.encode(codec), 9), media_type, [Feature("x"), *NAME], **how)
        assert [name for block in found for name in column(block, "name")] == [f"é{n}" for n in range(100)]
    with pytest.raises((Problem, StopeError)):
        blocks(text.encode(codec), CSV, [Feature("x"), *NAME])


def test_dates_are_those_of_the_model():
    found = blocks(b"when,x\n2020-01-02,1\n,2\n", CSV, [Feature("when", "date")])
    assert column(found[0], "when")[0] == 18263 and np.isnan(column(found[0], "when")[1])


def test_nominal_columns_of_numbers_keep_their_spelling(small_blocks):
    text = b"name,x\n" + b"".join(b"%03d,1\n" % n for n in range(100))
    found = blocks(text, CSV, NAME)
    assert [name for block in found for name in column(block, "name")] == [f"{n:03d}" for n in range(100)]
