"""Jobs that make a table of a table, over HTTP."""

import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")
pytest.importorskip("httpx", reason="SKIP: httpx is not installed")

from stope import _core  # noqa: E402

from .api_cases import CSV, JOBS, MIXED, facts, facts_of_arrow, read, with_roles  # noqa: E402

ARROW = {"Accept": "application/vnd.apache.arrow.stream"}


@pytest.fixture
def mixed(client):
    assert client.put("/v1/tables/mixed", content=MIXED, headers=CSV).status_code == 201
    return client


@pytest.mark.parametrize("job, roles, options", JOBS)
def test_a_job_gives_what_the_engine_gives_in_process(job, roles, options, mixed, tmp_path):
    table = with_roles(read(MIXED, tmp_path), roles)
    wanted = facts(_core.compute(job, table, None, options, {}, _core.Run(1)))
    stored = mixed.post(f"/v1/compute/{job}", params={"table": "mixed", **roles, **options}, headers=ARROW)
    assert stored.status_code == 200, stored.text
    assert facts_of_arrow(stored.content) == wanted
    if "ignore" not in roles:  # a reader leaves ignored columns out, so they are not in statistics at all
        sent = mixed.post(f"/v1/compute/{job}", params={**roles, **options}, content=MIXED, headers={**CSV, **ARROW})
        assert facts_of_arrow(sent.content) == wanted


def test_every_job_of_the_engine_is_tried():
    assert {job for job, _, _ in JOBS} == set(_core.job_names())


def test_two_stored_tables_are_compared(mixed, tmp_path):
    mixed.put("/v1/tables/other", content="\n".join(MIXED.splitlines()[:11]) + "\n", headers=CSV)
    roles = {"ignore": "id,class,price,colour"}
    answer = mixed.post("/v1/compute/pairwise", params={"table": "mixed", "other": "other", "n_neighbors": "1", **roles,
                                                       "metric": "gower"}, headers=ARROW)
    assert answer.status_code == 200, answer.text
    assert len(facts_of_arrow(answer.content)[0][1]) == 120
    wrong = mixed.post("/v1/compute/stats?table=mixed&other=other")
    assert (wrong.status_code, wrong.json()["option"]) == (400, "other")


@pytest.mark.parametrize("path, status, code", [
    ("stat?table=mixed", 404, "no-such-job"), ("stats?table=nobody", 404, "no-table"),
    ("stats?table=mixed&bins=3", 400, "invalid-argument"), ("histogram?table=mixed&bins=0", 400, "invalid-argument"),
    ("histogram?table=mixed&bins=x", 400, "invalid-argument"), ("best_cuts?table=mixed", 400, "invalid-argument"),
    ("stats?table=..", 400, "invalid-parameter"), ("stats?table=mixed&other=nobody", 404, "no-table"),
])
def test_a_job_that_cannot_be_meant_is_refused_in_words(path, status, code, mixed):
    answer = mixed.post(f"/v1/compute/{path}")
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_rows_are_a_stored_table_or_a_body_and_not_both(mixed):
    answer = mixed.post("/v1/compute/stats?table=mixed", content=MIXED, headers=CSV)
    assert (answer.status_code, answer.json()["option"]) == (400, "table")


def test_notes_say_where_a_job_was_computed_and_warn(mixed):
    import json

    answer = mixed.post("/v1/compute/stats?table=mixed")
    notes = json.loads(answer.headers["stope-notes"])
    assert any(note.startswith("backend") for note in notes)
    assert len(answer.headers["stope-notes"]) <= 4096
