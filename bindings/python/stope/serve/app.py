"""Puts the application together: state, routes, refusals, and the OpenAPI description."""

import importlib
import importlib.util
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from .._core import __version__
from . import problems
from .frame import Frame
from .logs import Log
from .metrics import Metrics
from .settings import Settings
from .tokens import Tokens

__all__ = ["create_app"]

_DESCRIPTION = """\
stope keeps tables and models by name, and answers with rows: predictions, neighbours, statistics, cuts, trees.

Every parameter is a query parameter. A body is rows in one of the formats that `GET /v1` lists, or a model file.
What is refused or fails is told as `application/problem+json`; its `code` is for programs, its `detail` for people.
"""


def create_app(settings: Settings, log: Log = None) -> FastAPI:
    """Return the server as an ASGI application.

    Parameters
    ----------
    settings : Settings
        Two applications must not share a state folder at a time; ``stope-serve run`` locks it.
    log : Log, optional
        By default standard error.
    """
    refusal = settings.refusal()
    if refusal:
        raise ValueError(refusal)
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    app = FastAPI(
        title="stope-serve", version=__version__, summary="Exact data mining on tables, over HTTP",
        description=_DESCRIPTION, docs_url=None, redoc_url=None, openapi_url=None, lifespan=_lifespan,
        redirect_slashes=False, license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},  # nothing goes elsewhere
    )
    state = app.state
    state.settings, state.log, state.metrics = settings, log or Log(), Metrics()
    state.tokens = Tokens(settings.state / "tokens.json")
    state.stopping, state.requests_now = False, 0
    _add_parts(app)
    problems.install(app)
    app.add_middleware(Frame, state=state)
    app.openapi = lambda: _description_of(app)
    return app


def _add_parts(app):
    state = app.state
    if _exists("store") and _exists("jobs"):
        state.store = importlib.import_module(".store", __package__).Store(state.settings)
        state.jobs = importlib.import_module(".jobs", __package__).Jobs(state.settings, state.store)
        state.metrics.watch(state.store, state.jobs)
    for name in ("system_routes", "page_routes", "table_routes", "model_routes", "job_routes"):
        if _exists(name):
            app.include_router(importlib.import_module(f".{name}", __package__).router)


def _exists(name):
    return importlib.util.find_spec(f".{name}", __package__) is not None


@asynccontextmanager
async def _lifespan(app):
    state = app.state
    if hasattr(state, "jobs"):
        await state.jobs.start()
    yield
    if hasattr(state, "jobs"):
        await state.jobs.close()
        state.store.close()


def _description_of(app):
    """The OpenAPI description. Each operation says that refusals and failures are problems."""
    if app.openapi_schema is None:
        text = get_openapi(
            title=app.title, version=app.version, summary=app.summary, description=app.description,
            license_info=app.license_info, routes=app.routes,
        )
        parts = text.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = problems.schema()
        for name in ("HTTPValidationError", "ValidationError"):
            parts["schemas"].pop(name, None)
        content = {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        parts["responses"] = {
            "Refusal": {"description": "The request was refused.", "content": content},
            "Failure": {"description": "The server failed, or has no room or time.", "content": content},
        }
        for path in text.get("paths", {}).values():
            for operation in path.values():
                _declare_problems(operation["responses"])
        app.openapi_schema = text
    return app.openapi_schema


def _declare_problems(responses):
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]  # FastAPI's own refusal, which is a 400 here
    responses["4XX"] = {"$ref": "#/components/responses/Refusal"}
    responses["5XX"] = {"$ref": "#/components/responses/Failure"}
