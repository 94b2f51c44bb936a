"""Options of a job in the first line of a body of application/vnd.stope.rows, in place of the query."""

from ..problems import Problem

__all__ = ["with_header_options"]


def with_header_options(request, options: dict) -> tuple:
    """Return (options as texts, lists of numbers by name) of a request whose body has been read.

    An option may be in the query or in the body's first line, and not in both.
    """
    said = request.scope.get("stope.body_options")
    if not said:
        return options, {}
    texts, numbers = dict(options), {}
    for name, value in said.items():
        if name in request.query_params:
            raise Problem(400, "invalid-argument", f"{name!r} is in the query and in the body's first line", option=name)
        if type(value) is list and value and all(type(item) in (int, float) for item in value):
            numbers[name] = [float(item) for item in value]
        else:
            texts[name] = _text_of(name, value)
    return texts, numbers


def _text_of(name, value):
    if isinstance(value, str) and "\0" not in value:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if type(value) in (int, float):
        return repr(value)
    if type(value) is list and all(isinstance(item, str) and "," not in item and "\0" not in item for item in value):
        return ",".join(value)
    raise Problem(400, "invalid-argument", f"{name!r} in the body's first line is no text, number, truth or list of them",
                  option=name)
