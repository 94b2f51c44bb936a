"""Widget Rank by Cuts (stope)."""

from AnyQt.QtCore import QItemSelection, QItemSelectionModel, QSortFilterProxyModel, Qt
from AnyQt.QtWidgets import QAbstractItemView, QButtonGroup, QGridLayout, QHeaderView, QRadioButton, QTableView
from Orange.data import Domain, Table
from Orange.preprocess.score import Scorer
from Orange.widgets import gui
from Orange.widgets.settings import ContextSetting, DomainContextHandler, Setting
from Orange.widgets.utils.itemmodels import PyTableModel
from Orange.widgets.utils.sql import check_sql_input
from Orange.widgets.utils.widgetpreview import WidgetPreview
from Orange.widgets.widget import AttributeList, Output

from ..rank import CRITERIA, CutScorer, cut_text, ranking, scores_table
from .background import run_watched
from .choices import DEVICES, label_of, name_combo, number_spin
from .data_widget import OWStopeData

MISSING = (
    ("value", "A value of their own"), ("fill", "The mean, or the most frequent value"),
    ("drop", "A reason to leave the row out"),
)
_TITLES = ("Attribute", "Score", "Best cut", "p", "q")
NONE, ALL, MANUAL, N_BEST, BY_Q = range(5)


def _rank(data, criterion, missing, n_permutations, device, state):
    def job():
        remarks = []
        found = ranking(data, criterion, missing, n_permutations, 0, device, remarks)
        return found, remarks

    return run_watched(job, state=state)


