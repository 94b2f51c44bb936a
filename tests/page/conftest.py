"""A real browser for the pages that stope report writes. What is missing of it makes the tests say SKIP."""

import importlib.util
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
LONGEST = 60_000  # milliseconds: how long a step may take on a busy machine

if importlib.util.find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]
    print("SKIP tests of the report's page: playwright is not installed", file=sys.stderr)


def pytest_configure(config):
    config.addinivalue_line("markers", "bad_input: as in tests/cli/conftest.py")


@pytest.fixture(scope="session")
def browser():
    if not pathlib.Path(CHROMIUM).exists():
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe():
    for package in ("axe_playwright_python", "axe_core_python"):
        found = importlib.util.find_spec(package)
        if found is not None:
            return (pathlib.Path(found.submodule_search_locations[0]) / "axe.min.js").read_text()
    pytest.skip("axe-playwright-python is not installed")


@pytest.fixture
def open_file(browser):
    """Open a file in a fresh context. When the test ends, the page has asked for nothing but itself and nothing complained."""
    opened = []

    def opening(path, **context):
        page = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}).new_page()
        page.set_default_timeout(LONGEST)
        requests, complaints = [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
        page.on("dialog", lambda dialog: complaints.append(dialog.message) or dialog.dismiss())
        page.goto(path.as_uri())
        opened.append((page, path.as_uri(), requests, complaints))
        return page

    yield opening
    for page, address, requests, complaints in opened:
        page.context.close()
        assert complaints == []
        assert [url for url in requests if url.split("#")[0] != address] == []
