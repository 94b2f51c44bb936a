"""Compares PCA and least squares with NumPy, SciPy and scikit-learn: real tables, shapes, scales, damaged files."""

import csv
import gzip

import numpy as np
import pytest
from scipy import linalg
from sklearn import datasets
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import LinearRegression, Ridge

from program import find_key, run, rows, write_csv, write_matrix

def number(text):
    return float("nan") if text in ("", "?") else float(text)


def wide(shared, name):
    with gzip.open(shared / "data" / "wide" / f"{name}.csv.gz", "rt", encoding="utf-8") as source:
        reader = csv.reader(source)
        next(reader)
        return np.array([[float(v) for v in record[:-1]] for record in reader])


def adult(shared):
    with open(shared / "data" / "mixed" / "adult-train.csv", encoding="utf-8") as source:
        records = [r for r in csv.reader(source, skipinitialspace=True) if r]
    return np.array([[float(r[j]) for j in (0, 2, 4, 10, 11, 12)] for r in records])


def heart(shared):
    """Returns the numeric attributes of heart.h, which has missing values."""
    lines = (shared / "data" / "mixed" / "heart.h.arff").read_text(encoding="utf-8").splitlines()
    types = [line.split()[-1].lower() for line in lines if line.lower().startswith("@attribute")]
    data = [line.split(",") for line in lines[next(i for i, x in enumerate(lines) if x.lower().startswith("@data")) + 1:]
            if line and not line.startswith("%")]
    columns = [j for j, t in enumerate(types) if t in ("real", "numeric", "integer")]
    x = np.array([[number(record[j]) for j in columns] for record in data])
    return x[:, ~np.isnan(x).all(axis=0)]


TABLES = {
    "alon": lambda shared: wide(shared, "alon"),
    "golub": lambda shared: wide(shared, "golub"),
    "khan": lambda shared: wide(shared, "khan"),
    "TOX-171": lambda shared: wide(shared, "TOX-171"),
    "arcene": lambda shared: wide(shared, "arcene"),
    "adult": adult,
    "heart.h": heart,
}


def filled(x):
    """Replaces missing values by their column's mean."""
    return np.where(np.isnan(x), np.nanmean(x, axis=0), x)


def read_components(path):
    with open(path, encoding="utf-8", newline="") as source:
        records = list(csv.DictReader(source))
    names = [key for key in records[0] if key.startswith("pc")]
    of = {r["kind"]: [number(r[n]) for n in names] for r in records if r["kind"] != "attribute"}
    attributes = [r for r in records if r["kind"] == "attribute"]
    return {
        "names": [r["name"] for r in attributes],
        "mean": np.array([float(r.get("mean", "nan")) for r in attributes]),
        "scale": np.array([float(r["scale"]) for r in attributes]),
        "components": np.array([[float(r[n]) for n in names] for r in attributes]).T,
        "variance": np.array(of["explained_variance"]),
        "ratio": np.array(of["explained_variance_ratio"]),
        "singular": np.array(of["singular_value"]),
        "noise": of["noise_variance"][0],
    }


def scores_of(text):
    header, records = rows(text)
    k = sum(name.startswith("pc") for name in header)
    return np.array([[float(v) for v in r[:k]] for r in records])


def expect_components(got, vt, values, shape):
    """Compares components up to the rank, to 1e-6 where the relative gap of the eigenvalue to both neighbours exceeds
    1e-6, otherwise the subspace of its cluster. Returns how many stood apart."""
    rank = int((values > values[0] * (max(shape) * np.finfo(float).eps) ** 2).sum())
    begin, apart = 0, 0
    while begin < min(len(got), rank):
        end = begin + 1
        while end < rank and values[end - 1] - values[end] <= 1e-6 * values[end - 1]:
            end += 1
        cluster = vt[begin:end]
        for i in range(begin, min(end, len(got))):
            assert np.linalg.norm(got[i] - cluster.T @ (cluster @ got[i])) <= 1e-6, f"component {i} of {rank}"
        apart += end - begin == 1
        begin = end
    return apart


