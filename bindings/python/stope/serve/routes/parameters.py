"""Parameters of a query: those that a route declares, and the options of the engine's jobs, which are free."""

import json
import re
from functools import lru_cache
from typing import Annotated, Optional

from fastapi import Query
from starlette.requests import Request

from stope import _core

from ..bodies.options import ReadingOptions
from ..problems import Problem

__all__ = ["CSV_PARAMETERS", "csv_words", "declared", "declared_only", "free_options", "object_of_options", "reading_words",
           "split_words", "table_words"]

_ROLES = ("target", "id", "sample_weight", "target_is_nominal", "select", "ignore", "nominal", "numeric")

Text = Optional[str]


def _name(text, example=None):
    return Query(description=text, examples=None if example is None else [example])


async def reading_words(
    target: Annotated[Text, _name("The column to predict, by name or by number, counted from 1.")] = None,
    id: Annotated[Text, _name("A column that names the rows. It is no feature.")] = None,
    sample_weight: Annotated[Text, _name("A column that weighs the rows. It is no feature.")] = None,
    target_is_nominal: Annotated[
        Optional[bool], Query(description="A target of numbers becomes nominal: for classification.")
    ] = None,
    select: Annotated[Text, _name("Columns that jobs look at, besides those with a role; else all.")] = None,
    ignore: Annotated[Text, _name("Columns that no job looks at. Lists are separated by commas.")] = None,
    nominal: Annotated[Text, _name("Columns that are nominal. Of pca and lsq it is the option of that name.")] = None,
    numeric: Annotated[Text, _name("Columns that are numbers.")] = None,
    date: Annotated[Text, _name("Columns that are dates (CSV, JSON).")] = None,
    separator: Annotated[Text, _name("The separator of CSV; it is found where it is not given.")] = None,
    decimal: Annotated[Text, _name("The decimal mark of CSV.")] = None,
    thousands: Annotated[Text, _name("The mark between groups of three digits in CSV.")] = None,
    header: Annotated[Text, _name("`yes` or `no`: whether the first record of CSV holds names.")] = None,
    missing_values: Annotated[Text, _name("Spellings of a missing value in CSV.")] = None,
    nominal_order: Annotated[Text, _name("`sorted` or `appearance`: the order of nominal values.")] = None,
    encoding: Annotated[Text, _name("The encoding of CSV, where it is not UTF-8.")] = None,
    comment: Annotated[Text, _name("Lines of CSV that begin with this character are no records.")] = None,
    skip_lines: Annotated[Text, _name("Lines of CSV before the table.")] = None,
    allow_ragged: Annotated[
        Optional[bool], Query(description="Records of CSV may be too short (filled with missing values) or too long (cut).")
    ] = None,
) -> dict:
    """The reading options of a request as texts: those that are given."""
    given = locals()
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
    return {name: text for name, text in texts.items() if text is not None}


def declared(name: str, text: str, schema=None, place: str = "query") -> dict:
    """A parameter of OpenAPI, for routes that read their parameters themselves because FastAPI takes 0.3 ms for it."""
    return {"name": name, "in": place, "required": place == "path", "schema": schema or {"type": "string"},
            "description": text}


_OF_CSV = ("separator", "decimal", "thousands", "header", "missing_values", "encoding", "comment", "skip_lines",
           "allow_ragged")
CSV_PARAMETERS = [
    declared("separator", "The separator of CSV; it is found where it is not given."),
    declared("decimal", "The decimal mark of CSV."),
    declared("thousands", "The mark between groups of three digits in CSV."),
    declared("header", "`yes` or `no`: whether the first record of CSV holds names."),
    declared("missing_values", "Spellings of a missing value in CSV."),
    declared("encoding", "The encoding of CSV, where it is not UTF-8."),
    declared("comment", "Lines of CSV that begin with this character are no records."),
    declared("skip_lines", "Lines of CSV before the table."),
    declared("allow_ragged", "Records of CSV may be too short (filled with missing values) or too long (cut).",
             {"type": "boolean"}),
]


def csv_words(query) -> dict:
    """How CSV is written, for rows whose columns a model knows."""
    return {name: query[name] for name in _OF_CSV if name in query}


def table_words(words: dict) -> ReadingOptions:
    """The reading options for a table that is stored: only those that give columns other roles or types."""
    for name in words:
        if name not in _ROLES:
            raise Problem(400, "invalid-argument", f"{name} says how a body is read, and the rows are a table that the "
                          "server has", option=name)
    return ReadingOptions.of_words(words)


