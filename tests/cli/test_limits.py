"""Memory limits are kept with very many groups, classes and values, or refused naming the bytes. Scores of many classes
are sparse. scripts/limits.sh measures every command."""

import gzip
import random
import re

import numpy as np
import pytest

from program import PROGRAM, environment, run, rows
from test_larger_than_memory import anonymous_peak
import subprocess

BEYOND_THE_LIMIT = 64_000_000


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Makes t.csv: 20,000 rows, 10,000 groups g, 15,000 values n, 3,000 classes y; few.csv: its first 40 rows; iris-like
    small.csv with 3 classes."""
    folder = tmp_path_factory.mktemp("many")
    draw = random.Random(4)
    lines = ["a,g,n,y\n"] + [
        f"{draw.random():.5f},g{draw.randrange(10000)},n{draw.randrange(15000)},c{draw.randrange(3000)}\n"
        for _ in range(20000)
    ]
    (folder / "t.csv").write_text("".join(lines))
    (folder / "few.csv").write_text("".join(lines[:41]))
    small = ["a,y\n"] + [f"{i % 7},{'pqr'[i % 3]}\n" for i in range(60)]
    (folder / "small.csv").write_text("".join(small))
    return folder


def peak_of(words, folder, code=0, threads=2):
    """Returns the peak memory and the text on stderr of a run."""
    process = subprocess.Popen([PROGRAM, *map(str, words), "--progress", "no", "-j", str(threads)], cwd=folder, env=environment(),
                               stdout=subprocess.DEVNULL, stderr=(folder / "errors").open("wb"))
    peak = anonymous_peak(process)
    text = (folder / "errors").read_text()
    assert process.returncode == code, text
    return peak, text


@pytest.mark.parametrize("words", [
    ["stats", "t.csv", "--by", "g", "-o", "-"],
    ["stats", "t.csv", "--by", "g", "--json"],
    ["evaluate", "t.csv", "--target", "y", "--holdout", 0.1, "-k", "1..5", "--json"],
    ["classify", "t.csv", "few.csv", "--target", "y", "--proba"],
    ["discretize", "t.csv", "--target", "y", "--method", "chimerge", "--ignore", "g,n", "--cuts-out", "-"],
], ids=lambda words: " ".join(map(str, words)))
def test_many_groups_and_classes_keep_the_limit(many, words):
    limit = 60_000_000
    peak, _ = peak_of([*words, "--memory-limit", limit], many)
    assert peak < limit + BEYOND_THE_LIMIT


def test_statistics_of_more_groups_than_the_limit_has_room_for_are_refused_before_the_work(many):
    peak, text = peak_of(["stats", "t.csv", "--by", "g", "-o", "x.csv", "--memory-limit", "8MB"], many, code=4)
    found = re.search(r"the statistics of \d+ classes of 4 columns need (\d+) bytes, but the memory limit leaves (\d+) "
                      r"\(--memory-limit 8000000, of which t\.csv holds (\d+); at least (\d+) is needed\)", text)
    assert found, text
    need, left, held, would_do = map(int, found.groups())
    assert left == 8_000_000 - held and would_do == need + held
    assert peak < 8_000_000 + BEYOND_THE_LIMIT
    assert not (many / "x.csv").exists()
    peak_of(["stats", "t.csv", "--by", "g", "-o", "x.csv", "--memory-limit", would_do], many)
    assert len(rows((many / "x.csv").read_text())[1]) % 4 == 0


def test_a_tree_whose_counts_exceed_the_limit_is_refused_with_the_bytes(many):
    peak, text = peak_of(["tree", "t.csv", "--target", "y", "-o", "x.txt", "--memory-limit", "30MB"], many, code=4)
    assert re.search(r"a tree of \d+ nodes or more and \d+ classes needs more than \d+ bytes", text)
    assert "(--memory-limit 30000000" in text
    assert peak < 30_000_000 + BEYOND_THE_LIMIT
    assert not (many / "x.txt").exists()


def test_the_confusion_of_many_classes_is_a_list_of_the_cells_that_are_not_0(many):
    words = ["evaluate", "t.csv", "--target", "y", "--holdout", 0.01, "-k", 1, "--json"]
    scores = run(*words, cwd=many).json()["scores"]
    assert "confusion" not in scores
    cells = scores["confusion_cells"]
    assert sum(n for _, _, n in cells) == scores["rows"] == 200
    assert sum(n for truth, predicted, n in cells if truth == predicted) == round(scores["accuracy"] * 200)
    assert cells == sorted(cells) and all(n > 0 for _, _, n in cells)
    assert len(scores["classes"]) == len(scores["per_class"]) > 50
    support = {c["class"]: c["support"] for c in scores["per_class"]}
    for truth, _, n in cells:
        support[scores["classes"][truth]] -= n
    assert not any(support.values())


def test_the_confusion_of_few_classes_is_a_matrix_with_a_column_for_missing_predictions(many):
    scores = run("evaluate", "small.csv", "--target", "y", "--loo", "-k", 1, "--json", cwd=many).json()["scores"]
    assert "confusion_cells" not in scores
    assert [len(row) for row in scores["confusion"]] == [4, 4, 4]
    assert sum(map(sum, scores["confusion"])) == 60


@pytest.mark.parametrize("command", ["classify", "regress", "predict"])
def test_scores_can_be_left_out(many, command):
    target = ["--target", "a" if command == "regress" else "y"]
    if command == "predict":
        run("classify", "small.csv", *target, "--model-out", "m.stope", cwd=many)
        words = ["predict", "m.stope", "small.csv"]
    else:
        words = [command, "small.csv", "small.csv", *target]
    scored, unscored = (run(*words, "--scores", word, "-o", "p.csv", "--json", cwd=many) for word in ("yes", "no"))
    assert "scores" in scored.json() and "scores" not in unscored.json()
    assert run(*words, "--scores", "no", cwd=many).out == run(*words, cwd=many).out
    assert "--scores" in run(*words, "--scores", "maybe", cwd=many, code=2).err


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Makes t.csv: 300,000 rows, 16 numbers of few different values, 3 classes y."""
    folder = tmp_path_factory.mktemp("long")
    numbers = ",".join(f"a{i}" for i in range(16))
    lines = [",".join(str((row * (17 + i)) % 499) for i in range(16)) + f",{'pqr'[row % 3]}\n" for row in range(300_000)]
    (folder / "t.csv").write_text(f"{numbers},y\n" + "".join(lines))
    return folder


