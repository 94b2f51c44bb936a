#!/usr/bin/env python3
"""Makes the reference of the C++ and C API from the comments of include/stope/: cpp_reference.py PROJECT FOLDER.

A header becomes a page: the comment at its top, then its declarations in order, each with the comment above it or
behind it. It reads the layout that clang-format gives, and stops where a declaration has no end.
"""

import html
import pathlib
import re
import sys
from dataclasses import dataclass, field

MODIFIERS = re.compile(r"^(?:STOPE_API|inline|constexpr|static|explicit|virtual|friend|\[\[nodiscard\]\])\s+")
TYPE = re.compile(r"^(?:template\s*<[^{]*?>\s*)?(?:typedef\s+)?(struct|class|enum class|enum|union)\s+(\w+)?[^;({]*\{", re.S)
SKIPPED = re.compile(r"^(?:#|namespace\b|extern \"C\"|static_assert\b|\}|;)")
FORWARD = re.compile(r"^(?:struct|class|enum class)\s+\w+;")
HEADER_NAME = re.compile(r"(?<![\w/`.])stope/(\w+\.hpp|stope\.h)\b")
DOCUMENT = re.compile(r"(?<![\w/`])docs/([\w/.-]+\.md)\b")
PASCAL = re.compile(r"(?<![\w`:.])([A-Z][a-z]+\w*)(::\w+)?(\(\))?(?![\w`])")


@dataclass
class Item:
    """One declaration: its code without comments, the comment that documents it, and its members."""

    code: str
    doc: str = ""
    kind: str = ""  # struct, class, enum class, enum, or "" for anything else
    name: str = ""
    members: "list[list[Item]]" = field(default_factory=list)


def comment_text(lines):
    """The text of a // or /* */ comment, without its marks."""
    text = "\n".join(lines)
    if text.lstrip().startswith("/*"):
        text = re.sub(r"^\s*/\*<?|\*/\s*$", "", text)
        return "\n".join(re.sub(r"^\s*\* ?", "", line) for line in text.split("\n")).strip()
    return "\n".join(re.sub(r"^\s*//[/<]*<? ?", "", line) for line in lines).strip("\n")


def split_trailing(line):
    """Code and the comment behind it, outside of string literals."""
    found = re.search(r"\s*(///?<?\s.*|/\*.*\*/)\s*$", line)
    quoted = line[:found.start()].count('"') % 2 if found else 0
    return (line[:found.start()], found.group(1)) if found and not quoted else (line, "")


def depth_change(code):
    code = re.sub(r"'(?:\\.|[^'\\])'|\"(?:\\.|[^\"\\])*\"", "", code)
    return sum(code.count(c) for c in "({[") - sum(code.count(c) for c in ")}]")


def paragraphs(lines, where):
    """Groups of items: an item with a comment begins a group, and items right below it without one belong to it."""
    groups, doc, n, open_group = [], [], 0, False
    while n < len(lines):
        line = lines[n].strip()
        if not line:
            open_group, doc, n = False, [], n + 1
        elif line.startswith("/*"):
            first = n
            while "*/" not in lines[n]:
                n += 1
            doc, n, open_group = [comment_text(lines[first:n + 1])], n + 1, False
            section = re.match(r"---- (.+?) -{4,}\s*(.*)", doc[0], re.S)
            if section:
                groups.append([Item("", section.group(2), "section", section.group(1))])
                doc = []
            elif n < len(lines) and not lines[n].strip():  # it belongs to no declaration
                groups.append([Item("", doc[0], "text")])
        elif line.startswith("//"):
            if line.startswith("///"):
                if not doc:
                    open_group = False
                doc.append(comment_text([line]))
            n += 1
        elif line.startswith(("public:", "protected:")):
            doc, n = [], n + 1
        elif SKIPPED.match(line) or FORWARD.match(line):
            if line.startswith("#define") and doc and re.match(r"#define STOPE_\w+ \S", line):
                groups.append([Item(line, "\n".join(doc), "", line.split()[1])])
            doc, n = [], n + 1
        else:
            item, n = declaration(lines, n, where)
            item.doc = "\n".join(doc) if doc else item.doc
            if open_group and not doc and belongs(item, groups):
                groups[-1].append(item)
            else:
                groups.append([item])
            open_group, doc = True, []
    return groups


