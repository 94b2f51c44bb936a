"""What the server says of itself: health, metrics, abilities, and the description of its API."""

import json

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from ..abilities import abilities, measures
from ..frame import metrics
from ..problems import Problem
from ..tokens import Caller, require

__all__ = ["router"]

router = APIRouter(tags=["system"])


_OBJECT = {"type": "object", "additionalProperties": True}


def _answers(schema, media_type="application/json"):
    return {200: {"description": "The answer.", "content": {media_type: {"schema": schema}}}}


def _json(value):
    return Response(json.dumps(value).encode(), media_type="application/json")


_OK = _json({"status": "ok"}).body
_STATUS = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string", "const": "ok"}}}


@router.get("/health", summary="Whether the server takes requests", response_class=Response, responses=_answers(_STATUS))
async def health(request: Request):
    """Answer 200 while the server works, and 503 once it has been told to stop. No token is needed."""
    if request.app.state.stopping:
        raise Problem(503, "stopping", "The server is stopping.")
    return Response(_OK, media_type="application/json")


@router.get("/metrics", summary="Counters for Prometheus", response_class=Response,
            responses=_answers({"type": "string"}, "text/plain"))
async def counters(request: Request, caller: Caller = Depends(require("read"))):
    """Requests, jobs, rows, tables, models and memory in Prometheus' text format."""
    state = request.app.state
    return Response(state.metrics.text(state.requests_now), media_type=metrics.MEDIA_TYPE)


@router.get("/v1", summary="What the server can do", response_class=Response, responses=_answers({
    **_OBJECT, "required": ["version", "caller", "tokens", "device", "devices", "limits", "kinds", "jobs", "options", "formats"]}))
async def can_do(request: Request, caller: Caller = Depends(require("read"))):
    """Version, devices, limits, formats, and all kinds of models and jobs with their options."""
    settings = request.app.state.settings
    return _json(await run_in_threadpool(abilities, settings, caller))


@router.get("/v1/measures", summary="The measures of distance", response_class=Response,
            responses=_answers({"type": "array", "items": {**_OBJECT, "required": ["name", "accepts", "params"]}}))
async def list_measures(caller: Caller = Depends(require("read"))):
    """All measures: name, aliases, parameters, and whether they take numbers, nominal values or both."""
    return _json(measures())


@router.get("/openapi.json", include_in_schema=False)
async def description(request: Request):
    return _json(request.app.openapi())
