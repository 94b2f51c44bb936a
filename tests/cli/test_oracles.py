"""Compares measures with independent ones: NumPy (to the bit where only + - * / sqrt are used), SciPy, scikit-learn."""

import json
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import DistanceMetric
from sklearn.metrics.pairwise import nan_euclidean_distances

import measures
import rapidminer
from program import run, same_bits, write_csv, write_matrix


def rng(seed):
    return np.random.default_rng(seed)


def plain(n, d, seed):
    return rng(seed).normal(size=(n, d))


def with_missing(n, d, seed):
    x = plain(n, d, seed)
    x[rng(seed + 1).random((n, d)) < 0.3] = np.nan
    x[n // 2] = np.nan
    return x


def offset(n, d, seed):
    return 1e6 + plain(n, d, seed)


def scales(n, d, seed):
    """Returns magnitudes from 1e-170 to 1e+170: squares underflow and overflow."""
    return plain(n, d, seed) * 10.0 ** rng(seed + 2).integers(-170, 170, size=(n, d))


def signed_zeros(n, d, seed):
    x = rng(seed).integers(-2, 3, size=(n, d)).astype(float)
    return np.where((x == 0) & (rng(seed + 3).random((n, d)) < 0.5), -0.0, x)


def infinite(n, d, seed):
    x = plain(n, d, seed)
    g = rng(seed + 4)
    x[g.random((n, d)) < 0.1] = np.inf
    x[g.random((n, d)) < 0.1] = -np.inf
    return x


def boolean(n, d, seed):
    return rng(seed).integers(0, 2, size=(n, d)).astype(float)


TABLES = {"plain": plain, "missing": with_missing, "offset": offset, "scales": scales, "zeros": signed_zeros,
          "infinite": infinite, "boolean": boolean}
EXACT = ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "canberra", "braycurtis", "cosine", "correlation",
         "hamming", "jaccard", "dice", "nan_euclidean"]


def matrix_of(folder, *args):
    """Returns the matrix of `stope pairwise ... --output-format npy`."""
    out = folder / "matrix.npy"
    run("pairwise", *args, "--output-format", "npy", "-o", out)
    return np.load(out)


def pairwise(folder, x, y, metric, *args):
    a, b = write_matrix(folder / "x.csv", x), write_matrix(folder / "y.csv", y)
    return matrix_of(folder, a, b, "--metric", metric, "--numeric", ",".join(f"a{j}" for j in range(x.shape[1])), *args)


def assert_bits(got, want):
    assert got.shape == want.shape and got.dtype == np.float64
    if not same_bits(got, want):
        wrong = np.argwhere(~((got == want) | (np.isnan(got) & np.isnan(want))))
        if len(wrong) == 0:
            wrong = np.argwhere(np.signbit(got) != np.signbit(want))
        i, j = wrong[0]
        pytest.fail(f"{len(wrong)} of {got.size} differ; [{i},{j}] is {got[i, j]!r}, expected {want[i, j]!r}")


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("metric", EXACT)
def test_to_the_bit(tmp_path, metric, kind):
    x, y = TABLES[kind](33, 7, 1), TABLES[kind](65, 7, 100)
    with np.errstate(all="ignore"):
        want = getattr(measures, metric)(x, y, np.ones(7))
    assert_bits(pairwise(tmp_path, x, y, metric), want)


@pytest.mark.parametrize("kind", ["plain", "missing"])
@pytest.mark.parametrize("metric", EXACT)
def test_feature_weights_to_the_bit(tmp_path, metric, kind):
    x, y = TABLES[kind](31, 6, 5), TABLES[kind](32, 6, 6)
    w = np.array([1, 0, 1, 1, 0, 1.0]) if metric == "chebyshev" else np.array([0.5, 2, 0, 1, 3.25, 0.1])
    kept = w > 0  # an attribute of weight zero is left out
    with np.errstate(all="ignore"):
        want = getattr(measures, metric)(x[:, kept], y[:, kept], w[kept])
    got = pairwise(tmp_path, x, y, metric, "--feature-weights", ",".join(map(str, w)))
    assert_bits(got, want)
    table = write_csv(tmp_path / "w.csv", {f"a{j}": [w[j]] for j in range(6)})
    assert_bits(pairwise(tmp_path, x, y, metric, "--feature-weights", table), want)


SCIPY = {"euclidean": {}, "sqeuclidean": {}, "cityblock": {}, "chebyshev": {}, "canberra": {}, "cosine": {},
         "correlation": {}, "hamming": {}, "minkowski": {"p": 3}}
