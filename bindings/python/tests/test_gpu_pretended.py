"""Rows in a GPU's memory from ``fit`` to ``score``, with the engine's fake plug-in, whose GPU memory is the host's.

No GPU is needed. The plug-in is loaded once in a process, so each test runs in one of its own."""

import os
import pathlib
import subprocess
import sys

import pytest

PLUGIN = pathlib.Path(__file__).parents[3] / "build/release/tests/libstope_fake_cuda.so"
pytestmark = pytest.mark.skipif(not PLUGIN.exists(), reason="needs the tests' fake plug-in")

# A library whose arrays are NumPy's, and say that they lie in GPU 1: the one that the fake plug-in can use.
START = '''
import pickle, sys, types
import numpy as np

class Array:
    def __init__(self, values, read_only=False):
        self.values, self.read_only = np.asarray(values), read_only
        self.device = types.SimpleNamespace(id=1)
    @property
    def __cuda_array_interface__(self):
        v = self.values
        return {"shape": v.shape, "typestr": v.dtype.str, "data": (v.ctypes.data, self.read_only), "version": 3,
                "strides": v.strides}
    shape = property(lambda self: self.values.shape)
    def get(self):
        return self.values.copy()
    def reshape(self, *shape):
        return Array(self.values.reshape(*shape))
    def __lt__(self, other):
        return self.values < other
    def __getitem__(self, codes):
        return Array(self.values[codes.values])
Array.__module__ = "cupy._core.core"

class Current:
    def __init__(self, gpu):
        assert gpu == 1
    __enter__ = __exit__ = lambda self, *_: None

sys.modules["cupy"] = types.SimpleNamespace(
    empty=lambda shape, dtype: Array(np.full(shape, 77, dtype)), asarray=Array,
    isfinite=lambda a: np.isfinite(a.values), isinf=lambda a: np.isinf(a.values),
    cuda=types.SimpleNamespace(Device=Current))

import stope
from stope import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors, errors
# The fake plug-in has a kernel for one measure.
THERE = {"metric": "mixed-euclidean", "device": "cuda:1"}
HERE = {"metric": "mixed-euclidean", "device": "cpu"}
rng = np.random.default_rng(0)
rows = (rng.random((3000, 3)) * 0.5).astype(np.float32)
queries = (rng.random((200, 3)) * 0.5).astype(np.float32)
labels = rng.integers(3, 7, 3000)
targets = rng.normal(size=3000)
truth = rng.integers(3, 7, 200)
def alone(model):
    return type(model.__dict__["_fit_rows"]) is object
def raises(what, words, call, *given):
    try:
        call(*given)
    except what as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
'''


