"""Tables as their owners distribute them: no row, cell or digit is lost without a message.

Each table goes through info, stats, classify, evaluate, tree and convert there and back. The reference is Python's csv
module on the same text. `pytest tests/cli/test_reading.py -k matrix -s` prints the matrix of table x command."""

import csv
import importlib.resources
import io
import math
import random

import pytest

from program import is_warning, run

MISSING = {"", "?", "NA", "NaN"}


def sklearn_file(name):
    return importlib.resources.files("sklearn.datasets").joinpath("data", name).read_text()


def body(name):
    """The rows of a table that scikit-learn distributes, without its line of counts."""
    return sklearn_file(name).split("\n", 1)[1]


class Table:
    """A file, its records as Python reads them, the label's column, and options that its owner would give."""

    def __init__(self, text, label, *, sep=",", header=True, skip=0, warns="", suffix="csv", encoding="utf-8", options=(),
                 decimal=".", records=None, ignore=(), few=False, codes=(0,)):
        self.bytes = text.encode(encoding)
        self.label, self.warns, self.suffix, self.options, self.decimal = label, warns, suffix, list(options), decimal
        self.ignore, self.few, self.codes = list(ignore), few, codes  # codes: exit codes of what classes make large
        lines = list(csv.reader(io.StringIO("\n".join(text.splitlines()[skip:]) if skip else text, newline=""), delimiter=sep,
                                skipinitialspace=True)) if records is None else records
        lines = [line for line in lines if line]
        self.names = lines[0] if header else [str(i + 1) for i in range(len(lines[0]))]
        self.rows = lines[1:] if header else lines


def european():
    rng = random.Random(1)
    lines = ["Straße;Preis;Fläche;Datum;Klasse"]
    for i in range(120):
        lines.append(f"Weg {i % 9};{rng.randint(1, 999)},{rng.randint(10, 99)};{rng.randint(20, 200)};2024-0{i % 9 + 1}-1{i % 9};"
                     f"{'gut' if i % 3 else 'schlecht'}")
    return "\r\n".join(lines) + "\r\n"


def excel():
    lines = ["sep=;", "Name;Amount;Note;Group"]
    lines += [f'N{i};{i}.5;"{"said ""no"", left" if i % 2 else "two; parts"}";{"A" if i % 3 else "B"}' for i in range(90)]
    return "\r\n".join(lines) + "\r\n"


def genes():
    rng = random.Random(2)
    names = ["sample", "tissue", *[f"ENSG{i:08d}" for i in range(2000)]]
    lines = ["\t".join(names)]
    for i in range(24):
        lines.append("\t".join([f"S{i}", "liver" if i % 2 else "brain", *[f"{rng.expovariate(0.1):.4f}" for _ in names[2:]]]))
    return "\n".join(lines) + "\n"


def dates():
    lines = ["day,at,zoned,value,open"]
    for i in range(60):
        lines.append(f"2024-01-{i % 28 + 1:02d},2024-03-{i % 28 + 1:02d}T{i % 24:02d}:05:09.{i:03d},"
                     f"2023-12-31 23:{i % 60:02d}:00,{i / 8},{'true' if i % 3 else 'false'}")
    return "\n".join(lines) + "\n"


def ids():
    rng = random.Random(3)
    lines = ["id,zip,phone,x,y"]
    lines += [f"{rng.getrandbits(63) | 1 << 62},{i * 997 % 99999:05d},0{i + 30123456},{i % 7},{'p' if i % 2 else 'q'}" for i in range(80)]
    return "\n".join(lines) + "\n"


def free_text():
    lines = ["id,comment,stars"]
    notes = ["fine", 'he said ""never""', "two\nlines", "a; b, c", "naïve 日本", "  kept blanks  ", "NA", "?"]
    lines += [f'{i},"{notes[i % len(notes)]}",{"good" if i % 3 else "bad"}' for i in range(64)]
    return "\n".join(lines) + "\n"


