"""Rules that no recorded run covers: missing labels and attributes, unseen values, exclusion, weights, ties, streams,
compressed input, evaluation schemes, conversion, help."""

import gzip
import json
import shutil
import subprocess

import numpy as np
import pytest

import measures
from program import ROOT, find_key, neighbor_lists, records, rows, run, write_csv, write_matrix


def table(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def predictions(done):
    return [r["prediction"] for r in records(done.text)]


def test_a_warning_of_the_library_names_the_options_that_help(tmp_path):
    train = table(tmp_path, "train.csv", "x,z,y\n1,1000,b\n2,5000,a\n")
    done = run("classify", train, train, "--target", "y", "-k", 1, "--json", "-o", tmp_path / "out.csv")
    warning = ("the range of 'z' (4000) is 4000 times that of 'x' (1) and will dominate the distance: normalise the features, "
               "or weight them (--normalize z or range evens them out; or use --feature-weights)")
    assert json.loads(done.text)["warnings"] == [warning]
    assert "stope: warning: " + warning in done.err


# --- labels, attributes, values ------------------------------------------------------------------------------------


def test_missing_training_label(tmp_path):
    train = table(tmp_path, "train.csv", "x,y\n1,b\n2,\n3,a\n")
    test = table(tmp_path, "test.csv", "x,y\n2,a\n")
    done = run("classify", train, test, "--target", "y", "-k", 1, code=3)
    assert "row 1" in done.err or ":3" in done.err, "the row (counted from 0) or the line is named"
    # RapidMiner reads a missing label as the first class, which is "b" where the schema says so.
    schema = table(tmp_path, "s.json", json.dumps({"columns": [
        {"name": "x", "type": "real"}, {"name": "y", "type": "nominal", "role": "label", "values": ["b", "a"]}]}))
    assert predictions(run("classify", train, test, "--schema", schema, "-k", 1, "--compat", "rapidminer")) == ["b"]
    numeric = table(tmp_path, "n.csv", "x,y\n1,2\n2,\n")
    run("regress", numeric, numeric, "--target", "y", "-k", 1, code=3)


@pytest.mark.parametrize("compat", [[], ["--compat", "rapidminer"]])
def test_missing_test_attribute(tmp_path, compat):
    train = table(tmp_path, "train.csv", "x,z,y\n1,1,b\n2,5,a\n")
    test = table(tmp_path, "test.csv", "x,y\n2,a\n")
    done = run("classify", train, test, "--target", "y", "-k", 1, *compat, code=3)
    assert "z" in done.err


def test_columns_are_matched_by_name(tmp_path):
    train = table(tmp_path, "train.csv", "x,z,y\n1,100,b\n2,500,a\n")
    test = table(tmp_path, "test.csv", "extra,z,x\n9,499,2\n9,101,1\n")
    assert predictions(run("classify", train, test, "--target", "y", "-k", 1)) == ["a", "b"]


def test_names_are_for_files_without_header(tmp_path):
    train = table(tmp_path, "train.csv", "red,1,b\nblue,5,a\n")
    test = table(tmp_path, "test.csv", "5,red\n1,blue\n")
    args = ("--target", "y", "-k", 1, "--metric", "manhattan", "--ignore", "c", "--names", "c,x,y", "--test-names", "x,c")
    assert predictions(run("classify", train, test, *args)) == ["a", "b"]
    train = table(tmp_path, "train.csv", "C,X,Y\nred,1,b\nblue,5,a\n")
    test = table(tmp_path, "test.csv", "X,C\n5,red\n1,blue\n")
    assert predictions(run("classify", train, test, *args, "--header", "yes")) == ["a", "b"]


def test_unseen_value(tmp_path):
    train = table(tmp_path, "train.csv", "c,x,y\nred,0,a\nblue,0,b\n")
    test = table(tmp_path, "test.csv", "c,x\ngreen,3\n,3\nred,3\n")
    # An unseen value equals nothing, so both rows are sqrt(9 + 1) away; a missing one is skipped.
    lists = neighbor_lists(run("knn", train, test, "--target", "y", "-k", 2).text)
    assert lists[0] == [(0, 10 ** 0.5), (1, 10 ** 0.5)]
    assert lists[1] == [(0, 3.0), (1, 3.0)]
    assert lists[2] == [(0, 3.0), (1, 10 ** 0.5)]
    # Compat: an unseen value is missing.
    lists = neighbor_lists(run("knn", train, test, "--target", "y", "-k", 2, "--compat", "rapidminer").text)
    assert sorted(lists[0]) == [(0, 3.0), (1, 3.0)]


def test_k_beyond_the_rows(tmp_path):
    train = table(tmp_path, "train.csv", "x,y\n1,b\n2,a\n")
    run("classify", train, train, "--target", "y", "-k", 3, code=2)
    done = run("classify", train, train, "--target", "y", "-k", 3, "--compat", "rapidminer", "--proba")
    header, body = rows(done.text)
    assert [float(v) for v in body[0][2:]] == [1 / 3, 1 / 3]


def test_class_order(tmp_path):
    train = table(tmp_path, "train.csv", "x,y\n0,b\n0,a\n0,\"C\"\n")
    test = table(tmp_path, "test.csv", "x\n0\n")
    done = run("classify", train, test, "--target", "y", "-k", 3, "--proba")
    header, body = rows(done.text)
    assert header[2:] == ["confidence(C)", "confidence(a)", "confidence(b)"], "sorted by bytes"
    assert body[0][1] == "C", "a tie of votes goes to the first class"
    schema = table(tmp_path, "s.json", json.dumps({"columns": [
        {"name": "x", "type": "real"}, {"name": "y", "type": "nominal", "role": "label", "values": ["b", "a", "C"]}]}))
    test = table(tmp_path, "test2.csv", "x,y\n0,b\n")
    header, body = rows(run("classify", train, test, "--schema", schema, "-k", 3, "--proba").text)
    assert header[2:] == ["confidence(b)", "confidence(a)", "confidence(C)"] and body[0][1] == "b"
    arff = table(tmp_path, "t.arff", "@relation t\n@attribute x numeric\n@attribute y {b,C,a}\n@data\n0,b\n0,a\n0,C\n")
    header, body = rows(run("classify", arff, arff, "--target", "y", "-k", 3, "--proba").text)
    assert header[2:] == ["confidence(b)", "confidence(C)", "confidence(a)"] and body[0][1] == "b"


def test_numeric_labels_keep_their_spelling(tmp_path):
    train = table(tmp_path, "train.csv", "x,y\n0,01\n9,1.50\n")
    assert predictions(run("classify", train, train, "--target", "y", "-k", 1)) == ["01", "1.50"]


# --- exclusion ------------------------------------------------------------------------------------------------------


def test_exclude_self_goes_by_row(tmp_path):
    """Equal rows stay each other's neighbours; only the row itself is left out."""
    t = write_matrix(tmp_path / "t.csv", [[1.0], [1.0], [5.0], [1.0]])
    lists = neighbor_lists(run("knn", t, t, "-k", 3, "--exclude-self").text)
    assert [i for i, _ in lists[0]] == [1, 3, 2] and [i for i, _ in lists[1]] == [0, 3, 2]
    assert [i for i, _ in lists[3]] == [0, 1, 2]
    lists = neighbor_lists(run("knn", t, t, "--radius", 0, "--exclude-self").text)
    assert [i for i, _ in lists[0]] == [1, 3] and 2 not in lists


@pytest.mark.parametrize("kind", ["nominal", "numeric"])
def test_exclude_group(tmp_path, kind):
    groups = ["p", "p", "q", "", "q"] if kind == "nominal" else [1.0, 1.0, 2.0, None, 2.0]
    t = write_csv(tmp_path / "t.csv", {"x": [0.0, 1.0, 2.0, 3.0, 4.0], "g": groups})
    lists = neighbor_lists(run("knn", t, t, "-k", 5, "--exclude-group", "g").text)
    assert [i for i, _ in lists[0]] == [2, 3, 4]
    assert [i for i, _ in lists[2]] == [1, 3, 0]
    assert [i for i, _ in lists[3]] == [3, 2, 4, 1, 0], "a missing group excludes nothing; g is no feature"
    lists = neighbor_lists(run("knn", t, t, "-k", 4, "--exclude-group", "g", "--exclude-self").text)
    assert [i for i, _ in lists[3]] == [2, 4, 1, 0]


# --- ids, weights, votes --------------------------------------------------------------------------------------------


def test_id_is_appended(tmp_path):
    train = table(tmp_path, "train.csv", "name,x,y\nr1,0,a\nr2,9,b\n")
    test = table(tmp_path, "test.csv", "name,x\nq8,8\nq1,1\n")
    got = records(run("classify", train, test, "--target", "y", "--id", "name", "-k", 1).text)
    assert [(r["row"], r["prediction"], r["name"]) for r in got] == [("0", "b", "q8"), ("1", "a", "q1")]


def test_inverse_distance_votes(tmp_path):
    train = table(tmp_path, "train.csv", "x,y\n0,a\n3,b\n4,b\n")
    test = table(tmp_path, "test.csv", "x\n1\n0\n3.5\n")
    header, body = rows(run("classify", train, test, "--target", "y", "-k", 3, "--weights", "distance", "--proba").text)
    a, b = 1 / 1, 1 / 2 + 1 / 3
    assert [float(v) for v in body[0][2:]] == pytest.approx([a / (a + b), b / (a + b)], rel=1e-15)
    assert body[0][1] == "a"
    assert [float(v) for v in body[1][2:]] == [1.0, 0.0], "a neighbour at distance zero takes all the weight"
    assert body[2][1] == "b"


def test_several_zero_distances_share_the_weight(tmp_path):
    train = table(tmp_path, "train.csv", "x,y\n0,a\n0,b\n0,b\n1,a\n")
    header, body = rows(run("classify", train, train, "--target", "y", "-k", 4, "--weights", "distance",
                            "--proba").text)
    assert [float(v) for v in body[0][2:]] == pytest.approx([1 / 3, 2 / 3], rel=1e-15)
    numbers = table(tmp_path, "n.csv", "x,y\n0,1\n0,4\n9,100\n")
    assert float(predictions(run("regress", numbers, numbers, "--target", "y", "-k", 3, "--weights", "distance"))[0]) \
        == 2.5


def test_sample_weights_multiply_votes(tmp_path):
    train = table(tmp_path, "train.csv", "x,w,y\n0,1,a\n0,1,a\n0,5,b\n")
    test = table(tmp_path, "test.csv", "x\n0\n")
    args = ["--target", "y", "-k", 3, "--proba"]
    header, body = rows(run("classify", train, test, *args, "--sample-weight", "w").text)
    assert body[0][1] == "b"
    assert [float(v) for v in body[0][2:]] == pytest.approx([2 / 7, 5 / 7], rel=1e-15)
    header, body = rows(run("classify", train, test, *args, "--ignore", "w").text)
    assert body[0][1] == "a"
    numbers = table(tmp_path, "n.csv", "x,w,y\n0,1,10\n0,3,20\n")
    done = run("regress", numbers, test, "--target", "y", "-k", 2, "--sample-weight", "w")
    assert float(predictions(done)[0]) == 17.5
    done = run("classify", train, test, *args, "--sample-weight", "w", "--compat", "rapidminer")
    assert predictions(done) == ["a"], "RapidMiner ignores weights"


def test_row_without_common_attribute(tmp_path):
    train = table(tmp_path, "train.csv", "p,q,y\n1,,a\n,2,b\n5,,a\n")
    test = table(tmp_path, "test.csv", "p,q\n1,\n,2\n,\n")
    lists = neighbor_lists(run("knn", train, test, "--target", "y", "-k", 3).text)
    assert [i for i, _ in lists[0]] == [0, 2, 1] and np.isnan(lists[0][2][1]), "NaN comes last"
    assert [i for i, _ in lists[1]] == [1, 0, 2]
    assert [i for i, _ in lists[2]] == [0, 1, 2] and all(np.isnan(d) for _, d in lists[2])


def test_normalisation_is_fitted_on_the_training_table(tmp_path):
    train = table(tmp_path, "train.csv", "x,z,y\n0,0,a\n1,1000,b\n")
    test = table(tmp_path, "test.csv", "x,z\n0.9,400\n")
    assert predictions(run("classify", train, test, "--target", "y", "-k", 1)) == ["a"]
    assert predictions(run("classify", train, test, "--target", "y", "-k", 1, "--normalize", "range")) == ["b"]


# --- streams and formats --------------------------------------------------------------------------------------------


def test_standard_input(tmp_path):
    train = table(tmp_path, "train.csv", "x,y\n0,a\n9,b\n")
    test = table(tmp_path, "test.csv", "x\n8\n1\n")
    want = run("classify", train, test, "--target", "y", "-k", 1).out
    assert run("classify", "-", test, "--target", "y", "-k", 1, stdin=train.read_bytes()).out == want
    assert run("classify", train, "-", "--target", "y", "-k", 1, stdin=test.read_bytes()).out == want


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_input(tmp_path, suffix):
    g = np.random.default_rng(1)
    train = write_matrix(tmp_path / "train.csv", g.normal(size=(400, 3)))
    query = write_matrix(tmp_path / "query.csv", g.normal(size=(30, 3)))
    want = run("knn", train, query).out
    packed = tmp_path / f"train.csv.{suffix}"
    if suffix == "gz":
        packed.write_bytes(gzip.compress(train.read_bytes()))
    elif shutil.which("zstd") is None:
        pytest.skip("no zstd program to compress with")
    else:
        subprocess.run(["zstd", "-q", train, "-o", packed], check=True)
    assert run("knn", packed, query).out == want
    assert run("knn", "-", query, stdin=packed.read_bytes()).out == want, "by its magic number on standard input"


def test_output_file_equals_standard_output(tmp_path):
    t = write_matrix(tmp_path / "t.csv", np.random.default_rng(2).normal(size=(20, 3)))
    out = tmp_path / "o.csv"
    done = run("knn", t, t, "-o", out)
    assert not done.out and out.read_bytes() == run("knn", t, t).out


def test_output_formats(tmp_path):
    g = np.random.default_rng(3)
    train, query = g.normal(size=(50, 3)), g.normal(size=(9, 3))
    a, b = write_matrix(tmp_path / "a.csv", train), write_matrix(tmp_path / "b.csv", query)
    order, distances = measures.nearest(measures.euclidean(query, train, np.ones(3)), 4)
    common = ["knn", a, b, "--metric", "euclidean", "-k", 4]
    run(*common, "--output-format", "npy", "-o", tmp_path / "n")
    assert np.array_equal(np.load(tmp_path / "n.indices.npy"), order)
    assert np.load(tmp_path / "n.indices.npy").dtype == np.int64
    assert np.array_equal(np.load(tmp_path / "n.distances.npy"), distances)
    run(*common, "--output-format", "raw", "-o", tmp_path / "r")
    assert np.array_equal(np.fromfile(tmp_path / "r.indices.i32", "<i4").reshape(9, 4), order)
    assert np.array_equal(np.fromfile(tmp_path / "r.distances.f32", "<f4").reshape(9, 4), distances.astype("<f4"))
    run(*common, "--output-format", "ivecs", "-o", tmp_path / "v.ivecs")
    ivecs = np.fromfile(tmp_path / "v.ivecs", "<i4").reshape(9, 5)
    assert (ivecs[:, 0] == 4).all() and np.array_equal(ivecs[:, 1:], order)


def test_binary_tables(tmp_path):
    g = np.random.default_rng(4)
    x = g.normal(size=(40, 5)).astype(np.float32)
    want = run("knn", write_matrix(tmp_path / "x.csv", x), tmp_path / "x.csv", "--metric", "euclidean").out
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "f.npy", np.asfortranarray(x.astype(np.float64)))
    x.tofile(tmp_path / "x.raw")
    np.hstack([np.full((40, 1), 5, np.int32).view(np.float32), x]).tofile(tmp_path / "x.fvecs")
    for name in ("x.npy", "f.npy", "x.fvecs"):
        assert run("knn", tmp_path / name, tmp_path / name, "--metric", "euclidean").out == want, name
    assert run("knn", tmp_path / "x.raw", tmp_path / "x.raw", "--n-features", 5, "--metric", "euclidean").out == want