def belongs(item, groups):
    """Whether an item without a comment belongs to the group above it: the comment there speaks of several, or names it."""
    if item.kind or not groups or groups[-1][0].kind:
        return False
    first = groups[-1][0]
    return not first.doc or first.name == item.name or re.search(r"\b(?:they|each|both|these)\b", first.doc, re.I) is not None


def declaration(lines, n, where):
    """The item that begins at line n, and the line after it."""
    code, behind, first, depth = [], [], n, 0
    while True:
        if n >= len(lines) or n - first > 400:
            raise SystemExit(f"{where}: no end of the declaration '{lines[first].strip()}'")
        text, comment = split_trailing(lines[n])
        code.append(text)
        if comment:
            behind.append(comment)
        depth += depth_change(text)
        n += 1
        ended = text.rstrip().endswith((";", "}"))
        if depth == 0 and ended:
            break
    while n < len(lines) and lines[n].strip().startswith("///<"):  # the comment goes on
        behind.append(lines[n].strip())
        n += 1
    whole = "\n".join(code)
    found = TYPE.match(whole.strip())
    if found and "operator" not in whole.split("{")[0]:
        return type_item(found, lines[first:n], whole, where, comment_text(behind) if len(lines[first:n]) == 1 else ""), n
    item = Item(without_body(whole), comment_text(behind))
    item.name = name_of(item.code)
    return item, n


def type_item(found, lines, whole, where, doc):
    kind, name = found.group(1), found.group(2) or ""
    if not name:
        typedef = re.search(r"\}\s*(\w+);\s*$", whole)
        name = typedef.group(1) if typedef else ""
    item = Item(without_comments(lines), doc, kind, name)
    if kind in ("struct", "class", "union"):
        body = lines[1:-1] if len(lines) > 1 else []
        private = next((n for n, line in enumerate(body) if line.strip() == "private:"), len(body))
        public = body[:private]
        if kind == "class":
            public = public[next((n for n, line in enumerate(public) if line.strip() == "public:"), len(public)):]
        item.members = paragraphs(public, where)
        item.code = lines[0].split("{")[0].strip()
    return item


def without_comments(lines):
    return "\n".join(lines).strip()


def without_body(code):
    """A function's declaration without its inline body and member initialisers."""
    code = dedent(code)
    head = re.match(r"(?s)(.*?\)(?:\s*(?:const|noexcept|override))*)\s*(?::[^:].*?)?\{.*\}\s*$", code)
    return head.group(1) + ";" if head and "=" not in head.group(1).split("(")[0] else code.strip()


def dedent(code):
    lines = code.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] if line[:indent].isspace() else line for line in lines)


def name_of(code):
    text = code
    while MODIFIERS.match(text):
        text = MODIFIERS.sub("", text)
    using = re.match(r"using (\w+)", text)
    if using:
        return using.group(1)
    operator = re.search(r"operator\s*(?:[^\w\s(]+|\(\))", text)
    if operator:
        return operator.group()
    call = re.search(r"(~?\w+)\s*\(", text)
    if call and "=" not in text[:call.start()]:
        return call.group(1)
    if "typedef" in text:
        return re.findall(r"\w+", text)[-1]
    plain = re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=[^;]*)?;", text)
    return plain[-1] if plain else text.split("\n")[0]


