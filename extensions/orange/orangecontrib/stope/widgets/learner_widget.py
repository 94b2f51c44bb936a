"""What both learner widgets share: the model is fitted in a thread, and errors are told in words."""

import numpy as np
from Orange.widgets.settings import Setting
from Orange.widgets.utils.owlearnerwidget import OWBaseLearner
from Orange.widgets.widget import Msg

from .background import WatchedJobs, run_watched

__all__ = ["OWStopeLearner"]


def _fit(learner, data, state):
    return run_watched(learner, data, state=state)


def _why_not(data):
    """Why nothing can be learned from a table that has a class variable; None where something can."""
    if data.is_sparse():
        return ("The data are sparse, and stope takes dense tables. Make them dense in Edit Domain, or with "
                "Continuize.")
    if len(data) == 0:
        return "The data have no rows."
    if not data.domain.attributes:
        return "The data have no attributes to learn from."
    known = data.Y[~np.isnan(data.Y)]
    if len(known) == 0:
        return "No row has a class, so there is nothing to learn from."
    if len(np.unique(known)) < 2:
        return "All rows have the same class, so there is nothing to learn."
    return None


class OWStopeLearner(OWBaseLearner, WatchedJobs, openclass=True):
    """A learner widget that fits its model in a thread."""

    supports_sparse = False
    settings_version = 1
    device = Setting("auto")

    class Error(OWBaseLearner.Error):
        failed = Msg("{}")

    class Warning(OWBaseLearner.Warning):
        remarks = Msg("{}")

    class Information(OWBaseLearner.Information):
        without_class = Msg("{}")

    def __init__(self, preprocessors=None):
        super().__init__(preprocessors)
        WatchedJobs.__init__(self)

    def update_model(self):
        self.begin()
        self.model = None
        if self.check_data():
            self.start(_fit, self.learner, self.data)
        else:
            self.send_nothing()

    def check_data(self):
        """Whether a model can be fitted; shows in words why not, and how many rows are left out."""
        self.Information.without_class.clear()
        self.valid_data = False
        if self.data is None or self.learner is None:
            return False  # Orange has told what it refused
        self.Error.data_error.clear()
        reason = self.learner.incompatibility_reason(self.data.domain) or _why_not(self.data)
        if reason is not None:
            self.Error.data_error(reason)
            return False
        missing = int(np.isnan(self.data.Y).sum())
        if missing:
            self.Information.without_class(f"Left out: {missing} row{'s' * (missing != 1)} without a class.")
        self.valid_data = True
        return True

    def on_done(self, model):
        self.model = model
        model.name = self.effective_learner_name()
        if getattr(model, "instances", None) is None:  # a tree keeps the rows that its nodes count
            model.instances = self.data
        self.tell_remarks(model.remarks)
        self._send_model()

    def send_nothing(self):
        self._send_model()  # there is none

    def onDeleteWidget(self):
        self.shutdown()
        super().onDeleteWidget()
