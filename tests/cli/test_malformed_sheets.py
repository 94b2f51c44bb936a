"""More than 30 workbooks that are damaged or made to fill the memory: one line refuses each of them, within the limit."""

import re

import pytest

from program import run
from test_limits import BEYOND_THE_LIMIT, peak_of
from test_sheets import plug_in, save  # noqa: F401  (plug_in skips where there is no plug-in)
from workbooks import SHEET, TEXTS, cell, columns_repeated, ods, rewritten, row

LIMIT = 200_000_000
BOOK, RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
HEAD = row(cell("a"), cell("b"))


def texts(list_of_texts, in_cell=b"0"):
    """A change that gives the workbook a list of texts, which cell B2 points into."""
    def change(path):
        path.write_bytes(rewritten(path, TEXTS, lambda _: list_of_texts))
        return rewritten(path, SHEET, lambda xml: re.sub(rb'<c r="B2".*?</c>', b'<c r="B2" t="s"><v>' + in_cell + b"</v></c>", xml))
    return change


def in_sheet(old, new):
    def change(path):
        def once(xml):
            assert re.search(old, xml, re.S), xml
            return re.sub(old, new, xml, count=1, flags=re.S)
        return rewritten(path, SHEET, once)
    return change


def in_entry(offset, value):
    """Bytes of the archive's first local header changed, where `offset` counts from its beginning."""
    return lambda path: (lambda data: data[:offset] + value + data[offset + len(value):])(path.read_bytes())


def elsewhere(path):
    """The sheet under a name that no sheet has, behind 300 MB of blanks."""
    blanks = b" " * 300_000_000
    path.write_bytes(rewritten(path, "xl/worksheets/sheet1.dat", lambda _: b"<worksheet>" + blanks + b"<sheetData/></worksheet>"))
    return rewritten(path, RELATIONS, lambda xml: xml.replace(b"sheet1.xml", b"sheet1.dat"))


def sheet_of(*rows):
    return lambda path: ods([("S", "", HEAD + "".join(rows))])


def content(xml):
    return lambda path: ods([], content=xml)


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'

