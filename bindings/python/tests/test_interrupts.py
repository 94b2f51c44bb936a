"""Ctrl-C while scikit-learn is imported for the first estimator."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from stope._interrupts import interrupts_kept


def lose_an_interrupt():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        pass


def test_an_interrupt_that_an_import_loses_is_raised_at_its_end():
    with pytest.raises(KeyboardInterrupt), interrupts_kept():
        lose_an_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_became_another_error_is_raised_itself():
    with pytest.raises(KeyboardInterrupt), interrupts_kept():
        lose_an_interrupt()
        raise ImportError("numpy.core.multiarray failed to import")


def test_other_errors_and_other_handlers_are_left_alone():
    with pytest.raises(ImportError), interrupts_kept():
        raise ImportError("no module")
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with interrupts_kept():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1]


def test_other_threads_import_as_they_did():
    done = []

    def work():
        with interrupts_kept():
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]


def test_an_interrupt_during_the_first_import_of_scikit_learn_reaches_the_program(tmp_path):
    package = tmp_path / "sklearn"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import signal\ntry:\n    signal.raise_signal(signal.SIGINT)\nexcept KeyboardInterrupt:\n    pass\n"
        "raise ImportError('lost')\n"
    )
    program = "import stope\ntry:\n    stope.NearestNeighbors\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    run = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                         text=True, timeout=120)
    assert run.stdout == "interrupted\n", run.stderr
