"""Replaces one attribute of a module or class of scikit-learn, and puts it back.

Only attributes are replaced, never classes: instances, subclasses, pickles and ``isinstance`` see scikit-learn's own.
"""

import importlib
import inspect

__all__ = ["Seam"]

_ABSENT = object()


class Seam:
    """One place in scikit-learn where stope can take over.

    Parameters
    ----------
    place : str
        "module:name" or "module:Class.name".
    make : callable
        Gets what is there, and returns what is to be there.
    parameters : sequence of str
        What is there must take these parameters first. Else another version of scikit-learn means something else by
        the name, and it is left alone.
    """

    def __init__(self, place, make, parameters=()):
        self.place = place
        self._make = make
        self._parameters = tuple(parameters)
        self._owner = None

    def open(self):
        """Replace the attribute. Returns None, or why it was left alone."""
        module, _, path = self.place.partition(":")
        *owners, self._name = path.split(".")
        try:
            owner = importlib.import_module(module)
            for name in owners:
                owner = getattr(owner, name)
        except (ImportError, AttributeError):
            return "there is no such place"
        original = vars(owner).get(self._name, _ABSENT)
        if original is _ABSENT:
            return "there is no such place"
        if self._parameters and self._taken_first(original) != self._parameters:
            return f"it does not take ({', '.join(self._parameters)})"
        self._owner, self._original = owner, original
        setattr(owner, self._name, self._make(original))
        return None

    def _taken_first(self, original):
        try:
            return tuple(inspect.signature(original).parameters)[: len(self._parameters)]
        except (TypeError, ValueError):
            return None

    def close(self):
        """Put back what was there."""
        setattr(self._owner, self._name, self._original)
        self._owner = self._original = None