@pytest.mark.parametrize("table, scaling", [(t, "none") for t in TABLES] + [(t, "z") for t in ("alon", "adult", "heart.h")])
def test_pca_equals_the_decomposition(tmp_path, shared, table, scaling):
    x = TABLES[table](shared)
    path = write_matrix(tmp_path / "t.csv", x)
    out = tmp_path / "c.csv"
    impute = ["--impute", "mean"] if np.isnan(x).any() else []
    done = run("pca", path, "--components-out", out, "-o", tmp_path / "s.csv", "--json", "--normalize", scaling, *impute)
    centred = filled(x)
    centred = centred - centred.mean(axis=0)
    centred[:, np.ptp(filled(x), axis=0) == 0] = 0
    if scaling == "z":
        deviation = centred.std(axis=0, ddof=1)
        centred = centred / np.where(deviation > 0, deviation, 1)
    _, s, vt = np.linalg.svd(centred, full_matrices=False)
    variance = s ** 2 / (len(x) - 1)
    got = read_components(out)
    q = min(x.shape)
    assert got["components"].shape == (q, x.shape[1])
    assert np.abs(got["variance"] - variance).max() <= 1e-9 * variance.sum()
    assert np.abs(got["ratio"] - variance / variance.sum()).max() <= 1e-9
    assert np.abs(got["singular"] - s).max() <= 1e-6 * s[0]
    assert expect_components(got["components"], vt, variance, x.shape) >= min(q, np.linalg.matrix_rank(centred)) - 2
    product = got["components"] @ got["components"].T
    assert np.abs(product - np.eye(q)).max() <= 1e-9
    for component in got["components"]:  # scikit-learn's signs
        assert component[np.argmax(np.abs(component))] > 0 or np.isclose(component.max(), -component.min(), rtol=1e-9)
    scores = scores_of((tmp_path / "s.csv").read_text())
    assert np.abs(scores - centred @ got["components"].T).max() <= 1e-10 * s[0]
    assert find_key(done.json(), "method") == ("covariance" if x.shape[0] >= x.shape[1] else "outer products")


@pytest.mark.parametrize("table", ["alon", "khan"])
def test_block_lanczos_equals_the_decomposition(tmp_path, shared, table):
    x = TABLES[table](shared)
    x = np.vstack([x] * 4) + np.random.default_rng(1).normal(size=(4 * len(x), x.shape[1])) * x.std() * 0.3
    path = write_matrix(tmp_path / "t.npy.csv", x[:, :700])
    x = x[:, :700]
    out = tmp_path / "c.csv"
    done = run("pca", path, "--n-components", 6, "--components-out", out, "-o", tmp_path / "s.csv", "--json",
               "--memory-limit", x.nbytes + 5_500_000)
    assert find_key(done.json(), "method") == "block Lanczos", done.text
    _, s, vt = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    variance = s ** 2 / (len(x) - 1)
    got = read_components(out)
    assert np.abs(got["variance"] - variance[:6]).max() <= 1e-9 * variance.sum()
    assert expect_components(got["components"], vt, variance, x.shape) == 6
    rest = (variance.sum() - variance[:6].sum()) / (min(x.shape) - 6)
    assert got["noise"] == pytest.approx(rest, rel=1e-8)


