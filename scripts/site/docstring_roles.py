"""Lets docstrings be read as Markdown: :func:`name` and its kin become `name`."""

import re

import griffe

ROLE = re.compile(r":(?:func|class|meth|mod|attr|obj|data|exc):`~?([^`]+)`")


class DocstringRoles(griffe.Extension):
    def on_instance(self, *, obj, **kwargs):
        if obj.docstring:
            obj.docstring.value = ROLE.sub(r"`\1`", obj.docstring.value)
