"""stope-serve: what it takes, what it refuses, and in which words."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")

from stope.serve import Limits, Settings  # noqa: E402
from stope.serve.command_line import UsageError, _parser, main, settings_of  # noqa: E402
from stope.serve.units import bytes_of, seconds_of  # noqa: E402

from .server_process import serve_command  # noqa: E402


def settings(*flags, **environment):
    variables = {f"STOPE_SERVE_{name}": value for name, value in environment.items()}
    return settings_of(_parser().parse_args(["run", "--state", "/x", *flags]), variables)


@pytest.mark.parametrize("text, value", [
    ("8GB", 8 * 10**9), ("1.5GiB", 3 << 29), ("4096", 4096), ("512 mb", 512 * 10**6), ("2T", 2 * 10**12), ("0", 0), ("1KiB", 1024)])
def test_sizes_are_read_as_the_engine_reads_them(text, value):
    from stope import _core

    assert bytes_of(text) == value
    if value:
        assert _core.Run(0, value) is not None


@pytest.mark.parametrize("text", ["", "GB", "-1", "1e3", "8 Gb b", "8PB", "9999999TB", "nan", "٣", "1_000"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="size|large"):
        bytes_of(text)


@pytest.mark.parametrize("text, value", [("90", 90), ("90s", 90), ("1.5min", 90), ("2h", 7200), ("1d", 86400), ("250ms", 0.25)])
def test_times_have_units(text, value):
    assert seconds_of(text) == value


@pytest.mark.parametrize("text", ["", "s", "-1s", "1y", "1m", "inf"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError, match="time"):
        seconds_of(text)


def test_every_limit_has_a_flag_and_a_variable():
    given = settings("--jobs", "7", "--time", "5min", JOBS="3", MEMORY="8GB", ROWS="10", HOST="localhost")
    assert given.limits == Limits(jobs=7, seconds=300, memory_bytes=8 * 10**9, rows=10)
    assert given.host == "127.0.0.1" and given.state == pathlib.Path("/x")


def test_nothing_given_is_the_defaults():
    assert settings() == Settings(state=pathlib.Path("/x"))


@pytest.mark.parametrize("flags, says", [
    (["--jobs", "0"], "--jobs: '0' is less than 1"),
    (["--jobs", "x"], "--jobs: 'x' is not a whole number"),
    (["--memory", "8 apples"], "--memory: '8 apples' is not a size"),
    (["--port", "70000"], "--port: '70000' is no port"),
    (["--time", "0"], "--time: '0' is no time"),
    (["--host", "0.0.0.0"], "needs TLS"),
    (["--host", "::"], "needs TLS"),
    (["--host", "192.168.1.5", "--no-tokens"], "--no-tokens is for the loopback only"),
    (["--host", "example.org", "--no-tokens", "--certificate", "c", "--key", "k"], "--no-tokens is for the loopback only"),
    (["--certificate", "c"], "both --certificate and --key"),
    (["--key", "k"], "both --certificate and --key"),
])
def test_what_is_unsafe_or_senseless_is_refused_in_one_sentence(flags, says):
    with pytest.raises(UsageError) as refused:
        settings(*flags)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_bad_variable_is_named():
    with pytest.raises(UsageError, match="STOPE_SERVE_KEEP: 'soon' is not a time"):
        settings(KEEP="soon")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_the_loopback_needs_neither_tokens_nor_tls(host):
    assert settings("--host", host, "--no-tokens").tokens is False


def test_an_application_cannot_be_made_around_the_refusal(tmp_path):
    from stope.serve import create_app

    with pytest.raises(ValueError, match="TLS"):
        create_app(Settings(state=tmp_path, host="0.0.0.0"))


def test_tokens_are_made_listed_and_removed(tmp_path, capsys):
    state = ["--state", str(tmp_path / "new")]
    assert main(["token", "add", "anna", "--right", "compute", *state]) == 0
    token, hint = capsys.readouterr()
    assert token.startswith("stope_") and "only time" in hint
    assert main(["token", "list", *state]) == 0
    listed = capsys.readouterr().out
    assert listed.startswith("anna\tcompute\t2") and token.strip() not in listed
    assert main(["token", "add", "anna", "--right", "read", *state]) == 2
    assert "already" in capsys.readouterr().err
    assert main(["token", "remove", "anna", *state]) == 0
    assert main(["token", "remove", "anna", *state]) == 2
    assert main(["token", "list", *state]) == 0
    assert capsys.readouterr().out == ""


def test_check_shows_settings_and_hints_at_tokens(tmp_path, capsys):
    assert main(["check", "--state", str(tmp_path / "s"), "--memory", "1GiB"]) == 0
    out, hint = capsys.readouterr()
    assert "memory_bytes\t1073741824" in out and "no tokens yet" in hint


def run_command(*words):
    done = subprocess.run(serve_command(*words), capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def test_a_state_folder_that_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    code, text = run_command("run", "--state", tmp_path / "file")
    assert (code, text.count("\n")) == (2, 1) and "cannot be used" in text


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_device_that_is_none_is_refused_before_anything_listens(tmp_path, command):
    code, text = run_command(command, "--state", tmp_path / "s", "--device", "abacus")
    assert (code, text.count("\n")) == (2, 1) and "unknown device 'abacus'" in text


def test_a_state_folder_has_one_server(start_server):
    server = start_server()
    code, text = run_command("run", "--state", server.state, "--port", "0", "--no-tokens")
    assert code == 2 and f"Another server (process {server.process.pid}) uses the state folder" in text
    server.kill()
    assert start_server(state=server.state).process.poll() is None  # a killed server leaves no lock


def test_a_port_that_is_taken_is_named(start_server, tmp_path):
    server = start_server()
    code, text = run_command("run", "--state", tmp_path / "other", "--port", server.port)
    assert code == 2 and text == f"stope-serve: Nothing can listen at 127.0.0.1, port {server.port}: Address already in use.\n"


def test_health_asks_the_server_itself(start_server):
    server = start_server()
    words = ["health", "--state", server.state, "--port", server.port, "--no-tokens"]
    assert run_command(*words)[0] == 0
    server.kill()
    assert run_command(*words)[0] == 1


def test_what_is_missing_is_named_with_its_cure(tmp_path):
    """In an interpreter that finds no fastapi."""
    program = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'fastapi': raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "from stope.serve.command_line import main\n"
        f"sys.exit(main(['run', '--state', {str(tmp_path)!r}, '--no-tokens']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr == "stope-serve: the server needs fastapi: pip install 'stope[serve]'\n"


def test_importing_the_package_loads_no_web_framework():
    program = "import sys, stope, stope.serve; print([m for m in ('fastapi', 'uvicorn', 'starlette', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[]\n"