OURS = {"cityblock": "manhattan"}


@pytest.mark.parametrize("metric", SCIPY)
def test_scipy(tmp_path, metric):
    x, y = plain(40, 8, 7), plain(70, 8, 8)
    want = cdist(x, y, metric, **SCIPY[metric])
    more = [a for key, v in SCIPY[metric].items() for a in ("--metric-param", f"{key}={v}")]
    for name in {metric, OURS.get(metric, metric)}:
        np.testing.assert_allclose(pairwise(tmp_path, x, y, name, *more), want, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock", "canberra", "cosine", "correlation",
                                    "hamming", "minkowski"])
def test_scipy_weights(tmp_path, metric):
    x, y = plain(20, 5, 9), plain(21, 5, 10)
    w = np.array([0.5, 2, 1, 3, 0.25])
    want = cdist(x, y, metric, w=w, **SCIPY[metric])
    more = ["--metric-param", "p=3"] if metric == "minkowski" else []
    got = pairwise(tmp_path, x, y, OURS.get(metric, metric), "--feature-weights", "0.5,2,1,3,0.25", *more)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", ["jaccard", "dice"])
def test_scipy_boolean(tmp_path, metric):
    x, y = boolean(30, 9, 11), boolean(31, 9, 12)
    x[:, 0] = 1  # no pair of two empty sets
    np.testing.assert_allclose(pairwise(tmp_path, x, y, metric), cdist(x.astype(bool), y.astype(bool), metric),
                               rtol=1e-12)


@pytest.mark.parametrize("kind", ["plain", "offset"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "canberra", "braycurtis", "hamming"])
def test_scikit_learn(tmp_path, metric, kind):
    x, y = TABLES[kind](25, 6, 13), TABLES[kind](26, 6, 14)
    want = DistanceMetric.get_metric(metric).pairwise(x, y)
    np.testing.assert_allclose(pairwise(tmp_path, x, y, metric), want, rtol=1e-12)


@pytest.mark.parametrize("p", ["1", "1.5", "2", "3", "7.25", "inf"])
@pytest.mark.parametrize("kind", ["plain", "offset", "missing"])
def test_minkowski(tmp_path, p, kind):
    x, y = TABLES[kind](17, 5, 15), TABLES[kind](18, 5, 16)
    got = pairwise(tmp_path, x, y, "minkowski", "--metric-param", f"p={p}")
    same = {"1": "manhattan", "2": "euclidean", "inf": "chebyshev"}.get(p)
    if same:
        assert_bits(got, pairwise(tmp_path, x, y, same))
    else:
        np.testing.assert_allclose(got, measures.minkowski(x, y, np.ones(5), float(p)), rtol=1e-12)
    if kind != "missing":
        np.testing.assert_allclose(got, cdist(x, y, "minkowski", p=float(p)), rtol=1e-12)


def test_nan_euclidean_is_scikit_learns(tmp_path):
    x, y = with_missing(40, 6, 17), with_missing(41, 6, 18)
    np.testing.assert_allclose(pairwise(tmp_path, x, y, "nan_euclidean"), nan_euclidean_distances(x, y), rtol=1e-12,
                               atol=1e-7)


@pytest.mark.parametrize("kind", ["world", "street"])
def test_haversine(tmp_path, kind):
    g = rng(19)
    if kind == "world":
        x = np.column_stack([g.uniform(-np.pi / 2, np.pi / 2, 50), g.uniform(-np.pi, np.pi, 50)])
    else:  # rows of one street: a few metres apart
        x = np.array([0.9, 0.2]) + g.uniform(0, 1e-6, (50, 2))
    got = pairwise(tmp_path, x, x, "haversine")
    np.testing.assert_allclose(got, measures.haversine(x, x, None), rtol=1e-12)
    np.testing.assert_allclose(got, DistanceMetric.get_metric("haversine").pairwise(x, x), rtol=1e-12)


def test_mahalanobis(tmp_path):
    x, y = plain(20, 5, 20), plain(200, 5, 21) @ plain(5, 5, 22)
    inverse = np.linalg.inv(np.cov(y, rowvar=False, ddof=1))
    got = pairwise(tmp_path, x, y, "mahalanobis")
    np.testing.assert_allclose(got, measures.mahalanobis(x, y, inverse), rtol=1e-9)
    np.testing.assert_allclose(got, cdist(x, y, "mahalanobis", VI=inverse), rtol=1e-9)


