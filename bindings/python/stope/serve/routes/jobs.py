"""The API's routes of jobs."""

from typing import Annotated

from fastapi import Depends, Path, Request
from starlette.responses import JSONResponse, Response

from ..answers import answer
from ..problems import Problem
from ..state.names import JOB
from ..tokens import Caller, require
from .compute import router
from .descriptions import JobDescription, JobList, ModelInfo, rows_answer
from .parameters import declared_only

__all__ = ["router"]

_ONLY = [Depends(declared_only)]
Id = Annotated[str, Path(description="The job's name, as Location and Stope-Job have it.", pattern=JOB)]


@router.get("/v1/jobs", summary="The caller's jobs", response_model=JobList, dependencies=_ONLY)
async def jobs(request: Request, caller: Caller = Depends(require("read"))):
    """Jobs that run or have ended, the last one first. An admin sees everybody's.

    A short job that went well is listed only if its client gave it a name.
    """
    return JSONResponse({"jobs": [job.described() for job in request.app.state.jobs.visible(caller)]})


@router.get("/v1/jobs/{id}", summary="What a job does", response_model=JobDescription, dependencies=_ONLY)
async def job(request: Request, id: Id, caller: Caller = Depends(require("read"))):
    """State, progress, and why it has failed."""
    return JSONResponse(request.app.state.jobs.job(id, caller).described())


@router.delete("/v1/jobs/{id}", summary="Cancel a job", status_code=202, response_model=JobDescription,
               dependencies=_ONLY)
async def cancel(request: Request, id: Id, caller: Caller = Depends(require("compute"))):
    """The job ends within half a second. A job that has ended is forgotten with its result."""
    jobs = request.app.state.jobs
    job = jobs.job(id, caller)
    if job.has_ended:
        jobs.forget(job)
    else:
        job.stop("cancelled")
    return JSONResponse(job.described(), 202)


@router.get(
    "/v1/jobs/{id}/result", summary="The answer of an asynchronous job", response_class=Response, dependencies=_ONLY,
    responses={200: rows_answer("The rows, or what the model is."), 201: {"model": ModelInfo,
               "description": "The model is new."}},
)
async def result(request: Request, id: Id, caller: Caller = Depends(require("read"))):
    """What the answer would have been without `Prefer: respond-async`. A failed job gives its problem."""
    job = request.app.state.jobs.job(id, caller)
    if not job.has_ended:
        raise Problem(409, "not-done", f"the job is {job.state}; its result is not there yet", {"Retry-After": "1"},
                      job=job.id)
    if job.problem is not None:
        raise job.problem
    if job.value is not None:
        headers = {"ETag": job.value["etag"], "Location": f"/v1/models/{job.value['name']}", **job.headers()}
        return JSONResponse(job.value, job.status, headers)
    if job.table is None:
        raise Problem(404, "no-result", "the job's answer went to the client that waited for it", job=job.id)
    return await answer(request, job.table, job.headers())
