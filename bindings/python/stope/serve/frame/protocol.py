"""Connections with limits: uvicorn's protocol, which waits for nobody for ever and holds no endless headers.

uvicorn has limits for an idle connection only. A client that sends a header a minute, reads an answer a byte a minute,
or never ends its header would keep its connection and our memory.
"""

import json
import socket

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ..problems import MEDIA_TYPE, Problem

__all__ = ["protocol_of"]

# A peer that lost its network is noticed after 60 + 4 x 15 seconds, so that its job does not run for nobody.
_KEEPALIVE = [("SO_KEEPALIVE", socket.SOL_SOCKET, 1), ("TCP_KEEPIDLE", socket.IPPROTO_TCP, 60),
              ("TCP_KEEPINTVL", socket.IPPROTO_TCP, 15), ("TCP_KEEPCNT", socket.IPPROTO_TCP, 4)]
# A client that has ended its side may still read, or be gone: TCP says the same of both. It gets an answer that comes
# within this time, and no job runs longer for nobody.
_LAST_ANSWER_SECONDS = 1.0


def protocol_of(limits, log):
    """Return the class of connections with these ``Limits``, for ``uvicorn.Config(http=...)``."""
    return type("Connection", (_Connection,), {"limits": limits, "log": log})


class _Connection(HttpToolsProtocol):
    limits = log = None

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._in_headers = True  # until a request's headers are complete
        self._silent_bytes = 0  # received since the parser last told of something
        self._told = False
        self._answered = None  # the request that is being answered; ``cycle`` is the last that has come
        self._headers_timer = None
        self._reading_timer = None
        self._ended = False  # the client sends nothing more
        self._last_answer_timer = None

    def connection_made(self, transport):
        super().connection_made(transport)
        # Up to the limit clients are served, and up to twice as many are told why not.
        if len(self.connections) > 2 * self.limits.connections:
            transport.abort()
            return
        peer = transport.get_extra_info("socket")
        if peer is not None and peer.family in (socket.AF_INET, socket.AF_INET6):
            for name, level, value in _KEEPALIVE:
                peer.setsockopt(level, getattr(socket, name), value)
        self._start_headers_timer()

    def connection_lost(self, exc):
        self._stop_timers()
        self._nobody_listens()
        super().connection_lost(exc)

    def eof_received(self):
        """Return whether the connection stays open for an answer. TLS has no half of a connection that could."""
        if self._being_answered() and not self.cycle.more_body and self.scheme == "http":
            if not self._ended:
                self._ended = True
                self._stop_headers_timer()
                self._last_answer_timer = self.loop.call_later(_LAST_ANSWER_SECONDS, self._answer_is_late)
            return True
        if self.cycle is not None and self.cycle.more_body or self._in_headers and self._silent_bytes:
            self._refuse(_INCOMPLETE)
        self._nobody_listens()
        return False

    def _being_answered(self):
        return self.cycle is not None and not self.cycle.response_complete

    def _answer_is_late(self):
        self._last_answer_timer = None
        self._nobody_listens()
        self.transport.close()

    def on_response_complete(self):
        super().on_response_complete()
        if self._ended and not self._being_answered():  # else the next of several requests has its turn
            self.transport.close()

    def _start_asgi_task(self, cycle, app):
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _nobody_listens(self):
        """Nothing more may be sent, and the job ends.

        The transport closes a turn of the loop before uvicorn hears of it, and then uvicorn tells the request that came
        last, which may wait behind the one that is being answered.
        """
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()

    def data_received(self, data):
        if self.transport.is_closing():
            return
        self._told = False
        super().data_received(data)
        if self._told:
            self._silent_bytes = 0
        else:
            self._silent_bytes += len(data)
            if self._silent_bytes > self.limits.header_bytes:
                self._refuse(_TOO_LONG)
                return
        if self._headers_timer is None and self._owes_us_more():
            self._start_headers_timer()

    def _owes_us_more(self):
        """Whether the client has begun a request's headers, or sends the rest of a body that nobody wants any more."""
        return self._in_headers or (self.cycle is not None and self.cycle.response_complete)

    # What the parser tells of.

    def on_header(self, name, value):
        super().on_header(name, value)
        if not self._in_headers:  # a trailer, which nothing here reads
            self.headers.pop()

    def on_headers_complete(self):
        self._told, self._in_headers = True, False
        self._stop_headers_timer()
        if sum(len(name) + len(value) for name, value in self.headers) + len(self.url) > self.limits.header_bytes:
            self.scope["stope.too_long"] = True
        if len(self.connections) > self.limits.connections:
            self.scope["stope.crowded"] = True
        super().on_headers_complete()

    def on_body(self, body):
        self._told = True
        super().on_body(body)

    def on_message_complete(self):
        self._told, self._in_headers = True, True
        self._stop_headers_timer()
        super().on_message_complete()

    # Who is too slow.

    def _start_headers_timer(self):
        self._headers_timer = self.loop.call_later(self.limits.header_seconds, self._headers_are_late)

    def _headers_are_late(self):
        self._headers_timer = None
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self._start_headers_timer()  # of a request behind the one that is being answered
        elif self._in_headers and self._silent_bytes:
            self._refuse(_TOO_SLOW)
        else:
            self.transport.abort()

    def _stop_headers_timer(self):
        if self._headers_timer is not None:
            self._headers_timer.cancel()
            self._headers_timer = None

    def pause_writing(self):
        super().pause_writing()
        if self._reading_timer is None:
            self._reading_timer = self.loop.call_later(self.limits.idle_seconds, self._nobody_reads)

    def resume_writing(self):
        self._stop_reading_timer()
        super().resume_writing()

    def _nobody_reads(self):
        self._reading_timer = None
        self.log.write("slow-reader", text="A client has read nothing for too long; its connection is cut.")
        self.transport.abort()

    def _stop_reading_timer(self):
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _stop_timers(self):
        self._stop_headers_timer()
        self._stop_reading_timer()
        if self._last_answer_timer is not None:
            self._last_answer_timer.cancel()
            self._last_answer_timer = None

    # What is refused without the application.

    def _unsupported_upgrade_warning(self):
        pass  # a client that offers HTTP/2 or a WebSocket is answered in HTTP/1.1, which is no event for the log

    def send_400_response(self, msg):
        self._refuse(_MALFORMED)

    def _refuse(self, problem):
        self.log.write("refused", status=problem.status, problem=problem.code)
        self._stop_timers()
        waits = self.cycle is self._answered and not self.cycle.response_started if self._being_answered() else True
        if waits:  # else an answer is on its way, and this would be in it
            body = json.dumps(problem.to_dict()).encode()
            head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[problem.status] + head.encode() + body)
        self._nobody_listens()
        self.transport.close()


_TOO_LONG = Problem(431, "headers-too-long", "The request's headers are too long.")
_TOO_SLOW = Problem(408, "slow-headers", "The request's headers came too slowly.")
_MALFORMED = Problem(400, "malformed-request", "This is no HTTP/1.1 request.")
_INCOMPLETE = Problem(400, "incomplete-request", "The connection ended before the request did.")
