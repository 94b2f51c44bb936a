"""Bad input: one clear error line, the documented exit code, the place where there is one, and nothing left behind."""

import json
import re
import struct

import numpy as np
import pytest

from program import run, write_matrix

pytestmark = pytest.mark.bad_input

GOOD = "x,z,c,y\n0,1,red,a\n1,5,blue,b\n4,2,red,a\n2,2,blue,b\n7,1,red,b\n3,3,red,a\n"


@pytest.fixture
def box(tmp_path):
    """Makes a folder with good tables; the tests write next to them."""
    (tmp_path / "train.csv").write_text(GOOD)
    (tmp_path / "test.csv").write_text("x,z,c\n1,1,red\n2,3,blue\n")
    (tmp_path / "numbers.csv").write_text("x,z,y\n0,1,2\n1,5,3\n4,2,4\n")
    return tmp_path


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def npy(header, body=b"", version=(1, 0), length=None):
    head = header.encode()
    size = struct.pack("<H" if version[0] == 1 else "<I", len(head) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + head + body


def refuse(folder, code, *args, says=(), place=None, **more):
    """Runs the program; it must fail with `code` and one line that says what, and leave the folder as it was."""
    before = {p: p.lstat().st_mtime_ns for p in folder.rglob("*")}
    done = run(*args, code=None, cwd=folder, **more)
    assert done.code == code, f"exit {done.code}, expected {code}\n{done.err}"
    if "--json" in args:
        assert done.json()["error"]["exit_code"] == code
    else:
        assert done.out == b"", done.out[:200]
    lines = [line for line in done.err.splitlines() if line.strip()]
    errors = done.error_lines()
    assert len(errors) == 1 and errors[0] == lines[-1], done.err
    for word in [says] if isinstance(says, str) else says:
        assert word.lower() in errors[0].lower(), f"{word!r} not in: {errors[0]}"
    if place:
        assert re.search(re.escape(place) + r"\b", errors[0]), f"{place} not in: {errors[0]}"
    after = {p: p.lstat().st_mtime_ns for p in folder.rglob("*")}
    assert after == before, f"left behind: {set(after) - set(before)}"
    return errors[0]


CLASSIFY = ["classify", "train.csv", "test.csv", "--target", "y", "-k", 1, "-o", "out.csv"]


def classify(train="train.csv", test="test.csv", *more):
    return ["classify", train, test, "--target", "y", "-k", 1, "-o", "out.csv", *more]


def test_the_good_case_is_good(box):
    run(*CLASSIFY, cwd=box)
    assert (box / "out.csv").read_text() == "row,prediction\n0,a\n1,b\n"


# --- files that are no tables ---------------------------------------------------------------------------------------


def test_missing_file(box):
    refuse(box, 3, *classify("nowhere.csv"), says="nowhere.csv")
    refuse(box, 3, *classify("train.csv", "nowhere.csv"), says="nowhere.csv")


def test_directory(box):
    (box / "folder.csv").mkdir()
    refuse(box, 3, *classify("folder.csv"), says="folder.csv")


def test_unknown_suffix(box):
    put(box, "table.xyz", GOOD)
    run(*classify("table.xyz"), cwd=box)  # its content says that it is CSV
    assert (box / "out.csv").read_text() == "row,prediction\n0,a\n1,b\n"
    put(box, "junk.xyz", bytes(range(256)) * 20)
    refuse(box, 3, *classify("junk.xyz", "test.csv"), says="junk.xyz")


JUNK = {
    "binary junk": bytes(range(256)) * 20,
    "empty": b"",
    "only blanks": b"\n\n  \n",
    "no rows": b"x,z,c,y\n",
    "ragged, short": b"x,z,c,y\n0,1,red,a\n1,5\n",
    "ragged, long": b"x,z,c,y\n0,1,red,a\n1,5,red,b,7\n",
    "unterminated quote": b'x,z,c,y\n0,1,"red,a\n1,5,blue,b\n',
    "text after a quote": b'x,z,c,y\n0,1,"red"dish,a\n',
    "bad UTF-8": b"x,z,c,y\n0,1,r\xff\xfed,a\n1,5,blue,b\n",
    "overlong UTF-8": b"x,z,c,y\n0,1,r\xc0\xafd,a\n",
    "truncated UTF-8": b"x,z,c,y\n0,1,blue,a\n0,1,r\xe2\x82",
    "UTF-16": "x,z,c,y\n0,1,red,a\n".encode("utf-16"),
    "NUL bytes": b"x,z,c,y\n0,1,r\0d,a\n",
    "duplicate columns": b"x,x,c,y\n0,1,red,a\n",
}


@pytest.mark.parametrize("kind", JUNK)
@pytest.mark.parametrize("side", ["train", "test"])
def test_junk(box, kind, side):
    put(box, "bad.csv", JUNK[kind])
    args = classify("bad.csv") if side == "train" else classify("train.csv", "bad.csv")
    if (kind, side) == ("no rows", "test"):  # no question, no answer
        run(*args, cwd=box)
        assert (box / "out.csv").read_text() == "row,prediction\n"
        return
    error = refuse(box, 3, *args, says="bad.csv")
    place = {"ragged, short": "bad.csv:3", "ragged, long": "bad.csv:3", "unterminated quote": "bad.csv:2:5",
             "text after a quote": "bad.csv:2", "bad UTF-8": "bad.csv:2", "overlong UTF-8": "bad.csv:2",
             "truncated UTF-8": "bad.csv:3", "NUL bytes": "bad.csv:2"}.get(kind)
    if place:
        assert re.search(re.escape(place) + r"\b", error), f"{place} not in: {error}"
    if kind == "UTF-16":
        assert "--encoding" in error or "utf-16" in error.lower()
    if kind == "duplicate columns":
        assert '"x"' in error or "'x'" in error


def test_one_row_and_k_5(box):
    put(box, "one.csv", "x,z,c,y\n0,1,red,a\n")
    refuse(box, 2, "classify", "one.csv", "test.csv", "--target", "y", "-o", "out.csv", says=("5", "1"))


def test_no_features(box):
    put(box, "only.csv", "y\na\nb\n")
    refuse(box, 3, *classify("only.csv"))


def test_number_in_a_numeric_column(box):
    put(box, "bad.csv", "x,z,c,y\n0,1,red,a\n1,five,blue,b\n")
    refuse(box, 3, *classify("bad.csv", "test.csv", "--numeric", "z"), says="five", place="bad.csv:3:3")


def test_decimal_commas(box):
    put(box, "bad.csv", "x;y\n1,5;a\n2,5;b\n")
    refuse(box, 3, *classify("bad.csv", "bad.csv", "--numeric", "x", "--decimal", "."), says="1,5", place="bad.csv:2:1")


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", ["0", "-1", "abc", "1.5", "99999999999999999999", ""])
def test_bad_k(box, k):
    refuse(box, 2, "classify", "train.csv", "test.csv", "--target", "y", f"-k{k}" if k.startswith("-") else "-k", *(
        [] if k.startswith("-") else [k]), "-o", "out.csv")


@pytest.mark.parametrize("args,says", [
    (["--metric", "euclidian"], ("euclidian", "euclidean")),
    (["--metric", "Numerical.EuclideanDistanc"], "EuclideanDistance"),
    (["--metric", "DiceSimilarity"], ("Nominal.DiceSimilarity", "Numerical.DiceSimilarity")),
    (["--metric", "JaccardSimilarity"], "JaccardSimilarity"),
    (["--metric", ""], ()),
    (["--metric-param", "gamma=1"], "gamma"),
    (["--metric-param", "nonsense"], "nonsense"),
    (["--metric", "minkowski", "--metric-param", "p=0", "--ignore", "c"], "p"),
    (["--metric", "minkowski", "--metric-param", "p=abc", "--ignore", "c"], "abc"),
    (["--metric", "minkowski", "--metric-param", "q=2", "--ignore", "c"], "q"),
    (["--metric", "KernelEuclideanDistance", "--metric-param", "kernel_type=radail", "--ignore", "c"], "radial"),
    (["--weights", "distanse"], "distance"),
    (["--normalize", "zz"], "zz"),
    (["--compat", "weka"], "weka"),
    (["--feature-weights", "1,-1,1"], "-1"),
    (["--feature-weights", "1,1"], ("2", "3")),
    (["--feature-weights", "1,1,1,1"], ("4", "3")),
    (["--feature-weights", "1,nan,1"], "nan"),
    (["--feature-weights", "1,inf,1"], "inf"),
    (["--feature-weights", "0,0,0"], ()),
    (["--no-such-option"], "--no-such-option"),
    (["--memory-limit", "lots"], "lots"),
    (["--memory-limit", "-1"], ()),
    (["-j", "0x"], ()),
    (["-j", "-3"], ()),
    (["--device", "gpu"], "gpu"),
    (["--sep", "ab"], ()),
    (["--input-format", "xls"], "xls"),
    (["--progress", "maybe"], "maybe"),
    (["--seed", "x"], ()),
], ids=lambda a: "_".join(a) if isinstance(a, list) else "")
def test_bad_option(box, args, says):
    refuse(box, 2, *classify("train.csv", "test.csv", *args), says=says)


@pytest.mark.parametrize("args", [[], ["clasify", "train.csv", "test.csv"], ["classify", "train.csv"],
                                  ["classify", "train.csv", "test.csv"], ["completion", "tcsh"],
                                  ["knn", "train.csv", "test.csv", "-k", "1", "--radius", "1"],
                                  ["knn", "train.csv", "train.csv", "-k", "1", "--output-format", "xls"],
                                  ["evaluate", "train.csv", "--target", "y", "--loo", "--cv", "3"],
                                  ["evaluate", "train.csv", "--target", "y", "--cv", "1"],
                                  ["evaluate", "train.csv", "--target", "y", "--cv", "7"],
                                  ["evaluate", "train.csv", "--target", "y", "--holdout", "1.5"],
                                  ["evaluate", "train.csv", "--target", "y", "--loo", "-k", "9..1"],
                                  ["normalize", "numbers.csv", "--method", "log"],
                                  ["stats", "numbers.csv", "--bins", "0"], ["stats", "numbers.csv", "--bins", "65537"],
                                  ["stats", "numbers.csv", "--json", "-o", "-"],
                                  ["normalize", "numbers.csv", "--method", "range", "--min", "2", "--max", "1"]],
                         ids=lambda a: " ".join(a) or "none")
def test_bad_command(box, args):
    done = run(*args, cwd=box, code=None)
    if not args:  # no command at all: the help, as an error
        assert done.code == 2 and not done.out
        return
    refuse(box, 2, *args)
    if args[0] == "clasify":
        assert "classify" in done.err


def test_k_beyond_the_rows(box):
    refuse(box, 2, "classify", "train.csv", "test.csv", "--target", "y", "-k", 7, "-o", "out.csv", says=("7", "6"))


def test_unknown_columns(box):
    refuse(box, 3, "classify", "train.csv", "test.csv", "--target", "yy", "-k", 1, says=("yy", "y"))
    put(box, "long.csv", "temperature,label\n1,a\n2,b\n")
    refuse(box, 3, "classify", "long.csv", "long.csv", "--target", "lable", "-k", 1, says=("lable", "label"))
    for option in ("--ignore", "--id", "--nominal", "--numeric", "--sample-weight"):
        refuse(box, 3, *classify("train.csv", "test.csv", option, "zz"), says="zz")
    refuse(box, 3, "classify", "train.csv", "test.csv", "--target", "9", "-k", 1, says="9")
    refuse(box, 3, "knn", "train.csv", "train.csv", "--target", "y", "-k", 1, "--exclude-group", "g", says="g")


def test_control_characters_in_names_do_not_reach_the_terminal(box):
    put(box, "t.csv", "x,\x1b[31my\n1,a\n2,b\n")
    error = refuse(box, 3, "classify", "t.csv", "t.csv", "--target", "\x1b[31mz", "-k", 1, says="\\x1b[31mz")
    assert "\x1b" not in error
    done = run("info", "t.csv", "--target", "2", "--explain", cwd=box)
    assert "\x1b" not in done.text + done.err


def test_metric_that_cannot_take_the_attributes(box):
    refuse(box, 3, *classify("train.csv", "test.csv", "--metric", "euclidean"), says="c")
    refuse(box, 3, *classify("train.csv", "test.csv", "--metric", "NominalDistance"), says="x")
    refuse(box, 3, *classify("train.csv", "test.csv", "--metric", "haversine", "--ignore", "z"), says="c")
    put(box, "three.csv", "p,q,r,y\n1,2,3,a\n2,3,4,b\n")
    refuse(box, 3, *classify("three.csv", "three.csv", "--metric", "haversine"), says=("2", "3"))
    put(box, "flat.csv", "p,q,y\n1,2,a\n2,4,b\n3,6,a\n")
    refuse(box, 3, *classify("flat.csv", "flat.csv", "--metric", "mahalanobis"), says="singular")


def test_test_table_without_an_attribute(box):
    put(box, "short.csv", "x,c\n1,red\n")
    refuse(box, 3, *classify("train.csv", "short.csv"), says=("z", "short.csv"))


def test_numeric_against_nominal(box):
    put(box, "swapped.csv", "x,z,c\nlow,1,red\n")
    refuse(box, 3, *classify("train.csv", "swapped.csv", "--nominal", "c"), says="x")


def test_missing_training_label(box):
    put(box, "gaps.csv", "x,z,c,y\n0,1,red,a\n1,5,blue,\n")
    error = refuse(box, 3, *classify("gaps.csv"), says="label")
    assert "row 1" in error or "gaps.csv:3" in error


def test_label_of_the_wrong_kind(box):
    refuse(box, 3, "regress", "train.csv", "test.csv", "--target", "y", "-k", 1, "-o", "out.csv", says="y")


def test_negative_distance_and_inverse_distance_weights(box):
    refuse(box, 2, "classify", "numbers.csv", "numbers.csv", "--target", "y", "-k", 2, "--weights", "distance",
           "--metric", "InnerProductSimilarity", "-o", "out.csv", says=("distance", "-"))


def test_negative_sample_weight(box):
    put(box, "w.csv", "x,w,y\n0,1,a\n1,-2,b\n")
    error = refuse(box, 3, "classify", "w.csv", "w.csv", "--target", "y", "--sample-weight", "w", "-k", 1,
                   "-o", "out.csv", says="-2")
    assert "w" in error


def test_data_and_json_do_not_share_stdout(box):
    words = ["classify", "train.csv", "test.csv", "--target", "y", "-k", 1, "--json"]
    refuse(box, 2, *words, "-o", "-", says=["--json", "'-'", "name a file"])
    refuse(box, 2, "convert", "train.csv", "-", "--json", says=["'-'", "name a file"])
    done = run(*words, cwd=box)
    assert isinstance(done.json(), dict) and "prediction\n" not in done.text  # one object and nothing else


def test_both_tables_from_standard_input(box):
    refuse(box, 2, "classify", "-", "-", "--target", "y", "-k", 1, stdin=GOOD.encode())


# --- other formats ---------------------------------------------------------------------------------------------------

F8 = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }\n"
NPY = {
    "shape lies": npy(F8 % "1000, 1000", bytes(64)),
    "shape overflows": npy(F8 % "4611686018427387904, 8", bytes(64)),
    "negative shape": npy(F8 % "-1, 8", bytes(64)),
    "2 GB header": npy("{", b"", (2, 0), 2**31),
    "header cut": npy(F8 % "1, 8", b"", (1, 0), 5000),
    "three dimensions": npy(F8 % "2, 2, 2", bytes(64)),
    "objects": npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }\n", bytes(64)),
    "big endian": npy("{'descr': '>f8', 'fortran_order': False, 'shape': (2, 2), }\n", bytes(32)),
    "no rows": npy(F8 % "0, 4"),
    "no dictionary": npy("hello\n", bytes(64)),
    "not an NPY": b"\x93NUMPZ\x01\x00v\x00" + bytes(64),
    "empty": b"",
    "version 9": npy(F8 % "1, 2", bytes(16), (9, 0)),
}


