"""Steps that many tests of the page take."""

import pathlib

DATA = pathlib.Path(__file__).parents[5] / "examples" / "data"


def is_ready(page):
    page.wait_for_selector("html[data-ready]", state="attached")


def take_table(page, path):
    """Choose a file, and wait until its columns are described."""
    is_ready(page)
    page.set_input_files("#file", path if isinstance(path, dict) else str(path))
    page.wait_for_selector("#work", state="visible")
    page.wait_for_selector("#columns[aria-busy]", state="detached")
    page.wait_for_selector("#column-table .small-bars, #columns-left-out:not(:empty)")


def csv(text, name="table.csv"):
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
