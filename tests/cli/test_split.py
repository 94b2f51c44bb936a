"""stope split: every row is in one file, in order; the rows that evaluate holds out; strata and groups."""

import gzip

import pytest

from program import records, run


@pytest.fixture()
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,group,y\n" + "".join(f"{i},{'abcdefgh'[i * i % 8]}{i % 5},{'pqr'[i % 3 if i % 7 else 0]}\n" for i in range(100)))
    return path


def numbers(path):
    text = gzip.open(path, "rt").read() if str(path).endswith(".gz") else path.read_text()
    return [int(row["n"]) for row in records(text)]


def test_a_holdout_has_every_row_once_and_in_order(table, tmp_path):
    done = run("split", table, "--holdout", 0.3, "--target", "y", "-o", tmp_path / "a.csv", "--test-out", tmp_path / "b.csv.gz", "--json")
    train, test = numbers(tmp_path / "a.csv"), numbers(tmp_path / "b.csv.gz")
    assert train == sorted(train) and test == sorted(test) and sorted(train + test) == list(range(100)) and len(test) == 30
    assert [part["rows"] for part in done.json()["parts"]] == [70, 30] and done.json()["options"]["stratified"] is True
    whole, part = (sum(row["y"] == "p" for row in records(text)) for text in (table.read_text(), (tmp_path / "a.csv").read_text()))
    assert abs(part - 0.7 * whole) <= 1


def test_the_rows_are_those_that_evaluate_holds_out(table, tmp_path):
    """k-NN on the files gives the accuracy that evaluate tells of the same seed; of other seeds it tells others."""
    accuracies = set()
    for seed in range(6):
        run("split", table, "--holdout", 0.3, "--target", "y", "--seed", seed, "-o", tmp_path / "a.csv", "--test-out", tmp_path / "b.csv")
        words = ["--target", "y", "--ignore", "group", "-k", 1, "--json"]
        found = run("classify", tmp_path / "a.csv", tmp_path / "b.csv", *words).json()["scores"]["accuracy"]
        assert found == run("evaluate", table, "--holdout", 0.3, "--seed", seed, *words).json()["scores"]["accuracy"]
        accuracies.add(found)
    assert len(accuracies) > 1


def test_folds_are_those_of_cross_validation(table, tmp_path):
    run("split", table, "--folds", 4, "--target", "y", "--seed", 3, "-o", str(tmp_path / "train-{}.csv"), "--test-out", str(tmp_path / "test-{}.csv"))
    scores = run("evaluate", table, "--cv", 4, "--target", "y", "--seed", 3, "--ignore", "group", "-k", 3, "--json").json()
    tests = [numbers(tmp_path / f"test-{i}.csv") for i in range(1, 5)]
    assert sorted(sum(tests, [])) == list(range(100)) and {len(t) for t in tests} == {25}
    for i, expected in enumerate(scores["of_k"][0]["fold_scores"], 1):
        assert sorted(numbers(tmp_path / f"train-{i}.csv") + tests[i - 1]) == list(range(100))
        done = run("classify", tmp_path / f"train-{i}.csv", tmp_path / f"test-{i}.csv", "--target", "y", "--ignore", "group", "-k", 3, "--json")
        assert done.json()["scores"]["accuracy"] == expected


def test_parts_have_their_shares(table, tmp_path):
    run("split", table, "--parts", "60,20,20", "--target", "y", "-o", str(tmp_path / "p{}.csv"))
    parts = [numbers(tmp_path / f"p{i}.csv") for i in (1, 2, 3)]
    assert [len(part) for part in parts] == [60, 20, 20] and sorted(sum(parts, [])) == list(range(100))
    run("split", table, "--folds", 3, "-o", str(tmp_path / "f{}.csv"))
    assert sorted(len(numbers(tmp_path / f"f{i}.csv")) for i in (1, 2, 3)) == [33, 33, 34]


