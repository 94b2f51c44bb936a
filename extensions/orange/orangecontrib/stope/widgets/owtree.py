"""Widget Local Discretization Tree (stope)."""

from Orange.widgets import gui
from Orange.widgets.settings import Setting
from Orange.widgets.utils.widgetpreview import WidgetPreview

from ..rank import CRITERIA
from ..tree import LocalDiscretizationTreeLearner
from .choices import DEVICES, label_of, name_combo, number_spin
from .learner_widget import OWStopeLearner

MISSING = (("value", "A value of their own"), ("fill", "The mean, or the most frequent value"))


class OWStopeTree(OWStopeLearner):
    """A tree whose splits separate the most pairs of rows of different classes."""

    name = "Local Discretization Tree (stope)"
    description = "Grow a tree whose splits separate the most pairs of rows of different classes."
    icon = "icons/tree.svg"
    priority = 20
    keywords = "tree, classification tree, local discretization, cut, stope"

    LEARNER = LocalDiscretizationTreeLearner

    criterion = Setting("discernibility")
    missing = Setting("value")
    limit_depth = Setting(False)
    max_depth = Setting(10)
    min_samples_leaf = Setting(2)
    prune = Setting(True)
    ccp_alpha = Setting(0.01)
    use_holdout = Setting(False)
    holdout_percent = Setting(30)
    balanced = Setting(False)

    def add_main_layout(self):
        box = gui.vBox(self.controlArea, "Splits")
        self.criterion_combo = name_combo(box, self, "criterion", CRITERIA, "A split is worth:", self.settings_changed)
        self.missing_combo = name_combo(box, self, "missing", MISSING, "Missing values are:", self.settings_changed)
        gui.checkBox(box, self, "balanced", "Classes weigh the same, however many rows they have",
                     callback=self.settings_changed)
        box = gui.vBox(self.controlArea, "Size")
        changed = self.settings_changed
        self.min_samples_leaf_spin = number_spin(
            box, self, "min_samples_leaf", 1, 100_000, "Rows of a leaf, at least:", changed
        )
        self.max_depth_spin = number_spin(
            box, self, "max_depth", 1, 1000, "Depth, at most:", changed, checked="limit_depth", checkCallback=changed
        )
        self.ccp_alpha_spin = number_spin(
            box, self, "ccp_alpha", 0.0, 1.0, "Pruned: a leaf costs", changed, 0.001, decimals=4, checked="prune",
            checkCallback=changed,
        )
        self.holdout_spin = number_spin(
            box, self, "holdout_percent", 1, 90, "Pruned by this share of the rows [%]:", changed,
            checked="use_holdout", checkCallback=changed,
        )
        self.add_device_box()

    def create_learner(self):
        return self.LEARNER(
            criterion=self.criterion, max_depth=self.max_depth if self.limit_depth else None,
            min_samples_leaf=self.min_samples_leaf, ccp_alpha=self.ccp_alpha if self.prune else 0.0,
            prune_holdout=self.holdout_percent / 100 if self.use_holdout else 0.0, balanced=self.balanced,
            missing=self.missing, device=self.device, preprocessors=self.preprocessors,
        )

    def get_learner_parameters(self):
        return (
            ("A split is worth", label_of(CRITERIA, self.criterion)),
            ("Missing values are", label_of(MISSING, self.missing)),
            ("Classes", "weigh the same" if self.balanced else "weigh as many rows as they have"),
            ("Rows of a leaf, at least", self.min_samples_leaf),
            ("Depth, at most", self.max_depth if self.limit_depth else "any"),
            ("Pruned by costs", f"a leaf costs {self.ccp_alpha:g}" if self.prune else "no"),
            ("Pruned by a share of the rows", f"{self.holdout_percent} %" if self.use_holdout else "no"),
            ("Computed on", label_of(DEVICES, self.device)),
        )

    def send_report(self):
        super().send_report()
        if self.model is not None:
            self.report_raw("Tree", f"<pre>{_escaped(self.model.text())}</pre>")


def _escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


if __name__ == "__main__":
    from Orange.data import Table

    WidgetPreview(OWStopeTree).run(Table("heart_disease"))