def keel():
    rng = random.Random(4)
    head = ("@relation iris\n@attribute SepalLength real [4.3, 7.9]\n@attribute PetalWidth real[0.1,2.5]\n"
            "@attribute n integer [0, 9]\n@attribute Class {setosa, virginica}\n@inputs SepalLength, PetalWidth, n\n"
            "@outputs Class\n@data\n")
    rows = [[f"{rng.randint(43, 79) / 10}", f"{rng.randint(1, 25) / 10}", str(i % 10), "setosa" if i % 2 else "virginica"]
            for i in range(70)]
    return head + "\n".join(", ".join(r) for r in rows) + "\n", rows


def weka():
    head = ("% made by hand\n@RELATION weather\n@ATTRIBUTE 'wind speed' {low,'very high'}\n@ATTRIBUTE t REAL [0,10]\n"
            "@ATTRIBUTE day DATE \"dd.MM.yyyy HH:mm\"\n@ATTRIBUTE play {yes,no}\n@DATA\n")
    rows = [["very high" if i % 2 else "low", "" if i % 9 == 4 else str(i / 4), f"2024-02-{i % 28 + 1:02d}T0{i % 9}:30:00",
             "yes" if i % 3 else "no"] for i in range(60)]
    text = "".join(f"{repr(w) if ' ' in w else w},{t or '?'},'{d[8:10]}.02.2024 {d[11:16]}',{p}\n" for w, t, d, p in rows)
    return head + text, rows


def many_classes():
    return "x,city\n" + "".join(f"{i % 1009},c{i}\n" for i in range(100_000))


def adult(shared, part):
    return (shared / "data" / "mixed" / f"adult-{part}.csv").read_text()


def table(name, shared):
    if name == "European CSV":
        return Table(european(), "Klasse", sep=";", warns="decimal mark of column 'Preis'", decimal=",")
    if name == "Excel export":
        return Table(excel(), "Group", sep=";", skip=1, encoding="cp1252", options=["--encoding", "cp1252"])
    if name == "Adult":
        return Table(adult(shared, "train"), "15", header=False)
    if name == "iris.data":
        names = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
        lines = [line.rsplit(",", 1) for line in body("iris.csv").splitlines()]
        return Table("".join(f"{x},{names[int(y)]}\n" for x, y in lines), "5", header=False)
    if name == "wine.data":
        lines = [line.rsplit(",", 1) for line in body("wine_data.csv").splitlines()]
        return Table("".join(f"{int(y) + 1},{x}\n" for x, y in lines), "1", header=False)
    if name == "breast_cancer":
        return Table(body("breast_cancer.csv"), "31", header=False)
    if name == "gene expression":
        return Table(genes(), "tissue", sep="\t", suffix="tsv", ignore=["sample"])
    if name == "KEEL":
        text, rows = keel()
        return Table(text, "Class", suffix="dat", records=[["SepalLength", "PetalWidth", "n", "Class"], *rows])
    if name == "WEKA":
        text, rows = weka()
        return Table(text, "play", suffix="arff", records=[["wind speed", "t", "day", "play"], *rows])
    if name == "dates":
        return Table(dates(), "open")
    if name == "ids":
        return Table(ids(), "y", warns="'id' is nominal, so that its numbers stay as they are spelled")
    if name == "free text":
        return Table(free_text(), "stars")
    if name == "one row":
        return Table("a,b,y\n1.50,x,p\n", "y", few=True)
    return Table(many_classes(), "city", codes=(0, 4), options=["--memory-limit", "1GB"])


NAMES = ["European CSV", "Excel export", "Adult", "iris.data", "wine.data", "breast_cancer", "gene expression", "KEEL", "WEKA",
         "dates", "ids", "free text", "one row", "100,000 classes"]


