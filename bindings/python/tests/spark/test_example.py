"""The program of docs/SPARK.md runs, and the page shows its lines."""

import pathlib
import re
import runpy

PROJECT = pathlib.Path(__file__).resolve().parents[4]
EXAMPLE = PROJECT / "examples/spark/example.py"


def test_the_example_predicts_and_finds_neighbours(spark, monkeypatch, capsys):
    monkeypatch.setattr(type(spark), "stop", lambda self: None)  # the program gets this session, which others need
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    shown = capsys.readouterr().out
    counts = re.findall(r"^\|\s*(\w+)\|\s*(iris|lily)\|\s*(\d+)\|$", shown, re.M)
    assert sum(int(count) for _, _, count in counts) == 100_000
    assert {color for color, _, _ in counts} == {"NULL", "blue", "red", "white"}
    assert len(re.findall(r"^\|[012]\s*\|\[\d+, \d+\]\s*\|\[[\d., E-]+\]\s*\|$", shown, re.M)) == 3


def test_the_page_shows_lines_of_the_example():
    page = (PROJECT / "docs/SPARK.md").read_text(encoding="utf-8")
    shown = re.search(r"whole program -->\n```python\n(.*?)```", page, re.S)[1].splitlines()
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert len(shown) >= 4 and [line for line in shown if line not in lines] == []
