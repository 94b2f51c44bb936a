"""What both learner widgets share: the model is fitted in a thread, and errors are told in words."""

import numpy as np
from Orange.widgets import gui
from Orange.widgets.settings import Setting
from Orange.widgets.utils.concurrent import ConcurrentWidgetMixin
from Orange.widgets.utils.owlearnerwidget import OWBaseLearner
from Orange.widgets.widget import Msg

from .background import Interrupted, run_watched, words_of
from .choices import DEVICES, name_combo

__all__ = ["OWStopeLearner"]


def _fit(learner, data, state):
    return run_watched(learner, data, state=state)


class OWStopeLearner(OWBaseLearner, ConcurrentWidgetMixin, openclass=True):
    """A learner widget that fits its model in a thread."""

    supports_sparse = False
    settings_version = 1
    device = Setting("auto")

    class Error(OWBaseLearner.Error):
        fitting_failed = Msg("{}")
        sparse_not_supported = Msg("The data are sparse, and stope takes dense tables. Make them dense in Edit Domain, "
                                   "or with Continuize.")

    class Warning(OWBaseLearner.Warning):
        remarks = Msg("{}")

    class Information(OWBaseLearner.Information):
        without_class = Msg("{}")

    def __init__(self, preprocessors=None):
        super().__init__(preprocessors)
        ConcurrentWidgetMixin.__init__(self)

    def add_device_box(self):
        box = gui.vBox(self.controlArea, "Computation")
        self.device_combo = name_combo(box, self, "device", DEVICES, "On:", self.settings_changed)

    def update_model(self):
        self.cancel()
        self.Error.fitting_failed.clear()
        self.Error.out_of_memory.clear()
        self.Warning.remarks.clear()
        self.model = None
        if self.check_data():
            self.start(_fit, self.learner, self.data)
        else:
            self._send_model()

    def check_data(self):
        self.Information.without_class.clear()
        if not super().check_data():
            return False
        missing = int(np.isnan(self.data.Y).sum())
        if missing == len(self.data):
            self.Error.data_error("No row has a class, so there is nothing to learn from.")
            self.valid_data = False
        elif len(np.unique(self.data.Y[~np.isnan(self.data.Y)])) < 2:
            self.Error.data_error("All rows have the same class, so there is nothing to learn.")
            self.valid_data = False
        elif missing:
            self.Information.without_class(f"Left out: {missing} row{'s' * (missing != 1)} without a class.")
        return self.valid_data

    def on_done(self, model):
        self.model = model
        model.name = self.effective_learner_name()
        if getattr(model, "instances", None) is None:  # a tree keeps the rows that its nodes count
            model.instances = self.data
        if model.remarks:
            self.Warning.remarks(" ".join(model.remarks))
        self._send_model()

    def on_exception(self, ex):
        if isinstance(ex, Interrupted):
            return
        self.Error.fitting_failed(words_of(ex))
        self._send_model()

    def on_partial_result(self, result):
        """Nothing: a model comes as a whole."""

    def onDeleteWidget(self):
        self.shutdown()
        super().onDeleteWidget()
