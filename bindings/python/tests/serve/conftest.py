"""Fixtures: a server in this process, and real ones in processes of their own."""

import io

import pytest


@pytest.fixture
def settings(tmp_path):
    """Settings of a server on the loopback that wants no tokens."""
    from stope.serve import Settings

    return Settings(state=tmp_path / "state", tokens=False)


@pytest.fixture
def log_text():
    """What the server of this process has logged."""
    return io.StringIO()


@pytest.fixture
def app(settings, log_text):
    """The application of ``settings``."""
    from stope.serve import create_app
    from stope.serve.frame.logs import Log

    return create_app(settings, Log(log_text))


@pytest.fixture
def client(app):
    """A client of the application in this process."""
    from .in_process import InProcess

    with InProcess(app) as client:
        yield client


@pytest.fixture
def start_server(tmp_path):
    """Start a real server: ``start_server(*flags, tokens=False)`` returns a ``ServerProcess``; it is killed at the end."""
    from .server_process import ServerProcess

    servers = []

    def start(*flags, tokens=False, state=None):
        servers.append(ServerProcess(state or tmp_path / f"state-{len(servers)}", *flags, tokens=tokens))
        return servers[-1]

    yield start
    for server in servers:
        server.kill()
