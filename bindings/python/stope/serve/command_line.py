"""``stope-serve``: run a server, make and remove tokens, check settings."""

import argparse
import os
import pathlib
import sys

from .settings import Limits, Settings
from .units import bytes_of, seconds_of

__all__ = ["main"]

_USAGE_ERROR = 2


class UsageError(Exception):
    """What was asked for is not possible; the text is one sentence."""


def _whole(text):
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def _positive(text):
    number = _whole(text)
    if number < 1:
        raise ValueError(f"{text!r} is less than 1")
    return number


def _port(text):
    number = _whole(text)
    if number > 65535:
        raise ValueError(f"{text!r} is no port; ports end at 65535")
    return number


def _some_bytes(text):
    number = bytes_of(text)
    if number < 1:
        raise ValueError(f"{text!r} is less than one byte")
    return number


def _some_seconds(text):
    number = seconds_of(text)
    if number <= 0:
        raise ValueError(f"{text!r} is no time")
    return number


def _names(text):
    return tuple(name.strip() for name in text.split(",") if name.strip())


# (flag, the setting that it fills, how its word is read, what the word is called, help)
_SETTINGS = [
    ("--state", "state", pathlib.Path, "FOLDER", "where tables, models and tokens are kept"),
    ("--host", "host", str, "ADDRESS", "listen here; off the loopback only with tokens and TLS"),
    ("--port", "port", _port, "N", "0: the system chooses one"),
    ("--certificate", "certificate", pathlib.Path, "FILE", "TLS: the certificate with its chain, PEM"),
    ("--key", "key", pathlib.Path, "FILE", "TLS: the key, PEM"),
    ("--allow-host", "hosts", _names, "NAME,...", "names that requests may have in Host, for a proxy in front"),
    ("--device", "device", str, "NAME", "auto, cpu, cuda or cuda:0: where jobs run"),
    ("--threads", "threads", _whole, "N", "threads of a job; 0: all CPUs"),
    ("--grace", "grace_seconds", seconds_of, "TIME", "running jobs get this long when the server is told to stop"),
]
_LIMITS = [
    ("--body", "body_bytes", _some_bytes, "SIZE", "a request's body, before and after decompression"),
    ("--rows", "rows", _positive, "N", "rows of a table"),
    ("--columns", "columns", _positive, "N", "columns of a table"),
    ("--memory", "memory_bytes", bytes_of, "SIZE", "memory of one job; 0: the engine's default, divided by --jobs"),
    ("--jobs", "jobs", _positive, "N", "jobs at once"),
    ("--waiting", "waiting", _whole, "N", "jobs that wait; one more is refused"),
    ("--time", "seconds", _some_seconds, "TIME", "time of one job"),
    ("--idle", "idle_seconds", _some_seconds, "TIME", "a body that sends nothing for so long is given up"),
    ("--keep", "keep_seconds", _some_seconds, "TIME", "anonymous tables and models, and results of jobs"),
    ("--state-size", "state_bytes", bytes_of, "SIZE", "the state folder; 0: only 5 %% of the disk are kept free"),
    ("--connections", "connections", _positive, "N", "connections at once"),
    ("--header-time", "header_seconds", _some_seconds, "TIME", "a request's headers must arrive within this time"),
    ("--header-size", "header_bytes", _some_bytes, "SIZE", "a request line with its headers"),
]


def _variable_of(flag):
    return f"STOPE_SERVE_{flag.lstrip('-').replace('-', '_').upper()}"


def _default_state():
    """systemd names its state folder; else it is where the user's programs keep their state."""
    named = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    if named:
        return pathlib.Path(named)
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return pathlib.Path(base).expanduser() / "stope"


def _value_of(words, environment, flag, member, read):
    """The value of a flag, else of its variable, else None."""
    word, source = getattr(words, member), flag
    if word is None:
        word, source = environment.get(_variable_of(flag)), _variable_of(flag)
    if word is None or (word == "" and source != flag):
        return None
    try:
        return read(word)
    except ValueError as error:
        raise UsageError(f"{source}: {error}") from None


def settings_of(words, environment) -> Settings:
    """Return the settings that flags and environment variables give; a flag wins."""
    values = {}
    for flag, member, read, _, _ in _SETTINGS:
        value = _value_of(words, environment, flag, member, read)
        if value is not None:
            values[member] = value
    limits = {}
    for flag, member, read, _, _ in _LIMITS:
        value = _value_of(words, environment, flag, member, read)
        if value is not None:
            limits[member] = value
    values.setdefault("state", _default_state())
    if values.get("host") == "localhost":
        values["host"] = "127.0.0.1"
    settings = Settings(**values, limits=Limits(**limits), tokens=not words.no_tokens)
    refusal = settings.refusal()
    if refusal:
        raise UsageError(refusal)
    return settings