# The name of a file, how it is made of a good workbook, part of what is said.
FILES = {
    "empty.xlsx": (lambda p: b"", "t.xlsx: "),
    "magic.xlsx": (lambda p: b"PK\x03\x04", "is no workbook"),
    "cut.xlsx": (lambda p: p.read_bytes()[:200], "is no workbook"),
    "end_cut.xlsx": (lambda p: p.read_bytes()[:-40], "is no workbook"),
    "text.xlsx": (lambda p: b"a,b\n1,2\n", "is no workbook"),
    "old.xlsx": (lambda p: OLD + bytes(2000), "old kind (XLS)"),
    "locked.xlsx": (lambda p: OLD + bytes(2000) + b"".join(bytes([c, 0]) for c in b"EncryptedPackage"), "locked with a password"),
    "binary.xlsx": (lambda p: rewritten(p, "xl/workbook.bin", lambda _: b"x"), "binary workbook (XLSB)"),
    "archive.xlsx": (lambda p: ods([], content="x").replace(b"content.xml", b"tentcon.xml"), "is a ZIP archive, and no workbook"),
    "half_a_sheet.xlsx": (lambda p: rewritten(p, SHEET, lambda xml: xml[: len(xml) // 2]), "damaged workbook"),
    "no_sheet_data.xlsx": (lambda p: rewritten(p, SHEET, lambda xml: b""), "damaged workbook"),
    "empty_sheet.xlsx": (in_sheet(rb"<sheetData>.*</sheetData>", b"<sheetData/>"), "is empty"),
    "no_sheets.xlsx": (lambda p: rewritten(p, BOOK, lambda xml: xml.replace(b"<sheet ", b"<shoot ")), "without a sheet of cells"),
    "zeros.xlsx": (lambda p: rewritten(p, BOOK, lambda xml: bytes(300)), "t.xlsx: "),
    "no_relation.xlsx": (lambda p: rewritten(p, RELATIONS, lambda xml: xml.replace(b"sheet1.xml", b"sheet9.xml")), "damaged workbook"),
    "not_utf8.xlsx": (in_sheet(rb"<t>x</t>", b"<t>\xff\xfe</t>"), "damaged workbook"),
    "rows_backwards.xlsx": (in_sheet(rb"</sheetData>", b"<row r='1'><c r='A1'><v>1</v></c></row></sheetData>"), "comes after row"),
    "row_0.xlsx": (in_sheet(rb'r="A2"', b'r="A0"'), "damaged workbook"),
    "far_row.xlsx": (in_sheet(rb'r="B3"', b'r="B99999999"'), "a sheet ends at"),
    "far_column.xlsx": (in_sheet(rb'r="B3"', b'r="GZZZZZZ3"'), "a sheet ends at"),
    "no_number.xlsx": (in_sheet(rb"<v>1</v>", b"<v>1.2.3</v>"), "damaged workbook"),
    "laughs.xlsx": (texts(LAUGHS + b"<sst><si><t>&b;</t></si></sst>"), "damaged workbook"),
    "text_outside.xlsx": (texts(b"<sst><si><t>x</t></si></sst>", b"7"), "damaged workbook"),
    "many_texts.xlsx": (texts(b'<sst uniqueCount="5000000000"><si><t>x</t></si></sst>'), "it declares 5000000000 texts"),
    "countless_texts.xlsx": (texts(b'<sst uniqueCount="1000000000000000000"><si><t>x</t></si></sst>'), "it declares"),
    "half_a_text.xlsx": (texts(b"<sst><si><t>x"), "damaged workbook"),
    "blanks.xlsx": (in_sheet(rb"<sheetData>", b" " * 300_000_000 + b"<sheetData>"), "need more than the"),
    "blanks_elsewhere.xlsx": (elsewhere, "need more than the"),
    "unknown_packing.xlsx": (lambda p: in_directory(p, 10, b"\x63\x00"), "t.xlsx: "),
    "locked_entry.xlsx": (lambda p: in_directory(p, 8, b"\x01\x00"), "t.xlsx: "),
    "entry_outside.xlsx": (lambda p: in_directory(p, 42, b"\xff\xff\xff\x7f"), "t.xlsx: "),
    "empty.ods": (lambda p: b"", "t.ods: "),
    "no_content.ods": (lambda p: ods([]).replace(b"content.xml", b"tentcon.xml"), "is a ZIP archive, and no workbook"),
    "no_table.ods": (content("<a/>"), "without a sheet of cells"),
    "half.ods": (content('<a><table:table table:name="S"><table:table-row><table:table-cell office:value="1"'), "damaged workbook"),
    "no_end.ods": (content('<a><table:table table:name="S"><table:table-row></table:table-row>'), "damaged workbook"),
    "crossed.ods": (content('<a><table:table table:name="S"><table:table-row></table:table></table:table-row></a>'), "damaged workbook"),
    "no_number.ods": (sheet_of(row(cell("1.2.3").replace("string", "float").replace("><text", ' office:value="1.2.3"><text'))), "'1.2.3' is no number"),
    "no_count.ods": (sheet_of(row(cell(1, columns_repeated("many")))), "'many' is no number of repetitions"),
    "negative_count.ods": (sheet_of(row(cell(1), n=-5)), "'-5' is no number of repetitions"),
    "entity.ods": (sheet_of(row(cell("&ha;"))), "an entity that XML does not have"),
    "empty_sheet.ods": (lambda p: ods([("S", "", row(cell(None), n=1000000))]), "is empty"),
    "rows.ods": (sheet_of(row(cell(1), n=10**15)), "a sheet ends at"),
    "columns.ods": (sheet_of(row(cell(1, columns_repeated(10**15)))), "a sheet ends at"),
    "cells.ods": (sheet_of(row(cell(1, columns_repeated(16000)), n=1000000)), "need more than the"),
    "written_count.ods": (sheet_of(row(cell(1, columns_repeated("&#49;6000")), n="&#49;000000")), "need more than the"),
    "spaced_count.ods": (sheet_of(row(cell(1, columns_repeated(16000)), n=1000000).replace("repeated=", "repeated = ")), "need more than the"),
    "long_text.ods": (sheet_of(row(cell("z" * 300_000, columns_repeated(16000)))), "need more than the"),
    "blank_text.ods": (sheet_of(row(cell('<text:s text:c="2000000000"/>'))), "is larger than the"),
    "far_cells.ods": (sheet_of(*[row(cell(None, columns_repeated(16000)), cell(1))] * 100_000), "need more than the"),
}


def in_directory(path, offset, value):
    """A field of the first entry of the archive's directory changed."""
    data = path.read_bytes()
    at = data.index(b"PK\x01\x02") + offset
    return data[:at] + value + data[at + len(value):]


@pytest.mark.parametrize("name", FILES)
def test_a_malformed_workbook_is_refused_in_one_line_and_within_the_limit(tmp_path, name):
    make, message = FILES[name]
    file = tmp_path / ("t." + name.split(".")[1])
    save(tmp_path / "good.xlsx", [["a", "b"], [1, "x"], [2, "y"]])
    file.write_bytes(make(tmp_path / "good.xlsx"))
    code = 4 if re.search("need more|larger than", message) else 3
    peak, text = peak_of(["info", file.name, "--memory-limit", LIMIT], tmp_path, code=code)
    assert message in text and text.startswith("stope: ") and text.count("\n") == 1, text
    assert peak < LIMIT + BEYOND_THE_LIMIT


def test_formulas_without_values_are_no_cells(tmp_path):
    formula = '<table:table-cell table:formula="of:=1" table:number-columns-repeated="16000"/>'
    (tmp_path / "t.ods").write_bytes(ods([("S", "", HEAD + row(formula) * 20_000 + row(cell(1), cell(2)))]))
    peak, _ = peak_of(["info", "t.ods", "--memory-limit", LIMIT], tmp_path)
    assert peak < LIMIT


def test_there_are_more_than_thirty():
    assert len(FILES) >= 30
