"""Columns chosen by patterns, a sample of rows, records of different lengths, marks between thousands."""

import json

import pytest

from program import is_warning, run


def warnings(done):
    return [line for line in done.err.splitlines() if is_warning(line)]


def features(path, *options):
    return [c["name"] for c in run("info", path, "--json", *options).json()["columns"] if c["role"] == "regular"]


@pytest.fixture()
def genes(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("row_id,gene_1,gene_2,gene_10,age,sample_id,y\n" + "".join(f"{i},1,2,3,4,{i},{'pq'[i % 2]}\n" for i in range(8)))
    return path


@pytest.mark.parametrize("options, names", [
    (["--select", "gene_*"], "gene_1 gene_2 gene_10"),
    (["--select", "gene_?"], "gene_1 gene_2"),
    (["--select", "*_id,age"], "row_id age sample_id"),
    (["--select", "2-4"], "gene_1 gene_2 gene_10"),
    (["--select", "gene_*", "--ignore", "gene_1*"], "gene_2"),
    (["--ignore", "*_id", "--target", "y"], "gene_1 gene_2 gene_10 age"),
    (["--ignore", "*_id,1-2", "--id", "row_id"], "gene_2 gene_10 age y"),
    (["--select", "*", "--ignore", "y"], "row_id gene_1 gene_2 gene_10 age sample_id"),
])
def test_columns_are_chosen_by_patterns_and_ranges(genes, options, names):
    assert features(genes, *options) == names.split()


def test_a_column_with_the_name_of_a_pattern_wins(tmp_path):
    (tmp_path / "t.csv").write_text("a*,ab,1-2,x\n1,2,3,4\n")
    assert features(tmp_path / "t.csv", "--select", "a*") == ["a*"]
    assert features(tmp_path / "t.csv", "--select", "1-2") == ["1-2"]


def test_convert_writes_what_is_selected(genes):
    assert run("convert", genes, "-", "--select", "age,gene_1").text.splitlines()[:2] == ["gene_1,age", "1,4"]


def test_types_take_patterns_and_a_name_beats_a_pattern(genes):
    types = {c["name"]: c["type"] for c in run("info", genes, "--json", "--nominal", "gene_*", "--numeric", "gene_2").json()["columns"]}
    assert types["gene_1"] == types["gene_10"] == "polynominal" and types["gene_2"] == "real"


@pytest.mark.parametrize("options, code, message", [
    (["--select", "gen_*"], 3, "no column has a name like 'gen_*' (select) among its 7 columns (did you mean 'gene_*'?)"),
    (["--ignore", "GENE_*"], 3, "no column has a name like 'GENE_*' (ignore) among its 7 columns (did you mean 'gene_*'?)"),
    (["--ignore", "*_ids"], 3, "no column has a name like '*_ids'"),
    (["--ignore", "3-9"], 3, "no columns 3-9 (ignore): they are numbered from 1 to 7"),
    (["--ignore", "0-2"], 3, "no columns 0-2 (ignore): they are numbered from 1 to 7"),
    (["--ignore", "5-2"], 3, "no columns 5-2 (ignore)"),
    (["--select", "agee"], 3, "no column 'agee' (select) among its 7 columns (did you mean 'age'?)"),
    (["--nominal", "gene_*", "--numeric", "*_1"], 2, "is named by both"),
])
def test_patterns_that_choose_nothing_are_refused(genes, options, code, message):
    done = run("info", genes, *options, code=code)
    assert message in done.err and len(done.error_lines()) == 1, done.err


def test_a_second_table_has_the_columns_that_were_selected(genes, tmp_path):
    (tmp_path / "test.csv").write_text("gene_2,gene_1,y\n2,1,p\n")
    done = run("classify", genes, tmp_path / "test.csv", "--target", "y", "--select", "gene_1,gene_2", "-k", 1)
    assert len(done.text.splitlines()) == 2


def test_a_sample_keeps_rows_in_their_order(tmp_path):
    (tmp_path / "t.csv").write_text("n\n" + "".join(f"{i}\n" for i in range(1000)))

    def sample(*options):
        return [int(word) for word in run("convert", tmp_path / "t.csv", "-", *options).text.split()[1:]]

    first = sample("--sample", 50)
    assert len(first) == 50 and first == sorted(set(first)) and first == sample("--sample", 50)
    assert first != sample("--sample", 50, "--seed", 1)
    assert sample("--sample", 1000) == sample("--sample", 5000) == list(range(1000))
    assert "--sample: '0' is not at least 1" in run("info", tmp_path / "t.csv", "--sample", 0, code=2).err
    # Each row is as likely as any other: 200 samples of 50, about 10 of each row.
    counts = [0] * 1000
    for seed in range(200):
        for n in sample("--sample", 50, "--seed", seed):
            counts[n] += 1
    assert max(counts) < 30 and sum(counts[:500]) == pytest.approx(5000, abs=300)


def test_a_cell_of_a_sample_has_no_wrong_line(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i},{'' if i % 2 else 'a'}\n" for i in range(100)))
    error = run("evaluate", tmp_path / "t.csv", "--target", "y", "--sample", 40, code=3).err
    assert "t.csv: column 'y', row " in error, "the file, and no line: the row was another one in the file"


def test_records_of_other_lengths_are_filled_and_cut(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,x,3\n2\n3,y\n4,z,5,extra,more\n\n6,w,7\n")
    refused = run("info", tmp_path / "t.csv", code=3).err
    assert "t.csv:3:1: expected 3 fields, found 1" in refused and "--allow-ragged" in refused
    done = run("convert", tmp_path / "t.csv", "-", "--allow-ragged")
    assert done.text == "a,b,c\n1,x,3\n2,,\n3,y,\n4,z,5\n6,w,7\n"
    (line,) = warnings(done)
    assert "2 records with fewer fields than the first one were filled with missing values, from line 3" in line
    assert "1 record with more fields lost them, from line 5" in line
    for chunk in ["3", "9", "1000"]:
        again = run("convert", tmp_path / "t.csv", "-", "--allow-ragged", env={"STOPE_CSV_CHUNK": chunk})
        assert again.text == done.text and again.err == done.err


def test_a_regular_file_is_read_the_same_with_ragged_records_allowed(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f'{i},"{i},x"\n' for i in range(500)))
    assert run("convert", tmp_path / "t.csv", "-", "--allow-ragged").out == run("convert", tmp_path / "t.csv", "-").out
    assert run("info", tmp_path / "t.csv", "--allow-ragged").err == ""


def test_ragged_records_are_found_late_in_a_long_file(tmp_path):
    rows = [f"{i},{i / 4},n{i % 3}" for i in range(30000)]
    rows[29000] = "29000"
    rows[29500] += ",more"
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(rows) + "\n")
    done = run("convert", tmp_path / "t.csv", "-", "--allow-ragged", env={"STOPE_CSV_CHUNK": "4096"})
    lines = done.text.splitlines()
    assert lines[29001] == "29000,," and lines[29501] == "29500,7375.0,n1" and len(lines) == 30001
    assert "line 29002" in done.err and "line 29502" in done.err


