"""Widget Impute (stope)."""

import numpy as np
from Orange.data import Table
from Orange.preprocess.preprocess import Preprocess
from Orange.widgets import gui
from Orange.widgets.settings import Setting
from Orange.widgets.utils.widgetpreview import WidgetPreview
from Orange.widgets.widget import Msg, Output

from ..impute import IMPUTE_MEASURES, STRATEGIES, KnnImpute
from ..measures import NORMALIZATIONS, WEIGHTS
from ..table import require_dense
from .background import run_watched
from .cells import fill_cells, table_of
from .choices import DEVICES, label_of, name_combo, number_spin
from .data_widget import OWStopeData

_KINDS = {"mixed": "mixed", "numeric": "numeric", "nominal": "categorical"}
METRICS = tuple((measure.name, f"{measure.label} ({_KINDS[measure.accepts]})") for measure in IMPUTE_MEASURES)


def _impute(how, data, state):
    def job():
        require_dense(data)
        rows = how.fit(data)
        filled = data.transform(how.domain_of(data.domain, rows))
        before, after = np.isnan(data.X).sum(axis=0), np.isnan(filled.X).sum(axis=0)
        counts = [
            (variable.name, int(n_missing), int(n_missing - n_left))
            for variable, n_missing, n_left in zip(data.domain.attributes, before, after)
            if n_missing
        ]
        return filled, counts

    return run_watched(job, state=state)


class OWStopeImpute(OWStopeData):
    """Fills missing values from the nearest rows that have them."""

    name = "Impute (stope)"
    description = "Fill missing values from the nearest rows that have them."
    icon = "icons/impute.svg"
    priority = 30
    keywords = "impute, missing, fill, nearest, knn, stope"

    class Outputs:
        data = Output("Data", Table, default=True)
        preprocessor = Output("Preprocessor", Preprocess, dynamic=False)

    class Information(OWStopeData.Information):
        nothing_missing = Msg("No attribute has a missing value.")

    n_neighbors = Setting(5)
    measure = Setting("nan-euclidean")
    normalize = Setting("range")
    weights = Setting("uniform")
    strategy = Setting("mean")

    def __init__(self):
        super().__init__()
        self.counts = []
        box = gui.vBox(self.controlArea, "Neighbors")
        number_spin(box, self, "n_neighbors", 1, 10_000, "Number of neighbors:", self.settings_changed)
        self.measure_combo = name_combo(box, self, "measure", METRICS, "Measure:", self.settings_changed)
        self.normalize_combo = name_combo(
            box, self, "normalize", NORMALIZATIONS, "Numeric attributes scaled:", self.settings_changed
        )
        box = gui.vBox(self.controlArea, "Values")
        self.strategy_combo = name_combo(box, self, "strategy", STRATEGIES, "A number becomes:", self.settings_changed)
        self.weights_combo = name_combo(box, self, "weights", WEIGHTS, "Neighbors weigh:", self.settings_changed)
        gui.widgetLabel(box, "A categorical value becomes the one that most neighbors have.").setWordWrap(True)
        self.add_device_box()
        self.add_apply_button()
        self.table = table_of(("Attribute", "Missing", "Filled"))
        self.mainArea.layout().addWidget(self.table)
        self.resize(900, 480)

    def imputer(self):
        """The preprocessor that the settings describe."""
        return KnnImpute(self.n_neighbors, self.measure, self.weights, self.strategy, self.normalize,
                         device=self.device)

    @gui.deferred
    def commit(self):
        self.begin()
        how = self.imputer()
        self.Outputs.preprocessor.send(how)
        if self.data is None:
            self.send_nothing()
        else:
            self.start(_impute, how, self.data)

    def on_done(self, result):
        filled, self.counts = result
        empty = [name for name, n_missing, n_filled in self.counts if n_filled < n_missing]
        if empty:
            names = ", ".join(f"'{name}'" for name in empty[:3]) + (" and others" if len(empty) > 3 else "")
            self.tell_remarks([f"Still missing: no row has a value of {names}."])
        self.Information.nothing_missing(shown=not self.counts)
        fill_cells(self.table, self.counts)
        self.Outputs.data.send(filled)

    def send_nothing(self):
        self.counts = []
        self.Information.nothing_missing.clear()
        fill_cells(self.table, [])
        self.Outputs.data.send(None)

    def send_report(self):
        self.report_items("Settings", [
            ("Number of neighbors", self.n_neighbors),
            ("Measure", label_of(METRICS, self.measure)),
            ("Numeric attributes scaled", label_of(NORMALIZATIONS, self.normalize)),
            ("A number becomes", label_of(STRATEGIES, self.strategy).lower()),
            ("Neighbors weigh", label_of(WEIGHTS, self.weights).lower()),
            ("Computed on", label_of(DEVICES, self.device)),
        ])
        if self.counts:
            self.report_table("Missing values", self.table)


if __name__ == "__main__":
    WidgetPreview(OWStopeImpute).run(Table("heart_disease"))
