"""Sheets of workbooks: what openpyxl and others write, and bits that are flipped."""

import datetime
import json
import random

import pytest

from program import run

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture(autouse=True, scope="module")
def plug_in(tmp_path_factory):
    """The tests need the plug-in for files; a build without it is skipped here and tested elsewhere."""
    path = tmp_path_factory.mktemp("sheet") / "t.xlsx"
    save(path, [["a"], [1]])
    done = run("info", path, code=None)
    if done.code != 0 and "plug-in" in done.err:
        pytest.skip("no plug-in for files in this build")


def save(path, rows, change=None):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if change:
        change(book, book.active)
    book.save(path)
    return path


def table(path, *options):
    return json.loads(run("convert", path, "-", "--format", "json", *options).text)


def columns(path, *options):
    return {c["name"]: c for c in run("info", path, "--json", *options).json()["columns"]}


DAY = datetime.date(2024, 2, 29)
ROWS = [["n", "text", "day", "moment", "ok", "share", "error"],
        [1, "a, b", DAY, datetime.datetime(2024, 2, 29, 12, 30), True, 0.1, "#N/A"],
        [2.5, 'say "x"', DAY, datetime.datetime(2024, 3, 1), False, 0.25, 7],
        [None, "line\nbreak", None, None, True, 1, "#DIV/0!"]]


def test_cells_keep_their_types(tmp_path):
    def style(book, sheet):
        for row in range(2, 5):
            sheet.cell(row, 6).number_format = "0 %"

    path = save(tmp_path / "t.xlsx", ROWS, style)
    found = columns(path)
    assert {name: c["type"] for name, c in found.items()} == {
        "n": "real", "text": "polynominal", "day": "date", "moment": "date", "ok": "binominal", "share": "real", "error": "integer"}
    assert found["day"]["min"] == (DAY - datetime.date(1970, 1, 1)).days and found["day"]["missing"] == 1
    assert found["moment"]["min"] == found["day"]["min"] + 12.5 / 24
    assert [row["share"] for row in table(path)] == [0.1, 0.25, 1] and found["error"]["missing"] == 2
    assert [row["text"] for row in table(path)] == ["a, b", 'say "x"', "line\nbreak"]


def test_a_sheet_is_the_table_that_its_export_is(tmp_path):
    rng = random.Random(3)
    rows = [["x", "y", "name", "day"]] + [
        [round(rng.uniform(-1e6, 1e6), 6), rng.choice([None, rng.randrange(100)]), rng.choice(["red", "NA", "green"]), DAY + datetime.timedelta(i)]
        for i in range(500)]
    save(tmp_path / "t.xlsx", rows)
    text = "\n".join(",".join("" if v is None else str(v) for v in row) for row in rows)
    (tmp_path / "t.csv").write_text(text + "\n")
    assert run("convert", tmp_path / "t.xlsx", "-").out == run("convert", tmp_path / "t.csv", "-").out


def test_sheets_are_chosen_by_name_and_number_and_listed(tmp_path):
    def more(book, sheet):
        sheet.sheet_state = "hidden"
        sheet.title = "Alt"
        book.create_sheet("Daten").append(["b"])
        book["Daten"].append([2])
        book.create_chartsheet("Bild")

    path = save(tmp_path / "t.xlsx", [["a"], [1]], more)
    assert list(columns(path)) == ["b"] and list(columns(path, "--sheet", "Alt")) == ["a"]
    assert list(columns(path, "--sheet", "1")) == ["a"] and list(columns(path, "--sheet", 2)) == ["b"]
    assert "sheets: Alt (hidden), Daten\n" in run("info", path).text
    error = run("info", path, "--sheet", "Date", code=3).err
    assert "has no sheet 'Date': its sheets are 'Alt', 'Daten' (--sheet" in error
    (tmp_path / "t.csv").write_text("a\n1\n")
    assert "is no workbook" in run("info", tmp_path / "t.csv", "--sheet", 1, code=2).err


def test_leading_rows_and_columns_blank_rows_and_merged_cells(tmp_path):
    def merge(book, sheet):
        sheet.merge_cells("C7:D7")

    rows = [[], [None, "Report"], [], [None, "", "x", "y", "z"], [None, None, 1, 2, 3], [], [None, None, 4, None, 6]]
    path = save(tmp_path / "t.xlsx", rows, merge)
    assert table(path, "--skip-lines", 3) == [{"x": 1, "y": 2, "z": 3}, {"x": 4, "y": None, "z": 6}]


def test_a_message_names_the_row_of_the_sheet(tmp_path):
    path = save(tmp_path / "t.xlsx", [["x", "note"], [1, "a\nb"], [], [2, "c"], ["many", "d"]])
    assert "t.xlsx:5: column 'x': 'many' is not a number" in run("info", path, "--numeric", "x", code=3).err
    path = save(tmp_path / "u.xlsx", [["x", "y"], [1, "a"], [], [2, None]])
    assert "u.xlsx:4: " in run("evaluate", path, "--target", "y", code=3).err


def test_a_large_sheet_written_in_one_pass(tmp_path):
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("big")
    sheet.append(["id", "half", "name"])
    for i in range(100_000):
        sheet.append([i, i / 2, f"n{i % 50}"])
    book.save(tmp_path / "t.xlsx")
    found = columns(tmp_path / "t.xlsx")
    assert found["id"]["max"] == 99999 and found["half"]["max"] == 49999.5 and len(found["name"]["values"]) == 50


def test_standard_input_and_content_without_a_suffix(tmp_path):
    path = save(tmp_path / "t.xlsx", ROWS)
    assert run("convert", "-", "-", stdin=path.read_bytes()).out == run("convert", path, "-").out
    (tmp_path / "download").write_bytes(path.read_bytes())
    assert run("convert", tmp_path / "download", "-").out == run("convert", path, "-").out


def test_several_workbooks_are_one_table(tmp_path):
    for i in range(3):
        save(tmp_path / f"part{i}.xlsx", [["x", "c"], [i, "ab"[i % 2]]])
    assert table(str(tmp_path / "part*.xlsx")) == [{"x": 0, "c": "a"}, {"x": 1, "c": "b"}, {"x": 2, "c": "a"}]


def test_other_options_hold_for_sheets(tmp_path):
    path = save(tmp_path / "t.xlsx", ROWS)
    assert list(table(path, "--select", "n,share", "--sample", 2)[0]) == ["n", "share"]
    done = run("tree", path, "--target", "ok", "--ignore", "text,error", "--missing-policy", "value")
    assert "leaves" in done.err


@pytest.mark.parametrize("cell", ["XFD1048576", "A1048576"])
def test_a_cell_far_away_takes_no_memory(tmp_path, cell):
    def far(book, sheet):
        sheet[cell] = 1

    path = save(tmp_path / "t.xlsx", [["a", "b"], [1, 2]], far)
    run("info", path, "--memory-limit", "500MB")
    assert run("info", path, "--memory-limit", "2MB", code=4).err.count("\n") == 1


def test_bits_flipped_anywhere_crash_nothing(tmp_path):
    rng = random.Random(11)
    path = save(tmp_path / "t.xlsx", ROWS)
    whole = path.read_bytes()
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 5])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        done = run("info", path, "--memory-limit", "300MB", code=None, timeout=30)
        assert done.code in (0, 3, 4) and len(done.error_lines()) == (done.code != 0), done.err
