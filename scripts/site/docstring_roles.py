"""Lets griffe read the docstrings as they are meant.

:func:`name` and its kin become `name`. A type such as `{"a", "b"} or callable` loses its braces: griffe would drop
what stands behind them. Where nothing stands there, "one of" keeps griffe from reading the words as a tuple.
"""

import re

import griffe

ROLE = re.compile(r":(?:func|class|meth|mod|attr|obj|data|exc):`~?([^`]+)`")
CHOICES = re.compile(r"^(\s*[*\w, ]+ : )\{([^{}\n]*)\}", re.M)
ALONE = re.compile(r"^(\s*[*\w, ]+ : )\{([^{}\n]*)\}(?=\n|, default|, optional)", re.M)


class DocstringRoles(griffe.Extension):
    def on_instance(self, *, obj, **kwargs):
        if obj.docstring:
            text = ALONE.sub(r"\1one of \2", ROLE.sub(r"`\1`", obj.docstring.value))
            obj.docstring.value = CHOICES.sub(r"\1\2", text)
