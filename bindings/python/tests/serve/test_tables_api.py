"""Tables over HTTP."""

import io
import json
import os

import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")
pytest.importorskip("httpx", reason="SKIP: httpx is not installed")

from .api_cases import CSV, MIXED, facts, facts_of_arrow, read  # noqa: E402

ARROW = {"Accept": "application/vnd.apache.arrow.stream"}


def test_a_table_is_what_the_engine_reads(client, tmp_path):
    answer = client.put("/v1/tables/mixed?target=class&id=id&ignore=price", content=MIXED, headers=CSV)
    assert answer.status_code == 201 and answer.headers["location"] == "/v1/tables/mixed"
    wanted = read(MIXED, tmp_path, target="class", id="id")
    rows = facts_of_arrow(client.get("/v1/tables/mixed/rows", headers=ARROW).content)
    found = {column["name"]: column for column in answer.json()["columns"]}
    assert [fact for fact in rows if fact[0] != "price"] == [fact for fact in facts(wanted) if fact[0] != "price"]
    assert (found["class"]["role"], found["id"]["role"]) == ("label", "id")
    assert found["b"]["missing"] == 7 and found["colour"]["values"] == ["blue", "green", "red"]


def test_a_table_is_read_as_its_parameters_say(client):
    body = b"made by hand\n# a remark\na;b;c;y\n1,500;2;3;u\n2,500;4;v\n"
    query = {"select": "a", "target": "y", "thousands": ",", "allow_ragged": "true", "comment": "#", "skip_lines": "1"}
    answer = client.put("/v1/tables/odd", params=query, content=body, headers=CSV)
    assert answer.status_code == 201, answer.text
    columns = {column["name"]: column for column in answer.json()["columns"]}
    roles = {name: column["role"] for name, column in columns.items()}
    assert (roles.pop("a"), roles.pop("y")) == ("regular", "label") and set(roles.values()) <= {"ignore"}
    assert columns["y"]["missing"] == 1
    assert client.get("/v1/tables/odd/rows?columns=a").json()["rows"] == [[1500], [2500]]
    for wrong in ({"allow_ragged": "perhaps"}, {"skip_lines": "-1"}, {"select": "absent"}):
        assert client.put("/v1/tables/odd", params={**query, **wrong}, content=body, headers=CSV).status_code in (400, 422)


def test_a_stored_table_gives_a_job_the_selected_columns(client):
    client.put("/v1/tables/mixed?target=class&id=id", content=MIXED, headers=CSV)
    others = [column["name"] for column in client.get("/v1/tables/mixed").json()["columns"]
              if column["role"] == "regular" and column["name"] not in ("b", "price")]
    found = [client.post("/v1/compute/feature_ranges", params={"table": "mixed", **words}).json()
             for words in ({"select": "b,price"}, {"ignore": ",".join(others)}, {})]
    assert found[0] == found[1] != found[2]


def test_a_table_is_listed_described_and_deleted(client):
    client.put("/v1/tables/mixed", content=MIXED, headers=CSV)
    listed = client.get("/v1/tables").json()["tables"]
    assert [(table["name"], table["rows"], table["columns"]) for table in listed] == [("mixed", 120, 7)]
    answer = client.get("/v1/tables/mixed")
    assert answer.json()["rows"] == 120 and answer.headers["etag"] == answer.json()["etag"]
    assert client.delete("/v1/tables/mixed").status_code == 204
    assert client.delete("/v1/tables/mixed").status_code == 404
    assert client.get("/v1/tables").json() == {"tables": []}


@pytest.mark.parametrize("query, rows, columns", [
    ("", 120, 7), ("?limit=0", 0, 7), ("?offset=119", 1, 7), ("?offset=120", 0, 7), ("?offset=5&limit=3&columns=b,id", 3, 2),
    ("?offset=999999999999", 0, 7), ("?limit=999999999999", 120, 7),
])
def test_some_of_the_rows_come_back(query, rows, columns, client):
    client.put("/v1/tables/mixed", content=MIXED, headers=CSV)
    answer = client.get(f"/v1/tables/mixed/rows{query}").json()
    assert (len(answer["rows"]), len(answer["columns"])) == (rows, columns)


