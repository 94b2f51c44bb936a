"""stope report: the page's structure, its numbers against other sources, hostile tables, sizes, refusals."""

import json
import math
import re
import shlex
import signal
import subprocess
import time

import numpy as np
import pytest

from program import PROGRAM, SHARED, environment, records, run
from report_page import SVG, Page, number, percent

MIXED = SHARED / "data" / "mixed"
HOSTILE = ["</script><img src=x onerror=alert(1)>", "\"><svg onload=alert(2)>", "'&amp;<b>", "שלום עולם", "نص \u202eعكس", "👩‍👩‍👧 族", "two\nlines",
           "bell\x07\x1b[31m", "]]><!--", "x" * 500, "\uffff end", "tab\there"]


def csv_text(header, rows):
    def field(value):
        return '"' + str(value).replace('"', '""') + '"'
    return "\n".join(",".join(field(v) for v in line) for line in [header, *rows]) + "\n"


def write(path, header, rows):
    path.write_text(csv_text(header, rows), encoding="utf-8", newline="")
    return path


def flowers(path, n=150, seed=1):
    """Three classes apart in two numbers, one nominal column, one without meaning, some gaps."""
    draw = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        c = i % 3
        size = draw.normal(c * 2.0, 1.0)
        rows.append([f"{size:.3f}", f"{draw.normal(-c, 1.2):.3f}", "red" if draw.random() < 0.2 + 0.3 * c else "blue",
                     "" if draw.random() < 0.1 else f"{draw.normal():.3f}", ["small", "middle", "large"][c]])
    return write(path, ["size", "weight", "color", "noise", "kind"], rows)


def houses(path, n=200, seed=2):
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        area, rooms = draw.uniform(40, 200), draw.integers(1, 8)
        rows.append([f"{area:.2f}", rooms, "north" if draw.random() < 0.5 else "south",
                     f"{1000 * area + 5000 * rooms + draw.normal(0, 8000):.1f}"])
    return write(path, ["area", "rooms", "side", "price"], rows)


def page_of(table, *options, **how):
    return Page(run("report", table, *options, "-o", "-", "-q", **how).out)


@pytest.fixture(scope="module")
def flower_table(tmp_path_factory):
    return flowers(tmp_path_factory.mktemp("report") / "flowers.csv")


@pytest.fixture(scope="module")
def flower_page(flower_table):
    return page_of(flower_table, "--target", "kind")


@pytest.fixture(scope="module")
def house_table(tmp_path_factory):
    return houses(tmp_path_factory.mktemp("report") / "houses.csv")


@pytest.fixture(scope="module")
def house_page(house_table):
    return page_of(house_table, "--target", "price")


def check_structure(page):
    """What every page keeps to, whatever it is about."""
    assert page.reader.counts.get("h1") == 1 and page.reader.counts.get("main") == 1
    assert page.root.get("lang") == "en"
    for tag in ("script", "link", "img", "iframe", "object", "embed", "base", "form", "input", "image", "use"):
        assert tag not in page.reader.counts, tag
    assert [(tag, name) for tag, name, _ in page.reader.attributes if name.startswith("on")] == []
    for tag, name, value in page.reader.attributes:
        if name in ("href", "src", "xlink:href", "action"):
            assert value.startswith("#"), (tag, name, value)
        if name == "style":
            raise AssertionError("an element has a style of its own")
    policy = [m.get("content") for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert len(policy) == 1 and "default-src 'none'" in policy[0] and "script" not in policy[0]
    style = "".join(page.root.find("head/style").itertext())
    assert "@import" not in style and set(re.findall(r"url\(([^)]*)\)", style)) <= {f"#t{i}" for i in range(1, 7)}
    assert not re.findall(r"https?://", page.text.replace("http://www.w3.org/2000/svg", ""))
    ids = [e.get("id") for e in page.root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    links = [a.get("href")[1:] for a in page.all("a")]
    assert links[0] == "content" and set(links) <= set(ids)
    for section in page.all("section"):
        assert section.get("aria-labelledby") in ids
    for figure in page.all("figure"):
        (picture,) = list(figure.iter(SVG + "svg"))
        assert picture.get("role") == "img"
        title, description = picture.find(SVG + "title"), picture.find(SVG + "desc")
        assert "".join(title.itertext()).strip() and "".join(description.itertext()).strip()
        assert picture.get("aria-labelledby").split() == [title.get("id"), description.get("id")]
        assert figure.find("details/div/table") is not None, title.text
        for value in re.findall(r'(?:nan|inf)\b', " ".join(str(e.get("d", "")) + str(e.get("x", "")) for e in picture.iter())):
            raise AssertionError(value)
    for table in page.all("table"):
        assert table.find("caption") is not None
        assert all(head.get("scope") in ("col", "row") for head in table.iter("th"))
        assert len({len(list(row)) for row in table.iter("tr")}) == 1
    levels = [int(e.tag[1]) for e in page.root.iter() if e.tag in ("h1", "h2", "h3")]
    assert levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:]))
    assert len(page.bytes) < 5_000_000


