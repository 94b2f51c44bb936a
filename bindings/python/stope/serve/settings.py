"""What a server is told before it starts: its state folder, its address, its limits."""

import ipaddress
import pathlib
from dataclasses import dataclass, field
from typing import Optional

__all__ = ["Limits", "Settings", "is_loopback"]


@dataclass(frozen=True)
class Limits:
    """What one request, one job and the state folder may take. A request beyond a limit is refused in words."""

    body_bytes: int = 16 << 30  # before decompression and after it
    rows: int = 200_000_000
    columns: int = 1_000_000
    memory_bytes: int = 0  # of one job; 0: the engine's default, divided by `jobs`
    jobs: int = 2  # at once
    waiting: int = 256  # jobs that wait for a place; one more is answered by 503
    seconds: float = 3600  # of one job
    idle_seconds: float = 60  # a body that sends nothing for so long is given up
    keep_seconds: float = 86400  # anonymous tables and models, and results of jobs, since they were last used
    state_bytes: int = 0  # of the state folder; 0: only 5 % of the disk are kept free
    connections: int = 1000  # at once
    header_seconds: float = 20  # a request line with its headers must arrive within this time
    header_bytes: int = 128 << 10  # of a request line with its headers


@dataclass(frozen=True)
class Settings:
    """Everything that :func:`stope.serve.create_app` and ``stope-serve run`` want to know."""

    state: pathlib.Path
    host: str = "127.0.0.1"
    port: int = 7400
    certificate: Optional[pathlib.Path] = None
    key: Optional[pathlib.Path] = None
    tokens: bool = True  # False only on the loopback
    device: str = "auto"
    threads: int = 0
    limits: Limits = field(default_factory=Limits)
    grace_seconds: float = 10  # running jobs get this long when the server is told to stop
    hosts: tuple = ()  # names besides the loopback's that requests may have in `Host`, for a proxy in front

    def refusal(self) -> Optional[str]:
        """Return one sentence that says why no server may run with these settings, or None."""
        if (self.certificate is None) != (self.key is None):
            return "TLS needs both --certificate and --key."
        if is_loopback(self.host):
            return None
        if not self.tokens:
            return f"--no-tokens is for the loopback only; {self.host} can be reached from other machines."
        if self.certificate is None:
            return (f"{self.host} can be reached from other machines, so it needs TLS: give --certificate and --key, "
                    "or leave --host away.")
        return None


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach a server that listens at ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name may stand for any address
