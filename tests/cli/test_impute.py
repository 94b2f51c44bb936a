"""stope impute: what it fills in, what it writes, what it refuses; RapidMiner's values."""

import json
import math

import numpy as np
import pytest
from sklearn.impute import KNNImputer

from program import run

# Made for this test, filled in by RapidMiner 5.3.015: Impute Missing Values with k-NN inside, k = 3, without weighted
# vote, without iterating and not on complete cases alone.
RAPIDMINER_TABLE = """x,y,z,colour,s
2.38,,,blue,no
2.34,3.62,2.35,blue,no
3.9,,3.89,red,yes
8.79,,4.61,,no
2.58,2.49,3.89,green,no
9.04,7.06,4.64,green,
,5.12,4.94,green,no
0.67,,0.1,,no
3.31,3.84,,blue,
1.97,1.01,3.05,,yes
3.77,4.12,1.93,blue,yes
2.38,,4.89,blue,
6.16,4.84,0.3,blue,no
0.22,-1.6,3.38,green,no
7.58,,1.32,green,yes
2.23,,1.19,red,no
2.24,2.81,4.8,red,no
0.34,2.07,1.58,,yes
5.89,3.81,2.59,green,no
1.56,-0.89,4.72,,no
7.53,6.26,4.82,blue,
2.45,-0.14,4.01,,yes
,0.4,,,no
,5.03,,red,yes
"""
RAPIDMINER_FILLED = """x,y,z,colour,s
2.38,1.0433333333333332,3.9866666666666664,blue,no
2.34,3.62,2.35,blue,no
3.9,3.09,3.89,red,yes
8.79,4.193333333333333,4.61,green,no
2.58,2.49,3.89,green,no
9.04,7.06,4.64,green,no
4.516666666666666,5.12,4.94,green,no
0.67,2.5,0.1,red,no
3.31,3.84,3.0566666666666666,blue,no
1.97,1.01,3.05,blue,yes
3.77,4.12,1.93,blue,yes
2.38,0.9366666666666665,4.89,blue,no
6.16,4.84,0.3,blue,no
0.22,-1.6,3.38,green,no
7.58,3.4233333333333333,1.32,green,yes
2.23,3.09,1.19,red,no
2.24,2.81,4.8,red,no
0.34,2.07,1.58,blue,yes
5.89,3.81,2.59,green,no
1.56,-0.89,4.72,blue,no
7.53,6.26,4.82,blue,no
2.45,-0.14,4.01,blue,yes
3.946666666666666,0.4,1.9666666666666668,blue,no
4.453333333333333,5.03,2.8666666666666667,red,yes
"""


def holes(seed, n, d, share=0.1):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, d))
    x[random.random((n, d)) < share] = np.nan
    return x


def write(path, x):
    lines = [",".join(f"x{c}" for c in range(x.shape[1]))]
    lines += [",".join("" if math.isnan(v) else repr(float(v)) for v in row) for row in x]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_rows(path, names, table):
    path.write_text("\n".join(",".join(map(str, row)) for row in [names, *table]) + "\n")


def read(path):
    return np.array([[float(v) for v in line.split(",")] for line in path.read_text().splitlines()[1:]])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("share", [0.05, 0.4])
def test_numbers_are_those_of_scikit_learn(tmp_path, weights, share):
    train, test = holes(1, 200, 6, share), holes(2, 80, 6, share)
    write(tmp_path / "a.csv", train)
    write(tmp_path / "b.csv", test)
    rival = KNNImputer(n_neighbors=4, weights=weights).fit(train)
    run("impute", tmp_path / "a.csv", "-k", 4, "--weights", weights, "-o", tmp_path / "a-out.csv")
    np.testing.assert_allclose(read(tmp_path / "a-out.csv"), rival.transform(train), rtol=1e-7)
    run("impute", tmp_path / "a.csv", "--apply", tmp_path / "b.csv", "-k", 4, "--weights", weights, "-o",
        tmp_path / "b-out.csv", "--model-out", tmp_path / "fill.stope")
    np.testing.assert_allclose(read(tmp_path / "b-out.csv"), rival.transform(test), rtol=1e-7)
    run("predict", tmp_path / "fill.stope", tmp_path / "b.csv", "-o", tmp_path / "c-out.csv")
    assert (tmp_path / "c-out.csv").read_bytes() == (tmp_path / "b-out.csv").read_bytes()


