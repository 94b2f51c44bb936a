"""Models applied by Spark give the answers of one machine, bit for bit."""

import functools
import itertools

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import functions

import stope
from made_tables import KINDS, digest, local_answers, made_model, made_rows, spark_digest, typed_rows
from stope.errors import InvalidDataError
from stope.spark import kneighbors, transform

PARTITIONS = 1, 2, 7, 17


@pytest.fixture(scope="module")
def models():
    return {kind: made_model(kind) for kind in KINDS}


@pytest.mark.parametrize("batch", [1, 100, 10_000])
def test_results_have_one_hash_whatever_the_partitions_and_batches(spark, models, batch_rows, batch):
    rows, model = made_rows("classify"), models["classify"]
    expected = local_answers(model, rows)
    batch_rows(batch)
    frame = spark.createDataFrame(rows)
    found = [  # a union is one job, and its parts keep their partitions
        transform(frame.repartition(parts, "key"), model, proba=True).withColumn("parts", functions.lit(parts))
        for parts in PARTITIONS
    ]
    table = functools.reduce(lambda one, other: one.union(other), found).toArrow().sort_by("id")
    for parts in PARTITIONS:
        of_parts = table.filter(pc.field("parts") == parts)
        assert digest(of_parts.select(expected.column_names)) == digest(expected), parts


@pytest.mark.modes("local", "connect")
@pytest.mark.parametrize("kind, batch", zip(KINDS, itertools.cycle([10_000, 1, 100])))
def test_every_kind_of_model_gives_the_answers_of_one_machine(spark, models, batch_rows, kind, batch):
    rows, model = made_rows(kind), models[kind]
    expected = local_answers(model, rows)
    batch_rows(batch)
    found = transform(spark.createDataFrame(rows).repartition(7, "key"), model, proba=model.gives == "classes")
    assert spark_digest(found, expected.column_names) == digest(expected)


def test_dates_decimals_booleans_and_small_numbers_are_read_as_arrow_tables_are(spark):
    rows = typed_rows()
    train = rows.slice(0, 15).drop_columns(["id"]).append_column("label", pa.array([n * 1.5 for n in range(15)]))
    flags = pa.array([None if flag is None else float(flag) for flag in train["flag"].to_pylist()])
    train = train.set_column(train.column_names.index("flag"), "flag", flags)
    model = stope.Model(_fitted("regress", train, "label", {"metric": "gower", "n_neighbors": "3"}))
    expected = local_answers(model, rows)
    settings = {"spark.sql.session.timeZone": "Asia/Kolkata", "spark.sql.timestampType": "TIMESTAMP_NTZ"}
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        frame = spark.createDataFrame(rows)
        found = transform(frame.repartition(3), model).select("id", "prediction").toArrow()
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    assert {"timestamp", "timestamp_ntz", "date", "decimal(10,2)", "boolean"} <= {type_ for _, type_ in frame.dtypes}
    assert digest(found.sort_by("id").select(["prediction"])) == digest(expected)


@pytest.mark.parametrize("names", [("False", "True"), ("false", "true")])
def test_booleans_have_the_values_that_the_model_spells(spark, names):
    train = pa.table({"flag": [names[0], names[1]] * 4, "label": ["no", "yes"] * 4})
    model = stope.Model(_fitted("classify", train, "label", {"n_neighbors": "1", "metric": "gower"}))
    rows = spark.createDataFrame([(1, True), (2, False), (3, None)], "id long, flag boolean")
    found = transform(rows, model).toArrow().sort_by("id")["prediction"].to_pylist()
    assert found[:2] == ["yes", "no"] and found[2] in ("yes", "no")


def test_a_column_of_nulls_alone_is_missing_everywhere(spark, models):
    rows = made_rows("classify").set_column(1, "halves", pa.nulls(331, pa.float64()))
    rows = rows.set_column(4, "color", pa.nulls(331, pa.string()))
    expected = local_answers(models["classify"], rows)
    frame = spark.createDataFrame(rows).selectExpr("id", "NULL AS halves", "thirds", "whole", "NULL AS color")
    assert spark_digest(transform(frame, models["classify"], proba=True), expected.column_names) == digest(expected)


