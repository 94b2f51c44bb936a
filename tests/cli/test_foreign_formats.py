"""Files of formats that stope does not read are refused by name, with the way round. Each file is a real one where Python
can write it, else the format's own first bytes."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import struct
import tarfile
import zipfile

import numpy as np
import pyarrow
import pyarrow.orc
import pytest
from sklearn.datasets import dump_svmlight_file

from program import run

TABLE = pyarrow.table({"x": [1.0, 2.0], "name": ["a", "b"]})
CSV = b"x,name\n1,a\n2,b\n"


def arrow(make):
    out = io.BytesIO()
    make(out)
    return out.getvalue()


def archive(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name in members:
            z.writestr(name, CSV)
    return out.getvalue()


def tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        member = tarfile.TarInfo("t.csv")
        member.size = len(CSV)
        t.addfile(member, io.BytesIO(CSV))
    return out.getvalue()


def npz():
    out = io.BytesIO()
    np.savez(out, x=np.arange(3.0))
    return out.getvalue()


def sqlite(tmp_path):
    with sqlite3.connect(tmp_path / "made.db") as base:
        base.execute("create table t (x real)")
        base.execute("insert into t values (1.5)")
    base.close()
    return (tmp_path / "made.db").read_bytes()


def svmlight():
    out = io.BytesIO()
    dump_svmlight_file(np.array([[0.0, 1.5], [2.0, 0.0]]), np.array([1, -1]), out)
    return out.getvalue()


MADE = {
    "ORC": lambda: arrow(lambda out: pyarrow.orc.write_table(TABLE, out)),
    "ZIP": lambda: archive("t.csv"),
    "NPZ": npz,
    "xz": lambda: lzma.compress(CSV),
    "bzip2": lambda: bz2.compress(CSV),
    "tar": tar,
    "pickle": lambda: pickle.dumps({"x": [1, 2]}),
    "libsvm": svmlight,
    "JSON": lambda: json.dumps([{"x": 1}, {"x": 2}]).encode(),
    "JSON, an object a line": lambda: b'{"x": 1, "name": "a"}\n{"x": 2, "name": "b"}\n',
    "HTML": lambda: b"<!DOCTYPE html>\n<html><body>Not Found</body></html>\n",
    "HDF5": lambda: b"\x89HDF\r\n\x1a\n" + bytes(100),
    "XLS": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
    "Avro": lambda: b"Obj\x01\x04\x14avro.codec",
    "MATLAB": lambda: b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(100),
    "R workspace": lambda: b"RDX3\nX\n" + bytes(10),
    "SPSS": lambda: b"$FL2@(#) SPSS DATA FILE" + bytes(10),
    "Stata": lambda: b"<stata_dta><header><release>118</release>",
    "lz4": lambda: b"\x04\x22\x4d\x18" + bytes(10),
    "7z": lambda: b"7z\xbc\xaf\x27\x1c" + bytes(10),
    "PNG": lambda: b"\x89PNG\r\n\x1a\n" + bytes(10),
    "PDF": lambda: b"%PDF-1.7\n",
    "a program": lambda: b"\x7fELF\x02\x01\x01" + bytes(57),
    "gram file": lambda: struct.pack("<iiq", 1, 1, 0) + bytes(8),
    "UTF-32": lambda: CSV.decode().encode("utf-32"),
    "R object": lambda: gzip.compress(b"X\n\0\0\0\3\0\4\2\1" + bytes(10)),
    "XML": lambda: b'<?xml version="1.0"?>\n<a><b>1</b></a>\n',
    "SVG": lambda: b'<svg xmlns="http://www.w3.org/2000/svg">\n</svg>\n',
    "(HTML)": lambda: b"<table>\n<tr><td>1</td></tr>\n</table>\n",
    "libsvm (svmlight)": lambda: b"2 qid:1 1:0.5 4:2\n1 qid:1 2:1\n",
}


def refused(done, name):
    assert done.out == b"" and len(done.error_lines()) == 1, done.err
    line = done.error_lines()[0]
    assert f"{name}" in line and "which is not read as a table; the way round: " in line, line


@pytest.mark.parametrize("name", MADE)
def test_a_foreign_format_is_refused_by_name(tmp_path, name):
    for file in ["t", "t.csv"]:
        (tmp_path / file).write_bytes(MADE[name]())
        refused(run("info", tmp_path / file, code=3), name)
    done = run("stats", "-", stdin=MADE[name](), code=3)
    refused(done, name)
    assert "'<stdin>'" not in done.err, "no other program can open that"


def test_an_sqlite_database_is_refused_by_name(tmp_path):
    (tmp_path / "t.db").write_bytes(sqlite(tmp_path))
    refused(run("classify", tmp_path / "t.db", tmp_path / "t.db", "--target", "x", code=3), "SQLite")


@pytest.mark.parametrize("header", ["PAR1,PAR2", "FEA1,FEA2", "ORCID,name", "RDX,RDY", "BZh,b", "[a],[b]", "{a},{b}",
                                    "Objective,x", "time 12:30,b", "<TICKER>,<DATE>", "<table>,<body>"])
def test_headers_that_look_like_magic_numbers_are_read(tmp_path, header):
    (tmp_path / "t.csv").write_text(header + "\n1,2\n3,4\n")
    columns = run("info", tmp_path / "t.csv", "--json").json()["columns"]
    assert [c["name"] for c in columns] == header.split(",")


def test_who_asks_for_csv_gets_text_as_csv(tmp_path):
    (tmp_path / "t.txt").write_bytes(svmlight())
    assert run("info", tmp_path / "t.txt", "--input-format", "csv", "--json").json()["columns"]


@pytest.mark.parametrize("url, way", [("https://example.org/t.csv", "curl"), ("http://h/t.csv", "curl"),
                                      ("s3://bucket/t.csv", "aws s3 cp 's3://bucket/t.csv' - | stope"),
                                      ("gs://bucket/t.csv", "gcloud storage cat 'gs://bucket/t.csv' | stope"),
                                      ("file:///t.csv", "without file://")])
def test_a_url_is_no_file(url, way):
    done = run("stats", url, code=3)
    assert f"{url}: is a URL" in done.err and way in done.err


def test_json_that_holds_no_cuts_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    run("tree", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "tree.json")
    (tmp_path / "rows.json").write_bytes(MADE["JSON"]())
    for file, name in [("rows.json", "JSON"), ("tree.json", "a tree of stope tree")]:
        line = run("info", tmp_path / file, code=3).err
        assert "is no file of cuts" in line and f"it is {name}" in line and "the way round" in line


def test_utf_16_without_its_mark_is_named(tmp_path):
    for encoding in ["utf-16-le", "utf-16-be"]:
        (tmp_path / "t.csv").write_bytes(CSV.decode().encode(encoding))
        assert "UTF-16 without a byte order mark" in run("info", tmp_path / "t.csv", code=3).err
        assert run("info", tmp_path / "t.csv", "--encoding", "utf-16", "--json").json()["rows"] == 2


def test_a_model_in_place_of_a_table_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    run("tree", tmp_path / "t.csv", "--target", "y", "--model-out", tmp_path / "m", "-o", tmp_path / "t.txt")
    refused(run("stats", tmp_path / "m", code=3), "a stope model")
    done = run("classify", tmp_path / "m", tmp_path / "t.csv", "--target", "y", code=3)
    assert f"stope predict '{tmp_path / 'm'}' TABLE" in done.err and "pipe" not in done.err
    done = run("info", "-", stdin=(tmp_path / "m").read_bytes(), code=3)
    assert "save it as FILE, then stope predict FILE TABLE" in done.err