@pytest.mark.parametrize("kind", NPY)
def test_bad_npy(box, kind):
    put(box, "bad.npy", NPY[kind])
    refuse(box, 3, "knn", "bad.npy", "bad.npy", "-k", 1, "-o", "out.csv", says="bad.npy")


VECS = {
    "inconsistent lengths": struct.pack("<i2f", 2, 1, 2) + struct.pack("<i3f", 3, 1, 2, 3),
    "cut": struct.pack("<i2f", 2, 1, 2) + struct.pack("<if", 2, 1),
    "negative length": struct.pack("<i2f", -2, 1, 2),
    "zero length": struct.pack("<i", 0) * 4,
    "huge length": struct.pack("<i2f", 2**31 - 1, 1, 2),
    "empty": b"",
    "three bytes": b"abc",
}


@pytest.mark.parametrize("suffix", ["fvecs", "bvecs", "ivecs"])
@pytest.mark.parametrize("kind", VECS)
def test_bad_vecs(box, kind, suffix):
    put(box, f"bad.{suffix}", VECS[kind])
    refuse(box, 3, "knn", f"bad.{suffix}", f"bad.{suffix}", "-k", 1, "-o", "out.csv", says=f"bad.{suffix}")


def test_bad_raw(box):
    put(box, "bad.raw", bytes(30))
    refuse(box, 2, "knn", "bad.raw", "bad.raw", "-k", 1, says="features")
    refuse(box, 3, "knn", "bad.raw", "bad.raw", "-k", 1, "--n-features", 3, says="bad.raw")
    refuse(box, 2, "knn", "bad.raw", "bad.raw", "-k", 1, "--n-features", 3, "--dtype", "float16", says="float16")
    refuse(box, 2, "knn", "bad.raw", "bad.raw", "-k", 1, "--n-features", -3)


