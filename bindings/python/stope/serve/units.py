"""Sizes and times as people write them: 8GB, 512MiB, 90s, 2h."""

import math
import re

__all__ = ["bytes_of", "seconds_of"]

# The engine's own rule for sizes: GB is 10^9 bytes, GiB is 2^30.
_BYTES = {"": 1, "b": 1, "k": 10**3, "kb": 10**3, "m": 10**6, "mb": 10**6, "g": 10**9, "gb": 10**9, "t": 10**12,
          "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_SECONDS = {"": 1, "ms": 0.001, "s": 1, "min": 60, "h": 3600, "d": 86400}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)")


def _parts_of(text, what):
    found = _QUANTITY.fullmatch(text.strip())
    if not found or not math.isfinite(float(found.group(1))):
        raise ValueError(f"{text!r} is not {what}")
    return float(found.group(1)), found.group(2)


def bytes_of(text: str) -> int:
    """Return the bytes of a size such as "8GB", "1.5GiB" or "4096"."""
    what = "a size such as 8GB, 512MB or 1.5GiB"
    number, unit = _parts_of(text, what)
    if unit.lower() not in _BYTES:
        raise ValueError(f"{text!r} is not {what}")
    value = number * _BYTES[unit.lower()]
    if value >= 2**63:
        raise ValueError(f"{text!r} is too large")
    return int(value)


def seconds_of(text: str) -> float:
    """Return the seconds of a time such as "90", "90s", "5min", "2h" or "1d"."""
    what = "a time such as 90s, 5min or 2h"
    number, unit = _parts_of(text, what)
    if unit not in _SECONDS:
        raise ValueError(f"{text!r} is not {what}")
    return number * _SECONDS[unit]
