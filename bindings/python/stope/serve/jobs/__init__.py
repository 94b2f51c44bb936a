"""The jobs of a server: how many compute at once, who waits, and what becomes of those that have ended."""

import asyncio
import os
import re
import secrets
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Callable, Iterator, List, Optional, TypeVar

from stope import _core

from ..machine_memory import available_bytes
from ..problems import Problem
from ..state.names import JOB
from ..state.table_files import map_table, write_table
from .connection import Connection
from .job import Job

__all__ = ["Jobs"]

T = TypeVar("T")

_ID = re.compile(JOB[1:-1] + r"\Z")
_MOST_ENDED = 1000  # jobs that have ended and are still listed
_LISTED_SECONDS = 1.0  # a shorter job that went well is listed only if its client gave it a name
_SWEEP_SECONDS = 30
_SHARE = 0.8  # of the memory that is available: the engine's default for one job alone
_SHUTDOWN_SECONDS = 5


class Jobs:
    """Runs computations in threads, a bounded number at once, in the order in which they came.

    A job takes a place while it computes, and not while it waits for its client. So a slow client holds up nobody.

    Parameters
    ----------
    settings : Settings
    store : Store
        Its spool keeps the results of asynchronous jobs.
    """

    def __init__(self, settings, store):
        self._settings, self._limits, self._store = settings, settings.limits, store
        self._jobs: "OrderedDict[str, Job]" = OrderedDict()
        self._ended = {"done": 0, "failed": 0, "cancelled": 0}
        self._threads = ThreadPoolExecutor(self._limits.jobs, thread_name_prefix="stope-job")
        self._short_work = ThreadPoolExecutor(4, thread_name_prefix="stope-file")
        self._places = asyncio.Semaphore(self._limits.jobs)
        self._n_waiting = 0
        self._looked_at_memory = float("-inf")
        self._in_background = set()
        self._sweeper = None

    # The server's life.

    async def start(self) -> None:
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep())

    async def drain(self, seconds: float) -> None:
        """Wait until nothing is computed any more, but not longer than so many seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and any(not job.has_ended for job in self._jobs.values()):
            await asyncio.sleep(0.05)

    def cancel_all(self) -> None:
        """Cancel all jobs, because the server stops; whoever waits for one is told so."""
        for job in list(self._jobs.values()):
            job.stop("stopping")

    async def close(self) -> None:
        """Cancel all jobs and wait for their threads."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self.cancel_all()
        await self.drain(_SHUTDOWN_SECONDS)
        for task in list(self._in_background):
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._short_work.shutdown(wait=False, cancel_futures=True)

    async def _sweep(self):
        while True:
            await asyncio.sleep(min(_SWEEP_SECONDS, max(self._limits.keep_seconds / 4, 0.05)))
            oldest = time.time() - self._limits.keep_seconds
            for job in [job for job in self._jobs.values() if job.has_ended and job.used < oldest]:
                self._jobs.pop(job.id, None)
            await self.file_work(self._store.expire)

    def counts(self) -> dict:
        """How many jobs run and wait now, and how many have ended in which way."""
        states = [job.state for job in list(self._jobs.values())]
        return {"running": states.count("running"), "waiting": states.count("waiting"), **self._ended}

    # Jobs by name.

    def visible(self, caller) -> List[Job]:
        """The caller's jobs, the last one first; an admin sees all."""
        return [job for job in reversed(self._jobs.values()) if _is_visible(job, caller)]

    def job(self, id: str, caller) -> Job:
        job = self._jobs.get(id)
        if job is None or not _is_visible(job, caller):
            raise Problem(404, "no-job", f"there is no job {id!r}, or it has ended and is forgotten")
        job.used = time.time()
        return job

    def begin(self, connection: Connection, caller, what: str, is_async: bool = False,
              most_memory: int = 0) -> Job:
        """Begin a job, which ends if its client goes, unless it is asynchronous.

        The header ``Stope-Job`` of the request may name it. Whoever begins a job sees to it that it ends.
        """
        request = connection.request
        if request.app.state.stopping:
            raise Problem(503, "stopping", "the server is stopping", {"Retry-After": "10"})
        if is_async:
            self._refuse_if_full()  # now, and not when nobody waits for the answer any more
        id, is_named = request.headers.get("stope-job"), True
        if id is None:
            id, is_named = secrets.token_urlsafe(16), False
        elif not _ID.match(id):
            raise Problem(400, "invalid-job", "Stope-Job is 22 to 64 of A-Z a-z 0-9 _ -", option="Stope-Job")
        elif id in self._jobs:
            raise Problem(409, "job-exists", "there is or was a job of that name already", option="Stope-Job")
        job = Job(id, what, caller.name, self.new_run(most_memory), self._limits.seconds, is_kept=is_named or is_async)
        self._jobs[id] = job
        job.connection = None if is_async else connection
        return job

    def new_run(self, most_memory: int = 0, threads: Optional[int] = None) -> "_core.Run":
        """How every job of this server computes, perhaps with less memory or other threads than it may have."""
        memory = min(self._memory(), most_memory) if most_memory else self._memory()
        threads = self._settings.threads if threads is None else threads
        run = _core.Run(threads, memory, self._settings.device, None)
        run.attends_signals = False  # jobs of the loop's own thread are short
        return run

    def _memory(self):
        if self._limits.memory_bytes:
            return self._limits.memory_bytes
        now = time.monotonic()
        if now - self._looked_at_memory > 1:  # it changes slowly, and asking takes 0.1 ms
            self._looked_at_memory = now
            self._available = max(int(available_bytes() * _SHARE / self._limits.jobs), 1)
        return self._available

    def end(self, job: Job, error=None) -> None:
        """Note how a job has ended, and forget it where nobody will ask for it."""
        if job.has_ended:
            return
        job.end(error)
        self._ended[job.state] += 1
        if job.state == "done" and not job.is_kept and job.seconds < _LISTED_SECONDS:
            self._jobs.pop(job.id, None)
        elif len(self._jobs) > _MOST_ENDED:
            self._forget_one()

    def forget(self, job: Job) -> None:
        """Forget a job that has ended; its result goes."""
        self._jobs.pop(job.id, None)

    def _forget_one(self):
        ended = (job for job in self._jobs.values() if job.has_ended)
        oldest = next((job for job in ended if job.table is None and job.value is None), None)
        if oldest is not None:
            del self._jobs[oldest.id]

    # Computing.

    async def run(self, request, caller, what: str, work: Callable[["_core.Run"], T]) -> T:
        """Compute one thing for a request whose body has been read; cancel it if the client goes."""
        job = self.begin(Connection(request), caller, what)
        with self.ending(job):
            return await self.compute(job, work)

    @contextmanager
    def failing(self, job: Job) -> Iterator[Job]:
        """If the block fails, the job has failed, and the answer names it; otherwise it goes on."""
        try:
            yield job
        except BaseException as error:
            self.end(job, error)
            raise job.explained(error)

    @contextmanager
    def ending(self, job: Job) -> Iterator[Job]:
        """The job ends with the block, as the block does."""
        with self.failing(job):
            yield job
        self.end(job)

    async def compute(self, job: Job, work: Callable[["_core.Run"], T], is_short: bool = False) -> T:
        """Call ``work(job.run)`` in a thread, once there is a place for it.

        Work that is known to be short is done at once where a place is free: to hand it to a thread takes longer.
        """
        if is_short and not self._places.locked():
            return self._at_once(job, work)
        if job.watch is None and job.connection is not None:
            job.watch = asyncio.get_running_loop().create_task(_stop_when_gone(job, job.connection))
        await self._enter(job)
        try:
            job.begin()
            future = asyncio.get_running_loop().run_in_executor(self._threads, work, job.run)
        except BaseException:
            self._places.release()
            raise
        future.add_done_callback(lambda _: self._leave(job))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:  # the task was cancelled; the thread goes on until the engine sees it
            job.stop("client-gone")
            future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise

    def _at_once(self, job, work):
        job.raise_if_stopped()
        job.state, began = "running", time.monotonic()
        # One thread: on a busy machine a second one takes longer to wake up than the work takes.
        job.run = self.new_run(threads=1)
        try:
            return work(job.run)
        finally:
            job.seconds += time.monotonic() - began

    def _leave(self, job):
        job.pause()
        self._places.release()

    async def _enter(self, job):
        """Take a place, first come, first served. A job that is stopped while it waits leaves the queue."""
        job.raise_if_stopped()
        if not self._places.locked():
            await self._places.acquire()
            return
        self._refuse_if_full()
        self._n_waiting += 1
        place = asyncio.ensure_future(self._places.acquire())
        stopped = asyncio.ensure_future(job.stopped())
        try:
            await asyncio.wait({place, stopped}, return_when=asyncio.FIRST_COMPLETED)
            job.raise_if_stopped()
        except BaseException:
            if not place.cancel() and not place.cancelled():
                self._places.release()
            raise
        finally:
            self._n_waiting -= 1
            stopped.cancel()

    def _refuse_if_full(self):
        if self._places.locked() and self._n_waiting >= self._limits.waiting:
            raise Problem(503, "queue-full", f"{self._n_waiting} jobs wait already; try again soon",
                          {"Retry-After": "1"})

    async def file_work(self, work: Callable[[], T]) -> T:
        """Call ``work`` in a thread that is there for files: it waits for the disk, and not for a place."""
        return await asyncio.get_running_loop().run_in_executor(self._short_work, work)

    # Results for later.

    def in_background(self, job: Job, work) -> None:
        """Await ``work(job)`` in a task. ``work`` returns the result: a _core.Table, or (status, dict)."""
        task = asyncio.get_running_loop().create_task(self._finish(job, work))
        self._in_background.add(task)
        task.add_done_callback(self._in_background.discard)

    async def _finish(self, job, work):
        try:
            result = await work(job)
            if isinstance(result, _core.Table):
                job.table = await self.file_work(lambda: self.filed(result))
            else:
                job.status, job.value = result
            self.end(job)
        except BaseException as error:
            self.end(job, error)
            if not isinstance(error, Exception):
                raise

    def filed(self, table: "_core.Table") -> "_core.Table":
        """The same table, mapped from a file without a name: the file goes with the table."""
        path = self._store.spool / secrets.token_hex(16)
        self._store.room.require(table.nbytes)
        try:
            write_table(table, path)
            return map_table(os.open(path, os.O_RDONLY | os.O_CLOEXEC))[0]
        finally:
            path.unlink(missing_ok=True)


def _is_visible(job, caller):
    return caller.may("admin") or job.caller == caller.name


async def _stop_when_gone(job, connection):
    await connection.gone()
    job.stop("client-gone")
