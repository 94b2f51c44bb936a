"""What Prometheus gets."""

import pytest

pytest.importorskip("fastapi", reason="SKIP: fastapi is not installed")
parser = pytest.importorskip("prometheus_client.parser", reason="SKIP: prometheus-client is not installed")


def samples_of(answer):
    """All samples by name and labels."""
    families = parser.text_string_to_metric_families(answer.text)
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for family in families for sample in family.samples}


def test_requests_are_counted_by_route_and_status(client):
    for path in ("/health", "/health", "/nothing", "/nothing-else"):
        client.get(path)
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = samples_of(answer)
    labels = (("method", "GET"), ("route", "/health"), ("status", "200"))
    assert samples["stope_requests_total", labels] == 2
    assert samples["stope_requests_total", (("method", "GET"), ("route", "none"), ("status", "404"))] == 2
    assert samples["stope_request_seconds_count", (("route", "/health"),)] == 2
    assert samples["stope_requests_in_progress", ()] == 1


def test_addresses_and_methods_of_strangers_make_no_new_series(client):
    def number():
        return len([name for name, _ in samples_of(client.get("/metrics")) if name == "stope_requests_total"])

    client.request("M", "/x")
    number()
    before = number()
    for i in range(20):
        client.request(f"M{i}", f"/x{i}?y{i}")
    assert number() == before


def test_the_server_tells_of_its_memory_build_jobs_and_state(client):
    import stope

    samples = samples_of(client.get("/metrics"))
    names = {name for name, _ in samples}
    build = next(dict(labels) for name, labels in samples if name == "stope_build_info")
    assert build["version"] == stope.__version__
    assert samples["process_resident_memory_bytes", ()] > 1 << 20
    assert {"stope_rows_predicted_total", "stope_received_bytes_total", "stope_sent_bytes_total"} <= names
    assert samples["stope_jobs", (("state", "running"),)] == 0 and samples["stope_jobs", (("state", "waiting"),)] == 0
    assert samples["stope_jobs_ended_total", (("state", "cancelled"),)] == 0
    assert samples["stope_tables", ()] == 0 and samples["stope_models", ()] == 0
