"""A real server and a real browser. What is missing of them makes the tests of the page say SKIP."""

import importlib.util
import pathlib
import shutil
import sys

import pytest
from page_server import running_server

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
LONGEST = 30_000  # milliseconds: how long a step may take on a busy machine

for _module in ("fastapi", "uvicorn", "pyarrow", "prometheus_client", "playwright"):
    if importlib.util.find_spec(_module) is None:
        collect_ignore_glob = ["test_*.py"]
        print(f"SKIP tests of the server's page: {_module} is not installed", file=sys.stderr)


@pytest.fixture(scope="session")
def page_server(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("state"), "--no-tokens") as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    if not pathlib.Path(CHROMIUM).exists():
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Watched:
    """A page whose requests, console and errors are kept."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.requests, self.complaints = [], []
        page.set_default_timeout(LONGEST)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)
        page.on("dialog", lambda dialog: self.complaints.append(f"a dialog: {dialog.message}") or dialog.dismiss())

    def _hear(self, message):
        # The browser reports every refusal of the server by itself; the page says it in words.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def check(self):
        assert self.complaints == []
        assert self.requests, "nothing was asked for"
        foreign = [url for url in self.requests if not url.startswith((self.address, f"blob:{self.address}", "data:"))]
        assert foreign == []


@pytest.fixture
def open_page(browser, page_server):
    """Open the page in a fresh context. When the test ends, no request has left the origin and nothing complained."""
    opened = []

    def opening(address=page_server, **context):
        page = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **context}).new_page()
        opened.append(Watched(page, address))
        page.goto(address)
        return page

    yield opening
    for watched in opened:
        watched.check()
        watched.page.context.close()
