"""The command line, to compare with: $STOPE_BIN, else the one of the build tree."""

import json
import os
import subprocess
from pathlib import Path

import pytest


def command():
    found = os.environ.get("STOPE_BIN") or Path(__file__).parents[3] / "build/release/cli/stope"
    if not Path(found).exists():
        pytest.skip(f"there is no command line at {found}; STOPE_BIN names one")
    return str(found)


def stope(*arguments):
    """What the command writes to stdout."""
    done = subprocess.run([command(), *map(str, arguments), "-q"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def stope_json(*arguments):
    return json.loads(stope(*arguments))
