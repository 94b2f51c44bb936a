"""A model as a stage of a pipeline, saved and loaded."""

import pytest

from made_tables import digest, local_answers, made_model, made_rows, spark_digest
from stope.errors import InvalidArgumentError, InvalidDataError
from stope.spark import StopeTransformer

EVERYWHERE = pytest.mark.modes("local", "connect")


@pytest.fixture(scope="module")
def case():
    model, rows = made_model("classify"), made_rows("classify")
    return model, rows, local_answers(model, rows).select(["prediction"])


@EVERYWHERE
def test_a_stage_that_was_saved_answers_as_before(spark, case, tmp_path, monkeypatch):
    from stope.spark import ml

    monkeypatch.setattr(ml, "_BYTES_OF_A_ROW", 100)  # the model is saved in many parts
    model, rows, expected = case
    stage = StopeTransformer(model=model, probabilityCol="probability", nNeighbors=3).setPredictionCol("answer")
    path = str(tmp_path / "stage")
    stage.save(path)
    loaded = StopeTransformer.load(path)
    assert loaded.uid == stage.uid and loaded.getPredictionCol() == "answer" and loaded.getNNeighbors() == 3
    found = loaded.transform(spark.createDataFrame(rows)).withColumnRenamed("answer", "prediction")
    assert spark_digest(found, ["prediction"]) == digest(expected)
    table = found.toArrow().sort_by("id")
    assert table["probability"].to_pylist() == model.predict_proba(rows).tolist()


def test_a_saved_stage_is_replaced_only_on_request(spark, case, tmp_path):
    model, rows, expected = case
    path = str(tmp_path / "stage")
    StopeTransformer(model=made_model("tree")).save(path)
    with pytest.raises(Exception, match="(?i)already exists"):
        StopeTransformer(model=model).save(path)
    StopeTransformer(model=model).write().overwrite().save(path)
    found = StopeTransformer.load(path).transform(spark.createDataFrame(rows))
    assert spark_digest(found, ["prediction"]) == digest(expected)


def test_a_model_that_was_exchanged_is_refused(spark, case, tmp_path):
    import shutil

    StopeTransformer(model=case[0]).save(str(tmp_path / "one"))
    StopeTransformer(model=made_model("tree")).save(str(tmp_path / "two"))
    shutil.rmtree(tmp_path / "one" / "model")
    shutil.copytree(tmp_path / "two" / "model", tmp_path / "one" / "model")
    with pytest.raises(InvalidDataError, match="not the one that was saved"):
        StopeTransformer.load(str(tmp_path / "one"))


@EVERYWHERE
def test_pipelines_are_saved_and_loaded_with_their_model(spark, case, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import SQLTransformer

    model, rows, expected = case
    renamed = rows.rename_columns(["id", "h", "thirds", "whole", "color", "key"])
    frame = spark.createDataFrame(renamed)
    stages = [SQLTransformer(statement="SELECT *, h AS halves FROM __THIS__"), StopeTransformer(model=model)]
    Pipeline(stages=stages).save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    fitted.save(str(tmp_path / "fitted"))
    loaded = PipelineModel.load(str(tmp_path / "fitted"))
    assert spark_digest(loaded.transform(frame), ["prediction"]) == digest(expected)


def test_a_copy_with_other_parameters_shares_the_model(spark, case):
    model, rows, _ = case
    stage = StopeTransformer(model=model)
    other = stage.copy({stage.nNeighbors: 7, stage.predictionCol: "seven"})
    assert stage.getNNeighbors() == 0 and other.model is stage.model
    found = other.transform(spark.createDataFrame(rows)).toArrow().sort_by("id")["seven"].to_pylist()
    assert found == list(model.with_vote(7).predict(rows))


def test_a_stage_without_a_model_is_refused(spark, case):
    with pytest.raises(InvalidArgumentError, match="has no model"):
        StopeTransformer().transform(spark.createDataFrame(case[1]))
