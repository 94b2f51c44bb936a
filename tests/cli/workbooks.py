"""Workbooks that no program writes: archives with one file changed, and OpenDocument from its rows."""

import io
import zipfile

SHEET = "xl/worksheets/sheet1.xml"
TEXTS = "xl/sharedStrings.xml"

ODS_CONTENT = ('<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="urn:o" xmlns:table="urn:t" '
               'xmlns:text="urn:x" xmlns:style="urn:s" xmlns:calcext="urn:c"><office:automatic-styles>'
               '<style:style style:name="gone" style:family="table"><style:table-properties table:display="false"/></style:style>'
               '</office:automatic-styles><office:body><office:spreadsheet>%s</office:spreadsheet></office:body></office:document-content>')


def rewritten(path, name, change, **options):
    """The workbook with one file of its archive changed; a file that it lacks is changed from nothing."""
    source, target = zipfile.ZipFile(path), io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for entry in source.namelist():
            archive.writestr(entry, change(source.read(entry)) if entry == name else source.read(entry))
        if name not in source.namelist():
            archive.writestr(name, change(b""))
    return target.getvalue()


def ods(tables, manifest="", **files):
    """An OpenDocument workbook of these tables: (name, attributes, rows as XML)."""
    target = io.BytesIO()
    body = "".join(f'<table:table table:name="{name}" {more}>{rows}</table:table>' for name, more, rows in tables)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="urn:m">{manifest}</manifest:manifest>')
        archive.writestr("content.xml", files.get("content", ODS_CONTENT % body))
    return target.getvalue()


def row(*cells, n=None):
    repeated = "" if n is None else f' table:number-rows-repeated="{n}"'
    return f"<table:table-row{repeated}>{''.join(cells)}</table:table-row>"


def cell(value, more=""):
    """A text, a number, or nothing."""
    if value is None:
        return f"<table:table-cell {more}/>"
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string" {more}><text:p>{value}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{value}" {more}><text:p>shown</text:p></table:table-cell>'


def columns_repeated(n):
    return f'table:number-columns-repeated="{n}"'