ARFF = {
    "value not declared": ("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\n2,q\n", ":6"),
    "not a number": ("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\none,a\n", ":5"),
    "ragged": ("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a,3\n", ":5"),
    "unknown type": ("@relation r\n@attribute x imaginary\n@attribute y {a,b}\n@data\n1,a\n", ":2"),
    "no data": ("@relation r\n@attribute x numeric\n@attribute y {a,b}\n", ""),
    "no rows": ("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n", ""),
    "open list": ("@relation r\n@attribute x numeric\n@attribute y {a,b\n@data\n1,a\n", ":3"),
    "open quote": ("@relation r\n@attribute 'x numeric\n@attribute y {a,b}\n@data\n1,a\n", ":2"),
    "sparse index": ("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n{7 1}\n", ":5"),
    "sparse order": ("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n{1 b,0 1}\n", ":5"),
    "open brace": ("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n{0 1\n", ":5"),
    "duplicate attribute": ("@relation r\n@attribute x numeric\n@attribute x {a,b}\n@data\n1,a\n", ":3"),
    "no attributes": ("@relation r\n@data\n1,a\n", ""),
    "junk": ("what is this\n", ""),
}


@pytest.mark.parametrize("kind", ARFF)
def test_bad_arff(box, kind):
    text, place = ARFF[kind]
    put(box, "bad.arff", text)
    refuse(box, 3, "classify", "bad.arff", "bad.arff", "--target", "y", "-k", 1, "-o", "out.csv",
           says=f"bad.arff{place}")


