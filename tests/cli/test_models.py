"""Model files: a saved model predicts, byte for byte, what the fit did; damaged or foreign files are refused."""

import gzip
import re
import struct

import pytest

from program import records, run
from test_bad_inputs import refuse

GOOD = "x,z,c,y\n0,1,red,a\n1,5,blue,b\n4,2,red,a\n2,2,blue,b\n7,1,red,b\n3,3,red,a\n"
MORE = "c,z,x,id\nred,2,1.5,r1\ngreen,4,3,r2\nblue,,0,r3\n"


@pytest.fixture
def box(tmp_path):
    (tmp_path / "train.csv").write_text(GOOD)
    (tmp_path / "more.csv").write_text(MORE)
    return tmp_path


def test_another_k_and_other_weights_than_the_models(box):
    fit = ["classify", "train.csv", "--target", "y", "--normalize", "z"]
    run(*fit, "-k", 1, "--model-out", "m.stope", cwd=box)
    for vote in (["-k", 3], ["--weights", "distance"], ["-k", 3, "--weights", "distance"]):
        fresh = run(*fit[:2], "more.csv", *fit[2:], *(vote if "-k" in vote else ["-k", 1, *vote]), "--proba", cwd=box)
        assert run("predict", "m.stope", "more.csv", "--proba", *vote, cwd=box).text == fresh.text
    refuse(box, 2, "predict", "m.stope", "more.csv", "-k", 0, says="-k: 0 is not at least 1")
    refuse(box, 2, "predict", "m.stope", "more.csv", "-k", 7, says="7")
    run("tree", "train.csv", "--target", "y", "--model-out", "t.stope", "-q", cwd=box)
    refuse(box, 2, "predict", "t.stope", "more.csv", "-k", 3, says="has no neighbours")


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize(
    "fit",
    [
        ["classify", "--target", "y", "-k", 3, "--normalize", "z", "--metric", "heom", "--proba", "--weights", "distance"],
        ["classify", "--target", "y", "-k", 2, "--normalize", "range", "--compat", "rapidminer", "--proba"],
        ["classify", "--target", "y", "-k", 2, "--feature-weights", "1,2,0.5", "--metric", "gower", "--proba"],
        ["regress", "--target", "x", "-k", 3, "--ignore", "y"],
    ],
)
def test_neighbours_predict_the_same(box, fit, suffix):
    command, *options = fit
    model = "m.stope" + suffix
    run(command, "train.csv", "more.csv", *options, "--model-out", model, "-o", "fit.csv", cwd=box)
    again = ["--proba"] if "--proba" in options else []
    run("predict", model, "more.csv", *again, "-o", "saved.csv", cwd=box)
    assert (box / "saved.csv").read_text() == (box / "fit.csv").read_text()
    # The model alone is the same file.
    run(command, "train.csv", *[o for o in options if o != "--proba"], "--model-out", "alone.stope" + suffix, cwd=box)
    assert (box / ("alone.stope" + suffix)).read_bytes() == (box / model).read_bytes()


def test_an_index_finds_neighbours(box):
    fit = ["knn", "train.csv", "more.csv", "-k", 2, "--ignore", "y", "--metric", "gower"]
    run(*fit, "--model-out", "m.stope", "-o", "fit.csv", cwd=box)
    run("predict", "m.stope", "more.csv", "-o", "saved.csv", cwd=box)
    assert (box / "saved.csv").read_text() == (box / "fit.csv").read_text()


def test_components_and_coefficients(box):
    run("pca", "train.csv", "--ignore", "y,c", "--n-components", 2, "--model-out", "p.stope", "-o", "fit.csv", cwd=box)
    run("predict", "p.stope", "train.csv", "-o", "saved.csv", cwd=box)
    assert (box / "saved.csv").read_text() == (box / "fit.csv").read_text()
    run("lsq", "train.csv", "--target", "x", "--ignore", "y,c", "--model-out", "l.stope", "-o", "c.csv", cwd=box)
    run("lsq", "train.csv", "--target", "x", "--apply", "c.csv", "-o", "fit.csv", cwd=box)
    done = run("predict", "l.stope", "train.csv", "-o", "saved.csv", "--json", cwd=box)
    assert (box / "saved.csv").read_text() == (box / "fit.csv").read_text()
    assert done.json()["model"] == {"path": "l.stope", "kind": "least squares"}
    assert done.json()["scores"]["rows"] == 6


@pytest.mark.parametrize("compat", ["none", "rapidminer"])
def test_a_normalisation(box, compat):
    fit = ["normalize", "train.csv", "--method", "range", "--min", -1, "--max", 3, "--compat", compat]
    run(*fit, "--model-out", "n.stope", "-o", "fit.csv", cwd=box)
    done = run("predict", "n.stope", "train.csv", "-o", "saved.csv", "--json", cwd=box)
    assert (box / "saved.csv").read_text() == (box / "fit.csv").read_text()
    assert done.json()["model"] == {"path": "n.stope", "kind": "normalisation"}
    # Other rows get the numbers that the training rows gave: x and z are numbers from 0 to 7 and from 1 to 5.
    more = records(run("predict", "n.stope", "more.csv", cwd=box).text)
    assert float(more[1]["x"]) == (3 - 0) / 7 * 4 - 1
    assert run("info", "n.stope", cwd=box).text.count("range") == 1


