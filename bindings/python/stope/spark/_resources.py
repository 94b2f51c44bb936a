"""What Spark gives a task, and what the engine makes of it: cores, GPUs, memory."""

import operator
import os

from .. import _core
from .._config import _checked
from ..errors import InvalidArgumentError

__all__ = ["check_device", "device_of", "memory_of", "resources", "threads_of"]

_SHARE = 2  # a job may hold half of what its worker may: the rest is batches, the model, Python and its libraries


def resources(cores, gpus=0):
    """Return a ResourceProfile for tasks of several cores: the ``profile`` of this package's functions.

    Each task is one Python process with a model of its own. So one task that takes all cores of an executor needs less
    memory than a task a core, and is as fast.

    Parameters
    ----------
    cores : int
        The CPU cores of a task, at most those of an executor (``spark.executor.cores``).
    gpus : int or float, default=0
        The GPUs of a task: a whole number, or a share of at most 0.5 where tasks share a GPU.

    Returns
    -------
    pyspark.resource.ResourceProfile
    """
    from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests

    try:
        cores = operator.index(cores)
    except TypeError:
        raise InvalidArgumentError(f"cores is a whole number; got {cores!r}") from None
    if cores < 1:
        raise InvalidArgumentError(f"cores is at least 1; got {cores}")
    if isinstance(gpus, bool) or not isinstance(gpus, (int, float)):
        raise InvalidArgumentError(f"gpus is a number; got {gpus!r}")
    if not (gpus == 0 or 0 < gpus <= 0.5 or (gpus >= 1 and gpus == int(gpus))):
        raise InvalidArgumentError(f"gpus is a whole number or at most 0.5; got {gpus}")
    requests = TaskResourceRequests().cpus(cores)
    if gpus:
        requests.resource("gpu", gpus)
    return ResourceProfileBuilder().require(requests).build


def check_device(device):
    """Refuse what names no device, in the engine's words. The driver need not have the GPUs that tasks have."""
    _checked({"device": device})
    if device not in ("auto", "cuda") and not device.startswith("cuda:"):
        _core.require_backend(_core.Run(0, 0, device))


def threads_of(context, wanted):
    """The threads of a job: what the caller wants, else the cores of the task."""
    return wanted or max(context.cpus(), 1)


def device_of(context, wanted):
    """The device of a job: what the caller wants, else the GPUs that Spark gave to the task, else the CPU.

    A task that was given no GPU leaves those of the machine to others, unless the caller insists on "cuda".
    """
    if wanted not in ("auto", "cuda"):
        return wanted
    gpus = (context.resources() or {}).get("gpu")
    if gpus is not None and gpus.addresses:
        return "cuda:" + ",".join(gpus.addresses)
    return "cpu" if wanted == "auto" else wanted


def memory_of(context, wanted):
    """The memory limit of a job: what the caller wants, else half of the worker's share where Spark says what that is.

    None leaves the limit to the engine: most of what is available.
    """
    if wanted is not None:
        return wanted
    share = os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB", "")
    if share.isdigit() and int(share) > 0:
        return (int(share) << 20) // _SHARE
    whole = context.getLocalProperty("resource.pyspark.memory")
    cores = context.getLocalProperty("resource.executor.cores")
    if whole and whole.isdigit() and cores and cores.isdigit() and int(cores) > 0:
        return max((int(whole) << 20) // int(cores) * max(context.cpus(), 1) // _SHARE, 1)
    return None
