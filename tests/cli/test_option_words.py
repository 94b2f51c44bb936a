"""Words on the command line that are refused, each with the message that says why, and words that mean the same."""

import json

import pytest

from program import run

TABLE = "a,b,y\n1,2,p\n2,3,q\n3,4,p\n4,9,q\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path


CLASSIFY = ["classify", "t.csv", "t.csv", "--target", "y", "-k", "1"]


@pytest.mark.parametrize("words, message", [
    (["knn", "t.csv", "t.csv", "-k"], "knn: --n-neighbors needs a value, K"),
    (["stats", "t.csv", "--json=3"], "stats: --json takes no value"),
    (["stats", "t.csv", "-"], "stats: unexpected argument '-' (one table at a time"),
    (["stats", "t.csv", "--sep", '"'], "--sep: '\"' is not one ASCII character"),
    (["stats", "t.csv", "--sep", "\n"], "is not one ASCII character"),
    (["stats", "t.csv", "--sep", "\r"], "--sep: '\\x0d' is not one ASCII character"),
    (["stats", "t.csv", "--sep", "\u00e9"], "--sep: '\u00e9' is not one ASCII character"),
    (["stats", "t.csv", "--sep", "\udcff"], "is not one ASCII character"),
    (["stats", "t.csv", "--target="], "--target: the column's name is empty"),
    (["stats", "t.csv", "--output="], "--output: the name of the file is empty"),
    (["stats", "t.csv", "-o", ""], "-o: the name of the file is empty"),
    (["stats", "t.csv", "--skip-lines", "-1"], "--skip-lines: '-1' is not at least 0"),
    (["stats", "t.csv", "--threads", "70000"], "--threads: '70000' is not a number of threads from 1 to 65536"),
    (["stats", "t.csv", "--quantiles", "50"], "--quantiles: '50' is not between 0 and 1; 50 % is 0.5"),
    (["stats", "t.csv", "--quantiles", "500"], "--quantiles: '500' is not between 0 and 1; 0.5 is the median"),
    (["stats", "t.csv", "--quantiles", ",".join(str(i / 2000) for i in range(1001))], "--quantiles: more than 1000 of them"),
    (["evaluate", "t.csv", "--target", "y", "-k", "1..2000000"], "asks for more than 1000000 values of k"),
    (["evaluate", "t.csv", "--target", "y", "-k", "1", "--holdout", "0"], "--holdout: 0 is not between 0 and 1"),
    (["evaluate", "t.csv", "--target", "y", "-k", "1", "--exclude-group", "a"], "--exclude-group needs --loo"),
    (["evaluate", "t.csv", "--target", "a", "--model", "lsq", "--alpha", "-1"], "--alpha is below 0"),
    (["convert", "t.csv", "o.csv", "-o", "p.csv"], "OUT and -o are the same thing: give one"),
    (["convert", "t.csv", "o"], "o: without a suffix: name the format with --output-format"),
    (["check", "-", "-"], "only one of FILE and RESULT can be '-'"),
    (["help", "nosuch"], "help: no command or topic is called 'nosuch'"),
    ([*CLASSIFY, "--class-weight", "balanced,p=2"], "--class-weight: either balanced, or CLASS=W,..."),
    ([*CLASSIFY, "--class-weight", "=2"], "--class-weight: '=2' is not CLASS=W"),
    ([*CLASSIFY, "--metric-param", "=2"], "--metric-param: '=2' is not KEY=VALUE"),
    ([*CLASSIFY, "--feature-weights", "1x,2"], "--feature-weights: '1x' is not a number, and no file is called '1x,2'"),
    (["split", "t.csv", "--holdout", "0", "-o", "a.csv", "--test-out", "b.csv"], "--holdout: 0 is not between 0 and 1"),
    (["split", "t.csv", "--holdout", "0.5"], "name the files: -o train.csv --test-out test.csv"),
    (["split", "t.csv", "--folds", "3"], "name the files: -o 'part-{}.csv'"),
    (["split", "t.csv", "--folds", "5000000", "-o", "p{}.csv"], "--folds: 5000000 parts are not from 2 to"),
    (["split", "t.csv", "--parts", "7", "-o", "p{}.csv"], "--parts: 1 parts are not from 2 to 1000"),
    (["discretize", "t.csv", "--target", "y", "--method", "best-cut", "--model-out", "m.stope"],
     "--model-out is for a set of cuts that is found"),
    (["knn", "t.csv", "-k", "1", "-o", "x.csv"], "QUERY is missing: which rows are to be searched for?"),
    (["knn", "t.csv", "t.csv", "--radius", "2", "--output-format", "npy", "-o", "x.npy"],
     "--radius: the lists differ in length; only csv, tsv, json and jsonl hold such lists"),
    (["knn", "t.csv", "t.csv", "-k", "1", "--output-format", "npy"], "npy and raw write two files: name them with -o"),
    (["pairwise", "t.csv", "t.csv", "-k", "0"], "-k: 0 is not at least 1"),
    (["pairwise", "t.csv", "t.csv", "-k", "1", "--output-format", "npy", "-o", "x.npy"], "-k: an npy matrix holds every pair"),
    (["pairwise", "t.csv", "t.csv", "--output-format", "npy"], "--output-format npy is binary: give -o FILE"),
    (["lsq", "t.csv", "--target", "a", "--max-iterations", "0"], "--max-iterations is below 1"),
    (["normalize", "t.csv", "--method", "z", "--min", "0"], "--min and --max belong to --method range, not z"),
    (["gen", "blobs", "10", "2", "--noise", "-1"], "--noise: -1 is negative"),
])
def test_words_that_cannot_be_used_say_why(folder, words, message):
    done = run(*words, cwd=folder, code=2)
    lines = [line for line in done.err.splitlines() if not line.startswith("stope: warning")]
    assert message in done.err and lines[0].startswith("stope: "), done.err
    assert not done.out
    assert sorted(path.name for path in folder.iterdir()) == ["t.csv"]


