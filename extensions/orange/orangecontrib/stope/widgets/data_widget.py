"""What the widgets that transform data share: input, a job in a thread, errors in words."""

from Orange.data import Table
from Orange.widgets import gui
from Orange.widgets.settings import Setting
from Orange.widgets.utils.concurrent import ConcurrentWidgetMixin
from Orange.widgets.utils.sql import check_sql_input
from Orange.widgets.widget import Input, Msg, OWWidget

from .background import Interrupted, words_of
from .choices import DEVICES, name_combo

__all__ = ["OWStopeData"]


class OWStopeData(OWWidget, ConcurrentWidgetMixin, openclass=True):
    """A widget with a table in, whose job runs in a thread.

    Subclasses start the job in ``commit`` and override ``on_result`` and ``send_nothing``.
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
        ConcurrentWidgetMixin.__init__(self)
        self.data = None

    def add_device_box(self):
        box = gui.vBox(self.controlArea, "Computation")
        self.device_combo = name_combo(box, self, "device", DEVICES, "On:", self.settings_changed)

    def add_apply_button(self):
        gui.rubber(self.controlArea)
        self.apply_button = gui.auto_apply(self.buttonsArea, self, "auto_apply", commit=self.commit)

    def settings_changed(self):
        self.commit.deferred()

    @Inputs.data
    @check_sql_input
    def set_data(self, data):
        self.data = data
        self.set_input_summary()
        self.commit.now()

    def set_input_summary(self):
        """Nothing: Orange's own summary is enough."""

    @gui.deferred
    def commit(self):
        raise NotImplementedError

    def begin(self):
        """End the job that runs, and take back what was told of it."""
        self.cancel()
        self.Error.failed.clear()
        self.Warning.remarks.clear()

    def tell_remarks(self, remarks):
        if remarks:
            self.Warning.remarks(" ".join(remarks))

    def on_done(self, result):
        self.on_result(result)

    def on_result(self, result):
        raise NotImplementedError

    def send_nothing(self):
        raise NotImplementedError

    def on_exception(self, ex):
        if isinstance(ex, Interrupted):
            return
        self.Error.failed(words_of(ex))
        self.send_nothing()

    def on_partial_result(self, result):
        """Nothing: results come as a whole."""

    def onDeleteWidget(self):
        self.shutdown()
        super().onDeleteWidget()
