"""Workflows without a window: read by the canvas' own reader, run, and saved."""

import io
import time

from AnyQt.QtWidgets import QApplication
from orangecanvas.registry import WidgetRegistry
from orangecanvas.scheme import readwrite
from orangewidget.workflow.discovery import WidgetDiscovery
from orangewidget.workflow.widgetsscheme import WidgetsScheme

_PACKAGES = (
    "Orange.widgets.data", "Orange.widgets.evaluate", "Orange.widgets.visualize", "orangecontrib.stope.widgets",
)


_application = []  # held as long as the process lives: Qt does not survive a second one


def application():
    """Qt's application; the first call makes it."""
    if not _application:
        _application.append(QApplication.instance() or QApplication([]))
    return _application[0]


def registry():
    """The widgets of the add-on, and those of Orange that the workflows use."""
    found = WidgetRegistry()
    discovery = WidgetDiscovery(found)
    for package in _PACKAGES:
        discovery.process_category_package(package, distribution=None)
    return found


class Workflow:
    """A workflow that runs.

    Attributes
    ----------
    problems : list
        What the reader complained of.
    widgets : dict
        By the titles of the nodes.
    """

    def __init__(self, ows, widgets):
        self.app = application()
        self.scheme, self.problems = WidgetsScheme(), []
        readwrite.scheme_load(self.scheme, io.BytesIO(ows), widgets, error_handler=self.problems.append)
        self.widgets = {node.title: self.scheme.widget_for_node(node) for node in self.scheme.nodes}

    def run(self, seconds=60, quiet=0.5):
        """Process events until nothing has been under way for a while; False where that takes too long."""
        end, since = time.monotonic() + seconds, None
        while time.monotonic() < end:
            self.app.processEvents()
            busy = self.scheme.signal_manager.has_pending() or any(w.isInvalidated() for w in self.widgets.values())
            since = None if busy else (since or time.monotonic())
            if since is not None and time.monotonic() - since > quiet:
                return True
            time.sleep(0.005)
        return False

    def messages(self, group="Error"):
        """What the widgets show, by the titles of the nodes."""
        shown = {title: [str(one) for one in getattr(widget, group).active] for title, widget in self.widgets.items()}
        return {title: texts for title, texts in shown.items() if texts}

    def saved(self):
        """The workflow as the canvas saves it."""
        self.scheme.sync_node_properties()
        stream = io.BytesIO()
        readwrite.scheme_to_ows_stream(self.scheme, stream, pretty=True, pickle_fallback=True)
        return stream.getvalue()

    def close(self):
        self.scheme.clear()
        self.app.processEvents()
