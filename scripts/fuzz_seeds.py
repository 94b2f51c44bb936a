#!/usr/bin/env python3
"""Makes seeds for the fuzz targets in build/fuzz-seeds: from models and tables of the tests, examples, and the goldens
and data in STOPE_SHARED, if they are there. Nothing of it is committed; the same files give the same seeds.

  scripts/fuzz_seeds.py [FOLDER]
"""

import hashlib
import os
import pathlib
import random
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = pathlib.Path(os.environ.get("STOPE_SHARED", ROOT / ".." / "shared"))
MOST = 1500  # bytes: short seeds run often
MOST_FILES = 12


class Folder:
    """Takes seeds for one target, each text once, under names that follow from their bytes."""

    def __init__(self, path):
        self.path = path
        path.mkdir(parents=True)

    def add(self, data):
        (self.path / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def beginning(data):
    """The first lines of a text, `MOST` bytes or fewer."""
    return data if len(data) <= MOST else data[: data.rfind(b"\n", 0, MOST) + 1]


def files(patterns):
    """Files of the patterns, sorted, at most MOST_FILES of them from each, spread over the list."""
    found = []
    for folder, pattern in patterns:
        every = sorted(path for path in folder.glob(pattern) if path.is_file())
        found += every[:: max(1, len(every) // MOST_FILES)]
    return found


def texts(folder):
    examples, tests = ROOT / "examples" / "data", ROOT / "tests"
    tables = [beginning(path.read_bytes()) for path in files(
        [(examples, "*.csv"), (tests, "model/collection/*/*.csv"), (SHARED, "goldens/**/*.csv"), (SHARED, "data/mixed/*.csv")])]
    csv, parts = Folder(folder / "csv_fuzz"), Folder(folder / "parts_fuzz")
    for text in tables:
        for head in (b"\x05\x10\x10\x00", b"\x00\xff\x1f\x40"):  # header and comma, with chunks of 17 bytes; all guessed
            csv.add(head + text)
        half = text.find(b"\n", len(text) // 2) + 1
        parts.add(b"\x09" + text[:half] + b"\1" + text[half:])
    parts.add(b"\x0a1,2,a\n3,4,\x015,6,c\n,,d\x017,,\n")  # no header, and nothing that the texts leave out
    arff = Folder(folder / "arff_fuzz")
    for path in files([(SHARED, "data/mixed/*.arff"), (tests, "**/*.arff"), (ROOT, "extensions/**/*.arff")]):
        text = path.read_bytes()
        data = text.lower().find(b"@data")
        if 0 <= data < MOST * 3:
            arff.add(b"\0" + text[: text.rfind(b"\n", 0, data + MOST) + 1])
    schema = Folder(folder / "schema_fuzz")
    for path in files([(examples, "*.schema.json"), (SHARED, "goldens/**/*schema*.json")]):
        if path.stat().st_size <= MOST:
            schema.add(b"\0" + path.read_bytes())


def models(folder):
    model = Folder(folder / "model_fuzz")
    for path in files([(ROOT / "tests", "model/collection/*/*.stope")]):
        model.add(path.read_bytes())


def choices(folder):
    """Bytes for the targets that take one byte for each choice: a short input has few choices."""
    for target, sizes in (("neighbors_fuzz", (40, 150, 600)), ("arrow_fuzz", (60, 200, 600)), ("capi_fuzz", (100, 400, 1500))):
        made, source = Folder(folder / target), random.Random(target)
        for size in sizes:
            for _ in range(8):
                made.add(source.randbytes(size))


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "fuzz-seeds"
    shutil.rmtree(folder, ignore_errors=True)
    texts(folder)
    models(folder)
    choices(folder)


if __name__ == "__main__":
    main()
