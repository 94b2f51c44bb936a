"""Whether stope answers a call that scikit-learn would answer sooner.

Times behind the rules: one thread of a Xeon with AVX-512, scikit-learn 1.7.2 (docs/adr/0032-zero-change-mode.md).
"""

from ._tally import Leave

__all__ = ["leave_slow", "of_installation"]


class _Policy:
    always = False


of_installation = _Policy()


def leave_slow(reason):
    """Raise :class:`Leave`, unless ``install(always=True)`` asked for stope's answers whatever they cost."""
    if not of_installation.always:
        raise Leave(reason)
