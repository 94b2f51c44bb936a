"""Nothing is left behind: objects, memory, threads and files of many fits."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import stope

FITS = 1000


def resident():
    """Bytes of memory that this process has in use."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files():
    return len(os.listdir("/proc/self/fd"))


def data(rows=40):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(rows, 4))
    return X, (X[:, 0] > 0).astype(int), X @ [1.0, 2.0, 3.0, 4.0]


def names():
    """The estimators that are fitted, with the target each takes."""
    return {
        "NearestNeighbors": None, "KNeighborsClassifier": "class", "KNeighborsRegressor": "number",
        "RadiusNeighborsClassifier": "class", "RadiusNeighborsRegressor": "number", "KNNImputer": None,
        "LocalDiscretizationTreeClassifier": "class", "SupervisedDiscretizer": "class", "CutRanker": "class",
        "PCA": None, "TruncatedSVD": None, "LinearRegression": "number", "Ridge": "number",
    }


def fit_and_use(name):
    X, classes, numbers = data()
    kind = names()[name]
    estimator = getattr(stope, name)()
    if name.startswith("Radius"):
        estimator.set_params(radius=10.0)
    y = {"class": classes, "number": numbers, None: None}[kind]
    estimator.fit(X) if y is None else estimator.fit(X, y)
    for method in ("predict", "transform", "kneighbors"):
        if hasattr(estimator, method):
            getattr(estimator, method)(X)
            break
    return estimator


@pytest.mark.parametrize("name", names())
def test_a_thousand_fits_leave_memory_objects_threads_and_files_as_they_were(name):
    for _ in range(FITS // 10):  # allocators and caches reach their size
        fit_and_use(name)
    gc.collect()
    memory, objects, threads, files = resident(), len(gc.get_objects()), threading.active_count(), open_files()
    for _ in range(FITS):
        fit_and_use(name)
    gc.collect()
    assert len(gc.get_objects()) - objects < FITS // 10
    assert threading.active_count() == threads
    assert open_files() == files
    # One leaked table of a fit has 40 rows of 4 columns of 8 bytes: a thousand of them take 1.3 MB.
    assert resident() - memory < 1_000_000


@pytest.mark.parametrize("name", names())
def test_an_estimator_is_freed_without_the_garbage_collector(name):
    gc.collect()
    gc.disable()
    try:
        estimator = fit_and_use(name)
        gone = weakref.ref(estimator)
        del estimator
        assert gone() is None
    finally:
        gc.enable()


def test_lent_memory_is_given_back_with_the_estimator():
    X = data()[0]
    X.flags.writeable = False
    before = sys.getrefcount(X)
    estimator = stope.NearestNeighbors().fit(X)
    estimator.kneighbors(X)
    del estimator
    gc.collect()
    assert sys.getrefcount(X) == before


def test_a_failed_fit_leaves_nothing():
    X, y, _ = data()
    before = sys.getrefcount(X)
    for _ in range(100):
        with pytest.raises(ValueError):
            stope.KNeighborsClassifier(n_neighbors=0).fit(X, y).predict(X)
    gc.collect()
    assert sys.getrefcount(X) == before


def test_the_module_has_no_leaks_when_the_interpreter_ends():
    code = """
import numpy as np, stope
from stope import _core
_core.set_leak_warnings(True)
X = np.random.default_rng(0).normal(size=(60, 3))
nn = stope.NearestNeighbors().fit(X)
nn.kneighbors(X)
try:
    stope.NearestNeighbors(n_neighbors=0).fit(X).kneighbors(X)
except ValueError:
    pass
del nn
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "leaked" not in done.stderr and done.stderr == ""
