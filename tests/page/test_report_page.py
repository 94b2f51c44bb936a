"""The page of stope report in a browser: light, dark, printed and narrow, by keyboard and for screen readers."""

import pytest

from program import run
from test_report import HOSTILE, flowers, houses, write


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """One page of each kind, made by the program."""
    folder = tmp_path_factory.mktemp("pages")

    def made(name, table, *options):
        run("report", table, *options, "-q", "-o", folder / f"{name}.html", timeout=600)
        return folder / f"{name}.html"

    odd = write(folder / "odd.csv", [*HOSTILE, "y"], [[HOSTILE[(i + j) % len(HOSTILE)] for j in range(len(HOSTILE))] + [HOSTILE[i % 3]]
                                                    for i in range(48)])
    flower_table = flowers(folder / "flowers.csv")
    run("tree", flower_table, "--target", "kind", "--missing-policy", "value", "--cv", "5", "-q", "-o", folder / "tree.txt",
        "--report", folder / "job.html")
    return {
        "classes": made("classes", flower_table, "--target", "kind"),
        "numbers": made("numbers", houses(folder / "houses.csv"), "--target", "price"),
        "hostile": made("hostile", odd, "--target", "y", "--permutations", "9"),
        "columns": made("columns", flower_table),
        "job": folder / "job.html",
    }


def violations(page, axe):
    page.evaluate(axe + "; undefined")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {node['target']} {node['failureSummary']}" for one in found for node in one["nodes"]]


KINDS = ["classes", "numbers", "hostile", "columns", "job"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_to_complain_about(open_file, pages, axe, kind, scheme, width):
    page = open_file(pages[kind], color_scheme=scheme, viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert violations(page, axe) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [320, 360, 768])
def test_a_narrow_page_does_not_scroll_sideways(open_file, pages, kind, width):
    page = open_file(pages[kind], viewport={"width": width, "height": 740})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("kind", KINDS)
def test_letters_of_pictures_stay_readable_on_a_narrow_page(open_file, pages, kind):
    page = open_file(pages[kind], viewport={"width": 360, "height": 740})
    scales = page.evaluate("""[...document.querySelectorAll('figure svg')].map(
        (one) => one.getBoundingClientRect().width / one.viewBox.baseVal.width)""")
    assert scales and min(scales) >= 0.8


def test_the_keyboard_reaches_the_content_and_opens_the_numbers(open_file, pages):
    page = open_file(pages["classes"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    box = page.locator(".skip").bounding_box()
    assert box["x"] >= 0 and box["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")


def test_a_dark_page_is_dark_and_a_printed_one_light(open_file, pages):
    brightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b)"
    page = open_file(pages["classes"], color_scheme="dark")
    assert page.evaluate(brightness) < 150
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(brightness) == 765
    assert page.locator("nav").evaluate("one => getComputedStyle(one).display") == "none"
    assert page.pdf()[:5] == b"%PDF-"


def test_classes_differ_by_more_than_their_colour(open_file, pages):
    page = open_file(pages["classes"])
    textures = page.evaluate("""[...document.querySelectorAll('#columns .legend rect')].map((one) => getComputedStyle(one).fill)""")
    assert len(textures) == 3 and len(set(textures)) == 3 and sum("url" in one for one in textures) == 2
    marks = page.evaluate("[...document.querySelectorAll('#pca .legend path')].map((one) => one.getAttribute('d'))")
    assert len(set(marks)) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_labels_stay_inside_their_pictures(open_file, pages, kind):
    page = open_file(pages[kind])
    outside = page.evaluate("""[...document.querySelectorAll('figure svg text')].filter((one) => {
        const box = one.getBBox(), view = one.ownerSVGElement.viewBox.baseVal;
        return box.width > 0 && (box.x < -2 || box.x + box.width > view.width + 2 || box.y < -2 || box.y + box.height > view.height + 2);
    }).map((one) => one.textContent)""")
    assert outside == []


def test_hostile_names_run_nothing_and_show_as_text(open_file, pages):
    page = open_file(pages["hostile"])
    assert page.evaluate("document.images.length + document.scripts.length") == 0
    assert "onerror=alert(1)" in page.inner_text("body")
