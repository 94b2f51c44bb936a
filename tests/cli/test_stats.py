"""stope stats: real mixed tables against NumPy, classes, CSV, the table for people, refusals."""

import csv
import io
import json
import math

import numpy as np
import pytest

from program import SHARED, backends, records, run

MIXED = sorted((SHARED / "data" / "mixed").glob("*.[ac][rs][fv]*"))


def columns_of(done):
    return {c["name"]: c for c in done.json()["columns"]}


def numbers_of(cells):
    return np.array([float(c) if c not in ("", "?") else math.nan for c in cells])


def check_numeric(found, values, rows):
    there = values[~np.isnan(values)]
    assert found["rows"] == rows and found["count"] == len(there) and found["missing"] == rows - len(there)
    if len(there) == 0:
        assert found["min"] is None and found["mean"] is None and found["min_row"] is None
        return
    assert found["min"] == there.min() and found["max"] == there.max()
    assert found["min_row"] == int(np.nanargmin(values)) and found["max_row"] == int(np.nanargmax(values))
    assert found["zeros"] == int((there == 0).sum())
    assert found["sum"] == pytest.approx(math.fsum(there), rel=1e-13, abs=1e-300)
    assert found["mean"] == pytest.approx(math.fsum(there) / len(there), rel=1e-13, abs=1e-300)
    assert found["distinct"] == len(np.unique(there))
    assert sum(found["histogram"]["counts"]) == len(there)
    if len(there) > 1:
        assert found["variance"] == pytest.approx(there.var(ddof=1), rel=1e-11)
        assert found["deviation"] == pytest.approx(there.std(ddof=1), rel=1e-11)
    if there.min() < there.max():
        distances = there - there.mean()
        skewness = (distances**3).mean() / (distances**2).mean() ** 1.5
        assert found["skewness"] == pytest.approx(skewness, rel=1e-9, abs=1e-9)
        # The rule is NumPy's, apart from the last bin's end, and from values that rounding puts next to an edge.
        wanted, _ = np.histogram(there, bins=8)
        assert np.abs(np.cumsum(wanted) - np.cumsum(found["histogram"]["counts"])).max() <= len(there) / 50