@pytest.mark.parametrize("kind, k", [("classify", None), ("regress", 1), ("neighbors", 120), ("neighbors", None)])
def test_neighbours_are_those_of_one_machine_whatever_the_kind_of_k_nn(spark, models, kind, k):
    rows, model = made_rows("neighbors"), models[kind]
    alone = stope.Model(_fitted_neighbors(kind, k or int(KINDS[kind][0]["n_neighbors"])))
    distances, indices = alone.kneighbors(rows)
    found = kneighbors(spark.createDataFrame(rows).repartition(3, "key"), model, k, keep=["id"]).toArrow().sort_by("id")
    assert found.column_names == ["id", "train_index", "distance"]
    assert repr(found["train_index"].to_pylist()) == repr(indices.tolist())
    assert repr(found["distance"].to_pylist()) == repr(distances.tolist())


def test_estimators_and_paths_are_models_too(spark, tmp_path):
    rows = made_rows("classify")
    X = rows.select(["halves", "thirds", "whole", "color"])
    y = ["p" if n % 3 else "q" for n in range(rows.num_rows)]
    estimator = stope.KNeighborsClassifier(3, metric="gower", categorical_features="from_dtype").fit(X, y)
    stope.save(estimator, tmp_path / "model.stope")
    expected = list(estimator.predict(X))
    frame = spark.createDataFrame(rows)
    for model in (estimator, tmp_path / "model.stope", str(tmp_path / "model.stope")):
        assert transform(frame, model).toArrow().sort_by("id")["prediction"].to_pylist() == expected


def test_another_k_and_other_weights_are_those_of_the_model_with_them(spark, models):
    rows, model = made_rows("classify"), models["classify"]
    expected = local_answers(model.with_vote(7, "distance"), rows)
    found = transform(spark.createDataFrame(rows), model, proba=True, n_neighbors=7, weights="distance")
    assert spark_digest(found, expected.column_names) == digest(expected)


def test_probabilities_in_one_column_are_the_confidences(spark, models):
    rows, model = made_rows("classify"), models["classify"]
    found = transform(spark.createDataFrame(rows), model, probability="p").toArrow().sort_by("id")
    assert found["p"].to_pylist() == model.predict_proba(rows).tolist()


def test_columns_may_have_other_names_and_kept_ones_any_type(spark, models):
    rows = made_rows("classify")
    expected = local_answers(models["classify"], rows)
    frame = spark.createDataFrame(rows.rename_columns(["id", "a.b", "it`s", "whole", "color", "key"]))
    frame = frame.selectExpr("*", "array(id, key) AS list", "named_struct('x', id) AS struct", "map('k', id) AS map",
                             "CAST(id AS STRING) AS text", "TIMESTAMP '2024-01-01 00:00:00' AS moment")
    found = transform(frame, models["classify"], columns={"halves": "a.b", "thirds": "it`s"}, proba=True)
    assert spark_digest(found, expected.column_names) == digest(expected)
    by_place = transform(frame, models["classify"], columns=["a.b", "it`s", "whole", "color"], keep=["list", "id"])
    assert by_place.columns == ["list", "id", "prediction"]
    kept = found.toArrow().sort_by("id")
    assert kept["list"].to_pylist() == [[i, k] for i, k in zip(rows["id"].to_pylist(), rows["key"].to_pylist())]
    assert kept["struct"].to_pylist() == [{"x": i} for i in rows["id"].to_pylist()]


