"""Signals and kill -9 at several moments of every command that writes files: outputs are old or complete, nothing stays but
what kill -9 cannot remove, and a signal is heard. `make soak` tries hundreds of moments (tests/cli/moments.py)."""

import signal

import pytest

from moments import Scene
from writers import JOBS


@pytest.mark.parametrize("name", JOBS)
def test_a_command_that_is_ended_leaves_its_outputs_old_or_complete(tmp_path, name):
    scene = Scene(name, tmp_path)
    ended = 0
    for i, how in enumerate([signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGINT]):
        code, took, wrong = scene.end((i + 0.5) / 6 * scene.seconds, how)
        assert wrong is None
        assert (took or 0) < 10, f"{how.name}: {took:.1f} s"  # half a second is promised; a loaded machine may be slower
        ended += code != 0
    assert ended > 0 or scene.seconds < 0.1, "no moment was early enough"
