"""Orange without the package stope: the widgets open, and say how to get it."""

import pytest
from Orange.data import Table

import widget_case
from orangecontrib.stope.widgets.owdiscretize import OWStopeDiscretize
from orangecontrib.stope.widgets.owimpute import OWStopeImpute
from orangecontrib.stope.widgets.owknn import OWStopeKnn
from orangecontrib.stope.widgets.owrank import OWStopeRank
from orangecontrib.stope.widgets.owtree import OWStopeTree


class Opened(widget_case.WidgetCase):
    __test__ = False  # pytest collects nothing of it

    def runTest(self):
        """Nothing: the function below runs it."""


@pytest.fixture
def case():
    Opened.setUpClass()
    opened = Opened()
    opened.setUp()
    yield opened
    opened.tearDown()
    Opened.tearDownClass()


@pytest.mark.parametrize(
    "widget", [OWStopeKnn, OWStopeTree, OWStopeImpute, OWStopeDiscretize, OWStopeRank], ids=lambda one: one.__name__
)
def test_every_widget_opens_and_says_how_to_get_the_engine(widget, case, no_engine):
    case.widget = case.create_widget(widget)
    case.give(Table("heart_disease"))
    case.assert_says(case.shown("Error"), "install its wheel")
