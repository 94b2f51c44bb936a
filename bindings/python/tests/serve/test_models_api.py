"""Models over HTTP: every kind gives what the engine gives in this process, bit for bit, in every format."""

import io
import json

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")
pytest.importorskip("httpx", reason="SKIP: httpx is not installed")

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from stope import _core  # noqa: E402

from .api_cases import CSV, MIXED, MODELS, facts, facts_of_arrow, read, with_roles  # noqa: E402

ARROW = {"Accept": "application/vnd.apache.arrow.stream"}


@pytest.fixture
def mixed(client):
    assert client.put("/v1/tables/mixed", content=MIXED, headers=CSV).status_code == 201
    return client


def fitted(client, kind, roles, options, name="m"):
    answer = client.post(f"/v1/models/{name}/fit", params={"kind": kind, "table": "mixed", **roles, **options})
    assert answer.status_code in (200, 201), answer.text
    return answer


def expected(tmp_path, kind, roles, options, apply=()):
    table = with_roles(read(MIXED, tmp_path), roles)
    predictor = _core.fit_model(kind, table, options, {}, _core.Run(1))
    return predictor, _core.apply_model(predictor, table, dict(apply), _core.Run(1))


@pytest.mark.parametrize("kind, roles, options", MODELS)
def test_predictions_are_those_of_the_engine_in_process(kind, roles, options, mixed, tmp_path):
    fitted(mixed, kind, roles, options)
    _, wanted = expected(tmp_path, kind, roles, options)
    answer = mixed.post("/v1/models/m/predict?table=mixed", headers=ARROW)
    assert answer.status_code == 200, answer.text
    found = facts_of_arrow(answer.content)
    # Cuts, normalisation and imputation bring columns along in process that are no features; the server sends features alone.
    left_out = set(roles.get("ignore", "").split(",")) | {roles.get("target")} if kind in ("cuts", "normalize", "impute") else ()
    assert found == [fact for fact in facts(wanted) if fact[0] not in left_out]


@pytest.mark.parametrize("kind, roles, options", MODELS)
def test_a_fit_to_the_body_is_the_fit_to_the_stored_table(kind, roles, options, mixed):
    first = fitted(mixed, kind, roles, options).json()
    answer = mixed.post("/v1/models/n/fit", params={"kind": kind, **roles, **options}, content=MIXED, headers=CSV)
    assert answer.status_code == 201, answer.text
    second = answer.json()
    if kind not in ("cuts", "pca"):
        assert [c for c in first["columns"] if c["role"] != "ignore"] == [
            c for c in second["columns"] if c["role"] != "ignore"]
    predictions = [mixed.post(f"/v1/models/{name}/predict?table=mixed", headers=ARROW).content for name in "mn"]
    assert facts_of_arrow(predictions[0]) == facts_of_arrow(predictions[1])


def bodies():
    """The same rows as CSV, JSON, Arrow, Parquet."""
    table = pa.table({"a": [0.1, -0.0, 5e-324, 1e308], "b": [1.5, None, 2.0, -7.25], "colour": ["red", None, "new", "blue"],
                      "size": [1.0, 2.0, 3.0, 4.0]})
    arrow, parquet = io.BytesIO(), io.BytesIO()
    with pa.ipc.new_stream(arrow, table.schema) as writer:
        writer.write_table(table)
    pq.write_table(table, parquet)
    rows = [[None if v is None else v for v in row.values()] for row in table.to_pylist()]
    text = "\n".join([",".join(table.column_names)] + [",".join("" if v is None else str(v) for v in r) for r in rows])
    return [
        ("text/csv", text.encode() + b"\n"),
        ("application/json", json.dumps({"columns": table.column_names, "rows": rows}).encode()),
        ("application/json", json.dumps(table.to_pylist()).encode()),
        ("application/vnd.apache.arrow.stream", arrow.getvalue()),
        ("application/vnd.apache.parquet", parquet.getvalue()),
    ]


def test_rows_in_every_format_get_the_same_predictions(mixed):
    fitted(mixed, *MODELS[1])
    answers = []
    for kind, body in bodies():
        answer = mixed.post("/v1/models/m/predict?proba=true", content=body, headers={"Content-Type": kind, **ARROW})
        assert answer.status_code == 200, (kind, answer.text)
        answers.append(facts_of_arrow(answer.content))
    assert all(answer == answers[0] for answer in answers)
    assert [name for name, _ in answers[0]] == ["prediction", "confidence(no)", "confidence(yes)"]


def test_numbers_are_the_same_in_every_format_of_the_answer(mixed):
    fitted(mixed, *MODELS[3])
    wanted = facts_of_arrow(mixed.post("/v1/models/m/predict?table=mixed", headers=ARROW).content)[0][1]
    as_json = mixed.post("/v1/models/m/predict?table=mixed").json()["rows"]
    as_csv = mixed.post("/v1/models/m/predict?table=mixed", headers={"Accept": "text/csv"}).text.splitlines()[1:]
    for numbers in ([row[0] for row in as_json], [float(line) for line in as_csv]):
        assert np.array(numbers, np.float64).view(np.uint64).tolist() == wanted


