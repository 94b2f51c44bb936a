#!/usr/bin/env python3
"""Runs clang-tidy in parallel over the C++ sources of src/, cli/ and bindings/ that a build folder compiles, and remembers what passed.

A file's key is a hash of everything of the project its result can depend on: its own text, the text of every project
header it reaches, .clang-tidy and the version of clang-tidy. --all forgets what passed.

Files are checked in batches (source_batches.py). A batch without a finding proves that all its files pass. The files of a
batch with findings are checked one by one, and only those runs are printed and decide.
--one-by-one does so at once.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from check_includes import includes, resolve
from source_batches import batches, header_names, joined

ROOT = pathlib.Path(__file__).resolve().parent.parent


def reached(path, seen):
    """Adds the file and the project headers it includes, directly or not, to `seen`."""
    if path in seen:
        return
    seen.add(path)
    for _, bracket, name in includes(path):
        target = resolve(name, path, ROOT) if bracket == '"' else None
        if target:
            reached(target, seen)


def key_of(path, settings):
    seen = set()
    reached(path, seen)
    digest = hashlib.sha256(settings)
    for file in sorted(seen):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def run(tidy, build, path):
    done = subprocess.run([tidy, "--quiet", "-p", build, str(path)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def flags_of(entry):
    """A compile command without the words that name the file: (folder, arguments)."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    words = words[:at] + words[at + 2:]
    return entry["directory"], tuple(word for word in words if word not in ("-c", entry["file"]))


def write_batches(folder, commands, todo, workers):
    """Writes the batches and how each is compiled; returns (batch, its files) for all that hold several files."""
    folder.mkdir(exist_ok=True)
    groups = {}
    for entry in commands:
        file = pathlib.Path(entry["file"]).resolve()
        if file in todo:
            groups.setdefault(flags_of(entry), []).append(file)
    # Headers are most of the work: a batch of 32 files takes 0.72 of the time of two batches of 16. Every core gets at
    # least four batches.
    size = max(1, min(40, len(todo) // (4 * workers)))
    headers = [file for part in ("include", "src", "cli", "bindings") for file in (ROOT / part).rglob("*.hpp")]
    shared_names = header_names(headers)
    written, entries = [], []
    for (directory, words), files in groups.items():
        for files_of_batch in batches(sorted(files), size):
            if len(files_of_batch) == 1:
                continue
            batch = folder / f"{len(written)}.cpp"
            texts = joined(files_of_batch, shared_names)
            batch.write_text("".join(texts), encoding="utf-8")
            beside = [f"-iquote{parent}" for parent in sorted({file.parent for file in files_of_batch})]
            written.append((batch, files_of_batch))
            arguments = [*words, "-Wno-shadow", *beside, "-c", str(batch)]
            entries.append({"directory": directory, "file": str(batch), "arguments": arguments})
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return written


def findings(batch, files, out):
    """The files of a batch that have findings, and the lines that name other files (headers)."""
    named, elsewhere = set(), set()
    for line in out.splitlines():
        found = re.match(r"(\S+?):(\d+):\d+: (?:warning|error): ", line)
        if not found:
            continue
        if found.group(1) != str(batch):
            elsewhere.add(line)
            continue
        number = int(found.group(2))
        for file in files:
            number -= len(file.read_text(encoding="utf-8").splitlines())
            if number <= 0:
                named.add(file)
                break
    return named, elsewhere


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--build", required=True)
    arguments.add_argument("--cache", required=True)
    arguments.add_argument("--all", action="store_true", help="also files that passed before")
    arguments.add_argument("--one-by-one", action="store_true", help="no batches")
    arguments.add_argument("--tidy", default=os.environ.get("CLANG_TIDY", ROOT / ".venv/bin/clang-tidy"))
    options = arguments.parse_args()

    version = subprocess.run([options.tidy, "--version"], capture_output=True, check=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes()
    cache = pathlib.Path(options.cache)
    passed = set() if options.all or not cache.exists() else set(cache.read_text().split())

    commands = json.loads((pathlib.Path(options.build) / "compile_commands.json").read_text())
    files = sorted({pathlib.Path(entry["file"]).resolve() for entry in commands})
    files = [file for file in files if any(file.is_relative_to(ROOT / part) for part in ("src", "cli", "bindings"))]
    files = [file for file in files if file.suffix == ".cpp"]  # nvcc compiles device code, and clang does not take its flags
    keys = {file: key_of(file, settings) for file in files}
    todo = {file for file in files if keys[file] not in passed}
    good = {file for file in files if file not in todo}
    bad = set()

    def check(pool, chosen):
        # The longest files come first, so that no core is left with one at the end.
        chosen = sorted(chosen, key=lambda file: -file.stat().st_size)
        for file, (code, out, err) in zip(chosen, pool.map(lambda file: run(options.tidy, options.build, file), chosen)):
            (bad if code else good).add(file)
            if code:
                print(out.strip() or err.strip())

    workers = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        folder = pathlib.Path(options.build).resolve() / "batches"
        written = [] if options.one_by_one else write_batches(folder, commands, todo, workers)
        results = pool.map(lambda entry: run(options.tidy, str(folder), entry[0]), written)
        doubted = todo - {file for _, of_batch in written for file in of_batch}
        doubtful, in_headers = set(), set()
        for (batch, of_batch), (code, out, _) in zip(written, results):
            (doubtful if code else good).update(of_batch)
            if "[clang-diagnostic-error" in out:  # slow, not wrong
                print(f"clang-tidy: a batch does not compile: {out.strip().splitlines()[0]}")
                doubted.update(of_batch)
            elif code:
                named, elsewhere = findings(batch, of_batch, out)
                doubted.update(named)
                in_headers.update(elsewhere)
        check(pool, doubted)
        if not bad and not in_headers:  # the batch's findings are in none of those files, so the others are checked as well
            check(pool, doubtful - doubted)
            doubtful = set()
    if in_headers:
        print("\n".join(sorted(in_headers)))
    # A file is in several batches if it is compiled in several ways.
    good -= bad | (doubtful - doubted)
    cache.write_text("\n".join(sorted(keys[file] for file in good)) + "\n")
    print(f"clang-tidy: {len(files)} files, {len(todo)} checked, {len(bad)} failed, {len(in_headers)} findings in headers")
    return 1 if bad or in_headers else 0


if __name__ == "__main__":
    sys.exit(main())
