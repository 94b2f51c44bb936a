"""Sheets of OpenDocument workbooks: values, repetitions, hidden sheets, and what hangs on cells without being their value."""

import json

import pytest

from program import run
from test_sheets import plug_in  # noqa: F401  (skips where there is no plug-in)
from workbooks import cell, columns_repeated, ods, row


def write(path, *tables, **more):
    path.write_bytes(ods([(name, attributes, "".join(rows)) for name, attributes, rows in tables], **more))
    return path


def table(path, *options):
    return json.loads(run("convert", path, "-", "--format", "json", *options).text)


def sheet(tmp_path, *rows):
    return write(tmp_path / "t.ods", ("S", "", rows))


def typed(kind, attribute, value):
    return f'<table:table-cell office:value-type="{kind}" office:{attribute}="{value}"><text:p>as shown</text:p></table:table-cell>'


def test_values_have_their_types(tmp_path):
    path = sheet(tmp_path, row(*map(cell, ["n", "share", "day", "time", "ok", "text"])),
                 row(typed("float", "value", "1.5"), typed("percentage", "value", "0.1"), typed("date", "date-value", "2024-02-29"),
                     typed("time", "time-value", "PT12H00M00S"), typed("boolean", "boolean-value", "true"), cell("a, b")),
                 row(typed("currency", "value", "1e300"), cell(1), typed("date", "date-value", "2024-03-01T06:00:00"),
                     typed("time", "time-value", "PT6H00M00S"), typed("boolean", "boolean-value", "FALSE"), typed("string", "string-value", "kept")))
    found = {c["name"]: c["type"] for c in run("info", path, "--json").json()["columns"]}
    assert found == {"n": "real", "share": "real", "day": "date", "time": "real", "ok": "binominal", "text": "polynominal"}
    first, second = table(path)
    assert (first["n"], first["share"], first["time"], first["ok"], first["text"]) == (1.5, 0.1, 0.5, "true", "a, b")
    assert (second["n"], second["time"], second["ok"], second["text"]) == (1e300, 0.25, "false", "kept")


def test_errors_and_empty_cells_are_missing(tmp_path):
    error = '<table:table-cell office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>'
    path = sheet(tmp_path, row(cell("x"), cell("y")), row(error, cell(1)), row(cell(2), cell(None)), row(cell(3), cell(4)))
    assert table(path) == [{"x": None, "y": 1}, {"x": 2, "y": None}, {"x": 3, "y": 4}]


def test_paragraphs_blanks_entities_and_links_are_text(tmp_path):
    spelled = ('<table:table-cell office:value-type="string"><office:annotation><text:p>a remark</text:p></office:annotation>'
               '<text:p>a<text:s text:c="3"/>b<text:tab/>c</text:p>\n<text:p>&lt;d&gt; &#x20AC;<text:span> <text:a>e</text:a></text:span>'
               '<text:note><text:p>a note</text:p></text:note></text:p></table:table-cell>')
    path = sheet(tmp_path, row(cell("t"), cell("n")), row(spelled, cell(1)), row(cell("x"), cell(2)))
    assert table(path)[0]["t"] == "a   b\tc\n<d> \u20ac e"


def test_repeated_cells_and_rows_stand_where_they_are_shown(tmp_path):
    path = sheet(tmp_path, row(cell(None, columns_repeated(16384)), n=3),
                 row(cell(None, columns_repeated(2)), cell("a"), cell("b"), cell("c")),
                 row(cell(None), cell(None), cell(7, columns_repeated(2)), cell("x"), cell(None, columns_repeated(16379)), n=3),
                 row(cell(None, columns_repeated(16384)), n=1000000), row(cell(None, columns_repeated(2)), cell(8), cell("many"), cell("y")))
    assert table(path, "--missing", "many") == [{"a": 7, "b": 7, "c": "x"}] * 3 + [{"a": 8, "b": None, "c": "y"}]
    assert "t.ods:1000008: column 'b': 'many' is not a number" in run("info", path, "--numeric", "b", code=3).err


def test_sheets_are_chosen_and_hidden_ones_are_not_the_first(tmp_path):
    path = write(tmp_path / "t.ods", ("Alt", 'table:style-name="gone"', [row(cell("a")), row(cell(1))]),
                 ("R&amp;D", "", [row(cell("b")), row(cell(2))]))
    assert table(path) == [{"b": 2}] and table(path, "--sheet", "Alt") == [{"a": 1}] == table(path, "--sheet", 1)
    assert table(path, "--sheet", "R&D") == [{"b": 2}]
    assert "sheets: Alt (hidden), R&D\n" in run("info", path).text


def test_rows_in_groups_and_a_header_are_rows(tmp_path):
    path = sheet(tmp_path, "<table:table-header-rows>" + row(cell("x"), cell("y")) + "</table:table-header-rows>",
                 "<table:table-row-group>" + row(cell(1), cell("a")) + row(cell(2), cell("b")) + "</table:table-row-group>")
    assert table(path) == [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]


def test_a_password_is_named(tmp_path):
    path = write(tmp_path / "t.ods", ("S", "", []), manifest="<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>")
    assert "is locked with a password" in run("info", path, code=3).err