COLUMN = {"name": "x", "type": "real"}
SCHEMAS = {
    "no JSON": "columns: x",
    "cut JSON": '{"columns": [{"name": "x",',
    "an array": "[]",
    "no columns": '{"columns": []}',
    "no such key": '{"rows": []}',
    "columns no list": '{"columns": {"x": 1}}',
    "no name": '{"columns": [{"type": "real"}]}',
    "unknown type": '{"columns": [{"name": "x", "type": "quaternion"}]}',
    "unknown role": '{"columns": [{"name": "x", "type": "real", "role": "king"}]}',
    "wrong columns": json.dumps({"columns": [COLUMN, {"name": "q", "type": "real"}]}),
    "too few columns": json.dumps({"columns": [COLUMN]}),
    "duplicate values": json.dumps({"columns": [
        {"name": "x", "type": "real"}, {"name": "z", "type": "real"}, {"name": "c", "type": "nominal",
                                                                     "values": ["red", "red", "blue"]},
        {"name": "y", "type": "nominal", "role": "label", "values": ["a", "b"]}]}),
    "undeclared value": json.dumps({"columns": [
        {"name": "x", "type": "real"}, {"name": "z", "type": "real"}, {"name": "c", "type": "nominal",
                                                                     "values": ["red"]},
        {"name": "y", "type": "nominal", "role": "label", "values": ["a", "b"]}]}),
    "deep": "[" * 100000,
}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_bad_schema(box, kind):
    put(box, "s.json", SCHEMAS[kind])
    error = refuse(box, 3, "classify", "train.csv", "train.csv", "--schema", "s.json", "-k", 1, "-o", "out.csv")
    if kind == "undeclared value":
        assert "blue" in error and "train.csv:3:5" in error


