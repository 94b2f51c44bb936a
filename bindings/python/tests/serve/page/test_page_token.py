"""A server that wants a token: the page asks for it, and keeps it for the tab alone."""

import subprocess
import sys

import pytest

from page_server import running_server
from page_steps import DATA, says, take_table


def add_token(state, right):
    made = subprocess.run([sys.executable, "-m", "stope.serve", "token", "add", right, "--right", right, "--state", str(state)],
                          capture_output=True, text=True, check=True)
    return made.stdout.split()[-1]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server's address, a token that may compute, and one that may look."""
    state = tmp_path_factory.mktemp("guarded")
    secrets = add_token(state, "compute"), add_token(state, "read")
    with running_server(state) as address:
        yield address, *secrets


def give(page, secret):
    page.wait_for_selector("#token-dialog[open]")
    page.fill("#token", secret)
    page.keyboard.press("Enter")


def test_the_page_asks_for_a_token_and_keeps_it_in_the_tab_alone(open_page, guarded):
    address, secret, _ = guarded
    page = open_page(address)
    page.wait_for_selector("#token-dialog[open]")
    assert page.evaluate("document.activeElement.id") == "token"
    page.fill("#token", "wrong")
    page.keyboard.press("Enter")
    says(page, "#token-reason", "did not accept")
    page.fill("#token", secret)
    page.keyboard.press("Enter")
    take_table(page, DATA / "iris.csv")
    assert page.evaluate("Object.values(sessionStorage)") == [secret]
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    assert secret not in page.content() and secret not in page.url
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.is_hidden("#token-dialog")


def test_who_declines_reads_why_nothing_goes_on(open_page, guarded):
    page = open_page(guarded[0])
    page.wait_for_selector("#token-dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#page-problem .problem")
    assert "token" in page.inner_text("#page-problem").lower()


def test_a_token_that_is_withdrawn_in_the_middle_is_asked_for_again(open_page, guarded):
    address, secret, _ = guarded
    page = open_page(address)
    give(page, secret)
    take_table(page, DATA / "iris.csv")
    page.evaluate("sessionStorage.setItem('stope token', 'withdrawn')")
    page.select_option("#label", "species")
    page.fill("#ks", "3")
    page.click("#evaluate button")
    give(page, secret)
    page.wait_for_selector("#scores", state="visible")


def test_a_token_that_may_only_look_is_told_so(open_page, guarded):
    address, _, secret = guarded
    page = open_page(address)
    give(page, secret)
    page.wait_for_selector("#page-problem .note")
    assert "not compute" in page.inner_text("#page-problem")
    page.set_input_files("#file", str(DATA / "iris.csv"))
    page.wait_for_selector("#upload-problem .problem")
