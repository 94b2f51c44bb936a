"""stope discretize: reference results, rankings with p-values, sets of cuts, coded tables, refusals."""

import csv
import gzip
import json
import math

import numpy as np
import pytest

from program import backends, records, rows, run, write_matrix

WIDE = ["alon", "golub", "khan", "chowdary", "singh", "TOX-171", "arcene"]
SMALL = ["iris", "wine", "diabetes", "heart.statlog", "sonar"]


def read_golden(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def cut_sets(path, names):
    """Turns attr,cut records into {name: ascending cuts}."""
    sets = {}
    for r in read_golden(path):
        sets.setdefault(names[int(r["attr"])], []).append(float(r["cut"]))
    return {name: sorted(cuts) for name, cuts in sets.items()}


def found_cuts(path, method, tmp_path, *more):
    run("discretize", path, "--target", "decision", "--method", method, "--cuts-out", tmp_path / "cuts.json", *more)
    return json.loads((tmp_path / "cuts.json").read_text())


# --- reference results ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WIDE)
def test_best_cuts_are_the_reference_results(shared, tmp_path, name):
    """Score and cut of every attribute: 1.0 of them. RoughSets' compiled code agrees on its halved scores."""
    run("discretize", shared / "data" / "wide" / f"{name}.csv.gz", "--target", "decision", "--method", "best-cut",
        "--order", "column", "-o", tmp_path / "ranking.csv")
    found = read_golden(tmp_path / "ranking.csv")
    golden = read_golden(shared / "goldens" / "discretise" / f"{name}.bestcuts.csv.gz")
    independent = read_golden(shared / "goldens" / "discretise" / f"{name}.RoughSets_bestcuts.csv.gz")
    assert len(found) == len(golden) == len(independent)
    for ours, theirs, other in zip(found, golden, independent):
        assert (ours["attr"], ours["name"], ours["score"]) == (theirs["attr"], theirs["name"], theirs["score"])
        assert (ours["cut"] == "") == (theirs["cut"] == "")
        if ours["cut"]:
            assert float(ours["cut"]) == float(theirs["cut"])
            assert float(ours["cut"]) == float(other["cut_full"]) and ours["score"] == other["score_full"]


@pytest.mark.parametrize("name", WIDE + SMALL)
def test_mdlp_is_wekas(shared, tmp_path, name):
    goldens = shared / "goldens" / "discretise"
    if name in WIDE:
        table, weka = shared / "data" / "wide" / f"{name}.csv.gz", goldens / f"{name}.weka3.6.14_MDL.csv.gz"
    else:
        table, weka = goldens / "small" / f"{name}.csv", goldens / "small" / f"{name}.weka3.6.14_MDL.csv"
    opener = gzip.open if table.suffix == ".gz" else open
    with opener(table, "rt", newline="") as file:
        names = next(csv.reader(file))
    assert found_cuts(table, "mdlp", tmp_path) == cut_sets(weka, names)


@pytest.mark.parametrize("name", SMALL)
def test_md_global_is_the_reference(shared, tmp_path, name):
    """Rseslib finds these cuts but for diabetes: after a neighbour cut was removed it takes a wrong midpoint (2.0)."""
    small = shared / "goldens" / "discretise" / "small"
    names = rows((small / f"{name}.csv").read_text())[0]
    found = found_cuts(small / f"{name}.csv", "md-global", tmp_path)
    assert found == cut_sets(small / f"{name}.md_global.csv", names)
    rseslib = cut_sets(small / f"{name}.Rseslib_global.csv", names)
    different = {key for key in found if found[key] != rseslib.get(key)}
    assert different == ({names[0]} if name == "diabetes" else set())
    if different:
        assert found[names[0]] == [1.5, 2.5, 6.5] and rseslib[names[0]] == [2.0, 2.5, 6.5]


# --- the ranking ----------------------------------------------------------------------------------------------------

MIXED = "n,c,y\n1,red,a\n2,blue,a\n3,red,b\n4,green,b\n,red,b\n"


@pytest.fixture
def mixed(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED)
    return path


def test_ranking_of_a_mixed_table(mixed):
    """A missing 'n' sorts first. | 1 2 | 3 4 separates a a from b b, 4 pairs, and nothing from the missing b."""
    done = run("discretize", mixed, "--target", "y", "--method", "best-cut", "--missing-policy", "value")
    assert done.text == "attr,name,score,cut\n0,n,4,2.5\n1,c,3,blue\n"
    by_column = run("discretize", mixed, "--target", "y", "--method", "best-cut", "--missing-policy", "value", "--order", "column",
                    "--criterion", "gini")
    assert [r["name"] for r in records(by_column.text)] == ["n", "c"]


def test_missing_policies(mixed, tmp_path):
    drop = run("discretize", mixed, "--target", "y", "--method", "best-cut", "--missing-policy", "drop", "--json", "-o",
               tmp_path / "out.csv")
    assert drop.json()["rows"] == 4 and drop.json()["classes"] == ["a", "b"]
    fill = run("discretize", mixed, "--target", "y", "--method", "best-cut", "--missing-policy", "fill")
    assert records(fill.text)[0]["cut"] == "2.25"  # between 2 and the mean, 2.5
    spelled = run("discretize", mixed, "--target", "y", "--method", "best-cut", "--missing-policy", "drop", "--missing-values",
                  ",red", "--json", "-o", tmp_path / "out.csv")
    assert spelled.json()["rows"] == 2


def test_no_cut_is_empty(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n1,b\n")
    assert run("discretize", tmp_path / "t.csv", "--target", "y", "--method", "best-cut").text == (
        "attr,name,score,cut\n0,x,0,\n")


def test_p_and_q_values(tmp_path):
    """Compares p-values with NumPy's own count of permutations; one seed gives one sequence of bytes on every back
    end."""
    generator = np.random.default_rng(5)
    x = generator.normal(size=(40, 30))
    y = (np.arange(40) % 3 == 0).astype(int)
    x[:, 4] += 3 * y
    write_matrix(tmp_path / "t.csv", x, y=[("a", "b")[k] for k in y])
    words = ["discretize", tmp_path / "t.csv", "--target", "y", "--method", "best-cut", "--order", "column",
             "--permutations", 300, "--seed", 7]
    done = run(*words)
    found = records(done.text)
    assert list(found[0]) == ["attr", "name", "score", "cut", "p_value", "q_value"]
    for backend in backends():
        if backend != "cuda":
            assert run(*words, env={"STOPE_BACKEND": backend}).text == done.text
    assert run(*words[:-1], 8).text != done.text
    p = np.array([float(r["p_value"]) for r in found])
    q = np.array([float(r["q_value"]) for r in found])
    assert p[4] == pytest.approx(1 / 301) and p.min() >= 1 / 301 and p.max() <= 1
    order = np.argsort(p, kind="stable")
    wanted = np.minimum.accumulate((p[order] * 30 / np.arange(1, 31))[::-1])[::-1].clip(max=1)
    assert q[order] == pytest.approx(wanted)

    def best(column, labels):
        o = np.argsort(column)
        ones = np.cumsum(labels[o])[:-1]
        left = np.arange(1, 40)
        return ((left - ones) * (labels.sum() - ones) + ones * ((40 - labels.sum()) - (left - ones))).max()

    for j in (0, 4, 9):
        observed = best(x[:, j], y)
        assert observed == int(found[j]["score"])
        share = np.mean([best(x[:, j], generator.permutation(y)) >= observed for _ in range(2000)])
        assert p[j] == pytest.approx(share, abs=0.12)


# --- cuts and coded tables ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["md-global", "mdlp", "chimerge", "equal-width", "equal-frequency"])
def test_cuts_are_found_applied_and_mean_what_they_say(tmp_path, method):
    generator = np.random.default_rng(3)
    x = generator.integers(0, 50, size=(200, 4)) / 7
    y = ["high" if v > 3.5 else "low" for v in x[:, 1] + x[:, 2] / 4]
    color = ["red" if v > 4 else "blue" for v in x[:, 0]]
    write_matrix(tmp_path / "t.csv", x, color=color, y=y)
    run("discretize", "t.csv", "--target", "y", "--method", method, "--cuts-out", "cuts.json", "-o", "coded.csv",
        cwd=tmp_path)
    cuts = json.loads((tmp_path / "cuts.json").read_text())
    run("discretize", "t.csv", "--target", "y", "--apply", "cuts.json", "-o", "again.csv", cwd=tmp_path)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "coded.csv").read_bytes()
    coded = records((tmp_path / "coded.csv").read_text())
    assert set(coded[0]) == set(cuts) | {"y"} and [r["y"] for r in coded] == y
    for name, values in cuts.items():
        if name == "color":
            codes = [f"s{values.index(v) + 1}" if v in values else f"s{len(values) + 1}" for v in color]
        else:
            codes = [f"s{np.searchsorted(values, v, side='right') + 1}" for v in x[:, int(name[1:])]]
        assert [r[name] for r in coded] == codes
    run("discretize", "t.csv", "--target", "y", "--apply", "cuts.json", "--labels", "-o", "labels.csv", cwd=tmp_path)
    labels = records((tmp_path / "labels.csv").read_text())
    for name in cuts:
        if name == "color":
            continue
        for record, value in zip(labels, x[:, int(name[1:])]):
            low, high = record[name].strip("[()").split(",")
            assert float(low) <= value < float(high)  # the numbers read back as the same
        assert {float(r[name].strip("[()").split(",")[1]) for r in labels} <= set(cuts[name]) | {math.inf}


def test_bins_need_no_label(tmp_path):
    (tmp_path / "t.csv").write_text("x\n0\n1\n2\n10\n")
    run("discretize", "t.csv", "--method", "equal-width", "--bins", 2, "--cuts-out", "c.json", cwd=tmp_path)
    assert json.loads((tmp_path / "c.json").read_text()) == {"x": [5.0]}
    run("discretize", "t.csv", "--method", "equal-frequency", "--bins", 2, "--cuts-out", "c.json", cwd=tmp_path)
    assert json.loads((tmp_path / "c.json").read_text()) == {"x": [1.5]}


def test_missing_and_unseen_values_have_codes(mixed, tmp_path):
    run("discretize", "mixed.csv", "--target", "y", "--method", "md-global", "--missing-policy", "value", "--cuts-out", "c.json",
        cwd=tmp_path)
    assert json.loads((tmp_path / "c.json").read_text()) == {"n": ["-inf", 2.5]}
    (tmp_path / "c.json").write_text('{"n": ["-inf", 2.5], "c": ["red", "?"]}')
    (tmp_path / "new.csv").write_text("c,n,more\nred,,1\npink,-inf,1\n,9,1\n")
    words = ["discretize", "new.csv", "--apply", "c.json", "--missing-policy", "value"]
    assert run(*words, cwd=tmp_path).text == "c,n\ns1,s1\ns3,s2\ns2,s3\n"
    assert run(*words, "--labels", cwd=tmp_path).text == (
        'c,n\n=red,missing\nother,"[-inf,2.5)"\n=?,"[2.5,+inf)"\n')
    assert run(*words[:-1], "drop", cwd=tmp_path).text == "c,n\ns3,s2\n"


def test_values_that_look_like_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("c,y\n1,a\n2,b\n3,b\n")
    run("discretize", "t.csv", "--target", "y", "--nominal", "c", "--method", "md-global", "--cuts-out", "c.json",
        cwd=tmp_path)
    assert json.loads((tmp_path / "c.json").read_text()) == {"c": ["1"]}
    assert run("discretize", "t.csv", "--target", "y", "--apply", "c.json", cwd=tmp_path).text == (
        "c,y\ns1,a\ns2,b\ns2,b\n")


def test_info_shows_files_of_cuts(tmp_path):
    (tmp_path / "c.json").write_text('{"x": ["-inf", 1.5, 2.25], "color": ["red", "?"]}')
    assert run("info", "c.json", cwd=tmp_path).text == (
        "c.json: cuts of 2 attributes\n\n"
        "name   type     cuts\n"
        "x      numeric     3  -inf, 1.5, 2.25\n"
        "color  nominal     2  red, ?\n")
    assert run("info", "c.json", "--json", cwd=tmp_path).json()["cuts"] == [
        {"name": "x", "symbolic": False, "cuts": 3}, {"name": "color", "symbolic": True, "cuts": 2}]
    (tmp_path / "t.json").write_text('{"format": "stope tree"}')
    assert "t.json: is no file of cuts: cuts of 'format'" in run("info", "t.json", code=3, cwd=tmp_path).err


def test_cuts_are_never_negative_zero(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n-inf,a\n-0.0,b\n0.0,b\n")
    for method in ["md-local", "md-global", "mdlp"]:
        run("discretize", "t.csv", "--target", "y", "--method", method, "--cuts-out", "c.json", cwd=tmp_path)
        assert "-0" not in (tmp_path / "c.json").read_text()
    assert run("discretize", "t.csv", "--target", "y", "--method", "best-cut", cwd=tmp_path).text.endswith("0,x,2,0.0\n")


# # --- refusals -------------------------------------------------------------------------------------------------------

BAD = [
    (2, ["--method", "mdl", "--cuts-out", "c.json"], "did you mean 'mdlp'"),
    (2, [], "--method"),
    (2, ["--method", "mdlp", "--apply", "cuts.json"], "only one"),
    (2, ["--apply", "cuts.json", "--cuts-out", "c.json"], "--cuts-out"),
    (2, ["--apply", "cuts.json", "--missing-policy", "fill"], "fill"),
    (2, ["--method", "best-cut", "--missing", "value"], "--missing-policy value"),
    (2, ["--method", "best-cut", "--missing-policy", "ignore"], "--missing"),
    (2, ["--method", "best-cut", "--cuts-out", "c.json"], "--cuts-out"),
    (2, ["--method", "best-cut", "--labels"], "--labels"),
    (2, ["--method", "best-cut", "--bins", "3"], "--bins"),
    (2, ["--method", "best-cut", "--permutations", "-1"], "--permutations"),
    (2, ["--method", "best-cut", "--criterion", "ginni"], "gini"),
    (2, ["--method", "mdlp", "--cuts-out", "c.json", "--order", "column"], "--order"),
    (2, ["--method", "mdlp", "--cuts-out", "c.json", "--permutations", "5"], "--permutations"),
    (2, ["--method", "equal-width", "--cuts-out", "c.json", "--bins", "0"], "bins"),
    (2, ["--method", "equal-width", "--cuts-out", "c.json", "--bins", "1e9"], "--bins"),
    (2, ["--method", "chimerge", "--cuts-out", "c.json", "--confidence", "1"], "confidence"),
    (2, ["--method", "chimerge", "--cuts-out", "c.json", "--min-intervals", "0"], "intervals"),
    (2, ["--method", "md-global", "--cuts-out", "c.json", "--max-cuts", "-2"], "cuts"),
    (3, ["--method", "best-cut", "--ignore", "nothing"], "nothing"),
    (3, ["--method", "best-cut", "--missing-values", "red"], "column 'c', row 0"),
    (3, ["--apply", "nowhere.json"], "nowhere.json"),
    (3, ["--apply", "t.csv"], "t.csv"),
    (3, ["--apply", "other.json"], "there is no column 'z'"),
    (3, ["--apply", "types.json"], "'c' is nominal ('blue' is not a number)"),
    (2, ["--method", "mdlp", "--cuts-out", "-", "-o", "-"], "only one output can go to stdout"),
    (2, ["--method", "mdlp", "--cuts-out", "-", "--json"], "only one output can go to stdout, the object of --json"),
    (2, ["--method", "mdlp", "-o", "-", "--json"], "only one output can go to stdout"),
    (2, ["--method", "mdlp", "--model-out", "-", "--json"], "only one output can go to stdout"),
    (3, ["--apply", "label.json"], "'y'"),
    (3, ["--apply", "down.json"], "do not ascend"),
    (3, ["--method", "mdlp", "--cuts-out", "no/such/folder/c.json"], "c.json"),
    (2, ["--method", "mdlp", "--cuts-out", "c.json", "-o", "c.json"], "two outputs"),
    (2, ["--method", "mdlp", "--cuts-out", "c.json", "--model-out", "c.json"], "two outputs"),
    (3, ["--apply", "huge.json"], "huge.json:1:11: no valid JSON: number overflow"),
]


@pytest.mark.bad_input
@pytest.mark.parametrize("code, words, says", BAD, ids=lambda v: " ".join(v) if isinstance(v, list) else None)
def test_refused(tmp_path, code, words, says):
    (tmp_path / "t.csv").write_text("x,c,y\n1,red,a\n2,blue,b\n3,red,a\n")
    for name, text in [("cuts", '{"x": [1.5]}'), ("other", '{"z": [1]}'), ("types", '{"c": [1.5]}'),
                       ("label", '{"y": ["a"]}'), ("down", '{"x": [2, 1]}'), ("huge", '{"x":[1e999]}')]:
        (tmp_path / f"{name}.json").write_text(text)
    before = sorted(tmp_path.iterdir())
    done = run("discretize", "t.csv", "--target", "y", *words, code=None, cwd=tmp_path)
    assert done.code == code, done.err
    assert done.out == b"" or "--json" in words
    assert len(done.error_lines()) == 1 and says in done.error_lines()[0], done.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.bad_input
@pytest.mark.parametrize("method", ["md-local", "md-global", "equal-width"])
def test_a_value_spelled_as_missing_ones_beside_them(tmp_path, method):
    (tmp_path / "t.csv").write_text("x,q,y\n1,?,a\n2,NA,b\n3,red,a\n")
    words = ["discretize", "t.csv", "--target", "y", "--method", method, "--missing-policy", "value", "--cuts-out", "c.json"]
    done = run(*words, "--missing-values", "NA", code=3, cwd=tmp_path)
    assert "column 'q'" in done.error_lines()[0] and not (tmp_path / "c.json").exists()
    run(*words, cwd=tmp_path)


@pytest.mark.bad_input
def test_refused_tables(tmp_path):
    done = run("discretize", "-", "--apply", "-", code=2, cwd=tmp_path)
    assert "standard input" in done.error_lines()[0]
    (tmp_path / "t.csv").write_text("x,y\n1,a\n,b\n3,\n")
    for words, code, says in [
        (["--method", "best-cut"], 2, "t.csv: which column is the label?"),
        (["--target", "y", "--method", "best-cut"], 3, "column 'x', row 1: a missing value"),
        (["--target", "y", "--method", "best-cut", "--missing-policy", "value"], 3, "row 2: the label is missing"),
        (["--target", "q", "--method", "best-cut"], 3, "q"),
    ]:
        done = run("discretize", "t.csv", *words, code=None, cwd=tmp_path)
        assert done.code == code and says in done.error_lines()[0], done.err
    (tmp_path / "empty.csv").write_text("x,y\n")
    done = run("discretize", "empty.csv", "--target", "y", "--method", "best-cut", code=None, cwd=tmp_path)
    assert done.code == 3, done.err
    (tmp_path / "w.csv").write_text("x,y,w\n1,a,1\n2,b,-1\n")
    done = run("discretize", "w.csv", "--target", "y", "--sample-weight", "w", "--method", "best-cut", code=None, cwd=tmp_path)
    assert done.code == 3 and "the weight is -" in done.error_lines()[0]
    done = run("discretize", "w.csv", "--target", "y", "--ignore", "w", "--method", "best-cut", "--device", "cuda",
               code=None, cwd=tmp_path)
    assert done.code == 5


def test_weights_multiply_pairs(tmp_path):
    (tmp_path / "w.csv").write_text("x,y,w\n1,a,0.5\n2,b,3\n3,a,0\n")
    done = run("discretize", "w.csv", "--target", "y", "--sample-weight", "w", "--method", "best-cut", cwd=tmp_path)
    record = records(done.text)[0]
    assert float(record["score"]) == 1.5 and record["cut"] == "1.5"


def test_cuts_go_to_stdout_where_nothing_else_is_written(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,a\n3,b\n4,b\n")
    words = ["discretize", tmp_path / "t.csv", "--target", "y", "--method", "md-global"]
    run(*words, "--cuts-out", tmp_path / "c.json")
    assert run(*words).text == (tmp_path / "c.json").read_text()
