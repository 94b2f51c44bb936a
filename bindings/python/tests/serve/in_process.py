"""The application without a socket: httpx's ASGI transport, called from plain functions."""

import httpx
from anyio.from_thread import start_blocking_portal


class InProcess:
    """A client of an ASGI application, which lives from ``with`` to the block's end.

    Requests take the arguments of httpx. An exception that leaves the application is an empty answer of status 500.
    """

    def __init__(self, app, base_url="http://127.0.0.1:7400"):
        self.app, self._base_url = app, base_url

    def __enter__(self):
        self._loop = start_blocking_portal()
        self._portal = self._loop.__enter__()
        self._life = self._portal.wrap_async_context_manager(self.app.router.lifespan_context(self.app))
        self._life.__enter__()
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url=self._base_url, timeout=120)
        return self

    def __exit__(self, *_):
        self._portal.call(self._client.aclose)
        self._life.__exit__(None, None, None)
        self._loop.__exit__(None, None, None)

    def request(self, method, path, **options):
        return self._portal.call(lambda: self._client.request(method, path, **options))

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def put(self, path, **options):
        return self.request("PUT", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)

    def delete(self, path, **options):
        return self.request("DELETE", path, **options)