def test_the_values_are_rapidminers(tmp_path):
    (tmp_path / "t.csv").write_text(RAPIDMINER_TABLE)
    run("impute", tmp_path / "t.csv", "--metric", "mixed-euclidean", "-k", 3, "-o", tmp_path / "o.csv")
    ours = (tmp_path / "o.csv").read_text().splitlines()
    theirs = RAPIDMINER_FILLED.splitlines()
    assert ours[0] == theirs[0] and len(ours) == len(theirs)
    for mine, rival in zip(ours[1:], theirs[1:]):
        *numbers, colour, s = mine.split(",")
        *expected, their_colour, their_s = rival.split(",")
        np.testing.assert_allclose([float(v) for v in numbers], [float(v) for v in expected], rtol=1e-14)
        # The last row but one: two rows are equally near, and RapidMiner's heap keeps the later one.
        tie = mine.startswith("3.94")
        assert (colour == "red" and their_colour == "blue") if tie else colour == their_colour
        assert s == their_s


def test_every_filled_cell_is_listed_with_its_donors(tmp_path):
    write_rows(tmp_path / "t.csv", ["x", "y", "s"], [[0, 1, "a"], [1, "", "a"], [5, 3, "b"], [2, 2, ""], ["", "", ""]])
    done = run("impute", tmp_path / "t.csv", "-k", 2, "-o", tmp_path / "o.csv", "--filled-out", tmp_path / "f.jsonl")
    cells = [json.loads(line) for line in (tmp_path / "f.jsonl").read_text().splitlines()]
    assert [(c["row"], c["column"], c["value"], c["n_donors"]) for c in cells] == [
        (1, "y", 1.5, 2), (3, "s", "a", 2), (4, "x", 2, 0), (4, "y", 2, 0), (4, "s", "a", 0)]
    assert cells[0]["donors"] == "0 3" and cells[2]["donors"] is None
    assert "5 of 5 missing values filled in, in 3 of 5 rows; 3 without donors" in done.err


def test_label_and_id_stay_missing_unless_they_are_named(tmp_path):
    write_rows(tmp_path / "t.csv", ["id", "x", "y", "class"],
              [["r1", 1, 2, "a"], ["", 2, "", "b"], ["r3", "", 4, ""], ["r4", 4, 5, "b"]])
    common = [tmp_path / "t.csv", "--id", "id", "--target", "class", "-k", 1, "-o", tmp_path / "o.csv"]
    run("impute", *common)
    assert (tmp_path / "o.csv").read_text() == "id,x,y,class\nr1,1,2,a\n,2,2,b\nr3,4,4,\nr4,4,5,b\n"
    run("impute", *common, "--columns", "class,[xz]*")
    assert (tmp_path / "o.csv").read_text() == "id,x,y,class\nr1,1,2,a\n,2,,b\nr3,4,4,b\nr4,4,5,b\n"
    result = run("impute", *common, "--columns", "q*", code=None)
    assert result.code != 0 and "no column fits the pattern 'q*'" in result.err


