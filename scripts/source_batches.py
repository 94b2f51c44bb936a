"""Joins sources that clang-tidy or a compiler can read as one: most of their time goes into the headers that every source
includes.

A batch is one file with the text of several sources, one after the other. A name that two of them declare each for
itself (in an unnamed namespace, or static) is changed there. Sources with macros or included bodies (.inl) stay alone,
and so do those whose aliases may be unused, since another source of the batch might use them. So does main(): beside the
bodies of what it calls, clang-tidy would see exceptions in it that it takes for escaping.
"""

import functools
import re

# Comments, strings and characters, raw strings first. The ' within a number is no character.
NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.DOTALL)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|[^\s\w]")
NAMED = re.compile(r"\bnamespace\s+([\w:]+)\s*\{")
UNNAMED = re.compile(r"\bnamespace\s*\{")
STATIC = re.compile(r"^static [^;{(=]*?(\w+)\s*[({=;\[]", re.MULTILINE)
ALIAS = re.compile(r"^\s*(?:using\s(?:[\w:]*::)?|namespace\s+)(\w+)\s*[=;]", re.MULTILINE)
BORROWED = re.compile(r"^\s*using\s[\w:]*::(\w+)\s*;", re.MULTILINE)
USING = re.compile(r"^using namespace (.*);", re.MULTILINE)
NO_NAMES = {"class", "final", "alignas", "const", "noexcept", "operator", "namespace", "using", "static_assert"}
# GoogleTest's macros look like functions. The names of suites and tests must stay, and so must those of fixtures.
GTEST = re.compile(r"(?:TYPED_|INSTANTIATE_|GTEST_)*[A-Z_]*TEST[A-Z_]*")
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+), *(?:\w+\))?", re.MULTILINE)


def names_within(text):
    """The names that the text of a namespace declares, up to its closing brace."""
    names, braces, parens, angles = set(), 0, 0, 0
    before, named, kind = "", False, False  # named: the current declaration has its name; kind: a name must follow
    bases = False  # within the list of a class's bases, where a comma begins no new name
    for token in (found.group() for found in TOKEN.finditer(text)):
        if token == "{":
            braces += 1
        elif token == "}":
            braces -= 1
            if braces < 0:
                break
        if braces > (token == "{"):
            continue
        if token in ("struct", "class", "enum", "union", "concept") and not angles:
            kind = not named
        elif kind and token.isidentifier() and token not in NO_NAMES:
            names.add(token)
            named, kind = True, False
        elif token in "({=;[" and not parens and not angles and not named and before.isidentifier():
            names.add(before)
            named = True
        parens += (token == "(") - (token == ")")
        if not named:
            angles += (token == "<") - (token == ">")
        bases = token != "{" and (bases or (named and token == ":"))
        if token == "," and not (braces or parens or angles or bases):
            named = False  # int a = 1, b = 2;
        if token in ";}" and braces == 0 and parens == 0:
            named, kind, bases, angles, token = False, False, False, 0, ""
        # A member's definition outside its class declares nothing, and no keyword is a name.
        before = "" if before == "::" or token in NO_NAMES else token
    return names


@functools.cache
def own_names(text):
    """The names that a source declares for itself alone; None if it must stay alone."""
    if re.search(r'^\s*#\s*(define\b|pragma\b|include\s*"[^"]+\.inl")|^int main\(', text, re.MULTILINE):
        return None
    text = USING.sub("", NOT_CODE.sub(" ", text))
    aliases = set(ALIAS.findall(text))
    for alias in aliases:
        if len(re.findall(rf"(?<!::)\b{alias}\b", ALIAS.sub("", text))) == 0:
            return None
    names = set(STATIC.findall(text))
    for found in UNNAMED.finditer(text):
        names |= names_within(text[found.end():])
    fixtures = {found.group(1) for found in TEST.finditer(text)}
    return {name for name in names if not GTEST.fullmatch(name)} - set(BORROWED.findall(text)) - fixtures


def header_names(files):
    """The names that headers declare in namespaces."""
    texts = (NOT_CODE.sub(" ", file.read_text(encoding="utf-8")) for file in files)
    return set().union(*(names_within(text[found.end():]) for text in texts for found in NAMED.finditer(text)))


def renamed(text, names, suffix):
    """The text with other names, except for members and for names that other places declare as well."""
    if not names:
        return text
    # Members of an unnamed namespace are also found in the namespace around it: stats::Job.
    around = {found.group(1).split("::")[-1] for found in NAMED.finditer(text)}
    qualified = "".join(rf"|(?<=\b{name}::)" for name in sorted(around))
    # What comes first is left as it is, strings and names of tests among it.
    pattern = re.compile(rf"{NOT_CODE.pattern}|^\s*#[^\n]*|{TEST.pattern}|"
                         rf"(?<!\.)(?<!->)(?:(?<!::){qualified})\b(?P<name>{'|'.join(sorted(names))})\b",
                         re.DOTALL | re.MULTILINE)
    return pattern.sub(lambda found: found.group() + (suffix if found.group("name") else ""), text)


def joined(files, header_names):
    """The text of a batch, file by file; the number of lines stays the same."""
    texts = [file.read_text(encoding="utf-8") for file in files]
    names = [own_names(text) or set() for text in texts]
    of_others = [header_names.union(*names[:i], *names[i + 1:]) for i in range(len(texts))]
    return [renamed(text if text.endswith("\n") else text + "\n", names[i] & of_others[i], f"Of{i}")
            for i, text in enumerate(texts)]


def batches(files, size):
    """The files in even lists of at most `size`, of those that use the same namespaces; files that must stay alone have a
    list of their own."""
    groups, alone = {}, []
    for file in files:
        text = file.read_text(encoding="utf-8")
        if own_names(text) is None:
            alone.append(file)
        else:
            groups.setdefault(tuple(sorted(USING.findall(text))), []).append(file)
    made = []
    for group in groups.values():
        count = -(-len(group) // size)
        made += [group[i::count] for i in range(count)]
    return made + [[file] for file in alone]
