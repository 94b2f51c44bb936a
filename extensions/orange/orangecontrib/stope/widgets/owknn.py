"""Widget k-NN (stope)."""

from Orange.widgets import gui
from Orange.widgets.settings import Setting
from Orange.widgets.utils.widgetpreview import WidgetPreview

from ..knn import KnnLearner
from ..measures import MEASURES, NORMALIZATIONS, WEIGHTS
from .choices import DEVICES, label_of, name_combo, number_spin
from .learner_widget import OWStopeLearner

_KINDS = {"mixed": "mixed", "numeric": "numeric", "nominal": "categorical"}
METRICS = tuple((measure.name, f"{measure.label} ({_KINDS[measure.accepts]})") for measure in MEASURES)


class OWStopeKnn(OWStopeLearner):
    """Predicts by the nearest rows, exactly, under many measures."""

    name = "k-NN (stope)"
    description = "Predict by the nearest training rows, under measures for mixed tables and missing values."
    icon = "icons/knn.svg"
    priority = 10
    keywords = "knn, k nearest, neighbor, neighbour, gower, heom, stope"

    LEARNER = KnnLearner

    n_neighbors = Setting(5)
    measure = Setting("mixed-euclidean")
    minkowski_p = Setting(3.0)
    normalize = Setting("range")
    weights = Setting("uniform")

    def add_main_layout(self):
        box = gui.vBox(self.controlArea, "Neighbors")
        self.n_neighbors_spin = number_spin(
            box, self, "n_neighbors", 1, 10_000, "Number of neighbors:", self.settings_changed
        )
        self.measure_combo = name_combo(box, self, "measure", METRICS, "Measure:", self._measure_changed)
        self.p_spin = number_spin(
            box, self, "minkowski_p", 0.1, 100.0, "Power p of Minkowski:", self.settings_changed, 0.1
        )
        self.normalize_combo = name_combo(
            box, self, "normalize", NORMALIZATIONS, "Numeric attributes scaled:", self.settings_changed
        )
        self.weights_combo = name_combo(box, self, "weights", WEIGHTS, "Votes weigh:", self.settings_changed)
        self.add_device_box()
        self.p_spin.setEnabled(self.measure == "minkowski")

    def _measure_changed(self):
        self.p_spin.setEnabled(self.measure == "minkowski")
        self.settings_changed()

    def create_learner(self):
        return self.LEARNER(
            n_neighbors=self.n_neighbors, metric=self.measure, weights=self.weights, normalize=self.normalize,
            metric_params={"p": self.minkowski_p} if self.measure == "minkowski" else None, device=self.device,
            preprocessors=self.preprocessors,
        )

    def get_learner_parameters(self):
        measure = label_of(METRICS, self.measure)
        if self.measure == "minkowski":
            measure += f", p = {self.minkowski_p:g}"
        return (
            ("Number of neighbors", self.n_neighbors),
            ("Measure", measure),
            ("Numeric attributes scaled", label_of(NORMALIZATIONS, self.normalize)),
            ("Votes weigh", label_of(WEIGHTS, self.weights)),
            ("Computed on", label_of(DEVICES, self.device)),
        )


if __name__ == "__main__":
    from Orange.data import Table

    WidgetPreview(OWStopeKnn).run(Table("heart_disease"))
