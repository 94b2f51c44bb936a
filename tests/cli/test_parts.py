"""Several files as one table: a folder or a pattern gives what one file of all records gives."""

import gzip
import random

import pytest

from program import run


def lines_of(seed, rows=300):
    """A table with numbers, dates, names and gaps; text appears in a number's column late."""
    rng = random.Random(seed)
    lines = []
    for i in range(rows):
        number = "" if rng.random() < 0.1 else f"{rng.uniform(-5, 5):.3f}"
        code = "x7" if i == rows - 2 else str(rng.randrange(50))
        lines.append(f'{number},{code},2024-01-{rng.randrange(1, 29):02d},"{rng.choice(["red", "green, dark", "blue"])}"\n')
    return lines


HEADER = "width,code,day,colour\n"


def whole(tmp_path, text, *options):
    (tmp_path / "whole.csv").write_text(text)
    return run("convert", tmp_path / "whole.csv", "-", *options).out


def cut(lines, n, seed):
    rng = random.Random(seed)
    cuts = sorted(rng.randrange(len(lines) + 1) for _ in range(n - 1))
    return [lines[a:b] for a, b in zip([0, *cuts], [*cuts, len(lines)])]


def facts(path, *options):
    return [{key: column[key] for key in ("name", "type", "missing", *(("values", "counts") if column["nominal"] else ("min", "max")))}
            for column in run("info", path, "--json", *options).json()["columns"]]


@pytest.mark.parametrize("kind", ["headers", "first header", "no header", "gz", "open ends"])
@pytest.mark.parametrize("seed", range(4))
def test_parts_give_the_table_of_the_whole_file(tmp_path, kind, seed):
    lines = lines_of(seed)
    header = kind != "no header"
    expected = whole(tmp_path, (HEADER if header else "") + "".join(lines))
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, part in enumerate(cut(lines, 12, seed)):
        text = (HEADER if header and (i == 0 or kind != "first header") else "") + "".join(part)
        if kind == "open ends":
            text = text.rstrip("\n")
        if kind == "gz" and i % 2:
            (folder / f"part{i}.csv.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / f"part{i}.csv").write_text(text)
    (folder / "_SUCCESS").write_text("")
    (folder / ".part0.csv.crc").write_bytes(b"\x01\x02")
    assert run("convert", folder, "-").out == expected
    assert run("convert", str(folder / "*.csv*"), "-").out == expected
    assert facts(folder) == facts(tmp_path / "whole.csv")
    for chunk in ["7", "100"]:
        assert run("convert", folder, "-", env={"STOPE_CSV_CHUNK": chunk}).out == expected
    assert run("convert", folder, "-", "--memory-limit", "1MB").out == expected


def test_parts_follow_in_natural_order(tmp_path):
    for i in [1, 2, 10, 9]:
        (tmp_path / f"part{i}.csv").write_text(f"n\n{i}\n")
    assert run("convert", str(tmp_path / "part*.csv"), "-").text.split() == ["n", "1", "2", "9", "10"]
    assert run("convert", str(tmp_path / "part{9,1}.csv"), "-").text.split() == ["n", "1", "9"]


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path):
    (tmp_path / "a[1].csv").write_text("n\n1\n")
    (tmp_path / "a1.csv").write_text("n\n2\n")
    assert run("convert", str(tmp_path / "a[1].csv"), "-").text.split() == ["n", "1"]


def test_a_column_that_is_text_in_one_part_keeps_its_spelling_in_all(tmp_path):
    (tmp_path / "a.csv").write_text("code,x\n1.50,1\n2.00,2\n")
    (tmp_path / "b.csv").write_text("code,x\nunknown,3\n1e3,4\n")
    assert run("convert", str(tmp_path / "?.csv"), "-").text == "code,x\n1.50,1\n2.00,2\nunknown,3\n1e3,4\n"


