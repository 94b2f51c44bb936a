#!/usr/bin/env python3
"""Checks that the C ABI (include/stope/stope.h) keeps what its version promises, against the last dump in docs/abi.

  scripts/check_abi.py             exit 1 where a promise is broken, or where the dump is old
  scripts/check_abi.py --update    writes the dump of the header as it is, unless a promise is broken
  scripts/check_abi.py --redo      writes it in any case: for a version that nobody has yet
  scripts/check_abi.py --library LIBSTOPE.SO [--update | --redo]   the same for the names and types of options
  scripts/check_abi.py --self-test changes the header in every way and wants each found

What is removed or changed needs a new STOPE_ABI_MAJOR. What is added needs a new STOPE_ABI_MINOR, or major.
Functions and structures are compared by libabigail (abidw, abidiff). It reads debug information, so that the header's
functions get empty bodies and are compiled as C, which takes no second and needs no build of stope. Constants are
compared by their values, which the compiler says.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include" / "stope" / "stope.h"
DUMP = ROOT / "docs" / "abi"
COMPILER = os.environ.get("CC", "cc")
QUIET = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--no-architecture",
         "--type-id-style", "hash"]
JOBS = """run read arrow stats correlation histogram value_counts best_cuts find_cuts evaluate confusion feature_ranges pairwise
pairwise_distances neighbors classify regress pca lsq tree cuts normalize impute apply search""".split()
VERSION = tuple("STOPE_ABI_MAJOR STOPE_ABI_MINOR".split())


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"check_abi: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def library_of(header, folder):
    """A shared object with all functions of the header, none of which does anything, and with debug information."""
    source, library = folder / "abi.c", folder / "libabi.so"
    source.write_text(re.sub(r"^(STOPE_API [^;]*);", r"\1 { __builtin_trap(); }", header, flags=re.M), encoding="utf-8")
    run(COMPILER, "-std=gnu99", "-g", "-O0", "-shared", "-fPIC", "-o", library, source)
    return library


def constants_of(header, folder):
    """{name: value} of all enumerators and of the macros that are numbers."""
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    names = re.findall(r"\b(STOPE_[A-Z0-9_]+)\s*=", code) + re.findall(r"^#define (STOPE_[A-Z0-9_]+) \d+$", code, re.M)
    lines = "".join(f'  printf("{name} %lld\\n", (long long)({name}));\n' for name in names)
    source, program = folder / "constants.c", folder / "constants"
    source.write_text(f"{header}\n#include <stdio.h>\nint main(void) {{\n{lines}  return 0;\n}}\n", encoding="utf-8")
    run(COMPILER, "-std=gnu99", "-o", program, source)
    return read_constants(run(program))


def read_constants(text):
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


def options_of(library):
    """{"JOB OPTION": type} of all options that a library describes."""
    stope = ctypes.CDLL(str(library.resolve()))
    stope.stope_describe_options.restype = ctypes.c_char_p
    found = {}
    for job in JOBS:
        described = stope.stope_describe_options(job.encode())
        if described is None:
            sys.exit(f"check_abi: the library does not know the job '{job}'")
        found |= {f"{job} {option['name']}": option["type"] for option in json.loads(described)}
    return found


def compare_options(options, lines):
    """What is gone or changed since these lines were written, and what is new."""
    old = dict(line.rsplit(" ", 1) for line in lines)
    broken = [f"option {name} is {options.get(name, 'no more')}, and was {kind}\n" for name, kind in old.items()
              if options.get(name) != kind]
    return "".join(broken), "".join(f"option {name} was not there\n" for name in options if name not in old)


def judged(broken, added, was, now):
    """What is wrong about changes between two versions, or nothing."""
    if now < was:
        return f"the version of the ABI is {version_text(now)}, and was {version_text(was)}\n"
    if broken and now[0] == was[0]:
        return broken + f"this breaks version {version_text(was)}: it needs a new STOPE_ABI_MAJOR\n"
    if added and now == was:
        return added + f"version {version_text(was)} lacks this: it needs a new STOPE_ABI_MINOR\n"
    return ""


def abidiff(old, new, *options):
    """What differs, as libabigail says it, or nothing."""
    done = subprocess.run(["abidiff", "--no-architecture", "--harmless", *options, old, new], capture_output=True,
                          text=True, check=False)
    if done.returncode & 3:  # an error, or wrong usage
        sys.exit(f"check_abi: abidiff failed:\n{done.stdout}{done.stderr}")
    return done.stdout if done.returncode else ""


def version_text(version):
    return ".".join(map(str, version))


def findings(header, dump, folder):
    """(what breaks a promise, what differs from the dump) as texts; both empty where the dump is up to date."""
    library, constants = library_of(header, folder), constants_of(header, folder)
    old = read_constants((dump / "constants.txt").read_text(encoding="utf-8"))
    was, now = (tuple(all_[name] for name in VERSION) for all_ in (old, constants))
    broken = [abidiff(dump / "stope.abi", library, "--no-added-syms")]
    broken += [f"{name} is {constants.get(name, 'no more')}, and was {value}\n" for name, value in old.items()
               if name not in VERSION and constants.get(name) != value]
    added = [abidiff(dump / "stope.abi", library)] + [f"{name} was not there\n" for name in constants if name not in old]
    broken, added = "".join(broken), "".join(added)
    return judged(broken, added, was, now), broken or added or ("" if now == was else f"the version is {version_text(now)} now\n")


def write_dump(header, dump, folder):
    dump.mkdir(parents=True, exist_ok=True)
    (dump / "stope.abi").write_text(run("abidw", *QUIET, library_of(header, folder)), encoding="utf-8")
    lines = "".join(f"{name} {value}\n" for name, value in constants_of(header, folder).items())
    (dump / "constants.txt").write_text(lines, encoding="utf-8")


def check_options(library, dump, update, redo):
    """The versions are those of the two files: the dump of options names its own in the first line."""
    options = options_of(library)
    header = re.findall(r"^#define STOPE_ABI_M\w+ (\d+)$", HEADER.read_text(encoding="utf-8"), re.M)
    now, file = tuple(map(int, header)), dump / "options.txt"
    if not redo:
        lines = file.read_text(encoding="utf-8").splitlines()
        broken, added = compare_options(options, lines[1:])
        wrong = judged(broken, added, tuple(map(int, lines[0].split()[-1].split("."))), now)
        if wrong:
            sys.exit(f"{wrong}check_abi: the options of the C ABI break its promise")
        if (broken or added) and not update:
            sys.exit(f"{broken}{added}check_abi: the dump is old: run this with --update and commit docs/abi")
    if redo or update:
        text = "".join(f"{name} {kind}\n" for name, kind in options.items())
        file.write_text(f"version {version_text(now)}\n{text}", encoding="utf-8")
    print(f"check_abi: {len(options)} options keep their promises")
    return 0


def self_test(header, folder):
    # (what is replaced, by what, how it must be judged: kept, broken, lacking, back, old)
    minor, major = (re.search(rf"#define {name} \d+", header).group() for name in reversed(VERSION))
    more = [("uint32_t stope_abi(void);", "uint32_t stope_abi(void);\nSTOPE_API void stope_more(void);")]
    constant = [("  STOPE_CANCELLED = 7,", "  STOPE_CANCELLED = 7,\n  STOPE_MORE = 10,")]
    gone = [(re.search(r"^STOPE_API .*stope_metrics\(void\);\n", header, re.M).group(), "")]
    longer = [("char option[64];", "char option[65];")]
    next_minor, next_major = [(minor, minor + "7")], [(major, major + "7")]
    cases = [
        ("nothing", [], "kept"),
        ("a comment", [("/* The version of the library", "/* The release")], "kept"),
        ("the name of a parameter", [("double radius", "double within")], "kept"),
        ("a removed function", gone, "broken"),
        ("a changed argument", [("double radius", "float radius")], "broken"),
        ("a changed result", [("uint32_t stope_abi", "uint64_t stope_abi")], "broken"),
        ("an argument more", [("stope_metrics(void)", "stope_metrics(int32_t which)")], "broken"),
        ("a const less", [("stope_table_rows(const stope_table*", "stope_table_rows(stope_table*")], "broken"),
        ("a longer member", longer, "broken"),
        ("a renamed member", [("void* reserved;", "void* flags;")], "broken"),
        ("a member more", [("void* reserved;", "void* reserved;\n  int32_t more;")], "broken"),
        ("a changed type", [("typedef int32_t stope_code;", "typedef int64_t stope_code;")], "broken"),
        ("a changed constant", [("STOPE_CANCELLED = 7", "STOPE_CANCELLED = 10")], "broken"),
        ("a removed constant", [("  STOPE_CANCELLED = 7,", "")], "broken"),
        ("a removed function, new minor version", gone + next_minor, "broken"),
        ("an added function", more, "lacking"),
        ("an added constant", constant, "lacking"),
        ("an older version", [(major, major[:-1] + "0")], "back"),
        ("an added function, new minor version", more + next_minor, "old"),
        ("an added constant, new minor version", constant + next_minor, "old"),
        ("a longer member, new major version", longer + next_major, "old"),
        ("a new version alone", next_minor, "old"),
    ]
    says = {"broken": "needs a new STOPE_ABI_MAJOR", "lacking": "needs a new STOPE_ABI_MINOR", "back": "and was"}
    write_dump(header, folder / "dump", folder)
    failed = 0
    for what, changes, wanted in cases:
        changed = header
        for before, after in changes:
            if before not in changed:
                sys.exit(f"check_abi: self-test: the header has no '{before}'")
            changed = changed.replace(before, after)
        wrong, differs = findings(changed, folder / "dump", folder)
        good = (says[wanted] in wrong) if wanted in says else (not wrong and bool(differs) == (wanted == "old"))
        if not good:
            failed += 1
            print(f"{what}: wanted '{wanted}', got {wrong + differs!r}")
    lines = ["knn k integer", "knn metric text"]
    for options, wanted in ({"knn k": "integer", "knn metric": "text"}, (0, 0)), ({"knn k": "integer"}, (1, 0)), (
            {"knn k": "real", "knn metric": "text"}, (1, 0)), ({"knn k": "integer", "knn metric": "text", "knn x": "flag"}, (0, 1)):
        cases.append(options)
        if tuple(map(bool, compare_options(options, lines))) != tuple(map(bool, wanted)):
            failed += 1
            print(f"{options}: {compare_options(options, lines)}")
    print(f"check_abi: self-test: {len(cases) - failed} of {len(cases)} changes are judged right")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    for option in ("--update", "--redo", "--self-test"):
        which.add_argument(option, action="store_true")
    parser.add_argument("--library", type=pathlib.Path)
    options = parser.parse_args()
    if options.library:
        return check_options(options.library, DUMP, options.update, options.redo)
    for tool in ("abidw", "abidiff", COMPILER):
        if shutil.which(tool) is None:
            sys.exit(f"check_abi: there is no {tool}; run scripts/bootstrap.sh")
    header = HEADER.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.self_test:
            return self_test(header, folder)
        if not options.redo:
            wrong, differs = findings(header, DUMP, folder)
            if wrong:
                sys.exit(f"{wrong}check_abi: the C ABI breaks its promise")
            if differs and not options.update:
                sys.exit(f"{differs}check_abi: the dump is old: run scripts/check_abi.py --update and commit docs/abi")
        if options.redo or options.update:
            write_dump(header, DUMP, folder)
        print(f"check_abi: {HEADER.name} keeps its promises")
    return 0


if __name__ == "__main__":
    sys.exit(main())
