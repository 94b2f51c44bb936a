#!/usr/bin/env python3
"""Checks that what the documents point to exists: relative links, and the paths in backquotes of ARCHITECTURE and ASSURANCE."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:src|include|cli|tests|fuzz|bench|examples|scripts|docs)/[\w./*-]*)`")


def main():
    documents = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")) + sorted((ROOT / "examples").rglob("*.md"))
    documents += sorted((ROOT / "bench").glob("*.md"))
    broken = []
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
