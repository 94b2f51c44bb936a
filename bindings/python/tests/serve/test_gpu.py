"""A server whose jobs run on a GPU answers with the bytes of one that computes on the CPU, and says where it computed."""

import http.client
import json
import os
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")

from stope import _core  # noqa: E402
from stope.errors import StopeError  # noqa: E402

from .api_cases import CSV, JOBS, MIXED, MODELS  # noqa: E402


def has_gpu():
    try:
        _core.require_backend(_core.Run(0, 0, "cuda"))
    except StopeError:
        return False
    return True


pytestmark = pytest.mark.skipif(not has_gpu(), reason="needs an NVIDIA GPU and the CUDA plug-in")


class Server:
    """Requests to one server, and its answers as (status, headers, body)."""

    def __init__(self, process):
        self.process = process

    def __call__(self, method, path, body=None, /, **query):
        connection = http.client.HTTPConnection(self.process.host, self.process.port, timeout=120)
        try:
            connection.request(method, path + ("?" + urlencode(query) if query else ""), body,
                               CSV if body is not None else {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


@pytest.fixture
def servers(start_server):
    """One server on the CPU and one on the GPU, each with the same table."""
    both = [Server(start_server("--device", device)) for device in ("cpu", "cuda")]
    for server in both:
        assert server("PUT", "/v1/tables/mixed", MIXED)[0] == 201
    return both


def numbers_of_models():
    generator = "x,y,class\n"
    return generator + "".join(f"{i * 37 % 1000},{i * i % 911},{'ab'[i * 7 % 13 > 6]}\n" for i in range(20_000))


def test_a_server_tells_that_it_has_a_gpu(servers):
    told = json.loads(servers[1]("GET", "/v1")[2])
    assert told["device"] == "cuda" and told["devices"] == ["cpu", "cuda"]


def test_every_kind_of_model_predicts_on_a_gpu_what_it_predicts_on_the_cpu(servers):
    for kind, roles, options in MODELS:
        answers = []
        for server in servers:
            status, _, text = server("POST", "/v1/models/m/fit", kind=kind, table="mixed", **roles, **options)
            assert status in (200, 201), text
            answers.append(server("POST", "/v1/models/m/predict", table="mixed"))
        (status, _, on_cpu), (_, _, on_gpu) = answers
        assert status == 200 and on_cpu == on_gpu, (kind, options)


def test_every_job_on_a_gpu_has_the_cpus_bytes(servers):
    for job, roles, options in JOBS:
        (status, _, on_cpu), (_, _, on_gpu) = (
            server("POST", f"/v1/compute/{job}", table="mixed", **roles, **options) for server in servers)
        assert status == 200 and on_cpu == on_gpu, (job, options)


def test_answers_say_that_the_gpu_has_computed(servers):
    table = numbers_of_models()
    bodies = []
    for server, word in zip(servers, ("cpu", "cuda")):
        assert server("PUT", "/v1/tables/large", table)[0] == 201
        status, _, text = server("POST", "/v1/models/knn/fit", kind="neighbors", table="large", target="class")
        assert status in (200, 201), text
        status, headers, body = server("POST", "/v1/models/knn/predict", table="large")
        assert status == 200, body
        assert ("cuda" in headers["Stope-Notes"].lower()) == (word == "cuda"), headers["Stope-Notes"]
        bodies.append(body)
    assert bodies[0] == bodies[1]


def test_requests_that_come_at_once_share_the_gpu(servers):
    table = numbers_of_models()
    for server in servers:
        assert server("PUT", "/v1/tables/large", table)[0] == 201
        assert server("POST", "/v1/models/knn/fit", kind="neighbors", table="large", target="class")[0] in (200, 201)
    wanted = servers[0]("POST", "/v1/models/knn/predict", table="large")[2]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: servers[1]("POST", "/v1/models/knn/predict", table="large"), range(24)))
    assert {status for status, _, _ in answers} <= {200, 503}
    assert {body for status, _, body in answers if status == 200} == {wanted}
    assert servers[1].process.stop() == 0


def test_a_gpu_that_is_not_there_is_refused_before_anything_listens(start_server):
    with pytest.raises(AssertionError, match="there is no GPU 63"):
        start_server("--device", "cuda:63")


def test_a_server_that_sees_no_gpu_says_so(start_server, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
    told = json.loads(Server(start_server())("GET", "/v1")[2])
    assert told["devices"] == ["cpu"]