def test_types_and_roles_come_from_the_model(box):
    (box / "codes.csv").write_text("code,y,id\n1,a,p\nx,b,q\n2,a,r\n")
    run("classify", "codes.csv", "--target", "y", "--id", "id", "-k", 1, "--model-out", "m.stope", cwd=box)
    (box / "numbers.csv").write_text("id,code,y\nu,2,a\nv,1,b\n")  # here "code" looks like a number
    done = run("predict", "m.stope", "numbers.csv", "--json", "-o", "out.csv", cwd=box)
    assert [r["prediction"] for r in records((box / "out.csv").read_text())] == ["a", "a"]
    assert [r["id"] for r in records((box / "out.csv").read_text())] == ["u", "v"]
    assert done.json()["scores"]["accuracy"] == 0.5


def test_info_shows_what_is_inside(box):
    run("classify", "train.csv", "--target", "y", "-k", 3, "--metric", "gower", "--model-out", "m.stope", cwd=box)
    text = run("info", "m.stope", cwd=box).text
    for word in ["neighbors", "version 1", "gower", "trained on  ", "6 rows", "label", "2 values"]:
        assert word in text
    assert re.search(r"saved +20\d\d-\d\d-\d\d \d\d:\d\d UTC\n", text)
    assert "holds" not in text and "holds train  " in run("info", "m.stope", "--all", cwd=box).text
    run("tree", "train.csv", "--target", "y", "--missing-policy", "value", "--model-out", "t.stope", "-o", "t.txt", cwd=box)
    assert re.search(r"trained on +6 rows\n", run("info", "t.stope", cwd=box).text)
    model = run("info", "m.stope", "--json", cwd=box).json()["model"]
    assert model["kind"] == "neighbors" and model["options"]["n_neighbors"] == "3"
    assert [c["name"] for c in model["columns"]] == ["x", "z", "c", "y"]


@pytest.mark.bad_input
class TestRefusals:
    @pytest.fixture
    def model(self, box):
        run("classify", "train.csv", "--target", "y", "-k", 1, "--model-out", "m.stope", cwd=box)
        return box / "m.stope"

    def test_no_model(self, box):
        refuse(box, 3, "predict", "train.csv", "more.csv", says=["train.csv", "not a model file"])

    def test_absent(self, box):
        refuse(box, 3, "predict", "none.stope", "more.csv", says="cannot open")

    def test_empty(self, box):
        (box / "e.stope").write_bytes(b"")
        refuse(box, 3, "predict", "e.stope", "more.csv", says="not a model file")

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
    def test_cut_off(self, box, model, share):
        whole = model.read_bytes()
        (box / "cut.stope").write_bytes(whole[: int(len(whole) * share)])
        refuse(box, 3, "predict", "cut.stope", "more.csv", says="cut off")
        refuse(box, 3, "info", "cut.stope", says="cut off")

    @pytest.mark.parametrize("at", [30, 100, -60, -1])
    def test_flipped(self, box, model, at):
        damaged = bytearray(model.read_bytes())
        damaged[at] ^= 16
        (box / "d.stope").write_bytes(damaged)
        refuse(box, 3, "predict", "d.stope", "more.csv", "-o", "out.csv", says=["d.stope", "damaged"])

    def test_newer(self, box, model):
        newer = bytearray(model.read_bytes())
        newer[8:12] = struct.pack("<I", 7)
        (box / "n.stope").write_bytes(newer)
        refuse(box, 3, "predict", "n.stope", "more.csv", says=["version 7", "newer"])

    def test_longer(self, box, model):
        (box / "l.stope").write_bytes(model.read_bytes() + b"x")
        refuse(box, 3, "info", "l.stope", says="should have")

    def test_text_mode_copy(self, box, model):
        (box / "t.stope").write_bytes(model.read_bytes().replace(b"\r\n", b"\n"))
        refuse(box, 3, "predict", "t.stope", "more.csv", says="not a model file")

    def test_archive_that_ends_early(self, box, model):
        (box / "z.stope.gz").write_bytes(gzip.compress(model.read_bytes())[:-9])
        refuse(box, 3, "predict", "z.stope.gz", "more.csv", says="z.stope.gz")

    def test_attribute_is_missing(self, box, model):
        (box / "less.csv").write_text("x,c\n1,red\n")
        refuse(box, 3, "predict", "m.stope", "less.csv", says=["'z'", "less.csv"])

    def test_attribute_is_no_number(self, box, model):
        (box / "words.csv").write_text("x,z,c\n1,two,red\n")
        refuse(box, 3, "predict", "m.stope", "words.csv", says="two", place="words.csv:2:3")

    def test_proba_without_classes(self, box):
        run("regress", "train.csv", "--target", "x", "--ignore", "y", "--model-out", "r.stope", cwd=box)
        refuse(box, 2, "predict", "r.stope", "more.csv", "--proba", says=["--proba", "no classes"])

    def test_both_from_stdin(self, box):
        refuse(box, 2, "predict", "-", "-", says="standard input")

    def test_neither_test_nor_model(self, box):
        refuse(box, 2, "classify", "train.csv", "--target", "y", says=["TEST", "--model-out"])
        refuse(box, 2, "knn", "train.csv", says=["QUERY", "--model-out"])

    def test_output_of_nothing(self, box):
        refuse(box, 2, "classify", "train.csv", "--target", "y", "--model-out", "m.stope", "-o", "o.csv", says="-o")

    def test_model_and_data_on_stdout(self, box):
        refuse(box, 2, "classify", "train.csv", "more.csv", "--target", "y", "--model-out", "-", says="--model-out")

    def test_model_where_nothing_can_be_written(self, box):
        refuse(box, 3, "classify", "train.csv", "--target", "y", "--model-out", "no/m.stope", says="no/m.stope")

    def test_model_of_an_application(self, box):
        run("lsq", "train.csv", "--target", "x", "--ignore", "y,c", "-o", "c.csv", cwd=box)
        refuse(box, 2, "lsq", "train.csv", "--apply", "c.csv", "--model-out", "m.stope", says="--model-out")
