"""Which columns of a DataFrame a model reads, and whether they fit: decided on the driver, before a job starts."""

import difflib
from collections import Counter
from dataclasses import dataclass

from ..errors import InvalidArgumentError, InvalidDataError, UnsupportedError

__all__ = ["Feature", "features_in", "refuse_repeated"]

_NUMBERS = ("ByteType", "ShortType", "IntegerType", "LongType", "FloatType", "DoubleType", "DecimalType")
_DATES = ("DateType", "TimestampType", "TimestampNTZType")
_TEXTS = ("StringType", "CharType", "VarcharType")


@dataclass(frozen=True)
class Feature:
    """A feature of the model and the DataFrame's column that it is read from.

    ``cast`` says what becomes of the column's Arrow type: "" nothing, "number", "text", or the two names of booleans,
    separated by a blank.
    """

    name: str
    column: str
    cast: str = ""


def refuse_repeated(df):
    """Two columns of one name cannot be told apart by name."""
    repeated = sorted(name for name, count in Counter(df.columns).items() if count > 1)
    if repeated:
        raise InvalidDataError("the DataFrame has several columns of the name " + _listed(repeated))


def features_in(df, model, columns=None):
    """The model's features as columns of the DataFrame.

    Parameters
    ----------
    df : DataFrame
    model : stope.Model
    columns : None, list of str or dict
        None finds columns by the names of the features. A list has a column for each feature, in the model's order. A
        dict says the column of the features that it names.

    Returns
    -------
    list of Feature
    """
    natives = model._features
    wanted = _wanted([native.name for native in natives], columns)
    fields = {field.name: field for field in df.schema.fields}
    missing = [column for column in wanted.values() if column not in fields]
    if missing:
        raise InvalidDataError(f"the DataFrame has no column {_listed(missing)}, which the model needs"
                               + _meant(missing[0], fields))
    return [_feature(native, fields[wanted[native.name]]) for native in natives]


def _wanted(names, columns):
    if columns is None:
        return {name: name for name in names}
    if isinstance(columns, str):
        raise InvalidArgumentError("columns is a list of names or a dict; got a str")
    if isinstance(columns, dict):
        unknown = [name for name in columns if name not in names]
        if unknown:
            raise InvalidArgumentError(f"columns: the model has no feature {_listed(unknown)}")
        chosen = {name: columns.get(name, name) for name in names}
    else:
        columns = list(columns)
        if len(columns) != len(names):
            raise InvalidArgumentError(f"columns has {len(columns)} names, and the model has {len(names)} features")
        chosen = dict(zip(names, columns))
    wrong = [column for column in chosen.values() if not isinstance(column, str)]
    if wrong:
        raise InvalidArgumentError(f"columns holds names of columns; got {wrong[0]!r}")
    return chosen


def _feature(native, field):
    kind = type(field.dataType).__name__
    if kind == "NullType":
        return Feature(native.name, field.name, "text" if native.is_nominal else "number")
    if kind == "BooleanType":
        return Feature(native.name, field.name, _spelling(native) if native.is_nominal else "number")
    if kind in _TEXTS:
        if native.is_nominal:
            return Feature(native.name, field.name)
        raise InvalidDataError(f"the column {field.name!r} is text ({_type(field)}), and the model has numbers there; "
                               "cast it to double")
    if kind in _NUMBERS or kind in _DATES:
        if not native.is_nominal:
            return Feature(native.name, field.name)
        raise InvalidDataError(f"the column {field.name!r} is of the type {_type(field)}, and the model has nominal "
                               "values there; cast it to string")
    raise UnsupportedError(f"the column {field.name!r} is of the type {_type(field)}, which no model reads; "
                           "a feature is a number, a text, a boolean, a date or a timestamp")


def _spelling(native):
    """How the model spells booleans: frames of pandas give "False" and "True", Arrow and files "false" and "true"."""
    names = native.values.names()
    return "False True" if "False" in names or "True" in names else "false true"


def _type(field):
    return field.dataType.simpleString()


def _listed(names):
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _meant(name, known):
    """Names are compared letter by letter, as in every other front end; Spark alone ignores their case."""
    same = [other for other in known if other.lower() == name.lower()]
    near = same or difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}? The argument columns names it" if near else ""
