#!/usr/bin/env python3
"""Runs clang-tidy in parallel over the C++ sources of src/ and cli/ that a build folder compiles, and remembers what passed.

A file's key is a hash of everything of the project its result can depend on: its own text, the text of every project
header it reaches, .clang-tidy and the version of clang-tidy. --all forgets what passed.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

from check_includes import includes, resolve

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


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--build", required=True)
    arguments.add_argument("--cache", required=True)
    arguments.add_argument("--all", action="store_true", help="also files that passed before")
    arguments.add_argument("--tidy", default=os.environ.get("CLANG_TIDY", "clang-tidy-19"))
    options = arguments.parse_args()

    version = subprocess.run([options.tidy, "--version"], capture_output=True, check=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes()
    cache = pathlib.Path(options.cache)
    passed = set() if options.all or not cache.exists() else set(cache.read_text().split())

    commands = json.loads((pathlib.Path(options.build) / "compile_commands.json").read_text())
    files = sorted({pathlib.Path(entry["file"]).resolve() for entry in commands})
    files = [file for file in files if file.is_relative_to(ROOT / "src") or file.is_relative_to(ROOT / "cli")]
    files = [file for file in files if file.suffix == ".cpp"]  # device code is nvcc's, whose flags clang does not take
    keys = {file: key_of(file, settings) for file in files}
    todo = [file for file in files if keys[file] not in passed]

    failed = 0
    good = {keys[file] for file in files if keys[file] in passed}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        # The longest files first, so that none is left over for one core at the end.
        todo.sort(key=lambda file: -file.stat().st_size)
        for file, (code, out, err) in zip(todo, pool.map(lambda file: run(options.tidy, options.build, file), todo)):
            if code == 0:
                good.add(keys[file])
            else:
                failed += 1
                print(out.strip() or err.strip())
    cache.write_text("\n".join(sorted(good)) + "\n")
    print(f"clang-tidy: {len(files)} files, {len(todo)} checked, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
