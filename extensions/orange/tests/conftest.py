"""Tests of the Orange add-on run without a screen, and never look into a person's settings."""

import os
import tempfile

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", "1")
_folder = tempfile.TemporaryDirectory(prefix="stope-orange-")
for _name in ("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
    os.environ[_name] = os.path.join(_folder.name, _name)
    os.mkdir(os.environ[_name], 0o700)
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
