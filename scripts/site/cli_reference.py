#!/usr/bin/env python3
"""Makes the reference of the command line from what the program says of itself: cli_reference.py STOPE FOLDER.

A command becomes a page with a table for each group of its options, a topic of the help a page with its text.
"""

import html
import pathlib
import re
import subprocess
import sys

HEADER = re.compile(r"^[A-Z][\w ,]*$")
ENTRY = re.compile(r"^ {2,6}(\S.*?)(?: {2,}(\S.*))?$")
TEXT_COLUMN = 30


def output(stope, *words):
    return subprocess.run([stope, *words], capture_output=True, text=True, check=True).stdout


def names(overview, heading):
    """The names and summaries below a heading of the overview."""
    block = overview.split(f"\n{heading}\n")[1].split("\n\n")[0]
    out = []
    for line in block.split("\n"):
        if line[:TEXT_COLUMN].strip():
            out.append([line[:TEXT_COLUMN].strip(), line[TEXT_COLUMN:].strip()])
        else:
            out[-1][1] += " " + line.strip()
    return out


def cell(text):
    return html.escape(text, quote=False).replace("|", "&#124;").replace("*", "&#42;").replace("_", "&#95;").replace("[", "&#91;")


def command_page(name, text):
    lines = text.rstrip().split("\n")
    out = [f"# stope {name}\n", "```text\n" + lines[0].removeprefix("Usage: ") + "\n```\n"]
    rows, prose = [], []

    def flush():
        if prose:
            out.append(html.escape("\n".join(prose), quote=False).replace("*", "\\*") + "\n")
            prose.clear()
        if rows:
            out.append("| option | meaning |\n|---|---|")
            out.extend(f"| <code>{cell(option)}</code> | {cell(meaning)} |" for option, meaning in rows)
            out.append("")
            rows.clear()

    for n, line in enumerate(lines[1:], 1):
        following = lines[n + 1] if n + 1 < len(lines) else ""
        if not line:
            flush()
        elif HEADER.match(line) and following.startswith("  "):
            flush()
            out.append(f"## {line}\n")
        elif line.startswith(" " * TEXT_COLUMN) and rows:
            rows[-1][1] = (rows[-1][1] + " " + line.strip()).strip()
        elif line.startswith("  ") and ENTRY.match(line):
            found = ENTRY.match(line)
            rows.append([found.group(1), found.group(2) or ""])
        else:
            prose.append(line)
    flush()
    return "\n".join(out)


def main():
    stope, folder = sys.argv[1], pathlib.Path(sys.argv[2]) / "reference/cli"
    (folder / "topics").mkdir(parents=True, exist_ok=True)
    overview = output(stope, "help")
    commands = [entry for entry in names(overview, "Commands") if entry[0] != "help"]
    topics = names(overview, "Topics")
    index = ["# Command line\n", "`stope COMMAND --help` prints these pages; so do `man stope-COMMAND` and `stope help TOPIC`.\n"]
    index += ["| command | what it does |\n|---|---|"]
    for name, summary in commands:
        (folder / f"{name}.md").write_text(command_page(name, output(stope, "help", name)) + "\n", encoding="utf-8")
        index.append(f"| [`stope {name}`]({name}.md) | {summary} |")
    index += ["\n| topic | what it explains |\n|---|---|"]
    for name, summary in topics:
        text = output(stope, "help", name).rstrip()
        page = f"# stope help {name}\n\nThe text of `stope help {name}`.\n\n```text\n{text}\n```\n"
        (folder / f"topics/{name}.md").write_text(page, encoding="utf-8")
        index.append(f"| [{name}](topics/{name}.md) | {summary} |")
    (folder / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    print(f"command line: {len(commands)} commands, {len(topics)} topics")


if __name__ == "__main__":
    main()
