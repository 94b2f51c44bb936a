"""The API's routes of models: fitting them, applying them, asking what is in them."""

import json
import os
from typing import Annotated, Optional

from fastapi import Depends, Header, Path, Query, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from stope import _core

from ..answers import answer
from ..bodies.model_file import file_of_body
from ..jobs.connection import Connection
from ..problems import Problem
from ..state.conditions import Condition
from ..state.names import NAME, NAMED, anonymous_name, check_new_name
from ..tokens import Caller, require
from .descriptions import BODY_OF_ROWS, ModelInfo, ModelList, body_of_model, rows_answer
from .header_options import with_header_options
from .parameters import declared_only, free_options, object_of_options, reading_words, split_words
from .predictions import router
from .rows_in import JobName, Prefer, accepted, rows_in, wants_async

__all__ = ["router"]

_ONLY = [Depends(declared_only)]
_CHUNK = 1 << 20
_TEXTS = {
    "text": "text/plain; charset=utf-8", "rules": "text/plain; charset=utf-8", "json": "application/json",
    "dot": "text/vnd.graphviz; charset=utf-8", "svg": "image/svg+xml",
}

Name = Annotated[str, Path(description="The model's name.", pattern=NAME, examples=["iris-3nn"])]
NewName = Annotated[str, Path(description="The model's name.", pattern=f"^{NAMED}$", examples=["iris-3nn"])]
TableName = Annotated[Optional[str], Query(description="A stored table, in place of a body.", pattern=NAME)]
Kind = Annotated[str, Query(description="The kind of model.", json_schema_extra={"enum": _core.model_kinds()})]
IfMatch = Annotated[Optional[str], Header(description="Write only if the model has this ETag, or `*`.")]
IfNoneMatch = Annotated[Optional[str], Header(description="`*`: write only if the name is free.")]

_FIT = {"requestBody": {"required": False, **BODY_OF_ROWS}, "parameters": [object_of_options(_core.model_kinds())]}
_ACCEPTED = {202: {"description": "The job has begun; Location is /v1/jobs/{id}."}}


@router.get("", summary="All models", response_model=ModelList, dependencies=_ONLY)
async def models(request: Request, caller: Caller = Depends(require("read"))):
    """The models that have been given names, sorted by name."""
    entries = request.app.state.store.models.listed()
    return JSONResponse({"models": [
        {"name": entry.name, "bytes": entry.bytes, "changed": entry.changed} for entry in entries
    ]})


def described(entry, info: dict) -> dict:
    """A model as the API shows it."""
    return {"name": entry.name, **info, "bytes": entry.bytes, "changed": entry.changed, "etag": entry.etag}


async def _opened(request, name):
    state = request.app.state
    model = state.store.models.ready(name)
    if model is not None:
        return model
    return await state.jobs.file_work(lambda: state.store.models.get(name, state.jobs.new_run()))


@router.get("/{name}", summary="What a model is", response_model=ModelInfo, dependencies=_ONLY)
async def model_info(request: Request, name: Name, caller: Caller = Depends(require("read"))):
    """Its kind, its options, the columns that it takes, its parts and its version."""
    model = await _opened(request, name)
    return JSONResponse(described(model.entry, model.info), headers={"ETag": model.entry.etag})


@router.get(
    "/{name}/file", summary="A model as a file", response_class=Response, dependencies=_ONLY,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
                     "description": "The model file, as the command line and the library read it."}},
)
async def model_file(request: Request, name: Name, caller: Caller = Depends(require("read"))):
    """The model file. A model that is replaced meanwhile is sent as it was."""
    models = request.app.state.store.models
    entry, handle = models.current(name, lambda entry: (entry, models.open(entry)))
    headers = {"ETag": entry.etag, "Content-Length": str(entry.bytes),
               "Content-Disposition": f'attachment; filename="{name.lstrip("~")}.stope"'}
    return StreamingResponse(_parts(handle), headers=headers, media_type="application/octet-stream")


def _parts(handle):
    with os.fdopen(handle, "rb", buffering=0) as file:
        while part := file.read(_CHUNK):
            yield part


@router.put(
    "/{name}", summary="Keep a model file under a name", response_model=ModelInfo, dependencies=_ONLY,
    openapi_extra={"requestBody": body_of_model()},
    responses={201: {"model": ModelInfo, "description": "The name is new."}},
)
async def put_model(
    request: Request, name: NewName, if_match: IfMatch = None, if_none_match: IfNoneMatch = None,
    caller: Caller = Depends(require("compute")),
):
    """Read a model file that stope has written anywhere. A model of that name is replaced as a whole, or stays."""
    check_new_name(name, "model")
    return await _keep_file(request, name, Condition(if_match, if_none_match), caller)


@router.post(
    "", summary="Keep a model file under a name that the server gives", status_code=201, response_model=ModelInfo,
    dependencies=_ONLY, openapi_extra={"requestBody": body_of_model()},
)
async def post_model(request: Request, stope_job: JobName = None, caller: Caller = Depends(require("compute"))):
    """Read a model file. The header Location says where the model is; it goes when nobody uses it for long."""
    return await _keep_file(request, anonymous_name(), Condition(), caller)


