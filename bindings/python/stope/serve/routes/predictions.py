"""The API's routes that apply models to rows."""

from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from stope import _core

from ..answers import answer
from ..answers.ahead import computed_ahead
from ..bodies import blocks_of_body
from ..bodies.options import Feature, ReadingOptions
from ..jobs.connection import Connection
from ..jobs.predicting import applied, found, of_table
from ..problems import Problem
from ..state.names import JOB, NAME
from ..tokens import require
from .descriptions import BODY_OF_ROWS, rows_answer
from .header_options import with_header_options
from .parameters import CSV_PARAMETERS, csv_words, declared, free_options, object_of_options
from .rows_in import accepted, wants_async

__all__ = ["router"]

router = APIRouter(prefix="/v1/models", tags=["models"])  # models.py adds its routes

_NAME = declared("name", "The model's name.", {"type": "string", "pattern": NAME}, "path")
_TABLE = declared("table", "A stored table, in place of a body.", {"type": "string", "pattern": NAME})
_KEEP = declared("keep", "Columns of the rows that come back in front, separated by commas.")
_K = {**declared("n_neighbors", "How many of each row.", {"type": "integer", "minimum": 1}), "required": True}
_PREFER = declared("Prefer", "`respond-async`: answer 202 at once; Location names the job. For stored tables.",
                   place="header")
_JOB = declared("Stope-Job", "A name for the job, of the client's choice. It never was the name of another.",
                {"type": "string", "pattern": JOB}, "header")
_CALLER = require("compute")  # asked by hand: as a dependency it takes 0.1 ms of each request
_FEW_ROWS = 8  # of a block that may be computed at once
_ACCEPTED = {"description": "The job has begun; Location is /v1/jobs/{id}. Only where the rows are a stored table."}


def _described(*parameters):
    return {"requestBody": {"required": False, **BODY_OF_ROWS}, "security": [{_CALLER.scheme_name: []}],
            "parameters": [_NAME, _TABLE, *parameters, *CSV_PARAMETERS, _PREFER, _JOB]}


@router.post(
    "/{name}/predict", summary="Apply a model to rows", response_class=Response,
    openapi_extra=_described(_KEEP, object_of_options(["apply"])),
    responses={200: rows_answer("What the model says of every row."), 202: _ACCEPTED},
)
async def predict(request: Request):
    """Predictions, neighbours, scores or coded columns of the body's rows, or of a stored table.

    Rows are read, computed and sent block by block, so neither side needs the memory for all of them. Columns are matched
    by name; others are ignored.
    """
    caller = await _CALLER(request)
    options, query = free_options(request), request.query_params
    kept = list(ReadingOptions.of_words({"ignore": query["keep"]}).ignore) if "keep" in query else []
    return await _Application(request, caller, "predict", options, kept, partial(applied, kept)).answer()


@router.post(
    "/{name}/neighbors", summary="The nearest training rows", response_class=Response,
    openapi_extra=_described(_K, object_of_options(["search"])),
    responses={200: rows_answer("The columns row, pos, train_index and distance."), 202: _ACCEPTED},
)
async def neighbors(request: Request):
    """The lists of the nearest training rows, for k-NN models of every kind."""
    caller = await _CALLER(request)
    options = free_options(request)
    k = _whole_number(request.query_params, "n_neighbors")
    group = [options["exclude_group"]] if options.get("exclude_group") else []
    return await _Application(request, caller, "neighbors", options, [], partial(found, k), group).answer()


def _whole_number(query, name):
    text = query.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 15 and int(text) >= 1):
        raise Problem(400, "invalid-argument", f"{name} is a whole number of at least 1, and has to be given", option=name)
    return int(text)


class _Application:
    """One request that applies a model."""

    def __init__(self, request, caller, what, options, keep, work_of, besides=()):
        self._state, self._connection, self._caller = request.app.state, Connection(request), caller
        self._name, self._query = request.path_params["name"], request.query_params
        self._what, self._options, self._keep = what, options, keep
        self._work_of, self._besides = work_of, besides

    async def answer(self):
        jobs, table = self._state.jobs, self._query.get("table")
        is_async = table is not None and wants_async(self._connection.request.headers.get("prefer"))
        job = jobs.begin(self._connection, self._caller, self._what, is_async)
        with jobs.failing(job):
            if table is not None:
                self._connection.has_no_body()
            model = await self._model(job)
            if is_async:
                rows, work = await self._whole_table(model, table), self._work(model)
                jobs.in_background(job, lambda job: jobs.compute(job, partial(work, rows, 0)))
                return accepted(job)
            blocks = await self._blocks(model, table)
            return await self._streamed(job, self._answers(job, model, blocks))

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

    async def _blocks(self, model, table):
        if table is not None:
            rows = await self._whole_table(model, table)
            return of_table(rows, list(range(rows.n_columns)))
        state = self._state
        return blocks_of_body(
            self._connection.request, self._wanted(model), state.store.spool, state.settings.limits, keep=self._keep,
            options=ReadingOptions.of_words(csv_words(self._query)),
        )

    def _work(self, model):
        """What is done with each block. The body's first line, which may have options, has been read."""
        options, numbers = with_header_options(self._connection.request, self._options)
        texts = {name: ",".join(map(repr, values)) for name, values in numbers.items()}
        return self._work_of(model, {**options, **texts})

    async def _answers(self, job, model, blocks):
        """The answers to the blocks. The job ends with them, however they end."""
        jobs, work, first = self._state.jobs, None, 0
        with jobs.ending(job):
            async for block in blocks:
                work = work or self._work(model)
                if block.n_rows <= _FEW_ROWS:
                    timed = partial(model.pace.timed, work, block, first)
                    result = await jobs.compute(job, timed, model.pace.is_short)
                else:
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
            jobs = self._state.jobs
            rest = computed_ahead(answers, lambda: not self._connection.is_complete,
                                  lambda block: jobs.file_work(partial(jobs.filed, block)))
            return await answer(request, _chained([first], rest), headers)
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
