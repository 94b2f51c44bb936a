"""What bench/rivals.py times: a row is one job on one table, and the programs that do it.

A program is a class. Its constructor gets the data and the number of threads, and is not timed: it imports, and brings
the data into the form that users of the program have. Each of `phases` is a method, timed in this order every round.
Phases in `repeated` change nothing, so a short one is repeated and its median counts. answer() returns a dict of
arrays; `version` names what was timed.
"""
import dataclasses
import importlib.metadata
import typing

import numpy as np


class Program:
    phases = ("run",)
    repeated = ("run",)
    package = "stope"

    def __init__(self, data, threads):
        self.data, self.threads = data, threads
        self.begin()

    def begin(self):
        """Imports and prepares."""

    @property
    def version(self):
        return importlib.metadata.version(self.package)


class Stope(Program):
    """stope's settings hold for the process, which runs nothing else."""

    def __init__(self, data, threads):
        import stope

        stope.set_config(threads=threads, device="cpu")
        for name in stope.__all__:  # the package loads its modules when they are first asked for
            getattr(stope, name)
        stope.NearestNeighbors(n_neighbors=1).fit(np.zeros((2, 1))).kneighbors()
        self.stope = stope
        super().__init__(data, threads)

    @property
    def version(self):
        return self.stope.__version__


class Sklearn(Program):
    package = "scikit-learn"


def with_settings(programs, **settings):
    """The programs as classes that have these attributes, too."""
    return {name: type(make.__name__, (make,), settings) for name, make in programs.items()}


@dataclasses.dataclass
class Row:
    job: str
    words: tuple  # what --only chooses by, beside the job
    shape: dict  # numbers and words for the file
    make: typing.Callable  # () -> data; in the parent, so that the programs share its memory
    programs: dict  # name -> class; "stope" is the first
    compare: typing.Callable  # (our answer, theirs) -> dict of figures
    data_bytes: int
    check: typing.Callable = None  # (data, our answer) -> None, or a text that says what is wrong
    work: float = 0.0  # of the plain way, which a program's `most_work` may refuse

    @property
    def name(self):
        return ":".join((self.job, *self.words))

    def chosen_by(self, wanted):
        """Whether all words of "knn:3" or "pca" are words of the row."""
        return set(wanted.split(":")) <= {self.job, *self.words}


def smaller(n, share, least=100):
    """A size for a trial: n itself where nothing is divided."""
    return n if share == 1 or n <= least else max(n // share, least)


def count(n):
    """1M for 1,000,000 and 100k for 100,000."""
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if n >= size and n % size == 0:
            return f"{n // size}{letter}"
    return str(n)


def difference(ours, theirs):
    """The largest difference of two arrays, relative to our largest entry. NaN must meet NaN."""
    ours, theirs = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if ours.shape != theirs.shape or (np.isnan(ours) != np.isnan(theirs)).any():
        return float("inf")
    present = ~np.isnan(ours)
    if not present.any():
        return 0.0
    scale = np.abs(ours[present]).max() or 1.0
    return float(np.abs(ours[present] - theirs[present]).max() / scale)


def differences(ours, theirs):
    """The largest relative difference of any array of the answers."""
    return {"difference": max(difference(ours[name], theirs[name]) for name in ours)}