def test_missing_schema(box):
    refuse(box, 3, "classify", "train.csv", "train.csv", "--schema", "no.json", "-k", 1, says="no.json")


# # --- what must not pass silently
# --------------------------------------------------------------------------------------


def test_huge_declared_field_counts(box):
    """A million columns in a header of one row is a table, not an attack on memory."""
    put(box, "wide.csv", ",".join(f"a{i}" for i in range(100000)) + "\n" + ",".join("1" for _ in range(100000)) + "\n")
    run("knn", "wide.csv", "wide.csv", "-k", 1, cwd=box)


def test_long_field_and_deep_quotes(box):
    put(box, "bad.csv", 'x,y\n1,"' + '""' * 500000 + '\n')
    refuse(box, 3, *classify("bad.csv", "bad.csv"), place="bad.csv:2:3")


def test_extreme_numbers_are_no_errors(box):
    put(box, "t.csv", "x,y\n1e400,a\n-1e400,b\n1e-400,a\n0x10,b\n")
    done = run(*classify("t.csv", "t.csv"), cwd=box)  # x is nominal: 0x10 is no number
    assert "line 5 of t.csv has '0x10'" in done.err
    assert (box / "out.csv").read_text() == "row,prediction\n0,a\n1,b\n2,a\n3,b\n"
    put(box, "u.csv", "x\n1e400\n-1e400\n1e-400\n")
    assert run("convert", "u.csv", "-", cwd=box).text == "x\nInfinity\n-Infinity\n0.0\n"
    write_matrix(box / "m.csv", np.array([[1e308, -1e308], [-1e308, 1e308]]))
    run("knn", "m.csv", "m.csv", "-k", 2, cwd=box)
