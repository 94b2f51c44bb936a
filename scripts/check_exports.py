#!/usr/bin/env python3
"""Checks that a shared library of stope exports its API and nothing else (docs/adr/0025-small-calls.md).

  check_exports.py LIBRARY [--list]

A symbol of namespace stope must be named in a public header; what lies in an internal namespace, which has the name of a
folder of src/, must not be exported. The functions of include/stope/stope.h must all be there, and no other C symbol.
Instantiations of the standard library's templates, which are weak, are not counted.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEAK = "VvWwu"
# _Z, what the symbol is for (a vtable, a typeinfo, a guard, a thunk), the namespace, and the first name in it.
NAME = re.compile(r"^_Z(?:T[VTIS]|GV|GR|T[hc]n?\d+_(?:n?\d+_)?|T[vc]n?\d+_n?\d+_)?N?[rVKRO]*5stope(\d+)(\w+)")
# An operator of the namespace has two letters in place of a name.
OPERATOR = re.compile(r"^_ZN?5stope[a-z]{2}E?[RKN]")


def exported(library):
    """The symbols with their type letters, as `nm` prints them."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        *_, kind, symbol = line.split()
        yield kind, symbol.split("@")[0]


def problem(kind, symbol, names, internal, c_functions):
    """Why a symbol must not be exported; empty if it may."""
    if symbol in c_functions:
        return ""
    found = NAME.match(symbol)
    if not found:
        if OPERATOR.match(symbol):
            return "" if "operator" in names else "is no operator of the API"
        return "" if kind in WEAK else "is not in namespace stope"
    name = found[2][:int(found[1])]
    if name in internal:
        return f"is in the internal namespace stope::{name}"
    return "" if name in names else f"is not of the API: no public header names {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print the exported symbols of namespace stope")
    arguments = parser.parse_args()
    text = "".join(path.read_text() for path in (ROOT / "include" / "stope").glob("*.hpp"))
    names = set(re.findall(r"\w+", re.sub(r"//.*", "", text)))
    internal = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()} | {"environment", "fault", "checked", "simd", "math"}
    c_functions = set(re.findall(r"^STOPE_API .*?\b(stope_\w+)\(", (ROOT / "include/stope/stope.h").read_text(), re.M))
    symbols = list(exported(arguments.library))
    wrong = [(symbol, why) for kind, symbol in symbols if (why := problem(kind, symbol, names, internal, c_functions))]
    absent = c_functions - {symbol for _, symbol in symbols}
    ours = [symbol for _, symbol in symbols if NAME.match(symbol)]
    if arguments.list:
        print(subprocess.run(["c++filt"], input="\n".join(ours), capture_output=True, text=True, check=True).stdout, end="")
    demangled = subprocess.run(["c++filt"], input="\n".join(symbol for symbol, _ in wrong), capture_output=True, text=True, check=True)
    for line, (_, why) in zip(demangled.stdout.splitlines(), wrong):
        print(f"{line} {why}", file=sys.stderr)
    if absent:
        sys.exit(f"{arguments.library} lacks {', '.join(sorted(absent))} of stope.h")
    if not ours:
        sys.exit(f"{arguments.library} exports nothing of namespace stope")
    if wrong:
        sys.exit(f"{len(wrong)} symbols should not be exported")
    print(f"{len(ours)} symbols of the C++ API, {len(c_functions)} of the C ABI, {len(symbols) - len(ours) - len(c_functions)} instantiations of templates")


if __name__ == "__main__":
    main()
