"""Where results go: the suffix of -o names the format, an output is no input, --json holds what has no other place, and a disk
that is too small is seen at once."""

import csv
import gzip
import io
import json
import math
import os
import subprocess

import numpy as np
import pytest

import program
from program import records, run
from test_bad_inputs import refuse

pytestmark = pytest.mark.bad_input

TABLE = "x,z,c,y\n" + "".join(f"{i % 7}.5,{i * i % 11},{'red,' if i % 3 else 'b'},{'ab'[i % 7 // 4]}\n" for i in range(40)).replace("red,", '"r,d"')
JOBS = {
    "classify": ["classify", "t.csv", "t.csv", "--target", "y", "--proba"],
    "regress": ["regress", "t.csv", "t.csv", "--target", "x"],
    "knn": ["knn", "t.csv", "t.csv", "-k", 2],
    "pairwise": ["pairwise", "t.csv", "t.csv", "-k", 2],
    "ranking": ["discretize", "t.csv", "--target", "y", "--method", "best-cut"],
    "coded": ["discretize", "t.csv", "--apply", "c.json"],
    "lsq": ["lsq", "t.csv", "--target", "x", "--numeric-only"],
    "pca": ["pca", "t.csv", "--numeric-only"],
    "normalize": ["normalize", "t.csv", "--method", "z"],
    "predict": ["predict", "m.stope", "t.csv"],
    "convert": ["convert", "t.csv"],
}
KEYS = {"classify": "predictions", "regress": "predictions", "knn": "neighbors", "pairwise": "pairs", "ranking": "ranking",
        "coded": "table", "lsq": "coefficients", "pca": "scores", "normalize": "table", "predict": "predictions",
        "convert": "table"}


