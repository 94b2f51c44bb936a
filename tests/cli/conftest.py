"""What every test of the command line shares: the paths, and a clear stop where there is no program to test."""

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "oracle"))

import program  # noqa: E402

program.attend_signals()


def pytest_sessionstart(session):
    if not os.access(program.PROGRAM, os.X_OK):
        raise pytest.UsageError(f"no program at {program.PROGRAM}: build it, or set STOPE_BIN")


def pytest_configure(config):
    config.addinivalue_line("markers", "bad_input: bad data, options and surroundings; also run under the sanitizers")


@pytest.fixture(scope="session")
def shared():
    """The folder of reference data; tests that need it say that they were skipped where it is absent."""
    if not program.SHARED.is_dir():
        pytest.skip(f"no reference data at {program.SHARED} (STOPE_SHARED)")
    return program.SHARED