R_STYLE = '"length","width","kind"\n' + "".join(f'"{i}",{i / 2},{i % 3},"{"ab"[i % 2]}"\n' for i in range(1, 31))


@pytest.mark.parametrize("options", [[], ["--allow-ragged"], ["--target", "kind"]])
def test_row_names_of_r_are_never_taken_for_the_first_column(tmp_path, options):
    (tmp_path / "t.csv").write_text(R_STYLE)
    error = run("info", tmp_path / "t.csv", *options, code=3).err
    assert error.count("\n") == 1 and "t.csv:2:1: all records have 4 fields, and the first one 3: R writes row names so" in error
    assert "(--header yes --names A,B,... with a name for every column)" in error


def test_row_names_of_r_are_read_with_names_for_all_columns(tmp_path):
    (tmp_path / "t.csv").write_text(R_STYLE)
    (tmp_path / "plain.csv").write_text("row," + R_STYLE)
    options = ["--header", "yes", "--names", "row,length,width,kind", "--allow-ragged"]
    assert run("convert", tmp_path / "t.csv", "-", *options).out == run("convert", tmp_path / "plain.csv", "-").out


@pytest.mark.parametrize("text", ["a,b\n1,2,3\n", "a,b\n1,2,\n3,4,\n", "a,b\n1,2,3\n4,5\n", "1,2\n3,4,5\n6,7,8,9\n"])
def test_other_long_records_are_cut_where_that_is_allowed(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    assert "expected 2 fields" in run("info", tmp_path / "t.csv", code=3).err
    assert "with more fields lost them" in run("info", tmp_path / "t.csv", "--allow-ragged").err


@pytest.mark.parametrize("text, options, values", [
    ('a\n"1,234,567.5"\n"1,000"\n12\n', ["--thousands", ","], [1234567.5, 1000, 12]),
    ('a;b\n1.234.567,5;x\n1.000;y\n0,5;z\n', ["--thousands", "."], [1234567.5, 1000, 0.5]),
    ("a;b\n1 234,5;x\n-12 000;y\n", ["--thousands", " "], [1234.5, -12000]),
    ("a;b\n1\u00a0234,5;x\n1\u202f000\u202f000;y\n", ["--thousands", " "], [1234.5, 1000000]),
    ("a,b\n1'234.5,x\n1'000'000,y\n", ["--thousands", "'"], [1234.5, 1000000]),
    ("a,b\n1_000,x\n+2_000e3,y\n", ["--thousands", "_"], [1000, 2000000]),
])
def test_numbers_have_marks_between_thousands(tmp_path, text, options, values):
    (tmp_path / "t.csv").write_text(text)
    done = run("convert", tmp_path / "t.csv", "-", *options, "--output-format", "json", "--select", "a")
    assert [row["a"] for row in json.loads(done.text)] == values
    column = run("info", tmp_path / "t.csv", *options, "--json").json()["columns"][0]
    assert column["type"] == ("integer" if all(v == int(v) for v in values) else "real")


@pytest.mark.parametrize("value", ["1,23", "12,34,567", "1,2345", ",123", "1234,567", "0,123", "1,234,", "1.5,000", "1,,000", "x,123"])
def test_marks_in_wrong_places_make_no_number(tmp_path, value):
    (tmp_path / "t.csv").write_text(f'a,b\n"{value}",1\n"5,000",2\n')
    assert run("info", tmp_path / "t.csv", "--thousands", ",", "--json").json()["columns"][0]["type"] == "polynominal"
    message = run("info", tmp_path / "t.csv", "--thousands", ",", "--numeric", "a", code=3).err
    assert f"t.csv:2:1: column 'a': '\"{value}\"' is not a number" in message or f"'{value}' is not a number" in message


def test_what_looks_like_thousands_names_the_option_that_reads_it(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n"1,500",1\n"12,000",2\n')
    (line,) = warnings(run("info", tmp_path / "t.csv"))
    assert "commas between thousands" in line and "--thousands" in line
    assert run("info", tmp_path / "t.csv", "--thousands", ",").err == ""
    (tmp_path / "t.csv").write_text("a,b\n10%,1\n20%,2\n")
    (line,) = warnings(run("info", tmp_path / "t.csv"))
    assert "percent signs" in line and "--nominal" in line and "--thousands" not in line


@pytest.mark.parametrize("options, message", [
    (["--thousands", ".", "--decimal", "."], "'.' cannot be both the mark between thousands and the decimal mark"),
    (["--thousands", "5"], "'5' cannot be the mark between thousands"),
    (["--thousands", "-"], "'-' cannot be the mark between thousands"),
    (["--thousands", " ", "--sep", " "], "' ' cannot be both the mark between thousands and the separator"),
    (["--thousands", "ab"], "--thousands: 'ab' is not one ASCII character"),
])
def test_marks_that_cannot_be_are_refused(tmp_path, options, message):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert message in run("info", tmp_path / "t.csv", *options, code=2).err