@pytest.mark.parametrize("words", [
    *(["discretize", "t.csv", "--target", "y", "--method", method, "--cuts-out", "-"]
      for method in ("mdlp", "equal-width", "equal-frequency")),
    ["discretize", "t.csv", "--target", "y", "--method", "best-cut", "-o", "-"],
    ["tree", "t.csv", "--target", "y", "--max-depth", "3"],
], ids=" ".join)
def test_many_threads_take_no_more_than_the_limit(long, words):
    limit = 20_000_000
    peak, _ = peak_of([*words, "--memory-limit", limit], long, threads=16)
    assert peak < limit + BEYOND_THE_LIMIT


def test_what_columns_take_without_values_counts_against_the_limit(tmp_path):
    names = ",".join(f"a{i}" for i in range(20_000))
    (tmp_path / "wide.csv").write_text(names + "\n" + ",".join(["1.5"] * 20_000) + "\n")
    _, text = peak_of(["info", "wide.csv", "--memory-limit", "20MB"], tmp_path, code=4)
    assert re.search(r"wide\.csv: its columns, without their values, need at least \d+ bytes", text)
    _, text = peak_of(["knn", "wide.csv", "wide.csv", "--memory-limit", "30MB"], tmp_path, code=4)
    assert re.search(r"of which wide\.csv holds 24160000\)", text)


def test_a_line_of_commas_takes_no_more_than_the_limit(tmp_path):
    (tmp_path / "commas.csv").write_text("," * 5_000_000)
    peak, text = peak_of(["info", "commas.csv", "--memory-limit", "50MB"], tmp_path, code=4)
    assert re.search(r"commas\.csv: its columns, without their values, need at least \d+ bytes", text)
    assert peak < 50_000_000


