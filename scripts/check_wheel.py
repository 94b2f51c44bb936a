#!/usr/bin/env python3
"""Checks what the Python package ships (docs/PYTHON.md says the same).

  scripts/check_wheel.py MODULE.so    the native module: it needs no library but glibc's, and shows one name
  scripts/check_wheel.py WHEEL.whl    a wheel: its module, its plug-in, its files and its size
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

GLIBC_LIBRARIES = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux[-\w]*\.so\.\d+")
ENTRIES = {"PyInit__core", "stope_cuda_plugin"}
KNOWN_FILES = re.compile(
    r"stope/([\w/]+/)?[\w.-]+\.(py|pyi|so|typed)|stope/serve/(api_)?page/[\w./-]+\.(html|css|js|svg)|stope-[^/]+\.dist-info/.*"
)
OLDEST_GLIBC = (2, 28)  # that of manylinux_2_28
MOST_BYTES = 40_000_000
WANTED = ["__init__.py", "__init__.pyi", "_core.pyi", "py.typed"]


def readelf(option, path):
    return subprocess.run(["readelf", "--wide", option, path], capture_output=True, text=True, check=True).stdout


def newest_glibc(path):
    """The newest version of glibc that a library asks for, as a pair."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", readelf("-V", path))
    return max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))


def check_library(path):
    """Yields what is wrong with a library."""
    foreign = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path)) if not GLIBC_LIBRARIES.fullmatch(name)]
    if foreign:
        yield f"{path.name} needs {', '.join(foreign)}"
    shown = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    shown = {line.split()[-1].split("@")[0] for line in shown.splitlines()} - ENTRIES
    if shown:
        yield f"{path.name} shows {', '.join(sorted(shown)[:5])}"
    if re.search(r"RUNPATH|RPATH", readelf("-d", path)):
        yield f"{path.name} looks for libraries in folders of the machine that built it"
    if re.search(r"GNU_STACK.* RWE ", readelf("-l", path)):
        yield f"{path.name} asks for a stack that can be run"


def check_module(path, oldest):
    yield from check_library(path)
    newest = newest_glibc(path)
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, glibc {newest[0]}.{newest[1]}")
    if oldest and newest > oldest:
        yield f"{path.name} needs glibc {newest[0]}.{newest[1]}, and docs/PYTHON.md says {oldest[0]}.{oldest[1]}"


def check_wheel(path, oldest):
    size = path.stat().st_size
    print(f"{path.name}: {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        yield f"{path.name} has {size} bytes, more than {MOST_BYTES}"
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as wheel:
        wheel.extractall(folder)
        package = pathlib.Path(folder, "stope")
        for name in WANTED:
            if not (package / name).is_file():
                yield f"{path.name} lacks stope/{name}"
        if not [name for name in wheel.namelist() if re.fullmatch(r"stope-[^/]+\.dist-info/(licenses/)?LICENSE", name)]:
            yield f"{path.name} lacks the license"
        strange = [name for name in wheel.namelist() if not name.endswith("/") and not KNOWN_FILES.fullmatch(name)]
        if strange:
            yield f"{path.name} holds {', '.join(strange[:5])}"
        modules = list(package.glob("_core*.so"))
        if len(modules) != 1:
            yield f"{path.name} has {len(modules)} native modules"
        for module in modules:
            yield from check_module(module, oldest)
        for plugin in package.glob("libstope_cuda.so"):
            yield from check_module(plugin, oldest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--any-glibc", action="store_true", help="take whatever glibc the machine that built it has")
    arguments = parser.parse_args()
    check = check_wheel if arguments.path.suffix == ".whl" else check_module
    wrong = list(check(arguments.path, None if arguments.any_glibc else OLDEST_GLIBC))
    for problem in wrong:
        print(f"FAIL {problem}")
    if wrong:
        sys.exit(1)
    print(f"PASS {arguments.path.name}")


if __name__ == "__main__":
    main()
