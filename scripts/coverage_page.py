#!/usr/bin/env python3
"""Turns llvm-cov's counts (scripts/coverage.sh) into docs/COVERAGE.md, or lists what the tests do not reach.

  scripts/coverage_page.py COUNTS.json --suites unit arrow cli   writes the page of these suites' counts
  scripts/coverage_page.py COUNTS.json --show src/io   lists the lines and branches there that no test reaches

A branch is one of the two outcomes of a condition. All instances of a template, and all copies of a kernel that is compiled once per
instruction set, count as one: an outcome is covered where one of them has it. llvm-cov's own summary takes the best instance alone. An
outcome that the compiler rules out does not count. tests/uncovered.json has the reason for files below their goal; without one the page says "open".
"""

import argparse
import bisect
import collections
import datetime
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "COVERAGE.md"
REASONS = ROOT / "tests" / "uncovered.json"
GOALS = {"base": 95, "io": 95}  # per cent of the branches of every room
OTHER_GOAL = 90
MOST = 1 << 62  # beyond it a count is a difference below zero

SUITES = {
    "unit": "every program of unit tests with few random cases (`STOPE_CASES=2000`, `STOPE_EFFORT=23`), the fake plug-ins, and RapidMiner's results on "
            "one back end",
    "arrow": "`tests/io/arrow/`, against pyarrow",
    "cli": "`tests/cli/` without `tests/cli/test_moments.py`, whose programs are killed and leave no counts",
}

HEAD = """# Coverage

Which lines and branches of the CPU's code the tests reach. `scripts/coverage.sh` measured it on {date} with llvm-cov 19, and wrote this page.
Counted are:

{suites}
{missing}
The Python package, the server and the JVM binding have tests of their own, which are not counted here. Neither is `tests/fault/alloc_fault_test.cpp`.
In this build it ends by a signal: at `-O1` with counters clang 19 gives `_Unwind_Resume` a register that holds no exception (in `csv::read_head`). At
`-O2`, and without counters, the code has no such register; the test passes in the release and under the sanitizers.

A branch is one of the two outcomes of a condition. It is covered where one instance of a template has it, and one of the copies that are compiled
once per instruction set. The goal is {base} % of the branches of `base` and `io`, and {other} % of every other room.

Left out, because only a GPU runs them: {cuda}.
`scripts/gpu_check.sh` runs every kernel there. `plugins/files/` is Rust and has no counters.

## By room

| room | files | lines | of | % | branches | of | % | goal |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""

FILES = """
## Files below their goal

What is uncovered there, and why. `scripts/coverage_page.py build/coverage/coverage.json --show FILE` lists each branch.

