"""One name for one thing: aliases that are documented, words of other programs that are explained, and what counts from 0."""

import pytest

from program import find_key, is_warning, rows, run

TABLE = "a,b,y\n1,2,p\n2,3,q\n3,1,p\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "semicolon.csv").write_text(TABLE.replace(",", ";"))
    return tmp_path


@pytest.mark.parametrize("name, alias, value, table", [
    ("--target", "--label", "y", "t.csv"),
    ("--n-jobs", "--threads", "1", "t.csv"),
    ("--seed", "--random-state", "7", "t.csv"),
    ("--sep", "--delimiter", ";", "semicolon.csv"),
])
def test_an_alias_does_the_same_and_is_documented(folder, name, alias, value, table):
    words = ["evaluate", table, "-k", "1", "--cv", "3"] + ([] if name == "--target" else ["--target", "y"])
    assert run(*words, name, value, cwd=folder).err == run(*words, alias, value, cwd=folder).err
    shown = run("evaluate", "--help").text
    assert f"{name}, {alias} " in shown
    for shell, spelling in (("bash", alias), ("zsh", alias), ("fish", f"-l {alias[2:]}")):
        assert spelling in run("completion", shell).text


def test_minus_one_job_means_all(folder):
    def threads(*args):
        return find_key(run("stats", "t.csv", "--json", *args, cwd=folder).json(), "threads")

    assert threads("--n-jobs", "-1") == threads()
    error = run("stats", "t.csv", "-j", "0", cwd=folder, code=2).err
    assert error == "stope: -j: '0' is not a number of threads from 1 to 65536, or -1 for all\n"


@pytest.mark.parametrize("args, meant", [
    (["classify", "-t", "y"], "--target"),
    (["classify", "-d", ";"], "--sep"),
    (["classify", "-p", "3"], "--metric-param p=3"),
    (["classify", "--standardize"], "--normalize z"),
    (["classify", "--verbose"], "--explain"),
    (["pca", "--missing-policy", "fill"], "--impute mean"),
    (["tree", "--impute", "mean"], "--missing-policy fill"),
    (["classify", "t.csv", "t.csv", "--normalize", "minmax"], "range"),
    (["normalize", "t.csv", "--method", "zscore"], "z"),
    (["normalize", "t.csv", "--method", "standard"], "z"),
    (["normalize", "t.csv", "--method", "standardize"], "z"),
])
def test_words_of_other_programs_are_explained(folder, args, meant):
    assert run(*args, cwd=folder, code=2).err.endswith(f"(did you mean '{meant}'?)\n")


def test_a_letter_is_not_taken_for_another_letter(folder):
    for letter in ("-z", "-x", "-g"):
        assert "did you mean" not in run("classify", letter, "1", cwd=folder, code=2).err
    assert "did you mean" not in run("convert", "-p", "1", cwd=folder, code=2).err, "convert has no --metric-param"
    assert "did you mean" not in run("knn", "--missing-policy", "drop", cwd=folder, code=2).err, "nor knn a policy"


def test_a_policy_that_is_taken_as_a_spelling_is_named(folder):
    done = run("classify", "t.csv", "t.csv", "--target", "y", "-k", "1", "--missing", "value", cwd=folder)
    warnings = [line for line in done.err.splitlines() if is_warning(line)]
    assert len(warnings) == 1 and "cells that read 'value'" in warnings[0] and "--missing-policy" in warnings[0]
    assert "warning" not in run("classify", "t.csv", "t.csv", "--target", "y", "-k", "1", "--missing", "value,NA",
                                cwd=folder).err
    assert "--missing-policy value" in run("tree", "t.csv", "--target", "y", "--missing", "value", cwd=folder, code=2).err


@pytest.mark.parametrize("words", [["-V"], ["--version"], ["version"], ["knn", "-V"], ["knn", "--version"]])
def test_the_version_says_what_the_program_was_made_of(words):
    lines = run(*words).text.splitlines()
    assert lines[0].startswith("stope ") and len(lines[0].split()) == 2
    facts = dict(line.split(maxsplit=1) for line in [line.replace("back ends", "back-ends") for line in lines[1:]])
    assert list(facts) == ["back-ends", "cuda", "files", "compiler", "commit", "licence"]
    available = [b["name"] for b in run("device", "--json").json()["backends"] if b["available"]]
    assert facts["back-ends"].split(", ") == available
    assert facts["compiler"].split()[0] in ("gcc", "clang") and facts["licence"] == "Apache 2.0"


def test_rows_of_pairs_count_from_1_and_the_header_says_so(folder):
    pairs = ["pairwise", "t.csv", "t.csv", "--numeric", "a,b"]
    header, body = rows(run(*pairs, "--ignore", "y", cwd=folder).text)
    assert header == ["request_from_1", "document_from_1", "distance"] and body[0][:2] == ["1", "1"]
    assert rows(run(*pairs, "--ignore", "y", "--similarities", cwd=folder).text)[0][2] == "similarity"
    assert rows(run(*pairs, "--id", "y", "-k", 1, cwd=folder).text)[0] == ["request", "document", "distance"]
    compatible = run(*pairs, "--ignore", "y", "--compat", "rapidminer", cwd=folder).text
    assert rows(compatible)[0] == ["request", "document", "distance"]


def test_a_radius_below_every_distance_is_refused(folder):
    knn = ["knn", "t.csv", "t.csv", "--ignore", "y"]
    assert "--radius" in run(*knn, "--radius", "-1", cwd=folder, code=2).err
    found = rows(run(*knn, "--metric", "inner-product", "--radius", "-8", cwd=folder).text)[1]
    assert found and all(float(row[3]) <= -8 for row in found)


def test_the_name_of_an_output_is_not_empty(folder):
    assert run("stats", "t.csv", "-o", "", cwd=folder, code=2).err == "stope: -o: the name of the file is empty\n"


@pytest.mark.parametrize("words, advice", [
    (["knn", "t.csv", "t.csv", "--method", "z"], "--normalize z"), (["gen", "blobs", 2, 3, "--missing", "0.5"], "--missing-share"),
    (["tree", "t.csv", "t.csv"], "--test"), (["predict", "m.stope", "t.csv", "--metric", "gower"], "the model holds the measure"),
    (["normalize", "t.csv", "--method", "z", "--apply", "m"], "which fits nothing"), (["-v"], "-V"), (["-k", 3], "comes before the command"),
    (["--foo"], "unknown option '--foo'"),
])
def test_what_a_command_lacks_has_advice(words, advice):
    lines = run(*words, code=2).error_lines()
    assert len(lines) == 1 and advice in lines[0]


@pytest.mark.parametrize("words", [["pca", "t.csv"], ["lsq", "t.csv", "--target", "a"]])
def test_an_imputation_that_is_taken_as_a_spelling_is_refused(tmp_path, words):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,5\n4,4\n")
    assert "--impute mean says what happens" in run(*words, "--missing", "mean", cwd=tmp_path, code=2).err
    run(*words, "--missing", "mean,NA", cwd=tmp_path)
