"""A combo box for a setting that holds a name, so that saved workflows outlive a change of the list."""

from Orange.widgets import gui

__all__ = ["DEVICES", "label_of", "name_combo"]

DEVICES = (("auto", "CPU or GPU, the faster"), ("cpu", "CPU"), ("cuda", "GPU"))


def name_combo(parent, widget, setting, choices, label, callback=None):
    """Add a combo box for ``widget.<setting>``, which holds the first member of one of ``choices``.

    A name that the list lacks, from a workflow of another version, becomes the first choice.
    """
    names = [name for name, *_ in choices]
    if getattr(widget, setting) not in names:
        setattr(widget, setting, names[0])
    box = gui.hBox(parent)
    gui.widgetLabel(box, label)
    combo = gui.comboBox(box, None, None, items=[text for _, text, *_ in choices])
    combo.setCurrentIndex(names.index(getattr(widget, setting)))

    def choose(index):
        setattr(widget, setting, names[index])
        if callback is not None:
            callback()

    combo.activated[int].connect(choose)
    return combo


def label_of(choices, name):
    """What a person reads for a name."""
    return next((text for one, text, *_ in choices if one == name), name)
