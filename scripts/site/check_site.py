#!/usr/bin/env python3
"""Checks the built site: check_site.py FOLDER, or --self-test.

Every link inside the site leads to a file and, with #, to an id that is there. No page, style or picture fetches
anything from a network. Links that a reader may follow to the world are counted, not followed.
"""

import html.parser
import pathlib
import re
import sys
import tempfile
import urllib.parse

FETCHING = {"script": ["src"], "img": ["src", "srcset"], "iframe": ["src"], "source": ["src", "srcset"], "video": ["src"],
            "audio": ["src"], "embed": ["src"], "object": ["data"], "input": ["src"], "image": ["href", "xlink:href"],
            "use": ["href", "xlink:href"]}
RELS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
OUTSIDE = re.compile(r"^\s*(?:https?:)?//", re.I)
IN_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])\s*((?:https?:)?//[^'\")\s]+)", re.I)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.fetched, self.in_style = set(), [], [], False

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        for key in ("id", "name"):
            if values.get(key):
                self.ids.add(values[key])
        if tag == "a" and values.get("href") is not None:
            self.links.append(values["href"])
        for key in FETCHING.get(tag, []):
            if values.get(key):
                self.fetched.append(values[key])
        if tag == "link" and RELS & set((values.get("rel") or "").split()):
            self.fetched.append(values.get("href") or "")
        if values.get("style"):
            self.fetched += IN_STYLE.findall(values["style"])
        self.in_style = tag == "style"

    def handle_endtag(self, tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.fetched += IN_STYLE.findall(data)


def check(folder):
    pages, findings, world = {}, [], 0
    for path in folder.rglob("*.html"):
        pages[path] = Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    for path, page in pages.items():
        place = path.relative_to(folder)
        for link in page.links + page.fetched:
            if OUTSIDE.match(link) or link.startswith(("mailto:", "data:")):
                world += 1
                if link in page.fetched and OUTSIDE.match(link):
                    findings.append(f"{place}: fetches {link}")
                continue
            target, _, anchor = link.partition("#")
            target = urllib.parse.unquote(target.split("?")[0])
            if path.name == "404.html" and target.startswith("/"):
                target = target.lstrip("/") or "."
            to = (path.parent / target).resolve() if target else path
            to = to / "index.html" if to.is_dir() else to
            if not to.exists():
                findings.append(f"{place}: no {link}")
            elif anchor and to in pages and urllib.parse.unquote(anchor) not in pages[to].ids | {"__top"}:
                findings.append(f"{place}: no {link}: the page lacks the id")
    for path in folder.rglob("*"):
        if path.suffix in (".css", ".svg"):
            text = path.read_text(encoding="utf-8", errors="replace")
            found = IN_STYLE.findall(text)
            if path.suffix == ".svg":
                found += [link for link in re.findall(r"""<image[^>]*href=["']([^"']+)""", text) if OUTSIDE.match(link)]
            findings += [f"{path.relative_to(folder)}: fetches {link}" for link in found]
    return findings, len(pages), world


def self_test():
    cases = [
        ('<a href="b.html#x">', None), ('<a href="b.html#y">', "lacks the id"), ('<a href="c.html">', "no c.html"),
        ('<img src="http://a.b/c.png">', "fetches"), ('<link rel="stylesheet" href="https://a.b/c.css">', "fetches"),
        ('<script src="//a.b/c.js"></script>', "fetches"), ('<style>@import "https://a.b/c.css";</style>', "fetches"),
        ('<p style="background: url(https://a.b/c.png)">', "fetches"), ('<a href="https://a.b/">', None),
    ]
    for text, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            (folder / "a.html").write_text(text, encoding="utf-8")
            (folder / "b.html").write_text('<p id="x">', encoding="utf-8")
            found = check(folder)[0]
            if (wanted is None) != (not found) or (wanted and wanted not in found[0]):
                raise SystemExit(f"{text}: wanted {wanted}, got {found}")


def main():
    if sys.argv[1] == "--self-test":
        self_test()
        return 0
    findings, n_pages, world = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(findings[:60]))
    print(f"{n_pages} pages, {len(findings)} findings, {world} links to the world")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
