"""The widget Impute (stope)."""

import numpy as np
from Orange.data import Domain, Table

import widget_case
from orangecontrib.stope.impute import STRATEGIES, KnnImpute
from orangecontrib.stope.widgets.owimpute import METRICS, OWStopeImpute
from tables import mixed_table, without_class


class TestImpute(widget_case.WidgetCase):
    widget_class = OWStopeImpute

    def test_the_output_is_what_the_preprocessor_gives(self):
        data = mixed_table(60, missing=0.2)
        self.give(data)
        self.assertTrue(np.array_equal(self.sent("data").X, KnnImpute()(data).X))
        how = self.sent("preprocessor")
        self.assertEqual(how(data).domain, self.sent("data").domain)

    def test_every_choice_reaches_the_preprocessor(self):
        data = mixed_table(60, missing=0.2)
        self.give(data)
        self.choose(self.widget.strategy_combo, [name for name, _ in STRATEGIES].index("median"))
        self.choose(self.widget.measure_combo, [name for name, _ in METRICS].index("heom"))
        self.choose(self.widget.weights_combo, 1)
        self.choose(self.widget.normalize_combo, 2)
        self.widget.controls.n_neighbors.setValue(3)
        expected = KnnImpute(3, "heom", "distance", "median", "z")(data)
        self.assertTrue(np.array_equal(self.sent("data").X, expected.X))

    def test_orange_s_tables_are_filled_and_counted(self):
        for name in ("iris", "titanic", "heart_disease", "housing"):
            self.give(Table(name))
            self.assertFalse(np.isnan(self.sent("data").X).any(), name)
        self.give(Table("heart_disease"))
        counts = {name: (missing, filled) for name, missing, filled in self.widget.counts}
        self.assertEqual(counts, {"major vessels colored": (4, 4), "thal": (2, 2)})
        self.assertEqual(self.widget.table.item(1, 0).text(), "thal")
        self.assertEqual(self.shown("Information"), [])
        self.give(Table("iris"))
        self.assert_says(self.shown("Information"), "No attribute has a missing value")

    def test_an_attribute_that_nobody_has_is_a_warning(self):
        data = mixed_table(30)
        with data.unlocked(data.X):
            data.X[:, 3] = np.nan
        self.give(data)
        self.assert_says(self.shown("Warning"), "no row has a value of 'b'")
        self.assertIsNotNone(self.sent("data"))

    def test_three_mistakes_are_told_in_words_and_nothing_is_sent(self):
        iris = Table("iris")
        for data, words in (
            (without_class(mixed_table(missing=0)).to_sparse(), "sparse"), (mixed_table()[:0], "no rows"),
            (iris.transform(Domain([], iris.domain.class_var)), "no attributes"),
        ):
            self.give(iris)
            self.assertEqual(self.shown("Error"), [])
            self.give(data)
            self.assert_says(self.shown("Error"), words)
            self.assertIsNone(self.sent("data"))
        self.give(mixed_table())
        self.choose(self.widget.measure_combo, [name for name, _ in METRICS].index("manhattan"))
        self.assert_says(self.shown("Error"), "Choose Gower")

    def test_settings_come_back_with_a_workflow(self):
        self.choose(self.widget.strategy_combo, 1)
        self.widget.controls.n_neighbors.setValue(9)
        again = self.reopened()
        self.assertEqual((again.strategy, again.n_neighbors), ("median", 9))
        self.assertEqual(self.reopened(measure="none such").measure, "nan-euclidean")

    def test_the_report_has_the_settings_and_the_counts(self):
        self.give(Table("heart_disease"))
        self.widget.send_report()
        self.assertIn("Mean of the neighbors".lower(), self.widget.report_html)
        self.assertIn("thal", self.widget.report_html)