def mixed_table(n, seed, missing=0.2):
    """Returns columns of a mixed table as CSV and as codes: numbers, nominal values, one constant column."""
    g = rng(seed)
    colours = np.array(["blue", "green", "red"])
    codes = g.integers(0, 3, n).astype(float)
    letters = g.integers(0, 26, n).astype(float)
    x = np.column_stack([g.normal(size=n), codes, g.integers(0, 5, n), letters, np.full(n, 2.5)])
    x[g.random(x.shape) < missing] = np.nan
    x[0], x[1] = [0.1, 0, 1, 25, 2.5], [-7.3, 2, 4, 0, 2.5]  # every value of every list occurs
    spell = [None, lambda v: colours[int(v)], None, lambda v: chr(97 + int(v)), None]
    columns = {f"c{j}": [None if np.isnan(v) else spell[j](v) if spell[j] else v for v in x[:, j]] for j in range(5)}
    return columns, x


NOMINAL = [False, True, False, True, False]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("metric", ["gower", "heom", "mixed-euclidean"])
@pytest.mark.parametrize("weights", [None, [1, 0.5, 2, 1, 0.25]])
def test_mixed_measures(tmp_path, metric, missing, weights):
    x_columns, x = mixed_table(60, 30, missing)
    y_columns, y = mixed_table(90, 31, missing)
    w = np.ones(5) if weights is None else np.array(weights)
    if metric == "mixed-euclidean":
        want = measures.mixed_euclidean(x, y, w, NOMINAL)
    else:
        with np.errstate(all="ignore"):
            want = getattr(measures, metric)(x, y, w, NOMINAL, measures.ranges(y, NOMINAL))
    more = ["--feature-weights", ",".join(map(str, weights))] if weights else []
    got = matrix_of(tmp_path, write_csv(tmp_path / "x.csv", x_columns), write_csv(tmp_path / "y.csv", y_columns),
                    "--metric", metric, "--nominal", "c1,c3", "--numeric", "c0,c2,c4", *more)
    assert_bits(got, want)


def test_ranges_are_the_training_tables(tmp_path):
    """Queries far outside the training range do not change what a step within it is worth."""
    train = write_csv(tmp_path / "t.csv", {"a": [0.0, 1.0, 10.0], "b": [0.0, 0.0, 1.0]})
    query = write_csv(tmp_path / "q.csv", {"a": [0.0, 1000.0], "b": [0.0, 0.0]})
    text = run("knn", train, query, "--metric", "gower", "-k", 3).text.splitlines()
    assert [float(line.split(",")[3]) for line in text[1:4]] == [0.0, (1.0 / 10.0) / 2.0, 1.0]


RAPIDMINER = [
    ("Numerical", m) for m in
    ("EuclideanDistance", "ManhattanDistance", "ChebychevDistance", "CamberraDistance", "CosineSimilarity",
     "CorrelationSimilarity", "DiceSimilarity", "JaccardSimilarity", "OverlapSimilarity", "InnerProductSimilarity",
     "MaxProductSimilarity", "DynamicTimeWarpingDistance", "KernelEuclideanDistance")
] + [("Bregman", m) for m in ("SquaredEuclideanDistance", "GeneralizedIDivergence", "KLDivergence",
                             "MahalanobisDistance")]


@pytest.mark.parametrize("kind", ["plain", "missing", "positive", "offset", "zeros"])
@pytest.mark.parametrize("family,name", RAPIDMINER)
def test_rapidminer_measures(tmp_path, family, name, kind):
    if kind == "positive":
        x, y = rng(40).uniform(0.1, 5, (23, 6)), rng(41).uniform(0.1, 5, (34, 6))
    else:
        x, y = TABLES[kind](23, 6, 40), TABLES[kind](34, 6, 41)
    if name in ("GeneralizedIDivergence", "KLDivergence") and kind not in ("positive", "offset"):
        x, y = np.abs(x) + 0.01, np.abs(y) + 0.01
    if name == "MahalanobisDistance" and kind == "missing":
        y = plain(34, 6, 41)
    want = rapidminer.measure(family, name, x, y, covariance_of=y)
    if name in ("CosineSimilarity", "InnerProductSimilarity"):  # nothing in common is NaN in stope's own rules
        want = np.where((~np.isnan(x)).astype(int) @ (~np.isnan(y)).astype(int).T == 0, np.nan, want)
    got = pairwise(tmp_path, x, y, f"{family}.{name}")
    if name in rapidminer.EXACT:
        assert_bits(got, want)
    else:
        rtol = 1e-9 if name == "MahalanobisDistance" else 1e-12
        # Differences of two sums lose digits relative to the sums, not to the result.
        scale = {"GeneralizedIDivergence": np.nanmax(np.abs(x)) * 6, "KLDivergence": np.nanmax(np.abs(x)) * 6,
                 "KernelEuclideanDistance": 4.0}.get(name, 0.0)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=scale * 1e-14)


