"""What messages say: the place of a cell, the option that helps, and nothing that is false."""

import os
import pty
import subprocess

import pytest

from program import PROGRAM, environment, is_warning, run


def table(folder, name, text):
    (folder / name).write_text(text)
    return name


FILES = {
    "typo.csv": "a,b\n1,2\nx,3\n3,4\n",
    "weight.csv": "w,x,y\n1,2,p\n\n-1,3,q\n1,4,p\n",
    "label.csv": '"a\nb",y\n1,p\n2,q\n"3\n",\n',
    "number.csv": "a,y\n1,2\n2,\n3,4\n",
    "hole.csv": "a,b,y\n1,2,p\n2,?,q\n3,4,p\n",
    "hole.arff": "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n% c\n1,2\n2,?\n",
    "apart.csv": "a,b,y\n1,2000,p\n2,1,q\n3,5,p\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        table(tmp_path, name, text)
    return tmp_path


def error_of(folder, *args, code=3):
    lines = run(*args, cwd=folder, code=code).err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.parametrize("args, place, code", [
    (["classify", "weight.csv", "weight.csv", "--target", "y", "--sample-weight", "w", "-k", "1"], "weight.csv:4:1", 3),
    (["classify", "label.csv", "label.csv", "--target", "y", "-k", "1"], "label.csv:6:3", 3),
    (["tree", "label.csv", "--target", "y"], "label.csv:6:3", 3),
    (["evaluate", "label.csv", "--target", "y", "-k", "1", "--loo"], "label.csv:6:3", 3),
    (["regress", "number.csv", "number.csv", "--target", "y", "-k", "1"], "number.csv:3:3", 3),
    (["lsq", "number.csv", "--target", "y"], "number.csv:3:3", 3),
    (["stats", "typo.csv", "--target", "a", "--numeric", "a"], "typo.csv:3:1", 3),
    (["tree", "hole.csv", "--target", "y"], "hole.csv:3:3", 3),
    (["pca", "hole.csv", "--n-components", "1", "--ignore", "y"], "hole.csv:3:3", 3),
    (["pca", "hole.arff", "--n-components", "1"], "hole.arff:7:3", 3),
])
def test_a_message_about_a_cell_names_its_line_and_column(folder, args, place, code):
    assert error_of(folder, *args, code=code).startswith(f"stope: {place}: ")


def test_a_row_of_a_pipe_has_no_line(folder):
    done = run("tree", "-", "--target", "y", stdin=FILES["hole.csv"].encode(), cwd=folder, code=3)
    assert done.err.startswith("stope: <stdin>: column 'b', row 1: a missing value")


def test_a_row_of_a_fold_is_not_taken_for_a_row_of_the_file(folder):
    table(folder, "fold.csv", "a,y\n1,p\n0,q\n1,p\n0,q\n2,p\n2,q\n")
    error = error_of(folder, "evaluate", "fold.csv", "--target", "y", "-k", "1", "--metric", "itakura-saito", "--cv", "2")
    assert error.startswith("stope: fold.csv (some of its rows): ")


@pytest.mark.parametrize("args, hint, code", [
    (["pca", "hole.csv", "--n-components", "1"], "(--ignore y, or --numeric-only)", 3),
    (["pca", "hole.csv", "--n-components", "1", "--numeric-only"], "(--ignore b, or --impute mean)", 3),
    (["lsq", "hole.csv", "--target", "a", "--numeric-only"], "(--ignore b, or --impute mean)", 3),
    (["tree", "hole.csv", "--target", "y"], "(--missing-policy value, drop or fill says what it means)", 3),
    (["regress", "typo.csv", "typo.csv", "--target", "a"], "(--numeric a, or stope classify)", 3),
    (["knn", "hole.csv", "hole.csv", "--metric", "euclidean", "-k", "1"],
     "(--ignore y, or another measure: stope help metrics)", 3),
    (["tree", "hole.csv"], "(--target names it, or its role in --schema)", 2),
    (["evaluate", "hole.csv"], "(--target names it, or its role in --schema)", 2),
    (["classify", "hole.csv", "hole.csv"], "(--target names it, or its role in --schema)", 2),
])
def test_advice_names_the_option_that_does_it(folder, args, hint, code):
    assert error_of(folder, *args, code=code).endswith(hint)


def test_a_column_that_needs_quotes_is_quoted_in_advice(folder):
    table(folder, "odd.csv", "it's odd,b\nx,1\ny,2\n")
    assert error_of(folder, "pca", "odd.csv", "--n-components", "1").endswith(
        r"(--ignore 'it'\''s odd', or --numeric-only)")


def test_nobody_is_told_to_leave_the_target_out(folder):
    error = error_of(folder, "lsq", "hole.csv", "--target", "b", "--numeric-only", "--impute", "mean")
    assert "hole.csv:3:3" in error and "the target is missing" in error
    assert "--" not in error and "mean" not in error, "that advice was followed already"


def test_there_is_an_option_for_whatever_is_to_be_left_out(folder):
    for words in (["tree", "label.csv", "--target", "y"], ["lsq", "number.csv", "--target", "y"]):
        assert error_of(folder, *words).endswith("is missing; remove such rows"), "no option leaves rows out"


@pytest.mark.parametrize("args", [
    ["regress", "typo.csv", "typo.csv", "--target", "a", "-k", "1"],
    ["classify", "apart.csv", "apart.csv", "--target", "b", "--nominal", "y", "--metric", "manhattan", "-k", "1"],
    ["evaluate", "apart.csv", "--target", "a", "--metric", "manhattan", "-k", "1", "--loo"],
])
def test_no_warning_comes_before_the_error_that_makes_it_false(folder, args):
    assert not is_warning(error_of(folder, *args))


def test_the_warning_of_ranges_names_the_options(folder):
    done = run("classify", "apart.csv", "apart.csv", "--target", "y", "-k", "1", cwd=folder)
    assert "(--normalize z or range evens them out; or use --feature-weights)" in done.err


@pytest.mark.parametrize("args, message, code", [
    (["stats", "hole.csv", "--by", "nosuch"], "hole.csv: no column 'nosuch' (by) among its 3 columns", 3),
    (["classify", "hole.csv", "hole.csv", "--id", "nosuch"], "hole.csv: no column 'nosuch' (id) among its 3 columns", 3),
    (["stats", "hole.csv", "--bins", "99999"], "--bins: 99999 is not a number from 1 to 65536", 2),
    (["stats", "hole.csv", "--bins", "0"], "--bins: 0 is not a number from 1 to 65536", 2),
    (["pairwise", "typo.csv", "typo.csv", "-k", "9"], "k = 9 is more than the 3 reference rows to choose from", 2),
    (["evaluate", "hole.csv", "--target", "y", "--holdout", "1.5"], "--holdout: 1.5 is not between 0 and 1", 2),
    (["gen", "nosuch", "2", "3"], "unknown kind of table 'nosuch': blobs, mixed, rules, linear, wide, fvecs", 2),
    (["gen", "blobs", "2", "3", "--classes", "0"], "--classes: 0 is not at least 1", 2),
    (["classify", "hole.csv", "hole.csv", "--target", "y", "--feature-weights", "1,x"],
     "--feature-weights: 'x' is not a number, and no file is called '1,x'", 2),
    (["convert", "hole.csv", "h.npy"],
     "hole.csv: column 'y' is nominal, and an array holds numbers only: ignore the column, or write csv or arff"
     " (--ignore y)", 3),
    (["convert", "apart.csv", "h.bvecs", "--ignore", "y"], "apart.csv:2:3: column 'b', row 0: 2000.0 is not of type uint8"
     " (bvecs)", 3),
    (["tree", "empty.csv", "--target", "y"], "empty.csv: the table has no rows", 3),
    (["discretize", "empty.csv", "--target", "y", "--method", "best-cut"], "empty.csv: the table has no rows", 3),
    (["evaluate", "single.csv", "--target", "a"],
     "10 folds of 1 row: at least 2 folds are needed, and at most one per row (--cv with another number, or --loo)", 2),
    (["info", "ragged.csv"], "ragged.csv:2:3: expected 1 field, found 2"
     " (--allow-ragged fills short records and cuts long ones)", 3),
    (["help", "nosuch"], "help: no command or topic is called 'nosuch'", 2),
])
def test_a_refusal_says_what_is_wrong_in_the_users_words(folder, args, message, code):
    table(folder, "empty.csv", "a,y\n")
    table(folder, "single.csv", "a\n1\n")
    table(folder, "ragged.csv", "a\n1,2\n")
    assert error_of(folder, *args, code=code) == "stope: " + message
    assert not list(folder.glob("h.*")), "nothing is left behind"


def test_one_thing_is_singular(folder):
    table(folder, "one.csv", "a,y\n1,p\n")
    assert "one.csv: 1 row, 2 columns;" in run("info", "one.csv", cwd=folder).text
    assert "y = p: 1 row\n" in run("stats", "one.csv", "--by", "y", cwd=folder).text
    done = run("classify", "one.csv", "one.csv", "--target", "y", "-k", "1", "--explain", cwd=folder)
    assert "1 row, 2 columns, 1 feature," in done.err and "(1 of 1 row)" in done.err
    table(folder, "line.csv", "a,b\n1,2\n2,4\n3,7\n")
    assert "1 coefficient from 3 rows:" in run("lsq", "line.csv", "--target", "b", cwd=folder).err
    assert "1 component of 2 features, 3 rows:" in run("pca", "line.csv", "--n-components", "1", cwd=folder).err


def test_dates_are_shown_as_dates_and_whole_numbers_whole(folder):
    table(folder, "d.csv", "d,n,r\n2024-01-01,1484705,1.5\n2024-02-29T12:30:00,7,1484705.5\n")
    table(folder, "d.json", '{"columns": [{"name": "d", "type": "date"}, {"name": "n", "type": "integer"},'
                            ' {"name": "r", "type": "real"}]}')
    info = run("info", "d.csv", "--schema", "d.json", cwd=folder).text
    assert "2024-01-01 .. 2024-02-29T12:30:00\n" in info and "7 .. 1484705\n" in info and "1.5 .. 1.48471e+06" in info
    stats = run("stats", "d.csv", "--schema", "d.json", cwd=folder).text
    assert "2024-01-01" in stats and "2024-02-29T12:30:00" in stats and " 1484705 " in stats
    table(folder, "old.csv", "d\n1969-12-31\n0001-01-01\n")
    table(folder, "old.json", '{"columns": [{"name": "d", "type": "date"}]}')
    assert "0001-01-01 .. 1969-12-31\n" in run("info", "old.csv", "--schema", "old.json", cwd=folder).text


def test_long_names_are_whole_where_stdout_is_no_terminal(folder):
    name = "a_name_that_is_longer_than_twenty_eight_characters"
    table(folder, "long.csv", f"{name},b\n1,2\n")
    assert name in run("stats", "long.csv", cwd=folder).text and name in run("info", "long.csv", cwd=folder).text


def test_info_and_stats_call_a_nominal_column_nominal(folder):
    for command in ("info", "stats"):
        text = run(command, "hole.csv", cwd=folder).text
        assert " nominal " in text and "polynominal" not in text
    assert "polynominal" in run("info", "hole.csv", "--json", cwd=folder).text, "a schema's name for it"


def test_a_long_tree_is_cut_on_a_terminal_alone(folder):
    table(folder, "long.csv", "x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(900)))
    words = ["tree", "long.csv", "--target", "y", "-q"]
    whole = run(*words, cwd=folder).text
    shown = on_a_terminal(folder, *words).splitlines()
    assert len(shown) == 501 and whole.splitlines()[:500] == shown[:500]
    assert shown[-1] == f"... and {len(whole.splitlines()) - 500} more lines (-o FILE writes them all)"
    on_a_terminal(folder, *words, "-o", "tree.txt")
    assert (folder / "tree.txt").read_text() == whole


def on_a_terminal(folder, *args):
    """What a command shows on a terminal."""
    outer, inner = pty.openpty()
    process = subprocess.Popen([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=inner, cwd=folder, env=environment())
    os.close(inner)
    text = b""
    while True:
        try:
            piece = os.read(outer, 65536)
        except OSError:  # EIO: the program has closed it
            break
        if not piece:
            break
        text += piece
    os.close(outer)
    assert process.wait() == 0
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("words", [["classify", "weight.csv", "weight.csv", "-k", 1], ["evaluate", "weight.csv", "--loo", "-k", 1],
                                   ["tree", "weight.csv"], ["discretize", "weight.csv", "--method", "best-cut"]])
def test_a_negative_weight_has_one_wording(folder, words):
    line = error_of(folder, *words, "--target", "y", "--sample-weight", "w")
    assert line == "stope: weight.csv:4:1: column 'w', row 1: the weight is -1; weights are finite and >= 0"


def test_a_feature_weight_is_named_by_its_feature(folder):
    line = error_of(folder, "knn", "apart.csv", "apart.csv", "--ignore", "y", "--feature-weights", "1,-1", code=2)
    assert line == "stope: --feature-weights: the weight of 'b' is -1; weights are finite and >= 0"


def test_a_table_without_any_label_is_named(folder):
    (folder / "n.csv").write_text("a,y\n1,\n2,\n")
    line = error_of(folder, "tree", "n.csv", "--target", "y", "--missing-policy", "drop")
    assert line == "stope: n.csv: column 'y': no row with a label is left"


def test_a_target_of_words_is_not_to_be_read_as_numbers(folder):
    (folder / "words.csv").write_text("a,b\nred,1\nblue,2\nred,3\n")
    (folder / "typo.csv").write_text("a,b\n1,1\n2,2\nx,3\n")
    assert "--numeric" not in error_of(folder, "lsq", "words.csv", "--target", "a")
    assert "(--numeric a)" in run("lsq", "typo.csv", "--target", "a", cwd=folder, code=3).err


def test_too_many_folds_name_the_options(folder):
    line = error_of(folder, "evaluate", "apart.csv", "--target", "y", code=2)
    assert "10 folds of 3 rows" in line and "--cv" in line and "--loo" in line
    assert "--names" in error_of(folder, "info", "apart.csv", "--names", "p,q", code=2)


@pytest.mark.parametrize("words, option", [(["-k", 0], "-k"), (["--n-neighbors", 0], "--n-neighbors"), (["-k0"], "-k"),
                                           (["--n-jobs", 0], "--n-jobs"), (["--threads=0"], "--threads"), (["-j", 0], "-j")])
def test_an_option_is_named_as_it_was_typed(folder, words, option):
    done = run("knn", "apart.csv", "apart.csv", "--ignore", "y", *words, "--json", cwd=folder, code=2)
    error = done.json()["error"]
    assert error["message"].startswith(option + ":") and error["option"] == option


@pytest.mark.parametrize("words, option", [(["pca", "hole.csv", "--ignore", "y"], "impute"), (["tree", "hole.csv", "--target", "y"], "missing_policy")])
def test_the_object_of_an_error_has_the_option_of_the_command_line(folder, words, option):
    assert run(*words, "--json", cwd=folder, code=3).json()["error"]["option"] == option


def test_empty_names_are_named(folder):
    assert "TRAIN: the name of the file is empty" in error_of(folder, "classify", "", "apart.csv", code=2)
    assert "--by: the column's name is empty" in error_of(folder, "stats", "apart.csv", "--by", "", code=2)


def test_one_thread_is_no_threads(folder):
    assert ", 1 thread\n" in run("stats", "apart.csv", "--explain", "-j", 1, cwd=folder).err
