"""Puts the application together: state, routes, refusals, and the OpenAPI description."""

from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from .._core import __version__
from . import problems
from .frame import Frame
from .frame.logs import Log
from .frame.metrics import Metrics
from .jobs import Jobs
from .routes import jobs, models, pages, system, tables
from .settings import Settings
from .state import Store
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
    state.store = Store(settings)
    state.jobs = Jobs(settings, state.store)
    state.metrics.watch(state.store, state.jobs)
    for routes in (models, tables, jobs, system, pages):  # tried in turn: predicting first
        app.router.routes.extend(routes.router.routes)  # include_router() would wrap each route, at 50 us a request
    problems.install(app)
    app.add_middleware(Frame, state=state)
    app.openapi = lambda: _description_of(app)
    return app


@asynccontextmanager
async def _lifespan(app):
    await app.state.jobs.start()
    yield
    await app.state.jobs.close()
    app.state.store.close()


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
