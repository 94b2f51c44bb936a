#!/usr/bin/env python3
"""Joins sources for a build that is not kept: scripts/join_sources.py FOLDER SOURCE... (STOPE_JOIN, cmake/StopeTargets.cmake)

Writes files of up to 16 sources each to FOLDER and prints what to compile, separated by semicolons: those files, and the
sources that must stay alone (source_batches.py says which). Messages and line numbers are those of the sources. A file
that would not change is not written, so that nothing is compiled again.
"""

import json
import pathlib
import sys

import source_batches

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 16


def names_of_headers(kept):
    """The names that the project's headers declare, read once for all calls: `kept` holds them until a header changes."""
    headers = sorted(file for part in ("include", "src", "cli", "tests") for file in (ROOT / part).rglob("*.hpp"))
    state = [[str(file), file.stat().st_mtime_ns] for file in [*headers, pathlib.Path(source_batches.__file__)]]
    if kept.exists():
        before, names = json.loads(kept.read_text(encoding="utf-8"))
        if before == state:
            return set(names)
    names = source_batches.header_names(headers)
    kept.write_text(json.dumps([state, sorted(names)]), encoding="utf-8")
    return names


def main():
    folder, *sources = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    shared = names_of_headers(folder.parent / "header_names.json")
    written, made = set(), []
    for files in source_batches.batches(sorted(sources), MOST):
        if len(files) == 1:
            made.append(files[0])
            continue
        path = folder / f"{files[0].stem}_and_{len(files) - 1}.cpp"
        text = "".join(f'#line 1 "{file}"\n{part}' for file, part in zip(files, source_batches.joined(files, shared)))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        assert path not in written, path
        written.add(path)
        made.append(path)
    for old in folder.glob("*.cpp"):
        if old not in written:
            old.unlink()
    print(";".join(map(str, made)))


if __name__ == "__main__":
    main()
