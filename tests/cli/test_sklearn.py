"""Compares k-NN on real tables with scikit-learn: neighbours, votes, probabilities, scores, radius, leave-one-out."""

import csv
import gzip

import numpy as np
import pytest
from sklearn import datasets, metrics
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

import measures
from program import find_key, neighbor_lists, records, rows, run, write_matrix

WIDE = ["alon", "golub", "khan", "singh", "TOX-171"]


def iris():
    data = datasets.load_iris()
    return data.data, np.array(data.target_names)[data.target]


def wine():
    data = datasets.load_wine()
    return data.data, np.array(["c" + str(t) for t in data.target])


def cancer():
    data = datasets.load_breast_cancer()
    return data.data, np.array(["c" + str(t) for t in data.target])


TABLES = {"iris": iris, "wine": wine, "cancer": cancer}


def split(x, y):
    test = np.arange(len(x)) % 3 == 1
    return x[~test], y[~test], x[test], y[test]


def write_split(folder, x, y):
    a, b, c, d = split(x, y)
    return (write_matrix(folder / "train.csv", a, label=list(b)), write_matrix(folder / "test.csv", c, label=list(d)),
            a, b, c, d)


class Classifier:
    """Runs KNeighborsClassifier on integer codes: this scikit-learn's fast path for uniform votes rejects words."""

    def __init__(self, k, **options):
        self.model = KNeighborsClassifier(k, algorithm="brute", **options)

    def fit(self, x, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model.fit(x, codes)
        return self

    def predict(self, x):
        return self.classes_[self.model.predict(x)]

    def predict_proba(self, x):
        return self.model.predict_proba(x)


def clear_rows(distances, k):
    """Returns the rows where no training row ties with the k-th neighbour (with weights: and none is at distance 0)."""
    d = np.sort(distances, axis=1)
    if d.shape[1] == k:
        return np.ones(len(d), dtype=bool)
    return d[:, k] - d[:, k - 1] > 1e-9 * np.maximum(1.0, d[:, k])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "canberra", "cosine", "minkowski"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_classification(tmp_path, table, metric, weights):
    train, test, a, b, c, d = write_split(tmp_path, *TABLES[table]())
    more = ["--metric-param", "p=3"] if metric == "minkowski" else []
    for k in (1, 2, 5, 31):
        model = Classifier(k, weights=weights, metric=metric, **({"p": 3} if metric == "minkowski" else {})).fit(a, b)
        distances = (measures.cosine(c, a, np.ones(a.shape[1])) if metric == "cosine"
                     else NearestNeighbors(n_neighbors=len(a), algorithm="brute", metric=metric,
                                           **({"p": 3} if metric == "minkowski" else {})).fit(a).kneighbors(c)[0])
        clear = clear_rows(distances, k)
        done = run("classify", train, test, "--target", "label", "--metric", metric, *more, "-k", k, "--weights",
                   weights, "--proba")
        header, body = rows(done.text)
        assert header == ["row", "prediction", *[f"confidence({v})" for v in model.classes_]]
        got = np.array([[float(v) for v in r[2:]] for r in body])
        want = model.predict_proba(c)
        # 1/d of a cosine distance amplifies the rounding of 1 - s; the sums themselves agree to the last bits.
        tolerance = 1e-12 if metric != "cosine" or weights == "uniform" else 1e-7
        np.testing.assert_allclose(got[clear], want[clear], rtol=0, atol=tolerance)
        margin = np.sort(want, axis=1)
        decided = clear & ((margin[:, -1] - margin[:, -2] > 1e-9) | (weights == "uniform"))
        assert [r[1] for r in np.array(body)[decided]] == list(model.predict(c)[decided])
        assert clear.sum() > 10  # iris is full of ties, which scikit-learn breaks as it likes


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_regression(tmp_path, metric, weights):
    data = datasets.load_diabetes(scaled=False)
    train, test, a, b, c, d = write_split(tmp_path, data.data, data.target)
    for k in (1, 3, 10, len(a)):
        model = KNeighborsRegressor(k, weights=weights, algorithm="brute", metric=metric).fit(a, b)
        clear = clear_rows(NearestNeighbors(n_neighbors=len(a), algorithm="brute", metric=metric).fit(a)
                           .kneighbors(c)[0], k)
        done = run("regress", train, test, "--target", "label", "--metric", metric, "-k", k, "--weights", weights)
        got = np.array([float(r["prediction"]) for r in records(done.text)])
        np.testing.assert_allclose(got[clear], model.predict(c)[clear], rtol=1e-9 if metric == "euclidean" else 1e-12)


@pytest.mark.parametrize("k", [1, 7, 100])
def test_neighbors_and_radius(tmp_path, k):
    train, test, a, b, c, d = write_split(tmp_path, *iris())
    done = run("knn", train, test, "--target", "label", "--metric", "manhattan", "-k", k)
    got = neighbor_lists(done.text)
    full = measures.manhattan(c, a, np.ones(4))
    order, distances = measures.nearest(full, k)
    for i in range(len(c)):
        assert [t for t, _ in got[i]] == list(order[i])
        assert [v for _, v in got[i]] == list(distances[i])
    sk = NearestNeighbors(n_neighbors=k, algorithm="brute", metric="manhattan").fit(a).kneighbors(c)[0]
    np.testing.assert_allclose([[v for _, v in got[i]] for i in range(len(c))], sk, rtol=1e-12)


@pytest.mark.parametrize("radius", [0.0, 0.25, 0.5, 3.0, 1e9])
def test_radius(tmp_path, radius):
    train, test, a, b, c, d = write_split(tmp_path, *iris())
    done = run("knn", train, test, "--target", "label", "--metric", "euclidean", "--radius", radius)
    got = neighbor_lists(done.text)
    full = measures.euclidean(c, a, np.ones(4))
    for i in range(len(c)):
        inside = np.flatnonzero(full[i] <= radius)
        want = inside[np.lexsort((inside, full[i][inside]))]
        assert [t for t, _ in got.get(i, [])] == list(want)
    sk = NearestNeighbors(radius=radius, metric="euclidean", algorithm="kd_tree").fit(a).radius_neighbors(c)[1]
    for i in range(len(c)):
        near_edge = np.any(np.abs(full[i] - radius) < 1e-9)
        assert near_edge or {t for t, _ in got.get(i, [])} == set(sk[i])


@pytest.mark.parametrize("name", WIDE)
def test_gene_expression(tmp_path, shared, name):
    path = shared / "data" / "wide" / f"{name}.csv.gz"
    with gzip.open(path, "rt", newline="") as source:
        table = list(csv.reader(source))
    x = np.array([[float(v) for v in r[:-1]] for r in table[1:]])
    y = np.array([r[-1] for r in table[1:]])
    held_out = list(range(0, len(x), 4))
    test = tmp_path / "test.csv"
    with open(test, "w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([table[0], *[table[1 + i] for i in held_out]])
    done = run("classify", path, test, "--target", "decision", "--metric", "manhattan", "-k", 3, "--proba")
    model = Classifier(3, metric="manhattan").fit(x, y)
    header, body = rows(done.text)
    got = np.array([[float(v) for v in r[2:]] for r in body])
    distances = NearestNeighbors(n_neighbors=4, metric="manhattan", algorithm="brute").fit(x).kneighbors(x[held_out])[0]
    clear = distances[:, 3] - distances[:, 2] > 1e-9 * distances[:, 3]
    np.testing.assert_allclose(got[clear], model.predict_proba(x[held_out])[clear], atol=1e-12)
    assert clear.mean() > 0.9
    assert [r[1] for r in np.array(body)[clear]] == list(model.predict(x[held_out])[clear])


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("k", [1, 5, 20])
def test_classification_scores(tmp_path, table, k):
    train, test, a, b, c, d = write_split(tmp_path, *TABLES[table]())
    out = tmp_path / "out.csv"
    done = run("classify", train, test, "--target", "label", "-k", k, "--metric", "manhattan", "--json", "-o", out)
    predicted = [r["prediction"] for r in records(out.read_text())]
    tree = done.json()
    close = dict(rel=1e-12, abs=1e-15)
    assert find_key(tree, "accuracy") == pytest.approx(metrics.accuracy_score(d, predicted), **close)
    assert find_key(tree, "kappa") == pytest.approx(metrics.cohen_kappa_score(d, predicted), **close)
    assert find_key(tree, "macro_f1") == pytest.approx(metrics.f1_score(d, predicted, average="macro"), **close)
    labels = sorted(set(d) | set(b))
    confusion = np.array(find_key(tree, "confusion"))
    assert np.array_equal(confusion.reshape(len(labels), -1)[:, :len(labels)],
                          metrics.confusion_matrix(d, predicted, labels=labels))


def test_regression_scores(tmp_path):
    data = datasets.load_diabetes(scaled=False)
    train, test, a, b, c, d = write_split(tmp_path, data.data, data.target)
    out = tmp_path / "out.csv"
    tree = run("regress", train, test, "--target", "label", "-k", 7, "--json", "-o", out).json()
    predicted = [float(r["prediction"]) for r in records(out.read_text())]
    close = dict(rel=1e-12)
    assert find_key(tree, "rmse") == pytest.approx(metrics.root_mean_squared_error(d, predicted), **close)
    assert find_key(tree, "mae") == pytest.approx(metrics.mean_absolute_error(d, predicted), **close)
    assert find_key(tree, "r2") == pytest.approx(metrics.r2_score(d, predicted), **close)


def test_leave_one_out(tmp_path):
    x, y = wine()
    table = write_matrix(tmp_path / "t.csv", x, label=list(y))
    distances = measures.manhattan(x, x, np.ones(x.shape[1]))
    np.fill_diagonal(distances, np.inf)
    right = {}
    for k in (1, 4, 9):
        order, _ = measures.nearest(distances, k)
        votes = [[np.sum(y[o] == c) for c in np.unique(y)] for o in order]
        right[k] = np.mean(np.unique(y)[np.argmax(votes, axis=1)] == y)
        tree = run("evaluate", table, "--target", "label", "--loo", "-k", k, "--metric", "manhattan", "--json").json()
        assert find_key(tree, "accuracy") == pytest.approx(right[k], rel=1e-12)
        one = []
        for i in range(len(x)):
            rest = np.arange(len(x)) != i
            one.append(Classifier(k, metric="manhattan").fit(x[rest], y[rest]).predict(x[i:i + 1])[0])
        assert np.mean(np.array(one) == y) == pytest.approx(right[k], abs=2.5 / len(y))  # ties at the boundary
