"""Trees, cuts and rankings of random mixed tables with weights and missing values: the command line's, all of them."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import stope

from stope import CutRanker, LocalDiscretizationTreeClassifier, SupervisedDiscretizer

POLICIES = ["error", "value", "drop", "fill"]


@pytest.fixture(params=range(8))
def table(request, tmp_path):
    """(policy, seed, features, classes, weights, what tells the command line so)."""
    seed = request.param
    policy = POLICIES[seed % 4]
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(5, 150))
    X = pd.DataFrame({
        "a": rng.normal(size=n_rows).round(int(rng.integers(0, 3))) + 1e6 * (seed % 3 == 0),
        "b": rng.integers(0, 4, n_rows) * 1.0,
        "c": rng.choice(["x", "y", "?z", 'q"u'], n_rows),
        "d": rng.choice(["l", "m"], n_rows),
    })
    if policy != "error":
        X.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
        X.loc[rng.random(n_rows) < 0.1, "c"] = None
    y = pd.Series(rng.choice(["k1", "k2", "k3"], n_rows), name="y")
    weights = rng.choice([0, 0.5, 1, 2.25], n_rows)
    weights[:3] = 1
    path = tmp_path / "table.csv"
    X.assign(w=weights, y=y).to_csv(path, index=False)
    told = [path, "--target", "y", "--sample-weight", "w", "--missing-policy", policy]
    return policy, seed, X, y, weights, told


def test_a_tree_is_the_command_lines(table):
    policy, seed, X, y, weights, told = table
    class_weight, word = [(None, None), ("balanced", "balanced"), ({"k1": 2.0}, "k1=2")][seed % 3]
    tree = LocalDiscretizationTreeClassifier(
        criterion=["discernibility", "gini", "entropy"][seed % 3], ccp_alpha=[0, 0.01][seed % 2],
        min_samples_leaf=1 + seed % 3, class_weight=class_weight, missing=policy,
    ).fit(X, y, weights)
    if word:
        told = [*told, "--class-weight", word]
    said = stope("tree", *told, "--criterion", tree.criterion, "--ccp-alpha", tree.ccp_alpha, "--min-samples-leaf",
                 tree.min_samples_leaf, "--format", "json")
    assert json.loads(tree.export("json")) == json.loads(said)


@pytest.mark.parametrize("method", ["md-global", "md-local", "mdlp", "chimerge", "equal-width", "equal-frequency"])
def test_cuts_are_the_command_lines(method, table):
    policy, _, X, y, weights, told = table
    fitted = SupervisedDiscretizer(method, missing=policy).fit(X, y, weights)
    said = json.loads(stope("discretize", *told, "--method", method))
    for name, cuts in zip(X.columns, fitted.cuts_):
        assert list(cuts) == [-np.inf if cut == "-inf" else cut for cut in said.get(name, [])]
    assert fitted.transform(X).shape == X.shape


def test_a_ranking_is_the_command_lines(table):
    policy, _, X, y, weights, told = table
    ranker = CutRanker(missing=policy).fit(X, y, weights)
    said = stope("discretize", *told, "--method", "best-cut", "--output-format", "jsonl")
    said = [json.loads(line) for line in said.splitlines()]
    assert [(one["name"], one["score"]) for one in ranker.ranking_] == [(one["name"], one["score"]) for one in said]