@pytest.mark.parametrize("word", ["\t", "\\t", "tab"])
def test_a_tab_has_three_names(folder, word):
    (folder / "t.tsv").write_text(TABLE.replace(",", "\t"))
    named = run("stats", "t.tsv", "--sep", word, "--json", cwd=folder).json()
    assert [column["name"] for column in named["columns"]] == ["a", "b", "y"]
    written = run("convert", "t.csv", "-o", "-", "--output-format", "csv", "--output-sep", word, cwd=folder)
    assert written.text == TABLE.replace(",", "\t")


@pytest.mark.parametrize("words", [["device"], ["completion", "bash"]])
def test_json_and_a_file_are_both_written(folder, words):
    alone = run(*words, "--json", cwd=folder)
    assert json.loads(alone.text)
    both = run(*words, "--json", "-o", "text", cwd=folder)
    assert json.loads(both.text).keys() == json.loads(alone.text).keys()
    assert (folder / "text").read_text() == run(*words, cwd=folder).text


def test_the_rules_of_a_tree_have_a_suffix(folder):
    run("tree", "t.csv", "--target", "y", "-o", "t.rules", cwd=folder)
    assert (folder / "t.rules").read_text() == run("tree", "t.csv", "--target", "y", "--format", "rules", cwd=folder).text


@pytest.fixture
def tree(folder):
    run("tree", "t.csv", "--target", "y", "--model-out", "tree.stope", "-o", "tree.txt", cwd=folder)
    return folder


@pytest.mark.parametrize("words, message", [
    (["predict", "tree.stope", "t.csv", "-k", "3"], "-k: tree.stope (decision tree) has no neighbours"),
    (["predict", "tree.stope", "t.csv", "--weights", "distance"], "--weights: tree.stope (decision tree) has no neighbours"),
    (["info", "tree.stope", "--format", "csv"], "tree.stope: what is shown of a model is text, and --json has it as JSON"),
])
def test_words_that_do_not_suit_a_tree_say_why(tree, words, message):
    assert message in run(*words, cwd=tree, code=2).err


def test_help_is_the_same_with_its_word_before_or_behind(folder):
    assert run("help", "tree", cwd=folder).text == run("tree", "--help", cwd=folder).text
    assert run("help", "tree", "--json", cwd=folder).json()["text"] == run("tree", "--help", cwd=folder).text


def test_info_writes_json_and_a_file(folder):
    told = run("info", "t.csv", "--json", "-o", "i.csv", cwd=folder).json()
    assert told["command"] == "info"
    assert (folder / "i.csv").read_text() == run("info", "t.csv", "--format", "csv", cwd=folder).text
