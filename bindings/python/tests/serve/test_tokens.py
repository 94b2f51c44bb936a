"""Who may ask, and for what."""

import dataclasses
import io
import json
import multiprocessing
import stat

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")

from fastapi import Depends  # noqa: E402
from stope.serve import create_app  # noqa: E402
from stope.serve import tokens as tokens_module  # noqa: E402
from stope.serve.frame.logs import Log  # noqa: E402
from stope.serve.tokens import RIGHTS, Caller, TokenFileError, Tokens, require  # noqa: E402

from .in_process import InProcess  # noqa: E402


@pytest.fixture
def guarded(settings, log_text, monkeypatch):
    """An application with tokens, one of each right, and a route for each right."""
    monkeypatch.setattr(tokens_module, "_WAIT_SECONDS", 0.01)
    app = create_app(dataclasses.replace(settings, tokens=True), Log(log_text))
    for right in RIGHTS:
        def who(caller: Caller = Depends(require(right))):
            return {"name": caller.name, "right": caller.right}
        app.add_api_route(f"/test/{right}", who)
    app.secrets = {right: app.state.tokens.add(f"{right}er", right) for right in RIGHTS}
    with InProcess(app) as app.client:
        yield app


def get(app, path, token=None):
    headers = {} if token is None else {"Authorization": f"Bearer {token}".encode()}
    return app.client.get(path, headers=headers)


@pytest.mark.parametrize("has", RIGHTS)
@pytest.mark.parametrize("needs", RIGHTS)
def test_a_right_includes_those_before_it(guarded, has, needs):
    answer = get(guarded, f"/test/{needs}", guarded.secrets[has])
    if RIGHTS.index(has) >= RIGHTS.index(needs):
        assert answer.json() == {"name": f"{has}er", "right": has}
    else:
        assert (answer.status_code, answer.json()["code"]) == (403, "no-right")


def test_a_request_without_a_token_is_told_what_to_send(guarded):
    answer = get(guarded, "/test/read")
    assert (answer.status_code, answer.json()["code"]) == (401, "no-token")
    assert answer.headers["www-authenticate"] == 'Bearer realm="stope"'
    assert answer.headers["content-type"] == "application/problem+json"


def test_every_kind_of_wrong_token_is_refused_alike(guarded):
    right = guarded.secrets["admin"]
    other = guarded.secrets["read"]
    flipped = right[:-2] + ("AA" if right[-2:] != "AA" else "BB")
    mixed = right[:19] + other[19:]  # the ID of one with the secret of another
    texts = set()
    for wrong in (flipped, mixed, "x", right + "x", right[:-1], "stope_000000000000_" + "A" * 43, "é", "Bearer " + right):
        answer = get(guarded, "/test/read", wrong)
        assert (answer.status_code, answer.json()["code"]) == (401, "wrong-token")
        texts.add(answer.text)
    assert len(texts) == 1


@pytest.mark.parametrize("header", ["Basic YTpi", "Bearer", "Bearer ", "bearer"])
def test_another_scheme_is_no_token(guarded, header):
    answer = guarded.client.get("/test/read", headers={"Authorization": header})
    assert answer.json()["code"] == "no-token"


def test_a_removed_token_is_refused_at_the_next_request(guarded):
    assert get(guarded, "/test/read", guarded.secrets["read"]).status_code == 200
    Tokens(guarded.state.settings.state / "tokens.json").remove("reader")  # as another process does
    assert get(guarded, "/test/read", guarded.secrets["read"]).status_code == 401
    assert get(guarded, "/test/read", guarded.secrets["admin"]).status_code == 200


def test_many_wrong_tokens_wait_and_right_ones_pass(guarded):
    guarded.state.tokens.waiting = 50
    answer = get(guarded, "/test/read", "wrong")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert get(guarded, "/test/read", guarded.secrets["read"]).status_code == 200


