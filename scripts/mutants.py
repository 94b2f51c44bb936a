#!/usr/bin/env python3
"""Tests the tests: changes one line of src/ at a time, builds what depends on it, runs the tests of that room, and lists
the changes that no test noticed.

  python3 scripts/mutants.py [--count 400] [--seed 1] [--only knn io] [--jobs 2] [--minutes 120] [--file FILE]
  python3 scripts/mutants.py --again [--seed 1] [--file FILE]
  python3 scripts/mutants.py --table FILE

A room is a folder of src/, and its tests are those of tests/ that have its name; a change that they do not notice is
tried on the tests of the rooms above it, too, such as the jobs and the C ABI. The changes are the usual ones: another
operator, a number one off, a condition turned round, a statement left out. (Of those that universalmutator proposes for
C++, four fifths do not compile.) The seed chooses them, and the same seed on the same commit chooses the same ones.
Work is done on copies of the tracked files in build/mutants. A change that does not compile, or that compiles to the
same programs, is not counted. Code for GPUs alone is left out, and for the plug-in of Parquet and Arrow files.
tests/equivalent_mutants.json lists changes that no test can notice, each with the reason. FILE has every change and its
fate; a run goes on where FILE ends, also on later code: what FILE counts for a room counts towards its share. --again
tries FILE's survivors once more, after new tests.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
EQUIVALENT = ROOT / "tests" / "equivalent_mutants.json"
PART = 10  # mutants that one worker takes from a room at a time
MOST_DEPENDENTS = 25  # a header of more source files takes too long to build
COUNTED = ("killed", "survived")
FOR_PLUGIN = ("src/io/columnar/", "src/io/arrow/part_names.")  # of Parquet and Arrow files
# Tests of all rooms together. They also take on what a room's own tests do not notice.
WIDER = ["jobs_test", "capi_test", "capi_misuse", "bad_tables_test", "predict_test", "eval_test", "model_test", "alloc_fault_test"]
WIDER_SECONDS = 600  # of one of them, on a machine with other work
# Rooms whose callers' own tests say more about them.
ABOVE = {"base": ["table_test", "io_test", "stats_test"], "table": ["table_fake_test", "io_test"], "device": ["table_fake_test", "knn_fake_test"]}


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)


# --- the mutants ------------------------------------------------------------------------------------------------------

# What is put for what. Operators stand between spaces in this code, unlike the brackets of templates and pointers.
SWAPS = [(r"(?<= )<(?= )", "<="), (r"(?<= )<=(?= )", "<"), (r"(?<= )>(?= )", ">="), (r"(?<= )>=(?= )", ">"),
         (r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="), (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
         (r"(?<=[^\x01] )\+(?= [^\x01])", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )\*(?= )", "/"), (r"(?<= )/(?= )", "*"), (r"(?<= )%(?= )", "*"),
         (r"(?<= )&(?= )", "|"), (r"(?<= )\|(?= )", "&"), (r"(?<= )<<(?= )", ">>"), (r"(?<= )>>(?= )", "<<"),
         (r"(?<= )\+=(?= )", "-="), (r"(?<= )-=(?= )", "+="), (r"(?<= )\|=(?= )", "&="), (r"(?<= )&=(?= )", "|="),
         (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\bstd::min\b", "std::max"), (r"\bstd::max\b", "std::min"),
         (r"\bcontinue;", "break;"), (r"\bbreak;", "continue;"), (r"\bif \((?!constexpr)", "if (!"), (r"(?<=[ (])!(?=\w)", ""),
         (r"(?<![\w.'])(?<![pe][-+])\d+(?![\w.'])", lambda number: str(int(number.group()) + 1)),
         (r"(?<![\w.'])(?<![pe][-+])[1-9]\d*(?![\w.'])", lambda number: str(int(number.group()) - 1))]
# A whole statement that may be left out: an assignment or a call, on one line.
STATEMENT = re.compile(r"^\s*[\w\]\[.:>()*-]+(\(.*\)| [-+|&*/^]?= .*);\s*$")
DECLARATION = re.compile(r"^\s*(return|throw|using|const|constexpr|static|auto|void|virtual|explicit|friend|default|delete|goto|STOPE_\w+|\w*_assert)\b|.*= (default|delete|0);|"
                         r"^\s*[\w:]+(<.*>)?[&*]? \w+(\(| =|;)")
NOT_CODE = ("//", "#", "*", "/*", "namespace", "using", "template", "static_assert", "friend", "[[")


def blank(match):
    return "\x01" * len(match.group())


def changes_of(line):
    """Yields the line with one change."""
    code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', blank, line)  # a change of a text is no change of behaviour
    if code.lstrip().startswith(NOT_CODE) or "operator" in code:
        return
    for pattern, put in SWAPS:
        for match in re.finditer(pattern, code):
            if put == "if (!":
                depth, end = 1, match.end()
                while end < len(code) and depth > 0:
                    depth += {"(": 1, ")": -1}.get(code[end], 0)
                    end += 1
                if depth == 0 and ";" not in code[match.end():end]:
                    yield line[:match.end()] + "!(" + line[match.end():end - 1] + "))" + line[end:]
            else:
                yield line[:match.start()] + (put if isinstance(put, str) else put(match)) + line[match.end():]
    if STATEMENT.match(code) and not DECLARATION.match(code) and ".reserve(" not in code and code.count("(") == code.count(")"):
        yield re.match(r"\s*", line).group() + ";\n"


def mutants_of(path):
    """Yields (line number, line, changed line) of a file."""
    for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
        for after in changes_of(line):
            yield number, line, after


def choose(rooms, count, seed):
    """Returns for each room its mutants in the order of trial, one a line, and how many of them are wanted."""
    chosen = {}
    for room in rooms:
        by_line = {}
        for path in sorted((ROOT / "src" / room).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".inl") and "cuda" not in path.parts:
                for number, before, after in mutants_of(path):
                    by_line.setdefault((str(path.relative_to(ROOT)), number), []).append((before, after))
        chance = random.Random(f"{seed} {room}")
        keys = sorted(by_line)
        chance.shuffle(keys)
        chosen[room] = [(file, number, *chance.choice(by_line[file, number])) for file, number in keys]
    lines = sum(len(each) for each in chosen.values())
    # Half of them go to all rooms alike, half by size.
    return {room: (each, round(count / 2 / len(rooms) + count / 2 * len(each) / lines)) for room, each in chosen.items()}


# --- a tree to change -------------------------------------------------------------------------------------------------

class Tree:
    """A copy of the tracked files with a build folder, for one worker."""

    def __init__(self, number, build_jobs):
        self.top, self.jobs = WORK / str(number), build_jobs
        self.build = self.top / "build" / "release"
        self.sound = set()  # names of tests above the rooms that pass without a change
        self.environment = os.environ | {
            "CCACHE_BASEDIR": str(self.top), "CCACHE_DEPEND": "1", "GTEST_FAIL_FAST": "1",
            "STOPE_SHARED": os.environ.get("STOPE_SHARED", str(ROOT.parent / "shared"))}
        files = run(["git", "ls-files", "-z"], cwd=ROOT).stdout.split("\0")
        for name in filter(None, files):
            source, copy = ROOT / name, self.top / name
            if source.is_file() and not (copy.is_file() and copy.read_bytes() == source.read_bytes()):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
                shutil.copymode(source, copy)
        # With the library's assertions a program ends where it reads beyond the end of a vector or span.
        configured = run(["cmake", "--preset", "release", "-DSTOPE_CUDA=OFF", "-DSTOPE_FILES=OFF", "-DSTOPE_BUILD_PYTHON=OFF",
                          "-DSTOPE_BUILD_JVM=OFF", "-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS"], cwd=self.top, env=self.environment)
        if configured.returncode != 0:
            sys.exit(configured.stderr)
        listed = json.loads(run(["ctest", "--show-only=json-v1"], cwd=self.build, env=self.environment).stdout)
        # ctest knows no command of a program that is not built yet. A shard's name ends in its number.
        self.tests = {each["name"]: str(self.build / "tests" / re.sub(r"_\d+$", "", each["name"])) for each in listed["tests"]}

    def tests_of(self, room):
        pattern = rf"{room}_(fake_|goldens_)?test(_\d+)?" + (r"|rapidminer_goldens_test" if room == "knn" else "") + (
            r"|exact_math_(O0_)?test" if room == "base" else "")
        return [name for name in self.tests if re.fullmatch(pattern, name)]

    def wider_tests_of(self, room):
        """Returns tests that also run the room's code, those of the nearest rooms first."""
        own = self.tests_of(room)
        return [name for name in ABOVE.get(room, []) + WIDER if name in self.tests and name not in own]

    def programs(self, names):
        return sorted({self.tests[name] for name in names})

    def make(self, names):
        targets = [os.path.relpath(program, self.build) for program in self.programs(names)]
        return run(["ninja", "-j", str(self.jobs), *targets], cwd=self.build, env=self.environment)

    def hashes(self, names):
        return [hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest() for program in self.programs(names)]

    def test(self, names, seconds):
        """Returns the first test that fails, or none."""
        pattern = "^(" + "|".join(names) + ")$"
        result = run(["ctest", "-R", pattern, "--stop-on-failure", "--timeout", str(seconds)], cwd=self.build, env=self.environment)
        if result.returncode == 0:
            return None
        failed = re.search(r"^\s*\d+ - (\S+) \((.*?)\)", result.stdout, re.MULTILINE)
        case = re.search(r"\[  FAILED  \] ([\w./]+)", pathlib.Path(self.build / "Testing/Temporary/LastTest.log").read_text(errors="replace"))
        return (case.group(1) if case else f"{failed.group(1)} ({failed.group(2)})") if failed else "a test"

    def passes_unchanged(self, names, path, original):
        """Whether tests pass without the change of a file; each is asked once."""
        new = [name for name in names if name not in self.sound]
        if new:
            changed = path.read_text()
            path.write_text(original)
            if self.make(new).returncode != 0 or self.test(new, WIDER_SECONDS):
                return False
            self.sound.update(new)
            path.write_text(changed)
        return True

    def dependents(self, file):
        """Returns how many source files a header is part of."""
        if not hasattr(self, "headers"):
            deps = run(["ninja", "-t", "deps"], cwd=self.build).stdout
            self.headers = {}
            for line in deps.splitlines():
                if line.startswith("    "):
                    name = os.path.relpath(os.path.join(self.build, line.strip()), self.top)
                    self.headers[name] = self.headers.get(name, 0) + 1
        return self.headers.get(file, 0)


