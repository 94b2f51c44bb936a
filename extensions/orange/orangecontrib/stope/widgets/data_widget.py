"""What the widgets that transform data share: input, a job in a thread, errors in words."""

from Orange.data import Table
from Orange.widgets import gui
from Orange.widgets.settings import Setting
from Orange.widgets.utils.sql import check_sql_input
from Orange.widgets.widget import Input, Msg, OWWidget

from .background import WatchedJobs

__all__ = ["OWStopeData"]


class OWStopeData(OWWidget, WatchedJobs, openclass=True):
    """A widget with a table in, whose job runs in a thread.

    Subclasses start the job in ``commit`` and have ``on_done`` and ``send_nothing``.
    """

    settings_version = 1
    auto_apply = Setting(True)
    device = Setting("auto")

    class Inputs:
        data = Input("Data", Table)

    class Error(OWWidget.Error):
        failed = Msg("{}")

    class Warning(OWWidget.Warning):
        remarks = Msg("{}")

    def __init__(self):
        super().__init__()
        WatchedJobs.__init__(self)
        self.data = None

    def add_apply_button(self):
        gui.rubber(self.controlArea)
        self.apply_button = gui.auto_apply(self.buttonsArea, self, "auto_apply", commit=self.commit)

    def settings_changed(self):
        self.commit.deferred()

    @Inputs.data
    @check_sql_input
    def set_data(self, data):
        self.data = data
        self.commit.now()

    @gui.deferred
    def commit(self):
        raise NotImplementedError

    def onDeleteWidget(self):
        self.shutdown()
        super().onDeleteWidget()