@pytest.mark.skipif(not MIXED, reason="the shared tables are not here")
@pytest.mark.parametrize("path", MIXED, ids=lambda p: p.name)
def test_real_tables(path, tmp_path):
    """Returns every column of every table, read back as CSV by Python's own reader."""
    header = ["--header", "no"] if path.name.startswith("adult") else []
    done = run("stats", path, "--json", *header)
    run("convert", path, "-o", tmp_path / "table.csv", *header)
    with open(tmp_path / "table.csv", newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    found = done.json()["columns"]
    assert [c["name"] for c in found] == head and done.json()["rows"] == len(rows)
    for i, column in enumerate(found):
        cells = [row[i] for row in rows]
        if column["nominal"]:
            assert dict(zip(column["values"], column["counts"])) == {
                value: sum(cell == value for cell in cells) for value in column["values"]}
            assert column["missing"] == sum(cell in ("", "?") for cell in cells)
            assert column["distinct"] == len({cell for cell in cells if cell not in ("", "?")})
        else:
            check_numeric(column, numbers_of(cells), len(rows))
    text = run("stats", path, "--all", *header).text
    assert all(name[:20] in text for name in head)


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("x,y,code,class\n1,-0.0,7,a\n2,,7,b\n4,0.0,8,a\n,5,9,\n1e300,inf,8,b\n")
    return path


def test_classes(small, tmp_path):
    done = run("stats", small, "--by", "class", "--json")
    assert "1 of 5 rows have no value of 'class'" in done.err
    a, b = done.json()["classes"]
    assert (a["value"], a["rows"], b["value"], b["rows"]) == ("a", 2, "b", 2)
    assert a["columns"][0]["mean"] == 2.5 and a["columns"][0]["max_row"] == 1
    assert b["columns"][1]["missing"] == 1 and b["columns"][1]["count"] == 1
    # A column of numbers can be the classes, by name or by number; the classes are in the file's order.
    for by in ("code", "3"):
        found = run("stats", small, "--by", by, "--json").json()
        assert [c["value"] for c in found["classes"]] == ["7", "8", "9"]
        assert found["options"]["by"] == "code"
    # The statistics of a class are those of a table of its rows.
    (tmp_path / "a.csv").write_text("x,y,code,class\n1,-0.0,7,a\n4,0.0,8,a\n")
    alone = run("stats", tmp_path / "a.csv", "--json").json()["columns"]
    for mine, theirs in zip(a["columns"][:3], alone[:3]):
        assert mine | {"type": ""} == theirs | {"type": ""}


def test_odd_values(small):
    found = columns_of(run("stats", small, "--json"))
    assert found["y"]["max"] is None or math.isinf(found["y"]["max"])  # JSON has no infinity
    assert found["y"]["variance"] is None and found["y"]["zeros"] == 2
    assert found["y"]["min_row"] == 0 and found["y"]["max_row"] == 4
    assert found["x"]["deviation"] == pytest.approx(5e299, rel=1e-12)
    assert found["x"]["mean"] == 2.5e299


def test_csv(small):
    rows = list(csv.DictReader(io.StringIO(run("stats", small, "-o", "-").text)))
    assert [r["column"] for r in rows] == ["x", "y", "code", "class"]
    x, y, _, nominal = rows
    assert (x["count"], x["missing"], x["min"], x["min_row"], x["distinct"]) == ("4", "1", "1.0", "0", "4")
    assert y["max"] == "Infinity" and y["min"] == "-0.0" and y["variance"] == ""
    assert nominal["mean"] == "" and nominal["zeros"] == "" and nominal["distinct"] == "2"
    by = list(csv.DictReader(io.StringIO(run("stats", small, "--by", "class", "-o", "-", "-q").text)))
    assert [r["class"] for r in by] == ["a"] * 4 + ["b"] * 4


def test_one_pass_leaves_out_the_second(small):
    found = columns_of(run("stats", small, "--one-pass", "--json"))
    assert "histogram" not in found["x"] and "distinct" not in found["x"]
    assert found["class"]["distinct"] == 2 and found["x"]["mean"] == 2.5e299


def test_empty_and_missing_columns(tmp_path):
    path = tmp_path / "none.csv"
    path.write_text("x,y\n")
    assert "0 rows" in run("stats", path).text
    path.write_text("x,y\n1,\n2,\n")
    y = columns_of(run("stats", path, "--numeric", "y", "--json"))["y"]
    assert (y["count"], y["missing"], y["min"], y["mean"], y["sum"], y["distinct"]) == (0, 2, None, None, 0.0, 0)


def test_what_is_refused(small):
    assert "did you mean 'class'" in run("stats", small, "--by", "clas", code=3).err
    assert "no column" in run("stats", small, "--by", "99", code=3).err
    run("stats", small, "--by", "class", "-o", "/nonexistent/out.csv", code=3)
    assert "small.csv" in json.dumps(run("stats", small, "--json").json()["inputs"])


def test_every_back_end_and_thread_count_prints_the_same(tmp_path):
    random = np.random.default_rng(3)
    np.save(tmp_path / "t.npy", random.normal(size=(30000, 7)).astype(np.float32))
    want = run("stats", tmp_path / "t.npy", "-o", "-").out
    for backend in backends():
        for jobs in (1, 3):
            done = run("stats", tmp_path / "t.npy", "-o", "-", "-j", jobs, env={"STOPE_BACKEND": backend})
            assert done.out == want, (backend, jobs)


def test_more_columns_than_are_looked_at_at_once(tmp_path):
    """Short columns share memory, statistics go through 65,536 of them at a time, JSON is printed column by column."""
    x = np.random.default_rng(5).integers(0, 5, size=(4, 70_000)).astype(float)
    x[1, 66_000] = math.nan
    path = tmp_path / "wide.csv"
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(f"g{i}" for i in range(x.shape[1])) + "\n")
        file.writelines(",".join("" if math.isnan(v) else str(int(v)) for v in row) + "\n" for row in x)
    rows = list(csv.DictReader(io.StringIO(run("stats", path, "-o", "-").text)))
    assert [r["column"] for r in rows] == [f"g{i}" for i in range(70_000)]
    assert [float(r["sum"]) for r in rows] == list(np.nansum(x, axis=0))
    assert [int(r["distinct"]) for r in rows] == [len(np.unique(c[~np.isnan(c)])) for c in x.T]
    found = run("stats", path, "--json", "--ignore", "g1").json()
    assert [c["sum"] for c in found["columns"]] == list(np.nansum(x, axis=0))
    assert found["columns"][66_000]["missing"] == 1 and found["timings"]["total"] > 0