@pytest.mark.parametrize("through", ["tsv", "npy"])
def test_convert_round_trip(tmp_path, through):
    g = np.random.default_rng(5)
    x = np.vstack([g.normal(size=(20, 3)) * 10.0 ** g.integers(-30, 30, (20, 3)), [[-0.0, np.inf, 1]]])
    x[3, 1] = np.nan
    first = write_matrix(tmp_path / "x.csv", x)
    run("convert", first, tmp_path / f"x.{through}")
    run("convert", tmp_path / f"x.{through}", tmp_path / "back.csv")
    header, body = rows((tmp_path / "back.csv").read_text())
    got = np.array([[float(v) if v else np.nan for v in r] for r in body])
    assert np.array_equal(got, x, equal_nan=True) and np.array_equal(np.signbit(got), np.signbit(x))
    if through == "npy":
        assert np.array_equal(np.load(tmp_path / "x.npy"), x, equal_nan=True)
    else:
        assert header == ["a0", "a1", "a2"]


def test_convert_keeps_words(tmp_path):
    t = table(tmp_path, "t.csv", 'a,"b, with ""quotes"""\n"x, y",1\n"line\nbreak",2\n"",3\nüñí,4\n')
    run("convert", t, tmp_path / "t.tsv")
    run("convert", tmp_path / "t.tsv", tmp_path / "u.csv")
    header, body = rows((tmp_path / "u.csv").read_text(encoding="utf-8"))
    assert header == ["a", 'b, with "quotes"']
    assert [r[0] for r in body] == ["x, y", "line\nbreak", "", "üñí"] and [float(r[1]) for r in body] == [1, 2, 3, 4]


