"""Every block of Python in the documents runs, and prints what stands below it.

The blocks of a page share a namespace and run in order, in the folder of the example tables. A block of ```text right
below a block of Python is what that prints; "..." stands for anything. A block below a comment
`<!-- not run: reason -->` is skipped.
"""

import contextlib
import doctest
import io
import pathlib
import re
import sys

import pytest

PROJECT = pathlib.Path(__file__).resolve().parents[3]
PAGES = sorted(
    path
    for path in [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md"), *(PROJECT / "docs/python").glob("*.md")]
    if "```python" in path.read_text(encoding="utf-8")
)
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n+)?```python\n(?P<code>.*?)^```\n(?:\n*^```text\n(?P<printed>.*?)^```\n)?",
    re.M | re.S,
)


class Difference(AssertionError):
    """A block that prints something else than its page says."""


def run_page(text, name, namespace):
    """Run the blocks of a page; return how many ran and the reasons of those that did not."""
    ran, reasons = 0, []
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("code"))
        if block["reason"]:
            reasons.append(f"{name}:{line}: {block['reason']}")
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + block["code"], name, "exec"), namespace)
        ran += 1
        if block["printed"] is not None:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            if not doctest.OutputChecker().check_output(block["printed"], printed.getvalue(), flags):
                raise Difference(f"{name}:{line}: printed\n{printed.getvalue()}\nwanted\n{block['printed']}")
    return ran, reasons


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, monkeypatch, recwarn):
    if not page.is_relative_to(PROJECT / "docs/python"):
        imports = r"^(?:from|import) (pandas|polars|pyarrow|sklearn|matplotlib|Orange)"
        for module in re.findall(imports, page.read_text(encoding="utf-8"), re.M):
            pytest.importorskip(module)
    monkeypatch.chdir(PROJECT / "examples/data")
    try:
        ran, reasons = run_page(page.read_text(encoding="utf-8"), page.name, {"__name__": "__main__"})
    finally:
        if "stope.accel" in sys.modules:  # what a page installs ends with it
            sys.modules["stope.accel"].uninstall()
    print(f"{ran} blocks ran, {len(reasons)} did not", *reasons, sep="\n")
    assert ran + len(reasons) == page.read_text(encoding="utf-8").count("\n```python\n")


def test_pages_for_python_are_there():
    assert len(PAGES) >= 4


def test_a_block_that_prints_something_else_fails():
    with pytest.raises(Difference, match="page:3"):
        run_page("\n\n```python\nprint(1)\n```\n\n```text\n2\n```\n", "page", {})


def test_a_block_that_raises_fails():
    with pytest.raises(NameError):
        run_page("```python\nnobody\n```\n", "page", {})


def test_blocks_share_a_namespace_and_marked_ones_do_not_run():
    first, marked = "```python\nx = 1\n```\n", "<!-- not run: needs a GPU -->\n```python\nx = 2\n```\n"
    last = "```python\nprint(x)\n```\n```text\n1\n```\n"
    ran, reasons = run_page(first + marked + last, "page", {})
    assert ran == 2
    assert reasons == ["page:5: needs a GPU"]