class OWStopeRank(OWStopeData):
    """Ranks attributes by their best cut, and passes the best of them on."""

    name = "Rank by Cuts (stope)"
    description = "Rank attributes by their best cut, with p-values, and select the best of them."
    icon = "icons/rank.svg"
    priority = 50
    keywords = "rank, filter, select, score, feature selection, p-value, stope"

    class Outputs:
        reduced_data = Output("Reduced Data", Table, default=True)
        scores = Output("Scores", Table, dynamic=False)
        features = Output("Features", AttributeList, dynamic=False)
        scorer = Output("Scorer", Scorer, dynamic=False)

    settingsHandler = DomainContextHandler()
    criterion = Setting("discernibility")
    missing = Setting("value")
    n_permutations = Setting(200)
    selection_method = ContextSetting(N_BEST)
    n_selected = ContextSetting(5)
    most_q = ContextSetting(0.05)
    selected = ContextSetting([], schema_only=True)

    def __init__(self):
        super().__init__()
        self.found = []
        box = gui.vBox(self.controlArea, "Scores")
        self.criterion_combo = name_combo(box, self, "criterion", CRITERIA, "A cut is worth:", self.settings_changed)
        self.missing_combo = name_combo(box, self, "missing", MISSING, "Missing values are:", self.settings_changed)
        self.permutations_spin = number_spin(
            box, self, "n_permutations", 0, 100_000, "Permutations for p (0: none):", self.settings_changed, 100
        )
        self.add_device_box()
        self._add_selection_box()
        self.add_apply_button()
        self._add_table()
        self.resize(1080, 560)

    def _add_selection_box(self):
        box = gui.vBox(self.controlArea, "Select Attributes")
        grid = QGridLayout()
        self.buttons = QButtonGroup(self)
        for row, text in enumerate(("None", "All", "By hand", "Best:", "q at most:")):
            button = QRadioButton(text)
            self.buttons.addButton(button, row)
            grid.addWidget(button, row, 0)
        self.n_selected_spin = gui.spin(None, self, "n_selected", 1, 9999, callback=lambda: self.select_by(N_BEST),
                                        addToLayout=False)
        self.most_q_spin = gui.doubleSpin(None, self, "most_q", 0.0, 1.0, 0.01, decimals=3,
                                          callback=lambda: self.select_by(BY_Q), addToLayout=False)
        grid.addWidget(self.n_selected_spin, N_BEST, 1)
        grid.addWidget(self.most_q_spin, BY_Q, 1)
        self.buttons.idClicked.connect(self.select_by)
        self.buttons.button(self.selection_method).setChecked(True)
        box.layout().addLayout(grid)

    def _add_table(self):
        self.model = PyTableModel(parent=self)
        self.model.setHorizontalHeaderLabels(_TITLES)
        self.order = QSortFilterProxyModel(self)
        self.order.setSourceModel(self.model)
        self.order.setSortRole(Qt.EditRole)
        self.view = QTableView()
        self.view.setModel(self.order)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(1, Qt.DescendingOrder)
        self.view.setSelectionBehavior(QAbstractItemView.SelectRows)
        self.view.setSelectionMode(QAbstractItemView.ExtendedSelection)
        self.view.setEditTriggers(QAbstractItemView.NoEditTriggers)
        self.view.verticalHeader().hide()
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeToContents)
        self.view.horizontalHeader().setStretchLastSection(True)
        self.view.pressed.connect(self._selected_by_hand)
        self.view.selectionModel().selectionChanged.connect(self._selection_changed)
        self.mainArea.layout().addWidget(self.view)
        self._choosing = False
        self.view.setMinimumWidth(480)

    @OWStopeData.Inputs.data
    @check_sql_input
    def set_data(self, data):
        self.closeContext()
        self.selection_method, self.n_selected, self.most_q, self.selected = N_BEST, 5, 0.05, []
        self.data = data
        if data is not None:
            self.openContext(data.domain)
            if self.buttons.button(self.selection_method) is None:  # a way of selection of another version
                self.selection_method = N_BEST
            self.n_selected, self.most_q = self.n_selected_spin.value(), self.most_q_spin.value()
        self.buttons.button(self.selection_method).setChecked(True)
        self.update_scores()

    def settings_changed(self):
        self.update_scores()

    def update_scores(self):
        """Rank anew: the data, or how they are ranked, have changed."""
        self.begin()
        self.found = []
        self._show()
        self.Outputs.scorer.send(CutScorer(self.criterion, self.missing, self.device))
        if self.data is None:
            self.send_nothing()
        else:
            self.start(_rank, self.data, self.criterion, self.missing, self.n_permutations, self.device)

    def on_done(self, result):
        self.found, remarks = result
        self.tell_remarks(remarks)
        self._show()
        self._choose()
        self.Outputs.scores.send(scores_table(self.found))
        self.commit.now()

    def _show(self):
        self._choosing = True
        self.model.wrap([
            [one["name"], _shown_score(one["score"]), cut_text(one), "" if one["p_value"] is None else one["p_value"],
             "" if one["q_value"] is None else one["q_value"]]
            for one in self.found
        ])
        self._choosing = False

    def select_by(self, method):
        self.selection_method = method
        self.buttons.button(method).setChecked(True)
        self._choose()
        self.commit.deferred()

    def ranked(self):
        """The places of the attributes, the best first; of equal scores the first attribute."""
        return sorted(range(len(self.found)), key=lambda place: -self.found[place]["score"])

    def chosen(self):
        """The places of the attributes that the way of selection takes."""
        if self.selection_method == ALL:
            return set(range(len(self.found)))
        if self.selection_method == N_BEST:
            return set(self.ranked()[: self.n_selected])
        if self.selection_method == BY_Q:
            return {place for place, one in enumerate(self.found)
                    if one["q_value"] is not None and one["q_value"] <= self.most_q}
        if self.selection_method == MANUAL and self.data is not None:
            names = {variable.name for variable in self.selected}
            return {place for place, one in enumerate(self.found) if one["name"] in names}
        return set()

    def _choose(self):
        """Select the rows of the table as :meth:`chosen` says."""
        chosen, selection = self.chosen(), QItemSelection()
        last = len(_TITLES) - 1
        for place in chosen:
            row = self.order.mapFromSource(self.model.index(place, 0)).row()
            selection.select(self.order.index(row, 0), self.order.index(row, last))
        self._choosing = True
        self.view.selectionModel().select(selection, QItemSelectionModel.ClearAndSelect)
        self._choosing = False
        if self.data is not None:
            self.selected = [self.data.domain.attributes[place] for place in sorted(chosen)]

    def _selected_by_hand(self):
        self.selection_method = MANUAL
        self.buttons.button(MANUAL).setChecked(True)

    def _selection_changed(self):
        if self._choosing or self.data is None or not self.found:
            return
        self._selected_by_hand()
        rows = {self.order.mapToSource(index).row() for index in self.view.selectionModel().selectedRows()}
        self.selected = [self.data.domain.attributes[place] for place in sorted(rows)]
        self.commit.deferred()

    @gui.deferred
    def commit(self):
        if self.data is None or not self.found or not self.selected:
            self.Outputs.reduced_data.send(None)
            self.Outputs.features.send(None)
            return
        domain = self.data.domain
        self.Outputs.reduced_data.send(
            self.data.transform(Domain(list(self.selected), domain.class_vars, domain.metas))
        )
        self.Outputs.features.send(AttributeList(self.selected))

    def send_nothing(self):
        self.Outputs.scores.send(None)
        self.Outputs.reduced_data.send(None)
        self.Outputs.features.send(None)

    def send_report(self):
        self.report_items("Settings", [
            ("A cut is worth", label_of(CRITERIA, self.criterion).lower()),
            ("Missing values are", label_of(MISSING, self.missing).lower()),
            ("Permutations", self.n_permutations),
            ("Computed on", label_of(DEVICES, self.device)),
        ])
        if self.found:
            self.report_table("Ranking", self.view, num_format="{:.4g}")
            self.report_items("Selected", [("Attributes", ", ".join(var.name for var in self.selected) or "none")])


def _shown_score(score):
    """Pairs are counted: they have no decimals."""
    return int(score) if float(score).is_integer() else score


if __name__ == "__main__":
    WidgetPreview(OWStopeRank).run(Table("heart_disease"))
