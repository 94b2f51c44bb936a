"""Executors to which Spark itself gives a GPU each: tasks compute there, at the same time, with the bytes of the CPU.

The GPUs are two of this machine, or pretended ones (conftest.py)."""

import pytest
from made_tables import spark_digest
from noted_reports import notes_in, noting_batches, noting_table
from one_machine import joined_rows, same_bits
from tables_of_tests import frame_of, mixed_table, sorted_by_id

import stope
from stope import _core
from stope.spark import _apply, _column_groups, _join_plan, best_cuts, column_stats, knn_join, resources, transform

pytestmark = pytest.mark.modes("gpus", "pretended")

FEATURES = ["ties", "whole", "name", "truth"]


@pytest.fixture(scope="module")
def model():
    """A k-NN classifier of the measure that the pretended plug-in has."""
    train = mixed_table(900).select([*FEATURES, "class"])
    train = stope.Table(train).with_roles(label="class")._core_table
    options = {"n_neighbors": "5", "metric": "mixed-euclidean"}
    return stope.Model(_core.fit_model("classify", train, options, {}, _core.Run(1, 0, "cpu")).model)


def computed_on_gpus(notes):
    """The GPUs of the tasks, each of which computed on its own alone, and the tasks' executors."""
    for note in notes:
        on_gpu = [report["reason"] for report in note["reports"] if report["backend"] == "cuda"]
        assert on_gpu and all(f"cuda:{gpu}:" in reason for gpu in note["gpus"] for reason in on_gpu), note
    return {note["gpus"][0] for note in notes}, {note["executor"] for note in notes}


def test_two_tasks_predict_at_the_same_time_each_on_the_gpu_that_spark_gave_it(spark, gpus, model, tmp_path, monkeypatch):
    frame = frame_of(spark, mixed_table(3_000, seed=4).select(["id", *FEATURES]), 2)
    names = ["prediction", *(f"confidence({name})" for name in model.classes_)]
    expected = spark_digest(transform(frame, model, proba=True, device="cpu"), names)
    monkeypatch.setattr(_apply, "apply_batches", noting_batches(_apply.apply_batches, tmp_path, tasks=2))
    assert spark_digest(transform(frame, model, proba=True), names) == expected
    used, executors = computed_on_gpus(notes_in(tmp_path))
    assert used == set(gpus) and len(executors) == 2


def test_a_join_searches_the_items_on_the_gpus(spark, gpus, tmp_path, monkeypatch):
    items, queries = frame_of(spark, mixed_table(4_000)), frame_of(spark, mixed_table(300, seed=8))
    how = {"id": "id", "columns": FEATURES, "parts": 2}
    expected = joined_rows(knn_join(items, queries, 5, device="cpu", **how))
    monkeypatch.setattr(_join_plan, "search_parts", noting_batches(_join_plan.search_parts, tmp_path, tasks=2))
    assert same_bits(joined_rows(knn_join(items, queries, 5, **how)), expected)
    assert computed_on_gpus(notes_in(tmp_path))[0] == set(gpus)


def test_best_cuts_are_sought_on_the_gpus(spark, tmp_path, monkeypatch):
    frame = frame_of(spark, mixed_table(2_000).select(["id", "ties", "zeros", "whole", "target", "class"]), 2)
    how = {"id": "id", "missing": "value", "columns_per_task": 1}
    expected = list(best_cuts(frame, "class", device="cpu", **how))
    monkeypatch.setattr(_column_groups, "_ranked", noting_table(_column_groups._ranked, tmp_path))
    assert list(best_cuts(frame, "class", **how)) == expected
    assert computed_on_gpus(notes_in(tmp_path))


def test_statistics_do_not_show_that_there_are_gpus(spark):
    table = mixed_table(900)
    found = column_stats(frame_of(spark, table, 2), id="id")
    alone = stope.column_stats(sorted_by_id(table).drop_columns(["id"]))
    for name in ("count", "missing", "zeros", "min", "max"):
        assert getattr(found, name).tobytes() == getattr(alone, name).tobytes(), name


def test_a_profile_asks_for_a_gpu_or_none_for_one_call(spark, model, tmp_path, monkeypatch):
    frame = frame_of(spark, mixed_table(700, seed=5).select(["id", *FEATURES]), 2)
    expected = spark_digest(transform(frame, model, device="cpu"), ["prediction"])
    for gpus in (1, 0):
        folder = tmp_path / str(gpus)
        folder.mkdir()
        with monkeypatch.context() as patch:
            patch.setattr(_apply, "apply_batches", noting_batches(_apply.apply_batches, folder))
            found = transform(frame, model, profile=resources(cores=1, gpus=gpus))
            assert spark_digest(found, ["prediction"]) == expected
        if gpus:
            computed_on_gpus(notes_in(folder))
        else:
            assert all(note["gpus"] == [] for note in notes_in(folder))
            assert not any(report["backend"] == "cuda" for note in notes_in(folder) for report in note["reports"])