def test_a_page_of_classes_has_every_part(flower_page):
    check_structure(flower_page)
    assert flower_page.sections() == ["summary", "table", "best-cuts", "columns", "neighbours", "tree", "pca", "making"]
    words = flower_page.words("summary")
    assert "150" in words and "“kind” has 3 classes" in words and "Values are missing in “noise” alone" in words
    assert "could not be computed" not in flower_page.words()


def test_a_page_of_a_numeric_label_has_correlations_and_least_squares(house_page):
    check_structure(house_page)
    assert house_page.sections() == ["summary", "table", "correlation", "columns", "neighbours", "least-squares", "pca", "making"]
    assert "“area” has the strongest correlation with “price”" in house_page.words("correlation")


def test_a_page_without_a_label_shows_the_columns(flower_table):
    page = page_of(flower_table)
    check_structure(page)
    assert page.sections() == ["summary", "table", "columns", "pca", "making"]
    assert "No column is the label" in page.words("summary")


def test_the_same_table_gives_the_same_bytes(flower_table, flower_page, tmp_path):
    again = tmp_path / "again.html"
    run("report", flower_table, "--target", "kind", "-j", "1", "-o", again, "-q")
    assert again.read_bytes() == flower_page.bytes
    timed = page_of(flower_table, "--target", "kind", "--timings")
    assert timed.table("Seconds")[0] == ["part", "seconds"]
    assert "Seconds that each part took" not in flower_page.text


def test_accuracies_are_those_of_stope_evaluate(flower_table, flower_page):
    rows = flower_page.table("Scores for each k")[1:]
    ks = ",".join(row[0] for row in rows)
    scores = run("evaluate", flower_table, "--target", "kind", "--loo", "--normalize", "z", "-k", ks, "--json", "-q").json()
    for row, expected in zip(rows, scores["of_k"], strict=True):
        assert int(row[0]) == expected["k"]
        assert percent(row[1]) == pytest.approx(expected["scores"]["accuracy"], abs=6e-4)
        assert number(row[4]) == pytest.approx(expected["scores"]["kappa"], abs=6e-5)
    assert f"k = {scores['best_k']}" in flower_page.words("summary")


def wilson(hits, n):
    """The shares p for which (hits/n - p)^2 = z^2 p (1-p) / n: the roots of a quadratic, found without the closed form."""
    share, z = hits / n, 1.959963984540054
    return sorted(np.roots([1 + z * z / n, -(2 * share + z * z / n), share * share]).real)


def test_intervals_are_wilsons(flower_page):
    for row in flower_page.table("Scores for each k")[1:]:
        low, high = wilson(round(percent(row[1]) * 150), 150)
        assert percent(row[2]) == pytest.approx(low, abs=6e-4)
        assert percent(row[3]) == pytest.approx(high, abs=6e-4)


def test_the_confusion_matrix_adds_up_to_the_accuracy(flower_page):
    head, *rows = flower_page.table("Rows of each true class")
    assert head[1:] == [row[0] for row in rows] == ["large", "middle", "small"]
    cells = np.array([[int(cell) for cell in row[1:]] for row in rows])
    assert cells.sum() == 150 and (cells.sum(axis=1) == 50).all()
    accuracies = [percent(row[1]) for row in flower_page.table("Scores for each k")[1:]]
    assert np.trace(cells) / 150 == pytest.approx(max(accuracies), abs=6e-4)