_OPTIONS = "options"  # the parameter of OpenAPI that stands for the engine's options


def _declared(request):
    """The parameters of the request's route: those that the API's description has."""
    app, path, method = request.app, request.scope["route"].path, request.method.lower()
    of_routes = getattr(app.state, "declared_parameters", None)
    if of_routes is None:
        of_routes = app.state.declared_parameters = {}
    names = of_routes.get((path, method))
    if names is None:
        parameters = app.openapi()["paths"][path][method].get("parameters", [])
        found = {one["name"] for one in parameters if one["in"] == "query" and one["name"] != _OPTIONS}
        names = of_routes[path, method] = frozenset(found)
    return names


def free_options(request: Request) -> dict:
    """The parameters that the route does not declare: options of the engine, which checks them. None is given twice."""
    query = request.scope["query_string"]
    if not query:
        return {}
    declared, free, seen = _declared(request), {}, set()
    for name, text in request.query_params.multi_items():
        if name in seen:
            raise Problem(400, "invalid-argument", f"the parameter {name!r} is given twice; lists are separated by "
                          "commas", option=name)
        seen.add(name)
        if "\0" in name or "\0" in text:
            raise Problem(400, "invalid-argument", "a parameter has a NUL in it")
        if name not in declared:
            free[name] = text
    return free


async def declared_only(request: Request) -> None:
    """Refuse parameters that the route does not have."""
    for name in free_options(request):
        raise Problem(400, "invalid-argument", f"there is no parameter {name!r} here; it has "
                      f"{', '.join(sorted(_declared(request))) or 'none'}", option=name)


_ANY_NAME = ".NAME"  # the engine's description of a parameter of a measure, such as metric.p
_TYPES = {"integer": "integer", "real": "number", "flag": "boolean"}


def described(job: str) -> list:
    """The engine's description of the options of a job or a kind of model."""
    text = _core.describe_options(job)
    return json.loads(text) if text else []


@lru_cache(maxsize=None)
def _option_names(job):
    return frozenset(option["name"] for option in described(job))


def split_words(job: str, words: dict, options: dict) -> tuple:
    """Return (reading options, options of the job) where a name is both: `nominal` of pca is the job's."""
    names = _option_names(job)
    both = {name: text for name, text in words.items() if name in names}
    return {name: text for name, text in words.items() if name not in both}, {**options, **both}


def object_of_options(jobs) -> dict:
    """The options of some jobs as one parameter of OpenAPI, which is written as if each was a parameter.

    An option that several jobs have has a line for each that says something else.
    """
    lines: dict = {}
    schemas: dict = {}
    for job in jobs:
        for option in described(job):
            lines.setdefault(option["name"], {}).setdefault(_line(option), []).append(job)
            schemas.setdefault(option["name"], []).append(_schema(option))
    properties, patterns = {}, {}
    for name, of_jobs in lines.items():
        alike = all(schema == schemas[name][0] for schema in schemas[name])
        schema = dict(schemas[name][0]) if alike else {"type": "string"}
        schema["description"] = " ".join(
            line if len(of_jobs) == 1 else f"{', '.join(some)}: {line}" for line, some in of_jobs.items()
        )
        if name.endswith(_ANY_NAME):
            patterns["^" + re.escape(name.removesuffix(_ANY_NAME)) + r"\..+$"] = schema
        else:
            properties[name] = schema
    return {
        "name": _OPTIONS, "in": "query", "required": False, "style": "form", "explode": True,
        "description": "Options of the engine by name, each a parameter: `n_neighbors=3&metric=minkowski&metric.p=3`. "
                       "`GET /v1` has them, too. Lists are separated by commas.",
        "schema": {"type": "object", "properties": properties, "patternProperties": patterns,
                   "additionalProperties": False},
    }


def _line(option):
    choices = option.get("choices")
    text = option["help"] + "."
    if choices:
        text += " One of " + ", ".join(f"`{choice}`" for choice in choices if choice) + "."
    default = option["default"]
    if default not in (None, "", [], {}):
        text += f" Default: `{default if isinstance(default, str) else json.dumps(default)}`."
    return text


def _schema(option):
    schema = {"type": _TYPES.get(option["type"], "string")}
    if option.get("choices"):
        schema["enum"] = option["choices"]
    return schema
