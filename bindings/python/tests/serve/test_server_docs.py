"""docs/SERVER.md tells the truth: its commands are run, and their answers are those that the page shows."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")
pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="SKIP: the program curl is not installed")

TOP = pathlib.Path(__file__).resolve().parents[4]
PAGE = TOP / "docs" / "SERVER.md"
URL = "http://127.0.0.1:7400"


def commands_of(text):
    """Each command of the console blocks, with the lines that the page shows as its output."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.rstrip("\n").split("\n")
            n = next(i for i, line in enumerate(lines, 1) if not line.endswith("\\"))
            yield "\n".join(lines[:n]), "\n".join(lines[n:])


def run(command, folder, environment):
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=120)
    return (done.stdout + done.stderr).rstrip("\n"), done.returncode


def test_the_commands_of_the_page_do_what_it_shows(start_server, tmp_path):
    server = start_server()
    folder = shutil.copytree(TOP / "examples" / "data", tmp_path / "data")
    n = 0
    for command, shown in commands_of(PAGE.read_text(encoding="utf-8")):
        output, code = run(command.replace(URL, server.url), folder, os.environ)
        assert code == 0, (command, output)
        assert output == shown, command
        n += 1
    assert n >= 15


def test_the_page_names_every_flag_and_address_and_no_other(app):
    from stope import _core
    from stope.serve.command_line import _LIMITS, _SETTINGS

    text = PAGE.read_text(encoding="utf-8")
    flags = {flag for flag, *_ in [*_SETTINGS, *_LIMITS]} | {"--no-tokens"}
    named = set(re.findall(r"`(--[a-z-]+)", text)) - {"--right"}
    assert named == flags
    addresses = {f"{method.upper()} {path}" for path, operations in app.openapi()["paths"].items() for method in operations}
    words = {"NAME": "{name}", "ID": "{id}", "JOB": "{job}", "PART": "{part}", "FORMAT": "{format}"}
    table = {re.sub("|".join(words), lambda found: words[found.group()], address)
             for address in re.findall(r"`((?:GET|PUT|POST|DELETE) /[^`]*)`", text.partition("### Formats")[0])}
    assert table == addresses
    jobs = re.search(r"`POST /v1/compute/JOB` \| compute \| (.*) \|", text).group(1)
    assert re.split(r", | or ", jobs) == _core.job_names()