def _add_flags(parser, flags, defaults):
    for flag, member, _, word, text in flags:
        default = getattr(defaults, member, None)
        shown = "" if default in (None, "", ()) else f" [{default}]"
        parser.add_argument(flag, dest=member, metavar=word, help=f"{text}{shown}; variable {_variable_of(flag)}")


def _parser():
    parser = argparse.ArgumentParser(prog="stope-serve", description="Tables, models and jobs of stope over HTTP.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, action, text in (
        ("run", _run, "run a server until it is told to stop"),
        ("check", _check, "say whether a server could run with these settings"),
        ("health", _health, "ask the server with these settings whether it takes requests; exit code 1: it does not"),
    ):
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(action=action)
        _add_flags(command, _SETTINGS, Settings(state=_default_state()))
        command.add_argument("--no-tokens", action="store_true", help="let every program on this machine do everything")
        _add_flags(command.add_argument_group("limits"), _LIMITS, Limits())
    _add_token_commands(commands)
    return parser


def _add_token_commands(commands):
    text = "make, list and remove tokens; a running server heeds a change at once"
    tokens = commands.add_parser("token", help=text).add_subparsers(dest="token_command", required=True, metavar="COMMAND")
    add = tokens.add_parser("add", help="make a token and print it, once")
    add.add_argument("name", metavar="NAME", help="whose token it is")
    add.add_argument("--right", required=True, choices=("read", "compute", "admin"), help="each includes those before it")
    remove = tokens.add_parser("remove", help="remove a token: requests that have it are refused from now on")
    remove.add_argument("name", metavar="NAME")
    list_ = tokens.add_parser("list", help="print the names, rights and dates of all tokens")
    for command, action in ((add, _add_token), (remove, _remove_token), (list_, _list_tokens)):
        command.set_defaults(action=action)
        _add_flags(command, _SETTINGS[:1], Settings(state=_default_state()))


def main(arguments=None) -> int:
    """Run a command and return its exit code: 0, 1 of ``health``, or 2 for what is refused before anything has begun."""
    words = _parser().parse_args(arguments)
    try:
        return words.action(words)
    except UsageError as error:
        print(f"stope-serve: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        if not error.name or error.name.split(".")[0] == "stope":
            raise
        print(f"stope-serve: the server needs {error.name}: pip install 'stope[serve]'", file=sys.stderr)
    return _USAGE_ERROR


def _run(words):
    settings = settings_of(words, os.environ)
    from .server import CannotStart, run

    try:
        return run(settings)
    except CannotStart as error:
        raise UsageError(str(error)) from None


def _check(words):
    settings = settings_of(words, os.environ)
    from .server import NO_TOKENS, CannotStart, context_of, lock_state, require_device

    try:
        os.close(lock_state(settings.state))
        require_device(settings)
        context_of(settings)
    except CannotStart as error:
        raise UsageError(str(error)) from None
    number = len(_on_tokens(settings.state, lambda tokens: tokens.entries()))
    for member, value in {**vars(settings), **vars(settings.limits)}.items():
        if member != "limits":
            print(f"{member}\t{'' if value is None else value}")
    if settings.tokens and not number:
        print(NO_TOKENS, file=sys.stderr)
    return 0


def _health(words):
    settings = settings_of(words, os.environ)
    from .health_check import is_healthy

    healthy = is_healthy(settings)
    print("healthy" if healthy else "not healthy")
    return 0 if healthy else 1


def _on_tokens(state, action):
    from .tokens import TokenFileError, Tokens

    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        return action(Tokens(state / "tokens.json"))
    except TokenFileError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{error.filename or state}: {error.strerror}") from None


def _state_of(words):
    return _value_of(words, os.environ, *_SETTINGS[0][:3]) or _default_state()


def _add_token(words):
    print(_on_tokens(_state_of(words), lambda tokens: tokens.add(words.name, words.right)))
    print("This is the only time that the token is shown.", file=sys.stderr)
    return 0


def _remove_token(words):
    _on_tokens(_state_of(words), lambda tokens: tokens.remove(words.name))
    return 0


def _list_tokens(words):
    for entry in _on_tokens(_state_of(words), lambda tokens: tokens.entries()):
        print(f"{entry.name}\t{entry.right}\t{entry.created}")
    return 0
