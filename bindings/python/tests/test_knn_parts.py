"""Parts of a training table as the native module fits them: with the ranges and the normalisation of the whole."""

import numpy as np
import pytest

from stope import _core, errors

ROWS = np.array([[0.0, 5.0], [10.0, np.nan], [4.0, -3.0], [6.0, 7.0]])
QUERIES = np.array([[1.0, 1.0], [9.0, 6.0]])


def run():
    return _core.Run()


def table(rows):
    return _core.Table.of_array(rows, ["a", "b"], False, run())


def test_ranges_are_those_of_present_values():
    assert _core.feature_ranges(table(ROWS), run=run()) == [("a", 0.0, 10.0), ("b", -3.0, 7.0)]
    nothing = _core.feature_ranges(table(np.full((1, 2), np.nan)), run=run())
    assert nothing == [("a", np.inf, -np.inf), ("b", np.inf, -np.inf)]


def test_a_part_with_the_ranges_of_the_whole_has_the_distances_of_the_whole():
    ranges = _core.feature_ranges(table(ROWS), run=run())
    whole = _core.KnnIndex.fit(table(ROWS), "gower", run=run()).kneighbors(table(QUERIES), 4, run=run())
    lists = []
    for first in (0, 2):
        part = _core.KnnIndex.fit(table(ROWS[first:first + 2]), "gower", ranges=ranges, run=run())
        distances, rows = part.kneighbors(table(QUERIES), 2, run=run())
        lists.append((np.array([0, 2, 4]), (rows + first).ravel(), distances.ravel()))
    _, rows, distances = _core.merge_neighbors(lists, 4)
    assert rows.tolist() == whole[1].ravel().tolist() and distances.tobytes() == whole[0].tobytes()
    alone = _core.KnnIndex.fit(table(ROWS[:2]), "gower", run=run()).kneighbors(table(QUERIES), 2, run=run())
    assert alone[0].tobytes() != lists[0][2].tobytes()  # its own ranges are others


def test_ranges_without_a_feature_are_refused():
    with pytest.raises(errors.InvalidArgumentError, match="none of the feature 'b'"):
        _core.KnnIndex.fit(table(ROWS), "gower", ranges=[("a", 0.0, 10.0)], run=run())


def test_values_beyond_given_ranges_are_refused():
    with pytest.raises(errors.InvalidArgumentError, match="the feature 'a' has values from 0 to 10, beyond"):
        _core.KnnIndex.fit(table(ROWS), "gower", ranges=[("a", 0.0, 1.0), ("b", -3.0, 7.0)], run=run())


def test_a_normalisation_is_fitted_once_and_applied_to_any_table():
    normalizer = _core.Normalizer.fit(table(ROWS), "range", run=run())
    found = normalizer.apply(table(QUERIES), run=run())
    np.testing.assert_array_equal(found.column(0).array(), [0.1, 0.9])
    extremes = _core.Normalizer.fit(table(np.array([[0.0, -3.0], [10.0, 7.0]])), "range", run=run())
    assert extremes.apply(table(QUERIES), run=run()).column(1).array().tobytes() == found.column(1).array().tobytes()
    with pytest.raises(errors.InvalidArgumentError, match="rnage"):
        _core.Normalizer.fit(table(ROWS), "rnage", run=run())