def test_a_wrong_token_waits_before_it_is_refused(guarded, monkeypatch):
    waited = []
    sleep = tokens_module.asyncio.sleep

    async def watched(seconds):
        waited.append((seconds, guarded.state.tokens.waiting))
        await sleep(0)

    monkeypatch.setattr(tokens_module.asyncio, "sleep", watched)
    get(guarded, "/test/read", "wrong")
    get(guarded, "/test/read", guarded.secrets["read"])
    assert [wait for wait in waited if wait[0] == 0.01] == [(0.01, 1)]  # the others are the jobs' sweeps
    assert guarded.state.tokens.waiting == 0


def test_the_file_has_no_secret_and_is_its_owners_alone(tmp_path):
    tokens = Tokens(tmp_path / "tokens.json")
    token = tokens.add("anna", "read")
    text = (tmp_path / "tokens.json").read_text()
    assert token.split("_")[2] not in text and json.loads(text)["tokens"][0]["name"] == "anna"
    assert stat.S_IMODE((tmp_path / "tokens.json").stat().st_mode) == 0o600
    assert len(token) == 62 and tokens.add("ben", "read")[:19] != token[:19]
    hashes = [entry["hash"] for entry in json.loads((tmp_path / "tokens.json").read_text())["tokens"]]
    assert len(set(hashes)) == 2


@pytest.mark.parametrize("name", ["", "a b", "a\n", "-a", "x" * 65, "ä", "../x"])
def test_a_name_that_logs_cannot_show_is_refused(tmp_path, name):
    with pytest.raises(TokenFileError, match="name"):
        Tokens(tmp_path / "tokens.json").add(name, "read")


def test_a_name_belongs_to_one_token(tmp_path):
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.add("anna", "read")
    with pytest.raises(TokenFileError, match="already"):
        tokens.add("anna", "admin")
    with pytest.raises(TokenFileError, match="no token 'ben'"):
        tokens.remove("ben")


def _add_some(path, number):
    for i in range(10):
        Tokens(path).add(f"t{number}-{i}", "read")


def test_processes_that_add_at_once_lose_nothing(tmp_path):
    path = tmp_path / "tokens.json"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_add_some, args=(path, number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert len(Tokens(path).entries()) == 30


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tokens": [{}]}', '{"tokens": [{"id":"a","name":"b","right":"root","salt":"","hash":"","created":""}]}'])
def test_a_damaged_file_lets_nobody_in(guarded, text):
    path = guarded.state.settings.state / "tokens.json"
    path.write_text(text)
    for token in (guarded.secrets["admin"], "wrong" * 3):
        assert get(guarded, "/test/read", token).status_code in (401, 500)
    assert get(guarded, "/test/read", guarded.secrets["admin"]).status_code == 500


def test_neither_right_nor_wrong_tokens_are_logged(guarded, log_text):
    wrong = "stope_0123456789ab_" + "w" * 43
    get(guarded, "/test/read", guarded.secrets["read"])
    get(guarded, f"/test/read?token={wrong}", wrong)
    lines = [json.loads(line) for line in log_text.getvalue().splitlines()]
    assert [line.get("caller") for line in lines] == ["reader", None]
    assert "w" * 43 not in log_text.getvalue()
    for secret in guarded.secrets.values():
        assert secret[19:] not in log_text.getvalue()


def test_health_needs_no_token_and_all_of_v1_does(guarded):
    assert get(guarded, "/health").status_code == 200
    open_paths = {"/health", "/openapi.json", "/docs", "/docs/{name}", "/", "/static/{name:path}"}
    for path, operations in guarded.openapi()["paths"].items():
        for method, operation in operations.items():
            if path not in open_paths and not path.startswith("/test"):
                assert operation.get("security"), f"{method} {path} needs no token"


def test_the_log_has_a_stream_of_its_own():
    stream = io.StringIO()
    Log(stream).write("x", a=None, b=1)
    assert set(json.loads(stream.getvalue())) == {"time", "event", "b"}
