"""Labels of another kind, lists that are too short, results for terminals, and pages about odd tables."""

import os
import pty
import subprocess

import numpy as np
import pytest

from program import PROGRAM, environment, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("odd")
    rows = [f"{i % 7},{i * i % 11},{'no' if i < 15 else 'yes'},{i / 2},{'gh'[i % 2]}" for i in range(30)]
    (place / "t.csv").write_text("a,b,y,n,g\n" + "\n".join(rows) + "\n")
    (place / "numbers.arff").write_text("@relation r\n@attribute a real\n@attribute b real\n@attribute y real\n@attribute n {u,v}\n@data\n1,2,5,u\n2,3,6,v\n")
    return place


def test_a_label_of_another_kind_gives_no_scores(folder):
    words = ["--select", "a,b", "--target"]
    run("tree", "t.csv", *words, "y", "--model-out", "tree.stope", "-o", "t.txt", cwd=folder)
    done = run("predict", "tree.stope", "numbers.arff", "-o", "p.csv", cwd=folder)
    assert "no scores: the label 'y' is numeric here, but the model's label is not" in done.err
    done = run("regress", "t.csv", "numbers.arff", *words, "n", "-k", "1", "-o", "p.csv", cwd=folder)
    assert "no scores: the label 'n' of the test table is nominal" in done.err
    run("lsq", "t.csv", *words, "n", "-o", "c.csv", cwd=folder)
    done = run("lsq", "numbers.arff", "--apply", "c.csv", "--target", "n", "-o", "p.csv", cwd=folder)
    assert "no scores: the target 'n' is nominal here" in done.err


def test_scores_that_memory_does_not_hold_are_left_out(folder):
    (folder / "long.csv").write_text("a,y\n" + "1,no\n2,yes\n" * 60_000)
    done = run("classify", "t.csv", "long.csv", "--select", "a", "--target", "y", "-k", "1", "-o", "p.csv", "--memory-limit", "1MB", cwd=folder)
    assert "no scores: they need" in done.err and (folder / "p.csv").read_text().count("\n") == 120_001


def test_components_have_no_reasons(folder):
    run("pca", "t.csv", "--select", "a,b", "--model-out", "pca.stope", "-o", "s.csv", cwd=folder)
    assert "pca.stope" in run("predict", "pca.stope", "t.csv", "-o", "p.csv", "--explain-out", "e.csv", cwd=folder, code=2).err


@pytest.mark.parametrize("kind", ["npy", "raw", "ivecs"])
def test_lists_of_arrays_are_filled_where_a_row_has_too_few_neighbours(folder, kind):
    words = ["knn", "t.csv", "t.csv", "--select", "a,b,g", "-k", "20", "--exclude-group", "g", "-o", f"n.{kind}", "--output-format", kind]
    run(*words, cwd=folder)
    found = {"npy": lambda: np.load(folder / "n.npy")["index"], "raw": lambda: np.fromfile(folder / "n.raw.indices.i32", np.int32),
             "ivecs": lambda: np.fromfile(folder / "n.ivecs", np.int32)}[kind]()
    assert (found == -1).sum() == 30 * 5