def test_histograms_count_the_rows_of_each_class(flower_table, flower_page):
    data = records(flower_table.read_text())
    head, *rows = [["".join(c.itertext()) for c in row] for row in flower_page.card("size").iter("tr")]
    values = {kind: np.array([float(r["size"]) for r in data if r["kind"] == kind]) for kind in head[2:]}
    everything = np.concatenate(list(values.values()))
    for at, kind in enumerate(head[2:], 2):
        expected, _ = np.histogram(values[kind], bins=16, range=(everything.min(), everything.max()))
        assert [int(row[at]) for row in rows] == expected.tolist()
    head, *rows = [["".join(c.itertext()) for c in row] for row in flower_page.card("color").iter("tr")]
    for row in rows:
        for at, kind in enumerate(head[1:], 1):
            assert int(row[at]) == sum(r["kind"] == kind and r["color"] == row[0] for r in data)


def test_cuts_are_those_of_stope_discretize(flower_table, flower_page):
    rows = flower_page.table("Columns by their best cut")[1:]
    ranking = records(run("discretize", flower_table, "--target", "kind", "--method", "best-cut", "--criterion", "entropy",
                          "--missing-policy", "value", "--permutations", "999", "-q").text)
    uncertainty = math.log2(3)  # of three classes with 50 rows each
    for row, expected in zip(rows, ranking, strict=True):
        assert row[0] == expected["name"]
        assert percent(row[2]) == pytest.approx(float(expected["score"]) / uncertainty, abs=6e-4)
        if not row[3].startswith("≤"):
            assert float(row[3]) == pytest.approx(float(expected["p_value"]), rel=0.06)
    assert number(rows[0][1].removeprefix("≥ ")) == pytest.approx(float(ranking[0]["cut"]), rel=1e-3)


def test_correlations_are_pearsons(house_table, house_page):
    data = records(house_table.read_text())
    price = np.array([float(r["price"]) for r in data])
    rows = {row[0]: number(row[1]) for row in house_page.table("Correlation of each")[1:]}
    assert set(rows) == {"area", "rooms"}
    for name, found in rows.items():
        assert found == pytest.approx(np.corrcoef([float(r[name]) for r in data], price)[0, 1], abs=6e-4)


def test_correlations_of_huge_and_tiny_numbers_are_those_of_stats(tmp_path):
    draw = np.random.default_rng(5)
    a = draw.normal(size=80)
    columns = {"a": a, "huge": a * 1e300, "tiny": (a + draw.normal(size=80)) * 1e-300, "far": 1e6 + a * 1e-3,
               "endless": np.where(a > 1, np.inf, a), "one": np.full(80, 7.0), "y": (a + draw.normal(size=80) / 9) * 1e300}
    columns |= {f"r{i}": draw.normal(size=80) for i in range(30)}

    def page_with(more):
        data = columns | more
        return write(tmp_path / "t.csv", list(data), [[repr(float(v)) for v in row] for row in zip(*data.values())])

    burst = page_of(page_with({"burst": 1e308 * (1.5 + a / 9)}), "--target", "y").table("Correlation of each")
    table = page_with({})
    page = page_of(table, "--target", "y")
    assert page.table("Correlation of each") == burst  # a column whose sum overflows takes no other one with it
    run("stats", table, "--target", "y", "--correlation", "c.csv", "-q", "-o", "s.csv", cwd=tmp_path)
    wanted = {row["other"]: float(row["correlation"]) for row in records((tmp_path / "c.csv").read_text())
              if row["column"] == "y" and row["correlation"]}
    found = {row[0]: number(row[1]) for row in page.table("Correlation of each")[1:]}
    assert set(found) == set(wanted) >= {"a", "huge", "tiny", "far"} and len(found) == 34 and wanted["a"] > 0.9
    assert found == pytest.approx(wanted, abs=6e-4)


def test_parts_that_do_not_apply_are_not_excused_where_no_column_is_left(tmp_path):
    classes = write(tmp_path / "c.csv", ["a", "y"], [[1, "uuv"[i % 3]] for i in range(9)])
    assert page_of(classes, "--target", "y").sections() == ["summary", "table", "best-cuts", "columns", "neighbours", "tree",
                                                            "pca", "making"]
    numbers = write(tmp_path / "n.csv", ["a", "y"], [[1, i * i] for i in range(9)])
    assert page_of(numbers, "--target", "y").sections() == ["summary", "table", "correlation", "columns", "neighbours",
                                                            "least-squares", "pca", "making"]