def run(body):
    environment = dict(os.environ, STOPE_CUDA_PLUGIN=str(PLUGIN), STOPE_FAKE="filters", STOPE_BACKEND="cuda")
    done = subprocess.run([sys.executable, "-c", START + body], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("weights", ["'uniform'", "'distance'", "rng.random(3000)"])
def test_a_classifier_fits_predicts_and_scores_in_the_gpu(weights):
    run(f'''
there = KNeighborsClassifier(4, weights={weights}, **THERE).fit(Array(rows), Array(labels))
here = KNeighborsClassifier(4, weights=there.weights, **HERE).fit(rows, labels)
for dtype in (np.float32, np.float64):
    found = there.predict(Array(queries.astype(dtype)))
    assert type(found) is Array and found.values.dtype == labels.dtype and found.shape == (200,)
    assert "votes, on the GPU" in str(there.report_), there.report_
assert alone(there)
shares = there.predict_proba(Array(queries))
assert type(shares) is Array and shares.values.dtype == np.float64
score = there.score(Array(queries), Array(truth))
import os; del os.environ["STOPE_BACKEND"]
assert np.array_equal(found.values, here.predict(queries)) and np.array_equal(shares.values, here.predict_proba(queries))
assert score == here.score(queries, truth) == there.score(queries, truth)
assert np.array_equal(there.predict(None), here.predict(None))
''')


def test_labels_that_are_texts_come_as_an_array_of_numpy():
    run('''
names = np.array(["a", "b", "c"])[rng.integers(0, 3, 3000)]
there = KNeighborsClassifier(**THERE).fit(Array(rows), names)
found = there.predict(Array(queries))
assert type(found) is np.ndarray
assert np.array_equal(found, KNeighborsClassifier(**HERE).fit(rows, names).predict(queries))
''')


def test_a_regressor_fits_predicts_and_scores_in_the_gpu():
    run('''
there = KNeighborsRegressor(4, weights="distance", **THERE).fit(Array(rows), Array(targets))
found = there.predict(Array(queries))
assert type(found) is Array and "votes, on the GPU" in str(there.report_) and alone(there)
score = there.score(Array(queries), Array(truth))
here = KNeighborsRegressor(4, weights="distance", **HERE).fit(rows, targets)
import os; del os.environ["STOPE_BACKEND"]
assert np.array_equal(found.values, here.predict(queries)) and score == here.score(queries, truth)
''')


def test_rows_go_to_the_host_when_something_asks_for_them():
    run('''
there = NearestNeighbors(n_neighbors=4, **THERE).fit(Array(rows))
distances, indices = there.kneighbors(Array(queries))
assert alone(there)
assert np.array_equal(there._fit_X, rows.astype(np.float64)) and not alone(there)
again = pickle.loads(pickle.dumps(NearestNeighbors(n_neighbors=4, **THERE).fit(Array(rows))))
for found, wanted in zip(again.kneighbors(queries), (distances, indices)):
    assert np.array_equal(found, wanted.values)
there.fit(rows[:100])
assert there.kneighbors(queries)[1].max() < 100
''')


def test_what_the_host_computes_gets_a_copy():
    run('''
for given in ({"metric": "seuclidean"}, {"metric": lambda a, b: abs(a - b).sum()}, {"feature_weights": [1, 0, 2]},
              {"categorical_features": [2]}):
    model = NearestNeighbors(n_neighbors=4, **given).fit(Array(rows[:50]))
    other = NearestNeighbors(n_neighbors=4, **given).fit(rows[:50])
    assert not alone(model)
    assert np.array_equal(model.kneighbors(queries[:5])[1], other.kneighbors(queries[:5])[1])
''')


def test_what_is_no_matrix_of_numbers_is_refused():
    run('''
model = NearestNeighbors(**THERE)
gap, far = rows.copy(), rows.copy()
gap[7, 1], far[7, 1] = np.nan, np.inf
raises(ValueError, "Input X contains NaN", model.fit, Array(gap))
raises(ValueError, "Input X contains infinity", model.fit, Array(far))
NearestNeighbors(missing="skip").fit(Array(gap))
raises(ValueError, "Input X contains infinity", NearestNeighbors(missing="skip").fit, Array(far))
raises(ValueError, "0 sample", model.fit, Array(rows[:0]))
raises(ValueError, "Expected 2D array", model.fit, Array(rows[0]))
model.fit(Array(rows, read_only=True))
for estimator, y in ((KNeighborsClassifier(**THERE), labels), (KNeighborsRegressor(**THERE), targets)):
    raises(ValueError, "inconsistent numbers", estimator.fit, Array(rows), Array(y[:5]))
    estimator.fit(Array(rows), y)
    raises(ValueError, "Input X contains NaN", estimator.predict, Array(gap))
    raises(ValueError, "X has 2 features", estimator.predict, Array(rows[:, :2]))
    estimator.set_params(weights=lambda distances: 1.0 + distances)
    raises(errors.UnsupportedError, "weights that are a word", estimator.predict, Array(queries))
''')


def test_weights_of_zero_are_refused_as_on_the_host():
    run('''
weights = np.zeros(3000)
weights[0] = 1.0
model = KNeighborsClassifier(1, weights=weights, **THERE).fit(Array(rows), labels)
raises(ValueError, "zero weights", model.predict, Array(queries))
''')