def test_rows_hold_dates_as_dates_and_whole_numbers_whole(tmp_path):
    (tmp_path / "t.csv").write_text("d,i,r\n2024-01-01,123456789012,1.5\n2024-02-01,5,2\n")
    rows = records(run("stats", tmp_path / "t.csv", "--output-format", "csv").text)
    assert [(row["min"], row["max"]) for row in rows] == [("2024-01-01", "2024-02-01"), ("5", "123456789012"), ("1.5", "2.0")]
    assert rows[0]["mean"] == "2024-01-16T12:00:00" and rows[1]["sum"] == "123456789017"


def test_quantiles_are_numpys(tmp_path):
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=5001), rng.integers(0, 9, 5001)
    lines = [f"{'' if i % 7 == 0 else repr(float(a))},{b},{'uv'[b % 2]}" for i, (a, b) in enumerate(zip(x, z))]
    (tmp_path / "t.csv").write_text("x,z,c\n" + "\n".join(lines) + "\n")
    shares = [0.05, 0.5, 0.95]
    words = ["--quantiles", "0.05,0.5,0.95"]
    present = np.arange(5001) % 7 != 0
    found = columns_of(run("stats", tmp_path / "t.csv", *words, "--json"))
    assert list(found["x"]["quantiles"].values()) == np.quantile(x[present], shares).tolist()
    assert found["z"]["quantiles"] == dict(zip(["0.05", "0.5", "0.95"], np.quantile(z, shares).tolist()))
    assert "quantiles" not in found["c"]
    rows = list(csv.DictReader(io.StringIO(run("stats", tmp_path / "t.csv", *words, "-o", "-").text)))
    assert [float(rows[0][f"q{q}"]) for q in shares] == np.quantile(x[present], shares).tolist()
    assert rows[2]["q0.5"] == ""
    by = run("stats", tmp_path / "t.csv", *words, "--by", "c", "--json").json()["classes"]
    assert by[0]["columns"][0]["quantiles"]["0.5"] == np.median(x[present & (z % 2 == (by[0]["value"] == "v"))])
    text = run("stats", tmp_path / "t.csv").text
    assert "25 %" in text and "median" in text and "75 %" in text
    assert "median" not in run("stats", tmp_path / "t.csv", "--one-pass").text
    few = run("stats", tmp_path / "t.csv", *words, "-j", 1, "--memory-limit", "30MB", "--json")
    assert columns_of(few)["x"]["quantiles"] == found["x"]["quantiles"]


@pytest.mark.parametrize("word, says", [("1.5", "not between 0 and 1"), ("50", "50 % is 0.5"), ("nan", "--quantiles"),
                                        ("half", "--quantiles"), ("-0.1", "not between 0 and 1"), ("0.5,,1", "--quantiles")])
def test_quantiles_that_are_refused(small, word, says):
    assert says in run("stats", small, f"--quantiles={word}", code=2).err
    assert "--one-pass" in run("stats", small, "--quantiles", "0.5", "--one-pass", code=2).err


@pytest.fixture
def pairs(tmp_path):
    rng = np.random.default_rng(4)
    common = rng.normal(size=300)
    columns = {"a": common + rng.normal(size=300), "b": -common, "c": rng.normal(size=300), "price": 3 * common + rng.normal(size=300)}
    columns["c"][::5] = np.nan
    lines = [",".join("" if np.isnan(v) else repr(float(v)) for v in row) + ",w" for row in zip(*columns.values())]
    path = tmp_path / "pairs.csv"
    path.write_text(",".join(columns) + ",word\n" + "\n".join(lines) + "\n")
    return path, columns


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_correlations_are_those_of_pandas(pairs, tmp_path, method):
    pd = pytest.importorskip("pandas")
    path, columns = pairs
    expected = pd.DataFrame(columns).corr(method=method)
    run("stats", path, "--target", "price", "--correlation", tmp_path / "r.csv", "--method", method, "-q", "-o", tmp_path / "s.csv")
    rows = list(csv.DictReader(open(tmp_path / "r.csv")))
    assert [(r["column"], r["other"]) for r in rows] == [
        ("price", "a"), ("price", "b"), ("price", "c"), ("a", "b"), ("a", "c"), ("b", "c")]
    for row in rows:
        assert float(row["correlation"]) == pytest.approx(expected.loc[row["column"], row["other"]], abs=1e-13)
        assert row["rows"] == ("240" if "c" in (row["column"], row["other"]) else "300")
    found = run("stats", path, "--correlation", "-", "--method", method, "--json").json()["correlation"]
    assert found["names"] == list(columns) and found["method"] == method and found["target"] is None
    np.testing.assert_allclose(np.array(found["values"], float), expected, atol=1e-13)
    assert found["rows"][2] == [240] * 4


