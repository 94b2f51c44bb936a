"""The program of docs/SPARK.md runs, and the page shows its lines."""

import os
import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[4]
EXAMPLE = PROJECT / "examples/spark/example.py"


def test_the_example_predicts_and_finds_neighbours(spark):
    del spark  # only so that the test is skipped with the others where there is no PySpark
    environment = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "SPARK_REMOTE")}
    done = subprocess.run(
        [sys.executable, EXAMPLE], capture_output=True, text=True, timeout=300,
        env={**environment, "PYSPARK_SUBMIT_ARGS": "--conf spark.driver.bindAddress=127.0.0.1 pyspark-shell"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    counts = re.findall(r"^\|\s*(\w+)\|\s*(iris|lily)\|\s*(\d+)\|$", done.stdout, re.M)
    assert sum(int(count) for _, _, count in counts) == 100_000
    assert {color for color, _, _ in counts} == {"NULL", "blue", "red", "white"}
    assert len(re.findall(r"^\|[012]\s*\|\[\d+, \d+\]\s*\|\[[\d., E-]+\]\s*\|$", done.stdout, re.M)) == 3


def test_the_page_shows_lines_of_the_example():
    page = (PROJECT / "docs/SPARK.md").read_text(encoding="utf-8")
    shown = re.search(r"whole program -->\n```python\n(.*?)```", page, re.S)[1].splitlines()
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert len(shown) >= 4 and [line for line in shown if line not in lines] == []
