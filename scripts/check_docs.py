#!/usr/bin/env python3
"""Checks that what the documents point to exists: relative links, and the paths in backquotes of ARCHITECTURE and ASSURANCE.

It also checks that CONTRIBUTING.md has a row for each environment variable in use and for no other, and that the
library reads the environment in one place.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:src|include|cli|tests|fuzz|bench|examples|scripts|docs)/[\w./*-]*)`")

VARIABLE_ROW = re.compile(r"^\| `(STOPE_[A-Z0-9_]+)` \|", re.MULTILINE)
IN_QUOTES = re.compile(r'"(STOPE_[A-Z0-9_]+)(?:=[^"]*)?"')
IN_SHELL = re.compile(r"\$\{?(STOPE_[A-Z0-9_]+)|(?<![-\w])(STOPE_[A-Z0-9_]+)=")
READER = "src/base/environment.cpp"


def check_environment():
    """What is wrong with the tables of environment variables; who reads the environment."""
    used = {}
    wrong = []
    for top in ("src", "cli", "tests", "scripts", "bench", "fuzz", "examples"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".inl", ".cu", ".cuh", ".py", ".sh"):
                continue
            place, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
            form = IN_SHELL if path.suffix == ".sh" else IN_QUOTES
            for found in form.finditer(text):
                used.setdefault(next(name for name in found.groups() if name), place)
            if top in ("src", "cli") and place != READER and "getenv(" in text:
                wrong.append(f"{place}: calls getenv, which is for {READER} only")
    rows = VARIABLE_ROW.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    wrong += [f"{place}: {name} has no row in CONTRIBUTING.md" for name, place in used.items() if name not in rows]
    wrong += [f"CONTRIBUTING.md: nothing uses {name}" for name in rows if name not in used]
    wrong += [f"CONTRIBUTING.md: {name} has {rows.count(name)} rows" for name in set(rows) if rows.count(name) > 1]
    return wrong


def main():
    documents = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")) + sorted((ROOT / "examples").rglob("*.md"))
    documents += sorted((ROOT / "bench").glob("*.md"))
    broken = check_environment()
    for document in documents:
        text = document.read_text(encoding="utf-8")
        for link in LINK.findall(text):
            if not (document.parent / link).exists():
                broken.append(f"{document.relative_to(ROOT)}: link to {link}")
        if document.name in ("ARCHITECTURE.md", "ASSURANCE.md"):
            for path in PATH.findall(text):
                if not any(ROOT.glob(path.rstrip("/"))):
                    broken.append(f"{document.relative_to(ROOT)}: {path} does not exist")
    print("\n".join(broken) or f"check_docs: {len(documents)} documents")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
