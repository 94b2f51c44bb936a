"""Uses a stope server with httpx: keeps a table, fits a model and predicts. Needs nothing of stope.

STOPE_SERVER is the address, such as https://gpu-box:7400 or http://127.0.0.1:7400; STOPE_TOKEN is a token. STOPE_CA, if
set, is a file with the certificate that is to be trusted, for a server whose certificate is its own.
"""

import os
import ssl

import httpx

TRAIN = [[5.1, 1.4, "setosa"], [4.9, 1.5, "setosa"], [6.4, 4.5, "versicolor"], [6.3, 6.0, "virginica"]]
QUERIES = [[6.0, 4.4], [5.0, 1.4]]


def checked(answer):
    """Return the answer, or raise what the server says."""
    if answer.is_error:
        problem = answer.json() if "problem+json" in answer.headers["Content-Type"] else {}
        raise RuntimeError(problem.get("detail", f"status {answer.status_code}"))
    return answer


def main():
    trusted = os.environ.get("STOPE_CA")
    with httpx.Client(
        base_url=os.environ.get("STOPE_SERVER", "http://127.0.0.1:7400"),
        headers={"Authorization": "Bearer " + os.environ.get("STOPE_TOKEN", "")},
        verify=ssl.create_default_context(cafile=trusted) if trusted else True,
        timeout=httpx.Timeout(60, read=None),  # a job may take long
    ) as server:
        table = checked(server.post(
            "/v1/tables", params={"target": "species"}, json={"columns": ["sepal", "petal", "species"], "rows": TRAIN}
        )).headers["Location"]
        model = checked(server.post(
            "/v1/models/fit", params={"kind": "classify", "n_neighbors": 1, "table": table.rsplit("/", 1)[1]}
        )).headers["Location"]
        answer = checked(server.post(
            model + "/predict", json={"columns": ["sepal", "petal"], "rows": QUERIES},
            headers={"Accept": "application/json"},
        )).json()
        print(",".join(column["name"] for column in answer["columns"]))
        for row in answer["rows"]:
            print(*row, sep=",")
        checked(server.delete(model))
        checked(server.delete(table))


main()
