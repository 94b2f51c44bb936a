"""What people are shown of odd results: explanations of every kind of model, long names, many columns, far dates."""

import gzip

import pytest

from program import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("shown")
    rows = [f"k{i},{i % 7},{'' if i == 3 else i * i % 11},{'pq'[i % 2]},{'no' if i < 15 else 'yes'},{i / 2}" for i in range(30)]
    (place / "t.csv").write_text("id,a,b,c,y,n\n" + "\n".join(rows) + "\n")
    return place


def told(folder, *words):
    return run("predict", *words, "-o", "p.csv", "--explain-out", "-", cwd=folder).text


def test_neighbours_without_a_label_are_explained_by_their_distances(folder):
    run("knn", "t.csv", "--ignore", "id,y,n", "-k", "3", "--metric", "gower", "--model-out", "near.stope", cwd=folder)
    text = told(folder, "near.stope", "t.csv")
    assert text.startswith("row 0\n") and "vote" not in text.split("row 1")[0] and "apart in" in text


def test_numbers_and_ids_of_both_tables_are_shown(folder):
    words = ["t.csv", "t.csv", "--ignore", "y,c", "--id", "id", "--target", "n", "-k", "25"]
    text = run("regress", *words, "-o", "p.csv", "--explain-out", "-", cwd=folder).text
    assert text.startswith("row 0 (k0): ") and "0 (k0)" in text.split("\n")[2] and "more neighbours" in text
    few = run("regress", *words, "-o", "p.csv", "--explain-out", "-", "--explain-attributes", "1", cwd=folder).text
    assert len(few) < len(text)
    none = run("regress", *words, "-o", "p.csv", "--explain-out", "-", "--explain-attributes", "0", cwd=folder).text
    assert "a 50 %" in text and "a 50 %" not in none


def test_few_rows_are_all_shown(folder):
    run("classify", "t.csv", "--target", "y", "--ignore", "id,n", "-k", "2", "--model-out", "few.stope", cwd=folder)
    (folder / "few.csv").write_text("a,b,c\n1,,p\n2,3,q\n")
    text = told(folder, "few.stope", "few.csv")
    assert "the first" not in text and text.count("train row") == 2


def test_of_many_coefficients_the_largest_are_shown(folder):
    names = [f"x{i}" for i in range(12)]
    rows = [",".join(str((i * j) % 13) for j in range(1, 14)) for i in range(40)]
    (folder / "wide.csv").write_text(",".join(names) + ",y\n" + "\n".join(rows) + "\n")
    run("lsq", "wide.csv", "--target", "y", "--model-out", "wide.stope", "-o", "c.csv", cwd=folder)
    run("predict", "wide.stope", "wide.csv", "-o", "p.csv", "--explain", cwd=folder)
    assert "4 others" in (folder / "p.csv").read_text().splitlines()[1]


@pytest.mark.parametrize("words, message", [
    (["predict", "lsq.stope", "t.csv", "-k", "3"], "-k: lsq.stope (least squares) has no neighbours"),
    (["predict", "lsq.stope", "t.csv", "--explain-out", "e.csv"], "lsq.stope"),
    (["discretize", "t.csv", "--target", "y", "--method", "mdlp", "--labels"], "--labels is about a coded table"),
    (["discretize", "t.csv", "--target", "y", "--method", "best-cut", "--labels", "-o", "r.csv"], "--labels is about a coded table"),
    (["discretize", "t.csv", "--apply", "cuts.json", "--bins", "3", "-o", "r.csv"], "--bins belongs to --method equal-width and equal-frequency"),
    (["discretize", "t.csv", "--apply", "cuts.json", "--model-out", "m.stope", "-o", "r.csv"], "--model-out is for a set of cuts that is found"),
])
def test_words_that_a_model_or_cuts_cannot_use_say_why(folder, words, message):
    run("lsq", "t.csv", "--target", "n", "--select", "a", "--model-out", "lsq.stope", "-o", "c.csv", cwd=folder)
    run("discretize", "t.csv", "--target", "y", "--ignore", "id,n", "--missing-policy", "value", "--method", "mdlp", "--cuts-out", "cuts.json", cwd=folder)
    assert message in run(*words, cwd=folder, code=2).err


