"""What the server says of itself: health, metrics, abilities, and the description of its API."""

import json

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from . import metrics
from .tokens import Caller, require

__all__ = ["router"]

router = APIRouter(tags=["system"])


@router.get("/health", summary="Whether the server takes requests")
async def health(request: Request) -> dict:
    """Answer 200 while the server works, and 503 while it stops. No token is needed."""
    if request.app.state.stopping:
        return Response(b'{"status":"stopping"}', 503, media_type="application/json")
    return Response(b'{"status":"ok"}', media_type="application/json")


@router.get("/metrics", summary="Counters for Prometheus", response_class=Response)
async def counters(request: Request, caller: Caller = Depends(require("read"))):
    """Requests, jobs, rows, tables, models and memory in Prometheus' text format."""
    state = request.app.state
    return Response(state.metrics.text(state.requests_now), media_type=metrics.MEDIA_TYPE)


@router.get("/openapi.json", include_in_schema=False)
async def description(request: Request):
    return Response(json.dumps(request.app.openapi()).encode(), media_type="application/json")
