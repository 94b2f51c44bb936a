"""Bad input of trees and of saved ones: one clear error line, the documented exit code, and nothing left behind."""

import struct

import pytest

from program import run
from test_bad_inputs import put, refuse

pytestmark = pytest.mark.bad_input

GOOD = "x,z,c,y\n0,1,red,a\n1,5,blue,b\n4,2,red,a\n2,2,blue,b\n7,1,red,b\n3,3,red,a\n"
TREE = ["tree", "t.csv", "--target", "y", "-o", "out.txt"]


@pytest.fixture
def box(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "holes.csv").write_text(GOOD.replace("4,2,red", ",2,red").replace("7,1,red", "7,1,"))
    (tmp_path / "more.csv").write_text("x,z,c\n1,1,red\n2,3,green\n")
    return tmp_path


# Each row: the fault, the exit code, the command, and the words of the message.
OPTIONS = [
    ("no label", 2, ["tree", "t.csv"], ["label", "--target"]),
    ("a numeric label cannot be: it is read as words", 0, ["tree", "t.csv", "--target", "x"], []),
    ("unknown label", 3, ["tree", "t.csv", "--target", "yy"], ["yy"]),
    ("unknown format", 2, [*TREE, "--format", "xml"], ["xml"]),
    ("unknown criterion", 2, [*TREE, "--criterion", "ginni"], ["ginni", "gini"]),
    ("the option's old name", 2, [*TREE, "--missing", "drop"], ["--missing-policy drop", "spelled"]),
    ("unknown policy", 2, [*TREE, "--missing-policy", "values"], ["values", "value"]),
    ("depth below 0", 2, [*TREE, "--max-depth", "-1"], ["--max-depth", "-1"]),
    ("depth that is no number", 2, [*TREE, "--max-depth", "deep"], ["--max-depth", "deep"]),
    ("leaves of no rows", 2, [*TREE, "--min-samples-leaf", "0"], ["--min-samples-leaf", "0"]),
    ("negative score", 2, [*TREE, "--min-score", "-3"], ["--min-score"]),
    ("score that is no number", 2, [*TREE, "--min-score", "nan"], ["--min-score", "nan"]),
    ("negative alpha", 2, [*TREE, "--ccp-alpha", "-0.1"], ["--ccp-alpha"]),
    ("unknown class", 2, [*TREE, "--class-weight", "d=2"], ["no class is called 'd'", "'a', 'b'"]),
    ("two weights of a class", 2, [*TREE, "--class-weight", "a=2,a=3"], ["'a' has two"]),
    ("no weight", 2, [*TREE, "--class-weight", "a"], ["--class-weight", "CLASS=W"]),
    ("weight 0", 2, [*TREE, "--class-weight", "a=0"], ["weight", "a"]),
    ("negative weight", 2, [*TREE, "--class-weight", "a=-1"], ["weight"]),
    ("weights and balanced", 2, [*TREE, "--class-weight", "a=1,balanced"], ["balanced"]),
    ("all rows prune", 2, [*TREE, "--prune-holdout", "1"], ["--prune-holdout"]),
    ("no rows prune", 2, [*TREE, "--prune-holdout", "0"], ["--prune-holdout"]),
    ("one fold", 2, [*TREE, "--cv", "1"], ["1"]),
    ("more folds than rows", 2, [*TREE, "--cv", "7"], ["7"]),
    ("hold-out beyond all", 2, [*TREE, "--holdout", "1.5"], ["1.5"]),
    ("hold-out of nothing", 2, [*TREE, "--holdout", "0"], ["--holdout", "'0'"]),
    ("one file for tree and model", 2, ["tree", "t.csv", "--target", "y", "-o", "out.txt", "--model-out", "./out.txt"], ["two outputs"]),
    ("test table that is not there", 3, [*TREE, "--test", "none.csv"], ["none.csv"]),
    ("two schemes", 2, [*TREE, "--cv", "2", "--loo"], ["--cv", "--loo"]),
    ("both tables from stdin", 2, ["tree", "-", "--target", "y", "--test", "-"], ["standard input"]),
    ("tree and model on stdout", 2, ["tree", "t.csv", "--target", "y", "--model-out", "-"], ["--model-out"]),
    ("tree and JSON on stdout", 2, ["tree", "t.csv", "--target", "y", "-o", "-", "--json"], ["stdout"]),
    ("folder that is not there", 3, ["tree", "t.csv", "--target", "y", "-o", "no/out.txt"], ["no/out.txt"]),
    ("table that is not there", 3, ["tree", "none.csv", "--target", "y"], ["none.csv"]),
    ("test table without label", 3, [*TREE, "--test", "more.csv"], ["more.csv", "'y'"]),
    ("missing value", 3, ["tree", "holes.csv", "--target", "y"], ["holes.csv", "'x'", "row 2", "--missing"]),
    ("a GPU that is not there", 5, [*TREE, "--device", "cuda:77"], ["cuda"]),
    ("unknown option", 2, [*TREE, "--max-dept", "3"], ["--max-dept"]),
]


