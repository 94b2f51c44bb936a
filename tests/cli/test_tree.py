"""stope tree: reference trees node for node, formats, saved trees, scores; bad input in test_tree_refusals.py."""

import gzip
import json
import re
import xml.etree.ElementTree

import pytest

from program import SHARED, records, run

GOLDENS = SHARED / "goldens" / "discretise"
WIDE = ["TOX-171", "alon", "arcene", "chowdary", "golub", "khan", "singh"]
ARFF = {"anneal.orig": "class", "credit.a": "class", "heart.c": "num", "heart.h": "num", "hepatitis": "Class", "mushroom": "class"}
SMALL = ["diabetes", "heart.statlog", "iris", "sonar", "wine"]
ADULT = "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,hours-per-week,native-country,income"
needs_shared = pytest.mark.skipif(not GOLDENS.is_dir(), reason="no reference results at ../shared or STOPE_SHARED")


def grown(*args):
    return run("tree", *args, "--missing-policy", "value", "--format", "json", "-q").json()


def same_tree(name, tree):
    golden = json.loads((GOLDENS / f"{name}.tree.json").read_text())
    for key in ["classes", "cuts", "n_nodes", "n_leaves", "max_depth"]:
        if key in golden:
            assert tree[key] == golden[key], key
    assert len(tree["nodes"]) == len(golden["nodes"])
    for ours, theirs in zip(tree["nodes"], golden["nodes"]):
        assert ours == theirs


@needs_shared
class TestReferenceTrees:
    @pytest.mark.parametrize("name", WIDE)
    def test_wide(self, name):
        same_tree(name, grown(SHARED / "data" / "wide" / f"{name}.csv.gz", "--target", "decision"))

    @pytest.mark.parametrize("name", ARFF)
    def test_mixed(self, name):
        same_tree(name, grown(SHARED / "data" / "mixed" / f"{name}.arff", "--target", ARFF[name]))

    @pytest.mark.parametrize("name", SMALL)
    def test_small(self, name):
        same_tree(f"small/{name}", grown(GOLDENS / "small" / f"{name}.csv", "--target", "decision"))

    def test_little_memory_changes_nothing(self):
        table = SHARED / "data" / "wide" / "golub.csv.gz"
        same_tree("golub", grown(table, "--target", "decision", "--memory-limit", "16MB"))  # the sorted rows lie in a file

    def test_titanic(self):
        ignored = "class,who,adult_male,embark_town,alive,alone"
        same_tree("titanic", grown(SHARED / "data" / "mixed" / "titanic.csv", "--target", "survived", "--ignore", ignored))

    def test_adult(self, tmp_path):
        data = SHARED / "data" / "mixed"
        test = re.sub(r"\.$", "", (data / "adult-test.csv").read_text(), flags=re.M)
        (tmp_path / "test.csv").write_text(test)
        same_tree("adult-train", grown(data / "adult-train.csv", "--names", ADULT, "--target", "income"))
        # One command gives the tree, its rules and its accuracy on the test file.
        done = run("tree", data / "adult-train.csv", "--names", ADULT, "--target", "income", "--missing-policy", "value", "--test", "test.csv",
                   "--test-names", ADULT, "--format", "rules", "-o", "rules.txt", "--model-out", "m.stope", "--json", cwd=tmp_path)
        assert done.json()["tree"] == {"nodes": 11751, "leaves": 5876, "depth": 17, "impure_leaves": 1, "attributes": 14}
        scores = done.json()["scores"]
        assert scores["rows"] == 16281 and scores["accuracy"] == pytest.approx(12648 / 16281)
        assert len((tmp_path / "rules.txt").read_text().splitlines()) == 5876
        pruned = run("tree", data / "adult-train.csv", "--names", ADULT, "--target", "income", "--missing-policy", "value", "--test", "test.csv",
                     "--ccp-alpha", 0.0001, "-o", "pruned.txt", "--json", cwd=tmp_path).json()
        assert pruned["tree"]["leaves"] == 89 and pruned["scores"]["accuracy"] == pytest.approx(13428 / 16281)
        saved = run("predict", "m.stope", "test.csv", "--names", ADULT, "-o", "p.csv", "--json", cwd=tmp_path).json()
        assert saved["scores"] == scores

    @pytest.mark.parametrize("name,leaves,right", [("golub", 4, 63 / 72), ("khan", 7, 45 / 63)])
    def test_cross_validation(self, name, leaves, right):
        table = SHARED / "data" / "wide" / f"{name}.csv.gz"
        done = run("tree", table, "--target", "decision", "--cv", 10, "--json").json()
        assert done["tree"]["leaves"] == leaves
        scores = done["evaluation"]["scores"]
        assert scores["accuracy"] == pytest.approx(right)  # docs/numerics/tree.md
        assert len(done["evaluation"]["fold_scores"]) == 10
        assert run("tree", table, "--target", "decision", "--cv", 10, "--json", "-j", 1).json()["evaluation"] == done["evaluation"]