def test_people_see_the_target_first(pairs):
    path, _ = pairs
    text = run("stats", path, "--target", "price", "--correlation", "-").text
    lines = [line.split() for line in text.splitlines() if line.strip()]
    assert lines[0][-3:] == ["4", "numeric", "columns"] and lines[1] == ["with", "'price'"]
    assert [line[0] for line in lines[2:5]] == ["b", "a", "c"] and lines[4][2:] == ["240", "rows"]
    assert "the strongest among the others" in text and "mean" not in text


def test_correlations_that_do_not_exist(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,one,inf,none\n1,5,1,\n2,5,inf,\n4,5,2,\n")
    people = run("stats", path, "--numeric", "none,inf", "--correlation", "/dev/stdout", "-o", tmp_path / "s.csv").text
    assert "4 numeric columns" in people and "0 rows" in people
    run("stats", path, "--numeric", "none,inf", "--correlation", tmp_path / "r.jsonl", "-o", tmp_path / "s.csv")
    found = [json.loads(line) for line in open(tmp_path / "r.jsonl")]
    assert all(row["correlation"] is None for row in found) and len(found) == 6
    assert {row["rows"] for row in found} == {0, 3}
    path.write_text("x,y\n1,2\n")
    assert "-" in run("stats", path, "--correlation", "-").text


def test_correlations_that_are_refused(small, tmp_path):
    (tmp_path / "words.csv").write_text("a,b\nx,y\nz,w\n")
    assert "no numeric columns" in run("stats", tmp_path / "words.csv", "--correlation", "-", code=3).err
    assert not (tmp_path / "r.csv").exists()
    assert "--method" in run("stats", small, "--method", "spearman", code=2).err
    assert "kendall" in run("stats", small, "--correlation", "-", "--method", "kendall", code=2).err
    assert "stdout" in run("stats", small, "--correlation", "-", "-o", "-", code=2).err
    assert ".svg" in run("stats", small, "--correlation", tmp_path / "r.svg", code=2).err
    assert "two outputs" in run("stats", small, "--correlation", tmp_path / "r.csv", "-o", tmp_path / "r.csv", code=2).err


def test_statistics_of_very_many_columns_are_those_of_each_part(tmp_path):
    """From 65,537 columns on, they are packed as they are found."""
    cells = [["a", "", "1.5", "7", "-0.0", "x"], ["b", "", "2", "7", "0", "x"], ["a", "", "", "7", "3e300", ""]]

    def written(begin, end):
        path = tmp_path / f"{begin}_{end}.csv"
        lines = [[f"c{i}" for i in range(begin, end)], *([row[i % 6] for i in range(begin, end)] for row in cells)]
        path.write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
        return path

    whole, *parts = [written(*ends) for ends in ((0, 70_000), (0, 40_002), (40_002, 70_000))]
    for options in ([], ["--one-pass"], ["--quantiles", "0.1,0.9"]):
        lines, *of_parts = [run("stats", path, "-o", "-", *options).text.splitlines() for path in (whole, *parts)]
        assert lines == of_parts[0] + of_parts[1][1:] and len(lines) == 70_001
    found, *of_parts = [run("stats", path, "--json").json() for path in (whole, *parts)]
    assert found["columns"] == of_parts[0]["columns"] + of_parts[1]["columns"]
    assert found["plan"]["bytes"] == of_parts[0]["plan"]["bytes"] + of_parts[1]["plan"]["bytes"]
