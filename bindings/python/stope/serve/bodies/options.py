"""How a body is to be read: the options of a request, and the columns that a model wants."""

from dataclasses import dataclass, fields, replace
from typing import Optional

from ..problems import Problem

__all__ = ["Feature", "ReadingOptions", "features_of"]

_LISTS = ("select", "ignore", "nominal", "numeric", "date", "missing_values")
_SWITCHES = ("target_is_nominal", "allow_ragged")
_OF_CSV = (
    "separator",
    "decimal",
    "thousands",
    "header",
    "missing_values",
    "encoding",
    "comment",
    "skip_lines",
    "allow_ragged",
)


@dataclass(frozen=True)
class Feature:
    """A column that a model wants: its name, and its type as the engine names it."""

    name: str
    type: str = "real"

    @property
    def is_nominal(self):
        return self.type in ("nominal", "polynominal", "binominal")


def features_of(table) -> list:
    """Return the features of a model's columns, which are a ``_core.Table``."""
    columns = [table.column(index) for index in range(table.n_columns)]
    return [Feature(column.name, column.type) for column in columns if column.role == "regular"]


@dataclass(frozen=True)
class ReadingOptions:
    """The reading options of a request. None and () are "not given"; the names are those of the query.

    Columns are named by name or by number, counted from 1; a name that exists wins.
    """

    target: Optional[str] = None
    id: Optional[str] = None
    sample_weight: Optional[str] = None
    target_is_nominal: bool = False
    select: tuple = ()  # not empty: all other columns are ignored, but for those with a role
    ignore: tuple = ()
    nominal: tuple = ()
    numeric: tuple = ()
    date: tuple = ()
    separator: Optional[str] = None
    decimal: Optional[str] = None
    thousands: Optional[str] = None
    header: Optional[str] = None  # "yes" or "no"
    missing_values: Optional[tuple] = None
    nominal_order: Optional[str] = None
    encoding: Optional[str] = None
    comment: Optional[str] = None
    skip_lines: Optional[str] = None
    allow_ragged: Optional[bool] = None

    @classmethod
    def names(cls) -> list:
        """Return the names of all options."""
        return [field.name for field in fields(cls)]

    @classmethod
    def of_words(cls, words) -> "ReadingOptions":
        """Return the options of a dict of texts, as a query has them. Lists are separated by commas.

        A list of names that contain commas is a JSON list.
        """
        made = {}
        for name, text in words.items():
            if name not in _KNOWN:
                raise Problem(400, "invalid-argument", f"There is no reading option {name!r}.", option=name)
            made[name] = _value_of(name, text)
        return cls(**made)

    def for_csv(self) -> dict:
        """Return the options as ``_core.read_table`` takes them."""
        words = {"format": "csv", "target_is_nominal": self.target_is_nominal}
        for name in (
            "target",
            "id",
            "sample_weight",
            "separator",
            "decimal",
            "thousands",
            "header",
            "nominal_order",
            "encoding",
            "comment",
            "allow_ragged",
        ):
            value = getattr(self, name)
            if value is not None:
                words[name] = value
        for name in ("select", "ignore", "nominal", "numeric", "date"):
            if getattr(self, name):
                words[name] = list(getattr(self, name))
        if self.missing_values is not None:
            words["missing"] = list(self.missing_values)
        if self.skip_lines is not None:
            words["skip_lines"] = _whole(self.skip_lines)
        return words

    def refuse_csv_options(self, what: str) -> None:
        """Refuse options that say how CSV is written, for a body of another format."""
        for name in _OF_CSV:
            if getattr(self, name) is not None:
                raise Problem(
                    400, "invalid-argument", f"{name} says how CSV is read, and the body is {what}.", option=name
                )

    def with_type(self, body_format) -> "ReadingOptions":
        """Return the options with what the media type says of CSV; the query wins over it."""
        return replace(
            self,
            encoding=self.encoding or body_format.charset or None,
            header=self.header or body_format.header or None,
        )


_KNOWN = frozenset(ReadingOptions.names())


def _value_of(name, text):
    if name in _LISTS:
        return _list_of(name, text)
    if name in _SWITCHES:
        if text.lower() not in ("true", "false", "1", "0", "yes", "no"):
            raise Problem(400, "invalid-argument", f"{name} is true or false.", option=name)
        return text.lower() in ("true", "1", "yes")
    if name == "header":
        return {"true": "yes", "false": "no"}.get(text.lower(), text)
    return {"tab": "\t", "\\t": "\t"}.get(text, text) if name == "separator" else text


def _list_of(name, text):
    if not text.startswith("["):
        return tuple(text.split(","))
    import json

    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise Problem(
            400,
            "invalid-argument",
            f"{name} is a list of names separated by commas, or a JSON list of texts.",
            option=name,
        )
    return tuple(names)


def _whole(text):
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 9):
        raise Problem(400, "invalid-argument", "skip_lines is a whole number.", option="skip_lines")
    return int(text)