def test_cuts_are_applied_to_tables_of_other_formats(folder):
    run("discretize", "t.csv", "--target", "y", "--ignore", "id,n", "--missing-policy", "value", "--method", "mdlp", "--cuts-out", "cuts.json", cwd=folder)
    run("convert", "t.csv", "t.arff", "--ignore", "id,n", cwd=folder)
    run("convert", "t.csv", "t.tsv", "--ignore", "id,n", cwd=folder)
    words = ["--apply", "cuts.json", "--missing-policy", "value", "-o", "-"]
    words += ["--ignore", "y"]
    expected = run("discretize", "t.tsv", *words, cwd=folder).text
    assert run("discretize", "t.arff", *words, cwd=folder).text == expected
    (folder / "s.json").write_text('{"columns": [{"name": "a", "type": "real"}, {"name": "b", "type": "real"}, '
                                   '{"name": "c", "type": "nominal"}, {"name": "y", "type": "nominal", "role": "label"}]}')
    assert run("discretize", "t.tsv", *words, "--schema", "s.json", cwd=folder).text == expected


def test_info_shows_long_names_many_columns_and_packed_cuts(tmp_path):
    values = [f"a rather long name of the value {i}" for i in range(6)]
    wide = ",".join(f"c{i}" for i in range(130))
    (tmp_path / "t.csv").write_text(f"s,d,e,{wide}\n" + "".join(f"{v},9999-12-30,,{','.join(str(i) * 130)}\n" for i, v in enumerate(values)))
    text = run("info", "t.csv", cwd=tmp_path).text
    assert "c129" not in text and "(--all)" in text
    assert "c129" in run("info", "t.csv", "--all", cwd=tmp_path).text
    listed = run("info", "t.csv", "--format", "csv", cwd=tmp_path).text
    assert "9999-12-30" in listed.splitlines()[2] and listed.count("\n") == 134
    run("discretize", "t.csv", "--method", "equal-width", "--bins", "2", "--ignore", "s,d,e", "--cuts-out", "c.json", cwd=tmp_path)
    (tmp_path / "c.json.gz").write_bytes(gzip.compress((tmp_path / "c.json").read_bytes()))
    shown = run("info", "c.json.gz", cwd=tmp_path).text
    assert "more attributes (--all)" in shown
    assert "c129" in run("info", "c.json", "--all", cwd=tmp_path).text
    (tmp_path / "x.json").write_text("a,b\n1,2\n")
    assert run("info", "x.json", cwd=tmp_path, code=3).err.count("\n") == 1
    (tmp_path / "n.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(200)))
    run("discretize", "n.csv", "--method", "equal-width", "--bins", "60", "--cuts-out", "n.json", cwd=tmp_path)
    assert ", ..." in run("info", "n.json", cwd=tmp_path).text


def test_dates_beyond_four_digits_are_numbers(tmp_path):
    (tmp_path / "t.arff").write_text("@relation r\n@attribute x real\n@data\n3000000\n-800000\n")
    (tmp_path / "s.json").write_text('{"columns": [{"name": "x", "type": "date"}]}')
    assert "3000000" in run("info", "t.arff", "--schema", "s.json", cwd=tmp_path).text


def test_json_alone_holds_the_generated_table_or_says_that_there_is_none(tmp_path):
    done = run("gen", "blobs", "10", "2", "--json", cwd=tmp_path)
    assert done.json()["command"] == "gen" and "no data were written" in done.err + done.text
    run("gen", "blobs", "4", "2", "--no-label", "-o", "b.fvecs", cwd=tmp_path)
    assert (tmp_path / "b.fvecs").stat().st_size == 2 * (4 + 4 * 4)
    assert "--no-label" in run("gen", "blobs", "4", "2", "-o", "c.fvecs", cwd=tmp_path, code=3).err
