"""Zero-change mode: scikit-learn's own estimators, computed by stope where the result is the same.

``python -m stope.accel SCRIPT`` runs a script so, ``stope.accel.install()`` does it inside a program, and
``with stope.accel.installed():`` for a block. docs/SKLEARN.md says what stope answers and what differs.
"""

import threading
from contextlib import contextmanager

from . import _policy, _tally

__all__ = ["install", "installed", "is_installed", "reset", "summary", "uninstall"]

_seams = []
_lock = threading.RLock()  # of the seams, the blocks and the policy
_blocks = []  # what ``always`` is in each block of installed() that is under way, as a list of one
_before = (False, False)  # whether stope was installed before the first of them, and its ``always``


def install(*, always=False):
    """Let stope compute for scikit-learn in this process, until :func:`uninstall`.

    Methods and functions inside scikit-learn are replaced; its classes stay the same objects. Estimators that exist
    already take part, as do subclasses, and all threads. A process started afterwards (joblib's "loky",
    multiprocessing's "spawn") computes with scikit-learn unless it calls ``install()`` too. Calling it twice does no
    harm.

    While a call lasts, the engine reads the caller's rows where they lie. Other threads, signal handlers and a
    ``progress`` callback must not write to them then, or the answer is wrong without notice.

    Parameters
    ----------
    always : bool, default=False
        Answer also the calls that scikit-learn answers sooner on a CPU: a few queries, trees of few columns, and large
        tables that need only one product of matrices. It makes sense where a GPU is, and where stope's accuracy is
        wanted.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    import sklearn

    from . import _impute, _neighbors, _pairwise, _pca, _ridge

    with _lock:
        _policy.of_installation.always = always
        if _seams:
            return
        _tally.missing.clear()
        for family in (_neighbors, _pairwise, _impute, _pca, _ridge):
            for seam in family.seams():
                why = seam.open()
                if why is None:
                    _seams.append(seam)
                else:
                    _tally.missing.append(f"{seam.place}: {why} in scikit-learn {sklearn.__version__}")


def uninstall():
    """Give scikit-learn its own methods back. What was counted stays until :func:`reset`."""
    with _lock:
        while _seams:
            _seams.pop().close()


def is_installed():
    """Whether stope computes for scikit-learn now."""
    return bool(_seams)


@contextmanager
def installed(*, always=False):
    """A ``with`` block in which stope computes for scikit-learn. If it did already, it does so afterwards, too.

    The block switches the whole process. Where blocks of several threads overlap, the last one to end switches back.
    """
    global _before
    block = [always]
    with _lock:
        if not _blocks:
            _before = (is_installed(), _policy.of_installation.always)
        install(always=always)
        _blocks.append(block)
    try:
        yield
    finally:
        with _lock:
            _blocks[:] = [other for other in _blocks if other is not block]
            was, was_always = _before
            _policy.of_installation.always = _blocks[-1][0] if _blocks else was_always
            if not _blocks and not was:
                uninstall()


def summary():
    """Return which calls stope answered, which it left to scikit-learn, and why.

    Returns
    -------
    Summary
        A list with a dict for each method or function: ``call``, ``answered`` and ``left`` (numbers of calls),
        ``seconds`` (wall time of the answered ones) and ``why`` (a dict of reasons and numbers of calls). str() of it is
        a table for people. Calls that scikit-learn refused with an exception are not counted.
    """
    return _tally.summary()


def reset():
    """Count from zero."""
    _tally.clear()
