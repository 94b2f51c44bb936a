"""Lets griffe read the docstrings as they are meant.

:func:`name` and its kin become `name`. A type such as `{"a", "b"} or callable` loses its braces: griffe would drop
what stands behind them.
"""

import re

import griffe

ROLE = re.compile(r":(?:func|class|meth|mod|attr|obj|data|exc):`~?([^`]+)`")
CHOICES = re.compile(r"^(\s*[*\w, ]+ : )\{([^{}\n]*)\}", re.M)


class DocstringRoles(griffe.Extension):
    def on_instance(self, *, obj, **kwargs):
        if obj.docstring:
            obj.docstring.value = CHOICES.sub(r"\1\2", ROLE.sub(r"`\1`", obj.docstring.value))