def same(read, written, decimal):
    """Whether a cell that was read and written again is the cell of the file: the same text, number or time."""
    if read == written:
        return True
    if read in MISSING or written in MISSING:
        return read in MISSING and written in MISSING
    try:
        number, again = float(read.replace(decimal, ".")), float(written)
    except ValueError:
        # Dates of one column are all written with as many parts as the longest needs.
        return written.startswith(read.replace(" ", "T")) and set(written[len(read):]) <= set("T0:.")
    keys = read.lstrip("+-").isdigit() and (abs(int(read)) > 2**53 or (len(read) > 1 and read[0] == "0"))
    return not keys and (number == again or (math.isnan(number) and math.isnan(again)))


def compare(back, wanted, decimal):
    found = list(csv.reader(io.StringIO(back, newline="")))
    assert found[0] == wanted.names
    rows = [line for line in found[1:] if line]
    assert len(rows) == len(wanted.rows)
    for i, (a, b) in enumerate(zip(wanted.rows, rows)):
        for name, x, y in zip(wanted.names, a, b, strict=True):
            assert same(x, y, decimal), f"row {i}, column {name}: {x!r} became {y!r}"


def warnings(done):
    return [line for line in done.err.splitlines() if is_warning(line)]


def there_and_back(path, wanted, tmp_path):
    """Writes CSV, ARFF and CSV again. The second CSV says what the first says."""
    done = run("convert", path, tmp_path / "a.csv", *wanted.options)
    assert wanted.warns in done.err and (wanted.warns or not warnings(done)), done.err
    first = (tmp_path / "a.csv").read_text(encoding="utf-8")
    compare(first, wanted, wanted.decimal)
    target = ["--header", "yes"]  # the option's word; the file's own header would be found, too
    for steps in [["b.arff", "c.csv"], ["b.tsv", "c.csv"]]:
        last = tmp_path / "a.csv"
        for step in steps:
            run("convert", last, tmp_path / step, *(target if last.suffix != ".arff" else []))
            last = tmp_path / step
        assert (tmp_path / steps[-1]).read_text(encoding="utf-8") == first
    assert run("convert", tmp_path / "a.csv", "-").text == first, "our own header is found"
    return "same"


def commands(path, wanted, tmp_path):
    common = ["--target", wanted.label, *wanted.options]
    if wanted.ignore:
        common += ["--ignore", ",".join(wanted.ignore)]
    n = len(wanted.rows)
    yield "info", lambda: run("info", path, "--json", *wanted.options).json()["rows"] == n
    yield "stats", lambda: run("stats", path, "--json", *wanted.options).json()["inputs"][0]["rows"] == n

    def refused_or(done, right):
        """Done, or refused for want of memory with one line that says so."""
        assert done.code in wanted.codes, done.err
        return "memory" in done.error_lines()[0] if done.code == 4 else right(done)

    test, n_test = path, n
    if n > 50_000:  # scores of 100,000 classes take their time
        test, n_test = tmp_path / "test.csv", 100
        test.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:n_test + 1]))
    yield "classify", lambda: refused_or(run("classify", path, test, "-k", 1, *common, code=None),
                                         lambda done: len(list(csv.reader(io.StringIO(done.text)))) == n_test + 1)
    split = ["evaluate", path, "--holdout", 0.2, "-k", 1, "--nominal", wanted.label, *common]
    yield "evaluate", lambda: (run(*split, code=2).code == 2 if wanted.few
                               else refused_or(run(*split, code=None), lambda done: "accuracy" in done.text))
    yield "tree", lambda: refused_or(run("tree", path, "--max-depth", 3, "--missing-policy", "value", "-o",
                                         tmp_path / "tree.txt", *common, code=None),
                                     lambda done: (tmp_path / "tree.txt").stat().st_size > 0)


@pytest.mark.parametrize("name", NAMES)
def test_matrix_of_tables_and_commands(name, tmp_path, shared):
    wanted = table(name, shared)
    path = tmp_path / f"table.{wanted.suffix}"
    path.write_bytes(wanted.bytes)
    line = []
    for command, works in commands(path, wanted, tmp_path):
        assert works(), command
        line.append(f"{command} ok")
    line.append(f"convert {there_and_back(path, wanted, tmp_path)}")
    print(f"\n{name:16} {len(wanted.rows):6} rows: {', '.join(line)}", end="")


