"""What cannot be right is refused on the driver, in words, before a job starts."""

import pytest

import stope
from made_tables import KINDS, made_model, made_rows
from stope.errors import FileError, InvalidArgumentError, InvalidDataError, UnsupportedError
from stope.spark import kneighbors, resources, transform


@pytest.fixture(scope="module")
def models():
    return {kind: made_model(kind) for kind in KINDS}


@pytest.fixture(scope="module")
def frame(spark):
    """Every task of it fails, so nothing here is refused by a task."""
    rows = spark.createDataFrame(made_rows("classify", 20))
    return rows.selectExpr("assert_true(id < 0, 'a task ran') AS nothing", "*").drop("nothing")


def test_a_missing_column_is_named_with_the_one_that_was_meant(frame, models):
    with pytest.raises(InvalidDataError, match="no column 'color'.*did you mean 'Color'"):
        transform(frame.withColumnRenamed("color", "Color"), models["classify"])
    with pytest.raises(InvalidDataError, match="no column 'halves', 'thirds', which"):
        transform(frame.drop("halves", "thirds"), models["classify"])
    with pytest.raises(InvalidDataError, match="no column 'colour'.*did you mean 'color'"):
        transform(frame, models["classify"], columns={"color": "colour"})


@pytest.mark.parametrize("type_", [
    "array(halves)", "map('a', halves)", "named_struct('a', halves)", "CAST('x' AS BINARY)", "INTERVAL '1' DAY",
    "array(named_struct('a', map(1, halves)))", "parse_json('1')",
])
def test_a_nested_or_strange_column_is_refused_with_its_type(frame, models, type_):
    strange = frame.selectExpr("id", f"{type_} AS halves", "thirds", "whole", "color")
    with pytest.raises(UnsupportedError, match="column 'halves' is of the type .* which no model reads"):
        transform(strange, models["classify"])


@pytest.mark.parametrize("type_", ["INTERVAL '1' YEAR", "make_interval(1, 2)"])
def test_a_column_that_spark_does_not_hand_to_python_is_not_kept(frame, models, type_):
    strange = frame.selectExpr("*", f"{type_} AS strange")
    with pytest.raises(UnsupportedError, match="hands no interval.*leave the column 'strange' out of keep"):
        transform(strange, models["classify"])
    assert transform(strange, models["classify"], keep=["id"]).columns == ["id", "prediction"]


def test_text_for_numbers_and_numbers_for_values_are_refused_with_the_cast_that_helps(frame, models):
    with pytest.raises(InvalidDataError, match="'halves' is text .string..*cast it to double"):
        transform(frame.selectExpr("CAST(halves AS STRING) AS halves", "thirds", "whole", "color"), models["classify"])
    with pytest.raises(InvalidDataError, match="'color' is of the type int.*cast it to string"):
        transform(frame.selectExpr("halves", "thirds", "whole", "1 AS color"), models["classify"])


def test_two_columns_of_one_name_are_refused(frame, models):
    with pytest.raises(InvalidDataError, match="several columns of the name 'id'"):
        transform(frame.select("*", "id"), models["classify"])


def test_a_result_never_hides_a_column(frame, models):
    taken = frame.withColumnRenamed("key", "Prediction")
    with pytest.raises(InvalidArgumentError, match="makes a column 'prediction', and the DataFrame has 'Prediction'"):
        transform(taken, models["classify"])
    assert transform(taken, models["classify"], prediction="answer").columns[-1] == "answer"
    with pytest.raises(InvalidArgumentError, match="makes a column 'halves'"):
        transform(frame, models["normalize"], keep=["halves"])
    with pytest.raises(InvalidArgumentError, match="two columns of the result"):
        transform(frame, models["classify"], probability="prediction")


def test_cuts_that_look_at_the_whole_table_are_refused(frame):
    from stope import _core

    cuts = made_model("cuts")
    filling = stope.Model(_core.Model.of_cuts(cuts._model.columns, [], "fill", "codes"))
    with pytest.raises(UnsupportedError, match="nobody has the whole table"):
        transform(frame, filling)


def test_arguments_that_mean_nothing_are_refused(frame, models):
    wrong = [
        ({"columns": "halves"}, "a list of names or a dict"), ({"columns": ["halves"]}, "1 names.*4 features"),
        ({"columns": {"no": "id"}}, "no feature 'no'"), ({"columns": {"color": 3}}, "names of columns"),
        ({"keep": "id"}, "keep is a list"), ({"keep": ["no"]}, "no column 'no'"), ({"n_neighbors": 0}, "at least 1"),
        ({"n_neighbors": 1.5}, "whole number"), ({"weights": "none such"}, "none such"), ({"weights": 3}, "is a str"),
        ({"threads": 0}, "at least 1"), ({"memory_limit": -1}, "at least 1"), ({"shared_path": True}, "path of a model"),
        ({"device": "gpu"}, "unknown device 'gpu'"),
    ]
    for arguments, words in wrong:
        with pytest.raises(ValueError, match=words):
            transform(frame, models["classify"], **arguments)
    for arguments in ({"device": 3}, {"threads": "two"}):
        with pytest.raises(TypeError):
            transform(frame, models["classify"], **arguments)


def test_models_are_asked_only_for_what_they_give(frame, models):
    with pytest.raises(InvalidArgumentError, match="no confidences"):
        transform(frame, models["regress"], proba=True)
    with pytest.raises(InvalidArgumentError, match="no k-NN model"):
        transform(frame, models["tree"], n_neighbors=3)
    with pytest.raises(UnsupportedError, match="no model file"):
        transform(frame, object())
    with pytest.raises(InvalidArgumentError, match="k is at least 1"):
        kneighbors(frame, models["neighbors"], 0)
    for kind in ("neighbors", "classify"):
        with pytest.raises(InvalidArgumentError, match="k = 121 is more than the 120 training rows"):
            kneighbors(frame, models[kind], 121)
        with pytest.raises(InvalidArgumentError, match="k = 121 is more than the 120 training rows"):
            transform(frame, models[kind], n_neighbors=121)


def test_a_file_that_is_no_model_is_refused(frame, tmp_path):
    (tmp_path / "model.stope").write_bytes(b"no model")
    with pytest.raises(InvalidDataError):
        transform(frame, tmp_path / "model.stope")
    with pytest.raises(FileError):
        transform(frame, tmp_path / "missing.stope", shared_path=True)


def test_resources_that_spark_cannot_give_are_refused():
    for cores, gpus in ((0, 0), (1.5, 0), ("2", 0), (1, 0.7), (1, 1.5), (1, -1), (1, True), (1, "1")):
        with pytest.raises(InvalidArgumentError):
            resources(cores, gpus)
