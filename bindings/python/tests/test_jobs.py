"""Jobs and kinds of model by name, on which the server is built; a run that another thread stops."""

import json
import threading

import numpy as np
import pytest

import stope
from stope import _core
from stope.errors import CancelledError, InvalidArgumentError


def table_of(n_rows=60):
    rng = np.random.default_rng(1)
    return stope.Table({
        "a": rng.integers(0, 4, n_rows).astype(float),
        "b": np.array(["x", "y", "z"], dtype=object)[rng.integers(0, 3, n_rows)],
        "class": np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, n_rows)],
    }).with_roles(label="class")._core_table


def new_run():
    return _core.Run(1, 0, "cpu", None)


def test_every_kind_and_job_describes_its_options():
    for name in [*_core.model_kinds(), *_core.job_names(), "apply", "read"]:
        assert isinstance(json.loads(_core.describe_options(name)), list), name
    assert _core.describe_options("no such job") == ""


def test_a_model_fitted_by_name_has_the_estimators_predictions():
    table = table_of()
    model = _core.fit_model("classify", table, {"n_neighbors": "3", "metric": "gower"}, run=new_run())
    found = stope.Table(_core.apply_model(model, table, {"proba": "true"}, new_run()))
    X, y = stope.Table(table).to_pandas()[["a", "b"]], stope.Table(table)["class"]
    estimator = stope.KNeighborsClassifier(3, metric="gower", categorical_features=["b"]).fit(X, y)
    assert list(found["prediction"]) == list(estimator.predict(X))
    assert np.array_equal(found["confidence(yes)"], estimator.predict_proba(X)[:, 1])
    assert json.loads(_core.model_info(model))["gives"] == "classes"


def test_neighbours_of_a_classifier_are_listed():
    table = table_of()
    model = _core.fit_model("classify", table, {"metric": "gower"}, run=new_run())
    lists = stope.Table(_core.model_neighbors(model, table, 4, {"exclude_self": "true", "first_query": "0"}, new_run()))
    assert lists.columns == ["row", "pos", "train_index", "distance"]
    assert len(lists) == 4 * len(stope.Table(table))
    assert not np.any(lists["row"] == lists["train_index"])


def test_misspelt_names_are_refused_with_the_nearest_one():
    with pytest.raises(InvalidArgumentError, match="did you mean 'stats'"):
        _core.compute("stat", table_of(), run=new_run())
    with pytest.raises(InvalidArgumentError, match="did you mean 'classify'"):
        _core.fit_model("clasify", table_of(), run=new_run())
    with pytest.raises(InvalidArgumentError, match="did you mean 'n_neighbors'"):
        _core.fit_model("classify", table_of(), {"n_neighbours": "3"}, run=new_run())


def test_only_pairwise_takes_a_second_table():
    table = table_of()
    assert _core.compute("pairwise", table, table, {"metric": "gower"}, run=new_run()).n_rows > 0
    with pytest.raises(InvalidArgumentError, match="takes one table"):
        _core.compute("stats", table, table, run=new_run())


def test_a_run_that_another_thread_cancels_ends_its_job_and_every_later_one():
    rows = stope.Table(np.random.default_rng(0).normal(size=(100_000, 40)))._core_table
    run, ended = new_run(), []

    def search():
        try:
            _core.compute("pairwise", rows, options={"n_neighbors": "5"}, run=run)
        except CancelledError:
            ended.append(True)

    thread = threading.Thread(target=search)
    thread.start()
    while thread.is_alive() and not run.progress_state[0]:
        pass
    run.cancel()
    thread.join()
    assert ended == [True]
    with pytest.raises(CancelledError):
        _core.compute("stats", table_of(), run=run)


@pytest.mark.parametrize("scheme", ["cross-validation", "leave-one-out", "hold-out"])
def test_the_confusion_matrix_has_the_rows_and_the_accuracy_of_the_evaluation(scheme):
    options = {"n_neighbors": "1,5", "metric": "gower", "scheme": scheme}
    cells = stope.Table(_core.compute("confusion", table_of(), options=options, run=new_run())).to_pandas()
    scores = stope.Table(_core.compute("evaluate", table_of(), options=options, run=new_run())).to_pandas()
    for k, accuracy in zip(scores["k"], scores["accuracy"]):
        of_k = cells[cells["k"] == k]
        right = of_k[of_k["truth"].astype(str) == of_k["prediction"].astype(str)]["count"].sum()
        assert of_k["count"].sum() == (18 if scheme == "hold-out" else 60)
        assert right / of_k["count"].sum() == accuracy


def test_a_confusion_matrix_of_numbers_is_refused():
    table = stope.Table({"a": np.arange(20.0), "y": np.arange(20.0)}).with_roles(label="y")._core_table
    with pytest.raises(InvalidArgumentError, match="label of classes"):
        _core.compute("confusion", table, options={"n_neighbors": "1"}, run=new_run())
