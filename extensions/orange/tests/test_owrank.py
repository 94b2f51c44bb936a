"""The widget Rank by Cuts (stope), and its scorer in Orange's Rank."""

import numpy as np
from AnyQt.QtCore import QItemSelectionModel
from Orange.data import Domain, Table
from Orange.widgets.data.owrank import OWRank

import widget_case
from orangecontrib.stope.rank import CutScorer, ranking
from orangecontrib.stope.widgets.owrank import ALL, BY_Q, MANUAL, N_BEST, NONE, OWStopeRank
from tables import mixed_table, numeric_class, with_missing_classes, without_class


class TestRank(widget_case.WidgetCase):
    widget_class = OWStopeRank

    def reduced(self):
        data = self.sent("reduced_data")
        return None if data is None else [variable.name for variable in data.domain.attributes]

    def test_the_best_attributes_of_orange_s_tables_go_on(self):
        for name in ("iris", "titanic", "heart_disease"):
            data = Table(name)
            self.give(data)
            found = ranking(data)
            best = sorted(range(len(found)), key=lambda place: -found[place]["score"])[:5]
            self.assertEqual(self.reduced(), [found[place]["name"] for place in sorted(best)])
            scores = self.sent("scores")
            self.assertEqual(scores.X[:, 0].tolist(), [one["score"] for one in found])
            self.assertFalse(np.isnan(scores.X).any())

    def test_every_way_of_selection_takes_its_attributes(self):
        self.give(Table("heart_disease"))
        found = self.widget.found
        self.widget.select_by(NONE)
        self.assertIsNone(self.reduced())
        self.widget.select_by(ALL)
        self.assertEqual(self.reduced(), [one["name"] for one in found])
        self.widget.n_selected_spin.setValue(2)
        self.assertEqual(self.widget.selection_method, N_BEST)
        self.assertEqual(self.reduced(), ["chest pain", "thal"])
        self.widget.most_q_spin.setValue(0.02)
        self.assertEqual(self.widget.selection_method, BY_Q)
        self.assertEqual(self.reduced(), [one["name"] for one in found if one["q_value"] <= 0.02])
        self.assertNotIn("rest SBP", self.reduced())

    def test_rows_chosen_by_hand_go_on_and_come_back_with_the_workflow(self):
        data = Table("heart_disease")
        self.give(data)
        index = self.widget.order.index(1, 0)
        name = index.data()
        self.widget.view.selectionModel().select(
            index, QItemSelectionModel.ClearAndSelect | QItemSelectionModel.Rows
        )
        self.assertEqual(self.widget.selection_method, MANUAL)
        self.assertEqual(self.reduced(), [name])
        self.give(None)
        self.assertIsNone(self.reduced())
        self.give(Table("iris"))
        self.assertEqual(len(self.reduced()), 4)
        self.give(data)
        self.assertEqual(self.reduced(), [name])
        again = self.reopened()
        self.send_signal(again.Inputs.data, data, widget=again)
        sent = self.get_output(again.Outputs.reduced_data, widget=again)
        self.assertEqual([variable.name for variable in sent.domain.attributes], [name])

    def test_a_way_of_selection_of_another_version_becomes_the_best_attributes(self):
        self.give(Table("heart_disease"))
        self.widget.select_by(ALL)
        settings = self.widget.settingsHandler.pack_data(self.widget)
        for context in settings["context_settings"]:
            context.values["selection_method"] = 99
        self.widget = self.create_widget(OWStopeRank, stored_settings=settings)
        self.give(Table("heart_disease"))
        self.assertEqual(self.widget.selection_method, N_BEST)
        self.assertEqual(len(self.reduced()), 5)

    def test_the_table_is_sorted_by_score_as_a_number(self):
        self.give(Table("heart_disease"))
        scores = [self.widget.order.index(row, 1).data() for row in range(self.widget.order.rowCount())]
        shown = [float(score) for score in scores]
        self.assertEqual(shown, sorted(shown, reverse=True))

    def test_without_permutations_there_are_no_p_values(self):
        self.widget.permutations_spin.setValue(0)
        self.give(Table("iris"))
        scores = self.sent("scores")
        self.assertEqual([variable.name for variable in scores.domain.attributes], ["Score"])
        self.widget.select_by(BY_Q)
        self.assertIsNone(self.reduced())

    def test_oranges_rank_takes_the_scorer(self):
        data = Table("heart_disease")
        self.give(data)
        scorer = self.sent("scorer")
        rank = self.create_widget(OWRank)
        self.send_signal(rank.Inputs.scorer, scorer, 0, widget=rank)
        self.send_signal(rank.Inputs.data, data, widget=rank)
        table = self.get_output(rank.Outputs.scores, widget=rank)
        column = table.get_column("Best cut (stope)")
        self.assertTrue(np.array_equal(np.sort(column), np.sort(CutScorer()(data))))

    def test_three_mistakes_are_told_in_words_and_nothing_is_sent(self):
        iris = Table("iris")
        for data, words in (
            (without_class(mixed_table()), "Select one with Select Columns."), (numeric_class(mixed_table()), "'y' is numeric"),
            (iris.transform(Domain([], iris.domain.class_var)), "no attributes"), (iris.to_sparse(), "sparse"),
        ):
            self.give(iris)
            self.assertEqual(self.shown("Error"), [])
            self.give(data)
            self.assert_says(self.shown("Error"), words)
            self.assertIsNone(self.reduced())

    def test_rows_without_a_class_are_a_warning(self):
        self.give(with_missing_classes(mixed_table(), [3]))
        self.assert_says(self.shown("Warning"), "1 row without a class")

    def test_the_report_has_the_ranking(self):
        self.give(Table("iris"))
        self.widget.send_report()
        self.assertIn("petal width", self.widget.report_html)
        self.assertIn("≥ 2.45", self.widget.report_html)