GOLF = """outlook,temperature,humidity,wind,play
sunny,85,85,no,no
sunny,80,90,yes,no
overcast,83,78,no,yes
rain,70,96,no,yes
rain,68,80,no,yes
rain,65,70,yes,no
overcast,64,65,yes,yes
sunny,72,95,no,no
sunny,69,70,no,yes
rain,75,80,no,yes
sunny,75,70,yes,yes
overcast,72,90,yes,yes
overcast,81,75,no,yes
rain,71,80,yes,no
"""


@pytest.fixture
def golf(tmp_path):
    (tmp_path / "golf.csv").write_text(GOLF)
    (tmp_path / "holes.csv").write_text(GOLF.replace("sunny,72,95", "sunny,,95").replace("rain,65", ",65"))
    return tmp_path


def tree(golf, *args, **more):
    return run("tree", "golf.csv", "--target", "play", *args, cwd=golf, **more)


def test_text_and_rules_say_the_same(golf):
    text = tree(golf, "-q").text
    rules = tree(golf, "--format", "rules", "-q").text
    leaves = re.findall(r": (\w+) \((\d+) row", text)
    assert leaves == [(m[0], m[1]) for m in re.findall(r"then play = (\w+) \((\d+) row", rules)]
    assert sum(int(n) for _, n in leaves) == 14
    assert text.splitlines()[0] == "outlook != sunny"  # 25 pairs; overcast separates 20
    assert rules.splitlines()[-1].endswith("if outlook = sunny and humidity >= 77.5 then play = no (3 rows)")


def test_dot_and_svg_are_well_formed(golf):
    dot = tree(golf, "--format", "dot", "-q").text
    nodes = tree(golf, "--format", "json", "-q").json()["nodes"]
    assert dot.startswith("digraph") and dot.count(" -> ") == len(nodes) - 1 == dot.count("[label=") / 2 - 0.5
    svg = xml.etree.ElementTree.fromstring(tree(golf, "--format", "svg", "-q").text)
    assert len(svg.findall(".//{*}rect")) == len(nodes) and len(svg.findall(".//{*}line")) == len(nodes) - 1


def test_names_are_quoted_in_every_format(tmp_path):
    (tmp_path / "t.csv").write_text('"a ""<b>"" & \\",y\n1,<&>\n2,"""q"""\n')
    for form in ["json", "svg"]:
        text = run("tree", "t.csv", "--target", "y", "--format", form, "-q", cwd=tmp_path).text
        if form == "json":
            assert json.loads(text)["classes"] == ['"q"', "<&>"]
            assert json.loads(text)["nodes"][0]["name"] == 'a "<b>" & \\'
        else:
            xml.etree.ElementTree.fromstring(text)


def test_line_breaks_in_values_break_no_line(tmp_path):
    (tmp_path / "t.csv").write_text('"c\tc",y\n"a\nb","p\x1b"\nc,q\n"a\nb","p\x1b"\n')
    rules = run("tree", "t.csv", "--target", "y", "--format", "rules", "-q", cwd=tmp_path).text
    assert rules == "1: if c\\x09c != a\\x0ab then y = q (1 row)\n2: if c\\x09c = a\\x0ab then y = p\\x1b (2 rows)\n"
    for form in ["text", "dot", "svg"]:
        assert "a\\x0ab" in run("tree", "t.csv", "--target", "y", "--format", form, "-q", cwd=tmp_path).text.replace("\\\\", "\\")
    values = run("tree", "t.csv", "--target", "y", "--format", "json", "-q", cwd=tmp_path).json()["attributes"][0]["values"]
    assert values == ["a\nb", "c"]