class Page:
    """Writes one header as Markdown."""

    def __init__(self, path, types, project):
        self.path, self.types, self.project = path, types, project
        self.out, self.anchors = [], set()

    def text(self):
        lines = self.path.read_text(encoding="utf-8").split("\n")
        top = []
        if lines[0].startswith("/*"):
            end = next(n for n, line in enumerate(lines) if "*/" in line)
            top, lines = comment_text(lines[:end + 1]).split("\n"), lines[end + 1:]
        while lines and lines[0].startswith("//"):
            top.append(re.sub(r"^// ?", "", lines.pop(0)))
        name = f"stope/{self.path.name}"
        self.out.append(f"# {name}\n\n```cpp\n#include \"{name}\"\n```\n")
        self.out.append(self.prose("\n".join(top)))
        for group in paragraphs(namespace_lines(lines), self.path.name):
            self.group(group, 3 if self.path.suffix == ".h" else 2, "")
        return "\n".join(self.out) + "\n"

    def group(self, group, level, owner):
        item = group[0]
        if item.kind in ("section", "text"):
            if item.kind == "section":
                self.out.append(f"## {item.name[0].upper()}{item.name[1:]} {{#{self.anchor('section-' + item.name.replace(' ', '-'))}}}\n")
            return self.out.append(self.prose(item.doc))
        if item.kind in ("struct", "class", "union"):
            return self.structure(item, level)
        names = list(dict.fromkeys(i.name for i in group if i.name))
        if item.kind == "enum" and not names:
            names = re.findall(r"^\s*(\w+)(?= =|,|$)", item.code.split("{")[1], re.M)
        title = ", ".join(f"`{name}`" for name in names[:3]) + (", ..." if len(names) > 3 else "")
        anchor = self.anchor((owner + "-" if owner else "") + (names[0] if names else "enum"))
        self.out.append(f"{'#' * level} {title or '`enum`'} {{#{anchor}}}\n")
        language = "c" if self.path.suffix == ".h" else "cpp"
        self.out.append(f"```{language}\n" + "\n".join(i.code for i in group) + "\n```\n")
        docs = [i for i in group if i.doc]
        for i in docs:
            behind = f"`{i.name}`: " if len(group) > 1 and i is not group[0] else ""
            self.out.append(behind + self.prose(i.doc))
        return None

    def structure(self, item, level):
        self.out.append(f"{'#' * level} {item.kind} `{item.name}` {{#{self.anchor(item.name)}}}\n")
        if item.doc:
            self.out.append(self.prose(item.doc))
        fields = [i for group in item.members for i in group if self.is_field(i)]
        shared = {id(i): group[0].doc for group in item.members for i in group if i.kind == ""}
        if fields:
            self.out.append("| member | meaning |\n|---|---|")
            for i in fields:
                doc = i.doc or ""
                if not doc and shared.get(id(i)):
                    doc = "as above"
                self.out.append(f"| {cell(i.code)} | {self.cell_prose(doc)} |")
            self.out.append("")
        for group in item.members:
            rest = [i for i in group if not self.is_field(i)]
            if rest:
                self.group(rest, level + 1, item.name)

    @staticmethod
    def is_field(item):
        before = item.code.split("{")[0]
        while "<" in before and "operator" not in before:
            inner = re.sub(r"<[^<>]*>", "", before)
            if inner == before:
                break
            before = inner
        before = before.split("=")[0]
        return not item.kind and "(" not in before and not item.code.startswith("using") and "operator" not in before

    def anchor(self, name):
        anchor = re.sub(r"[^\w~-]+", "", name) or "operator"
        base, n = anchor, 2
        while anchor in self.anchors:
            anchor, n = f"{base}-{n}", n + 1
        self.anchors.add(anchor)
        return anchor

    def cell_prose(self, doc):
        return self.inline(" ".join(doc.split())).replace("|", "\\|")

    def prose(self, doc):
        """Paragraphs; runs of indented lines stay as they are."""
        out, run, kept = [], [], []

        def flush():
            if run:
                out.append(self.inline("\n".join(run)) + "\n")
                run.clear()
            if kept:
                out.append("```text\n" + "\n".join(kept) + "\n```\n")
                kept.clear()

        for line in doc.split("\n"):
            if not line.strip():
                flush()
            elif line.startswith("  "):
                if run:
                    flush()
                kept.append(line[2:])
            else:
                if kept:
                    flush()
                run.append(line)
        flush()
        return "\n".join(out)

    def inline(self, text):
        pieces = re.split(r"(`[^`]*`)", text)
        return "".join(p if p.startswith("`") else self.linked(html.escape(p, quote=False)) for p in pieces)

    def linked(self, text):
        text = re.sub(r"([*_\[\]])", r"\\\1", text)
        unescaped = lambda s: s.replace("\\_", "_")
        text = re.sub(r"(?<![\w/`.])stope/((?:\w|\\_)+\.hpp|stope\.h)\b", lambda m: self.header_link(unescaped(m.group(1))), text)
        text = re.sub(r"(?<![\w/`])docs/((?:[\w/.-]|\\_)+\.md)\b", lambda m: self.document_link(unescaped(m.group(1))), text)
        return re.sub(r"(?<![\w`:.\[/\\])([A-Z][a-z]+\w*)(::(?:\w|\\_)+)?(\(\))?(?![\w`(.]\w)", self.type_link, text)

    def header_link(self, name):
        if not (self.path.parent / name).exists():
            return f"`stope/{name}`"
        return f"[`stope/{name}`]({name.replace('.', '_')}.md)"

    def document_link(self, name):
        return f"[docs/{name}](../../{name})" if (self.project / "docs" / name).exists() else f"`docs/{name}`"

    def type_link(self, found):
        word = found.group(1)
        if word not in self.types or self.types[word][1] is False or self.path.suffix == ".h":
            return found.group()
        begins = re.search(r"(?:^|[.:;]\s+|\n\n)$", found.string[:found.start()]) is not None
        if not found.group(2) and begins and not re.search(r"[a-z][A-Z]", word):
            return found.group()  # a plain English word
        page, _ = self.types[found.group(1)]
        word = found.group().replace("\\_", "_")
        return f"[`{word}`]({page}#{found.group(1)})"


