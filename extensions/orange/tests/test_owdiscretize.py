"""The widget Discretize by Best Cuts (stope)."""

import numpy as np
from Orange.data import Table

import widget_case
from orangecontrib.stope.discretize import METHODS, CutDiscretize
from orangecontrib.stope.widgets.owdiscretize import OWStopeDiscretize
from tables import mixed_table, numeric_class, with_missing_classes, without_class


class TestDiscretize(widget_case.WidgetCase):
    widget_class = OWStopeDiscretize

    def test_every_method_gives_what_its_preprocessor_gives(self):
        data = mixed_table(80)
        self.give(data)
        for index, (name, *_) in enumerate(METHODS):
            self.choose(self.widget.method_combo, index)
            expected = CutDiscretize(name)(data)
            self.assertEqual(self.sent("data").domain, expected.domain, name)
            self.assertTrue(np.array_equal(self.sent("data").X, expected.X, equal_nan=True))
            how = self.sent("preprocessor")
            self.assertEqual(how(data).domain, expected.domain)

    def test_oranges_tables_are_discretized(self):
        for name in ("iris", "heart_disease"):
            self.give(Table(name))
            self.assertEqual(len(self.sent("data")), len(Table(name)))
            self.assertTrue(all(variable.is_discrete for variable in self.sent("data").domain.attributes))
        self.widget.controls.group_values.click()
        self.give(Table("titanic"))
        self.assertEqual([variable.name for variable in self.sent("data").domain.attributes], ["status", "age", "sex"])
        self.choose(self.widget.method_combo, [name for name, *_ in METHODS].index("equal-width"))
        self.give(Table("housing"))
        self.assertEqual(len(self.sent("data").domain.attributes), 13)

    def test_the_cuts_are_listed(self):
        self.give(Table("iris"))
        cells = [[self.widget.table.item(row, column).text() for column in range(3)] for row in range(4)]
        self.assertEqual(cells[2], ["petal length", "2", "2.45, 4.75"])

    def test_only_the_parameters_of_the_method_are_shown(self):
        self.widget.show()
        names = [name for name, *_ in METHODS]
        for method in ("equal-width", "md-global", "chimerge", "mdlp"):
            self.choose(self.widget.method_combo, names.index(method))
            shown = {name for name, part in self.widget._parameters.items() if part.isVisible()}
            expected = {"equal-width", "equal-frequency"} if method == "equal-width" else {method} - {"mdlp"}
            self.assertEqual(shown, expected)
        self.widget.hide()

    def test_three_mistakes_are_told_in_words_and_nothing_is_sent(self):
        for data, words in (
            (without_class(mixed_table()), "or choose equal width"), (numeric_class(mixed_table()), "'y' is numeric"),
            (Table("titanic"), "no numeric attributes"), (Table("iris").to_sparse(), "sparse"),
            (Table("iris")[:50], "same class"),
        ):
            self.give(Table("iris"))
            self.assertEqual(self.shown("Error"), [])
            self.give(data)
            self.assert_says(self.shown("Error"), words)
            self.assertIsNone(self.sent("data"))
        self.give(None)
        self.assertEqual(self.shown("Error"), [])

    def test_rows_without_a_class_are_a_warning(self):
        self.give(with_missing_classes(Table("iris"), [3]))
        self.assert_says(self.shown("Warning"), "1 row without a class")

    def test_settings_come_back_with_a_workflow(self):
        self.choose(self.widget.method_combo, 4)
        self.widget.controls.remove_constant.click()
        again = self.reopened()
        self.assertEqual((again.method, again.remove_constant), ("chimerge", False))
        self.assertEqual(self.reopened(method="none such").method, "mdlp")

    def test_the_report_has_the_method_and_the_cuts(self):
        self.give(Table("iris"))
        self.widget.send_report()
        self.assertIn("MDLP", self.widget.report_html)
        self.assertIn("2.45, 4.75", self.widget.report_html)