@pytest.mark.parametrize("k", [1, 3, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("whiten", [False, True])
def test_pca_as_scikit_learn(tmp_path, k, whiten):
    for data in (datasets.load_iris(), datasets.load_wine(), datasets.load_breast_cancer(), datasets.load_digits()):
        x = data.data
        model = PCA(k, whiten=whiten, svd_solver="full").fit(x[: len(x) // 2 + 60])
        train = write_matrix(tmp_path / "a.csv", x[: len(x) // 2 + 60])
        test = write_matrix(tmp_path / "b.csv", x, label=["c" + str(t) for t in data.target])
        out = tmp_path / "c.csv"
        flags = ["--whiten"] if whiten else []
        first = run("pca", train, "--n-components", k, "--components-out", out, *flags)
        got = read_components(out)
        assert len(got["components"]) == model.n_components_
        assert np.abs(got["components"] - model.components_).max() <= 1e-6
        assert got["variance"] == pytest.approx(model.explained_variance_, rel=1e-9)
        assert got["ratio"] == pytest.approx(model.explained_variance_ratio_, rel=1e-9)
        assert got["singular"] == pytest.approx(model.singular_values_, rel=1e-9)
        assert got["noise"] == pytest.approx(model.noise_variance_, rel=1e-6, abs=1e-12)
        size = np.abs(model.transform(x)).max()
        assert np.abs(scores_of(first.text) - model.transform(x[: len(x) // 2 + 60])).max() <= 1e-6 * size
        second = run("pca", test, "--apply", out, "--target", "label", *flags)
        assert np.abs(scores_of(second.text) - model.transform(x)).max() <= 1e-6 * size
        header, records = rows(second.text)
        assert header[-1] == "label" and records[0][-1] == "c" + str(data.target[0])


@pytest.mark.parametrize("k", [1, 3])
def test_pca_without_centring_as_scikit_learn(tmp_path, k):
    for data in (datasets.load_iris(), datasets.load_wine(), datasets.load_breast_cancer(), datasets.load_digits()):
        x = data.data[: len(data.data) // 2 + 60]
        model = TruncatedSVD(k, algorithm="arpack").fit(x)
        out, saved = tmp_path / "c.csv", tmp_path / "m.stope"
        train = write_matrix(tmp_path / "a.csv", x)
        first = run("pca", train, "--no-center", "--n-components", k, "--components-out", out, "--model-out", saved)
        got = read_components(out)
        assert np.abs(got["components"] - model.components_).max() <= 1e-6
        assert got["variance"] == pytest.approx(model.explained_variance_, rel=1e-8)
        assert got["ratio"] == pytest.approx(model.explained_variance_ratio_, rel=1e-8)
        assert got["singular"] == pytest.approx(model.singular_values_, rel=1e-9)
        test = write_matrix(tmp_path / "b.csv", data.data)
        size = np.abs(model.transform(data.data)).max()
        for again in (run("pca", test, "--apply", out), run("predict", saved, test)):
            assert np.abs(scores_of(again.text) - model.transform(data.data)).max() <= 1e-6 * size
        assert np.abs(scores_of(first.text) - model.transform(x)).max() <= 1e-6 * size
    assert "needs centring" in run("pca", train, "--no-center", "--n-components", 0.5, code=2).err


def fit(path, folder, *options):
    run("lsq", path, "--target", "y", "-o", folder / "coef.csv", *options)
    return read_coefficients(folder / "coef.csv")


def read_coefficients(path):
    with open(path, encoding="utf-8", newline="") as source:
        records = list(csv.DictReader(source))
    assert records[0]["kind"] == "intercept"
    errors = [number(r["standard_error"]) for r in records] if "standard_error" in records[0] else None
    return float(records[0]["coefficient"]), np.array([float(r["coefficient"]) for r in records[1:]]), errors


@pytest.mark.parametrize("table", ["adult", "heart.h", "diabetes", "cancer"])
def test_least_squares_with_qr(tmp_path, shared, table):
    sets = {"diabetes": datasets.load_diabetes, "cancer": datasets.load_breast_cancer}
    x = filled(TABLES[table](shared)) if table in TABLES else sets[table]().data
    y = x[:, -1] * 1.0
    x = x[:, :-1]
    intercept, coefficients, errors = fit(write_matrix(tmp_path / "t.csv", x, y=y), tmp_path, "--standard-errors")
    design = np.hstack([np.ones((len(x), 1)), x])
    q, r = linalg.qr(design, mode="economic")
    want = linalg.solve_triangular(r, q.T @ y)
    scale = np.abs(x).max(axis=0)
    size = np.abs(want[1:] * scale).max()
    assert np.abs((coefficients - want[1:]) * scale).max() <= 1e-9 * size
    assert intercept == pytest.approx(want[0], abs=1e-9 * size + 1e-12)
    sigma2 = np.sum((y - design @ want) ** 2) / (len(x) - design.shape[1])
    inverse = linalg.solve_triangular(r, np.eye(len(r)))
    assert errors == pytest.approx(np.sqrt(sigma2 * np.sum(inverse ** 2, axis=1)), rel=1e-6)


@pytest.mark.parametrize("alpha", [0, 10])
@pytest.mark.parametrize("table", ["alon", "golub", "khan", "TOX-171"])
def test_wide_least_squares_with_qr(tmp_path, shared, table, alpha):
    """Fewer rows than columns: the shortest solution, or the ridge's, must be that of the QR of the transposed
    matrix."""
    x = TABLES[table](shared)
    y, x = x[:, 0], x[:, 1:]
    n = len(x)
    intercept, coefficients, _ = fit(write_matrix(tmp_path / "t.csv", x, y=y), tmp_path, "--alpha", alpha)
    centred, mean = x - x.mean(axis=0), y.mean()
    stacked = np.vstack([centred.T, np.sqrt(alpha) * np.eye(n)])
    q, r, order = linalg.qr(stacked, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(r)) > 1e-12 * abs(r[0, 0])).sum())
    assert rank == (n if alpha else n - 1)
    z, *_ = linalg.lstsq(r[:rank].T, (y - mean)[order])
    want = (q[:, :rank] @ z)[: x.shape[1]]
    assert np.abs(coefficients - want).max() <= 1e-9 * np.abs(want).max()
    assert intercept == pytest.approx(mean - x.mean(axis=0) @ want, abs=1e-9 * np.abs(x).max() * np.abs(want).sum())


@pytest.mark.parametrize("alpha", [0, 0.01, 3])
@pytest.mark.parametrize("shape", [(300, 7), (300, 1), (40, 40), (25, 300), (1, 4), (2, 3)])
def test_least_squares_as_scikit_learn(tmp_path, alpha, shape):
    random = np.random.default_rng(5)
    x = random.normal(size=shape) * np.exp(random.normal(size=shape[1])) + 3
    y = x @ random.normal(size=shape[1]) + 5 + 0.1 * random.normal(size=shape[0])
    weights = random.integers(1, 4, shape[0]).astype(float)
    path = write_matrix(tmp_path / "t.csv", x, y=y, w=weights)
    for weighted in (False, True):
        for with_intercept in (True, False):
            model = Ridge(alpha, solver="svd", fit_intercept=with_intercept) if alpha else LinearRegression(
                fit_intercept=with_intercept)
            model.fit(x, y, weights if weighted else None)
            intercept, coefficients, _ = fit(path, tmp_path, "--alpha", alpha,
                                             *(["--sample-weight", "w"] if weighted else ["--ignore", "w"]),
                                             *([] if with_intercept else ["--no-intercept"]))
            size = max(np.abs(model.coef_).max(), 1)
            assert np.abs(coefficients - model.coef_).max() <= 1e-8 * size
            assert intercept == pytest.approx(model.intercept_, abs=1e-7 * size)
            got = rows(run("lsq", path, "--apply", tmp_path / "coef.csv", "--target", "y").text)[1]
            assert np.array([float(r[1]) for r in got]) == pytest.approx(model.predict(x), abs=1e-7 * size)


def test_dependent_columns_give_the_shortest_solution(tmp_path):
    random = np.random.default_rng(3)
    x = random.normal(size=(60, 6))
    x[:, 2] = 0.1
    x[:, 4] = 2 * x[:, 0]
    y = x[:, 0] + random.normal(size=60)
    done = run("lsq", write_matrix(tmp_path / "t.csv", x, y=y), "--target", "y", "-o", tmp_path / "c.csv")
    assert "rank 4 of 6" in done.err
    want = LinearRegression().fit(x, y)
    _, coefficients, _ = read_coefficients(tmp_path / "c.csv")
    assert coefficients == pytest.approx(want.coef_, abs=1e-12)
    again = run("lsq", tmp_path / "t.csv", "--target", "y", "--standard-errors")
    assert all(r[4] == "" for r in rows(again.text)[1])  # there are none


def test_powers_need_the_qr(tmp_path):
    t = np.linspace(0.2, 1.2, 150)
    x = np.stack([t ** k for k in range(1, 11)], axis=1)
    y = np.sin(9 * t)
    path = write_matrix(tmp_path / "t.csv", x, y=y)
    done = run("lsq", path, "--target", "y", "-o", tmp_path / "c.csv", "--json")
    assert find_key(done.json(), "method") == "qr"
    intercept, coefficients, _ = read_coefficients(tmp_path / "c.csv")
    want, *_ = np.linalg.lstsq(np.hstack([np.ones((150, 1)), x]), y, rcond=None)
    assert np.abs(coefficients - want[1:]).max() <= 1e-5 * np.abs(want).max()
    assert intercept + x @ coefficients == pytest.approx(want[0] + x @ want[1:], abs=1e-10)


def test_the_same_bytes_with_any_threads(tmp_path):
    x = np.random.default_rng(8).normal(size=(5000, 30))
    path = write_matrix(tmp_path / "t.csv", x, y=x[:, 0] + 1)
    for command in (["pca", path], ["lsq", path, "--target", "y"], ["lsq", path, "--target", "y", "--alpha", "2"]):
        assert run(*command, "-j", 1).out == run(*command, "-j", 4).out


def test_the_same_bytes_of_a_table_beyond_the_memory_limit(tmp_path):
    x = np.random.default_rng(9).normal(size=(40_000, 30))
    path = write_matrix(tmp_path / "t.csv", x, y=x[:, 0] + 1)
    for command in (["pca", path, "--n-components", 3], ["lsq", path, "--target", "y"]):
        limited = run(*command, "--memory-limit", "8MB", "--explain")
        assert "in a temporary file" in limited.err
        assert limited.out == run(*command).out


@pytest.fixture
def small(tmp_path):
    random = np.random.default_rng(2)
    columns = {"a": random.normal(size=20), "b": random.normal(size=20), "y": random.normal(size=20)}
    return write_csv(tmp_path / "small.csv", columns)


@pytest.mark.bad_input
@pytest.mark.parametrize("words, code, said", [
    (["pca", "T", "--n-components", "4"], 2, "n_components 4"),
    (["pca", "T", "--n-components", "0"], 2, "must be above 0"),
    (["pca", "T", "--n-components", "1.0"], 2, "write 1"),
    (["pca", "T", "--n-components", "1.5"], 2, "n_components 1.5"),
    (["pca", "T", "--n-components", "-2"], 2, "n_components -2"),
    (["pca", "T", "--normalize", "zz"], 2, "--normalize"),
    (["pca", "T", "--impute", "median"], 2, "--impute"),
    (["pca", "T", "--max-iterations", "0"], 2, "--max-iterations"),
    (["pca", "T", "--apply", "T", "--n-components", "2"], 2, "--n-components cannot be used with --apply"),
    (["pca", "T", "--apply", "T"], 3, "no column 'kind'"),
    (["pca", "T", "--memory-limit", "2kB"], 4, "bytes"),
    (["pca", "T", "-o", "/nowhere/x.csv"], 3, "/nowhere/x.csv"),
    (["lsq", "T"], 2, "--target"),
    (["lsq", "T", "--target", "z"], 3, "no column 'z'"),
    (["lsq", "T", "--target", "y", "--alpha", "-1"], 2, "alpha"),
    (["lsq", "T", "--target", "y", "--alpha", "1", "--standard-errors"], 2, "standard errors"),
    (["lsq", "T", "--apply", "T", "--alpha", "1"], 2, "--alpha cannot be used with --apply"),
    (["lsq", "T", "--apply", "T"], 3, "no column 'kind'"),
])
def test_refusals(small, words, code, said):
    done = run(*[small if w == "T" else w for w in words], code=code)
    assert len(done.error_lines()) == 1 and said in done.error_lines()[0], done.err
    assert done.out == b""


@pytest.mark.bad_input
def test_what_a_cell_can_be(tmp_path):
    columns = {"a": [1.0, 2.0, float("nan"), 4.0], "c": ["x", "y", "x", "y"], "y": [1.0, 2.0, 3.0, 4.0]}
    path = write_csv(tmp_path / "t.csv", columns)
    for command in (["pca"], ["lsq", "--target", "y"]):
        done = run(*command, path, code=3)
        assert "column 'c' is nominal" in done.error_lines()[0]
        done = run(*command, path, "--numeric-only", code=3)
        assert "column 'a', row 2: a missing value" in done.error_lines()[0]
        run(*command, path, "--numeric-only", "--impute", "mean")
        run(*command, path, "--ignore", "c", "--impute", "mean")
    columns["a"][2] = float("inf")
    path = write_csv(tmp_path / "t.csv", columns)
    assert "row 2: an infinite value" in run("pca", path, "--ignore", "c", "--impute", "mean", code=3).error_lines()[0]
    empty = tmp_path / "empty.csv"
    empty.write_text("a,b\n")
    assert "no rows" in run("pca", empty, code=3).error_lines()[0]
    assert "no numeric features" in run("pca", path, "--ignore", "a,y", "--numeric-only", code=3).error_lines()[0]


@pytest.mark.bad_input
@pytest.mark.parametrize("old, new, said", [
    ("kind,", "sort,", "no column 'kind'"),
    ("attribute,a", "thing,a", "unknown kind 'thing'"),
    ("attribute,a,", "attribute,,", "column 'name'"),
    ("singular_value", "explained_variance", "two rows"),
    ("mean", "average", "no column 'mean'"),
    ("attribute,a", "attribute,q", "'q'"),
])
def test_damaged_components(tmp_path, small, old, new, said):
    file = tmp_path / "c.csv"
    run("pca", small, "--components-out", file)
    file.write_text(file.read_text().replace(old, new))
    done = run("pca", small, "--apply", file, code=3)
    assert said in done.error_lines()[0], done.err


def test_odd_names_travel(tmp_path):
    random = np.random.default_rng(4)
    names = ["NA", "7", "a,b", 'say "x"', " blank ", "kind", "pc1", "mean"]
    columns = {name: random.normal(size=12) for name in names}
    path = write_csv(tmp_path / "t.csv", columns)
    first = run("pca", path, "--components-out", tmp_path / "c.csv")
    assert read_components(tmp_path / "c.csv")["names"] == [n.strip() for n in names]
    assert run("pca", path, "--apply", tmp_path / "c.csv").out == first.out