# --- their fate -------------------------------------------------------------------------------------------------------

class Run:
    def __init__(self, arguments):
        self.arguments, self.lock, self.begin = arguments, threading.Lock(), time.monotonic()
        self.file = arguments.file or ROOT / "bench" / "results" / f"mutants_seed_{arguments.seed}.json"
        self.done = {key(each): each for each in json.loads(self.file.read_text())["mutants"]} if self.file.exists() else {}
        self.trees = [Tree(number, max(1, (os.cpu_count() or 1) // arguments.jobs)) for number in range(arguments.jobs)]
        self.free = list(self.trees)

    def record(self, mutant):
        with self.lock:
            self.done[key(mutant)] = mutant
            self.file.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"seed": self.arguments.seed, "commit": run(["git", "rev-parse", "HEAD"], cwd=ROOT).stdout.strip(),
                               "mutants": sorted(self.done.values(), key=key)}, indent=1)
            self.file.with_suffix(".new").write_text(text + "\n")
            self.file.with_suffix(".new").rename(self.file)
        if mutant["fate"] in COUNTED:
            print(f"{mutant['fate']:9} {mutant['file']}:{mutant['line']}: {mutant['before'].strip()}  ->  {mutant['after'].strip()}", flush=True)

    def fate(self, tree, room, mutant, names, unchanged, seconds):
        file, number, before, after = mutant
        path = tree.top / file
        if file.startswith(FOR_PLUGIN):
            return {"fate": "left out", "why": "only the plug-in for files uses it, and that is not built"}
        if file.endswith(".hpp") and tree.dependents(file) > MOST_DEPENDENTS:
            return {"fate": "left out", "why": f"{tree.dependents(file)} source files depend on it"}
        original = path.read_text()
        lines = original.splitlines(keepends=True)
        lines[number - 1] = after
        path.write_text("".join(lines))
        try:
            if tree.make(names).returncode != 0:
                return {"fate": "does not compile"}
            if tree.hashes(names) == unchanged:
                return {"fate": "same program"}
            failed = tree.test(names, seconds)
            if not failed:
                wider = tree.wider_tests_of(room)
                if not tree.passes_unchanged(wider, path, original):
                    sys.exit(f"the tests above {room} fail without a change")
                failed = tree.make(wider).returncode == 0 and tree.test(wider, WIDER_SECONDS)
            return {"fate": "killed", "by": failed} if failed else {"fate": "survived"}
        finally:
            path.write_text(original)

    def part(self, room, mutants, wanted):
        """Tries mutants of a room in turn, until as many as wanted compile."""
        with self.lock:
            tree = self.free.pop()
        try:
            names = tree.tests_of(room)
            made = tree.make(names)
            if made.returncode != 0:
                sys.exit(f"{room} does not build without a change:\n{made.stdout[-3000:]}")
            unchanged, began = tree.hashes(names), time.monotonic()
            failed = tree.test(names, 3600)
            if failed:
                sys.exit(f"{room} fails without a change: {failed}")
            seconds = int(10 + 5 * (time.monotonic() - began))
            for mutant in mutants:
                if wanted == 0 or time.monotonic() - self.begin > 60 * self.arguments.minutes:
                    break
                entry = dict(zip(("file", "line", "before", "after"), mutant)) | {"room": room}
                found = self.done.get(key(entry))
                if found is None or (self.arguments.again and found["fate"] == "survived"):
                    found = entry | self.fate(tree, room, mutant, names, unchanged, seconds)
                    self.record(found)
                wanted -= found["fate"] in COUNTED
        finally:
            with self.lock:
                self.free.append(tree)

    def without_done(self, plan):
        """Returns what is left of a plan: without the lines in FILE, and without as many as FILE counts for a room."""
        lines = {(each["file"], each["before"]) for each in self.done.values()}
        counted = [each["room"] for each in self.done.values() if each["fate"] in COUNTED]
        return {room: ([each for each in mutants if (each[0], each[2]) not in lines], wanted - counted.count(room))
                for room, (mutants, wanted) in plan.items() if wanted > counted.count(room)}

    def all(self, plan):
        parts = []
        for room, (mutants, wanted) in plan.items():
            n = max(1, round(wanted / PART))
            parts += [(room, mutants[i::n], wanted // n + (i < wanted % n)) for i in range(n)]
        random.Random(self.arguments.seed).shuffle(parts)  # so that a run cut short has seen all rooms
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            for done in [pool.submit(self.part, *part) for part in parts]:
                done.result()


def key(mutant):
    return mutant["file"], mutant["line"], mutant["before"], mutant["after"]


def change(mutant):
    return mutant["file"], mutant["before"].strip(), mutant["after"].strip()


def argued_equivalent(mutants):
    listed = {change(each) for each in json.loads(EQUIVALENT.read_text())} if EQUIVALENT.exists() else set()
    return [each for each in mutants if each["fate"] == "survived" and change(each) in listed]


def take_survivors(done):
    """Returns the survivors that are not argued equivalent as choose() does, where their lines stand now, and moves them
    there in `done`. A line that is gone counts no more."""
    plan, argued = {}, argued_equivalent(done.values())
    for mutant in [each for each in done.values() if each["fate"] == "survived" and each not in argued]:
        del done[key(mutant)]
        path = ROOT / mutant["file"]
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        same = [number for number, line in enumerate(lines, 1) if line == mutant["before"]]
        if same:
            mutant["line"] = min(same, key=lambda each: abs(each - mutant["line"]))
            done[key(mutant)] = mutant
            plan.setdefault(mutant["room"], []).append(key(mutant))
    return {room: (mutants, len(mutants)) for room, mutants in plan.items()}


def print_table(mutants):
    """Prints killed and counted mutants by room, and the survivors."""
    argued = argued_equivalent(mutants)
    counted = [each for each in mutants if each["fate"] in COUNTED and each not in argued]
    print("| room | killed | of |\n|---|---|---|")
    for room in sorted({each["room"] for each in counted}):
        here = [each for each in counted if each["room"] == room]
        print(f"| {room} | {sum(each['fate'] == 'killed' for each in here)} | {len(here)} |")
    killed = sum(each["fate"] == "killed" for each in counted)
    print(f"| all | {killed} | {len(counted)} |\n\n{100 * killed / max(1, len(counted)):.1f} % killed; {len(argued)} argued equivalent; not counted: "
          + ", ".join(f"{sum(each['fate'] == fate for each in mutants)} {words}" for fate, words in
                      (("does not compile", "that do not compile"), ("same program", "that make the same program"), ("left out", "left out"))))
    for each in counted:
        if each["fate"] == "survived":
            print(f"survived: {each['file']}:{each['line']}\n  - {each['before'].strip()}\n  + {each['after'].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400, help="mutants that compile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="rooms")
    parser.add_argument("--jobs", type=int, default=2, help="trees that are changed side by side")
    parser.add_argument("--minutes", type=float, default=600, help="no mutant begins later")
    parser.add_argument("--file", type=pathlib.Path)
    parser.add_argument("--again", action="store_true", help="try what survived in FILE once more")
    parser.add_argument("--table", type=pathlib.Path, help="print what this file says and try nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print_table(json.loads(arguments.table.read_text())["mutants"])
        return
    rooms = sorted(each.name for each in (ROOT / "src").iterdir() if each.is_dir())
    unknown = set(arguments.only) - set(rooms)
    if unknown:
        sys.exit(f"no room is called {', '.join(sorted(unknown))}: {', '.join(rooms)}")
    work = Run(arguments)
    plan = take_survivors(work.done) if arguments.again else work.without_done(choose(arguments.only or rooms, arguments.count, arguments.seed))
    work.all(plan)
    print_table(list(work.done.values()))


if __name__ == "__main__":
    main()
