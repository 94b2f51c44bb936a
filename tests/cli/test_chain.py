"""Chains: models joined, or fitted behind a saved one, give byte for byte what their steps give through files."""

import csv
import random

import pytest

from program import run
from test_bad_inputs import refuse

N_TRAIN, N_TEST = 60, 40


def table(n, seed, label=True):
    rng = random.Random(seed)
    rows = [["id", "x", "z", "colour", "code", "y"][: 6 if label else 5]]
    for i in range(n):
        x = "" if rng.random() < 0.05 else repr(rng.gauss(100, 15))
        z = rng.gauss(0, 1)
        row = [f"r{i}", x, repr(z), rng.choice(["red", "blue", ""]), rng.choice(["007", "12"])]
        rows.append(row + (["yes" if z + rng.gauss(0, 0.5) > 0 else "no"] if label else []))
    return "\n".join(",".join(row) for row in rows) + "\n"


@pytest.fixture
def box(tmp_path):
    (tmp_path / "train.csv").write_text(table(N_TRAIN, 1))
    (tmp_path / "test.csv").write_text(table(N_TEST, 2))
    return tmp_path


ROLES = ["--target", "y", "--id", "id"]
TYPES = ["--nominal", "code"]


def scaled(box, *more):
    """Scales train.csv; the step and both scaled tables are files."""
    run("normalize", "train.csv", "--method", "z", *ROLES, *TYPES, *more, "--model-out", "n.stope", "-o", "train-n.csv", cwd=box)
    run("normalize", "test.csv", "--apply", "n.stope", "-o", "test-n.csv", cwd=box)


