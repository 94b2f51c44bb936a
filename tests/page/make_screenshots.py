"""Remake the screenshots of docs/report.md: make_screenshots.py REPORT.html FOLDER"""

import pathlib
import sys

from conftest import CHROMIUM, FLAGS

SHOTS = {  # name: colours, width, height, the section at the top
    "report-summary": ("light", 1160, 760, None),
    "report-columns": ("dark", 1160, 900, "#columns"),
}


def main(report, folder):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, (scheme, width, height, section) in SHOTS.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(pathlib.Path(report).resolve().as_uri() + (section or ""))
            page.screenshot(path=pathlib.Path(folder) / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
