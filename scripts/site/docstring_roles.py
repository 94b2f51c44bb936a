"""Lets griffe read the docstrings as they are meant.

:func:`name` and its kin become `name`. A type such as `{"a", "b"} or callable` loses its braces: griffe would drop
what stands behind them. It would also read a type as an expression of Python and drop its quotes. An invisible letter
that no expression may have keeps it text.
"""

import re

import griffe

ROLE = re.compile(r":(?:func|class|meth|mod|attr|obj|data|exc):`~?([^`]+)`")
TYPE = re.compile(r"^(\s*[*\w, ]+ : )(.*?)(, default=.*|, default .*|, optional.*)?$", re.M)
WORD_JOINER = "\u2060"


def plain_type(found):
    before, kind, after = found.groups()
    if '"' not in kind:
        return found.group()
    alone = re.fullmatch(r"\{([^{}]*)\}", kind)
    kind = "one of " + alone.group(1) if alone else re.sub(r"\{([^{}]*)\}", r"\1", kind)
    return before + WORD_JOINER + kind + (after or "")


class DocstringRoles(griffe.Extension):
    def on_instance(self, *, obj, **kwargs):
        if obj.docstring:
            obj.docstring.value = TYPE.sub(plain_type, ROLE.sub(r"`\1`", obj.docstring.value))
