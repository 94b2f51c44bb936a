"""A new user's files, each through every command: either it works, or one line says what helps."""

import gzip
import importlib.resources
import json
import subprocess

import pytest

from program import PROGRAM, environment, is_warning, run


def iris():
    text = importlib.resources.files("sklearn.datasets").joinpath("data", "iris.csv").read_text().split("\n", 1)[1]
    return "length,width,petal_length,petal_width,species\n" + text


def european():
    rows = [f"{i};{i % 7},{i % 10}0;1.{i:03d},5;{'ja' if i % 3 else 'nein'}" for i in range(1, 61)]
    return "Nr;Größe;Umsatz;Kauf\r\n" + "\r\n".join(rows) + "\r\n"


def excel_export():
    rows = [f'{i},"{1000 + 37 * i:,}",{i % 9}%,"Müller, {i}",{"" if i % 11 == 0 else "AB"[i % 2]}' for i in range(1, 51)]
    return "Sales report 2024,,,,\r\n,,,,\r\nId,Amount,Rate,Customer,Class\r\n" + "\r\n".join(rows) + "\r\n"


def dates():
    return "when,amount,kind\n" + "".join(f"2024-{1 + i % 12:02d}-{1 + i % 28:02d},{i * 1.5},{'xyz'[i % 3]}\n" for i in range(40))


def ids():
    return "customer,zip,order,value,churn\n" + "".join(
        f"{i:07d},{(i * 7919) % 90000 + 1000:05d},{9007199254740993 + i},{i % 13},{i % 2}\n" for i in range(50))


def free_text():
    words = ["good, really", 'he said "no"', "two\nlines", "tab\there", "ünïcödé 😀", "", "NA"]
    return "review,stars,label\n" + "".join('"' + words[i % 7].replace('"', '""') + f' {i}",{i % 5 + 1},{"ab"[i % 2]}\n' for i in range(42))


def all_missing():
    return "a,b,y\n" + "".join(f",NA,{'pq'[i % 2]}\n" for i in range(20))


def wide():
    n = 2000
    return ",".join(f"gene_{i}" for i in range(n)) + ",y\n" + "".join(
        ",".join(str((i * j) % 17) for j in range(n)) + f",{'pq'[i % 2]}\n" for i in range(12))


WEATHER = """% WEKA's own
@relation weather
@attribute outlook {sunny, overcast, rainy}
@attribute temperature real
@attribute humidity real
@attribute windy {TRUE, FALSE}
@attribute play {yes, no}
@data
sunny,85,85,FALSE,no
sunny,80,90,TRUE,no
overcast,83,86,FALSE,yes
rainy,70,96,FALSE,yes
rainy,68,80,FALSE,yes
rainy,65,70,TRUE,no
overcast,64,65,TRUE,yes
sunny,72,95,FALSE,no
sunny,69,70,FALSE,yes
rainy,75,80,FALSE,yes
"""


def parquet(path):
    pq = pytest.importorskip("pyarrow.parquet")
    csv = pytest.importorskip("pyarrow.csv")
    import io

    pq.write_table(csv.read_csv(io.BytesIO(iris().encode())), path)


# name, label, content (text, bytes, or a function that writes the file), options of its owner
FILES = [
    ("european.csv", "Kauf", european().encode("cp1252"), ["--encoding", "cp1252"]),
    ("european_marks.csv", "Kauf", european().encode("cp1252"), ["--encoding", "cp1252", "--thousands", "."]),
    ("excel_export.csv", "Class", excel_export(), ["--skip-lines", "2", "--thousands", ","]),
    ("excel_as_it_is.csv", "Class", excel_export(), []),
    ("dates.csv", "kind", dates(), []),
    ("ids.csv", "churn", ids(), ["--id", "customer"]),
    ("free_text.csv", "label", free_text(), []),
    ("all_missing.csv", "y", all_missing(), []),
    ("one_row.csv", "y", "a,b,y\n1,2,p\n", []),
    ("wide.csv", "y", wide(), []),
    ("iris.parquet", "species", parquet, []),
    ("weather.arff", "play", WEATHER, []),
    ("iris.csv.gz", "species", gzip.compress(iris().encode()), []),
    ("-", "species", iris(), []),
]