def test_a_saved_normalisation_is_applied_by_both_commands(box):
    scaled(box)
    run("predict", "n.stope", "test.csv", "-o", "p.csv", cwd=box)
    assert (box / "p.csv").read_bytes() == (box / "test-n.csv").read_bytes()
    run("normalize", "train.csv", "--apply", "n.stope", "-o", "again.csv", cwd=box)
    assert (box / "again.csv").read_bytes() == (box / "train-n.csv").read_bytes()
    with open(box / "test-n.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["code"] for row in rows} == {"007", "12"}  # read as the model's own table was


FITS = {
    "classify": (["classify", "-k", 3, "--metric", "gower", "--weights", "distance"], ["--proba"]),
    "tree": (["tree", "--missing-policy", "value"], ["--proba"]),
    "tree explained": (["tree", "--missing-policy", "value"], ["--explain", "--proba"]),
    "knn": (["knn", "-k", 4, "--metric", "heom"], []),
    "cuts": (["discretize", "--method", "mdlp", "--missing-policy", "value"], []),
    "normalize": (["normalize", "--method", "range"], []),
}


@pytest.mark.parametrize("name", FITS)
def test_a_chain_gives_what_its_steps_give(box, name):
    (command, *options), predict = FITS[name]
    scaled(box)
    fit = [*options, *ROLES, *TYPES, "-q"]
    out = [] if command in ("classify", "knn") else ["-o", "fit.txt" if command == "tree" else "fit.csv"]
    if command == "discretize":
        out = ["--cuts-out", "cuts.json"]
    run(command, "train-n.csv", *fit, *out, "--model-out", "last.stope", cwd=box)
    run("predict", "last.stope", "test-n.csv", *predict, "-q", "-o", "by-hand.csv", cwd=box)
    # Joined, and fitted behind the step.
    run("chain", "n.stope", "last.stope", "-o", "joined.stope", cwd=box)
    run(command, "train.csv", *fit, *out, "--after", "n.stope", "--model-out", "after.stope", cwd=box)
    for chain in ("joined.stope", "after.stope"):
        for threads in (1, 3):
            run("predict", chain, "test.csv", *predict, "-q", "-j", threads, "-o", "chain.csv", cwd=box)
            assert (box / "chain.csv").read_bytes() == (box / "by-hand.csv").read_bytes(), chain
        tiles = {"STOPE_TILE_QUERIES": "7"}
        run("predict", chain, "test.csv", *predict, "-q", "-o", "chain.csv", cwd=box, env=tiles)
        assert (box / "chain.csv").read_bytes() == (box / "by-hand.csv").read_bytes(), chain


@pytest.mark.parametrize("command", ["classify", "knn"])
def test_a_second_table_goes_through_the_step_too(box, command):
    scaled(box)
    options = [*ROLES, *TYPES, "-k", 3, "--metric", "gower", "-q"]
    run(command, "train-n.csv", "test-n.csv", *options, "-o", "by-hand.csv", cwd=box)
    run(command, "train.csv", "test.csv", *options, "--after", "n.stope", "-o", "after.csv", cwd=box)
    assert (box / "after.csv").read_bytes() == (box / "by-hand.csv").read_bytes()


@pytest.mark.parametrize("command", ["classify", "knn"])
def test_the_explanations_of_a_chain_are_those_of_its_last_step(box, command):
    scaled(box)
    run(command, "train-n.csv", *ROLES, *TYPES, "-k", 3, "--metric", "gower", "-q", "--model-out", "last.stope", cwd=box)
    run("chain", "n.stope", "last.stope", "-q", "-o", "joined.stope", cwd=box)
    run("predict", "last.stope", "test-n.csv", "-q", "-o", "p.csv", "--explain-out", "by-hand.csv", cwd=box)
    run("predict", "joined.stope", "test.csv", "-q", "-o", "p.csv", "--explain-out", "chain.csv", cwd=box)
    assert (box / "chain.csv").read_bytes() == (box / "by-hand.csv").read_bytes()


def test_three_steps_and_a_chain_in_a_chain(box):
    numeric = ["--ignore", "colour,code", "--target", "y", "--id", "id", "-q"]
    run("normalize", "train.csv", "--method", "z", *numeric, "--model-out", "n.stope", "-o", "a.csv", cwd=box)
    run("pca", "a.csv", *numeric, "--impute", "mean", "--model-out", "p.stope", "-o", "b.csv", cwd=box)
    run("classify", "b.csv", "--target", "y", "--id", "id", "-k", 5, "-q", "--model-out", "c.stope", cwd=box)
    run("chain", "n.stope", "p.stope", "c.stope", "-o", "flat.stope", cwd=box)
    run("chain", "n.stope", "p.stope", "-o", "two.stope", cwd=box)
    run("chain", "two.stope", "c.stope", "-o", "nested.stope", cwd=box)
    assert (box / "flat.stope").read_bytes() == (box / "nested.stope").read_bytes()
    run("predict", "n.stope", "test.csv", "-o", "1.csv", cwd=box)
    run("predict", "p.stope", "1.csv", "-o", "2.csv", "-q", cwd=box)
    by_hand = run("predict", "c.stope", "2.csv", "--proba", cwd=box)
    chain = run("predict", "flat.stope", "test.csv", "--proba", cwd=box)
    assert chain.text == by_hand.text and "accuracy" in chain.err
    other = run("predict", "flat.stope", "test.csv", "--proba", "-k", 1, "--weights", "distance", cwd=box)
    assert other.text == run("predict", "c.stope", "2.csv", "--proba", "-k", 1, "--weights", "distance", cwd=box).text
    assert other.text != chain.text


def test_gaps_are_filled_for_what_follows(box):
    """impute, normalise, predict: each fitted behind the chain so far."""
    options = [*ROLES, *TYPES, "-q"]
    run("impute", "train.csv", *options, "-k", 3, "--metric", "gower", "--model-out", "i.stope", "-o", "1.csv", cwd=box)
    run("normalize", "1.csv", *options, "--method", "z", "--model-out", "n.stope", "-o", "2.csv", cwd=box)
    run("tree", "2.csv", *options, "--model-out", "t.stope", "-o", "t.txt", cwd=box)
    run("normalize", "train.csv", *options, "--method", "z", "--after", "i.stope", "--model-out", "in.stope", "-o", "3.csv", cwd=box)
    assert (box / "3.csv").read_bytes() == (box / "2.csv").read_bytes()
    run("tree", "train.csv", *options, "--after", "in.stope", "--model-out", "all.stope", "-o", "u.txt", cwd=box)
    assert (box / "u.txt").read_bytes() == (box / "t.txt").read_bytes()
    run("predict", "i.stope", "test.csv", "-q", "-o", "a.csv", cwd=box)
    run("predict", "n.stope", "a.csv", "-q", "-o", "b.csv", cwd=box)
    by_hand = run("predict", "t.stope", "b.csv", "--proba", "-q", cwd=box)
    assert run("predict", "all.stope", "test.csv", "--proba", "-q", cwd=box).text == by_hand.text
    kinds = [step["kind"] for step in run("info", "all.stope", "--json", cwd=box).json()["model"]["steps"]]
    assert kinds == ["impute", "normalization", "tree"]
    run("impute", "train.csv", *options, "--metric", "gower", "--after", "n.stope", "--model-out", "m.stope", "-o", "4.csv", cwd=box)
    assert run("info", "m.stope", cwd=box).text.count("step ") == 2


def test_what_a_step_ignores_may_be_a_feature_of_the_next(box):
    """Through files each step reads the table with its own roles."""
    run("normalize", "train.csv", "--method", "z", *ROLES, "--ignore", "code,colour", "--model-out", "n.stope", "-o", "a.csv", cwd=box)
    fit = ["discretize", "--method", "equal-width", "--bins", 4, *ROLES, "--missing-policy", "value", "-q"]
    run(fit[0], "a.csv", *fit[1:], *TYPES, "--ignore", "z,colour", "--model-out", "d.stope", "-o", "b.csv", cwd=box)
    run("tree", "b.csv", *ROLES, *TYPES, "--missing-policy", "value", "-q", "--model-out", "t.stope", "-o", "t.txt", cwd=box)
    run("chain", "n.stope", "d.stope", "t.stope", "-o", "all.stope", cwd=box)
    run("predict", "n.stope", "test.csv", "-o", "1.csv", cwd=box)
    run("predict", "d.stope", "1.csv", "-o", "2.csv", cwd=box)
    by_hand = run("predict", "t.stope", "2.csv", "--proba", "-q", cwd=box)
    assert run("predict", "all.stope", "test.csv", "--proba", "-q", cwd=box).text == by_hand.text
    assert "colour" in (box / "t.txt").read_text() or "code" in (box / "t.txt").read_text() or "z" in (box / "t.txt").read_text()


def test_info_shows_the_steps(box):
    scaled(box)
    run("tree", "train.csv", *ROLES, *TYPES, "--missing-policy", "value", "-q", "--after", "n.stope", "-o", "t.txt",
        "--model-out", "both.stope", cwd=box)
    text = run("info", "both.stope", cwd=box).text
    assert "kind 'chain'" in text and "step 1: normalization" in text and "step 2: tree" in text and "takes" in text
    model = run("info", "both.stope", "--json", cwd=box).json()["model"]
    assert model["kind"] == "chain" and model["options"] == {"steps": "2"}
    assert [step["kind"] for step in model["steps"]] == ["normalization", "tree"]
    assert [c["role"] for c in model["columns"]] == ["id", "regular", "regular", "regular", "regular", "label"]
    done = run("predict", "both.stope", "test.csv", "--json", "-o", "p.csv", cwd=box).json()
    assert done["model"] == {"path": "both.stope", "kind": "chain"} and done["scores"]["accuracy"] > 0.5


def test_the_label_is_the_last_models(box):
    """The step has never seen the label, or has seen it as any other word."""
    run("normalize", "train.csv", "--method", "z", "--ignore", "id", *TYPES, "--model-out", "n.stope", "-o", "a.csv", cwd=box)
    done = run("tree", "train.csv", *ROLES, *TYPES, "--missing-policy", "value", "--after", "n.stope", "-o", "t.txt",
               "--model-out", "both.stope", cwd=box)
    assert "warning" not in done.err
    assert run("predict", "both.stope", "test.csv", "--json", "-o", "p.csv", cwd=box).json()["scores"]["rows"] == N_TEST
    with open(box / "p.csv") as file:
        assert next(csv.DictReader(file))["id"] == "r0"


def test_scores_warn_of_a_step_that_may_have_seen_the_rows(box):
    scaled(box)
    warned = "fitted once, before the rows were split"
    done = run("evaluate", "train.csv", *ROLES, *TYPES, "--metric", "gower", "--after", "n.stope", cwd=box)
    assert warned in done.err
    tree = ["tree", "train.csv", *ROLES, *TYPES, "--missing-policy", "value", "--after", "n.stope", "-o", "t.txt"]
    assert warned in run(*tree, "--cv", 3, cwd=box).err
    assert warned not in run(*tree, "--test", "test.csv", cwd=box).err


def test_models_that_do_not_fit_are_refused_by_the_columns_name(box):
    scaled(box)
    (box / "other.csv").write_text("height,y\n1,a\n2,b\n3,a\n4,b\n")
    run("tree", "other.csv", "--target", "y", "--model-out", "t.stope", "-o", "t.txt", "-q", cwd=box)
    refuse(box, 2, "chain", "n.stope", "t.stope", "-o", "c.stope", says=("height", "step 2", "does not give"))
    refuse(box, 2, "chain", "t.stope", "n.stope", "-o", "c.stope", says="only the last step of a chain may predict")
    refuse(box, 2, "chain", "n.stope", "-o", "c.stope", says="two or more")
    refuse(box, 2, "chain", "n.stope", "n.stope", says="-o")
    refuse(box, 2, "chain", "n.stope", "n.stope", "-o", "n.stope", says="same file")
    refuse(box, 2, "chain", "n.stope", "n.stope", "-o", "c.csv", says="no .csv file")
    refuse(box, 3, "chain", "n.stope", "train.csv", "-o", "c.stope", says="not a model file")
    refuse(box, 3, "chain", "n.stope", "nowhere.stope", "-o", "c.stope", says="nowhere.stope")
    refuse(box, 2, "tree", "train.csv", *ROLES, "--after", "t.stope", "-o", "x.txt", says=("--after", "no table"))


def test_a_step_that_changes_the_label_is_refused(box):
    (box / "n.csv").write_text("x,y\n1,10\n2,20\n3,25\n4,45\n")
    run("normalize", "n.csv", "--method", "z", "--model-out", "n.stope", "-o", "a.csv", cwd=box)
    refuse(box, 2, "lsq", "n.csv", "--target", "y", "--after", "n.stope", "-o", "c.csv", says=("'y'", "label"))
    run("lsq", "a.csv", "--target", "y", "--model-out", "l.stope", "-o", "c.csv", "-q", cwd=box)
    refuse(box, 2, "chain", "n.stope", "l.stope", "-o", "b.stope", says="changes 'y', which is the label")


@pytest.mark.parametrize("option", [["--method", "z"], ["--min", 0], ["--compat", "none"], ["--model-out", "m.stope"], ["--after", "n.stope"]])
def test_applying_a_normalisation_fits_nothing(box, option):
    scaled(box)
    refuse(box, 2, "normalize", "test.csv", "--apply", "n.stope", *option, says=(option[0], "--apply"))


def test_only_a_normalisation_is_applied_as_one(box):
    run("tree", "train.csv", *ROLES, *TYPES, "--missing-policy", "value", "--model-out", "t.stope", "-o", "t.txt", "-q", cwd=box)
    refuse(box, 2, "normalize", "test.csv", "--apply", "t.stope", says=("decision tree", "stope predict"))
    refuse(box, 2, "normalize", "test.csv", says="--method says how to normalise")
    refuse(box, 2, "normalize", "-", "--apply", "-", says="standard input")


def test_a_pipe_that_would_have_to_be_read_twice_is_refused(box):
    scaled(box)
    text = (box / "train.csv").read_bytes()
    fit = ["tree", "-", "--missing-policy", "value", "--after", "n.stope", "-o", "t.txt"]
    refuse(box, 2, *fit, says="read again", stdin=text)
    run(*fit, *ROLES, *TYPES, stdin=text, cwd=box)


def test_a_chain_of_cuts_that_leave_rows_out_is_refused(box):
    run("discretize", "train.csv", *ROLES, *TYPES, "--method", "mdlp", "--missing-policy", "drop", "--model-out", "d.stope",
        "--cuts-out", "c.json", "-q", cwd=box)
    run("discretize", "train.csv", *ROLES, *TYPES, "--method", "mdlp", "--missing-policy", "value", "--model-out", "v.stope",
        "-o", "coded.csv", "-q", cwd=box)
    run("tree", "coded.csv", *ROLES, "--model-out", "t.stope", "-o", "t.txt", "-q", cwd=box)
    refuse(box, 2, "chain", "d.stope", "t.stope", "-o", "c.stope", says="leaves rows")
    run("chain", "v.stope", "t.stope", "-o", "c.stope", cwd=box)
    assert run("predict", "c.stope", "test.csv", "-q", cwd=box).text.count("\n") == N_TEST + 1


SPECIAL = "id,w,a,b,s,y\nr1,1,1,2,7,1\nr2,2,2,3,8,2\nr3,1,3,4,7,1\nr4,3,4,9,9,2\n"


def test_after_takes_the_roles_and_types_that_its_model_knows(tmp_path):
    (tmp_path / "t.csv").write_text(SPECIAL)
    named = ["--target", "y", "--nominal", "y,s", "--id", "id", "--sample-weight", "w"]
    run("normalize", "t.csv", "--method", "range", *named, "-o", "n.csv", "--model-out", "n.stope", cwd=tmp_path)
    both = ["classify", "t.csv", "t.csv", "--after", "n.stope", "-k", "3", "--metric", "heom", "--proba"]
    alone = run(*both, cwd=tmp_path)
    assert alone.text == run(*both, *named, cwd=tmp_path).text
    assert alone.text.splitlines()[0] == "row,prediction,confidence(1),confidence(2),id"
