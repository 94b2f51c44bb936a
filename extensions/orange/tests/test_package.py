"""The package: entry points, icons, licence, names."""

import importlib
import inspect
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

try:
    import tomllib
except ImportError:
    tomllib = None

import stope
from AnyQt.QtWidgets import QWidget
from orangewidget.utils.signals import Output
from orangecontrib.stope.widgets import help as help_pages
from workflow import application

FOLDER = Path(__file__).parents[1]
WIDGETS = {
    "owknn": "OWStopeKnn", "owtree": "OWStopeTree", "owimpute": "OWStopeImpute", "owdiscretize": "OWStopeDiscretize",
    "owrank": "OWStopeRank",
}


def widget_class(module):
    return getattr(importlib.import_module(f"orangecontrib.stope.widgets.{module}"), WIDGETS[module])


@pytest.mark.skipif(tomllib is None, reason="Python 3.11 reads TOML")
def test_entry_points_name_packages_that_are_there_and_the_version_is_stopes():
    application()  # the help pages are drawn up by Qt
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    for group in project["entry-points"].values():
        for place in group.values():
            module, _, name = place.partition(":")
            assert hasattr(importlib.import_module(module), name or "__name__")
    assert project["version"] == stope.__version__
    assert project["license"]["text"] == "GPL-3.0-or-later"
    assert "GNU GENERAL PUBLIC LICENSE" in (FOLDER / "LICENSE").read_text()[:200]


def test_help_pages_have_a_folder_of_their_own():
    application()
    ((index, _),) = help_pages.WIDGET_HELP_PATH
    assert Path(index).parent.name == "stope-help"
    assert len(list(Path(index).parent.glob("*.html"))) == len(WIDGETS) + 1


@pytest.mark.parametrize("module", WIDGETS)
def test_every_widget_has_an_icon_a_description_and_words_to_find_it(module):
    widget = widget_class(module)
    folder = Path(inspect.getfile(widget)).parent
    root = ElementTree.parse(folder / widget.icon).getroot()
    assert root.tag.endswith("svg")
    assert widget.name.endswith("(stope)") and widget.description.endswith(".") and "stope" in widget.keywords
    assert any(isinstance(output, Output) for output in vars(widget.Outputs).values())


@pytest.mark.parametrize("module", WIDGETS)
def test_no_setting_or_method_hides_one_of_qts(module):
    meant = {"setCaption", "send", "onDeleteWidget"}
    for base in widget_class(module).__mro__:
        if base.__module__.startswith("orangecontrib.stope"):
            hidden = {name for name in vars(base) if not name.startswith("__")} & set(dir(QWidget))
            assert hidden <= meant, hidden


def test_priorities_and_names_are_different():
    widgets = [widget_class(module) for module in WIDGETS]
    assert len({widget.priority for widget in widgets}) == len({widget.name for widget in widgets}) == len(widgets)


def test_public_names_are_loaded_when_they_are_asked_for():
    import orangecontrib.stope as package

    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing
