"""pytest plugin of scripts/sklearn_tests.sh: runs scikit-learn's tests in zero-change mode, and counts who answered.

A case *calls* what zero-change mode covers if at least one such call ends in it that scikit-learn did not refuse with an
exception. Such a case is *answered* if stope answered at least one of these calls, and left none to scikit-learn. A
case that stope answered in part is counted apart. Calls of fixtures, and at import, belong to no case.

Each worker writes one JSON line a case to the file named by STOPE_SKLEARN_CASES plus the worker's name.
"""

import json
import os

import pytest

import stope.accel
from stope.accel import _tally

stope.accel.install(always=True)  # rules of speed shall not hide a wrong answer


def _path():
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    return f"{os.environ['STOPE_SKLEARN_CASES']}.{worker}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    calls = []
    with _tally.watch(calls.append):
        outcome = yield
    line = {
        "file": item.location[0].split("sklearn/", 1)[-1],
        "case": item.name,
        "passed": outcome.excinfo is None,
        "answered": sum(call.answered for call in calls),
        "left": sorted({f"{call.name}: {call.why}" for call in calls if not call.answered}),
    }
    with open(_path(), "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
