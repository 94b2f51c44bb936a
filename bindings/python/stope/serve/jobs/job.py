"""One job: what it is, how far it is, and why it has ended."""

import asyncio
import json
import time
from typing import Optional

from stope import _core
from stope.errors import CancelledError

from ..problems import Problem, problem_of

__all__ = ["Job"]

_NOTES_BYTES = 4096  # of the header Stope-Notes

_WHERE = ("backend", "device", "method")  # the report's lines that say where and how a job was computed

# Why a job was stopped, in the words of its problem.
_REASONS = {
    "cancelled": (409, "cancelled", "the job was cancelled"),
    "client-gone": (409, "cancelled", "the client has closed the connection, so the job was cancelled"),
    "time-limit": (503, "time-limit", "the job has taken longer than this server allows"),
    "stopping": (503, "stopping", "the server is stopping, so the job was cancelled"),
}


class Job:
    """A job of one caller. All but ``run`` belongs to the event loop's thread.

    Attributes
    ----------
    id, what, caller : str
        ``what`` names the kind, such as "fit classify", and no data.
    state : {"waiting", "running", "done", "failed", "cancelled"}
    run : _core.Run
        How the engine computes; it also knows the progress.
    is_kept : bool
        Whether the client asks for it later: by a name of its own, or for its result.
    table : _core.Table or None
        The result of an asynchronous job that makes a table, mapped.
    value : dict or None
        The result of one that makes a model.
    """

    def __init__(self, id: str, what: str, caller: str, run: "_core.Run", most_seconds: float, is_kept: bool):
        self.id, self.what, self.caller, self.run, self.is_kept = id, what, caller, run, is_kept
        self.state = "waiting"
        self.began: Optional[float] = None
        self.seconds = 0.0  # of computing: neither of waiting nor of a slow connection
        self.created = self.used = time.time()
        self.reason: Optional[str] = None
        self.problem: Optional[Problem] = None
        self.table = self.value = None
        self.status = 200  # of the answer that ``value`` is
        self._most_seconds = most_seconds
        self.connection = None  # of the client that waits for the job
        self.watch: Optional[asyncio.Task] = None  # stops the job when that client goes
        self._stopped = asyncio.Event()
        self._timer = None
        self._computing = False

    # While it runs.

    @property
    def has_ended(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def begin(self) -> None:
        """Note that a computation of this job begins now."""
        self.raise_if_stopped()
        self.state, self.began, self._computing = "running", time.monotonic(), True
        self._timer = asyncio.get_running_loop().call_later(
            max(self._most_seconds - self.seconds, 0), self.stop, "time-limit"
        )

    def pause(self) -> None:
        """Note that the computation has ended; the job may begin another."""
        self._computing = False
        self._timer.cancel()
        self.seconds += time.monotonic() - self.began

    def stop(self, reason: str) -> None:
        """Cancel what is computed now, and whatever the job would compute later."""
        if self.has_ended:
            return
        if self.reason is None:
            self.reason = reason
            self._stopped.set()
        self.run.cancel()

    async def stopped(self) -> None:
        await self._stopped.wait()

    def raise_if_stopped(self) -> None:
        if self.reason is not None:
            raise self.refusal()

    def refusal(self) -> Problem:
        """The Problem of a job that was stopped."""
        status, code, detail = _REASONS[self.reason]
        return Problem(status, code, detail, {"Stope-Job": self.id}, job=self.id)

    def explained(self, error: BaseException) -> BaseException:
        """What the client is told of an error: why the job was stopped, or the error with the job's name."""
        if self.reason is not None and isinstance(error, CancelledError):
            return self.refusal()
        if not isinstance(error, Exception):
            return error
        problem = problem_of(error)
        if problem.status == 500:  # the log wants the error itself
            return error
        problem.members.setdefault("job", self.id)
        problem.headers.setdefault("Stope-Job", self.id)
        return problem

    def end(self, error: Optional[BaseException] = None) -> None:
        """Note how the job has ended."""
        if self.has_ended:
            return
        self.used = time.time()
        if self.watch is not None:
            self.watch.cancel()
        if error is None:
            self.state = "done"
            return
        if isinstance(error, (asyncio.CancelledError, GeneratorExit)) or self.reason not in (None, "time-limit"):
            self.reason = self.reason or "client-gone"
            self.state, self.problem = "cancelled", self.refusal()
        else:
            self.state, self.problem = "failed", problem_of(self.explained(error))

    # What clients are told.

    def headers(self) -> dict:
        notes = self.notes()
        headers = {"Stope-Job": self.id}
        while notes:
            text = json.dumps(notes)  # ASCII: a header takes nothing else
            if len(text) <= _NOTES_BYTES:
                headers["Stope-Notes"] = text
                break
            notes.pop()
        return headers

    def notes(self) -> list:
        """The warnings, and where the job was computed: a list of sentences."""
        texts = [text for _, text in self.run.warnings]
        texts += [" ".join(line.split()) for line in self.run.report_text.splitlines() if line.startswith(_WHERE)]
        return list(dict.fromkeys(texts))

    def described(self) -> dict:
        """The job as the API shows it."""
        phase, done, total = self.run.progress_state
        seconds = self.seconds + (time.monotonic() - self.began if self._computing else 0)
        return {
            "id": self.id, "what": self.what, "caller": self.caller, "state": self.state, "phase": phase or None,
            "done": done, "total": total, "seconds": round(seconds, 6), "created": self.created,
            "notes": self.notes() if self.has_ended else [],
            "problem": None if self.problem is None else self.problem.to_dict(),
        }