# --- evaluation ------------------------------------------------------------------------------------------------------


def labelled(folder, n=90):
    g = np.random.default_rng(6)
    x = g.normal(size=(n, 3))
    y = np.array(["a", "b", "c"])[np.argmax(x + 0.7 * g.normal(size=(n, 3)), axis=1)]
    return write_matrix(folder / "t.csv", x, label=list(y)), x, y


@pytest.mark.parametrize("scheme", [["--cv", 5], ["--holdout", 0.3], ["--loo"]])
def test_evaluation_is_deterministic(tmp_path, scheme):
    t, _, _ = labelled(tmp_path)

    def scores(*args):
        tree = run("evaluate", t, "--target", "label", *scheme, "-k", 3, "--json", *args).json()
        return find_key(tree, "accuracy"), find_key(tree, "confusion")

    assert scores("--seed", 7) == scores("--seed", 7, "-j", 1)
    if scheme != ["--loo"]:
        assert len({json.dumps(scores("--seed", s)) for s in range(12)}) > 1, "the seed decides the split"
    else:
        assert scores("--seed", 1) == scores("--seed", 2)


def test_loo_is_exclude_self(tmp_path):
    t, x, y = labelled(tmp_path)
    lists = neighbor_lists(run("knn", t, t, "--target", "label", "-k", 5, "--exclude-self").text)
    classes = np.unique(y)
    votes = [[sum(y[i] == c for i, _ in lists[r]) for c in classes] for r in range(len(y))]
    want = np.mean(classes[np.argmax(votes, axis=1)] == y)
    done = run("evaluate", t, "--target", "label", "--loo", "-k", 5, "--json")
    assert find_key(done.json(), "accuracy") == pytest.approx(want, rel=1e-12)
    done = run("evaluate", t, "--target", "label", "--loo", "-k", 5, "--normalize", "z")
    assert "whole table" in done.out.decode() + done.err, "leave-one-out says that it normalises once"


