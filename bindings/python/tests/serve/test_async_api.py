"""Jobs over HTTP: later answers, progress, cancellation, limits, clients that vanish."""

import socket
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="SKIP: FastAPI is not installed")
httpx = pytest.importorskip("httpx", reason="SKIP: httpx is not installed")

from .api_cases import CSV, MIXED  # noqa: E402

LATER = {"Prefer": "respond-async"}
ID = "a-job-of-the-tests-0123456789"


def wait_for(look, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen")


@pytest.fixture
def mixed(client):
    assert client.put("/v1/tables/mixed", content=MIXED, headers=CSV).status_code == 201
    return client


def ended(client, place):
    return wait_for(lambda: (job := client.get(place).json())["state"] not in ("waiting", "running") and job)


def test_the_answer_of_a_job_waits_for_its_client(mixed):
    wanted = mixed.post("/v1/compute/stats?table=mixed").json()
    answer = mixed.post("/v1/compute/stats?table=mixed", headers=LATER)
    assert answer.status_code == 202
    place = answer.headers["location"]
    job = ended(mixed, place)
    assert (job["state"], job["what"], job["problem"]) == ("done", "stats", None)
    assert mixed.get(place + "/result").json() == wanted
    as_csv = mixed.get(place + "/result", headers={"Accept": "text/csv"})
    assert as_csv.headers["content-type"].startswith("text/csv")
    assert job["id"] in [one["id"] for one in mixed.get("/v1/jobs").json()["jobs"]]
    assert mixed.delete(place).status_code == 202
    assert mixed.get(place).status_code == 404


def test_a_model_is_fitted_and_a_table_predicted_later(mixed):
    query = "kind=classify&table=mixed&target=class&ignore=id&metric=gower"
    place = mixed.post(f"/v1/models/m/fit?{query}", headers=LATER).headers["location"]
    assert ended(mixed, place)["state"] == "done"
    result = mixed.get(place + "/result")
    assert result.status_code == 201 and result.json()["name"] == "m"
    wanted = mixed.post("/v1/models/m/predict?table=mixed").json()
    place = mixed.post("/v1/models/m/predict?table=mixed", headers=LATER).headers["location"]
    assert ended(mixed, place)["state"] == "done"
    assert mixed.get(place + "/result").json() == wanted


def test_a_job_that_fails_later_keeps_its_problem(mixed):
    place = mixed.post("/v1/models/m/fit?kind=classify&table=mixed", headers=LATER).headers["location"]
    job = ended(mixed, place)
    assert (job["state"], job["problem"]["code"]) == ("failed", "invalid-argument")
    answer = mixed.get(place + "/result")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-argument")


def test_a_client_may_name_its_job_once(mixed):
    first = mixed.post("/v1/compute/stats?table=mixed", headers={"Stope-Job": ID})
    assert first.headers["stope-job"] == ID
    assert mixed.get(f"/v1/jobs/{ID}").json()["state"] == "done"
    again = mixed.post("/v1/compute/stats?table=mixed", headers={"Stope-Job": ID})
    assert (again.status_code, again.json()["code"]) == (409, "job-exists")
    wrong = mixed.post("/v1/compute/stats?table=mixed", headers={"Stope-Job": "short"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid-job")
    assert mixed.get(f"/v1/jobs/{ID}/result").status_code == 404


def test_results_are_forgotten_when_nobody_asks(tmp_path, log_text):
    from stope.serve import Limits, Settings, create_app
    from stope.serve.frame.logs import Log

    from .in_process import InProcess

    settings = Settings(state=tmp_path / "state", tokens=False, limits=Limits(keep_seconds=0.3))
    with InProcess(create_app(settings, Log(log_text))) as client:
        place = client.post("/v1/compute/stats", content=MIXED, headers={**CSV, **LATER}).headers["location"]
        table = client.post("/v1/tables", content=MIXED, headers=CSV).headers["location"]
        named = client.put("/v1/tables/named", content=MIXED, headers=CSV).headers["location"]
        time.sleep(0.4)  # asking would be a use
        wait_for(lambda: client.get(place).status_code == 404 or time.sleep(0.5))
        wait_for(lambda: client.get(table).status_code == 404 or time.sleep(0.5))
        assert client.get(named).status_code == 200


# With a real server, whose jobs take long.


def long_rows(n_rows=40_000):
    import numpy as np

    rng = np.random.default_rng(1)
    columns = rng.normal(size=(n_rows, 12)).round(3)
    lines = [",".join([*map(str, row), "pq"[i % 2]]) for i, row in enumerate(columns.tolist())]
    return ",".join([f"x{i}" for i in range(12)] + ["y"]) + "\n" + "\n".join(lines) + "\n"


# All pairs by a measure whose formula is long: minutes on a few cores, so that nothing here waits for its end.
_LONG_JOB = "/v1/compute/evaluate?table=long&metric=canberra&n_neighbors=50&scheme=leave-one-out"


@pytest.fixture(scope="module")
def long_body():
    return long_rows()


@pytest.fixture
def serve(start_server, long_body):
    def started(*flags):
        server = start_server(*flags)
        server.client = httpx.Client(base_url=server.url, timeout=60)
        answer = server.client.put("/v1/tables/long?target=y", content=long_body, headers=CSV)
        assert answer.status_code == 201, answer.text
        return server

    return started


def named(number):
    return f"long-job-number-{number:010d}"


def begin(server, number):
    answer = server.client.post(_LONG_JOB, headers={**LATER, "Stope-Job": named(number)})
    assert answer.status_code == 202, answer.text
    return f"/v1/jobs/{named(number)}"


def state_of(server, place):
    return server.client.get(place).json()["state"]


def test_progress_is_seen_and_a_job_is_cancelled_from_another_connection(serve):
    server = serve("--jobs", "1")
    place = begin(server, 1)
    job = wait_for(lambda: (job := server.client.get(place).json())["done"] > 0 and job)
    assert job["state"] == "running" and job["phase"] and job["seconds"] > 0
    assert server.client.get(place + "/result").json()["code"] == "not-done"
    assert server.client.delete(place).status_code == 202
    wait_for(lambda: state_of(server, place) == "cancelled")
    answer = server.client.get(place + "/result")
    assert (answer.status_code, answer.json()["code"]) == (409, "cancelled")
    assert server.client.post("/v1/compute/stats?table=long").status_code == 200  # the place is free again


def test_jobs_wait_in_turn_and_one_too_many_is_refused(serve):
    server = serve("--jobs", "1", "--waiting", "2")
    places = [begin(server, 1)]
    wait_for(lambda: state_of(server, places[0]) == "running")
    places += [begin(server, number) for number in (2, 3)]
    wait_for(lambda: [state_of(server, place) for place in places] == ["running", "waiting", "waiting"])
    refused = server.client.post("/v1/compute/stats?table=long")
    assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (503, "queue-full", "1")
    later = server.client.post("/v1/compute/stats?table=long", headers=LATER)
    assert (later.status_code, later.json()["code"]) == (503, "queue-full")
    server.client.delete(places[1])  # it leaves the queue without having run
    wait_for(lambda: state_of(server, places[1]) == "cancelled")
    server.client.delete(places[0])
    wait_for(lambda: state_of(server, places[2]) == "running")
    server.client.delete(places[2])
    assert server.client.post("/v1/compute/stats?table=long").status_code == 200


def test_a_job_that_takes_too_long_is_ended(serve):
    server = serve("--time", "0.5")
    answer = server.client.post(_LONG_JOB)
    assert (answer.status_code, answer.json()["code"]) == (503, "time-limit")
    assert answer.headers["stope-job"] == answer.json()["job"]
    job = server.client.get("/v1/jobs/" + answer.json()["job"]).json()
    assert (job["state"], job["problem"]["code"]) == ("failed", "time-limit")


def test_a_job_that_needs_more_memory_than_it_may_have_is_refused(serve):
    server = serve("--memory", "1MB")
    answer = server.client.post("/v1/compute/pairwise?table=long&metric=euclidean")
    assert (answer.status_code, answer.json()["code"]) == (507, "out-of-memory")
    assert server.client.get("/health").status_code == 200


def send_and_vanish(server, path, headers, body=b""):
    """Send a request, and close the connection before the answer comes."""
    lines = [f"POST {path} HTTP/1.1", f"Host: {server.host}:{server.port}", f"Content-Length: {len(body)}", *headers]
    connection = socket.create_connection((server.host, server.port))
    connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    return connection


@pytest.mark.parametrize("behind", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_a_job_whose_client_vanishes_is_cancelled(serve, behind):
    """Also where another request waits behind the job's."""
    server = serve("--jobs", "1")
    place = f"/v1/jobs/{named(7)}"
    connection = send_and_vanish(server, _LONG_JOB, [f"Stope-Job: {named(7)}"])
    connection.sendall(behind)
    wait_for(lambda: server.client.get(place).status_code == 200 and state_of(server, place) == "running")
    connection.close()
    wait_for(lambda: state_of(server, place) == "cancelled")
    assert server.client.post("/v1/compute/stats?table=long").status_code == 200


def test_a_job_whose_client_vanishes_while_it_waits_is_cancelled(serve):
    server = serve("--jobs", "1")
    first = begin(server, 1)
    wait_for(lambda: state_of(server, first) == "running")
    place = f"/v1/jobs/{named(2)}"
    connection = send_and_vanish(server, _LONG_JOB, [f"Stope-Job: {named(2)}"])
    wait_for(lambda: server.client.get(place).status_code == 200 and state_of(server, place) == "waiting")
    connection.close()
    wait_for(lambda: state_of(server, place) == "cancelled")
    assert state_of(server, first) == "running"
    server.client.delete(first)


def test_a_streamed_answer_whose_client_vanishes_stops_computing(serve):
    server = serve("--jobs", "1")
    fit = server.client.post("/v1/models/m/fit?kind=neighbors&table=long&metric=canberra&n_neighbors=50")
    assert fit.status_code == 201, fit.text
    place = f"/v1/jobs/{named(3)}"
    connection = send_and_vanish(server, "/v1/models/m/predict?table=long", [f"Stope-Job: {named(3)}"])
    wait_for(lambda: server.client.get(place).status_code == 200 and state_of(server, place) == "running")
    connection.close()
    wait_for(lambda: state_of(server, place) == "cancelled")


def test_a_server_that_stops_tells_the_client_of_a_job_that_outlasts_the_grace_time(serve):
    server = serve("--grace", "0.2s")
    answers = []
    asking = threading.Thread(target=lambda: answers.append(server.client.post(_LONG_JOB)))
    asking.start()
    with httpx.Client(base_url=server.url, timeout=60) as other:
        wait_for(lambda: any(job["state"] == "running" for job in other.get("/v1/jobs").json()["jobs"]))
    assert server.stop() == 0
    asking.join()
    assert (answers[0].status_code, answers[0].json()["code"]) == (503, "stopping")


def test_two_hundred_clients_at_once_get_their_own_answers(serve):
    server = serve("--jobs", "2", "--waiting", "256")
    server.client.put("/v1/tables/small", content="x,y\n" + "".join(f"{i},{i}\n" for i in range(200)), headers=CSV)
    assert server.client.post("/v1/models/m/fit?kind=regress&table=small&target=y&n_neighbors=1").status_code == 201
    answers, begin_all = {}, threading.Barrier(200)

    def ask(number):
        with httpx.Client(base_url=server.url, timeout=60) as client:
            begin_all.wait()
            answer = client.post("/v1/models/m/predict", json={"columns": ["x"], "rows": [[number]]})
            answers[number] = answer.json()["rows"] if answer.status_code == 200 else answer.text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: [[float(number)]] for number in range(200)}


def test_jobs_of_others_are_seen_by_an_admin_alone(start_server):
    import subprocess

    from .server_process import serve_command

    server = start_server(tokens=True)

    def token(name, right):
        words = serve_command("token", "add", name, "--right", right, "--state", server.state)
        made = subprocess.run(words, capture_output=True, text=True, check=True)
        secret = next(word for word in made.stdout.split() if word.startswith("stope_"))
        return httpx.Client(base_url=server.url, timeout=60, headers={"Authorization": f"Bearer {secret}"})

    eve, nobody = token("eve", "read"), httpx.Client(base_url=server.url, timeout=60)
    for path in ("/v1/models/m/predict", "/v1/models/m/neighbors?n_neighbors=1", "/v1/compute/stats", "/v1/models/fit?kind=pca"):
        assert (nobody.post(path).status_code, eve.post(path).status_code) == (401, 403), path
    ann, bob, root = token("ann", "compute"), token("bob", "compute"), token("root", "admin")
    place = ann.post("/v1/compute/stats", content=MIXED, headers={**CSV, **LATER}).headers["location"]
    assert ended(ann, place)["caller"] == "ann"
    assert bob.get(place).status_code == bob.get(place + "/result").status_code == bob.delete(place).status_code == 404
    assert bob.get("/v1/jobs").json() == {"jobs": []}
    assert [job["caller"] for job in root.get("/v1/jobs").json()["jobs"]] == ["ann"]
    assert root.get(place + "/result").status_code == 200