@pytest.fixture
def box(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    run("tree", "t.csv", "--target", "y", "--model-out", "m.stope", cwd=tmp_path)
    run("discretize", "t.csv", "--target", "y", "--method", "mdlp", "--cuts-out", "c.json", cwd=tmp_path)
    return tmp_path


def same(cell, value):
    """True if a field of CSV is this value of JSON."""
    if value is None:
        return cell == "" or not math.isfinite(float(cell))
    return cell == value if isinstance(value, str) else float(cell) == value


def expect_same(text, objects):
    want = records(text)
    assert [list(row) for row in objects] == [list(row) for row in want]
    for row, fields in zip(objects, want):
        assert all(same(fields[name], value) for name, value in row.items()), (row, fields)


@pytest.mark.parametrize("job", JOBS)
def test_the_suffix_says_how_rows_are_written(box, job):
    for suffix in ["csv", "tsv", "json", "jsonl", "json.gz", "JSON"]:
        run(*JOBS[job], "-o", f"o.{suffix}", cwd=box)
    text = (box / "o.csv").read_text()
    assert text == run(*JOBS[job], *(["-"] if job == "convert" else []), cwd=box).text
    assert list(csv.reader(io.StringIO((box / "o.tsv").read_text()), delimiter="\t")) == list(csv.reader(io.StringIO(text)))
    expect_same(text, json.loads((box / "o.json").read_text()))
    expect_same(text, [json.loads(line) for line in (box / "o.jsonl").read_text().splitlines()])
    assert gzip.decompress((box / "o.json.gz").read_bytes()) == (box / "o.json").read_bytes() == (box / "o.JSON").read_bytes()


@pytest.mark.parametrize("job", JOBS)
def test_json_holds_the_result_where_no_file_is_named(box, job):
    text = run(*JOBS[job], *(["-"] if job == "convert" else []), cwd=box).text
    tmp = box / "tmp"
    tmp.mkdir()
    done = run(*JOBS[job], "--json", cwd=box, env={"TMPDIR": str(tmp)}).json()
    expect_same(text, done[KEYS[job]])
    assert done.get("outputs") is None and done["warnings"] == [] and list(tmp.iterdir()) == []
    run(*JOBS[job], "--json", "-o", "o.csv", cwd=box)
    assert KEYS[job] not in run(*JOBS[job], "--json", "-o", "o.csv", cwd=box).json()


def test_json_holds_a_result_without_rows(box):
    (box / "empty.csv").write_text("x,z,c,y\n")
    assert run("classify", "t.csv", "empty.csv", "--target", "y", "--json", cwd=box).json()["predictions"] == []
    run("classify", "t.csv", "empty.csv", "--target", "y", "-o", "o.json", cwd=box)
    assert json.loads((box / "o.json").read_text()) == []


def test_json_holds_cuts_and_gram_results(box):
    cuts = ["discretize", "t.csv", "--target", "y", "--method", "mdlp"]
    run(*cuts, "--cuts-out", "cuts.json", cwd=box)
    assert run(*cuts, "--json", cwd=box).json()["cut_points"] == json.loads((box / "cuts.json").read_text())
    assert "cut_points" not in run(*cuts, "--json", "--cuts-out", "cuts.json", cwd=box).json()
    run("gen", "5", "7", "-o", "a.gram", cwd=box)
    run("ata", "a.gram", "-o", "z.gram", cwd=box)
    stored = np.fromfile(box / "z.gram", dtype="<f4")[-5:]
    assert run("ata", "a.gram", "--json", cwd=box).json()["z"] == [float(z) for z in stored]


def test_json_holds_the_tree(box):
    tree = ["tree", "t.csv", "--target", "y"]
    run(*tree, "-o", "t.json", cwd=box)
    assert run(*tree, "--json", cwd=box).json()["model"] == json.loads((box / "t.json").read_text())


@pytest.mark.parametrize("suffix, begins", [("svg", b"<svg"), ("json", b"{"), ("dot", b"digraph"), ("svg.gz", b"\x1f\x8b")])
def test_the_suffix_says_how_a_tree_is_written(box, suffix, begins):
    run("tree", "t.csv", "--target", "y", "-o", f"tree.{suffix}", cwd=box)
    assert (box / f"tree.{suffix}").read_bytes().lstrip().startswith(begins)
    run("tree", "t.csv", "--target", "y", "-o", "tree.txt", cwd=box)
    assert (box / "tree.txt").read_text() == run("tree", "t.csv", "--target", "y", cwd=box).text
    run("tree", "t.csv", "--target", "y", "--format", "rules", "-o", "rules.txt", cwd=box)
    assert (box / "rules.txt").read_text().startswith("1: if ")


@pytest.mark.parametrize("words, name", [
    (["tree", "t.csv", "--target", "y"], "o.csv"), (["tree", "t.csv", "--target", "y"], "o.svgz"),
    (JOBS["classify"], "o.parquet"), (JOBS["classify"], "o.npy"), (JOBS["knn"], "o.raw"), (JOBS["knn"], "o.xlsx"),
    (JOBS["pairwise"], "o.ivecs"), (JOBS["ranking"], "o.npy"), (JOBS["coded"], "o.xlsx"), (JOBS["lsq"], "o.npy"),
    (JOBS["pca"], "o.csv.bz2"), (JOBS["normalize"], "o.orc"), (JOBS["predict"], "o.npy"), (JOBS["convert"], "o.xml"),
    (["stats", "t.csv"], "o.svg"), (["info", "t.csv"], "o.arff"), (["evaluate", "t.csv", "--target", "y"], "o.npy"),
    (["gen", "blobs", 2, 10], "o.orc"), (["gen", 2, 10], "o.csv"),
    (["info", "t.csv"], "o.pdf"), (["info", "m.stope"], "o.png"), (["device"], "o.xyz"), (["completion", "bash"], "o.pdf"),
    (["check", "a.gram", "z.gram"], "o.html"),
])
def test_a_suffix_that_does_not_fit_is_refused(box, words, name):
    suffix = name[name.rindex("."):]
    refuse(box, 2, *words, "-o", name, says=[name, suffix, "possible"])


def test_other_outputs_have_suffixes_too(box):
    refuse(box, 2, *JOBS["classify"], "--model-out", "m.csv", says="--model-out")
    refuse(box, 2, *JOBS["pca"], "--components-out", "c.npy", says="--components-out")
    run(*JOBS["classify"], "--model-out", "m.model", cwd=box)  # its own name


def test_text_has_the_suffixes_of_text(box):
    for name in ["o.txt", "o", "o.txt.gz"]:
        run("info", "t.csv", "-o", name, cwd=box)
    assert (box / "o").read_text() == (box / "o.txt").read_text() == run("info", "t.csv", cwd=box).text
    for name in ["stope.bash", "_stope"]:
        run("completion", "bash", "-o", name, cwd=box)
    assert "possible is .gram, also with .gz" in refuse(box, 2, "gen", 2, 10, "-o", "o.csv", says=[])


@pytest.mark.parametrize("job", JOBS)
def test_output_format_takes_what_the_suffix_takes(box, job):
    more = ["-"] if job == "convert" else []
    for format in ["csv", "tsv", "json", "jsonl"]:
        run(*JOBS[job], "-o", f"o.{format}", cwd=box)
        assert run(*JOBS[job], *more, "--output-format", format, cwd=box).text == (box / f"o.{format}").read_text()
    refuse(box, 2, *JOBS[job], "--output-format", "xlsx", says=["xlsx", "jsonl"])


def test_people_and_programs_get_statistics_from_a_pipe(box):
    for words in [["stats", "t.csv"], ["evaluate", "t.csv", "--target", "y"]]:
        for format in ["csv", "tsv", "json", "jsonl"]:
            run(*words, "-o", f"o.{format}", cwd=box)
            assert run(*words, "--output-format", format, cwd=box).text == (box / f"o.{format}").read_text()
    assert run("stats", "t.csv", "--output-format", "txt", cwd=box).text == run("stats", "t.csv", cwd=box).text
    assert run("stats", "t.csv", "--output-format", "txt", "-o", "o.data", cwd=box).text == ""


def test_a_format_that_the_result_does_not_have_is_refused(box):
    for words in [JOBS["ranking"], JOBS["predict"]]:
        refuse(box, 2, *words, "--output-format", "npy", says=["--output-format", "not npy", "jsonl"])


def test_help_lists_every_format(box):
    assert "--output-format, --format csv|tsv|arff|npy|fvecs|bvecs|ivecs|raw|json|jsonl|md" in run("gen", "--help").text
    run("gen", "blobs", 3, 4, "-o", "g.csv", cwd=box)
    expect_same((box / "g.csv").read_text(), json.loads(run("gen", "blobs", 3, 4, "--output-format", "json").text))
    assert "(--no-label)" in refuse(box, 3, "gen", "blobs", 3, 4, "-o", "g.npy", says="class")


def test_a_format_that_is_named_decides(box):
    run(*JOBS["knn"], "--output-format", "csv", "-o", "o.data", cwd=box)
    assert (box / "o.data").read_text() == run(*JOBS["knn"], cwd=box).text
    refuse(box, 2, *JOBS["knn"], "--output-format", "ivecs", "--json", says="-o FILE")


def test_neighbours_as_one_structured_array(box):
    run(*JOBS["knn"], "-o", "k.npy", cwd=box)
    run(*JOBS["knn"], "--output-format", "npy", "-o", "two", cwd=box)
    assert not list(box.glob("k.npy.*"))
    one = np.load(box / "k.npy")
    assert one.shape == (40,)
    np.testing.assert_array_equal(one["index"], np.load(box / "two.indices.npy"))
    np.testing.assert_array_equal(one["distance"], np.load(box / "two.distances.npy"))


def test_scores_are_the_data_of_evaluate(box):
    done = run("evaluate", "t.csv", "--target", "y", "-k", "1..3", "-q", cwd=box)
    assert "macro F1" in done.text and "best k" in done.text and done.err == ""
    to_file = run("evaluate", "t.csv", "--target", "y", "-k", "1..3", "-o", "s.csv", cwd=box)
    assert to_file.err == done.text and to_file.text == ""
    assert [row["k"] for row in records((box / "s.csv").read_text())] == ["1", "2", "3"]


# --- outputs that are inputs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("job, option", [(job, "-o") for job in JOBS] + [("classify", "--model-out"), ("pca", "--components-out")])
def test_an_output_is_no_input(box, job, option):
    refuse(box, 2, *JOBS[job], option, "t.csv", says=[option, "t.csv", "same file"])
    (box / "link.csv").symlink_to("t.csv")
    refuse(box, 2, *JOBS[job], option, "link.csv", says=["link.csv", "'t.csv'", "same file"])
    os.link(box / "t.csv", box / "hard.csv")
    refuse(box, 2, *JOBS[job], option, box / "." / "hard.csv", says=["hard.csv", "'t.csv'", "same file"])


def test_a_model_a_schema_and_cuts_are_inputs_too(box):
    refuse(box, 2, *JOBS["predict"], "-o", "m.stope", says="MODEL")
    refuse(box, 2, *JOBS["coded"], "-o", "c.json", says="--apply")
    refuse(box, 2, "convert", "t.csv", "t.csv", says="IN")
    (box / "s.json").write_text("{}")
    refuse(box, 2, *JOBS["classify"], "--schema", "s.json", "-o", "s.json", says="--schema")


def test_stdin_from_a_file_is_an_input(box):
    with open(box / "t.csv") as file:
        done = subprocess.run([program.PROGRAM, "convert", "-", "t.csv"], stdin=file, cwd=box, capture_output=True, text=True)
    assert done.returncode == 2 and "same file as IN '-'" in done.stderr and (box / "t.csv").read_text() == TABLE


def test_an_output_is_no_url(box):
    refuse(box, 3, *JOBS["knn"], "-o", "s3://bucket/o.csv", says=["s3://bucket/o.csv", "is a URL"])


def test_devices_may_be_both(box):
    run("convert", "/dev/null", "-o", "/dev/null", "--output-format", "csv", cwd=box, code=3)  # read, and empty


def test_two_outputs_are_not_one_file_through_a_dangling_link(box):
    (box / "link").symlink_to("later")
    (box / "again").symlink_to(box / "link")
    for other in ["later", "link", "./again"]:
        refuse(box, 2, *JOBS["classify"], "--model-out", "again", "-o", other, says="two outputs")


@pytest.mark.parametrize("option", ["-o", "--model-out"])
def test_an_output_without_a_name_is_refused(box, option):
    refuse(box, 2, *JOBS["classify"], option, "", says=[option, "empty"])


# --- errors as JSON ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words, code, error", [
    (["info", "bad.csv", "--json"], 3, {"code": "invalid_data", "file": "bad.csv", "line": 3, "exit_code": 3}),
    (["info", "nowhere.csv", "--json"], 3, {"code": "io", "file": "nowhere.csv"}),
    (["classify", "t.csv", "t.csv", "--nonsense", "--json"], 2, {"code": "invalid_argument", "exit_code": 2}),
    ([*JOBS["classify"], "-o", "o.xml", "--json"], 2, {"code": "invalid_argument", "option": "-o"}),
    (["nosuch", "--json"], 2, {"code": "invalid_argument"}),
])
def test_errors_are_an_object_under_json(box, words, code, error):
    (box / "bad.csv").write_text("a,b\n1,2\n3\n")
    done = run(*words, cwd=box, code=code)
    found = done.json()
    assert done.err.startswith("stope: ") and found["error"]["message"] in done.err
    assert error.items() <= found["error"].items()
    assert set(found["error"]) == {"code", "exit_code", "message", "file", "line", "column", "option", "feature", "row"}


