"""Draws the pictures of docs/ORANGE.md without a screen: python extensions/orange/screenshots.py FOLDER

It needs Orange, with this add-on installed (extensions/orange/README.md says how).
"""

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from AnyQt.QtCore import QCoreApplication, Qt

QCoreApplication.setAttribute(Qt.AA_ShareOpenGLContexts)

from AnyQt.QtWidgets import QApplication
from Orange.canvas.config import Config
from orangecanvas import config
from orangecanvas.registry import WidgetRegistry
from orangecanvas.registry.qt import QtWidgetRegistry
from orangewidget.workflow.discovery import WidgetDiscovery
from orangewidget.workflow.mainwindow import OWCanvasMainWindow

import orangecontrib.stope.tutorials as tutorials

EXAMPLE = Path(tutorials.__file__).with_name("heart-disease.ows")
# The title of a node, the picture's name, and the window's size.
WINDOWS = (
    ("k-NN (stope)", "orange-knn", (460, 420)),
    ("Local Discretization Tree (stope)", "orange-tree", (460, 520)),
    ("Tree Viewer", "orange-tree-viewer", (1180, 520)),
    ("Impute (stope)", "orange-impute", (900, 480)),
    ("Discretize by Best Cuts (stope)", "orange-discretize", (900, 420)),
    ("Rank by Cuts (stope)", "orange-rank", (1180, 560)),
    ("Test and Score", "orange-scores", (1000, 560)),
)


def canvas(application):
    """The main window of Orange, with all widgets that are installed."""
    config.set_default(Config())
    found = WidgetRegistry()
    WidgetDiscovery(found).run(Config.widgets_entry_points())
    window = OWCanvasMainWindow()
    window.set_widget_registry(QtWidgetRegistry(found, parent=application))
    window.resize(1180, 640)
    window.show()
    return window


def settle(application, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        application.processEvents()
        time.sleep(0.01)


def main(folder):
    application = QApplication(["orange"])
    window = canvas(application)
    window.load_scheme(str(EXAMPLE))
    settle(application, 8)
    window.grab().save(str(folder / "orange-workflow.png"))
    scheme = window.current_document().scheme()
    for title, name, size in WINDOWS:
        node = next(node for node in scheme.nodes if node.title == title)
        widget = scheme.widget_for_node(node)
        widget.resize(*size)
        widget.show()
        if title == "Tree Viewer":
            widget.zoom = 2
            widget.toggle_zoom_slider()
        settle(application, 2)
        widget.grab().save(str(folder / f"{name}.png"))
        widget.hide()
    application.processEvents()
    os._exit(0)  # windows that are open would ask whether to save


if __name__ == "__main__":
    main(Path(sys.argv[1]))