@pytest.mark.parametrize("query", [
    "?offset=-1", "?limit=-1", "?limit=x", "?columns=nobody", "?columns=a,a", "?page=1", "?limit=1&limit=2",
])
def test_rows_that_cannot_be_meant_are_refused(query, client):
    client.put("/v1/tables/mixed", content=MIXED, headers=CSV)
    answer = client.get(f"/v1/tables/mixed/rows{query}")
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_two_writers_meet_in_an_etag(client):
    first = client.put("/v1/tables/x", content="a\n1\n", headers={**CSV, "If-None-Match": "*"})
    assert first.status_code == 201
    taken = client.put("/v1/tables/x", content="a\n2\n", headers={**CSV, "If-None-Match": "*"})
    assert (taken.status_code, taken.json()["code"]) == (412, "version")
    second = client.put("/v1/tables/x", content="a\n3\n", headers={**CSV, "If-Match": first.headers["etag"]})
    assert second.status_code == 200 and second.headers["etag"] != first.headers["etag"]
    late = client.put("/v1/tables/x", content="a\n4\n", headers={**CSV, "If-Match": first.headers["etag"]})
    assert late.status_code == 412
    assert client.delete("/v1/tables/x", headers={"If-Match": first.headers["etag"]}).status_code == 412
    assert client.get("/v1/tables/x/rows").json()["rows"] == [[3]]


def test_a_body_that_is_refused_keeps_the_old_table(client):
    client.put("/v1/tables/x", content="a,b\n1,2\n", headers=CSV)
    answer = client.put("/v1/tables/x", content="a,b\n1,2\n3\n", headers=CSV)
    assert answer.status_code == 422 and answer.json()["line"] == 3
    assert client.get("/v1/tables/x/rows").json()["rows"] == [[1, 2]]
    assert list(client.app.state.store.spool.iterdir()) == []


@pytest.mark.parametrize("name", [".x", "%2e%2e", "..%2f..%2fetc%2fpasswd", "a%2fb", "a%00b", "x" * 101, "a%0ab", "~x"])
def test_no_name_leaves_the_state_folder(name, client, settings):
    before = sorted(os.listdir(settings.state))
    for method in ("PUT", "GET", "DELETE"):
        answer = client.request(method, f"/v1/tables/{name}", content="a\n1\n", headers=CSV)
        assert answer.status_code in (400, 404, 405), answer.text
    assert sorted(os.listdir(settings.state)) == before
    assert os.listdir(settings.state / "tables") == []


def test_an_anonymous_table_has_a_location_and_is_in_no_list(client):
    answer = client.post("/v1/tables?target=a", content="a\n1\n", headers=CSV)
    assert answer.status_code == 201
    place = answer.headers["location"]
    assert place.startswith("/v1/tables/~") and len(place) == len("/v1/tables/~") + 22
    assert client.get(place + "/rows").json()["rows"] == [[1]]
    assert client.get("/v1/tables").json() == {"tables": []}
    assert client.put(place, content="a\n2\n", headers=CSV).status_code == 400


def test_a_full_state_folder_is_a_507(tmp_path, log_text):
    from stope.serve import Limits, Settings, create_app
    from stope.serve.frame.logs import Log

    from .in_process import InProcess

    settings = Settings(state=tmp_path / "small", tokens=False, limits=Limits(state_bytes=20_000))
    with InProcess(create_app(settings, Log(log_text))) as client:
        assert client.put("/v1/tables/x", content="a\n1\n", headers=CSV).status_code == 201
        body = "a\n" + "\n".join(map(str, range(5000)))
        answer = client.put("/v1/tables/x", content=body, headers=CSV)
        assert (answer.status_code, answer.json()["code"]) == (507, "state-full")
        model = client.post("/v1/models/m/fit?kind=neighbors", content=body, headers=CSV)
        assert (model.status_code, model.json()["code"]) == (507, "state-full")
        assert client.get("/v1/tables/x/rows").json()["rows"] == [[1]]
        assert list(client.app.state.store.spool.iterdir()) == []


def test_every_format_of_a_body_makes_the_same_table(client):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"a": [1.5, None, -0.0], "b": ["x", "y", None]})
    arrow, parquet = io.BytesIO(), io.BytesIO()
    with pa.ipc.new_stream(arrow, table.schema) as writer:
        writer.write_table(table)
    pq.write_table(table, parquet)
    bodies = {"text/csv": b"a,b\n1.5,x\n,y\n-0.0,\n", "application/json": json.dumps(table.to_pylist()).encode(),
              "application/vnd.apache.arrow.stream": arrow.getvalue(),
              "application/vnd.apache.parquet": parquet.getvalue()}
    answers = []
    for kind, body in bodies.items():
        assert client.put("/v1/tables/x", content=body, headers={"Content-Type": kind}).status_code in (200, 201)
        answers.append(facts_of_arrow(client.get("/v1/tables/x/rows", headers=ARROW).content))
    assert all(answer == answers[0] for answer in answers)
