"""The server against its own description: requests that schemathesis makes of it, right ones and wrong ones.

``STOPE_EFFORT=1000 pytest test_openapi.py`` makes ten times as many.
"""

import os

import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")
schemathesis = pytest.importorskip("schemathesis", reason="SKIP: schemathesis is not installed")

from hypothesis import HealthCheck, settings  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance, negative_data_rejection, response_schema_conformance, status_code_conformance,
)

from .server_process import ServerProcess  # noqa: E402

_EXAMPLES = max(6 * int(os.environ.get("STOPE_EFFORT", "100")) // 100, 1)
_BINARY = ["application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file",
           "application/vnd.apache.parquet", "application/vnd.stope.rows", "application/octet-stream", "text/csv"]
# A 507 or a 503 is an answer that the description has. Names that nobody has given are no negative data.
_CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# What is negative for OpenAPI's grammar is text like any other for options that the engine reads as text.
_STRICT = {("get", "/v1/tables/{name}/rows"), ("get", "/v1/tables/{name}"), ("get", "/v1/jobs/{id}")}


@schemathesis.serializer(*_BINARY)
def as_bytes(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def described_api(tmp_path_factory):
    import httpx

    server = ServerProcess(tmp_path_factory.mktemp("openapi") / "state", "--rows", "100000")
    rows = "a,b,y\n" + "".join(f"{i % 7},{'xyz'[i % 3]},{'pq'[i % 2]}\n" for i in range(50))
    with httpx.Client(base_url=server.url, timeout=60) as client:
        headers = {"Content-Type": "text/csv"}
        assert client.put("/v1/tables/iris?target=y", content=rows, headers=headers).status_code == 201
        assert client.post("/v1/models/iris-3nn/fit?kind=classify&table=iris&metric=gower").status_code == 201
        description = client.get("/openapi.json").json()
    for path in description["paths"].values():  # this server wants no tokens: requests without one are right
        for operation in path.values():
            operation.pop("security", None)
    api = schemathesis.openapi.from_dict(description)
    api.config.update(base_url=server.url)
    yield api
    assert server.stop() == 0
    assert not [line for line in server.log() if line["event"] == "failure"]


api = schemathesis.pytest.from_fixture("described_api")


@api.parametrize()
@settings(max_examples=_EXAMPLES, deadline=None, derandomize=_EXAMPLES < 100, suppress_health_check=list(HealthCheck))
def test_every_operation_answers_as_its_description_says(case):
    checks = _CHECKS + ([negative_data_rejection] if (case.method.lower(), case.operation.path) in _STRICT else [])
    case.call_and_validate(checks=checks)