def test_options_of_a_prediction_are_the_engines(mixed, tmp_path):
    kind, roles, options = MODELS[1]
    fitted(mixed, kind, roles, options)
    apply = {"proba": "true", "n_neighbors": "1", "weights": "uniform"}
    _, wanted = expected(tmp_path, kind, roles, options, apply)
    answer = mixed.post("/v1/models/m/predict", params={"table": "mixed", **apply}, headers=ARROW)
    assert facts_of_arrow(answer.content) == facts(wanted)


def test_kept_columns_come_back_in_front(mixed):
    fitted(mixed, *MODELS[1])
    answer = mixed.post("/v1/models/m/predict?keep=id,a", content=MIXED, headers=CSV).json()
    assert [column["name"] for column in answer["columns"]] == ["id", "a", "prediction"]
    assert [row[0] for row in answer["rows"]] == [f"r{i}" for i in range(120)]
    stored = mixed.post("/v1/models/m/predict?keep=id,a&table=mixed").json()
    assert stored["rows"] == answer["rows"]
    fitted(mixed, *MODELS[8], name="z")
    scaled = mixed.post("/v1/models/z/predict?keep=id,class&table=mixed").json()
    assert [column["name"] for column in scaled["columns"]] == ["id", "class", "a", "b", "size"]
    twice = mixed.post("/v1/models/z/predict?keep=a&table=mixed")
    assert (twice.status_code, twice.json()["column"]) == (400, "a")
    refused = mixed.post("/v1/models/m/predict?keep=nobody&table=mixed")
    assert (refused.status_code, refused.json()["code"]) == (400, "no-column")


def test_neighbours_across_blocks_are_those_of_one_call(mixed, tmp_path, monkeypatch):
    from stope.serve.jobs import predicting
    from stope.serve import row_blocks

    monkeypatch.setattr(row_blocks, "BLOCK_ROWS", 50)
    monkeypatch.setattr(predicting, "BLOCK_ROWS", 50)
    kind, roles, options = MODELS[0]
    fitted(mixed, kind, roles, options)
    predictor, applied = expected(tmp_path, kind, roles, options)
    table = read(MIXED, tmp_path)
    answer = mixed.post("/v1/models/m/predict?table=mixed", headers=ARROW)
    assert facts_of_arrow(answer.content) == facts(applied)
    for search in ({}, {"exclude_self": "true"}, {"exclude_group": "colour"}):
        wanted = _core.model_neighbors(predictor, table, 4, search, _core.Run(1))
        answer = mixed.post("/v1/models/m/neighbors", params={"table": "mixed", "n_neighbors": 4, **search}, headers=ARROW)
        assert answer.status_code == 200, answer.text
        assert facts_of_arrow(answer.content) == facts(wanted), search


def test_options_may_stand_in_the_first_line_of_rows(mixed):
    from . import rows_format

    columns = [{"name": "a"}, {"name": "b"}, {"name": "y", "type": "nominal", "values": ["p", "q"], "role": "label"}]
    rows = [[float(i), float(i * i % 7), "pq"[i % 2]] for i in range(20)]
    options = {"n_neighbors": 1, "feature_weights": [1.0, 0.25], "metric": "manhattan"}
    kind = {"Content-Type": "application/vnd.stope.rows"}
    body = rows_format.write(columns, rows, options=options)
    assert mixed.post("/v1/models/r/fit?kind=classify", content=body, headers=kind).status_code == 201
    asked = mixed.get("/v1/models/r").json()["options"]
    query = "kind=classify&n_neighbors=1&feature_weights=1,0.25&metric=manhattan"
    plain = rows_format.write(columns, rows)
    assert mixed.post(f"/v1/models/q/fit?{query}", content=plain, headers=kind).status_code == 201
    assert mixed.get("/v1/models/q").json()["options"] == asked and asked["metric"] == "manhattan"
    body = rows_format.write(columns[:2], [row[:2] for row in rows], options={"proba": True})
    answer = mixed.post("/v1/models/r/predict", content=body, headers=kind)
    assert [column["name"] for column in answer.json()["columns"]] == ["prediction", "confidence(p)", "confidence(q)"]
    twice = mixed.post("/v1/models/r/predict?proba=true", content=body, headers=kind)
    assert (twice.status_code, twice.json()["option"]) == (400, "proba")


def test_a_model_file_goes_down_and_up_again(mixed):
    fitted(mixed, *MODELS[6])
    file = mixed.get("/v1/models/m/file")
    answer = mixed.put("/v1/models/copy", content=file.content)
    assert answer.status_code == 201 and answer.headers["location"] == "/v1/models/copy"
    assert mixed.get("/v1/models/copy/file").content == file.content
    assert mixed.get("/v1/models/copy/text/rules").text == mixed.get("/v1/models/m/text/rules").text
    assert "<svg" in mixed.get("/v1/models/copy/text/svg").text
    assert mixed.get("/v1/models/copy/text/json").json()