def cell(code):
    one = " ".join(code.split()).rstrip(";")
    return f"<code>{html.escape(one, quote=False)}</code>".replace("|", "&#124;").replace("*", "&#42;").replace("_", "&#95;")


def namespace_lines(lines):
    """Lines of the public namespace: forward declarations of inner namespaces are left out."""
    out, skipping = [], False
    for line in lines:
        if re.match(r"namespace stope::", line) or re.match(r"namespace (?!stope \{)", line):
            skipping = not line.rstrip().endswith("}")
            if "warnings" in line or "warning" in line:
                skipping = False
            continue
        if skipping and line.startswith("}"):
            skipping = False
            continue
        if not skipping:
            out.append(line)
    return out


def main():
    project, folder = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
    folder = folder / "reference/cpp"
    folder.mkdir(parents=True, exist_ok=True)
    headers = sorted((project / "include/stope").glob("*.hpp")) + [project / "include/stope/stope.h"]
    types = {}  # name -> (page, whether a link to it is wanted)
    for path in headers:
        for group in paragraphs(namespace_lines(path.read_text(encoding="utf-8").split("\n")), path.name):
            if group[0].kind not in ("", "section", "text") and path.suffix == ".hpp":
                types[group[0].name] = (path.name.replace(".", "_") + ".md", len(group[0].name) > 3)
    rows = []
    declared = re.compile(r"^(?:class|struct|enum class) (\w+)[^;]*\{|^STOPE_API [^(]*?(\w+)\(", re.M)
    for path in headers:
        page = path.name.replace(".", "_") + ".md"
        text = Page(path, types, project).text()
        names = [name for found in declared.findall(path.read_text(encoding="utf-8")) for name in found if name]
        lost = [name for name in names if f"`{name}`" not in text and f"{name}(" not in text]
        if lost:
            raise SystemExit(f"{path.name}: the page lacks {', '.join(lost)}")
        (folder / page).write_text(text, encoding="utf-8")
        first = path.read_text(encoding="utf-8").split("\n")[0]
        summary = re.split(r"(?<=[.:]) ", re.sub(r"^(//|/\*) ?", "", first))[0].rstrip(":")
        rows.append(f"| [`{path.name}`]({page}) | {html.escape(summary, quote=False)} |")
    intro = (
        "# C++ and C\n\nEvery public header has a page, made from its comments. `stope/stope.hpp` includes all C++ headers; "
        "[`stope/stope.h`](stope_h.md) is the C ABI ([how to use it](../../C.md)). Everything is in `namespace stope`.\n\n"
        "| header | what it declares |\n|---|---|\n")
    (folder / "index.md").write_text(intro + "\n".join(rows) + "\n", encoding="utf-8")
    print(f"C++ reference: {len(headers)} headers, {len(types)} types")


if __name__ == "__main__":
    main()
