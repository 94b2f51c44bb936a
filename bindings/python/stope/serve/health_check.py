"""Asks a running server whether it takes requests, for those who watch it: containers, load balancers, people."""

import http.client
import ssl

__all__ = ["is_healthy"]

_SECONDS = 5
_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # a server at every address is also at the loopback's


def is_healthy(settings) -> bool:
    """Whether the server with these settings, on this machine, answers ``GET /health`` with 200."""
    host = _HERE.get(settings.host, settings.host)
    if settings.certificate is None:
        connection = http.client.HTTPConnection(host, settings.port, timeout=_SECONDS)
    else:
        # The certificate is for the name that clients use, not for the loopback. Nothing secret is sent.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, settings.port, timeout=_SECONDS, context=context)
    try:
        connection.request("GET", "/health", headers={"Host": "localhost"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
