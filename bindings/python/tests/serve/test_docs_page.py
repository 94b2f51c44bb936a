"""The page of the API in a browser, under the server's strict policy."""

import pathlib

import pytest

for module in ("fastapi", "fastapi_offline", "playwright"):
    pytest.importorskip(module, reason=f"SKIP: {module} is not installed")

CHROMIUM = pathlib.Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="SKIP: chromium is not installed")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]


def test_the_api_can_be_tried_in_the_browser(start_server):
    from playwright.sync_api import sync_playwright

    server = start_server()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        page = browser.new_page()
        requests, complaints = [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(server.url + "/docs")
        page.locator("#operations-system-can_do_v1_get .opblock-summary").click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()
        page.locator(".live-responses-table td.response-col_status", has_text="200").wait_for(timeout=60_000)
        browser.close()
    assert complaints == []  # what the policy forbids is told here
    assert requests and all(url.startswith((server.url, "data:")) for url in requests)
