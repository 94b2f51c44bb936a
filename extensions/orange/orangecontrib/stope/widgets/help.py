"""Help pages, which Orange shows for F1 and the question mark: each section of docs/ORANGE.md on a widget is a page.

Orange wants a list of pages on the disk. They are written into its cache when help is first asked for.
"""

import re
from html import escape
from pathlib import Path

from AnyQt.QtGui import QTextDocument
from Orange.misc.environ import cache_dir

__all__ = ["WIDGET_HELP_PATH", "write_pages"]

TEXT = Path(__file__).with_name("help.markdown")  # docs/ORANGE.md


def __getattr__(name):
    if name == "WIDGET_HELP_PATH":  # Orange's name: places of the list, and how to find the links in it
        folder = Path(cache_dir()) / "stope-help"
        folder.mkdir(parents=True, exist_ok=True)
        return ((str(write_pages(folder)), ".//li/a"),)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def write_pages(folder):
    """Write a page for each widget, and the list of them; returns the list's path."""
    parts = re.split(r"^(#+) (.+)$", TEXT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    links = []
    for level, title, text in zip(parts[1::3], parts[2::3], parts[3::3]):
        if level == "###":
            page = re.sub(r"\W+", "-", title.lower()).strip("-") + ".html"
            _write(folder / page, _html(f"# {title}\n{text}"))
            links.append(f'<li><a href="{page}">{escape(title)}</a></li>')
    _write(folder / "index.html", f"<html><body><ul>{''.join(links)}</ul></body></html>")
    return folder / "index.html"


def _html(markdown):
    """A page without the pictures, which are not installed, and the links to other documents."""
    markdown = re.sub(r"!\[[^]]*\]\([^)]*\)", "", markdown)
    markdown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)
    document = QTextDocument()
    document.setMarkdown(markdown)
    return document.toHtml()


def _write(path, html):
    path.write_text(html, encoding="ascii", errors="xmlcharrefreplace")
