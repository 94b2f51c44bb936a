"""The native module's indexes and votes: what estimators call, and what must not crash it."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

from stope import _core, errors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
CODES = (np.arange(200) % 3).astype(np.int32)
CLASSES = _core.Values(["a", "b", "c"])


def run():
    return _core.Run()


def fit(rows=X, metric="euclidean", **words):
    return _core.KnnIndex.fit(rows, metric, **words, run=run())


def group(codes):
    return _core.Column.nominal("group", np.asarray(codes, np.int32), _core.Values(["g", "h"]))


def test_an_array_and_a_table_give_the_same_lists():
    table = _core.Table.of_array(X, [], run=run())
    expected = fit().kneighbors(X, 5, run=run())
    for index, queries in ((fit(table), table), (fit(), X), (fit(X, share=True), X), (fit(np.asfortranarray(X)), X)):
        found = index.kneighbors(queries, 5, run=run())
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(fit().train().column(2).array(), X[:, 2])


def test_rows_of_a_query_s_group_are_no_neighbours():
    train = group(CODES % 2)
    _, indices = fit().kneighbors(X[:9], 5, exclude_train=train, exclude_query=group(np.zeros(9)), run=run())
    assert (CODES[indices] % 2 == 1).all()
    missing = group(np.where(np.arange(200) < 3, -1, 0))
    distances, indices = fit().kneighbors(X[:2], 5, exclude_train=missing, exclude_query=group([0, 0]), run=run())
    assert (indices[:, 3:] == -1).all() and np.isnan(distances[:, 3:]).all()
    np.testing.assert_array_equal(np.sort(indices[:, :3]), [[0, 1, 2], [0, 1, 2]])
    offsets, indices, _ = fit().radius_neighbors(
        X[:2], np.inf, exclude_train=missing, exclude_query=group([0, 0]), run=run())
    np.testing.assert_array_equal(offsets, [0, 3, 6])
    for words in ({"exclude_train": train}, {"exclude_train": train, "exclude_query": group([0])},
                  {"exclude_train": group([0]), "exclude_query": group([0, 0])}, {"exclude_group": "g"}):
        with pytest.raises(ValueError):
            fit().kneighbors(X[:2], 5, **words, run=run())


def test_a_part_of_the_training_rows_leaves_itself_out():
    whole = fit().kneighbors(None, 4, True, run=run())[1]
    np.testing.assert_array_equal(fit().kneighbors(X[50:60], 4, True, 50, run=run())[1], whole[50:60])
    with pytest.raises(ValueError):
        fit().kneighbors(X[50:60], 4, True, 195, run=run())


def test_votes_on_lists_are_those_of_the_predictors():
    index, weights = fit(), RNG.uniform(0, 2, 200)
    distances, indices = index.kneighbors(X[:20] + 0.1, 5, run=run())
    lists = np.arange(0, 101, 5), indices.ravel(), distances.ravel()
    label = _core.Column.nominal("label", CODES, CLASSES)
    targets = RNG.normal(size=200)
    target = _core.Column.numeric("target", targets, run=run())
    for word in ("uniform", "distance"):
        for given in (None, weights):
            codes, shares = _core.KnnClassifier.fit(index, label, given).predict(X[:20] + 0.1, 5, word, run=run())
            found = _core.vote_classes(lists, CLASSES, CODES, word, given, run=run())
            np.testing.assert_array_equal(found[0], codes)
            np.testing.assert_array_equal(found[1], shares)
            means = _core.KnnRegressor.fit(index, target, given).predict(X[:20] + 0.1, 5, word, run=run())
            np.testing.assert_array_equal(_core.vote_means(lists, targets, word, given, run=run()), means)


def test_lists_of_parts_merge_into_those_of_the_whole():
    whole = fit().kneighbors(X[:9], 6, run=run())
    parts = []
    for begin in (0, 80):
        end = 80 if begin == 0 else 200
        distances, indices = fit(X[begin:end]).kneighbors(X[:9], 6, run=run())
        parts.append((np.arange(0, 55, 6), indices.ravel() + begin, distances.ravel()))
    offsets, indices, distances = _core.merge_neighbors(parts, 6)
    np.testing.assert_array_equal(indices.reshape(9, 6), whole[1])
    np.testing.assert_array_equal(distances.reshape(9, 6), whole[0])


@pytest.mark.parametrize("call", [
    lambda: fit("rows"), lambda: fit(None), lambda: fit(object()), lambda: fit(np.zeros((3, 2), object)),
    lambda: fit(np.zeros((3, 2), complex)), lambda: fit(np.zeros((2, 2, 2))), lambda: fit(np.zeros((0, 3))),
    lambda: fit(np.zeros((3, 0))), lambda: fit(X, "no metric"), lambda: fit(X, params={"q": "1"}),
    lambda: fit(X, feature_weights=[1.0]), lambda: fit(X, feature_weights=[-1.0, 1, 1, 1]),
    lambda: fit(X, feature_weights=[np.nan, 1, 1, 1]), lambda: fit(X, compat="excel"),
    lambda: fit().kneighbors(X[:, :2], 3, run=run()), lambda: fit().kneighbors(X, 0, run=run()),
    lambda: fit().kneighbors(X, -1, run=run()), lambda: fit().kneighbors(X, 201, run=run()),
    lambda: fit().kneighbors(X, 2**62, run=run()), lambda: fit().kneighbors(X, 2**70, run=run()),
    lambda: fit().kneighbors(X, 3, run=None), lambda: fit().kneighbors([[1.0] * 4], 3, run=run()),
    lambda: fit().radius_neighbors(X, np.nan, run=run()), lambda: _core.KnnIndex(),
    lambda: _core.KnnClassifier.fit(fit(), _core.Column.nominal("y", CODES[:5], CLASSES)),
    lambda: _core.KnnClassifier.fit(fit(), _core.Column.numeric("y", X[:, 0], run=run())),
    lambda: _core.KnnRegressor.fit(fit(), _core.Column.nominal("y", CODES, CLASSES)),
    lambda: _core.KnnRegressor.fit(fit(), _core.Column.numeric("y", X[:, 0], run=run()), np.ones(3)),
    lambda: _core.vote_means((np.array([0, 1]), np.array([7000]), np.zeros(1)), X[:, 0].copy(), run=run()),
    lambda: _core.vote_means((np.array([0, 9]), np.array([7]), np.zeros(1)), X[:, 0].copy(), run=run()),
    lambda: _core.vote_means((np.array([1, 0]), np.array([7]), np.zeros(1)), X[:, 0].copy(), run=run()),
    lambda: _core.vote_means((np.zeros(0, np.int64), np.array([7]), np.zeros(1)), X[:, 0].copy(), run=run()),
    lambda: _core.vote_classes((np.array([0, 1]), np.array([7]), np.zeros(1)), CLASSES, CODES + 9, run=run()),
    lambda: _core.vote_classes((np.array([0, 1]), np.array([7]), np.zeros(1)), CLASSES, CODES, "often", run=run()),
    lambda: _core.merge_neighbors([(np.array([0, 1]), np.array([7]), np.zeros(0))], 1),
    lambda: _core.merge_neighbors([], -1),
], ids=str)
def test_nonsense_raises(call):
    with pytest.raises((ValueError, TypeError, MemoryError)):
        call()


def test_lists_have_the_type_and_shape_that_numpy_users_expect():
    distances, indices = fit().kneighbors(X[:0], 5, run=run())
    assert distances.shape == indices.shape == (0, 5)
    distances, indices = fit().kneighbors(X[:3], 5, run=run())
    assert distances.dtype == np.float64 and indices.dtype == np.int64 and distances.flags.c_contiguous
    distances[:] = 0.0  # theirs to write to


def test_a_lent_array_lives_as_long_as_its_index():
    freed = []

    class Watched(np.ndarray):
        def __del__(self):
            freed.append(True)

    lent = X.copy().view(Watched)
    lent.flags.writeable = False
    index = fit(lent, share=True)
    expected = index.kneighbors(X, 3, run=run())
    del lent
    gc.collect()
    assert not freed
    np.testing.assert_array_equal(index.kneighbors(X, 3, run=run())[0], expected[0])
    del index
    gc.collect()
    assert freed


def test_ctrl_c_stops_a_search_within_half_a_second():
    rows = RNG.normal(size=(20000, 40))
    index = fit(rows, "kernel-euclidean")
    sent = []

    def press():
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(50):
            index.kneighbors(None, 5, True, run=run())
    assert time.monotonic() - sent[0] < 1.5  # half a second, and what a loaded machine adds
    presser.join()


def test_a_run_without_the_main_thread_can_be_searched_too():
    found = []
    thread = threading.Thread(target=lambda: found.append(fit().kneighbors(X, 3, run=run())))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0][1], fit().kneighbors(X, 3, run=run())[1])


def test_a_change_of_lent_memory_is_an_error():
    lent = X.copy()
    index = fit(lent, share=True)
    lent[:] = 0.0
    with pytest.raises(errors.StopeError):
        index.kneighbors(X, 3, run=run())


def test_measures_are_told_with_their_names():
    infos = {info["name"]: info for info in _core.metrics()}
    assert infos["euclidean"]["aliases"] == "l2" and infos["minkowski"]["params"] == "p"
    assert infos["mixed-euclidean"]["accepts"] == "mixed" and not infos["mahalanobis"]["allows_missing"]