def in_terminal(*words, cwd):
    """What a program writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([PROGRAM, *words], stdout=theirs, stderr=subprocess.DEVNULL, env=environment(), cwd=cwd) as process:
        os.close(theirs)
        seen = b""
        try:
            while block := os.read(ours, 65536):
                seen += block
        except OSError:  # the end of a terminal
            pass
    os.close(ours)
    assert process.returncode == 0
    return seen.decode()


def test_long_names_are_cut_on_a_terminal_alone(tmp_path):
    name = "a column with a name of " + "é" * 400
    (tmp_path / "t.csv").write_text(f"{name},b\n1,2\n")
    assert name in run("info", "t.csv", cwd=tmp_path).text
    shown = in_terminal("info", "t.csv", cwd=tmp_path)
    assert name not in shown and "a name of é" in shown and "é..." in shown and "\ufffd" not in shown


def test_markdown_keeps_bars_backslashes_and_tabs_in_their_cells(tmp_path):
    (tmp_path / "t.csv").write_text('c,x\n"a|b",1\n"a\\|b",2\n"end\\",3\n"t\tab",4\n"\\n",5\n')
    cells = [line.split(" ", 2)[1] for line in run("convert", "t.csv", "-", "--output-format", "md", cwd=tmp_path).text.splitlines()[2:]]
    assert cells == ["a\\|b", "a\\\\\\|b", "end\\\\", "t", "\\n"]
    listed = run("info", "t.csv", "--format", "md", cwd=tmp_path).text
    assert listed.count("\n") == 4


def test_of_many_filled_columns_sixty_are_named(tmp_path):
    header = ",".join(f"c{i}" for i in range(70))
    rows = [",".join("" if (i + j) % 9 == 0 else str(i * j % 13) for j in range(70)) for i in range(20)]
    (tmp_path / "t.csv").write_text(header + "\n" + "\n".join(rows) + "\n")
    assert "... 10 more columns" in run("impute", "t.csv", "-o", "f.csv", "-k", "2", cwd=tmp_path).err


def test_pages_quote_their_command_and_name_standard_input(folder, tmp_path):
    text = (folder / "t.csv").read_bytes()
    (tmp_path / "it's.csv").write_bytes(text)
    run("report", "it's.csv", "--target", "y", "-o", "r.html", cwd=tmp_path)
    assert "it&#39;s.csv" in (tmp_path / "r.html").read_text()
    assert run("report", "-", "--target", "y", "-o", "r.html", "--json", cwd=tmp_path, stdin=text).json()["command"] == "report"
    assert "standard input" in (tmp_path / "r.html").read_text()
    assert "--max-columns: -1 is not from 0 to 500" in run("report", "it's.csv", "--max-columns", "-1", "-o", "r.html", cwd=tmp_path, code=2).err
    pages = [["stats", "-"], ["stats", "-", "--by", "y"], ["pca", "-", "--select", "a,b,n"], ["tree", "-", "--target", "y", "--select", "a,b", "-o", "t.txt"],
             ["evaluate", "-", "--target", "n", "--select", "a,b", "-k", "1,3"], ["evaluate", "-", "--target", "y", "--select", "a,b", "-k", "3", "--holdout", "0.3"]]
    for words in pages:
        run(*words, "--report", "p.html", cwd=tmp_path, stdin=text, **({} if "-o" in words else {}))
        page = (tmp_path / "p.html").read_text()
        assert "standard input" in page and page.rstrip().endswith("</html>"), words
        os.remove(tmp_path / "p.html")


@pytest.mark.parametrize("header, row", [("x", "{0}"), ("x,y", "{0},a"), ("x,d", "{0},2024-01-0{1}"), ("x,e", "{0},"), ("a,b", "{0},{2}"), ("x,y", "{0},{3}")])
def test_a_page_about_a_table_with_hardly_anything_in_it(tmp_path, header, row):
    rows = [row.format(i, i % 9 + 1, 1e300 * (i % 3), "pq"[i % 2]) for i in range(12)]
    (tmp_path / "t.csv").write_text(header + "\n" + "\n".join(rows) + "\n")
    for words in ([], ["--target", header.split(",")[0]], ["--target", header.split(",")[-1]]):
        done = run("report", "t.csv", *words, "-o", "r.html", cwd=tmp_path, code=None)
        assert done.code == 0 or (done.code == 3 and len(done.error_lines()) == 1), done.err


def test_gram_files_are_checked_into_json_and_a_file(tmp_path):
    run("gen", 40, 30, "-o", "a.gram", cwd=tmp_path)
    told = run("ata", "a.gram", "-o", "z.gram", "--json", cwd=tmp_path).json()
    assert "z" not in told and (tmp_path / "z.gram").stat().st_size == 16 + 4 * 40
    assert run("check", "a.gram", "z.gram", "--json", "-o", "c.txt", cwd=tmp_path).json()["command"] == "check"
    assert "OK" in (tmp_path / "c.txt").read_text()
    wrong = bytearray((tmp_path / "z.gram").read_bytes())
    wrong[16:] = np.full(40, np.nan, "<f4").tobytes()
    (tmp_path / "z.gram").write_bytes(wrong)
    text = run("check", "a.gram", "z.gram", cwd=tmp_path, code=1).text
    assert "WRONG   40 of 40 numbers" in text and text.count("  column ") < 40 and "  ...\n" in text


@pytest.mark.parametrize("roles", [["--target", "g"], ["--target", "g", "--id", "b"], ["--target", "g", "--sample-weight", "b"], ["--target", "y"],
                                   ["--target", "y", "--id", "i", "--sample-weight", "w"]])
def test_a_prepared_table_keeps_the_roles_that_are_said(tmp_path, roles):
    rows = [f"{i % 7},{i * i % 11 + 1},{'uv'[i % 2]},{'gh'[i // 15]},k{i},{i % 3 + 1},2024-01-{i % 28 + 1:02d}" for i in range(30)]
    (tmp_path / "t.csv").write_text("a,b,y,g,i,w,d\n" + "\n".join(rows) + "\n")
    run("normalize", "t.csv", "-o", "n.csv", "--target", "y", "--id", "i", "--sample-weight", "w", "--method", "z", "--model-out", "z.stope", cwd=tmp_path)
    done = run("classify", "t.csv", "t.csv", *roles, "--after", "z.stope", "-k", "1", "-o", "p.csv", cwd=tmp_path, code=None)
    if done.code == 0:
        label = roles[1]
        said = [row.split(",")[2 if label == "y" else 3] for row in rows]
        found = [line.split(",")[1] for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
        assert found == said
    else:
        assert done.code in (2, 3) and done.error_lines()[-1].count("column ") == 1
    (tmp_path / "u.csv").write_text("a,b,y,g,i,w,d\n" + "\n".join(row.rsplit(",", 1)[0] + ",0" for row in rows) + "\n")
    other = run("classify", "u.csv", "u.csv", *roles, "--after", "z.stope", "-k", "1", "-o", "p.csv", cwd=tmp_path, code=None)
    assert other.code in (0, 2, 3) and len(other.error_lines()) == (other.code != 0)


def wide_rows(n_rows, n_more):
    """Large and negative whole numbers, two equal columns, dates, texts, gaps, and many columns besides."""
    random = np.random.default_rng(8)
    rows = []
    for i in range(n_rows):
        more = ",".join(f"{v:.3f}" for v in random.normal(size=n_more))
        rows.append(f"{-20_000 * i},{i * i * 1_000_003},{i % 7}.5,{i % 7}.5,2024-0{i % 9 + 1}-11,{'Łáé'[i % 3]}{i % 4},,{'' if i % 5 == 0 else i % 3},{more},{'no' if i % 3 else 'yes'},{-1e6 + i * 3}")
    return "neg,large,same,same2,day,text,none,gap," + ",".join(f"m{i}" for i in range(n_more)) + ",y,n\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("n_more, target", [(2, "y"), (60, "y"), (60, "n"), (2, "n"), (60, None), (0, "neg")])
def test_pages_show_large_numbers_dates_gaps_and_many_columns(tmp_path, n_more, target):
    (tmp_path / "t.csv").write_text(wide_rows(60, n_more))
    run("report", "t.csv", *(["--target", target] if target else []), "--max-columns", "12", "-o", "r.html", cwd=tmp_path)
    page = (tmp_path / "r.html").read_text()
    assert page.count("<section") == page.count("</section>") and "nan" not in page and "−" in page
    run("stats", "t.csv", *(["--by", target] if target == "y" else []), "--report", "s.html", cwd=tmp_path)
    run("pca", "t.csv", "--select", "large", "--report", "p.html", "-o", "p.csv", cwd=tmp_path)
    assert "</html>" in (tmp_path / "s.html").read_text() and "</html>" in (tmp_path / "p.html").read_text()


def test_correlations_of_short_floats_are_those_of_the_same_doubles(tmp_path):
    random = np.random.default_rng(3)
    x = random.normal(size=(40, 3)).astype("f4")
    x[::7, 1] = np.nan
    x[1::5, 2] = np.nan
    np.save(tmp_path / "short.npy", x)
    np.save(tmp_path / "long.npy", x.astype("f8"))
    for method in ["pearson", "spearman"]:
        words = ["--correlation", "-", "--method", method]
        expected = run("stats", "long.npy", *words, cwd=tmp_path).out
        assert run("stats", "short.npy", *words, cwd=tmp_path).out.replace(b"short", b"long") == expected


def test_filled_moments_are_moments_and_filled_days_are_days(tmp_path):
    rows = [f"{i % 7},2024-01-{i % 28 + 1:02d}{'T12:30:00' if i % 2 else 'T00:00:00'},2024-02-{i % 28 + 1:02d}" for i in range(30)]
    rows[4], rows[9] = "4,,2024-02-05", "2,2024-01-10T12:30:00,"
    (tmp_path / "t.csv").write_text("a,moment,day\n" + "\n".join(rows) + "\n")
    run("impute", "t.csv", "-k", "3", "-o", "f.csv", "--model-out", "f.stope", cwd=tmp_path)
    filled = [line.split(",") for line in (tmp_path / "f.csv").read_text().splitlines()]
    assert "T" in filled[5][1] and filled[5][1] and "T" not in filled[10][2] and filled[10][2].startswith("2024-02-")
    (tmp_path / "u.arff").write_text("@relation r\n@attribute a {x,y}\n@attribute moment real\n@attribute day real\n@data\nx,1,2\n")
    assert run("predict", "f.stope", "u.arff", "-o", "p.csv", cwd=tmp_path, code=3).err == (
        "stope: u.arff: the attribute 'a' is nominal here and numeric in the training table\n")