| file | branches | of | % | what is not covered, and why |
|---|--:|--:|--:|---|
"""


class Source:
    """The counts of one file."""

    def __init__(self, entry):
        self.path = pathlib.Path(entry["filename"]).relative_to(ROOT).as_posix()
        self.segments = entry["segments"]  # line, column, count, has a count, begins a region, is a gap
        self.places = [(line, column) for line, column, *_ in self.segments]
        self.lines = self.count_lines()
        self.branches = self.count_branches(entry["branches"])

    @property
    def room(self):
        parts = self.path.split("/")
        return parts[1] if parts[0] == "src" else parts[0]

    def count_lines(self):
        """Returns the count of every line with code, as llvm-cov does."""
        by_line = collections.defaultdict(list)
        for segment in self.segments:
            by_line[segment[0]].append(segment)
        counts, wrapped = {}, None
        last = self.segments[-1][0] if self.segments else 0
        for line in range(self.segments[0][0] if self.segments else 1, last + 1):
            here = by_line.get(line, [])
            begun = [s for s in here if s[3] and s[4] and not s[5]]
            skipped = here and not here[0][3] and here[0][4]
            if not skipped and (begun or (wrapped and wrapped[3])):
                counts[line] = max([s[2] for s in begun] + [wrapped[2] if wrapped else 0])
            if here:
                wrapped = here[-1]
        return counts

    def count_at(self, place):
        i = bisect.bisect_right(self.places, place) - 1
        return self.segments[i][2] if i >= 0 else 0

    def count_branches(self, found):
        """Returns {(line, column, end): [times true, times false]}, the sums over all instances."""
        sums = collections.defaultdict(lambda: [0, 0])
        for line, column, end_line, end_column, true, false, *_ in found:
            both = sums[line, column, end_line, end_column]
            both[0] += true if true < MOST else 0
            both[1] += false if false < MOST else 0
        # Where the condition was computed and had neither outcome, the compiler knew it.
        return {key: both for key, both in sums.items() if any(both) or self.count_at(key[:2]) == 0}

    def totals(self):
        outcomes = [count > 0 for both in self.branches.values() for count in both]
        return sum(count > 0 for count in self.lines.values()), len(self.lines), sum(outcomes), len(outcomes)


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def goal_of(room):
    return GOALS.get(room, OTHER_GOAL)


def read(path):
    files = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["data"][0]["files"]
    inside = [f for f in files if f["filename"].startswith((f"{ROOT}/src/", f"{ROOT}/cli/"))]
    return sorted((Source(f) for f in inside), key=lambda s: s.path)


def show(sources, places):
    """Prints what no test reaches in files or folders."""
    for source in sources:
        if not any(source.path == p or source.path.startswith(p.rstrip("/") + "/") for p in places):
            continue
        text = (ROOT / source.path).read_text(encoding="utf-8").splitlines()
        covered, lines, taken, outcomes = source.totals()
        print(f"{source.path}: {covered} of {lines} lines, {taken} of {outcomes} branches")
        marks = collections.defaultdict(list)
        for (line, column, end_line, end_column), both in sorted(source.branches.items()):
            never = [word for word, count in zip(("true", "false"), both) if count == 0]
            if never:
                condition = text[line - 1][column - 1:end_column - 1] if line == end_line else text[line - 1][column - 1:] + " ..."
                marks[line].append(f"never {' or '.join(never)}: {condition}")
        for line, count in source.lines.items():
            if count == 0 and line not in marks:
                marks[line].append("never run")
        for line in sorted(marks):
            print(f"  {line:4} {text[line - 1].strip()[:110]}")
            for mark in marks[line]:
                if mark != "never run":
                    print(f"         {mark}")


def cuda_folders():
    folders = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "src").glob("*/cuda"))
    return ", ".join(f"`{folder}/`" for folder in folders)


def page(sources, reasons, suites):
    counted = "\n".join(f"- {SUITES[suite]}" for suite in suites)
    absent = [SUITES[suite] for suite in SUITES if suite not in suites]
    missing = f"\nThis time not counted: {'; '.join(absent)}. What only these reach is shown as uncovered.\n" if absent else ""
    out = HEAD.format(suites=counted, missing=missing, date=datetime.date.today().isoformat(), base=GOALS["base"], other=OTHER_GOAL, cuda=cuda_folders())
    rooms = collections.defaultdict(list)
    for source in sources:
        rooms[source.room].append(source.totals())
    everything = [totals for room in rooms.values() for totals in room]
    for name, totals in [*sorted(rooms.items()), ("**all**", everything)]:
        covered, lines, taken, outcomes = (sum(column) for column in zip(*totals))
        goal = "" if "*" in name else goal_of(name)
        out += f"| {name} | {len(totals)} | {covered:,} | {lines:,} | {percent(covered, lines)} | {taken:,} | {outcomes:,} " \
               f"| {percent(taken, outcomes)} | {goal} |\n"
    out += FILES
    for source in below_goal(sources):
        _, _, taken, outcomes = source.totals()
        out += f"| `{source.path}` | {taken} | {outcomes} | {percent(taken, outcomes)} | {reasons.get(source.path, 'open')} |\n"
    return out


def below_goal(sources):
    return [s for s in sources if s.branches and 100 * s.totals()[2] < goal_of(s.room) * s.totals()[3]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts")
    parser.add_argument("--show", nargs="+", metavar="PLACE")
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=list(SUITES))
    asked = parser.parse_args()
    sources = read(asked.counts)
    if asked.show:
        show(sources, asked.show)
        return
    if "cli" not in asked.suites:
        sources = [source for source in sources if source.room != "cli"]
    reasons = json.loads(REASONS.read_text(encoding="utf-8"))
    PAGE.write_text(page(sources, reasons, asked.suites), encoding="utf-8")
    low = {source.path for source in below_goal(sources)}
    print(f"docs/COVERAGE.md: {len(low)} files below their goal, {len(low - set(reasons))} of them open")
    for path in sorted(set(reasons) - low):
        print(f"{path}: tests/uncovered.json has a reason, but the file reaches its goal")


if __name__ == "__main__":
    main()