def test_a_label_with_an_infinite_value_makes_no_sentence_about_errors(tmp_path):
    table = write(tmp_path / "t.csv", ["a", "y"], [[i * 7 % 11, "inf" if i == 4 else i] for i in range(30)])
    page = page_of(table, "--target", "y")
    assert "infinite values, so that no k has an error" in page.words("neighbours")
    assert "∞, no less than" not in page.words("summary")


def test_effects_are_coefficients_times_deviations(house_table, house_page):
    fit = records(run("lsq", house_table, "--target", "price", "--numeric-only", "--standard-errors", "-q").text)
    rows = {row[0]: row for row in house_page.table("Coefficients")[1:]}
    data = records(house_table.read_text())
    for name in ("area", "rooms"):
        expected = next(r for r in fit if name in r.values())
        coefficient = next(float(v) for key, v in expected.items() if key.startswith("coef"))
        deviation = np.std([float(r[name]) for r in data], ddof=1)
        assert number(rows[name][1]) == pytest.approx(coefficient, rel=1e-3)
        assert number(rows[name][2]) == pytest.approx(coefficient * deviation, rel=1e-3)


def test_the_commands_on_a_page_repeat_its_parts(flower_table, flower_page):
    commands = {shlex.split(line)[1]: shlex.split(line) for line in flower_page.commands()}
    assert set(commands) == {"report", "evaluate", "discretize", "tree", "pca"}
    for name, words in commands.items():
        assert words[0] == "stope"
        if name != "report":
            assert run(*words[1:], "-q").out or name == "tree"
    again = run(*commands["report"][1:-1], "-", "-q")
    assert again.out == flower_page.bytes


@pytest.mark.bad_input
def test_names_and_values_are_never_markup(tmp_path):
    draw = np.random.default_rng(3)
    header = [*HOSTILE, "target </title>"]
    rows = [[HOSTILE[(i + j) % len(HOSTILE)] if j % 2 else f"{draw.normal():.2f}" for j in range(len(HOSTILE))] + [HOSTILE[i % 3]]
            for i in range(60)]
    table = write(tmp_path / "<b onclick=x>.csv", header, rows)
    page = page_of(table, "--target", "target </title>", "--permutations", "19")
    check_structure(page)
    assert "b" not in page.reader.counts and "alert(1)" in page.text
    for control in ("\x07", "\x1b", "\u202e", "\uffff"):
        assert control not in page.text
    assert "שלום עולם" in page.text and "👩‍👩‍👧 族" in page.text
    isolated = {"".join(e.itertext()) for e in page.all("bdi")}
    assert "שלום עולם" in isolated


