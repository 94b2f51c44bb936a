"""Tables of Markdown, wherever rows are written."""

import json

import pytest

from program import run


@pytest.fixture()
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('name,x,y\n"a|b",1,p\n"line\nbreak",22.5,q\nßü,,p\n"back\\",-3,q\n')
    return path


def cells(line):
    assert line.startswith("| ") and line.endswith(" |")
    return [cell.strip() for cell in line[1:-1].replace("\\|", "\0").split("|")]


def test_a_table_is_aligned_and_its_pipes_are_escaped(table):
    text = run("convert", table, "-", "--format", "markdown").text
    assert text == ("| name          |    x | y   |\n"
                    "| ------------- | ---: | --- |\n"
                    "| a\\|b          |    1 | p   |\n"
                    "| line<br>break | 22.5 | q   |\n"
                    "| ßü            |      | p   |\n"
                    "| back\\\\        |   -3 | q   |\n")
    assert text == run("convert", table, "-", "--output-format", "md").text


def test_the_suffix_names_markdown(table, tmp_path):
    run("convert", table, tmp_path / "t.md")
    assert (tmp_path / "t.md").read_text().startswith("| name ")


@pytest.mark.parametrize("words", [
    ["stats", "t.csv"], ["info", "t.csv"], ["knn", "t.csv", "t.csv", "-k", 1, "--metric", "heom"],
    ["evaluate", "t.csv", "--target", "y", "-k", "1", "--cv", 2, "--metric", "heom"],
    ["discretize", "t.csv", "--target", "y", "--method", "best-cut", "--missing-policy", "drop", "--ignore", "name"],
    ["classify", "t.csv", "t.csv", "--target", "y", "-k", 1, "--metric", "heom"],
    ["pairwise", "t.csv", "t.csv", "--metric", "heom"], ["normalize", "t.csv", "--method", "z"],
    ["gen", "blobs", 2, 3],
])
def test_every_command_that_writes_rows_writes_markdown(table, words):
    done = run(*words, "--format", "markdown", cwd=table.parent, code=None)
    assert done.code == 0, done.err
    lines = done.text.splitlines()
    width = len(cells(lines[0]))
    assert all(len(cells(line)) == width for line in lines) and set("".join(cells(lines[1]))) <= set("-:")
    assert len({len(line) for line in lines}) == 1, "aligned"


def test_json_and_lines_of_json_list_the_columns_of_info(table):
    rows = json.loads(run("info", table, "--format", "json").text)
    assert [row["name"] for row in rows] == ["name", "x", "y"] and rows[1]["missing"] == 1 and rows[1]["min"] == -3
    assert [json.loads(line)["values"] for line in run("info", table, "--format", "jsonl").text.splitlines()] == [4, None, 2]
    assert run("info", table, "--format", "txt").out == run("info", table).out


def test_a_long_table_is_written_as_it_comes(tmp_path):
    (tmp_path / "t.csv").write_text("n,s\n" + "".join(f"{i},{'x' * (i // 500)}\n" for i in range(3000)))
    lines = run("convert", tmp_path / "t.csv", "-", "--format", "md").text.splitlines()
    assert len(lines) == 3002 and cells(lines[-1]) == ["2999", "xxxxx"] and cells(lines[2]) == ["0", ""]
