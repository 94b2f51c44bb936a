#!/usr/bin/env python3
"""Every public function that can fail lets only a stope::Error out (src/base/guarded.hpp).

check_guards.py          names the functions of include/stope/ whose definitions in src/ have no handler
check_guards.py --fix    adds the handlers

A definition counts if it stands in namespace stope at the left margin, its name is called in a public header, and it
is not noexcept. Functions that only return a member are listed in TRIVIAL.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HANDLER = ["} catch (...) {", "  rethrow_as_error();", "}"]
INCLUDE = '#include "base/guarded.hpp"\n'
TRIVIAL = set("""
    KnnIndex::n_samples KnnIndex::n_features NeighborsModel::classifies NeighborsModel::regresses Column::at
    Column::missing Column::size Table::find Table::bytes Table::bytes_in_memory Model::kind version available_threads
    ProgressWatch::state ProgressWatch::begin ProgressWatch::update GramOperator::n_rows GramOperator::n_columns
    DecisionTree::collapse DecisionTree::max_depth DecisionTree::pure DecisionTree::tested
    DecisionTree::n_leaves column_of rethrow_as_error Error::Error
""".split())
NO_FUNCTION = re.compile(r"(template|struct|class|using|constexpr|inline constexpr|static_assert|enum|extern|const \w+ k[A-Z])")


def definitions(lines):
    """Yields (first line, line of the opening brace, closing line, signature) of what namespace stope itself defines."""
    spaces, at = [], 0
    while at < len(lines):
        line = lines[at]
        if opened := re.match(r"(?:inline )?namespace ?([\w:]*) ?\{$", line):
            spaces.append(opened.group(1))
        elif line.startswith("}  // namespace"):
            spaces = spaces[:-1]
        elif re.match(r"[A-Za-z~\[]", line) and not NO_FUNCTION.match(line):
            brace = at
            while brace < len(lines) and not lines[brace].endswith(("{", ";", "}")):
                brace += 1
            if brace < len(lines) and lines[brace].endswith("{}"):
                if spaces == ["stope"]:  # a constructor that only initialises
                    yield at, brace, brace, "\n".join(lines[at:brace + 1])
                at = brace
            elif brace < len(lines) and lines[brace].endswith("{"):
                end = next((i for i in range(brace + 1, len(lines)) if lines[i] in ("}", "};")), len(lines) - 1)
                if spaces == ["stope"] and lines[end] == "}":
                    yield at, brace, end, "\n".join(lines[at:brace + 1])
                at = end
            else:
                at = brace
        at += 1


def is_unguarded(signature, headers):
    named = re.search(r"([\w:~]+)\(", signature)
    if not named or re.search(r"\btry\b|\bnoexcept\b|~", signature) or named.group(1) in TRIVIAL:
        return False
    *of, name = named.group(1).split("::")
    if of and not re.search(rf"\b(class|struct) {of[-1]}\b[^;]*\{{", headers):
        return False
    return re.search(rf"\b{name}\(", headers) is not None


def guarded(signature):
    """The signature with `try`, which stands before a constructor's initialisers."""
    depth = 0
    for at, c in enumerate(signature):
        depth += (c == "(") - (c == ")")
        if c == ":" and depth == 0 and ":" not in (signature[at - 1], signature[at + 1]):
            return signature[:at].rstrip() + " try " + signature[at:]
    return signature[:-1].rstrip() + " try {"


def with_include(path, text):
    if INCLUDE in text:
        return text
    own = path.relative_to(ROOT / "src").with_suffix(".hpp").as_posix()
    includes = [m for m in re.finditer(r'^#include "([^"]+)"\n', text, re.M)
                if m.group(1) != own and not (m.start() == text.find("#include ") and text[m.end():m.end() + 1] == "\n")]
    after = [m.start() for m in includes if m.group(1) > "base/guarded.hpp"]
    if after or includes:
        at = after[0] if after else includes[-1].end()
        return text[:at] + INCLUDE + text[at:]
    at = list(re.finditer(r"^#include [^\n]+\n", text, re.M))[-1].end()
    return text[:at] + "\n" + INCLUDE + text[at:]


def main():
    headers = "".join(p.read_text() for p in sorted((ROOT / "include/stope").glob("*.hpp")))
    missing = []
    for path in sorted((ROOT / "src").rglob("*.cpp")):
        if "cuda" in path.parent.parts:
            continue
        lines = path.read_text().split("\n")
        found = [d for d in definitions(lines) if is_unguarded(d[3], headers)]
        missing += [f"{path.relative_to(ROOT)}:{first + 1}: {text.splitlines()[0]}" for first, _, _, text in found]
        if "--fix" not in sys.argv or not found:
            continue
        for first, brace, end, text in reversed(found):
            lines[end:end + 1] = ([] if end > brace else [lines[end]]) + HANDLER
            lines[first:brace + 1] = guarded(text.removesuffix("}")).split("\n")
        path.write_text(with_include(path, "\n".join(lines)))
    if "--fix" not in sys.argv:
        for one in missing:
            print(one + ": a public function without a handler (scripts/check_guards.py --fix)")
    return 1 if missing and "--fix" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
