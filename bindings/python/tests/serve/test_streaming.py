"""Streams both ways: answers leave before the body has ended, and nobody reads on for a client that takes nothing."""

import asyncio
import json
from types import SimpleNamespace

import numpy as np
import pytest

for needed in ("starlette", "pyarrow"):
    pytest.importorskip(needed, reason=f"SKIP: the package {needed} is missing")

from stope import Table, _core  # noqa: E402
from stope.serve.answers import answer  # noqa: E402
from stope.serve.bodies import Feature, blocks_of_body  # noqa: E402
from stope.serve.jobs.predicting import applied  # noqa: E402
from stope.serve.problems import Problem  # noqa: E402
from stope.serve.settings import Limits  # noqa: E402

from .bodies_in_process import ARROW, CSV, JSON, RECORDS, ROWS, answered, cut, request_of  # noqa: E402

N_ROWS = 200_000
FORMATS = [CSV, JSON, RECORDS, ARROW, ROWS]


@pytest.fixture(scope="module")
def bodies():
    """A body of several megabytes in each format, in parts of 64 KiB."""
    table = Table.from_numpy(np.random.default_rng(5).normal(size=(N_ROWS, 2)), names=["x", "y"])
    pieces = [table._core_table.take(list(range(first, first + 20_000))) for first in range(0, N_ROWS, 20_000)]
    return {form: cut(answered(pieces, form)[2], 65_536) for form in FORMATS}


class Talk:
    """One request and its answer, whose parts are counted as they are asked for and sent."""

    def __init__(self, parts, media_type, accept, taken=10**9):
        self.asked = self.sent = self.asked_at_first = 0
        self.ended, self.stopped = False, asyncio.Event()
        self._taken = taken
        self.request = request_of(parts, media_type, {"accept": accept}, wait=self._ask)

    async def _ask(self):
        self.asked += 1

    async def send(self, message):
        if message["type"] != "http.response.body":
            return
        self.sent += 1
        self.asked_at_first = self.asked_at_first or self.asked
        self.ended |= not message["more_body"]
        if self.sent >= self._taken:  # the client takes nothing any more, and the server's buffer is full
            self.stopped.set()
            await asyncio.Event().wait()

    async def run(self, blocks=None):
        blocks = blocks or blocks_of_body(self.request, [Feature("y"), Feature("x")], "/tmp", Limits())
        await (await answer(self.request, blocks))({"type": "http"}, None, self.send)


def test_explanations_of_blocks_count_their_rows_from_the_first_block():
    table = Table.from_numpy(np.random.default_rng(2).normal(size=(30, 3)), names=["x", "y", "z"])._core_table
    predictor = _core.fit_model("neighbors", table, {"n_neighbors": "2"}, run=_core.Run(1))
    model = SimpleNamespace(predictor=predictor, info={"gives": "classes"}, features=[])
    work = applied([], model, {"explain": "true"})
    whole = work(table, 0, _core.Run(1))
    parts = [work(table.take(list(range(first, first + 10))), first, _core.Run(1)) for first in (0, 10, 20)]
    for name in ("row", "train_index", "attribute"):
        of = [np.asarray(part.column(part.find(name)).array()) for part in parts]
        np.testing.assert_array_equal(np.concatenate(of), np.asarray(whole.column(whole.find(name)).array()))
    with pytest.raises(Problem, match="keep"):
        applied(["x"], model, {"explain": "1"})


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("accept", [CSV, ARROW])
def test_the_first_rows_leave_before_the_body_has_come(bodies, form, accept):
    talk = Talk(bodies[form], form.split(";")[0], accept)
    asyncio.run(talk.run())
    assert talk.ended and talk.sent > 5
    assert talk.asked_at_first <= 0.7 * len(bodies[form]) < talk.asked


@pytest.mark.parametrize("form", FORMATS)
def test_the_body_waits_where_the_client_takes_no_answer(bodies, form):
    talk = Talk(bodies[form], form.split(";")[0], CSV, taken=2)

    async def stall():
        task = asyncio.ensure_future(talk.run())
        await talk.stopped.wait()
        asked = talk.asked
        for _ in range(50):
            await asyncio.sleep(0.002)
        assert talk.asked == asked < len(bodies[form]) and not talk.ended
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stall())


@pytest.mark.parametrize("form", [CSV, JSON, ROWS])
def test_a_late_error_ends_the_answer_without_its_end(bodies, form):
    parts = [*bodies[form][:-1], b'"broken']
    talk = Talk(parts, form, JSON)
    with pytest.raises(Problem) as failure:
        asyncio.run(talk.run())
    assert failure.value.status == 422 and talk.sent > 0 and not talk.ended


def test_an_early_error_has_its_own_status():
    talk = Talk([b"x,y\n", b"1,word\n"], CSV, JSON)
    with pytest.raises(Problem) as failure:
        asyncio.run(talk.run())
    assert failure.value.code == "malformed-csv" and talk.sent == 0


def test_blocks_are_told_when_the_client_is_gone(bodies):
    closed = []

    async def blocks():
        try:
            while True:
                yield Table.from_numpy(np.ones((3, 1)))._core_table
        finally:
            closed.append(True)

    talk = Talk(b"", "", JSON)

    async def gone(message):
        talk.sent += 1
        if talk.sent == 5:
            raise OSError("the client is gone")

    talk.send = gone

    async def run():
        with pytest.raises(OSError, match="gone"):
            await talk.run(blocks())
        assert closed == [True], "at once, not when somebody collects the garbage"

    asyncio.run(run())


@pytest.mark.parametrize("accept", [CSV, JSON, ARROW, ROWS])
def test_a_large_whole_table_is_sent_in_parts(accept):
    table = Table.from_numpy(np.random.default_rng(0).normal(size=(100_000, 3)))
    sent = []

    async def send(message):
        sent.append(message)

    async def run():
        await (await answer(request_of(b"", headers={"accept": accept}), table))({"type": "http"}, None, send)

    asyncio.run(run())
    parts = [message["body"] for message in sent[1:]]
    assert len(parts) >= 4 and sent[-1]["more_body"] is False
    if accept == JSON:
        assert len(json.loads(b"".join(parts))["rows"]) == 100_000