def test_saved_trees_explain_themselves(golf):
    tree(golf, "--model-out", "m.stope", "-o", "t.txt")
    run("predict", "m.stope", "golf.csv", "--proba", "--explain", "-o", "p.csv", "-q", cwd=golf)
    predictions = records((golf / "p.csv").read_text())
    truth = [line.split(",")[-1] for line in GOLF.splitlines()[1:]]
    assert [p["prediction"] for p in predictions] == truth
    assert {p["confidence(yes)"] for p in predictions} == {"0.0", "1.0"}
    rules = tree(golf, "--format", "rules", "-q").text.splitlines()
    for p in predictions:
        assert rules[int(p["rule"]) - 1].startswith(f"{p['rule']}: if {p['because']} then play = {p['prediction']} (")
    run("predict", "m.stope", "golf.csv", "-o", "plain.csv", "-q", cwd=golf)
    assert list(records((golf / "plain.csv").read_text())[0]) == ["row", "prediction"]
    text = run("info", "m.stope", cwd=golf).text
    assert "tree" in text and "discernibility" in text and "outlook" in text


def test_missing_policies(golf):
    for policy in ["value", "drop", "fill"]:
        done = run("tree", "holes.csv", "--target", "play", "--missing-policy", policy, "--model-out", "m.stope", "--format", "json", cwd=golf)
        assert done.json()["nodes"][0]["n"] == (12 if policy == "drop" else 14)
        predicted = records(run("predict", "m.stope", "holes.csv", "-q", cwd=golf).text)
        assert len(predicted) == 14
    done = run("predict", "m.stope", "golf.csv", "--missing", "value", cwd=golf)
    assert "what it means is in the model" in done.err
    # --missing says in every command how a missing value is spelled.
    done = run("tree", "golf.csv", "--target", "play", "--missing", "sunny", "--missing-policy", "value", "-q", "--format", "json", cwd=golf)
    assert "?" in done.json()["attributes"][0]["values"]


def test_limits(golf):
    assert tree(golf, "--max-depth", 0, "-q").text == "yes (14 rows, 5 of other classes)\n"
    for node in tree(golf, "--min-samples-leaf", 3, "--format", "json", "-q").json()["nodes"]:
        assert node["n"] >= 3
    for node in tree(golf, "--min-score", 9, "--format", "json", "-q").json()["nodes"]:
        assert node.get("score", 9) >= 9
    assert tree(golf, "--min-rows", 3, "-q").text == tree(golf, "--min-samples-leaf", 3, "-q").text


def test_criteria_and_weights(golf):
    trees = {c: tree(golf, "--criterion", c, "-q", "--format", "json").json() for c in ["discernibility", "gini", "entropy"]}
    assert trees["gini"]["nodes"][0]["score"] == pytest.approx(0.10204, abs=1e-5)
    assert trees["entropy"]["nodes"][0]["score"] == pytest.approx(0.22600, abs=1e-4)
    balanced = tree(golf, "--class-weight", "balanced", "--format", "json", "-q").json()["nodes"][0]
    assert balanced["counts"] == pytest.approx([7, 7], abs=1e-4)
    weighted = tree(golf, "--class-weight", "no=2.5", "--max-depth", 0, "-q").text
    assert weighted == "no (14 rows, weight 21.5, 9 of it of other classes)\n"


def test_pruning(golf):
    whole = tree(golf, "--json").json()["tree"]["leaves"]
    leaves = [tree(golf, "--ccp-alpha", alpha, "--json").json()["tree"]["leaves"] for alpha in [0.01, 0.1, 0.2, 1]]
    assert whole >= leaves[0] and leaves == sorted(leaves, reverse=True) and leaves[-1] == 1
    pruned = tree(golf, "--prune-holdout", 0.4, "--seed", 3, "--json").json()
    assert pruned["tree"]["leaves"] <= whole and pruned["options"]["prune_holdout"] == 0.4


def test_evaluation_schemes(golf):
    for scheme, name in [(["--cv", 3], "3-fold cross-validation"), (["--holdout", 0.3], "hold-out of 0.3"), (["--loo"], "leave-one-out")]:
        evaluation = tree(golf, *scheme, "--json").json()["evaluation"]
        assert evaluation["scheme"] == name
        assert evaluation["scores"]["rows"] == (4 if "--holdout" in scheme else 14)