COMMANDS = [
    ["info", "T"], ["stats", "T"], ["stats", "T", "--by", "Y"],
    ["knn", "T", "U", "-k", "1"], ["knn", "T", "U", "-k", "1", "--metric", "gower"],
    ["classify", "T", "U", "--target", "Y", "-k", "1"], ["classify", "T", "U", "--target", "Y", "--metric", "heom"],
    ["regress", "T", "U", "--target", "Y"],
    ["evaluate", "T", "--target", "Y"], ["evaluate", "T", "--target", "Y", "--metric", "gower", "--cv", "3"],
    ["pairwise", "T", "U"], ["normalize", "T", "--method", "z"], ["pca", "T"], ["pca", "T", "--numeric-only", "--impute", "mean"],
    ["lsq", "T", "--target", "Y"], ["lsq", "T", "--target", "Y", "--numeric-only", "--impute", "mean"],
    ["discretize", "T", "--target", "Y", "--method", "best-cut"], ["discretize", "T", "--target", "Y", "--method", "mdlp", "--missing-policy", "value"],
    ["tree", "T", "--target", "Y"], ["tree", "T", "--target", "Y", "--missing-policy", "value"],
    ["convert", "T", "-"], ["convert", "T", "-", "--format", "md"], ["convert", "T", "-", "--format", "npy"],
    ["split", "T", "--holdout", "0.3", "--target", "Y", "-o", "a.csv", "--test-out", "b.csv"],
    ["split", "T", "--folds", "3", "-o", "f{}.csv"], ["ata", "T", "-o", "m.gram"], ["check", "T"],
    ["predict", "no.stope", "T"],
]


def write(folder, name, content):
    if name == "-":
        return
    if callable(content):
        content(folder / name)
    else:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def run_command(folder, file, command):
    name, label, content, options = file
    words = [{"T": name, "U": name if name != "-" else "second.csv", "Y": label}.get(word, word) for word in command]
    if name == "-" and "U" in command:
        (folder / "second.csv").write_text(content)
    if command[0] == "check":
        words, options = words[:1], []
    stdin = content.encode() if name == "-" else b""
    return subprocess.run([PROGRAM, *words, *options], input=stdin, capture_output=True, env=environment(), cwd=folder, timeout=120)


@pytest.mark.parametrize("file", FILES, ids=[file[0] for file in FILES])
def test_every_command_works_or_says_in_a_line_what_helps(tmp_path, file):
    write(tmp_path, file[0], file[2])
    told = []
    for command in COMMANDS:
        done = run_command(tmp_path, file, command)
        err = done.stderr.decode()
        told.append((" ".join(command), done.returncode, err.strip().splitlines()))
        assert done.returncode in (0, 2, 3), (command, done.returncode, err)
        errors = [line for line in err.splitlines() if line.startswith("stope: ") and not is_warning(line)]
        if done.returncode:
            assert len(errors) == 1 and len(errors[0]) > 30, (command, err)
            assert not any(word in err for word in ("Traceback", "std::", "internal", "terminate")), err
            assert done.stdout == b"", "nothing is half written"
    for line in told:
        print(*line)


def test_texts_and_ids_as_features_are_a_warning_of_jobs_with_a_label(tmp_path):
    for name in ["free_text.csv", "ids.csv", "iris.parquet"]:
        write(tmp_path, name, named(name)[2])
    told = run("tree", "free_text.csv", "--target", "label", "--missing-policy", "value", cwd=tmp_path).err
    assert "warning: the feature 'review' has a value of its own in nearly every row (--ignore with the column leaves it out" in told
    told = run("evaluate", "ids.csv", "--target", "churn", cwd=tmp_path).err
    assert "the feature 'customer' has a value of its own in nearly every row; so has 'zip', 'order'" in told
    assert "'customer'" not in run("evaluate", "ids.csv", "--target", "churn", "--id", "customer", cwd=tmp_path).err
    for words in [["info", "free_text.csv"], ["evaluate", "iris.parquet", "--target", "species"]]:
        assert "of its own" not in run(*words, cwd=tmp_path).err


@pytest.mark.parametrize("first, step, told", [(100, 1, True), (0, 1, True), (0, 2, False)])
def test_whole_numbers_that_count_rows_are_a_warning_where_classes_are_predicted(tmp_path, first, step, told):
    rows = "".join(f"{first + step * i},{i * 7 % 20},{'pq'[i % 2]},{i / 3}\n" for i in range(20))
    (tmp_path / "t.csv").write_text("n,x,y,z\n" + rows)
    assert ("the feature 'n' has a value of its own" in run("tree", "t.csv", "--target", "y", cwd=tmp_path).err) == told
    assert "of its own" not in run("lsq", "t.csv", "--target", "z", "--ignore", "y", cwd=tmp_path).err
    (tmp_path / "few.csv").write_text("n,x,y,z\n" + "".join(rows.splitlines(True)[:19]))
    assert "of its own" not in run("tree", "few.csv", "--target", "y", cwd=tmp_path).err


