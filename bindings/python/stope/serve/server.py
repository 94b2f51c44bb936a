"""A server process: one socket, one state folder, and an end that loses nothing."""

import asyncio
import contextlib
import fcntl
import functools
import os
import resource
import signal
import socket
import ssl
import time

import uvicorn

from .. import _core
from ..errors import StopeError
from .app import create_app
from .frame.logs import Log, take_over
from .frame.protocol import protocol_of
from .settings import Settings

__all__ = ["NO_TOKENS", "CannotStart", "context_of", "lock_state", "require_device", "run"]

NO_TOKENS = "There are no tokens yet: `stope-serve token add NAME --right compute` makes one."
_CANCEL_SECONDS = 5  # cancelled jobs end within half a second; uploads of silent clients do not
_ANSWER_SECONDS = 1  # then their clients are told
_ACCEPTED_AT_ONCE = 16


class CannotStart(Exception):
    """A server cannot start as it was told to; the text is one sentence that says why."""


def lock_state(folder) -> int:
    """Make the folder ours until the process ends, and return the file that holds the lock.

    The system releases the lock when the process ends, however it ends.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotStart(f"The state folder {folder} cannot be used: {error.strerror}.") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        number = os.read(file, 32).decode("ascii", "replace").strip()
        os.close(file)
        process = f" (process {number})" if number.isdigit() else ""
        raise CannotStart(f"Another server{process} uses the state folder {folder}; a folder has one server.") from None
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
    return file


class Server(uvicorn.Server):
    """Ends in two steps: no new work after the first signal, and an end at once after the second.

    Between them ``/health`` says 503 for whoever sends us requests. Running jobs get the grace time, then they are
    cancelled, so that their clients are told.
    """

    def __init__(self, config, state):
        super().__init__(config)
        self._state = state
        self._asked_at = None
        self._told = self._cancelled = False

    def handle_exit(self, sig, frame):
        if self._asked_at is not None:
            os._exit(128 + sig)  # files are written atomically, so nothing can be half
        self._asked_at = time.monotonic()
        self._state.stopping = True

    async def on_tick(self, counter):
        if await super().on_tick(counter):
            return True
        if self._asked_at is None:
            return False
        if not self._told:
            self._told = True
            self._state.log.write("stopping", grace_seconds=self._state.settings.grace_seconds)
        return self._may_end(time.monotonic() - self._asked_at)

    def _may_end(self, seconds):
        jobs = self._state.jobs.counts()
        is_computing = jobs["running"] + jobs["waiting"] > 0
        if self._state.requests_now == 0 and not is_computing:
            return True
        over = seconds - self._state.settings.grace_seconds
        if over < 0:
            return False
        if not self._cancelled:
            self._cancelled = True
            self._state.log.write("cancel", text="The grace time is over; running jobs are cancelled.")
            self._state.jobs.cancel_all()
        return over > (_CANCEL_SECONDS if is_computing else _ANSWER_SECONDS)

    async def startup(self, sockets=None):
        if self.config.ssl is not None:  # uvicorn leaves clients 60 seconds for a handshake, which no limit counts
            loop = asyncio.get_running_loop()
            seconds = self._state.settings.limits.header_seconds
            loop.create_server = functools.partial(loop.create_server, ssl_handshake_timeout=seconds)
        await super().startup(sockets)
        self._state.log.write("listening", address=_address_of(sockets[0], self.config.ssl is not None))

    def read_certificate_again(self, *_):
        """New connections have the certificate that is in the files now; a broken one leaves the old one in use."""
        try:
            context_of(self._state.settings)  # a damaged pair must not reach the context that is in use
            self.config.ssl.load_cert_chain(self._state.settings.certificate, self._state.settings.key)
            self._state.log.write("certificate", text="The certificate was read again.")
        except (OSError, ssl.SSLError, CannotStart) as error:
            self._state.log.failure(error, text="The certificate could not be read again; the old one stays.")


def context_of(settings):
    """Return the TLS context of a server, or None without a certificate."""
    if settings.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION  # a client's renegotiations cost us far more than the client
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(settings.certificate, settings.key, password=_no_password)
    except (OSError, ssl.SSLError) as error:
        raise CannotStart(f"The certificate or its key cannot be used: {error.strerror or error}.") from None
    return context


def _no_password():
    """Without this OpenSSL would ask at the terminal, for which a service would wait for ever."""
    raise CannotStart("The key is encrypted; a server needs one that is not.")


def require_device(settings) -> None:
    """Raise ``CannotStart`` where jobs could not run on the device."""
    try:
        _core.require_backend(_core.Run(0, 0, settings.device))
    except StopeError as error:
        raise CannotStart(f"No job could run: {error}.") from None


def _listen(settings):
    """Return one listening socket many times.

    uvloop accepts one connection of a socket in each turn of the loop. Among 64 busy clients a turn takes up to 45 ms, so
    that the last of 64 new ones would wait for seconds.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
        return [listener, *(listener.dup() for _ in range(_ACCEPTED_AT_ONCE - 1))]
    except OSError as error:
        text = os.strerror(error.errno) if error.errno and error.errno > 0 else "there is no such address"
        raise CannotStart(f"Nothing can listen at {settings.host}, port {settings.port}: {text}.") from None


def _address_of(listener, has_tls):
    host, port = listener.getsockname()[:2]
    host = f"[{host}]" if ":" in host else host
    return f"{'https' if has_tls else 'http'}://{host}:{port}/"


def _allow_connections(number):
    """Raises the limit on open files to what the connections, and the files behind them, need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * number + 1000
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):  # a sandbox may forbid it; then fewer are served at once
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def run(settings: Settings, log: Log = None) -> int:
    """Run a server until a signal ends it, and return the exit code.

    Raises
    ------
    CannotStart
        Another server has the state folder, nothing can listen at the address, or the certificate or device is no
        good.
    """
    log = log or Log()
    os.umask(0o077)
    lock_state(settings.state)  # it stays open until the process ends
    require_device(settings)
    context = context_of(settings)
    listeners = _listen(settings)
    _allow_connections(settings.limits.connections)
    os.environ.setdefault("TMPDIR", str(settings.state / "spool"))  # tables beyond a job's memory: not into a tmpfs
    app = create_app(settings, log)
    config = uvicorn.Config(
        app, host=settings.host, port=settings.port, http=protocol_of(settings.limits, log), ws="none", log_config=None, timeout_keep_alive=15,
        access_log=False, server_header=False, proxy_headers=False, lifespan="on", timeout_graceful_shutdown=1,
    )
    config.load()
    config.ssl = context
    take_over(log)
    server = Server(config, app.state)
    if context is not None:
        signal.signal(signal.SIGHUP, server.read_certificate_again)
    n_tokens = len(app.state.tokens.entries())
    hint = NO_TOKENS if settings.tokens and not n_tokens else None
    log.write("start", version=app.version, state=str(settings.state), tokens=n_tokens, hint=hint)
    server.run(sockets=listeners)
    log.write("end")
    return 0
