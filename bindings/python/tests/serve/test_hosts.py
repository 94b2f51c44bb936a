"""Requests that a browser sends for foreign pages."""

import dataclasses

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")


@pytest.mark.parametrize("host", ["127.0.0.1:7400", "localhost", "LOCALHOST:1", "[::1]:7400", "localhost.:7400"])
def test_names_of_the_loopback_are_served(client, host):
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:7400", "localhost@evil.example", "", "[::1", "10.0.0.1"])
def test_a_name_that_another_site_gave_this_machine_is_refused(client, host):
    answer = client.get("/health", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (403, "wrong-host")


def test_two_host_headers_are_refused(client):
    answer = client.get("/health", headers=[("Host", "localhost"), ("Host", "evil.example")])
    assert (answer.status_code, answer.json()["code"]) == (400, "host")


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:7401"},
    {"Origin": "http://[::1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_pages_of_other_sites_change_nothing(client, method, headers):
    answer = client.request(method, "/v1/tables/x", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "wrong-origin")


def test_the_own_page_and_programs_pass(client):
    for headers in ({"Origin": "http://127.0.0.1:7400"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}):
        assert client.post("/health", headers=headers).json()["code"] == "method-not-allowed"


def test_no_answer_lets_other_sites_read_it(client):
    for method in ("GET", "OPTIONS"):
        answer = client.request(method, "/health", headers={
            "Origin": "http://evil.example", "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization"})
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_proxy_names_itself_by_allow_host(settings, log_text):
    from stope.serve import create_app
    from stope.serve.frame.logs import Log

    from .in_process import InProcess

    app = create_app(dataclasses.replace(settings, hosts=("Mine.example",)), Log(log_text))
    with InProcess(app) as client:
        assert client.get("/health", headers={"Host": "mine.example"}).status_code == 200
        assert client.get("/health", headers={"Host": "evil.example"}).status_code == 403
        # With a token the proxy may have changed Host: a browser sends no token across sites without asking us.
        headers = {"Origin": "https://mine.example", "Authorization": "Bearer x"}
        assert client.post("/health", headers=headers).status_code == 405
