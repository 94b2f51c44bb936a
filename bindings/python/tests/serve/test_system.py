"""What the server says of itself, and the headers that every answer has."""

import json
import re

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")


def test_health_is_ok(client):
    answer = client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_abilities_are_those_of_the_engine(client):
    from stope import _core

    told = client.get("/v1").json()
    assert told["version"] == _core.__version__ and told["caller"] == {"name": "anybody", "right": "admin"}
    assert list(told["kinds"]) == list(_core.model_kinds()) and list(told["jobs"]) == list(_core.job_names())
    assert "n_neighbors" in [option["name"] for option in told["kinds"]["classify"]]
    assert "text/csv" in told["formats"]["read"] and told["formats"]["answered"][0] == "application/json"
    assert "cpu" in told["devices"] and told["limits"]["jobs"] == 2


def test_every_option_of_every_job_is_described(client):
    told = client.get("/v1").json()
    for group in ("kinds", "jobs", "options"):
        for name, options in told[group].items():
            for option in options:
                assert option["name"] and option["type"] and option["help"], (name, option)


def test_measures_are_all_of_them(client):
    from stope import _core

    told = client.get("/v1/measures").json()
    assert [measure["name"] for measure in told] == [measure["name"] for measure in _core.metrics()]
    minkowski = next(measure for measure in told if measure["name"] == "minkowski")
    assert minkowski["params"] == ["p"]
    assert next(measure for measure in told if measure["name"] == "manhattan")["aliases"] == ["cityblock", "l1"]


@pytest.mark.parametrize("path, status", [("/health", 200), ("/v1", 200), ("/nothing", 404), ("/v1/tables/x", 404), ("/openapi.json", 200)])
def test_every_answer_has_the_security_headers(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert re.fullmatch("[0-9a-f]{16}", answer.headers["x-request-id"])


def test_refused_requests_have_the_security_headers(client):
    answer = client.post("/v1/tables/x", headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403 and "content-security-policy" in answer.headers


def test_the_description_names_every_problem_and_the_token(client):
    description = client.get("/openapi.json").json()
    assert description["openapi"].startswith("3.1") and description["info"]["title"] == "stope-serve"
    assert description["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for name, response in description["components"]["responses"].items():
        assert list(response["content"]) == ["application/problem+json"], name
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"] and operation["responses"]["4XX"] and operation["responses"]["5XX"], (method, path)
            assert "422" not in operation["responses"]
            assert (path == "/health") == (not operation.get("security"))


def test_references_of_the_description_exist(client):
    text = client.get("/openapi.json").text
    description = json.loads(text)
    for reference in set(re.findall(r'"\$ref": ?"#/([^"]+)"', text)):
        place = description
        for part in reference.split("/"):
            place = place[part]


def test_a_problem_is_what_its_schema_says(client):
    jsonschema = pytest.importorskip("jsonschema", reason="SKIP: jsonschema is not installed")
    schema = client.get("/openapi.json").json()["components"]["schemas"]["Problem"]
    for path in ("/nothing", "/v1/tables/x", "/v1/jobs/x"):
        jsonschema.validate(client.get(path).json(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"status": 404}, schema)


def test_the_page_of_the_api_comes_from_here_alone(client):
    pytest.importorskip("fastapi_offline", reason="SKIP: fastapi-offline is not installed")
    page = client.get("/docs")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    files = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(files) == 4
    for name in files:
        if name != "data:,":
            assert "//" not in name and client.get("/" + name).status_code == 200, name
    assert "<script>" not in page.text and "style=" not in page.text
    assert client.get("/docs/start.js").headers["content-type"].startswith("text/javascript")


def test_the_page_of_the_api_knows_this_version_of_openapi(client):
    """Swagger UI before 5 shows nothing of OpenAPI 3.1."""
    pytest.importorskip("fastapi_offline", reason="SKIP: fastapi-offline is not installed")
    script = client.get("/docs/swagger-ui-bundle.js").text
    assert re.search(r'PACKAGE_VERSION:"5\.', script)
