"""The API's routes that apply models to rows."""

from functools import partial
from typing import Annotated, Optional

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from stope import _core

from .answers import answer
from .bodies import blocks_of_body
from .body_options import Feature, ReadingOptions
from .connection import Connection
from .descriptions import BODY_OF_ROWS, rows_answer
from .names import NAME
from .parameters import csv_words, free_options, object_of_options
from .predicting import applied, found, of_table
from .problems import Problem
from .rows_in import JobName, Prefer, accepted, wants_async
from .tokens import Caller, require

__all__ = ["router"]

router = APIRouter(prefix="/v1/models", tags=["models"])  # model_routes.py adds its routes

Name = Annotated[str, Path(description="The model's name.", pattern=NAME, examples=["iris-3nn"])]
TableName = Annotated[Optional[str], Query(description="A stored table, in place of a body.", pattern=NAME)]
Keep = Annotated[Optional[str], Query(description="Columns of the rows that come back in front, separated by commas.")]
_BODY = {"required": False, **BODY_OF_ROWS}
_ACCEPTED = {"description": "The job has begun; Location is /v1/jobs/{id}. Only where the rows are a stored table."}


@router.post(
    "/{name}/predict", summary="Apply a model to rows", response_class=Response,
    openapi_extra={"requestBody": _BODY, "parameters": [object_of_options(["apply"])]},
    responses={200: rows_answer("What the model says of every row."), 202: _ACCEPTED},
)
async def predict(
    request: Request, name: Name, table: TableName = None, keep: Keep = None, words: dict = Depends(csv_words),
    prefer: Prefer = None, stope_job: JobName = None, caller: Caller = Depends(require("compute")),
):
    """Predictions, neighbours, scores or coded columns of the body's rows, or of a stored table.

    Rows are read, computed and sent block by block, so neither side needs the memory for all of them. Columns are matched
    by name; others are ignored.
    """
    options = free_options(request)
    kept = [] if keep is None else list(ReadingOptions.of_words({"ignore": keep}).ignore)
    apply = _Application(request, caller, name, "predict", kept, lambda model: applied(model, options, kept))
    return await apply.answer(table, words, prefer)


@router.post(
    "/{name}/neighbors", summary="The nearest training rows", response_class=Response,
    openapi_extra={"requestBody": _BODY, "parameters": [object_of_options(["search"])]},
    responses={200: rows_answer("The columns row, pos, train_index and distance."), 202: _ACCEPTED},
)
async def neighbors(
    request: Request, name: Name,
    n_neighbors: Annotated[int, Query(ge=1, le=2**53, description="How many of each row.")],
    table: TableName = None, words: dict = Depends(csv_words), prefer: Prefer = None, stope_job: JobName = None,
    caller: Caller = Depends(require("compute")),
):
    """The lists of the nearest training rows, for k-NN models of every kind."""
    options = free_options(request)
    group = [options["exclude_group"]] if options.get("exclude_group") else []
    apply = _Application(request, caller, name, "neighbors", [], lambda model: found(model, n_neighbors, options), group)
    return await apply.answer(table, words, prefer)


class _Application:
    """One request that applies a model."""

    def __init__(self, request, caller, name, what, keep, work_of, besides=()):
        self._state, self._connection, self._caller = request.app.state, Connection(request), caller
        self._name, self._what, self._keep, self._work_of, self._besides = name, what, keep, work_of, besides

    async def answer(self, table, words, prefer):
        jobs = self._state.jobs
        is_async = table is not None and wants_async(prefer)
        job = jobs.begin(self._connection, self._caller, self._what, is_async)
        with jobs.failing(job):
            model = await self._model(job)
            work = self._work_of(model)
            if is_async:
                rows = await self._whole_table(model, table)
                jobs.in_background(job, lambda job: jobs.compute(job, partial(work, rows, 0)))
                return accepted(job)
            blocks = await self._blocks(model, table, words)
            return await self._streamed(job, self._answers(job, blocks, work))

    async def _model(self, job):
        models = self._state.store.models
        ready = models.ready(self._name)
        return ready or await self._state.jobs.compute(job, partial(models.get, self._name))

    def _wanted(self, model):
        """The columns that the model takes, and those that an option names."""
        wanted = list(model.features)
        for name in self._besides:
            at = model.columns.find(name)
            if at >= 0 and model.columns.column(at).role != "regular":
                wanted.append(Feature(name, model.columns.column(at).type))
        return wanted

    async def _whole_table(self, model, table):
        stored = await self._state.jobs.file_work(partial(self._state.store.tables.get, table))
        names = [feature.name for feature in self._wanted(model)] + self._keep
        columns = [stored.table.column(at) for at in _numbers(stored.table, names, self._keep)]
        return _core.Table.of_columns(columns, stored.table.n_rows)

    async def _blocks(self, model, table, words):
        if table is not None:
            rows = await self._whole_table(model, table)
            return of_table(rows, list(range(rows.n_columns)))
        state = self._state
        return blocks_of_body(
            self._connection.request, self._wanted(model), state.store.spool, state.settings.limits, keep=self._keep,
            options=ReadingOptions.of_words(words),
        )

    async def _answers(self, job, blocks, work):
        """The answers to the blocks. The job ends with them, however they end."""
        jobs, first = self._state.jobs, 0
        with jobs.ending(job):
            async for block in blocks:
                result = await jobs.compute(job, partial(work, block, first))
                first += block.n_rows
                self._state.metrics.rows_predicted.inc(block.n_rows)
                yield result

    async def _streamed(self, job, answers):
        """The response. A single block, as a small body has, is sent as a whole."""
        request = self._connection.request
        first = await anext(answers)
        headers = job.headers()
        if not self._connection.is_complete:
            return await answer(request, _chained([first], answers), headers)
        second = await anext(answers, None)
        if second is None:
            return await answer(request, first, headers)
        return await answer(request, _chained([first, second], answers), headers)


async def _chained(ready, rest):
    try:
        while ready:
            yield ready.pop(0)
        async for block in rest:
            yield block
    finally:
        await rest.aclose()


def _numbers(table, names, keep):
    """The columns of a stored table by name, each once. A feature that it lacks is the engine's to refuse."""
    for name in keep:
        if table.find(name) < 0:
            raise Problem(400, "no-column", f"keep: the table has no column {name!r}", option="keep", column=name)
    return [at for at in dict.fromkeys(map(table.find, names)) if at >= 0]