def test_a_normalisation_replaces_its_columns_and_leaves_the_others(spark, models):
    rows = made_rows("normalize")
    found = transform(spark.createDataFrame(rows), models["normalize"])
    assert found.columns == rows.column_names
    assert dict(found.dtypes)["whole"] == "double"
    kept = found.toArrow().sort_by("id").select(["color", "key"])
    assert kept.to_pydict() == rows.select(["color", "key"]).to_pydict()


def test_a_whole_number_that_no_double_holds_is_refused_by_the_engine(spark, models):
    frame = spark.createDataFrame(made_rows("classify")).selectExpr(
        "id", "halves", "thirds", "color", "9007199254740993L AS whole")
    with pytest.raises(Exception, match="whole.*2\\^53|2\\^53.*whole"):
        transform(frame, models["classify"]).toArrow()


def test_large_var_types_of_arrow_are_taken_and_given(spark, models):
    rows = made_rows("classify")
    expected = local_answers(models["classify"], rows)
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        found = transform(spark.createDataFrame(rows), models["classify"], proba=True)
        table = found.toArrow().sort_by("id").select(expected.column_names)
    finally:
        spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "false")
    assert digest(table) == digest(expected)


@pytest.mark.modes("local", "cluster2", "connect")
def test_a_large_model_travels_as_a_file_once(spark, models, monkeypatch):
    from stope.spark import _model_place

    monkeypatch.setattr(_model_place, "MOST_BYTES_INSIDE", 0)
    rows = made_rows("classify")
    expected = local_answers(models["classify"], rows)
    for _ in range(2):
        place = _model_place.place_of(spark, models["classify"]._model)
        assert isinstance(place, _model_place.InArtifact)
        found = transform(spark.createDataFrame(rows).repartition(3), models["classify"], proba=True)
        assert spark_digest(found, expected.column_names) == digest(expected)


def test_a_shared_file_that_was_replaced_is_refused(spark, models, tmp_path):
    path = tmp_path / "model.stope"
    stope.save(models["classify"], path)
    rows = made_rows("classify")
    found = transform(spark.createDataFrame(rows), path, shared_path=True, proba=True)
    expected = local_answers(models["classify"], rows)
    assert spark_digest(found, expected.column_names) == digest(expected)
    found = transform(spark.createDataFrame(rows), path, shared_path=True, proba=True)
    stope.save(made_model("tree"), path)
    # Another place: the workers keep the first model by its hash, so only new ones would look at the file.
    changed = transform(spark.createDataFrame(rows), path, shared_path=True, proba=True)
    stope.save(models["regress"], path)
    with pytest.raises(Exception, match="another file than the driver read"):
        changed.toArrow()


def test_rows_of_no_partition_give_no_rows(spark, models):
    frame = spark.createDataFrame(made_rows("classify")).where("id < 0")
    found = transform(frame, models["classify"]).toArrow()
    assert found.num_rows == 0 and "prediction" in found.column_names


def _fitted(kind, table, label, options):
    from stope import _core

    train = stope.Table(table).with_roles(label=label)._core_table
    return _core.fit_model(kind, train, options, {}, _core.Run(1, 0, "cpu", None)).model


def _fitted_neighbors(kind, k):
    """The training rows of that kind as a model of neighbours alone, with that k."""
    train = made_model(kind).parameters_["train"]
    names = [train.column(place).name for place in range(train.n_columns)]
    ignored = [name for name in names if name in ("class", "amount")]
    table = stope.Table(train).with_roles(ignore=ignored)
    return _fitted("neighbors", table, None, {"n_neighbors": str(k), "metric": "gower"})


def test_models_of_another_kind_have_no_neighbours(spark, models):
    with pytest.raises(ValueError, match="no k-NN model"):
        kneighbors(spark.createDataFrame(made_rows("tree")), models["tree"])


def test_a_wrong_column_is_refused_before_any_task(spark, models):
    frame = spark.range(1).selectExpr("raise_error('a task ran') AS halves", "id")
    with pytest.raises(InvalidDataError, match="has no column 'thirds', 'whole', 'color'"):
        transform(frame, models["classify"])