def test_a_model_file_gets_a_name_from_the_server(mixed):
    fitted(mixed, *MODELS[6])
    file = mixed.get("/v1/models/m/file").content
    answer = mixed.post("/v1/models", content=file)
    name = answer.headers["location"].rsplit("/", 1)[1]
    assert answer.status_code == 201 and answer.json()["name"] == name and name.startswith("~")
    assert mixed.get(f"/v1/models/{name}/file").content == file
    assert name not in mixed.get("/v1/models").text
    assert mixed.post("/v1/models", content=b"rubbish").status_code == 422


@pytest.mark.parametrize("body", [b"", b"rubbish", b"\0" * 4096])
def test_what_is_no_model_file_is_refused(body, client):
    answer = client.put("/v1/models/m", content=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-data")
    assert client.get("/v1/models/m").status_code == 404
    assert list(client.app.state.store.spool.iterdir()) == []


def test_every_cut_of_a_model_file_is_refused(mixed):
    fitted(mixed, *MODELS[6])
    file = mixed.get("/v1/models/m/file").content
    for at in range(0, len(file), max(len(file) // 20, 1)):
        assert mixed.put("/v1/models/cut", content=file[:at]).status_code == 422, at


def test_parts_of_a_model_are_rows(mixed):
    fitted(mixed, *MODELS[4])
    parts = mixed.get("/v1/models/m").json()["tables"]
    assert "components" in parts
    for part in parts:
        assert mixed.get(f"/v1/models/m/tables/{part}").json()["columns"]
    assert mixed.get("/v1/models/m/tables/nothing").status_code == 404


@pytest.mark.parametrize("query, code", [
    ("kind=clasify&table=mixed", "invalid-argument"), ("kind=classify&table=mixed&n_neighbours=3", "invalid-argument"),
    ("kind=classify&table=mixed", "invalid-argument"), ("kind=classify&table=mixed&target=clas", "no-column"),
    ("kind=classify&table=mixed&target=class&metric=gower&n_neighbors=1&n_neighbors=2", "invalid-argument"),
    ("kind=classify&table=mixed&separator=,", "invalid-argument"), ("kind=classify&table=mixed&target=class&n_neighbors=0",
                                                                    "invalid-argument"),
    ("kind=classify&table=mixed&target=class&id=class", "invalid-argument"), ("table=mixed", "invalid-parameter"),
])
def test_a_fit_that_cannot_be_meant_is_refused_in_words(query, code, mixed):
    answer = mixed.post(f"/v1/models/m/fit?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, code), answer.text
    assert answer.json()["detail"]
    assert mixed.get("/v1/models/m").status_code == 404


def test_a_misspelt_option_is_answered_with_the_right_one(mixed):
    answer = mixed.post("/v1/models/m/fit?kind=classify&table=mixed&target=class&n_neighbours=3")
    assert "did you mean 'n_neighbors'" in answer.json()["detail"]
    assert answer.json()["option"] == "n_neighbours"


def test_a_stored_target_of_numbers_becomes_classes_where_that_is_asked(mixed):
    wrong = mixed.post("/v1/models/m/fit?kind=classify&table=mixed&target=size&ignore=id&metric=gower")
    assert wrong.status_code == 400
    right = mixed.post("/v1/models/m/fit?kind=classify&table=mixed&target=size&ignore=id&metric=gower&target_is_nominal=true")
    assert right.status_code == 201 and right.json()["classes"] == ["1", "2", "3", "4", "5"]


def test_pca_takes_its_own_option_called_nominal(mixed):
    answer = mixed.post("/v1/models/m/fit?kind=pca&table=mixed&ignore=id,class&missing=mean&nominal=onehot")
    assert answer.status_code in (201, 400), answer.text
    assert "no column" not in answer.text


def test_an_anonymous_model_has_a_location_and_is_in_no_list(mixed):
    answer = mixed.post("/v1/models/fit?kind=tree&table=mixed&target=class&missing=value")
    assert answer.status_code == 201, answer.text
    place = answer.headers["location"]
    assert mixed.get(place).json()["kind"] == answer.json()["kind"]
    assert mixed.get("/v1/models").json()["models"] == []
    assert mixed.delete(place).status_code == 204
    assert mixed.get(place).status_code == 404


def test_a_model_survives_a_restart(mixed, settings, log_text):
    from stope.serve import create_app
    from stope.serve.frame.logs import Log

    from .in_process import InProcess

    fitted(mixed, *MODELS[1])
    before = mixed.post("/v1/models/m/predict?table=mixed&proba=true", headers=ARROW).content
    etag = mixed.get("/v1/models/m").headers["etag"]
    with InProcess(create_app(settings, Log(log_text))) as again:
        assert again.get("/v1/models/m").headers["etag"] == etag
        after = again.post("/v1/models/m/predict?table=mixed&proba=true", headers=ARROW).content
    assert facts_of_arrow(after) == facts_of_arrow(before)
