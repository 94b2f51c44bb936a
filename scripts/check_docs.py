#!/usr/bin/env python3
"""Checks that what documents and comments point to exists.

  scripts/check_docs.py              prints one line per finding; exit 1 if there is one
  scripts/check_docs.py --self-test  plants one stale name of every kind and wants each found

Documents: relative links, backquoted paths, backquoted names (`kName`, `name()`, `Class::member`), and the length of the
lines of ARCHITECTURE.md. Comments: file names, and in C++ `kName`, `name()` and how a comment may not begin.
Environment: CONTRIBUTING.md has a row for each variable in use and for no other, and the library reads it in one place.
"""

import bisect
import fnmatch
import pathlib
import re
import sys
import tempfile

FOLDERS = (
    "src", "include", "cli", "tests", "fuzz", "bench", "examples", "scripts", "docs", "cmake", "bindings",
    "extensions",
)
CPP = {".hpp", ".cpp", ".h", ".cu", ".cuh", ".inl"}
HASH = {".py", ".sh", ".cmake", ".txt"}  # comments begin with '#'
MOST_COLUMNS = 160  # of a line of ARCHITECTURE.md
OTHERS = {"std", "Eigen", "cuda", "cub", "thrust", "torch", "numpy", "np", "java", "nlohmann", "CLI", "fmt", "testing"}
# Names that comments and documents may use although no code here has them: names of other programs, and C's own.
FOREIGN = {
    "numpy/lib/format.py", "stope/knn_search.hpp", "MinMaxScaler", "RobustScaler", "compareTo", "cr_log", "commit_both",
    "knn_test_1", "PascalCase", "snake_case", "kPascalCase",
}

LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
QUOTED = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.*<>{},-]+(?:/[\w.*<>{},-]*)+")
NAME = re.compile(r"((?:\w+::)*~?\w+)\(\)|(\w+(?:::~?\w+)+)|(k(?:[A-Z][a-z0-9]*)+|(?:[A-Z][a-z0-9]+){2,}|[a-z0-9]+(?:_[a-z0-9]+)+_?)")
CODE_NAME = re.compile(r"\b(k[A-Z][a-z]\w*)\b|(?<![\w.:])([A-Za-z_]\w*(?:::~?\w+)+|[A-Za-z_]\w*(?=\(\)))")
FILE_NAME = re.compile(r"(?<![\w$/])[\w./*<>-]*[\w*>]\.(?:hpp|cpp|cuh|cu|inl|py|sh|cmake|md)\b(?![\w-])")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
TOKEN = re.compile(
    r'R"(?P<mark>[^\s()"]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.S)
HASH_TOKEN = re.compile(r'"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?<![\w$\\{])#[^\n]*', re.S)
VARIABLE_ROW = re.compile(r"^\| `(STOPE_[A-Z0-9_]+)` \|", re.MULTILINE)
IN_QUOTES = re.compile(r'"(STOPE_[A-Z0-9_]+)(?:=[^"]*)?"')
IN_SHELL = re.compile(r"\$\{?(STOPE_[A-Z0-9_]+)|(?<![-\w])(STOPE_[A-Z0-9_]+)=")
READER = "src/base/environment.cpp"
BEGINNING = re.compile(r"(?:Of|What of|The same of|So many|So much)\s")


class Tree:
    """The files of the project, by path and by name, and all identifiers in its code."""

    def __init__(self, root):
        self.root = root
        self.files = [p for p in root.iterdir() if p.is_file()]
        for folder in FOLDERS:
            self.files += [p for p in (root / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        self.paths = {p.relative_to(root).as_posix() for p in self.files}
        self.folders = {parent.as_posix() for p in self.paths for parent in pathlib.PurePosixPath(p).parents}
        self.names = {p.name for p in self.files}
        self.stems = {p.stem for p in self.files}
        self.comments = []  # (path, line, text of one line, whether it is C++)
        self.identifiers = set()
        self.by_file = []  # the identifiers of each
        for path in self.files:
            if path.suffix in CPP or path.suffix in HASH or path.name == "Makefile":
                self.read_code(path)

    def read_code(self, path):
        text = path.read_text(encoding="utf-8", errors="replace")
        cpp = path.suffix in CPP
        starts = [m.end() for m in re.finditer("\n", text)]
        code, end = [], 0
        for token in (TOKEN if cpp else HASH_TOKEN).finditer(text):
            word = token.group()
            if not word.startswith(("//", "/*") if cpp else ("#", '"""')):
                continue
            code.append(text[end:token.start()])
            end = token.end()
            line = bisect.bisect_right(starts, token.start()) + 1
            for n, piece in enumerate(word.split("\n")):
                self.comments.append((path, line + n, re.sub(r"^\s*(?:///?<?|/?\*+|#+!?|\"\"\")\s?", "", piece), cpp))
        code.append(text[end:])
        self.by_file.append(set(IDENTIFIER.findall("".join(code))))
        self.identifiers |= self.by_file[-1]

    def has_path(self, path, beside=None):
        """Whether a path exists, from the root, from src/, include/ or cli/, or from the same folder; `*`, `<word>` and
        `{a,b}` are patterns."""
        for one in expand(path.rstrip("/")):
            pattern = any_word(one)
            bases = ("", "src/", "include/", "cli/") + ((beside + "/",) if beside else ())
            if not any(self.matches(base + pattern) for base in bases):
                return False
        return True

    def matches(self, pattern):
        if "*" in pattern:
            return any(fnmatch.fnmatchcase(p, pattern) for p in self.paths)
        return pattern in self.paths or pattern in self.folders

    def has_file(self, name):
        """Whether a file has this name, or a path this end."""
        if name in FOREIGN:
            return True
        pattern = any_word(name).removeprefix("./").removeprefix("../")
        if "*" not in pattern and "/" not in pattern and pattern in self.names:
            return True
        return any(fnmatch.fnmatchcase(p, pattern) or fnmatch.fnmatchcase(p, "*/" + pattern) for p in self.paths)

    def has_name(self, name):
        if name in FOREIGN or name in self.stems:
            return True
        parts = set(re.split(r"::~?", name))
        if len(parts) == 1 or not parts <= self.identifiers:
            return bool(parts & OTHERS) or parts <= self.identifiers
        return any(parts <= identifiers for identifiers in self.by_file)


def any_word(path):
    """Replaces placeholders, <name> and NAME, by `*`."""
    return re.sub(r"<\w+>|\bNAME(?=\b|_)", "*", path)


def expand(path):
    found = re.search(r"\{([^{}]*)\}", path)
    if not found:
        return [path]
    return [one for word in found.group(1).split(",") for one in expand(path[:found.start()] + word + path[found.end():])]


def is_path(text, tree, beside):
    """Whether a backquoted text with a slash means a path of this project."""
    if not PATH.fullmatch(text):
        return False
    first = text.split("/")[0]
    near = {first, "src/" + first, f"{beside}/{first}"}
    return bool(near & tree.folders - {"."}) or FILE_NAME.fullmatch(text) is not None


def headings(path):
    """The names by which links reach the headings of a document."""
    lines = (line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#"))
    words = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line).lstrip("# ").lower() for line in lines)
    return {re.sub(r"[^\w -]", "", text).replace(" ", "-") for text in words}


def check_document(path, tree):
    beside = path.parent.relative_to(tree.root).as_posix()
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.name == "ARCHITECTURE.md" and len(line) > MOST_COLUMNS:
            yield number, f"{len(line)} characters, at most {MOST_COLUMNS}: the rest goes to a page of the room"
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        for link, heading in LINK.findall(line):
            target = path.parent / link if link else path
            if not target.exists():
                yield number, f"link to {link}"
            elif heading and target.suffix == ".md" and heading not in headings(target):
                yield number, f"link to {link}#{heading}: no such heading"
        for text in QUOTED.findall(line):
            name = NAME.fullmatch(text)
            if name and not tree.has_name(next(filter(None, name.groups()))):
                yield number, f"{text}: no code has this name"
            elif is_path(text, tree, beside) and not tree.has_path(text, beside):
                yield number, f"{text} does not exist"
            elif "/" not in text and FILE_NAME.fullmatch(text) and not tree.has_file(text):
                yield number, f"{text} does not exist"


def check_comment(text, cpp, tree):
    for name in FILE_NAME.findall(text):
        if not tree.has_file(name):
            yield f"{name} does not exist"
    if not cpp:
        return
    for constant, other in CODE_NAME.findall(text):
        if not tree.has_name(constant or other):
            yield f"{constant or other}: no code has this name"


def check_environment(tree):
    """Checks the tables of environment variables, and who reads the environment."""
    used = {}
    for path in sorted(tree.files):
        place = path.relative_to(tree.root).as_posix()
        if path.suffix not in CPP | {".py", ".sh"} or place.startswith(("include/", "docs/", "scripts/check_docs.py")):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for found in (IN_SHELL if path.suffix == ".sh" else IN_QUOTES).finditer(text):
            used.setdefault(next(name for name in found.groups() if name), place)
        if place.startswith(("src/", "cli/")) and place != READER and "getenv(" in text:
            yield f"{place}: calls getenv, which is for {READER} only"
    contributing = tree.root / "CONTRIBUTING.md"
    rows = VARIABLE_ROW.findall(contributing.read_text(encoding="utf-8")) if contributing.exists() else []
    yield from (f"{place}: {name} has no row in CONTRIBUTING.md" for name, place in used.items() if name not in rows)
    yield from (f"CONTRIBUTING.md: nothing uses {name}" for name in rows if name not in used)
    yield from (f"CONTRIBUTING.md: {name} has {rows.count(name)} rows" for name in set(rows) if rows.count(name) > 1)


def check(root):
    tree = Tree(root)
    found = list(check_environment(tree))
    documents = sorted(p for p in tree.files if p.suffix == ".md")
    for path in documents:
        found += [f"{path.relative_to(root)}:{line}: {text}" for line, text in check_document(path, tree)]
    for path, line, comment, cpp in tree.comments:
        place = path.relative_to(root).as_posix()
        found += [f"{place}:{line}: {text}" for text in check_comment(comment, cpp, tree)]
        if cpp and BEGINNING.match(comment):
            found.append(f'{place}:{line}: a comment begins "{BEGINNING.match(comment).group().strip()}": name the thing')
    return found, len(documents)


def self_test():
    # (file, its text, what must be said about it; None = nothing)
    cases = [
        ("src/knn/list.hpp", "// kMost() is for list.cpp, lists of closer().\nconstexpr int kMost = 1;\nstruct Heap { void closer(); };\n", None),
        ("src/knn/list.cpp", "// See heap.hpp.\n", "heap.hpp does not exist"),
        ("src/knn/constant.cpp", "int a = 0;  ///< at most kLeast\n", "kLeast: no code has this name"),
        ("src/knn/call.cpp", "/* what nearer() says */\n", "nearer: no code has this name"),
        ("src/knn/member.cpp", "// Heap::farther says it.\n", "Heap::farther: no code has this name"),
        ("src/knn/string.cpp", 'const char* a = "// gone.hpp";\nchar b = \'"\';  // list.hpp\n', None),
        ("src/knn/standard.cpp", "// As std::sort, by <random>; compiled by list_*.cpp or knn/list.hpp.\n", "list_*.cpp does not exist"),
        ("scripts/run.py", "# As gone.sh does.\n", "gone.sh does not exist"),
        ("scripts/fine.sh", "echo # src/knn/list.cpp, $work/gone.cpp\n", None),
        ("docs/ARCHITECTURE.md", "x" * 161 + "\n", "161 characters, at most 160"),
        ("docs/links.md", "[a](ARCHITECTURE.md) [b](gone.md)\n", "link to gone.md"),
        ("docs/headings.md", "# A b: c\n[a](#a-b-c) [b](links.md#gone)\n", "link to links.md#gone: no such heading"),
        ("docs/paths.md", "`src/knn/<name>.hpp` `knn/list.hpp` `src/{knn,gone}/`\n", "src/{knn,gone}/ does not exist"),
        ("docs/files.md", "`list.hpp` `gone.cu`\n", "gone.cu does not exist"),
        ("docs/names.md", "`kMost` `closer()` `Heap::closer` `std::sort` `a/b` `x + y`\n", None),
        ("docs/members.md", "`Heap::kMost` `List::closer`\n", "List::closer: no code has this name"),
        ("docs/constants.md", "`kSome`\n", "kSome: no code has this name"),
        ("docs/calls.md", "`nearest()`\n", "nearest(): no code has this name"),
        ("docs/words.md", "`NearList`\n", "NearList: no code has this name"),
        ("docs/fence.md", "```\n`src/gone.cpp`\n```\n", None),
        ("src/environment.cpp", 'auto a = getenv("STOPE_HERE");\n', "calls getenv"),
        ("src/variable.cpp", 'auto a = read("STOPE_THERE");\n', "STOPE_THERE has no row"),
        ("CONTRIBUTING.md", "| `STOPE_HERE` | a |\n| `STOPE_GONE` | b |\n", "nothing uses STOPE_GONE"),
        ("src/beginning.cpp", "// Of a row the first.\n", 'a comment begins "Of"'),
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name, text, _ in cases:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found, _ = check(root)
    wrong = []
    for name, _, expected in cases:
        said = [line for line in found if line.startswith(name + ":")]
        if (expected is None and said) or (expected is not None and not any(expected in line for line in said)):
            wrong.append(f"{name}: wanted {expected!r}, got {said}")
    print("\n".join(wrong) or f"check_docs: self-test of {len(cases)} files passed")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found, documents = check(pathlib.Path(__file__).resolve().parent.parent)
    print("\n".join(found) or f"check_docs: {documents} documents")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
