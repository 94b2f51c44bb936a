"""Takes a page of stope report apart: as XML, which it is by design, and as a browser's HTML parser would."""

import html.parser
import re
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "link", "br", "hr", "img", "input", "base", "source", "embed", "area", "col", "wbr", "track"}


class _Reader(html.parser.HTMLParser):
    """Counts elements as HTML sees them and complains where tags do not match."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.counts, self.attributes, self.mismatches = [], {}, [], []

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.attributes.extend((tag, *one) for one in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.attributes.extend((tag, *one) for one in attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.mismatches.append(tag)


class Page:
    def __init__(self, data):
        self.bytes = data
        self.text = data.decode("utf-8")
        self.text = self.text.replace("\u00a0", " ")  # blanks at which no line breaks
        assert self.text.startswith("<!DOCTYPE html>\n")
        self.root = ElementTree.fromstring(self.text.removeprefix("<!DOCTYPE html>\n"))
        self.reader = _Reader()
        self.reader.feed(self.text)
        self.reader.close()
        assert self.reader.mismatches == [] and self.reader.open == []

    def all(self, tag):
        return list(self.root.iter(tag))

    def section(self, name):
        for one in self.all("section"):
            if one.get("id") == name:
                return one
        raise KeyError(name)

    def sections(self):
        return [one.get("id") for one in self.all("section")]

    def words(self, name=None):
        """The text of a section, or of the whole page, with single blanks."""
        element = self.root.find("body") if name is None else self.section(name)
        return re.sub(r"\s+", " ", "".join(element.itertext()))

    def table(self, caption):
        """The table whose caption begins so: a list of rows, the head first."""
        for one in self.all("table"):
            if "".join(one.find("caption").itertext()).startswith(caption):
                return [["".join(cell.itertext()) for cell in row] for row in one.iter("tr")]
        raise KeyError(caption)

    def commands(self):
        return ["".join(one.itertext()) for one in self.all("code")]

    def card(self, column):
        for one in self.all("article"):
            if "".join(one.find("div/h3").itertext()) == column:
                return one
        raise KeyError(column)


def number(text):
    return float(text.replace(",", "").replace("−", "-"))


def percent(text):
    return number(text.removesuffix(" %")) / 100