@pytest.mark.bad_input
@pytest.mark.parametrize("what,text,target,expected", [
    ("one row", "a,b,y\n1,x,p\n", "y", "1 row"),
    ("two rows", "a,b,y\n1,x,p\n2,z,q\n", "y", "2 rows"),
    ("one class", "a,y\n" + "".join(f"{i * i % 7},p\n" for i in range(40)), "y", "1 class"),
    ("all missing", "a,b,y\n" + ",,p\n,,q\n" * 20, "y", "has no value"),
    ("label all missing", "a,b,y\n" + "1,2,\n3,4,\n" * 20, "y", "without a label"),
    ("no rows", "a,b,y\n", "y", "no row to learn from"),
    ("label alone", "y\n" + "p\nq\n" * 20, "y", "no column is left"),
    ("constant", "a,b,y\n" + "".join(f"5,{i % 9},{'pq'[i % 2]}\n" for i in range(50)), "y", "the same value in every row"),
    ("ids", "id,b,y\n" + "".join(f"k{i},{i % 9},{'pq'[i % 2]}\n" for i in range(50)), "y", "an id or free text"),
    ("row numbers", "id,b,y\n" + "".join(f"{i},{i % 9},{'pq'[i % 2]}\n" for i in range(50)), "y", "numbers the rows"),
    ("infinite", "a,b,y\n" + "".join(f"{'inf' if i == 3 else i % 8},{i % 9},{'pq'[i % 2]}\n" for i in range(50)), "y", "nfin"),
    ("gaps in the label", "a,b,y\n" + "".join(f"{i % 8},{i % 9},{['p', 'q', ''][i % 3]}\n" for i in range(60)), "y", "without a label"),
    ("huge numbers", "a,b,y\n" + "".join(f"{(-1) ** i * 1.7e308},{i % 9},{'pq'[i % 2]}\n" for i in range(50)), "y", "50 rows"),
    ("tiny numbers", "a,b,y\n" + "".join(f"{i * 5e-324},{i % 9},{'pq'[i % 2]}\n" for i in range(50)), "y", "50 rows"),
    ("constant number as label", "a,y\n" + "".join(f"{i % 8},7.5\n" for i in range(40)), "y", "7.5"),
    ("few numbers as label", "a,y\n" + "".join(f"{i % 8},{i % 2}\n" for i in range(40)), "y", "--nominal"),
    ("more columns than rows", ",".join(f"c{j}" for j in range(60)) + ",y\n" + "".join(
        ",".join(str((i * j * 7919) % 101) for j in range(60)) + f",{i * 1.5}\n" for i in range(25)), "y", "more rows than columns"),
    ("nominal alone", "a,b,y\n" + "".join(f"{'uvw'[i % 3]},{'st'[i % 2]},{'pq'[i % 2]}\n" for i in range(50)), "y", "2 nominal"),
    ("many classes", "a,y\n" + "".join(f"{i % 13},c{i % 90}\n" for i in range(400)), "y", "85 others"),
    ("dates", "a,b,y\n" + "".join(f"2024-01-{i % 28 + 1:02},{i % 9},{'pq'[i % 2]}\n" for i in range(50)), "y", "2024-01-01"),
])
def test_odd_tables_get_a_page_that_says_what_is_odd(tmp_path, what, text, target, expected):
    table = tmp_path / "table.csv"
    table.write_text(text)
    options = ["--header", "yes"] if what == "no rows" else []
    page = page_of(table, "--target", target, *options)
    check_structure(page)
    assert expected in page.words(), what


