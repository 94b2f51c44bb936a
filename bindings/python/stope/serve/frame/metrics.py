"""What the server counts, in Prometheus' text format."""

import platform

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from ..._core import __version__

__all__ = ["MEDIA_TYPE", "Metrics"]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600)


class Metrics:
    """The counters of one server, in a registry of their own.

    Attributes
    ----------
    rows_predicted : prometheus_client.Counter
        Whoever predicts counts the rows here.
    """

    def __init__(self):
        self._registry = CollectorRegistry()
        self._requests = self._counter("stope_requests", "Requests that were answered.", ["method", "route", "status"])
        self._seconds = Histogram("stope_request_seconds", "Time from the headers to the end of the answer.", ["route"],
                                  buckets=_SECONDS, registry=self._registry)
        self._bytes_in = self._counter("stope_received_bytes", "Bytes of requests' bodies.").inc
        self._bytes_out = self._counter("stope_sent_bytes", "Bytes of answers' bodies.").inc
        self._aborted = self._counter("stope_aborted_requests", "Answers that ended before they were complete.").inc
        self.rows_predicted = self._counter("stope_rows_predicted", "Rows that models were applied to.")
        self._requests_now = Gauge("stope_requests_in_progress", "Requests that are being answered.",
                                   registry=self._registry)
        build = Gauge("stope_build_info", "1; the labels say what runs.", ["version", "python"], registry=self._registry)
        build.labels(__version__, platform.python_version()).set(1)
        ProcessCollector(registry=self._registry)
        self._children = {}  # looking labels up costs more than counting

    def _counter(self, name, text, labels=()):
        return Counter(name, text, labels, registry=self._registry)

    def watch(self, store, jobs) -> None:
        """Report ``store.counts()`` and ``jobs.counts()``, dicts of numbers, whenever somebody asks."""
        self._registry.register(_StateCollector(store, jobs))

    def request(self, method, route, status, seconds, bytes_in, bytes_out, complete) -> None:
        """Count one request."""
        key = (method, route, status)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = (self._requests.labels(*key).inc, self._seconds.labels(route).observe)
        child[0]()
        child[1](seconds)
        if bytes_in:
            self._bytes_in(bytes_in)
        if bytes_out:
            self._bytes_out(bytes_out)
        if not complete:
            self._aborted()

    def text(self, requests_now: int) -> bytes:
        """Return all of it in Prometheus' text format."""
        self._requests_now.set(requests_now)
        return generate_latest(self._registry)


class _StateCollector:
    """Numbers that others hold. They are read when Prometheus asks, so nobody needs to keep them up to date here."""

    def __init__(self, store, jobs):
        self._store, self._jobs = store, jobs

    def describe(self):
        return []  # nothing is asked for when the collector is registered

    def collect(self):
        jobs = self._jobs.counts()
        now = GaugeMetricFamily("stope_jobs", "Jobs that run or wait now.", labels=["state"])
        ended = CounterMetricFamily("stope_jobs_ended", "Jobs that have ended.", labels=["state"])
        for state, number in jobs.items():
            (now if state in ("running", "waiting") else ended).add_metric([state], number)
        yield now
        yield ended
        for name, number in self._store.counts().items():
            yield GaugeMetricFamily(f"stope_{name}", f"The store's {name}.", value=number)
