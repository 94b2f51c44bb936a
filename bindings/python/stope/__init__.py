"""stope: exact data mining on tables, on CPUs and NVIDIA GPUs."""

from ._core import __version__

__all__ = ["__version__"]
