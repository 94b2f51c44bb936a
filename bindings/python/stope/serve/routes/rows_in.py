"""The rows of a job, and what jobs have in common: who waits for the answer, and who comes back for it."""

from typing import Annotated, Callable, Optional

from fastapi import Header
from starlette.responses import JSONResponse, Response

from ..bodies import table_of_body
from ..bodies.options import ReadingOptions
from .parameters import table_words
from .roles import with_roles

__all__ = ["JobName", "Prefer", "accepted", "rows_in", "wants_async"]

Prefer = Annotated[Optional[str], Header(description="`respond-async`: answer 202 at once; Location names the job.")]
JobName = Annotated[Optional[str], Header(
    alias="Stope-Job", description="A name for the job, of the client's choice: 22 to 64 of A-Z a-z 0-9 _ -. It never was "
                                   "the name of another.")]


def wants_async(prefer: Optional[str]) -> bool:
    return prefer is not None and "respond-async" in {part.split(";")[0].strip().lower() for part in prefer.split(",")}


def accepted(job) -> Response:
    """The answer to a request whose job runs in the background."""
    return JSONResponse({"job": job.id}, 202, {"Location": f"/v1/jobs/{job.id}", "Stope-Job": job.id})


async def rows_in(connection, job, table: Optional[str], words: dict) -> Callable:
    """Return a function of a run that gives the rows: those of a stored table with its roles, or of the body."""
    request = connection.request
    state = request.app.state
    if table is None:
        options = ReadingOptions.of_words(words)
        read = await table_of_body(request, options, state.store.spool, state.settings.limits, job.run)
        return lambda run: read._core_table
    connection.has_no_body()
    options = table_words(words)
    stored = await state.jobs.file_work(lambda: state.store.tables.get(table))
    return lambda run: with_roles(stored.table, options, run)
