#!/usr/bin/env python3
"""Joins sources for a build that is not kept: scripts/join_sources.py FOLDER SOURCE... (STOPE_JOIN, cmake/StopeTargets.cmake)

Writes files of up to 16 sources each to FOLDER and prints what to compile, separated by semicolons: those files, and the
sources that must stay alone (source_batches.py says which). Messages and line numbers are those of the sources. A file
that would not change is not written, so that nothing is compiled again.
"""

import pathlib
import sys

from source_batches import batches, header_names, joined

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 16


def main():
    folder, *sources = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    shared = header_names(file for part in ("include", "src", "cli") for file in (ROOT / part).rglob("*.hpp"))
    written, made = set(), []
    for files in batches(sorted(sources), MOST):
        if len(files) == 1:
            made.append(files[0])
            continue
        path = folder / f"{files[0].stem}_and_{len(files) - 1}.cpp"
        text = "".join(f'#line 1 "{file}"\n{part}' for file, part in zip(files, joined(files, shared)))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        written.add(path)
        made.append(path)
    for old in folder.glob("*.cpp"):
        if old not in written:
            old.unlink()
    print(";".join(map(str, made)))


if __name__ == "__main__":
    main()