def test_groups_stay_together(table, tmp_path):
    run("split", table, "--parts", "2,1", "--group", "group", "-o", str(tmp_path / "p{}.csv"))
    first, second = ({row["group"] for row in records((tmp_path / f"p{i}.csv").read_text())} for i in (1, 2))
    assert not first & second and first and second
    assert abs(len(numbers(tmp_path / "p2.csv")) - 33) <= 8
    other = tmp_path / "q{}.csv"
    run("split", table, "--parts", "2,1", "--group", "group", "--seed", 5, "-o", str(other))
    assert numbers(tmp_path / "q2.csv") != numbers(tmp_path / "p2.csv")


def test_formats_ids_and_ignored_columns(table, tmp_path):
    run("split", table, "--holdout", 0.2, "--ignore", "group", "--target", "y", "-o", tmp_path / "a.arff", "--test-out", tmp_path / "b.jsonl")
    assert "@attribute" in (tmp_path / "a.arff").read_text().lower()
    assert len((tmp_path / "b.jsonl").read_text().splitlines()) == 20 and "group" not in (tmp_path / "b.jsonl").read_text()
    run("split", "-", "--holdout", 0.5, "-o", tmp_path / "c.csv", "--test-out", tmp_path / "d.csv", stdin=table.read_bytes())
    assert len(numbers(tmp_path / "c.csv")) == 50


@pytest.mark.parametrize("words, code, message", [
    (["-o", "a.csv"], 2, "give one of --holdout 0.3, --folds 5 and --parts 60,20,20"),
    (["--holdout", 0.3, "--folds", 3, "-o", "a.csv"], 2, "give one of"),
    (["--holdout", 0.3], 2, "name the files: -o train.csv --test-out test.csv"),
    (["--holdout", 0.3, "-o", "a.csv"], 2, "--holdout needs --test-out"),
    (["--holdout", 1.5, "-o", "a.csv", "--test-out", "b.csv"], 2, "--holdout: 1.5 is not between 0 and 1"),
    (["--folds", 5, "-o", "a.csv"], 2, "needs a {}, which becomes the number of the part"),
    (["--folds", 1, "-o", "a{}.csv"], 2, "--folds: 1 parts are not from 2 to 1000"),
    (["--folds", 101, "-o", "a{}.csv"], 2, "101 folds of 100 rows"),
    (["--parts", "60,0", "-o", "a{}.csv"], 2, "is not above 0"),
    (["--parts", "60,x", "-o", "a{}.csv"], 2, "--parts: 'x'"),
    (["--parts", "50,50", "-o", "a{}.csv", "--test-out", "b{}.csv"], 2, "--test-out belongs to"),
    (["--parts", "1,1", "--group", "y", "--ignore", "y", "-o", "a{}.csv"], 0, ""),
    (["--parts", "1,1,1,1", "--group", "y", "-o", "a{}.csv"], 2, "3 groups are too few for 4 parts"),
    (["--holdout", 0.3, "-o", "a.csv", "--test-out", "a.csv"], 2, "is named for two outputs"),
    (["--holdout", 0.3, "-o", "t.csv", "--test-out", "b.csv"], 2, "is the same file as"),
    (["--folds", 2, "-o", "{}t.csv", "--group", "grup"], 3, "no column is called 'grup' (--group)"),
    (["--holdout", 0.3, "-o", "-", "--test-out", "b.csv"], 2, "is one stream"),
    (["--holdout", 0.3, "-o", "a.xyz", "--test-out", "b.csv"], 2, "a.xyz"),
])
def test_mistakes_are_refused_and_leave_no_file(table, tmp_path, words, code, message):
    done = run("split", "t.csv", *words, code=code, cwd=tmp_path)
    assert message in done.err
    if code:
        assert len(done.error_lines()) == 1 and [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_a_table_of_one_row_cannot_be_split(tmp_path):
    (tmp_path / "t.csv").write_text("n\n1\n")
    done = run("split", "t.csv", "--holdout", 0.3, "-o", "a.csv", "--test-out", "b.csv", code=2, cwd=tmp_path)
    assert "at least 2 rows" in done.err
    (tmp_path / "1.csv").write_text("n\n1\n2\n")
    assert "is the table itself" in run("split", "1.csv", "--folds", 2, "-o", "{}.csv", code=2, cwd=tmp_path).err
