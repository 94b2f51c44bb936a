"""Files whose names do not tell what they are, encodings, and patterns of names with odd characters."""

import json

import pytest

from program import run

FILES = json.loads(run("device", "--json").text)["files"]


def write(folder, **files):
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def test_parts_without_a_suffix_are_read_by_the_content_of_the_first(tmp_path):
    write(tmp_path, a="x,c\n1,p\n", b="x,c\n2,q\n")
    assert run("convert", tmp_path, "-").text == "x,c\n1,p\n2,q\n"
    header = "@relation r\n@attribute x numeric\n@data\n"
    write(tmp_path, a=header + "1\n", b=header + "2\n")
    assert run("convert", tmp_path, "-").text == "x\n1.0\n2.0\n"


def test_the_format_that_is_said_counts_for_all_parts(tmp_path):
    (tmp_path / "a.arff").write_text("x,c\n1,p\n")
    (tmp_path / "b.dat").write_text("x,c\n2,q\n")
    both = str(tmp_path / "*")
    assert "b.dat: is not of the format of" in run("convert", both, "-", code=3).err
    assert run("convert", both, "-", "--input-format", "csv").text == "x,c\n1,p\n2,q\n"


@pytest.mark.parametrize("content", [b"PARE" + bytes(20) + b"PARE", b"PAR1 a text of more than sixty-four characters, without any zero PAR1",
                                     b"FEA1 old FEA1"])
def test_content_that_begins_and_ends_like_a_format_is_that_format(tmp_path, content):
    write(tmp_path, download=content)
    error = run("info", tmp_path / "download", code=3).err
    assert error.count("\n") == 1 and "is to be read as text" not in error, error  # also without the plug-in for files


def test_a_comment_alone_is_no_table(tmp_path):
    write(tmp_path, note="% only a comment of ARFF")
    assert run("info", tmp_path / "note", "--json").json()["rows"] == 0


def test_plain_text_is_the_same_in_every_encoding(tmp_path):
    text = "x,c\n" + "".join(f"{i},v{i % 7}\n" for i in range(50))
    write(tmp_path, plain=text, wide=text.encode("utf-16"), little=text.encode("utf-16-le"), big=text.encode("utf-16-be"))
    expected = run("convert", tmp_path / "plain", "-").out
    for encoding in ["latin-1", "windows-1252", "utf-8"]:
        assert run("convert", tmp_path / "plain", "-", "--encoding", encoding).out == expected
    for name in ["wide", "little", "big"]:
        assert run("convert", tmp_path / name, "-", "--encoding", "utf-16").out == expected


def test_letters_beyond_ascii_take_memory_once_more(tmp_path):
    write(tmp_path, t=("x,c\n" + "1,é\n" * 400_000).encode("latin-1"))
    assert "the text as UTF-8 needs up to" in run("info", tmp_path / "t", "--encoding", "latin-1", "--memory-limit", "1MB", code=4).err


def test_a_column_may_begin_like_the_line_of_a_separator(tmp_path):
    write(tmp_path, t="sep=;x,b\n1,2\n", u="sep=;\r1;2\r3;4\r", v="sep=;")
    assert run("convert", tmp_path / "t", "-").text == '"sep=;x",b\n1,2\n'
    assert run("info", tmp_path / "u", "--header", "no", "--json").json()["rows"] == 2
    assert run("info", tmp_path / "v", "--json").json()["columns"][0]["name"] == "sep="


def test_patterns_take_backslashes_and_leave_folders_out(tmp_path):
    write(tmp_path, **{"a[1].csv": "n\n1\n", "a1.csv": "n\n2\n", "ab.csv": "n\n3\n"})
    (tmp_path / "folder.csv").mkdir()
    assert run("convert", str(tmp_path / "a\\[1].cs?"), "-").text.split() == ["n", "1"]
    assert run("convert", str(tmp_path / "*.csv"), "-").text.split() == ["n", "2", "1", "3"]


def test_a_cell_of_a_sheet_is_found_with_a_schema(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    if not FILES["available"]:
        pytest.skip(FILES["reason"])
    book = openpyxl.Workbook()
    for row in [["x", "y"], [1, "a"], [2, None]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    (tmp_path / "s.json").write_text(json.dumps({"columns": [
        {"name": "x", "type": "real"}, {"name": "y", "type": "nominal", "role": "label"}]}))
    assert "t.xlsx:3: " in run("evaluate", tmp_path / "t.xlsx", "--schema", tmp_path / "s.json", code=3).err
    # With several workbooks the message knows the files, but not the row.
    book.save(tmp_path / "u.xlsx")
    assert "xlsx" in run("evaluate", str(tmp_path / "*.xlsx"), "--schema", tmp_path / "s.json", code=3).err
