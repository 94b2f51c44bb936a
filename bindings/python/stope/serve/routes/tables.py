"""The API's routes of tables."""

from typing import Annotated, Optional

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from starlette.responses import JSONResponse, Response

from ..answers import answer
from ..bodies import table_of_body
from ..bodies.options import ReadingOptions
from ..jobs.connection import Connection
from ..problems import Problem
from ..row_blocks import blocks_of
from ..state.conditions import Condition
from ..state.names import NAME, NAMED, anonymous_name, check_new_name
from ..tokens import Caller, require
from .descriptions import BODY_OF_ROWS, TableDescription, TableList, rows_answer
from .parameters import declared_only, reading_words

__all__ = ["router"]

router = APIRouter(prefix="/v1/tables", tags=["tables"], dependencies=[Depends(declared_only)])

_SHOWN_VALUES = 1000
_READING_BYTES = 512 << 20  # a table beyond half of it is read into a file: the memory stays constant

Name = Annotated[str, Path(description="The table's name.", pattern=NAME, examples=["iris"])]
NewName = Annotated[str, Path(description="The table's name.", pattern=f"^{NAMED}$", examples=["iris"])]
IfMatch = Annotated[Optional[str], Header(description="Write only if the table has this ETag, or `*`: if it is there.")]
IfNoneMatch = Annotated[Optional[str], Header(description="`*`: write only if the name is free.")]

_BODY = {"requestBody": {"required": True, **BODY_OF_ROWS}}


@router.get("", summary="All tables", response_model=TableList)
async def tables(request: Request, caller: Caller = Depends(require("read"))):
    """The tables that have been given names, sorted by name."""
    store, jobs = request.app.state.store, request.app.state.jobs
    return JSONResponse({"tables": await jobs.file_work(lambda: _listed(store.tables))})


def _listed(stored_tables):
    found = []
    for entry in stored_tables.listed():
        try:
            stored = stored_tables.get(entry.name)
        except Problem:
            continue  # deleted meanwhile, or damaged: GET of the table says so
        table = stored.table
        found.append({"name": entry.name, "rows": table.n_rows, "columns": table.n_columns, "bytes": stored.entry.bytes,
                      "changed": stored.entry.changed})
    return found


@router.put(
    "/{name}", summary="Keep a table under a name", response_model=TableDescription, openapi_extra=_BODY,
    responses={201: {"model": TableDescription, "description": "The name is new."}},
)
async def put_table(
    request: Request, name: NewName, words: dict = Depends(reading_words), if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None, caller: Caller = Depends(require("compute")),
):
    """Read the body's rows. A table of that name is replaced as a whole, or stays if anything fails."""
    check_new_name(name, "table")
    return await _put(request, name, words, Condition(if_match, if_none_match), caller)


@router.post(
    "", summary="Keep a table under a name that the server gives", status_code=201, response_model=TableDescription,
    openapi_extra=_BODY,
)
async def post_table(
    request: Request, words: dict = Depends(reading_words), caller: Caller = Depends(require("compute"))
):
    """Read the body's rows. The header Location says where they are; the table goes when nobody uses it for long."""
    return await _put(request, anonymous_name(), words, Condition(), caller)


async def _put(request, name, words, condition, caller):
    state = request.app.state
    tables, jobs = state.store.tables, state.jobs
    tables.check(name, condition)
    options = ReadingOptions.of_words(words)
    connection = Connection(request)
    job = jobs.begin(connection, caller, "read a table", most_memory=_READING_BYTES)
    with jobs.ending(job):
        read = await table_of_body(connection.request, options, state.store.spool, state.settings.limits, job.run)
        table = read._core_table
        del read
        stored, is_new = await jobs.compute(job, lambda run: tables.put(name, table, condition))
        text = await jobs.file_work(lambda: described(stored))
    headers = {"ETag": stored.entry.etag, "Location": f"/v1/tables/{name}", **job.headers()}
    return JSONResponse(text, 201 if is_new else 200, headers)


def described(stored) -> dict:
    """A table as the API shows it."""
    table, columns = stored.table, []
    for index in range(table.n_columns):
        column = table.column(index)
        text = {"name": column.name, "type": column.type, "role": column.role, "missing": stored.missing[index]}
        if column.is_nominal:
            values = column.values.names()
            text.update(values=values[:_SHOWN_VALUES], n_values=len(values))
        columns.append(text)
    entry = stored.entry
    return {"name": entry.name, "rows": table.n_rows, "columns": columns, "bytes": entry.bytes, "changed": entry.changed,
            "etag": entry.etag}


@router.get("/{name}", summary="What a table is", response_model=TableDescription)
async def table(request: Request, name: Name, caller: Caller = Depends(require("read"))):
    """Rows, columns with types, roles, values and missing values, and the version."""
    state = request.app.state
    stored = await state.jobs.file_work(lambda: state.store.tables.get(name))
    text = await state.jobs.file_work(lambda: described(stored))
    return JSONResponse(text, headers={"ETag": stored.entry.etag})


@router.get("/{name}/rows", summary="A table's rows", response_class=Response,
            responses={200: rows_answer("The rows, in the format that Accept asks for.")})
async def rows(
    request: Request, name: Name,
    offset: Annotated[int, Query(ge=0, description="The first row, counted from 0.")] = 0,
    limit: Annotated[Optional[int], Query(ge=0, description="At most so many rows.")] = None,
    columns: Annotated[Optional[str], Query(description="Only these columns, separated by commas.")] = None,
    caller: Caller = Depends(require("read")),
):
    """The rows as they are stored, or some of them."""
    state = request.app.state
    stored = await state.jobs.file_work(lambda: state.store.tables.get(name))
    table = stored.table
    first = min(offset, table.n_rows)
    end = table.n_rows if limit is None else min(first + limit, table.n_rows)
    chosen = None if columns is None else numbers_of(table, columns)

    async def blocks():
        for _, block in blocks_of(table, first, end, chosen):
            yield block

    return await answer(request, blocks(), {"ETag": stored.entry.etag})


def numbers_of(table, names: str) -> list:
    """The numbers of columns by name, separated by commas; an element that is no name may be a JSON list's."""
    wanted = ReadingOptions.of_words({"ignore": names}).ignore
    found = []
    for name in wanted:
        index = table.find(name)
        if index < 0:
            raise Problem(400, "no-column", f"the table has no column {name!r}", option="columns", column=name)
        if index in found:
            raise Problem(400, "invalid-argument", f"the column {name!r} is asked for twice", option="columns")
        found.append(index)
    return found


@router.delete("/{name}", summary="Delete a table", status_code=204, response_class=Response)
async def delete_table(request: Request, name: Name, if_match: IfMatch = None,
                       caller: Caller = Depends(require("compute"))):
    """Whoever reads the table now goes on."""
    state = request.app.state
    await state.jobs.file_work(lambda: state.store.tables.delete(name, Condition(if_match)))
    return Response(status_code=204)
