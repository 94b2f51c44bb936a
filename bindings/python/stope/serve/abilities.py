"""What a server can do, as ``GET /v1`` tells it: kinds, jobs, formats, devices, limits."""

import dataclasses
import json
from functools import lru_cache

from .. import _core
from ..errors import StopeError
from .media import ANSWERED, READ

__all__ = ["abilities", "measures"]

_OPTIONS_OF = ("apply", "search")  # what describes options besides kinds and jobs


@lru_cache(maxsize=None)
def devices() -> tuple:
    """The back ends that jobs can ask for. Looking for a GPU takes a while the first time."""
    found = []
    for name in ("cpu", "cuda"):
        try:
            _core.require_backend(_core.Run(0, 0, name))
        except StopeError:
            continue
        found.append(name)
    return tuple(found)


def _options_of(names):
    return {name: json.loads(_core.describe_options(name) or "[]") for name in names}


@lru_cache(maxsize=None)
def _of_the_engine():
    return {
        "kinds": _options_of(_core.model_kinds()),
        "jobs": _options_of(_core.job_names()),
        "options": _options_of(_OPTIONS_OF),
        "formats": {"read": list(READ), "answered": list(ANSWERED), "codings": ["gzip", "zstd"]},
    }


def abilities(settings, caller) -> dict:
    """Return what ``caller`` can ask of a server with these settings."""
    return {
        "version": _core.__version__,
        "caller": {"name": caller.name, "right": caller.right},
        "tokens": settings.tokens,
        "device": settings.device,
        "devices": list(devices()),
        "limits": dataclasses.asdict(settings.limits),
        **_of_the_engine(),
    }


@lru_cache(maxsize=None)
def measures() -> tuple:
    """Return the measures of distance: name, family, aliases, parameters, and what they take."""
    return tuple(_measure_of(info) for info in _core.metrics())


def _measure_of(info):
    lists = {name: [word for word in info[name].replace(",", " ").split() if word] for name in ("aliases", "params")}
    return {**info, **lists}
