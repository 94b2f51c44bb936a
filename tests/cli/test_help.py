"""The help, its topics and the man pages are made from the same options, and say what the program does."""

import re
import shutil
import subprocess

import pytest

from program import PROGRAM, ROOT, run

COMMANDS = [line.split()[0] for line in run("help").text.split("Commands\n")[1].split("\n\n")[0].splitlines()
            if re.match(r"  \S", line)]
TOPICS = ["metrics", "formats", "missing", "exit-codes", "json"]
PAGES = run("help", "--man").text.split()


def plain(roff):
    return re.sub(r"\\([-e&])", lambda m: {"-": "-", "e": "\\", "&": ""}[m[1]], roff).replace("\\(aq", "'")


def test_every_command_has_a_page():
    assert PAGES == ["stope.1"] + [f"stope-{command}.1" for command in COMMANDS] + ["stope-measures.7"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_the_options_of_its_command_and_not_those_of_all(command):
    page = plain(run("help", "--man", f"stope-{command}.1").text)
    shared = plain(run("help", "--man", "stope.1").text)
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "SHARED OPTIONS", "EXAMPLES", "SEE ALSO"):
        assert f".SH {heading}\n" in page
    options = re.findall(r"^  +(?:-\w, )?(--[a-z-]+)", run(command, "--help").text, re.M)
    assert "--memory-limit" in options
    for option in options:
        here, there = (re.search(rf"^\.B .*{option}\b", text, re.M) for text in (page, shared))
        assert here or there, option
        if option in ("--memory-limit", "--sep", "--input-format", "--schema"):
            assert there and not here, f"{option} stands in stope(1) once"


def test_the_measures_have_a_page_and_a_topic():
    page, topic = plain(run("help", "--man", "stope-measures.7").text), run("help", "metrics").text
    for name in ("mixed-euclidean", "gower", "kernel-euclidean", "nominal-dice", "haversine"):
        assert f".B {name}\n" in page and name in topic
    assert "Numerical.DynamicTimeWarpingDistance" in page and "kernel_gamma" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not here")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_roff_without_a_warning(page):
    text = run("help", "--man", page).out
    if page == "stope.1":
        text = (ROOT / "docs" / "man" / "stope.1.in").read_bytes().replace(b"@COMMANDS@", text)
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rLL=200n"], input=text, capture_output=True, check=True)
    assert done.stderr == b"" and done.stdout


def test_topics_are_listed_explained_and_completed():
    overview = run("help").text
    for topic in TOPICS:
        assert f"\n  {topic} " in overview and run("help", topic).text.strip()
        assert topic in run("completion", "bash").text
    assert "confusion has a row for each true class" in run("help", "json").text
    assert "(did you mean 'formats'?)" in run("help", "format", code=2).err


def test_exit_codes_are_those_of_the_program(tmp_path):
    text = run("help", "exit-codes").text
    assert "'check' found a mismatch" in text
    assert ".SH EXIT STATUS\n" in run("help", "--man", "stope.1").text
    run("gen", 3, 4, "-o", "a.gram", cwd=tmp_path)
    run("ata", "a.gram", "-o", "z.gram", cwd=tmp_path)
    result = bytearray((tmp_path / "z.gram").read_bytes())
    result[-1] ^= 0x40
    (tmp_path / "z.gram").write_bytes(result)
    run("check", "a.gram", "z.gram", cwd=tmp_path, code=1)


def test_the_template_of_the_page_has_a_place_for_the_rest():
    template = (ROOT / "docs" / "man" / "stope.1.in").read_text()
    assert "@COMMANDS@" in template and "EXIT STATUS" not in template


def test_the_last_line_of_the_demo_puts_the_program_on_the_path(tmp_path):
    folder = tmp_path / "a 'b' $c"
    folder.mkdir()
    (folder / "stope").symlink_to(PROGRAM)
    last = (ROOT / "scripts" / "demo.sh").read_text().splitlines()[-1]
    line = subprocess.run(["bash", "-c", last], env={"stope": str(folder / "stope")}, capture_output=True, text=True,
                          check=True).stdout
    assert line.startswith("export PATH=") and line.count("\n") == 1
    found = subprocess.run(["bash", "-c", line + "command -v stope"], capture_output=True, text=True, check=True)
    assert found.stdout == f"{folder / 'stope'}\n"