@pytest.mark.parametrize("kind", ["dot", "radial", "polynomial", "sigmoid", "anova", "epanechnikov",
                                  "gausian_combination", "multiquadric"])
def test_kernels_with_parameters(tmp_path, kind):
    x, y = 0.3 * plain(12, 4, 50), 0.3 * plain(13, 4, 51)
    p = {"kernel_type": kind, "kernel_gamma": "0.7", "kernel_sigma1": "2.5", "kernel_sigma2": "1.5",
         "kernel_sigma3": "3", "kernel_degree": "2", "kernel_shift": "0.5", "kernel_a": "0.9", "kernel_b": "0.1"}
    used = {"dot": "", "radial": "gamma", "polynomial": "degree shift", "sigmoid": "a b", "anova": "gamma degree",
            "epanechnikov": "sigma1 degree", "gausian_combination": "sigma1 sigma2 sigma3",
            "multiquadric": "sigma1 shift"}[kind].split()
    p = {key: v for key, v in p.items() if key == "kernel_type" or key.removeprefix("kernel_") in used}
    got = pairwise(tmp_path, x, y, "KernelEuclideanDistance",
                   *[a for key, v in p.items() for a in ("--metric-param", f"{key}={v}")])
    want = rapidminer.measure("Numerical", "KernelEuclideanDistance", x, y, params=p)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["ItakuraSaitoDistance", "LogarithmicLoss", "LogisticLoss", "SquaredLoss"])
def test_single_attribute_divergences(tmp_path, name):
    x, y = rng(60).uniform(0.01, 0.99, (33, 1)), rng(61).uniform(0.01, 0.99, (34, 1))
    got = pairwise(tmp_path, x, y, f"Bregman.{name}")
    want = rapidminer.measure("Bregman", name, x, y)
    if name == "SquaredLoss":
        assert_bits(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["NominalDistance", "DiceSimilarity", "JaccardSimilarity", "KulczynskiSimilarity",
                                  "RogersTanimotoSimilarity", "RussellRaoSimilarity", "SimpleMatchingSimilarity"])
def test_nominal_measures(tmp_path, name):
    g = rng(70)
    sizes = [2, 2, 5, 3, 2]
    binominal = [True, True, False, False, False]
    x = np.column_stack([g.integers(0, s, 30) for s in sizes]).astype(float)
    y = np.column_stack([g.integers(0, s, 40) for s in sizes]).astype(float)
    values = [[f"v{i}" for i in range(s)] for s in sizes]
    schema = tmp_path / "s.json"
    schema.write_text(json.dumps({"columns": [
        {"name": f"c{j}", "type": "binominal" if binominal[j] else "polynominal", "values": values[j]}
        for j in range(5)]}))

    def table(path, t):
        return write_csv(path, {f"c{j}": [values[j][int(v)] for v in t[:, j]] for j in range(5)})

    got = matrix_of(tmp_path, table(tmp_path / "x.csv", x), table(tmp_path / "y.csv", y), "--schema", schema,
                    "--test-schema", schema, "--metric", f"Nominal.{name}")
    assert_bits(got, rapidminer.measure("Nominal", name, x, y, binominal=binominal, sizes=sizes))


def test_wide_rows_and_both_orders(tmp_path):
    """Thousands of attributes keep the column order of the sums; swapping the tables transposes a symmetric measure."""
    x, y = plain(3, 3001, 80), plain(33, 3001, 81)
    got = pairwise(tmp_path, x, y, "euclidean")
    assert_bits(got, measures.euclidean(x, y, np.ones(3001)))
    assert_bits(pairwise(tmp_path, y, x, "euclidean"), got.T.copy())


def test_float_text_survives(tmp_path):
    """Every number of the input is read correctly rounded: distances to zero in one dimension give it back."""
    g = rng(90)
    x = np.frombuffer(g.integers(0, 2**63, 2000, dtype=np.uint64).tobytes(), dtype=np.float64).copy()
    x = np.abs(x[np.isfinite(x)])[:, None]
    x = np.vstack([x, [[5e-324], [2.2250738585072014e-308], [1.7976931348623157e308], [0.1]]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = pairwise(tmp_path, x, np.zeros((1, 1)), "manhattan")
    assert_bits(got, x)