def test_the_second_table_has_a_header_if_the_first_has_one(tmp_path):
    (tmp_path / "a.csv").write_text("5.1,x\n4.9,x\n6.1,y\n")
    (tmp_path / "b.csv").write_text("6.2,z\n")  # alone, it would be data as well; with text alone it would not
    (tmp_path / "c.csv").write_text("p,q\nr,s\n")
    (tmp_path / "d.csv").write_text("q\nx\ny\n")
    args = ["-k", 1, "-q"]
    assert run("classify", tmp_path / "a.csv", tmp_path / "b.csv", "--target", 2, *args).text.splitlines()[1:] == ["0,y"]
    # Names of the first table make a header, whatever stands below.
    (tmp_path / "train.csv").write_text("p,q\nr,1\ns,2\nt,2\n")
    (tmp_path / "test.csv").write_text("p\np\nr\n")
    done = run("classify", tmp_path / "train.csv", tmp_path / "test.csv", "--target", "q", *args)
    assert len(done.text.splitlines()) == 3, "two rows"


def test_a_duplicate_name_has_a_way_out(tmp_path):
    (tmp_path / "dup.csv").write_text("a,b,a\n1,2,3\n")
    assert "dup.csv:1:5: a second column is named 'a' (--header no" in run("info", tmp_path / "dup.csv", code=3).err
    assert "--header yes --names" in run("info", tmp_path / "dup.csv", code=3).err
    (tmp_path / "dup.arff").write_text("@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n")
    assert "(--names" in run("info", tmp_path / "dup.arff", code=3).err
    done = run("info", tmp_path / "dup.arff", "--names", "a,b", "--json").json()
    assert [c["name"] for c in done["columns"]] == ["a", "b"]
    done = run("info", tmp_path / "dup.csv", "--header", "yes", "--names", "a,b,c", "--json").json()
    assert done["rows"] == 1 and [c["name"] for c in done["columns"]] == ["a", "b", "c"]
    assert run("info", tmp_path / "dup.csv", "--header", "no", "--json").json()["rows"] == 2


def test_adult_does_not_lose_a_row(shared):
    folder = shared / "data" / "mixed"
    for part, rows in [("train", 32561), ("test", 16281)]:
        done = run("info", folder / f"adult-{part}.csv", "--json")
        assert done.json()["rows"] == rows and done.err == ""


def test_a_measured_label_of_a_classification_is_a_warning(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i},{i / 2}\n" for i in range(50)))
    for args in [["classify", tmp_path / "t.csv", tmp_path / "t.csv", "-k", 1], ["tree", tmp_path / "t.csv"]]:
        done = run(*args, "--target", "y")
        assert sum("has 50 classes, all of them numbers" in line for line in warnings(done)) == 1, done.err
    (tmp_path / "u.csv").write_text("x,y\n" + "".join(f"{i * i},{i % 10}\n" for i in range(50)))
    assert not warnings(run("classify", tmp_path / "u.csv", tmp_path / "u.csv", "-k", 1, "--target", "y"))


def test_warnings_of_reading_name_the_option_that_decides(tmp_path):
    for text, option in [("country,2019\nDE,1\nFR,2\n", "--header"), ("id,b\n0123,x\n4567,y\n", "--numeric"),
                         ("a,b\n1,x\nN/A,y\n2,x\n3,y\n", "--missing"), ("a;b\n1,5;x\n", "--decimal"),
                         ("t,b\n2024-01-01T00:00+01:00,x\n", "--nominal")]:
        (tmp_path / "t.csv").write_text(text)
        done = run("info", tmp_path / "t.csv")
        assert len(warnings(done)) == 1 and option in warnings(done)[0], done.err
        assert run("info", tmp_path / "t.csv", "--json").json()["warnings"], "in the JSON, too"


def test_encodings_have_the_names_that_messages_give_them(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\nStraße,1\n".encode("latin-1"))
    message = run("info", tmp_path / "t.csv", code=3).err
    assert "(other encodings: windows-1252, latin-1)" in message
    for name in ["latin1", "latin-1", "ISO-8859-1", "cp1252", "windows-1252", "Windows-1252"]:
        assert "Straße" in run("info", tmp_path / "t.csv", "--encoding", name).text
    (tmp_path / "u.csv").write_bytes("a,b\nStraße,1\n".encode("utf-16"))
    assert "utf-16" in run("info", tmp_path / "u.csv", code=3).err
    for name in ["utf-16", "utf16", "UTF-16LE"]:
        assert "Straße" in run("info", tmp_path / "u.csv", "--encoding", name).text


@pytest.mark.parametrize("values, what", [
    (["10%", "12.5 %"], "percent signs"), (["$5", '"-$1,200.50"'], "a currency"), (["5 €", '"7,50 €"'], "a currency"),
    (['"1,500"', '"12,000.5"'], "commas between thousands"), (['"1.500,5"', '"1.000.000,25"'], "points between thousands"),
    (['"0,5"', '"1,25"', "3"], "decimal commas"), (["31/12/2024", "1.2.2024 10:30"], "dates that do not begin with the year"),
])
def test_a_column_of_spelled_numbers_is_a_warning(tmp_path, values, what):
    (tmp_path / "t.csv").write_text("p,x\n" + "".join(f"{value},{i}\n" for i, value in enumerate(values)))
    done = run("info", tmp_path / "t.csv")
    assert len(warnings(done)) == 1 and what in warnings(done)[0] and "stays text" in warnings(done)[0], done.err
    assert run("info", tmp_path / "t.csv", "--nominal", "p").err == ""


def test_words_beside_spelled_numbers_are_no_warning(tmp_path):
    (tmp_path / "t.csv").write_text('a,b,c,d\n10%,"1,500",1/2,$\nhigh,"1,5,0",3/4,%\n')
    assert run("info", tmp_path / "t.csv").err == ""


def test_a_warning_shows_a_value_once(tmp_path):
    (tmp_path / "t.csv").write_text("v,w\n1,a\n2,b\nN/A,c\n3,d\nN/A,e\n-,f\n")
    assert "; line 4 of" in (line := warnings(run("info", tmp_path / "t.csv"))[0]) and line.count("'N/A'") == 1
    assert "has 'N/A', line 7 has '-' (" in line


def test_a_test_table_without_a_header_is_told_of_test_names(tmp_path):
    (tmp_path / "train.csv").write_text("a,b,y\n1,2,p\n3,4,q\n")
    (tmp_path / "test.csv").write_text("1,2\n3,4\n")
    words = ["classify", tmp_path / "train.csv", tmp_path / "test.csv", "--target", "y", "-k", 1]
    error = run(*words, code=3).err
    assert "test.csv: has no column 'a', which the training table has (--test-names" in error
    assert len(run(*words, "--test-names", "a,b").text.splitlines()) == 3
    (tmp_path / "test.csv").write_text("a,c\n1,2\n")
    error = run(*words, code=3).err
    assert "has no column 'b', which the training table has" in error and "--test-names" not in error


def test_dates_can_be_declared(tmp_path):
    (tmp_path / "t.csv").write_text("d,x\n2024-01-31,1\n,2\n")
    (tmp_path / "bad.csv").write_text("d,x\n2024-01-31,1\n2024-02-30,2\n")
    assert run("info", tmp_path / "t.csv", "--date", "d", "--json").json()["columns"][0]["type"] == "date"
    assert "bad.csv:3:1: column 'd': '2024-02-30' is not an ISO date" in run("info", tmp_path / "bad.csv", "--date", "d", code=3).err
    assert run("knn", tmp_path / "t.csv", tmp_path / "t.csv", "-k", 1, "--ignore", "x").code == 0