def columns(folder, file, *options):
    write(folder, file[0], file[2])
    done = run("info", file[0], "--json", *file[3], *options, cwd=folder)
    return {c["name"]: c["type"] for c in done.json()["columns"]}


def named(name):
    return next(file for file in FILES if file[0] == name)


def test_european_numbers_are_numbers(tmp_path):
    assert columns(tmp_path, named("european_marks.csv")) == {
        "Nr": "integer", "Größe": "real", "Umsatz": "real", "Kauf": "polynominal"}
    done = run("convert", "european_marks.csv", "-", "--encoding", "cp1252", "--thousands", ".", cwd=tmp_path)
    assert done.text.splitlines()[1] == "1,1.1,1001.5,ja"


def test_without_the_mark_a_european_file_is_a_warning_that_names_it(tmp_path):
    assert columns(tmp_path, named("european.csv"))["Umsatz"] == "polynominal"
    assert "--thousands" in run("info", "european.csv", "--encoding", "cp1252", cwd=tmp_path).err


def test_an_excel_export_has_its_amounts_and_a_word_about_its_percents(tmp_path):
    kinds = columns(tmp_path, named("excel_export.csv"))
    assert kinds["Amount"] == "integer" and kinds["Rate"] == "polynominal"
    assert "percent signs" in run("info", "excel_export.csv", *named("excel_export.csv")[3], cwd=tmp_path).err


def test_a_title_above_the_table_is_a_warning_and_explains_a_missing_column(tmp_path):
    write(tmp_path, "t.csv", excel_export())
    assert "names 1 of 5 columns, so it may be a title (--skip-lines N" in run("info", "t.csv", cwd=tmp_path).err
    error = run("tree", "t.csv", "--target", "Class", code=3, cwd=tmp_path).err
    assert "no column 'Class'" in error and "so it may be a title (--skip-lines N" in error
    assert "title" not in run("info", "t.csv", "--skip-lines", 2, cwd=tmp_path).err


def test_columns_without_a_value_are_named_once(tmp_path):
    write(tmp_path, "t.csv", all_missing())
    err = run("info", "t.csv", cwd=tmp_path).err
    assert "column 'a' has no value in any row; neither has 'b' (--ignore with the column" in err
    assert run("info", "t.csv", "--ignore", "a,b", cwd=tmp_path).err == ""


def test_dates_are_dates_and_ids_keep_their_digits(tmp_path):
    assert columns(tmp_path, named("dates.csv"))["when"] == "date"
    kinds = columns(tmp_path, named("ids.csv"))
    assert kinds["customer"] == kinds["zip"] == kinds["order"] == "polynominal"
    assert "0000001" in run("convert", "ids.csv", "-", "--id", "customer", cwd=tmp_path).text


@pytest.mark.parametrize("last, spelled", [
    ("2024-03-01", "2024-02-29"), ("2024-03-01T06:00:00", "2024-02-29T00:00:00"), ("2024-03-01T06:00:00.25", "2024-02-29T00:00:00.000")])
def test_dates_are_dates_in_every_format(tmp_path, last, spelled):
    (tmp_path / "t.csv").write_text(f"day,x\n2024-02-29,1\n,2\n{last},3\n")
    csv = run("convert", "t.csv", "-", cwd=tmp_path).text.splitlines()[1].split(",")[0]
    rows = json.loads(run("convert", "t.csv", "-", "--format", "json", cwd=tmp_path).text)
    assert csv == rows[0]["day"] == spelled and rows[1]["day"] is None
    assert f"| {csv} |" in run("convert", "t.csv", "-", "--format", "markdown", cwd=tmp_path).text


def test_standard_input_gives_what_the_file_gives(tmp_path):
    (tmp_path / "iris.csv").write_text(iris())
    for form in ["csv", "json"]:
        assert run("convert", "-", "-", "--format", form, stdin=iris().encode()).out == run(
            "convert", tmp_path / "iris.csv", "-", "--format", form).out
    assert json.loads(run("info", "-", "--json", stdin=gzip.compress(iris().encode())).text)["rows"] == 150


def test_a_query_of_duckdb_is_read_from_a_pipe(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "iris.csv").write_text(iris())
    query = f"select * from '{tmp_path}/iris.csv' where petal_length > 4.5 and species <> 1"
    duckdb.sql(query).write_csv(str(tmp_path / "out.csv"))
    piped = run("info", "-", "--json", stdin=(tmp_path / "out.csv").read_bytes()).json()
    assert piped["rows"] == len(duckdb.sql(query).fetchall()) > 10
