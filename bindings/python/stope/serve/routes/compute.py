"""The API's route of jobs that make a table of a table."""

from functools import partial
from typing import Annotated, Optional

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from stope import _core

from ..answers import answer
from ..jobs.connection import Connection
from ..problems import Problem
from ..state.names import NAME
from ..tokens import Caller, require
from .descriptions import BODY_OF_ROWS, rows_answer
from .header_options import with_header_options
from .parameters import free_options, object_of_options, reading_words, split_words
from .rows_in import JobName, Prefer, accepted, rows_in, wants_async

__all__ = ["router"]

router = APIRouter(tags=["jobs"])  # jobs.py adds its routes

_JOBS = _core.job_names()
TableName = Annotated[Optional[str], Query(description="A stored table, in place of a body.", pattern=NAME)]
OtherName = Annotated[Optional[str], Query(description="Of pairwise: a stored table to compare with.", pattern=NAME)]
JobKind = Annotated[str, Path(description="What is computed.", json_schema_extra={"enum": _JOBS})]


@router.post(
    "/v1/compute/{job}", summary="Statistics, cuts, scores, distances", response_class=Response,
    openapi_extra={"requestBody": {"required": False, **BODY_OF_ROWS}, "parameters": [object_of_options(_JOBS)]},
    responses={200: rows_answer("The rows of the result."),
               202: {"description": "The job has begun; Location is /v1/jobs/{id}."}},
)
async def compute(
    request: Request, job: JobKind, table: TableName = None, other: OtherName = None,
    words: dict = Depends(reading_words), prefer: Prefer = None, stope_job: JobName = None,
    caller: Caller = Depends(require("compute")),
):
    """A job over the body's rows, or over a stored table, whose roles may be overruled."""
    if job not in _JOBS:
        raise Problem(404, "no-such-job", f"there is no job {job!r}; there are {', '.join(_JOBS)}")
    state, is_async = request.app.state, wants_async(prefer)
    words, options = split_words(job, words, free_options(request))
    jobs, connection = state.jobs, Connection(request)
    begun = jobs.begin(connection, caller, job, is_async)
    with jobs.failing(begun):
        rows = await rows_in(connection, begun, table, words)
        texts, numbers = with_header_options(request, options)
        second = None if other is None else (await jobs.file_work(partial(state.store.tables.get, other))).table

        def work(run):
            return _core.compute(job, rows(run), second, texts, numbers, run)

        if is_async:
            jobs.in_background(begun, lambda begun: jobs.compute(begun, work))
            return accepted(begun)
        result = await jobs.compute(begun, work)
    jobs.end(begun)
    return await answer(connection.request, result, begun.headers())
