"""Controls for settings, which take what workflows of other versions hold: names that are not listed, other numbers."""

from AnyQt.QtCore import Qt
from Orange.widgets import gui

__all__ = ["DEVICES", "label_of", "name_combo", "number_spin"]

DEVICES = (("auto", "CPU or GPU, the faster"), ("cpu", "CPU"), ("cuda", "GPU"))


def name_combo(parent, widget, setting, choices, label, callback=None):
    """Add a combo box for ``widget.<setting>``, which holds the first member of one of ``choices``.

    A name that the list lacks, from a workflow of another version, becomes the first choice.
    """
    names = [name for name, *_ in choices]
    if getattr(widget, setting) not in names:
        setattr(widget, setting, names[0])
    box = gui.hBox(parent)
    title = gui.widgetLabel(box, label)
    combo = gui.comboBox(box, None, None, items=[text for _, text, *_ in choices])
    title.setBuddy(combo)
    combo.setAccessibleName(label.rstrip(":"))  # what a screen reader says
    combo.setCurrentIndex(names.index(getattr(widget, setting)))

    def choose(index):
        setattr(widget, setting, names[index])
        if callback is not None:
            callback()

    combo.activated[int].connect(choose)
    return combo


def number_spin(parent, widget, setting, low, high, label, callback, step=1, **options):
    """Add a spin box for ``widget.<setting>``; ``low`` says whether it is a whole number.

    A number outside the bounds, from a workflow of another version, becomes the nearest one inside.
    """
    setattr(widget, setting, min(max(getattr(widget, setting), low), high))
    return gui.spin(parent, widget, setting, low, high, step, label=label, alignment=Qt.AlignRight, callback=callback,
                    controlWidth=80, spinType=type(low), **options)


def label_of(choices, name):
    """What a person reads for a name."""
    return next((text for one, text, *_ in choices if one == name), name)
