"""Jobs of the engine: progress, cancellation, devices."""

import numpy as np
import pytest
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table

import stope
from stope.errors import CancelledError
from orangecontrib.stope import KnnLearner, engine
from orangecontrib.stope.table import attribute_table, training_table
from tables import mixed_table


def large_table(n_rows):
    rng = np.random.default_rng(1)
    domain = Domain([ContinuousVariable(f"x{i}") for i in range(40)], DiscreteVariable("y", ("a", "b")))
    return Table.from_numpy(domain, rng.normal(size=(n_rows, 40)), rng.integers(0, 2, n_rows).astype(float))


class Stop(Exception):
    pass


def test_a_long_job_tells_its_progress_and_ends_with_whatever_the_callback_raises():
    data = large_table(20_000)
    model = engine.fit("classify", training_table(data), {"metric": "canberra", "n_neighbors": 5})
    table, shares, ended = attribute_table(data), [], []

    def stop(share):
        shares.append(share)
        raise Stop("enough")

    with pytest.raises(Stop, match="enough"), engine.watched(stop), engine.job() as run:
        try:
            model.predictor.classify(table, run)
        except CancelledError:
            ended.append(True)
            raise
    assert len(shares) == 1 and 0 <= shares[0] < 1
    assert ended == [True]  # it has not run to its end


def test_a_job_after_one_that_was_stopped_runs():
    data = mixed_table()
    with pytest.raises(Stop), engine.watched(lambda *_: (_ for _ in ()).throw(Stop())):
        KnnLearner()(data, lambda *_: (_ for _ in ()).throw(Stop()))
    assert len(KnnLearner()(data)(data)) == len(data)


def test_jobs_keep_the_settings_of_the_python_package():
    with stope.config_context(memory_limit=1):
        with pytest.raises(MemoryError):
            KnnLearner(metric="euclidean", normalize="none")(large_table(2000))(large_table(2000))


def test_an_unknown_device_is_refused_in_words():
    with pytest.raises(ValueError, match="device"):
        KnnLearner(device="abacus")(mixed_table())


def test_options_are_given_with_all_their_digits():
    data = mixed_table(40, missing=0)
    low = engine.fit("tree", training_table(data), {"min_score": 0.1 + 0.2, "criterion": "gini"})
    assert low.fitted().n_leaves >= 1
    with pytest.raises(ValueError, match="no option 'min_scores'"):
        engine.fit("tree", training_table(data), {"min_scores": 1})