@pytest.mark.parametrize("files, message", [
    ({"a.csv": "x,y\n1,2\n", "b.csv": "y,x\n3,4\n"}, "b.csv:1: its column 1 is 'y', that of the first part is 'x'"),
    ({"a.csv": "x,y\n1,2\n", "b.csv": "u,v\n3,4\n"}, "b.csv:1: its column 1 is 'u', that of the first part is 'x'"),
    ({"a.csv": "x,y\n1,2\n", "b.csv": "x,y\n3,4\n5\n"}, "b.csv:3:1: expected 2 fields, found 1"),
    ({"a.csv": "x,y\n1,2\n", "b.csv": "x,y\n3,4,5\n"}, "b.csv:2:5: expected 2 fields, found 3"),
    ({"a.csv": 'x,y\n1,"2\n', "b.csv": 'x,y\n3,"4\n'}, "a.csv:2:3: the quote that opens here is never closed"),
    ({"a.csv": "x,y\n1,2\n", "b.tsv": "x\ty\n3\t4\n"}, "b.tsv: is not of the format of"),
    ({"a.csv": "x,y\n1,2\n", "b.csv": b"x,y\n3,\xff\n"}, "b.csv:2:3: byte 0xff is not valid UTF-8"),
    ({"a.csv": "x,y\n1,2\n", "b.csv": b"PK\x03\x04 and so on"}, "b.csv: "),
    ({"a.csv": "x,y\n1,2\n", "b.csv.gz": b"no gzip"}, "b.csv.gz: is not a gzip file"),
    ({"a.csv": "", "b.csv": ""}, "the file is empty"),
    ({"a.csv": "x,y\n1,2\n", "sub/b.csv": "x,y\n1,2\n"}, "has a folder 'sub' within it"),
    ({"_SUCCESS": ""}, "is a folder without files of a table"),
    ({"a.npy": b"\x93NUMPY", "b.npy": b"\x93NUMPY"}, "a.npy: "),
])
def test_parts_that_do_not_fit_are_refused_with_the_file(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run("info", tmp_path / "t", code=3)
    assert message in done.err and len(done.error_lines()) == 1, done.err


def test_a_pattern_without_files_is_refused(tmp_path):
    assert "*.csv: no file has a name like this" in run("info", str(tmp_path / "*.csv"), code=3).err


def test_a_pattern_without_quotes_is_explained(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("x\n1\n")
    assert "'parts/*.csv'" in run("info", tmp_path / "a.csv", tmp_path / "b.csv", code=2).err


def test_an_error_of_a_job_names_the_part_and_its_line(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,p\n2,q\n")
    (tmp_path / "b.csv").write_text("x,y\n3,p\n4,\n")
    error = run("evaluate", str(tmp_path / "?.csv"), "--target", "y", code=3).err
    assert "b.csv:3:3: " in error, error


def test_an_output_that_is_one_of_the_parts_is_refused(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("x\n1\n")
    for table in [tmp_path, tmp_path / "?.csv"]:
        assert "is the same file as" in run("convert", table, tmp_path / "b.csv", code=2).err
    assert (tmp_path / "b.csv").read_text() == "x\n1\n"


def test_lines_to_skip_and_comments_hold_for_every_part(tmp_path):
    for name, rows in [("a", "1,é\n# no\n2,é\n"), ("b", "3,ü\n")]:
        (tmp_path / f"{name}.csv").write_bytes(("Report\nx,y\n" + rows).encode("cp1252"))
    words = ["--skip-lines", 1, "--comment", "#", "--encoding", "cp1252"]
    assert run("convert", str(tmp_path / "?.csv"), "-", *words).text == "x,y\n1,é\n2,é\n3,ü\n"


def large_part(seed, separator, rows=24_000):
    """More than a quarter of the least memory limit, and than the head from which a header is guessed."""
    rng = random.Random(seed)
    return "".join(f"{rng.random():.6f}{separator}a, b{rng.randrange(9)}{separator}{rng.randrange(10**6)}\n" for _ in range(rows))


@pytest.mark.parametrize("head", ["", "sep=:\n"])
@pytest.mark.parametrize("small", [None, 0, 1])
def test_parts_that_memory_does_not_keep_are_read_as_the_others(tmp_path, head, small):
    separator = ":" if head else ","
    lines = [large_part(seed, ":", 40 if seed == small else 24_000) for seed in range(3)]
    for i, part in enumerate(lines):
        (tmp_path / f"{i}.csv").write_text((head + "x:c:n\n" + part).replace(", ", " ").replace(":", separator).replace("sep,", "sep="))
    (tmp_path / "whole.txt").write_text(("x:c:n\n" + "".join(lines)).replace(", ", " ").replace(":", ","))
    expected = run("convert", tmp_path / "whole.txt", "-").out
    assert run("convert", str(tmp_path / "?.csv"), "-").out == expected
    assert run("convert", str(tmp_path / "?.csv"), "-", "--memory-limit", "1MB").out == expected


@pytest.mark.parametrize("limit", [[], ["--memory-limit", "1MB"]])
def test_parts_whose_separators_differ_are_refused(tmp_path, limit):
    for name, separator in [("a", ":"), ("b", "|")]:
        (tmp_path / f"{name}.csv").write_text(f"sep={separator}\nx{separator}c{separator}n\n" + large_part(1, separator))
    words = ["info", str(tmp_path / "?.csv"), *limit]
    assert "b.csv: a line sep= names another separator than in" in run(*words, code=3).err
    assert run(*words, "--sep", ":", code=3).err.count("\n") == 1


def test_every_part_has_the_header_that_is_said(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("1,2\n5,6\n")
    both = str(tmp_path / "?.csv")
    assert run("convert", both, "-", "--header", "no").text == '"1","2"\n1,2\n3,4\n1,2\n5,6\n'
    assert run("convert", both, "-", "--header", "yes").text == '"1","2"\n3,4\n5,6\n'
    for header, said in [("1,x", "its column 2 is 'x', that of the first part is '2'"),
                         ("1", "its column 2 is missing, that of the first part is '2'"),
                         ("1,2,3", "its column 3 is '3', that of the first part is missing")]:
        (tmp_path / "b.csv").write_text(header + "\n5,6\n")
        assert "b.csv:1: " + said in run("info", both, "--header", "yes", code=3).err


def test_a_first_part_whose_head_is_all_comments_is_read(tmp_path):
    (tmp_path / "1.csv").write_text("# said about this table\n" * 25_000 + "1,2\n")
    (tmp_path / "2.csv").write_text("3,4\n")
    words = ["convert", str(tmp_path / "?.csv"), "-", "--comment", "#", "--header", "no"]
    expected = run(*words).text
    assert expected.endswith("1,2\n3,4\n")
    assert run(*words, "--memory-limit", "1500KB").text == expected  # too little to keep the part


def test_parts_without_records_say_nothing_of_the_header(tmp_path):
    for name, text in [("a", " \n\n"), ("b", "# a comment\n"), ("c", "x,y\n1,p\n"), ("d", "# another\n"), ("e", "x,y\r2,q\r"), ("f", "x,y\n3,p\n")]:
        (tmp_path / f"{name}.csv").write_bytes(text.encode())
    assert run("convert", str(tmp_path / "?.csv"), "-", "--comment", "#").text == "x,y\n1,p\n2,q\n3,p\n"


def test_parts_of_other_formats_are_one_table(tmp_path):
    header = "@relation r\n@attribute x numeric\n@attribute c {%s}\n@data\n"
    (tmp_path / "a.arff").write_text(header % "p,q" + "1,p\n2,q\n")
    (tmp_path / "b.arff").write_text(header % "r,q" + "3,r\n?,q\n")
    done = run("info", str(tmp_path / "*.arff"), "--json").json()
    assert done["rows"] == 4 and done["columns"][1]["values"] == ["p", "q", "r"] and done["columns"][1]["counts"] == [1, 2, 1]
    assert run("convert", str(tmp_path / "*.arff"), "-").text == "x,c\n1.0,p\n2.0,q\n3.0,r\n,q\n"
    (tmp_path / "b.arff").write_text("@relation r\n@attribute x numeric\n@attribute d {p}\n@data\n1,p\n")
    assert "b.arff: its column 2 is 'd', that of the first part is 'c'" in run("info", str(tmp_path / "*.arff"), code=3).err
    (tmp_path / "b.arff").write_text("@relation r\n@attribute x {a}\n@attribute c {p}\n@data\na,p\n")
    assert "b.arff: column 'x' is nominal" in run("info", str(tmp_path / "*.arff"), code=3).err


def test_a_cell_of_an_arff_part_is_found(tmp_path):
    header = "@relation r\n@attribute x numeric\n@attribute c {p,q}\n@data\n"
    (tmp_path / "a.arff").write_text(header + "1,p\n2,q\n")
    (tmp_path / "b.arff").write_text(header + "3,p\n4,?\n")
    assert "b.arff:6:3: " in run("evaluate", str(tmp_path / "*.arff"), "--target", "c", code=3).err


def test_a_second_table_may_have_parts(tmp_path):
    (tmp_path / "train.csv").write_text("x,y\n0,a\n9,b\n")
    for name, rows in [("t1", "1,a\n"), ("t2", "8,b\n")]:
        (tmp_path / f"{name}.csv").write_text("x,y\n" + rows)
    done = run("classify", tmp_path / "train.csv", str(tmp_path / "t?.csv"), "--target", "y", "-k", 1)
    assert [line.split(",")[1] for line in done.text.splitlines()[1:]] == ["a", "b"]


def test_braces_that_stand_for_millions_of_names_are_refused_at_once(tmp_path):
    for pattern in ("{a,b}" * 24, "{a,{b,c{d,e}}}" * 9):
        assert "more than 10000 names" in run("info", pattern, cwd=tmp_path, code=3, timeout=5).err
    assert "no file has a name like this" in run("info", "{a,b}" * 10 + "*", cwd=tmp_path, code=3).err
