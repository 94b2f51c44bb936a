"""Widget Discretize by best cuts (stope)."""

from Orange.data import Table
from Orange.preprocess.preprocess import Preprocess
from Orange.widgets import gui
from Orange.widgets.settings import Setting
from Orange.widgets.utils.widgetpreview import WidgetPreview
from Orange.widgets.widget import Output

from ..discretize import METHODS, CutDiscretize, cut_texts, find_cuts
from .background import run_watched
from .cells import fill_cells, table_of
from .choices import DEVICES, label_of, name_combo, number_spin
from .data_widget import OWStopeData

MISSING = (("value", "A value of their own"), ("drop", "A reason to leave the row out"))
_SHOWN_CUTS = 20


def _discretize(how, data, state):
    def job():
        cuts = find_cuts(how, data)
        return cuts, data.transform(how.domain_of(data.domain, cuts))

    return run_watched(job, state=state)


class OWStopeDiscretize(OWStopeData):
    """Replaces attributes by intervals that end where the classes change."""

    name = "Discretize by Best Cuts (stope)"
    description = "Cut numeric attributes where the classes change: MDLP, ChiMerge, or the most pairs separated."
    icon = "icons/discretize.svg"
    priority = 40
    keywords = "discretize, discretization, bin, cut, mdlp, entropy, chimerge, stope"

    class Outputs:
        data = Output("Data", Table, default=True)
        preprocessor = Output("Preprocessor", Preprocess, dynamic=False)

    method = Setting("mdlp")
    n_bins = Setting(5)
    limit_cuts = Setting(False)
    max_cuts = Setting(20)
    confidence = Setting(0.9)
    min_intervals = Setting(3)
    missing = Setting("value")
    group_values = Setting(False)
    remove_constant = Setting(True)

    def __init__(self):
        super().__init__()
        self.cuts = None
        box = gui.vBox(self.controlArea, "Method")
        self.method_combo = name_combo(box, self, "method", METHODS, "Cuts by:", self._method_changed)
        self._add_parameters(box)
        box = gui.vBox(self.controlArea, "Data")
        self.missing_combo = name_combo(box, self, "missing", MISSING, "Missing values are:", self.settings_changed)
        gui.checkBox(box, self, "group_values", "Also group the values of categorical attributes",
                     callback=self.settings_changed)
        gui.checkBox(box, self, "remove_constant", "Leave attributes out that have no cut",
                     callback=self.settings_changed)
        self.add_device_box()
        self.add_apply_button()
        self.table = table_of(("Attribute", "Cuts", "Where"))
        self.mainArea.layout().addWidget(self.table)
        self._show_parameters()
        self.resize(900, 460)

    def _add_parameters(self, box):
        changed = self.settings_changed
        bins, together, merged = gui.vBox(box), gui.vBox(box), gui.vBox(box)
        number_spin(bins, self, "n_bins", 2, 1000, "Intervals:", changed)
        number_spin(together, self, "max_cuts", 1, 100_000, "Cuts of all attributes, at most:", changed,
                    checked="limit_cuts", checkCallback=changed)
        number_spin(merged, self, "confidence", 0.5, 0.999, "Intervals differ at level:", changed, 0.01, decimals=3)
        number_spin(merged, self, "min_intervals", 1, 1000, "Intervals, at least:", changed)
        self._parameters = {
            "equal-width": bins, "equal-frequency": bins, "md-global": together, "chimerge": merged,
        }

    def _show_parameters(self):
        """Show the parameters of the method, and hide those of all others."""
        own = self._parameters.get(self.method)
        for part in set(self._parameters.values()):
            part.setVisible(part is own)

    def _method_changed(self):
        self._show_parameters()
        self.settings_changed()

    def discretizer(self):
        """The preprocessor that the settings describe."""
        return CutDiscretize(
            self.method, n_bins=self.n_bins, max_cuts=self.max_cuts if self.limit_cuts else None,
            confidence=self.confidence, min_intervals=self.min_intervals, missing=self.missing,
            group_values=self.group_values, remove_constant=self.remove_constant, device=self.device,
        )

    @gui.deferred
    def commit(self):
        self.begin()
        how = self.discretizer()
        self.Outputs.preprocessor.send(how)
        if self.data is None:
            self.send_nothing()
        else:
            self.start(_discretize, how, self.data)

    def on_done(self, result):
        self.cuts, data = result
        self.tell_remarks(self.cuts.remarks)
        rows = []
        for variable, points in self.cuts.points.items():
            texts = points if variable.is_discrete else cut_texts(variable, points)
            more = ", …" if len(points) > _SHOWN_CUTS else ""
            rows.append((variable.name, len(points), ", ".join(texts[:_SHOWN_CUTS]) + more))
        fill_cells(self.table, rows)
        self.Outputs.data.send(data)

    def send_nothing(self):
        self.cuts = None
        fill_cells(self.table, [])
        self.Outputs.data.send(None)

    def send_report(self):
        how = self.discretizer()
        items = [("Cuts by", label_of(METHODS, self.method))]
        if self.method in ("equal-width", "equal-frequency"):
            items.append(("Intervals", how.n_bins))
        if self.method == "md-global":
            items.append(("Cuts, at most", how.max_cuts or "as many as are needed"))
        if self.method == "chimerge":
            items += [("Level", how.confidence), ("Intervals, at least", how.min_intervals)]
        items += [
            ("Missing values are", label_of(MISSING, self.missing).lower()),
            ("Categorical attributes", "grouped" if self.group_values else "left as they are"),
            ("Computed on", label_of(DEVICES, self.device)),
        ]
        self.report_items("Settings", items)
        if self.cuts is not None:
            self.report_table("Cuts", self.table)


if __name__ == "__main__":
    WidgetPreview(OWStopeDiscretize).run(Table("heart_disease"))
