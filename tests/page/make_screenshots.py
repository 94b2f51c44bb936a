"""Remake the screenshots of docs/report.md: make_screenshots.py PAGE.html SELECTOR light|dark WIDTH PICTURE.png"""

import pathlib
import sys

from conftest import CHROMIUM, FLAGS


def main(source, selector, scheme, width, picture):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": int(width), "height": 900}, color_scheme=scheme)
        page.goto(pathlib.Path(source).resolve().as_uri())
        if selector == "page":
            page.screenshot(path=picture, full_page=True)
        elif selector == "top":
            page.screenshot(path=picture)
        else:
            page.locator(selector).screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
