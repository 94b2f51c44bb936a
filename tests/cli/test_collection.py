"""Models that earlier versions wrote are read, and answer what these versions answered, to the byte. scripts/add_models.sh
adds a version's models at its release."""

import pytest

from program import ROOT, run

COLLECTION = ROOT / "tests" / "model" / "collection"
MODELS = sorted(COLLECTION.glob("*/*.stope"))


@pytest.mark.parametrize("model", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_model_of_an_earlier_version_answers_as_it_did(model):
    (answer,) = model.parent.glob(model.stem + ".*.csv")
    want = answer.read_bytes()
    proba = ["--proba"] if b",confidence" in want.split(b"\n", 1)[0] else []
    assert run("predict", model, model.parent / answer.name.removeprefix(model.stem + "."), *proba).out == want


def test_every_version_has_a_model_of_every_kind():
    for folder in COLLECTION.iterdir():
        kinds = sorted(run("info", path, "--json").json()["model"]["kind"] for path in folder.glob("*.stope"))
        assert sorted(set(kinds)) == ["chain", "cuts", "impute", "least squares", "neighbors", "normalization", "pca", "tree"]
        assert kinds.count("neighbors") == 3, "classes, numbers and lists"
