"""`stope predict --explain-out` and `--explain`: the rows that decided, what their distances consist of, what coefficients
add. The references are NumPy and the predictions themselves."""

import collections
import csv
import re

import numpy as np
import pytest

from program import records, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("explain")
    random = np.random.default_rng(4)
    with open(place / "train.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["id", "a", "b", "c", "y"])
        for i in range(60):
            a, b = random.normal(size=2).round(3)
            writer.writerow([f"t{i}", "" if i % 11 == 0 else a, b, "pqr"[i % 3], "no" if a < 0 else "yes"])
    with open(place / "test.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["id", "a", "b", "c"])
        for i in range(12):
            a, b = random.normal(size=2).round(3)
            writer.writerow([f"q{i}", a, "" if i == 5 else b, "pqr"[i % 3]])
    with open(place / "price.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["a", "b", "y"])
        for a, b in random.normal(size=(50, 2)).round(3):
            writer.writerow([a, b, round(1 + 2 * a - 3 * b + random.normal() / 10, 3)])
    model = ["--target", "y", "--id", "id", "-k", "5", "--weights", "distance"]
    for metric in ("gower", "heom", "mixed-euclidean"):
        run("classify", "train.csv", *model, "--metric", metric, "--model-out", f"{metric}.stope", cwd=place)
    run("regress", "price.csv", "--target", "y", "-k", "4", "--model-out", "price.stope", cwd=place)
    run("lsq", "price.csv", "--target", "y", "--model-out", "lsq.stope", "-o", "l.csv", cwd=place)
    return place


def explained(folder, model, *words, table="test.csv"):
    run("predict", model, table, "-o", "p.csv", "--proba", "--explain-out", "e.csv", *words, cwd=folder)
    return records((folder / "p.csv").read_text()), records((folder / "e.csv").read_text())


def read(path):
    table = records(path.read_text())
    ranges = {name: [float(row[name]) for row in table if row[name] != ""] for name in "ab"}
    return table, {name: max(values) - min(values) for name, values in ranges.items()}


def term(metric, name, x, y, ranges):
    """The numerator of one attribute, from the texts of two cells."""
    if x == "" or y == "":
        return 1.0 if metric == "heom" else 0.0
    if name == "c":
        return float(x != y)
    d = abs(float(x) - float(y))
    return {"gower": d / ranges[name], "heom": (d / ranges[name]) ** 2, "mixed-euclidean": d * d}[metric]


@pytest.mark.parametrize("metric", ["gower", "heom", "mixed-euclidean"])
def test_shares_of_the_distance_are_those_of_the_definition(folder, metric):
    train, ranges = read(folder / "train.csv")
    test = records((folder / "test.csv").read_text())
    _, found = explained(folder, f"{metric}.stope")
    groups = collections.defaultdict(list)
    for row in found:
        groups[int(row["row"]), int(row["pos"])].append(row)
    assert len(groups) == 12 * 5
    for (query, _), rows in groups.items():
        index = int(rows[0]["train_index"])
        terms = {name: term(metric, name, train[index][name], test[query][name], ranges) for name in "abc"}
        whole = sum(terms.values())
        present = sum(train[index][name] != "" and test[query][name] != "" for name in "abc")
        distance = whole / present if metric == "gower" else np.sqrt(whole)
        assert float(rows[0]["distance"]) == pytest.approx(distance, rel=1e-12)
        if distance == 0.0:  # nothing sets these two rows apart
            assert [row["attribute"] for row in rows] == [""]
            continue
        shares = [float(row["attribute_share"]) for row in rows]
        assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1.0, rel=1e-12)
        for row in rows:
            assert float(row["attribute_share"]) == pytest.approx(terms[row["attribute"]] / whole, abs=1e-12)
            assert row["train_label"] == train[index]["y"] and row["id"] == test[query]["id"]
        assert sum(float(row["term"]) for row in rows) == pytest.approx(distance if metric == "gower" else distance ** 2, rel=1e-12)


def test_votes_are_those_of_the_prediction(folder):
    predicted, found = explained(folder, "gower.stope", "--explain-attributes", "0")
    assert list(found[0]) == ["row", "pos", "train_index", "prediction", "train_label", "distance", "weight", "vote_share", "id"]
    shares = collections.defaultdict(float)
    for row in found:
        assert row["prediction"] == predicted[int(row["row"])]["prediction"]
        if float(row["distance"]) > 0 and float(row["weight"]) > 0:  # a neighbour at distance 0 takes the others' weight
            assert float(row["weight"]) == pytest.approx(1 / float(row["distance"]), rel=1e-12)
        shares[int(row["row"]), row["train_label"]] += float(row["vote_share"])
    for row in predicted:
        for label in ("yes", "no"):
            assert shares[int(row["row"]), label] == pytest.approx(float(row[f"confidence({label})"]), abs=1e-12)


def test_another_k_and_other_weights_explain_that_vote(folder):
    predicted, found = explained(folder, "gower.stope", "-k", "3", "--weights", "uniform", "--explain-attributes", "1")
    assert {row["pos"] for row in found} == {"0", "1", "2"} and {row["weight"] for row in found} == {"1.0"}
    assert len(found) == 12 * 3
    assert [row["prediction"] for row in found[::3]] == [row["prediction"] for row in predicted]


def test_numbers_are_explained_by_the_labels_of_the_neighbours(folder):
    run("predict", "price.stope", "price.csv", "-o", "n.csv", "--explain-out", "n.jsonl", cwd=folder)
    assert (folder / "n.jsonl").read_text().startswith('{"row": 0, "pos": 0, "train_index": 0')
    run("predict", "price.stope", "price.csv", "-o", "n.csv", "--explain-out", "e.csv", "--explain-attributes", "0", cwd=folder)
    labels = collections.defaultdict(list)
    for row in records((folder / "e.csv").read_text()):
        labels[row["row"]].append(float(row["train_label"]))
    for row in records((folder / "n.csv").read_text()):
        assert float(row["prediction"]) == pytest.approx(np.mean(labels[row["row"]]), rel=1e-12)


def test_people_get_a_few_rows_as_text(folder):
    text = run("predict", "gower.stope", "test.csv", "-o", "p.csv", "--explain-out", "-", cwd=folder).text
    assert text.count("row ") >= 5 and "the first 5 of 12 rows" in text
    assert re.search(r"row 0 \(q0\): (yes|no)\n +train row +y +distance +vote +apart in", text)
    run("predict", "gower.stope", "test.csv", "-o", "p.csv", "--explain-out", "e.txt", cwd=folder)
    assert (folder / "e.txt").read_text() == text


def test_classify_and_regress_explain_with_the_ids_of_both_tables(folder):
    words = ["train.csv", "test.csv", "--target", "y", "--id", "id", "-k", "5", "--weights", "distance", "--metric", "gower"]
    run("classify", *words, "-o", "c.csv", "--explain-out", "ids.csv", "--normalize", "z", cwd=folder)
    with_ids = records((folder / "ids.csv").read_text())
    assert all(row["train_id"] == f"t{row['train_index']}" for row in with_ids)
    run("classify", *words, "--normalize", "z", "--model-out", "z.stope", "-o", "c.csv", cwd=folder)
    _, saved = explained(folder, "z.stope")
    assert [{k: v for k, v in row.items() if k != "train_id"} for row in with_ids] == saved
    run("regress", "price.csv", "price.csv", "--target", "y", "-k", "4", "-o", "n.csv", "--explain-out", "r.csv", cwd=folder)
    run("predict", "price.stope", "price.csv", "-o", "n.csv", "--explain-out", "e.csv", cwd=folder)
    assert (folder / "r.csv").read_text() == (folder / "e.csv").read_text()
    done = run("classify", "train.csv", "--target", "y", "--model-out", "m.stope", "--explain-out", "x.csv", cwd=folder, code=2)
    assert "--explain-out needs TEST" in done.err and not (folder / "x.csv").exists()


def test_an_id_column_that_is_called_as_a_column_of_the_result_is_numbered(folder):
    (folder / "row.csv").write_text("row,a,y\n" + "".join(f"r{i},{i},{'uv'[i % 2]}\n" for i in range(8)))
    words = ["--target", "y", "--id", "row"]
    run("classify", "row.csv", "row.csv", *words, "-k", "2", "-o", "c.csv", "--explain-out", "e.jsonl", cwd=folder)
    run("evaluate", "row.csv", *words, "-k", "1", "--cv", "2", "--predictions-out", "p.csv", cwd=folder)
    for name in ("c.csv", "p.csv"):
        table = records((folder / name).read_text())
        assert [row["row_2"] for row in table] == [f"r{row['row']}" for row in table]
        run("info", name, cwd=folder)
    assert (folder / "e.jsonl").read_text().startswith('{"row": 0, ') and '"row_2": "r0"}' in (folder / "e.jsonl").read_text()


def test_a_similarity_says_that_it_does_not_come_apart(folder):
    run("regress", "price.csv", "--target", "y", "--metric", "jaccard-similarity", "--model-out", "j.stope", cwd=folder)
    done = run("predict", "j.stope", "price.csv", "-o", "p.csv", "--explain-out", "e.csv", cwd=folder)
    assert "does not come apart into attributes" in done.err
    assert "attribute" not in records((folder / "e.csv").read_text())[0]


def test_explained_least_squares_add_up(folder):
    table = records(run("predict", "lsq.stope", "price.csv", "--explain", "--scores", "no", cwd=folder).text)
    plain = records(run("predict", "lsq.stope", "price.csv", "--scores", "no", cwd=folder).text)
    for row, other in zip(table, plain):
        assert row["prediction"] == other["prediction"] and list(row) == ["row", "prediction", "because"]
        numbers = [float(f"{sign.strip()}{value}")
                   for sign, value in re.findall(r"(^-?| [+-] )([0-9.e+-]+)", row["because"])]
        assert len(numbers) == 3 and "(a)" in row["because"] and "(b)" in row["because"]
        assert sum(numbers) == pytest.approx(float(row["prediction"]), abs=2e-3)


@pytest.mark.bad_input
@pytest.mark.parametrize("words, part", [
    (["lsq.stope", "price.csv", "--explain-out", "x.csv"], "has no neighbours; --explain writes"),
    (["gower.stope", "test.csv", "--explain-attributes", "2"], "--explain-attributes needs --explain-out"),
    (["gower.stope", "test.csv", "--explain-out", "x.csv", "--explain-attributes", "-1"], "is below 0"),
    (["gower.stope", "test.csv", "--explain-out", "x.npy"], "no .npy file"),
    (["gower.stope", "test.csv", "--explain-out", "-"], "stdout"),
    (["gower.stope", "test.csv", "-o", "x.csv", "--explain-out", "x.csv"], "x.csv"),
    (["gower.stope", "test.csv", "-o", "o.csv", "--explain-out", "test.csv"], "test.csv"),
])
def test_mistakes_are_one_line(folder, words, part):
    before = (folder / "test.csv").read_text()
    done = run("predict", *words, cwd=folder, code=2)
    lines = done.error_lines()
    assert len(lines) == 1 and part in lines[0], done.err
    assert not (folder / "x.csv").exists() and (folder / "test.csv").read_text() == before