def test_indicators_follow_the_columns(tmp_path):
    write_rows(tmp_path / "t.csv", ["x", "y"], [[1, 2], ["", 3], [3, 4]])
    run("impute", tmp_path / "t.csv", "--indicators", "-k", 1, "-o", tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text().splitlines()[0] == "x,y,missing(x)"
    assert [line.split(",")[2] for line in (tmp_path / "o.csv").read_text().splitlines()[1:]] == ["0", "1", "0"]


def test_json_says_what_was_filled_in_by_column(tmp_path):
    write_rows(tmp_path / "t.csv", ["x", "y"], [[1, 2], ["", 3], [3, 4]])
    said = run("impute", tmp_path / "t.csv", "-k", 2, "--json").json()
    assert said["plan"]["columns"]["x"] == {
        "missing": 1, "filled": 1, "fallback": 0, "left": 0, "mean_donors": 2, "mean_distance": pytest.approx(2**0.5)}
    assert said["options"]["metric"] == "nan-euclidean"
    assert [row["x"] for row in said["table"]] == [1, 2, 3]


def test_a_model_says_what_it_is(tmp_path):
    write_rows(tmp_path / "t.csv", ["x", "y"], [[1, 2], ["", 3], [3, 4]])
    run("impute", tmp_path / "t.csv", "-k", 2, "-o", tmp_path / "o.csv", "--model-out", tmp_path / "m.stope")
    text = run("info", tmp_path / "m.stope").text
    assert "'impute'" in text and "nan-euclidean" in text and "trained on" in text


def test_a_table_larger_than_the_memory_limit_gives_the_same_bytes(tmp_path):
    write(tmp_path / "t.csv", holes(3, 3000, 12))
    run("impute", tmp_path / "t.csv", "-o", tmp_path / "a.csv")
    run("impute", tmp_path / "t.csv", "-o", tmp_path / "b.csv", "--memory-limit", "1500k", "--threads", 1)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["-k", "0"], "-k: 0 is not at least 1"),
        (["--metric", "mahalanobis"], "gives no distance where a value is missing"),
        (["--metric", "manhattan"], "'s'"),
        (["--columns", "why"], "no column is called 'why' (--columns)"),
        (["--strategy", "mode"], "mean"),
        (["--weights", "near"], "uniform"),
        (["--feature-weights", "1,2"], "weight"),
        (["--apply", "empty.csv"], "empty.csv: has no column 'x'"),
        (["--filled-out", "cells.arff"], "arff"),
        (["-o", "t.csv"], "t.csv"),
    ],
)
def test_mistakes_are_refused_in_one_line(tmp_path, words, text):
    write_rows(tmp_path / "t.csv", ["x", "y", "s"], [[1, 2, "a"], ["", 3, "b"], [3, 4, ""]])
    (tmp_path / "empty.csv").write_text("a\n1\n")
    before = sorted(p.name for p in tmp_path.iterdir())
    output = [] if "-o" in words else ["-o", "o.csv"]
    result = run("impute", "t.csv", *words, *output, cwd=tmp_path, code=None)
    assert result.code not in (0, 1), result.err
    assert len(result.error_lines()) == 1 and text in result.err, result.err
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_tables_at_the_edges(tmp_path):
    (tmp_path / "one.csv").write_text("x,y\n1,\n")
    done = run("impute", tmp_path / "one.csv", "-o", tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == "x,y\n1,\n"
    assert "stayed missing" in done.err
    (tmp_path / "full.csv").write_text("x,y\n1,2\n3,4\n")
    assert "no value is missing" in run("impute", tmp_path / "full.csv", "-o", tmp_path / "o.csv").err
    (tmp_path / "none.csv").write_text("x,y\n")
    assert run("impute", tmp_path / "none.csv", "-o", tmp_path / "p.csv", code=None).code != 0
    assert not (tmp_path / "p.csv").exists()


def test_dates_and_whole_numbers_are_written_as_such(tmp_path):
    write_rows(tmp_path / "t.csv", ["day", "n", "x"],
              [["2024-01-01", 2, 0], ["2024-01-03", 4, 1], ["", "", 0.5], ["2024-02-01", 90, 9]])
    run("impute", tmp_path / "t.csv", "--date", "day", "-k", 2, "-o", tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text().splitlines()[3] == "2024-01-02,3,0.5"


def test_rows_of_standard_input_are_filled():
    assert run("impute", "-", "-k", 1, stdin=b"x,y\n1,2\n,3.9\n3,4\n").text == "x,y\n1,2.0\n3,3.9\n3,4.0\n"
