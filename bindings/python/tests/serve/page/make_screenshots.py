"""Remake the screenshots of the documentation: make_screenshots.py FOLDER, with the package in PYTHONPATH."""

import pathlib
import sys
import tempfile

from conftest import CHROMIUM, FLAGS
from page_server import running_server
from page_steps import DATA, take_table


def answers(page):
    page.fill("#ks", "1-25")
    page.click("#evaluate button")
    page.wait_for_selector("#confusion", state="visible")
    page.click("#grow button")
    page.wait_for_selector("#tree-result svg .leaf")
    page.click("#rank button")
    page.wait_for_selector("#cut-pictures .bar")


def shoot(page, selector, path):
    page.evaluate("document.activeElement.blur(); document.querySelector('.top').style.position = 'static'")
    page.locator(selector).screenshot(path=path)


def main(folder):
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as state, running_server(state, "--no-tokens") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for scheme, width, table, label, parts in (
            ("light", 1180, "labor.csv", "class", {"columns": "#columns"}),
            ("light", 1180, "iris.csv", "species", {"neighbours": "#neighbours", "tree": "#tree"}),
            ("dark", 1180, "iris.csv", "species", {"cuts": "#cuts"}),
        ):
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page.goto(address)
            page.wait_for_selector("html[data-ready]")
            if "columns" in parts:
                page.screenshot(path=folder / "serve-start.png")
            take_table(page, DATA / table)
            page.select_option("#label", label)
            answers(page)
            for name, selector in parts.items():
                shoot(page, selector, folder / f"serve-{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
