"""PCA, linear models and statistics have the bits of the command line, and their model files go both ways."""

import io
import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from command_line import command, stope

from stope import PCA, LinearRegression, Ridge, TruncatedSVD, _core, column_stats

RANDOM = np.random.default_rng(11)
TABLE = pd.DataFrame(RANDOM.normal(size=(500, 6)) @ RANDOM.normal(size=(6, 6)) + 100, columns=list("abcdef"))
TARGET = TABLE.to_numpy() @ RANDOM.normal(size=6) + RANDOM.normal(size=500)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    TABLE.assign(y=TARGET, w=np.arange(500) % 5 / 4).to_csv(path, index=False, float_format="%.17g")
    return path


def number(cell):
    """The cell as Python reads it: to the bit."""
    try:
        return float(cell)
    except ValueError:
        return cell


def numbers(text):
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False).map(number)


@pytest.mark.parametrize(
    "model, options",
    [
        (PCA(), []), (PCA(2), ["--n-components", 2]), (PCA(0.8), ["--n-components", 0.8]),
        (PCA(3, whiten=True), ["--n-components", 3, "--whiten"]), (PCA(scaling="z"), ["--normalize", "z"]),
        (TruncatedSVD(3), ["--n-components", 3, "--no-center"]),
    ],
)
def test_scores_are_those_of_the_command_line(model, options, file, tmp_path):
    expected = numbers(stope("pca", file, "--ignore", "y,w", *options, "--model-out", tmp_path / "model.stope"))
    scores = model.fit(TABLE).transform(TABLE)
    assert np.array_equal(scores, expected.to_numpy())
    assert np.array_equal(model.fit_transform(TABLE.to_numpy()), scores)
    theirs = _core.Pca.of_bytes((tmp_path / "model.stope").read_bytes())
    assert np.array_equal(theirs.components, model.components_)
    (tmp_path / "ours.stope").write_bytes(model.fit(TABLE)._to_model())
    assert np.array_equal(numbers(stope("predict", tmp_path / "ours.stope", file)).filter(like="pc"), expected)


@pytest.mark.parametrize(
    "model, options",
    [
        (LinearRegression(), []), (LinearRegression(fit_intercept=False), ["--no-intercept"]),
        (Ridge(2.5), ["--alpha", 2.5]), (LinearRegression(standard_errors=True), ["--standard-errors"]),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_are_those_of_the_command_line(model, options, weighted, file, tmp_path):
    columns = ["--target", "y", *(["--sample-weight", "w"] if weighted else ["--ignore", "w"])]
    expected = numbers(stope("lsq", file, *columns, *options))
    weights = np.arange(500) % 5 / 4 if weighted else None
    model.fit(TABLE, TARGET, weights)
    assert np.array_equal([model.intercept_, *model.coef_], expected["coefficient"])
    if model.get_params().get("standard_errors"):
        found = [model.intercept_standard_error_, *model.standard_errors_]
        assert np.array_equal(found, expected["standard_error"])
    (tmp_path / "ours.stope").write_bytes(model._to_model())
    predictions = numbers(stope("predict", tmp_path / "ours.stope", file))["prediction"]
    assert np.array_equal(predictions, model.predict(TABLE))


def test_statistics_are_those_of_the_command_line(file):
    expected = pd.DataFrame(json.loads(stope("stats", file, "--output-format", "json")))
    found = column_stats(TABLE.assign(y=TARGET, w=np.arange(500) % 5 / 4), distinct=True)
    assert found.names == list(expected["column"])
    for ours, theirs in (("min", "min"), ("max", "max"), ("mean", "mean"), ("skewness", "skewness"), ("sum", "sum")):
        assert np.array_equal(getattr(found, ours), expected[theirs]), ours
    assert found.distinct == expected["distinct"].tolist()


def test_a_damaged_model_file_is_refused_by_the_command_line_too(file, tmp_path):
    bytes_of = bytearray(PCA().fit(TABLE)._to_model())
    bytes_of[len(bytes_of) // 2] ^= 4
    (tmp_path / "bad.stope").write_bytes(bytes_of)
    done = subprocess.run([command(), "predict", tmp_path / "bad.stope", file], capture_output=True)
    assert done.returncode != 0
    with pytest.raises(ValueError):
        _core.Pca.of_bytes(bytes(bytes_of))
