"""The server: tables, models and jobs over HTTP, for machines without the engine. docs/SERVER.md is the way in.

It needs the packages of the extra ``serve``. None of them is loaded before it is asked for.
"""

from .settings import Limits, Settings

__all__ = ["Limits", "Settings", "create_app"]


def __getattr__(name):
    if name != "create_app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from .app import create_app
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] == "stope":
            raise
        raise ModuleNotFoundError(f"the server needs {error.name}: pip install 'stope[serve]'", name=error.name) from error
    return create_app