async def _keep_file(request, name, condition, caller):
    state = request.app.state
    models, jobs = state.store.models, state.jobs
    models.check(name, condition)
    connection = Connection(request)
    job = jobs.begin(connection, caller, "read a model")
    path = models.new_path()
    try:
        with jobs.ending(job):
            await file_of_body(connection.request, path, state.settings.limits,
                               lambda n_bytes: models.require_room(name, n_bytes))
            entry, info, is_new = await jobs.compute(job, lambda run: models.put_file(name, path, condition, run))
    finally:
        path.unlink(missing_ok=True)
    headers = {"ETag": entry.etag, "Location": f"/v1/models/{name}", **job.headers()}
    return JSONResponse(described(entry, info), 201 if is_new else 200, headers)


@router.delete("/{name}", summary="Delete a model", status_code=204, response_class=Response, dependencies=_ONLY)
async def delete_model(request: Request, name: Name, if_match: IfMatch = None,
                       caller: Caller = Depends(require("compute"))):
    """Whoever uses the model now goes on."""
    state = request.app.state
    await state.jobs.file_work(lambda: state.store.models.delete(name, Condition(if_match)))
    return Response(status_code=204)


@router.post(
    "/fit", summary="Fit a model under a name that the server gives", status_code=201, response_model=ModelInfo,
    openapi_extra=_FIT, responses=_ACCEPTED,
)
async def fit_anonymous(
    request: Request, kind: Kind, table: TableName = None, words: dict = Depends(reading_words),
    prefer: Prefer = None, stope_job: JobName = None, caller: Caller = Depends(require("compute")),
):
    """As the fit under a name. The header Location says where the model is; it goes when nobody uses it for long."""
    return await _fit(request, anonymous_name(), kind, table, words, Condition(), prefer, caller)


@router.post(
    "/{name}/fit", summary="Fit a model", response_model=ModelInfo, openapi_extra=_FIT,
    responses={201: {"model": ModelInfo, "description": "The name is new."}, **_ACCEPTED},
)
async def fit(
    request: Request, name: NewName, kind: Kind, table: TableName = None, words: dict = Depends(reading_words),
    if_match: IfMatch = None, if_none_match: IfNoneMatch = None, prefer: Prefer = None, stope_job: JobName = None,
    caller: Caller = Depends(require("compute")),
):
    """Fit to a stored table, or to the body's rows. Roles that are given take the place of those of a stored table."""
    check_new_name(name, "model")
    return await _fit(request, name, kind, table, words, Condition(if_match, if_none_match), prefer, caller)


async def _fit(request, name, kind, table, words, condition, prefer, caller):
    state = request.app.state
    store, jobs = state.store, state.jobs
    words, options = split_words(kind, words, free_options(request))
    store.models.check(name, condition)
    is_async = wants_async(prefer)
    connection = Connection(request)
    job = jobs.begin(connection, caller, f"fit {kind}", is_async)

    def work_on(rows):
        texts, numbers = with_header_options(request, options)

        def work(run):
            predictor = _core.fit_model(kind, rows(run), texts, numbers, run)
            info = json.loads(_core.model_info(predictor))
            # Written by a run of its own: the job's keeps the report of the fit.
            entry, is_new = store.models.put(name, predictor.model, condition, _core.Run(1))
            return 201 if is_new else 200, described(entry, info)

        return work

    with jobs.failing(job):
        rows = await rows_in(connection, job, table, words)
        if is_async:
            jobs.in_background(job, lambda job: jobs.compute(job, work_on(rows)))
            return accepted(job)
        status, text = await jobs.compute(job, work_on(rows))
    jobs.end(job)
    headers = {"ETag": text["etag"], "Location": f"/v1/models/{name}", **job.headers()}
    return JSONResponse(text, status, headers)


@router.get("/{name}/tables/{part}", summary="A part of a model as rows", response_class=Response, dependencies=_ONLY,
            responses={200: rows_answer("The part: the components of a PCA, the training rows of k-NN, ...")})
async def model_table(
    request: Request, name: Name, part: Annotated[str, Path(description="One of the `tables` of the model.")],
    caller: Caller = Depends(require("read")),
):
    """What was fitted, as a table."""
    model = await _opened(request, name)
    if part not in model.info["tables"]:
        raise Problem(404, "no-part", f"the model has no table {part!r}; it has {', '.join(model.info['tables']) or 'none'}")
    table = await request.app.state.jobs.file_work(lambda: _core.model_table(model.predictor, part))
    return await answer(request, table, {"ETag": model.entry.etag})


@router.get(
    "/{name}/text/{format}", summary="A tree as text or as a picture", response_class=Response, dependencies=_ONLY,
    responses={200: {"description": "The tree.", "content": {
        kind.split(";")[0]: {"schema": {} if kind == "application/json" else {"type": "string"}}
        for kind in _TEXTS.values()}}},
)
async def model_text(
    request: Request, name: Name,
    format: Annotated[str, Path(description="The format.", json_schema_extra={"enum": list(_TEXTS)})],
    caller: Caller = Depends(require("read")),
):
    """A decision tree in one of the formats of the library."""
    if format not in _TEXTS:
        raise Problem(404, "no-format", f"there is no format {format!r}; there are {', '.join(_TEXTS)}")
    model = await _opened(request, name)
    tree = model.predictor.model.fitted
    if isinstance(tree, dict) and "steps" in tree:  # a chain: the tree may be its last step
        tree = tree["steps"][-1].fitted
    if not isinstance(tree, _core.DecisionTree):
        raise Problem(404, "no-tree", f"this model ({model.kind}) is no tree")
    text = await request.app.state.jobs.file_work(lambda: tree.format(format))
    return Response(text, headers={"ETag": model.entry.etag}, media_type=_TEXTS[format])
