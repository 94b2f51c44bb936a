"""Steps that many tests of the page take."""

import pathlib

DATA = pathlib.Path(__file__).parents[5] / "examples" / "data"


def is_ready(page):
    page.wait_for_selector("html[data-ready]", state="attached")


def says(page, selector, text):
    """Wait until an element has a text, in letters of any size."""
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_contain_text(text, ignore_case=True, timeout=30_000)


def take_table(page, path):
    """Choose a file, and wait until its columns are described."""
    is_ready(page)
    page.set_input_files("#file", path if isinstance(path, dict) else str(path))
    page.wait_for_selector("#work", state="visible")
    page.wait_for_selector("#columns[aria-busy]", state="detached")
    page.wait_for_selector("#column-table .small-bars, #columns-left-out:not(:empty)")


def csv(text, name="table.csv"):
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