def test_range_of_k(tmp_path):
    t, _, _ = labelled(tmp_path)
    tree = run("evaluate", t, "--target", "label", "--loo", "-k", "1..9", "--json").json()
    lists = find_key(tree, "of_k")
    assert [entry["k"] for entry in lists] == list(range(1, 10))
    accuracy = [find_key(entry, "accuracy") for entry in lists]
    for k in (1, 4, 9):
        single = run("evaluate", t, "--target", "label", "--loo", "-k", k, "--json").json()
        assert find_key(single, "accuracy") == accuracy[k - 1]
    assert find_key(tree, "best_k") == 1 + int(np.argmax(accuracy)), "ties go to the smaller k"


@pytest.mark.parametrize("compat", [[], ["--compat", "rapidminer"]])
def test_one_search_serves_every_k(tmp_path, compat):
    """Under compat each k replays its own heap, as in a search of its own."""
    g = np.random.default_rng(7)
    t = write_matrix(tmp_path / "t.csv", g.integers(0, 3, (80, 2)), label=["abc"[v] for v in g.integers(0, 3, 80)])
    tree = run("evaluate", t, "--target", "label", "--cv", 4, "--seed", 3, "-k", "1..12", "--json", *compat).json()
    for entry in find_key(tree, "of_k"):
        single = run("evaluate", t, "--target", "label", "--cv", 4, "--seed", 3, "-k", entry["k"], "--json",
                     *compat).json()
        assert find_key(entry, "confusion") == find_key(single, "confusion"), entry["k"]


