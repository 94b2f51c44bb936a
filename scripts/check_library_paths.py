#!/usr/bin/env python3
"""Checks where the programs and libraries below a folder look for libraries: check_library_paths.py FOLDER

An empty or relative element of RUNPATH or RPATH means the current folder. A library that lies there would be run.
"""
import pathlib
import re
import subprocess
import sys


def is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def library_path(path):
    """The elements of RPATH and RUNPATH, as `readelf` prints them."""
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return [element for found in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", text) for element in found.split(":")]


def is_safe(element):
    return element.startswith("/") or element == "$ORIGIN" or element.startswith("$ORIGIN/")


def main():
    folder = pathlib.Path(sys.argv[1])
    linked = [path for path in folder.rglob("*") if is_elf(path) and not path.suffix == ".o"]
    wrong = [(path, element) for path in linked for element in library_path(path) if not is_safe(element)]
    for path, element in wrong:
        print(f"{path} looks for libraries in '{element}', which means the current folder", file=sys.stderr)
    if not linked:
        sys.exit(f"{folder} has no programs")
    if wrong:
        sys.exit(1)
    print(f"{len(linked)} programs and libraries: no library path leads to the current folder")


if __name__ == "__main__":
    main()