@pytest.mark.bad_input
@pytest.mark.parametrize("options,words", [
    ([], "-o report.html"),
    (["-o", "page.csv"], "possible are .html"),
    (["-o", "p.html", "--target", "kindd"], "kindd"),
    (["-o", "p.html", "--max-columns", "501"], "--max-columns"),
    (["-o", "p.html", "--max-samples", "0"], "--max-samples"),
    (["-o", "p.html", "--permutations", "-1"], "--permutations"),
    (["-o", "p.html", "-k", "0"], "-k"),
    (["-o", "p.html", "--metric-param", "p=3"], "metric mixed-euclidean has no parameter 'p'"),
    (["-o", "p.html", "--target", "kind", "--metric-param", "p=3"], "metric mixed-euclidean has no parameter 'p'"),
    (["-o", "p.html", "--target", "kind", "--ignore", "color", "--metric", "minkowski", "--metric-param", "p=x"], "metric parameter p='x' is not a number"),
    (["-o", "absent/p.html"], "absent"),
])
def test_mistakes_get_one_line_and_leave_no_file(flower_table, tmp_path, options, words):
    done = run("report", flower_table, *options, code=None, cwd=tmp_path)
    assert done.code == (3 if words in ("kindd", "absent") else 2)
    assert len(done.error_lines()) == 1 and words in done.error_lines()[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.bad_input
def test_a_page_never_replaces_its_table(flower_table, tmp_path):
    copy = tmp_path / "t.html"
    copy.write_bytes(flower_table.read_bytes())
    done = run("report", copy, "--input-format", "csv", "-o", copy, code=2)
    assert "same file" in done.err and copy.read_bytes() == flower_table.read_bytes()


def test_ten_thousand_columns_stay_small_and_say_what_is_left_out(tmp_path):
    draw = np.random.default_rng(5)
    columns, rows = 10_000, 60
    data = draw.normal(size=(rows, columns))
    data[: rows // 2, 4321] += 5
    lines = [",".join(f"gene{j}" for j in range(columns)) + ",y"]
    lines += [",".join(f"{v:.3f}" for v in data[i]) + (",p" if i < rows // 2 else ",q") for i in range(rows)]
    table = tmp_path / "wide.csv"
    table.write_text("\n".join(lines) + "\n")
    page = page_of(table, "--target", "y")
    check_structure(page)
    first = page.all("article")[0]
    assert "".join(first.find("div/h3").itertext()) == "gene4321"
    assert len(page.all("article")) == 40
    assert "9,960 columns have no picture here" in page.words("columns")
    assert "8,960 are left out of this page" in page.words("columns")
    more = page_of(table, "--target", "y", "--max-columns", "100", "--permutations", "0")
    assert len(more.all("article")) == 100 and "There are no p-values" in more.words("best-cuts")


def test_a_sample_is_said_and_keeps_the_classes(flower_table):
    page = page_of(flower_table, "--target", "kind", "--max-samples", "60", "--seed", "4")
    assert page.words().count("a sample of 60 of the 150 rows (seed 4)") >= 4
    rows = page.table("Rows of each true class")[1:]
    assert [sum(int(c) for c in row[1:]) for row in rows] == [20, 20, 20]
    assert {shlex.split(line)[1] for line in page.commands()} == {"report"}


def test_json_says_which_parts_there_are(flower_table, tmp_path):
    done = run("report", flower_table, "--target", "kind", "--json", "-o", tmp_path / "p.html").json()
    assert done["parts"]["tree"]["computed"] is True and done["outputs"] == [str(tmp_path / "p.html")]


def test_a_memory_limit_is_said_in_the_place_of_a_part_or_in_one_line(flower_table, tmp_path):
    done = run("report", flower_table, "--target", "kind", "--memory-limit", "30K", "-o", tmp_path / "p.html", code=None)
    if done.code == 0:
        assert "could not be computed" in Page((tmp_path / "p.html").read_bytes()).words()
    else:
        assert done.code == 4 and len(done.error_lines()) == 1 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("criterion,most", [("discernibility", 150 * 149 / 2 - 3 * 50 * 49 / 2), ("gini", 2 / 3), ("entropy", math.log2(3))])
@pytest.mark.parametrize("weight", [None, "2.5"])
def test_shares_of_every_criterion_count_from_nothing_to_all(flower_table, tmp_path, criterion, most, weight):
    table, options = flower_table, []
    if weight:  # the same weight for every row changes no share
        header, *lines = flower_table.read_text().splitlines()
        table, options = tmp_path / "weighted.csv", ["--sample-weight", "w"]
        table.write_text("\n".join([header + ",w", *(line + "," + weight for line in lines)]) + "\n")
    page = page_of(table, "--target", "kind", "--criterion", criterion, "--permutations", "0", *options)
    ranking = records(run("discretize", flower_table, "--target", "kind", "--method", "best-cut", "--missing-policy", "value",
                          "--criterion", criterion, "-q").text)
    rows = page.table("Columns by their best cut")[1:]
    assert [row[0] for row in rows] == [r["name"] for r in ranking]
    for row, expected in zip(rows, ranking):
        assert percent(row[2]) == pytest.approx(float(expected["score"]) / most, abs=6e-4)


def test_an_interrupted_report_leaves_no_file(flower_table, tmp_path):
    words = [PROGRAM, "report", str(flower_table), "--target", "kind", "--permutations", "100000000", "-o", "p.html"]
    job = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, env=environment())
    time.sleep(1)
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=120)
    assert job.returncode == 130 and err.decode() == "stope: cancelled\n"
    assert list(tmp_path.iterdir()) == []


def test_a_column_that_decides_alone_is_suspected(tmp_path):
    rows = [[f"{i * 37 % 101}", "yes" if i % 3 else "no", "p" if i % 3 else "q"] for i in range(150)]
    words = page_of(write(tmp_path / "leak.csv", ["a", "same", "y"], rows), "--target", "y").words("summary")
    assert "“same” alone decides the label by a single cut" in words


@pytest.mark.skipif(not MIXED.is_dir(), reason="no tables at ../shared or STOPE_SHARED")
@pytest.mark.parametrize("name,target", [("heart.c.arff", "num"), ("hepatitis.arff", "Class"), ("credit.a.arff", "class"),
                                         ("anneal.orig.arff", "class"), ("titanic.csv", "survived"), ("mushroom.arff", "class")])
def test_real_mixed_tables_get_whole_pages(name, target):
    options = ["--nominal", target] if name.endswith("csv") else []
    page = page_of(MIXED / name, "--target", target, "--permutations", "99", *options)
    check_structure(page)
    assert "could not be computed" not in page.words()
    best = max(percent(row[1]) for row in page.table("Scores for each k")[1:])
    assert 0.5 < best <= 1 and not math.isnan(best)
    assert json.dumps(page.words("summary"))