# --- words ------------------------------------------------------------------------------------------------------------


def test_scores_go_to_stderr(tmp_path):
    t, _, _ = labelled(tmp_path)
    done = run("classify", t, t, "--target", "label", "-k", 1)
    assert "accuracy" in done.err.lower() and "accuracy" not in done.text.lower()
    quiet = run("classify", t, t, "--target", "label", "-k", 1, "--quiet")
    assert quiet.err == "" and quiet.out == done.out


def test_explain_names_the_plan(tmp_path):
    t, _, _ = labelled(tmp_path)
    done = run("classify", t, t, "--target", "label", "-k", 1, "--explain")
    assert "reference" in done.err
    assert done.out == run("classify", t, t, "--target", "label", "-k", 1).out


def test_scale_warning(tmp_path):
    train = table(tmp_path, "t.csv", "small,large,y\n0,0,a\n1,1000,b\n")
    words = ["classify", train, train, "--target", "y", "-k", 1]

    def warned(*args):
        return "warning" in run(*words, *args).err

    assert warned() and not warned("--normalize", "range") and not warned("--feature-weights", "1,0.001")
    assert not warned("--quiet")
    near = table(tmp_path, "n.csv", "small,large,y\n0,0,a\n1,99,b\n")
    assert "warning" not in run("classify", near, near, "--target", "y", "-k", 1).err


def test_version_and_help():
    done = run("--version")
    assert done.text.split()[0] == "stope" and done.text.split()[1][0].isdigit()
    done = run("--help")
    for command in ("info", "knn", "classify", "regress", "pairwise", "normalize", "evaluate", "convert", "device",
                    "completion", "stats"):
        assert command in done.text
        assert run(command, "--help").text.strip()


def test_device():
    assert "reference" in run("device").text
    assert find_key(run("device", "--json").json(), "backends")


def test_info(tmp_path):
    t, _, _ = labelled(tmp_path)
    done = run("info", t)
    assert "90" in done.text and "label" in done.text
    assert isinstance(run("info", t, "--json").json(), dict)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(tmp_path, shell):
    script = run("completion", shell).text
    assert "classify" in script and "--metric" in script or "l metric" in script
    if shell == "bash":
        path = table(tmp_path, "c.sh", script)
        assert subprocess.run(["bash", "-n", path]).returncode == 0


def test_man_page():
    pages = list(ROOT.glob("**/stope.1*"))
    assert pages, "no manual page stope.1"
    assert any(".TH" in p.read_text() or ".Dt" in p.read_text() for p in pages if p.suffix != ".gz")