def test_scores_of_a_test_table(golf):
    (golf / "test.csv").write_text("play,wind,outlook,humidity,temperature\nyes,no,overcast,80,70\nno,no,overcast,80,70\nmaybe,no,overcast,1,1\n")
    done = tree(golf, "--test", "test.csv", "--json").json()
    assert done["scores"]["rows"] == 3 and done["scores"]["accuracy"] == pytest.approx(1 / 3)
    assert done["warnings"][-1] == "1 of 3 rows with a label that training does not know, counted as wrong: 'maybe'"


def test_weights_are_told_from_rows(golf):
    line = tree(golf, "--class-weight", "no=1.37", "--max-depth", 0, "-q").text
    assert line == "yes (14 rows, weight 15.85, 6.85 of it of other classes)\n"
    one = tree(golf, "--max-depth", 0).err
    assert one == "tree: 1 leaf, depth 0, 0 of 4 attributes, 1 impure leaf\n"


def test_compressed_output_and_stdin(golf):
    tree(golf, "-o", "t.json.gz", "--format", "json")
    assert json.loads(gzip.decompress((golf / "t.json.gz").read_bytes())) == tree(golf, "--format", "json").json()
    assert run("tree", "-", "--target", "play", stdin=GOLF.encode()).text == tree(golf).text


def test_the_local_method_cuts_as_the_tree_does(golf):
    run("discretize", "golf.csv", "--target", "play", "--method", "md-local", "--cuts-out", "c.json", "-o", "coded.csv", "--model-out", "c.stope", cwd=golf)
    cuts = json.loads((golf / "c.json").read_text())
    assert cuts == tree(golf, "--format", "json", "-q").json()["cuts"]
    coded = records((golf / "coded.csv").read_text())
    codes = {}
    for row in coded:  # the tree is pure: so is the coded table
        assert codes.setdefault(tuple(v for k, v in row.items() if k != "play"), row["play"]) == row["play"]
    assert run("predict", "c.stope", "golf.csv", cwd=golf).text == (golf / "coded.csv").read_text()
    refused = run("discretize", "golf.csv", "--target", "play", "--method", "md-local", "--missing-policy", "fill", "--model-out", "f.stope", code=2, cwd=golf)
    assert "does not hold the means" in refused.err


def local_cuts(table, *options, folder):
    run("discretize", table, *options, "--method", "md-local", "--missing-policy", "value", "--cuts-out", "c.json", cwd=folder)
    return json.loads((folder / "c.json").read_text())


@needs_shared
class TestCutsOfTheLocalMethodAreRseslibs:
    @pytest.mark.parametrize("name", WIDE)
    def test_wide(self, name, tmp_path):
        ours = local_cuts(SHARED / "data" / "wide" / f"{name}.csv.gz", "--target", "decision", folder=tmp_path)
        assert ours == json.loads((GOLDENS / f"{name}.Rseslib_cuts.json").read_text())

    @pytest.mark.parametrize("name", ARFF)
    def test_mixed(self, name, tmp_path):
        ours = local_cuts(SHARED / "data" / "mixed" / f"{name}.arff", "--target", ARFF[name], folder=tmp_path)
        assert ours == json.loads((GOLDENS / f"{name}.Rseslib_cuts.json").read_text())

    @pytest.mark.parametrize("name,options", [("adult-train", ["--names", ADULT, "--target", "income"]),
                                              ("titanic", ["--target", "survived", "--ignore", "class,who,adult_male,embark_town,alive,alone"])])
    def test_without_types(self, name, options, tmp_path):
        ours = local_cuts(SHARED / "data" / "mixed" / f"{name}.csv", *options, folder=tmp_path)
        assert ours == json.loads((GOLDENS / f"{name}.Rseslib_cuts.json").read_text())

    @pytest.mark.parametrize("name", SMALL)
    def test_small(self, name, tmp_path):
        table = GOLDENS / "small" / f"{name}.csv"
        names = table.read_text().splitlines()[0].split(",")
        theirs = {}
        for record in records((GOLDENS / "small" / f"{name}.Rseslib_local.csv").read_text()):
            theirs.setdefault(names[int(record["attr"])], set()).add(float(record["cut"]))
        assert local_cuts(table, "--target", "decision", folder=tmp_path) == {key: sorted(cuts) for key, cuts in theirs.items()}
