"""Tests of the Orange add-on run without a screen, and never look into a person's settings."""

import os
import tempfile

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="stope-orange-"))
os.environ.setdefault("OMP_NUM_THREADS", "1")
if os.geteuid() == 0:  # the browser that draws reports has no sandbox for root
    os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")

import pytest
from AnyQt.QtCore import QCoreApplication, Qt

QCoreApplication.setAttribute(Qt.AA_ShareOpenGLContexts)


@pytest.fixture
def no_engine(monkeypatch):
    """As if the package stope were not installed."""
    import sys

    import stope

    monkeypatch.delattr(stope, "_core")
    monkeypatch.setitem(sys.modules, "stope._core", None)