@pytest.mark.parametrize("more, code, says", [(["--test", "none.csv"], 3, "none.csv"), (["--test", "more.csv"], 3, "'y'"),
                                              (["--cv", "7"], 2, "7"), (["--cv", "1"], 2, "1"), (["--holdout", "2"], 2, "2")])
def test_refused_before_a_tree_grows(box, more, code, says):
    refuse(box, code, *TREE, *more, says=says)
    assert "leaves" not in run(*TREE, *more, code=code, cwd=box).err


@pytest.mark.parametrize("what,code,args,says", OPTIONS, ids=[o[0] for o in OPTIONS])
def test_options(box, what, code, args, says):
    if code == 0:
        run(*args, cwd=box)
    else:
        refuse(box, code, *args, says=says)


TABLES = [
    ("no rows", 3, "x,y\n", ["t.csv", "row"]),
    ("a label is missing", 3, "x,y\n1,a\n2,\n3,b\n", ["'y'", "row 1", "missing"]),
    ("all labels are missing", 3, "x,y\n1,?\n2,?\n", ["'y'"]),
    ("a weight is negative", 3, "x,w,y\n1,1,a\n2,-1,b\n", ["'w'", "row 1", "-1"]),
    ("a weight is missing", 3, "x,w,y\n1,,a\n2,1,b\n", ["'w'", "row 0", "missing"]),
    ("a weight is too large", 3, "x,w,y\n1,1e30,a\n2,1,b\n", ["'w'", "row 0", "1e+30"]),
    ("all weights are 0", 3, "x,w,y\n1,0,a\n2,0,b\n", ["row"]),
    ("names repeat", 3, "x,x,y\n1,2,a\n", ["x"]),
    ("a field too many", 3, "x,y\n1,a\n2,b,c\n", ["t.csv:3"]),
]


@pytest.mark.parametrize("what,code,text,says", TABLES, ids=[t[0] for t in TABLES])
def test_tables(box, what, code, text, says):
    put(box, "t.csv", text)
    weight = ["--sample-weight", "w"] if ",w," in text else []
    refuse(box, code, *TREE, *weight, says=says)


def test_every_row_is_dropped(box):
    put(box, "t.csv", "x,z,y\n,1,a\n2,,b\n")
    refuse(box, 3, *TREE, "--missing-policy", "drop", says="no row remains")


class TestSavedTrees:
    @pytest.fixture
    def model(self, box):
        run(*TREE[:-2], "--model-out", "m.stope", "-o", "tree.txt", cwd=box)
        return box / "m.stope"

    def test_value_is_missing(self, box, model):
        put(box, "p.csv", "x,z,c\n1,1,red\n,3,red\n")
        refuse(box, 3, "predict", "m.stope", "p.csv", "-o", "o.csv", says=["p.csv", "row 1", "'x'", "missing"])

    def test_attribute_is_missing(self, box, model):
        put(box, "p.csv", "z,c\n1,red\n")
        refuse(box, 3, "predict", "m.stope", "p.csv", says=["'x'", "p.csv"])

    def test_attribute_is_a_word(self, box, model):
        put(box, "p.csv", "x,z,c\none,1,red\n")
        refuse(box, 3, "predict", "m.stope", "p.csv", says="one", place="p.csv:2:1")

    @pytest.mark.parametrize("at", [5, 9, 17, 60, 400, -300, -9, -4])
    def test_flipped(self, box, model, at):
        damaged = bytearray(model.read_bytes())
        damaged[at] ^= 1
        put(box, "d.stope", bytes(damaged))
        refuse(box, 3, "predict", "d.stope", "more.csv", says="d.stope")
        assert run("info", "d.stope", code=None, cwd=box).code == 3

    @pytest.mark.parametrize("size", [0, 7, 8, 23, 24, 200, -8, -1])
    def test_cut_off(self, box, model, size):
        put(box, "c.stope", model.read_bytes()[:size])
        refuse(box, 3, "predict", "c.stope", "more.csv", says="c.stope")

    def test_newer(self, box, model):
        newer = bytearray(model.read_bytes())
        newer[8:12] = struct.pack("<I", 2)
        put(box, "n.stope", bytes(newer))
        refuse(box, 3, "predict", "n.stope", "more.csv", says=["version 2", "newer"])
