"""Everybody can use the page: axe finds nothing, the keyboard is enough, narrow screens do not scroll sideways."""

import importlib.util
import pathlib

import pytest

from page_steps import DATA, take_table


@pytest.fixture(scope="session")
def axe():
    for package in ("axe_playwright_python", "axe_core_python"):
        found = importlib.util.find_spec(package)
        if found is not None:
            return (pathlib.Path(found.submodule_search_locations[0]) / "axe.min.js").read_text()
    pytest.skip("axe-playwright-python is not installed")


def violations(page, axe):
    page.evaluate(axe + "; undefined")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {node['target']} {node['failureSummary']}" for one in found for node in one["nodes"]]


def whole_path(page):
    take_table(page, DATA / "labor.csv")
    page.select_option("#label", "class")
    page.fill("#ks", "1-5")
    page.click("#evaluate button")
    page.wait_for_selector("#confusion", state="visible")
    page.click("#grow button")
    page.wait_for_selector("#tree-result svg .leaf")
    page.click("#rank button")
    page.wait_for_selector("#cut-pictures .bar")
    page.set_input_files("#predict-file", str(DATA / "labor-test.csv"))
    page.click("#predict button")
    page.wait_for_selector("#predict-result", state="visible")


@pytest.mark.parametrize("width", [380, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_about(open_page, axe, scheme, width):
    page = open_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    assert violations(page, axe) == []
    whole_path(page)
    for summary in page.query_selector_all("main summary"):
        summary.click()
    assert violations(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def press_until(page, selector, key="Tab", most=120):
    """Press a key until the focus is on an element, which must be visible there."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("(s) => document.activeElement?.matches(s) ?? false", selector):
            return
    raise AssertionError(f"{key} does not lead to {selector}")


def choose_by_enter(page, choosers, path):
    """Open the dialog of the focused file input. `choosers` listens from the start, since listening begins late at times."""
    page.keyboard.press("Enter")
    for _ in range(300):
        if choosers:
            break
        page.wait_for_timeout(100)
    assert choosers, "Enter opens no dialog"
    choosers.pop().set_files(str(path))


def test_the_keyboard_is_enough(open_page):
    page = open_page()
    choosers = []
    page.on("filechooser", lambda chooser: choosers.append(chooser))
    page.wait_for_selector("html[data-ready]", state="attached")
    press_until(page, "#file")
    style = page.evaluate("getComputedStyle(document.querySelector('#drop')).outlineStyle")
    assert style == "solid"
    choose_by_enter(page, choosers, DATA / "iris.csv")
    page.wait_for_selector("#work", state="visible")
    press_until(page, "#label")
    page.keyboard.type("species")
    assert page.input_value("#label") == "species"
    press_until(page, "#evaluate button")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("#confusion", state="visible")
    press_until(page, "input[name=use-k]")
    page.keyboard.press("ArrowDown")
    press_until(page, "#grow button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#tree-result svg .leaf")
    press_until(page, "#rank button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cut-pictures .bar")
    press_until(page, "#predict-file")
    choose_by_enter(page, choosers, DATA / "iris-test.csv")
    press_until(page, "#predict button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#predict-result", state="visible")
    assert page.evaluate("document.activeElement.matches('#predict-result a')")
    with page.expect_download():
        page.keyboard.press("Enter")


def test_a_file_is_dropped_anywhere_on_the_zone(open_page):
    page = open_page()
    page.wait_for_selector("html[data-ready]", state="attached")
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.items.add(new File(["a,b\\n1,x\\n2,y\\n"], "dropped.csv", {type: "text/csv"}));
        for (const kind of ["dragenter", "dragover", "drop"]) {
            document.querySelector("#drop").dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
        }
    }""")
    page.wait_for_selector("#work", state="visible")
    assert "dropped.csv has 2 rows and 2 columns" in page.inner_text("#table-facts")


def test_motion_is_left_out_for_who_wants_none(open_page):
    page = open_page(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.querySelector('#drop')).transitionDuration") == "0s"
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_print_shows_answers_and_no_forms(open_page):
    page = open_page()
    whole_path(page)
    page.emulate_media(media="print")
    assert page.is_hidden("#evaluate") and page.is_hidden("#steps")
    assert page.is_visible("#score-chart") and page.is_visible("#confusion") and page.is_visible("#tree-result svg")
