#!/usr/bin/env python3
"""Runs the commands in the ```console blocks of README.md and docs/EXAMPLES.md, and compares what they print with the block.

Commands follow '$ '. They run where a reader stands after 'make demo': at the root of a copy of the project that has the
tables and the program in their places, one copy per document. So stope is found, and the tables are, only after the
document's own 'export' and 'cd'. Commands that are not stope's (make, git) are skipped.
Output is stdout and stderr together. Times, rates and the machine's own figures differ from run to run and are not compared.
A line '...' stands for any lines.

  scripts/check_readme.py --program build/release/cli/stope [--update]
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "EXAMPLES.md"]

VARYING = [
    (re.compile(r"\d+(\.\d+)?(e-?\d+)?( ?)(ns|us|µs|ms|s|min)\b"), "TIME"),
    (re.compile(r"\d+(\.\d+)?( ?)(B|kB|KB|MB|GB|TB|KiB|MiB|GiB)\b"), "BYTES"),
    (re.compile(r"\d+(\.\d+)?( ?)([kMG] ?)?\w+/s\b"), "RATE"),
    (re.compile(r"\d+(\.\d+)?(e[+-]?\d+)? per second"), "RATE"),
    (re.compile(r"\b\d+ (threads?|cores?)\b"), "THREADS"),
    (re.compile(r"^backend .*"), "backend"),  # depends on the CPU
]


def plain(line):
    for pattern, name in VARYING:
        line = pattern.sub(name, line)
    return re.sub(r"\s+", " ", line).rstrip()


def examples(text):
    """(line number, command, expected lines) of every command in the console blocks."""
    inside, found = False, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line.strip() == "```console"
        elif inside and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif inside and found:
            found[-1][2].append(line)
    return found


def matches(wanted, got):
    """Compares lines; '...' stands for any number of them."""
    if not wanted:
        return not got
    if wanted[0] == "...":
        return any(matches(wanted[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and wanted[0] == got[0] and matches(wanted[1:], got[1:])


def check(document, program, update):
    """Runs the examples of one document; returns how many ran and how many failed."""
    text = document.read_text(encoding="utf-8")
    failed = run = 0
    # A copy, so that files an example writes do not end up in the project.
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        shutil.copytree(ROOT / "examples" / "data", work / "examples" / "data")
        place = work / "build" / "release" / "cli"
        place.mkdir(parents=True)
        (place / "stope").symlink_to(program)
        stand = []  # how the reader came to where the next command is typed
        for number, command, expected in examples(text):
            if command.startswith(("cd ", "export ")):
                stand.append(command)
                continue
            if not re.search(r"\bstope\b", command) or command.startswith(("make", "git", "cmake")):
                continue
            run += 1
            shell = " && ".join([*stand, command])
            done = subprocess.run(["bash", "-c", shell], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, check=False)
            got = done.stdout.splitlines()
            if update:
                block = "\n".join(["$ " + command] + expected)
                text = text.replace(block, "\n".join(["$ " + command] + got))
            elif matches([plain(line) for line in expected], [plain(line) for line in got]):
                print(f"PASS {document.name}:{number}: {command}")
            else:
                failed += 1
                print(f"FAIL {document.name}:{number}: {command}")
                print(f"  {document.name} says:", *expected, "  printed:", *got, sep="\n    ")
    if update:
        document.write_text(text, encoding="utf-8")
    return run, failed


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--update", action="store_true", help="write what is printed into the documents instead")
    options = arguments.parse_args()
    program = pathlib.Path(options.program).resolve()

    failures = 0
    for document in DOCUMENTS:
        run, failed = check(document, program, options.update)
        failures += failed
        if run == 0:
            print(f"FAIL {document.name} has no example that can be run")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