def test_a_tree_model_with_very_many_counts_is_refused(many):
    words = ["tree", "t.csv", "--target", "y", "--ignore", "g,n", "--max-depth", 8, "--model-out", "tree.stope", "-q"]
    run(*words, cwd=many)
    _, text = peak_of(["predict", "tree.stope", "few.csv", "--memory-limit", "12MB"], many, code=4)
    assert re.search(r"tree\.stope: the model's tables and the class counts of its nodes need \d+ bytes", text)


@pytest.mark.parametrize("words", [["info", "t.npy", "--nominal", "1"], ["stats", "t.npy", "--by", "1"]], ids=" ".join)
def test_the_names_of_numbers_count_against_the_limit(tmp_path, words):
    np.save(tmp_path / "t.npy", np.random.default_rng(1).normal(size=(300_000, 2)))
    peak, text = peak_of([*words, "--memory-limit", "20MB"], tmp_path, code=4)
    assert "t.npy: the values of column '1' need at least" in text and "is needed" not in text
    assert peak < 20_000_000 + BEYOND_THE_LIMIT / 2


def test_a_model_in_use_counts_against_the_limit(tmp_path):
    np.save(tmp_path / "wide.npy", np.zeros((20, 50_000), np.float32))
    run("knn", "wide.npy", "--model-out", "m.stope", cwd=tmp_path)
    peak, text = peak_of(["predict", "m.stope", "wide.npy", "--memory-limit", "122MB", "-o", "k.csv"], tmp_path, code=4)
    assert "of which m.stope holds" in text and "is needed" not in text
    assert peak < 122_000_000 + BEYOND_THE_LIMIT


def test_a_refusal_promises_no_bytes_that_would_not_do(tmp_path):
    np.save(tmp_path / "wide.npy", np.zeros((20, 50_000), np.float32))
    for limit in ("40MB", "62MB", "80MB"):
        _, text = peak_of(["knn", "wide.npy", "wide.npy", "--memory-limit", limit], tmp_path, code=4)
        assert "bytes" in text and "is needed" not in text


def test_a_refusal_to_expand_a_file_needs_more_than_the_limit_leaves(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wb", compresslevel=1) as file:
        file.write(bytes(100_000_000))
    for words, stdin in ((["info", "t.csv.gz"], b""), (["info", "-"], bytes(60_000_000))):
        text = run(*words, "--memory-limit", "50MB", cwd=tmp_path, code=4, stdin=stdin).err
        need, left = map(int, re.search(r"needs at least (\d+) bytes, but the memory limit leaves (\d+)", text).groups())
        assert need > left > 49_000_000


def test_permutations_of_a_short_table_keep_the_limit(many):
    """A round has millions of them, whose worths take more than the labels."""
    limit = 80_000_000
    peak, _ = peak_of(["discretize", "few.csv", "--target", "y", "--select", "a", "--method", "best-cut", "--sample", 6,
                       "--permutations", 1_500_000, "-o", "x.csv", "--memory-limit", limit], many)
    assert peak < limit + BEYOND_THE_LIMIT


@pytest.mark.parametrize("number", [4_000_000, 2**63 - 1])
def test_more_permutations_than_the_limit_has_room_for_are_refused_before_the_work(many, number):
    peak, text = peak_of(["discretize", "few.csv", "--target", "y", "--select", "a", "--method", "best-cut", "--permutations", number,
                          "-o", "y.csv", "--memory-limit", "80MB"], many, code=4)
    assert f"the highest scores of {number} permutations need" in text
    assert peak < BEYOND_THE_LIMIT
    assert not (many / "y.csv").exists()


@pytest.mark.parametrize("kind", ["blobs", "mixed", "rules", "linear", "wide", "fvecs"])
def test_generated_tables_of_very_many_columns_keep_the_limit_or_are_refused(tmp_path, kind):
    limit = 40_000_000
    peak, _ = peak_of(["gen", kind, 15_000, 2, "-o", "x.csv", "--memory-limit", limit], tmp_path)
    assert peak < limit + BEYOND_THE_LIMIT
    for columns in (1_000_000, 2**63 - 1):
        peak, text = peak_of(["gen", kind, columns, 2, "-o", "y.csv", "--memory-limit", limit], tmp_path, code=4)
        assert f"{columns} columns without their values need" in text
        assert peak < limit + BEYOND_THE_LIMIT
    assert not (tmp_path / "y.csv").exists()