# --- space ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [
    ["gen", 10_000_000, 1_000_000_000, "-o", "o.gram"],
    ["gen", "blobs", 100, 10**15, "-o", "o.csv"],
    ["gen", "blobs", 100, 10**15, "-o", "o.npy", "--no-label"],
])
def test_a_result_beyond_the_free_space_is_refused_at_once(tmp_path, words):
    error = refuse(tmp_path, 3, *words, says=["o.", "bytes free"])
    assert int(error.split("cannot write ")[1].split()[0]) >= 10**15


@pytest.mark.parametrize("words, need", [("-o small/k.npy", 3200000), ("-o small/k.ivecs", 804000),
                                         ("--output-format ivecs -o small/k", 804000), ("--output-format raw -o small/k", 800000)])
def test_a_full_disk_is_seen_before_the_search(box, words, need):
    """A file system of half a megabyte, with a larger table to come."""
    done = subprocess.run(
        ["unshare", "-rm", "bash", "-c", f'mount -t tmpfs -o size=512k none small && "$S" knn n.npy n.npy -k 200 {words}; '
         'echo $?; ls -A small'], cwd=setup_small(box), capture_output=True, text=True, env=program.environment({"S": program.PROGRAM}))
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("no file system can be mounted here")
    assert done.stdout == "3\n" and f"cannot write {need} bytes" in done.stderr, done.stderr


def setup_small(box):
    (box / "small").mkdir()
    np.save(box / "n.npy", np.random.default_rng(1).normal(size=(1000, 2)))
    return box
