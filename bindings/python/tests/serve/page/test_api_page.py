"""The page of the API in a browser, under the server's strict policy."""

import pytest

pytest.importorskip("fastapi_offline", reason="SKIP: fastapi-offline is not installed")


def test_the_api_can_be_tried_in_the_browser(open_page, page_server):
    page = open_page()
    page.goto(page_server + "docs")
    page.locator("#operations-system-can_do_v1_get .opblock-summary").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    page.locator(".live-responses-table td.response-col_status", has_text="200").wait_for()
