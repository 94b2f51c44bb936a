"""What holds for all five widgets: odd data, odd settings, too little memory, no engine, reports, help, the keyboard."""

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from AnyQt.QtCore import Qt, QUrl
from AnyQt.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLabel
from Orange.data import Table
from orangecanvas.help.provider import HtmlIndexProvider

import stope
import widget_case
from orangecontrib.stope.widgets.help import write_pages
from orangecontrib.stope.widgets.owdiscretize import OWStopeDiscretize
from orangecontrib.stope.widgets.owimpute import OWStopeImpute
from orangecontrib.stope.widgets.owknn import OWStopeKnn
from orangecontrib.stope.widgets.owrank import OWStopeRank
from orangecontrib.stope.widgets.owtree import OWStopeTree
from tables import mixed_table, odd_tables

# What a programmer reads: the type of an exception, or a name of the engine's.
PROGRAMMERS_WORDS = re.compile(r"\b\w*(Error|Exception)\b|Traceback|\bnan\b|[a-z]_[a-z]")
RESULT = {"OWStopeDiscretize": "data", "OWStopeImpute": "data", "OWStopeKnn": "model", "OWStopeRank": "scores",
          "OWStopeTree": "model"}
NUMBERS = (0, -1, 10**9)


class EveryWidget:
    """The tests; the classes below run them for a widget each."""

    def result(self):
        return self.sent(RESULT[self.widget_class.__name__])

    def say_why_or_answer(self, what):
        """Whether there is an answer; without one an error must say why, in words for a person."""
        errors = self.shown("Error")
        for text in errors + self.shown("Warning"):
            self.assertIsNone(PROGRAMMERS_WORDS.search(text), f"{what}: {text}")
        self.assertEqual(self.result() is None, bool(errors), f"{what}: {errors}")
        return not errors

    def test_it_is_drawn_with_data_and_without(self):
        self.assertGreater(self.draw(), 5)
        self.give(Table("heart_disease"))
        self.assertGreater(self.draw(), 5)

    def test_odd_data_are_answered_or_refused_in_words(self):
        for what, data in odd_tables().items():
            self.give(data)
            self.say_why_or_answer(what)
            self.widget.send_report()
            self.give(None)
            self.assertEqual(self.shown("Error") + self.shown("Warning") + self.shown("Information"), [], what)
        self.give(Table("iris"))
        self.assertTrue(self.say_why_or_answer("iris after them"))

    def test_numbers_out_of_bounds_in_a_workflow_are_answered_or_refused_in_words(self):
        settings = self.widget.settingsHandler.pack_data(self.widget)
        names = [name for name, value in settings.items() if type(value) in (int, float) and name != "__version__"]
        self.assertGreater(len(names), 0)
        for name in names:
            for number in NUMBERS:
                self.widget = self.reopened(**{name: number})
                self.give(Table("iris"))
                self.say_why_or_answer(f"{name} = {number}")

    def test_too_little_memory_is_told_in_the_widget(self):
        self.addCleanup(stope.set_config, memory_limit=None)
        stope.set_config(memory_limit=1)
        self.give(mixed_table())
        self.assert_says(self.shown("Error"), "There is not enough memory. The table needs at least")
        self.assertIsNone(self.result())
        stope.set_config(memory_limit=None)
        self.give(mixed_table())
        self.assertTrue(self.say_why_or_answer("with memory"))

    @pytest.mark.usefixtures("no_engine")
    def test_without_the_engine_it_says_how_to_get_it(self):
        self.give(Table("heart_disease"))
        self.assert_says(self.shown("Error"), "install its wheel")

    def test_data_that_are_taken_away_take_the_answer_and_the_messages_along(self):
        self.give(mixed_table())
        self.assertIsNotNone(self.result())
        self.give(None)
        self.assertIsNone(self.result())
        self.assertEqual(self.shown("Error") + self.shown("Warning") + self.shown("Information"), [])

    def test_a_widget_may_be_closed_while_it_works(self):
        self.send_signal(self.widget.Inputs.data, mixed_table(2000), widget=self.widget)
        self.widget.onDeleteWidget()
        self.process_events()

    def test_its_help_is_a_page_that_names_every_setting(self):
        with tempfile.TemporaryDirectory() as folder:
            pages = HtmlIndexProvider(QUrl.fromLocalFile(str(write_pages(Path(folder)))), xpathquery=".//li/a")
            html = Path(pages.search(self.widget).toLocalFile()).read_text()
        text = re.sub(r"<[^>]*>", "", html)
        for label in self.widget.controlArea.findChildren(QLabel):
            if label.text().endswith(":") and label.text() != "On:":
                self.assertIn(label.text().rstrip(":"), text)

    def test_every_control_can_be_reached_by_the_keyboard(self):
        controls = [one for kind in (QComboBox, QAbstractSpinBox, QAbstractButton)
                    for one in self.widget.controlArea.findChildren(kind)]
        self.assertGreater(len(controls), 2)
        for control in controls:
            self.assertTrue(control.focusPolicy() & Qt.TabFocus, control.objectName())
        for combo in self.widget.controlArea.findChildren(QComboBox):
            self.assertTrue(combo.accessibleName())


for _widget in (OWStopeDiscretize, OWStopeImpute, OWStopeKnn, OWStopeRank, OWStopeTree):
    _name = f"Test{_widget.__name__}"
    globals()[_name] = type(_name, (EveryWidget, widget_case.WidgetCase), {"widget_class": _widget})
