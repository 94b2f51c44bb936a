"""Reproduces the recorded results of the real RapidMiner 5.3 through the command line."""

import collections
import math

import pytest

import golden_runs
import rapidminer
from program import SHARED, neighbor_lists, rows, run

FOLDER = SHARED / "goldens" / "rapidminer"
HERE = FOLDER.is_dir()
RUNS = golden_runs.runs(FOLDER) if HERE else []
ERRORS = golden_runs.manifest(FOLDER)["expected_errors"] if HERE else []
OPS = golden_runs.manifest_ops(FOLDER)["runs"] if HERE else []
TYPE_ERRORS = golden_runs.manifest_ops(FOLDER)["knn_type_errors"] if HERE else []
CROSS = [r for r in OPS if r["operator"] == "cross_distances"]
NORMALIZE = [r for r in OPS if r["operator"] == "normalize"]

pytestmark = pytest.mark.skipif(not HERE, reason=f"no reference results at {FOLDER} (STOPE_SHARED)")


def report(problems):
    assert not problems, f"{len(problems)} differences, the first:\n" + "\n".join(problems[:5])


def test_every_recorded_run_is_here():
    assert (len(RUNS), len(ERRORS), len(CROSS), len(NORMALIZE), len(TYPE_ERRORS)) == (234, 45, 36, 8, 4)
    measures = {r.measure for r in RUNS}
    assert measures == rapidminer.EXACT | rapidminer.TRANSCENDENTAL


@pytest.mark.parametrize("golden", [r for r in RUNS if not r.exact], ids=lambda r: r.name)
def test_the_oracle_that_excuses_ties(golden):
    """Where a tie may excuse a difference, the oracle's distances decide; so they must be the recorded ones."""
    distances = golden_runs.data(FOLDER, golden.dataset).distances(golden)
    for lists in golden_runs.expected_neighbors(FOLDER, golden).values():
        for row, entries in lists.items():
            for index, distance in entries:
                assert golden_runs.close(float(distances[row, index]), distance)


@pytest.fixture(scope="session")
def head(tmp_path_factory):
    """Makes the first rows of a test table: only their neighbour lists are recorded."""
    folder = tmp_path_factory.mktemp("heads")
    made = {}

    def first(dataset, n):
        if (dataset, n) not in made:
            lines = (FOLDER / dataset / "test.csv").read_text().splitlines(keepends=True)
            path = folder / f"{dataset}-{n}.csv"
            path.write_text("".join(lines[:n + 1]))
            made[dataset, n] = path
        return made[dataset, n]

    return first


def common(dataset):
    return ["--schema", FOLDER / dataset / "schema.json", "--compat", "rapidminer"]


@pytest.mark.parametrize("golden", RUNS, ids=lambda r: r.name)
def test_predictions(golden):
    train, test = FOLDER / golden.dataset / "train.csv", FOLDER / golden.dataset / "test.csv"
    names, expected = golden_runs.expected_predictions(FOLDER, golden)
    problems = []
    for (k, weighted), table in expected.items():
        command = "classify" if golden.task == "classification" else "regress"
        done = run(command, train, test, *common(golden.dataset), *golden.metric_arguments, "-k", k, "--weights",
                   "distance" if weighted else "uniform", *(["--proba"] if command == "classify" else []))
        header, body = rows(done.text)
        assert header == ["row", "prediction", *names]
        assert [int(r[0]) for r in body] == list(range(len(table)))
        for want, have in zip(table, body):
            problem = golden_runs.compare_prediction(golden, k, weighted, int(have[0]), want,
                                                     (have[1], [float(v) for v in have[2:]]))
            problems += [problem] if problem else []
    report(problems)


@pytest.mark.parametrize("golden", RUNS, ids=lambda r: r.name)
def test_neighbors(golden, head):
    train = FOLDER / golden.dataset / "train.csv"
    problems = []
    for k, lists in golden_runs.expected_neighbors(FOLDER, golden).items():
        n = max(lists) + 1
        assert sorted(lists) == list(range(n))
        done = run("knn", train, head(golden.dataset, n), *common(golden.dataset), *golden.metric_arguments, "-k", k)
        got = neighbor_lists(done.text)
        assert sorted(got) == sorted(lists)
        for row, want in lists.items():
            problem = golden_runs.compare_neighbors(FOLDER, golden, k, row, want, got[row])
            problems += [problem] if problem else []
    report(problems)


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: f"{e['dataset']}-{e['measure']}")
def test_divergence_errors(error):
    schema = FOLDER / error["dataset"] / "schema.json"
    command = "regress" if '"task": "regression"' in schema.read_text() else "classify"
    done = run(command, FOLDER / error["dataset"] / "train.csv", FOLDER / error["dataset"] / "test.csv",
               *common(error["dataset"]), "--metric", "Bregman." + error["measure"], "-k", 3, code=3)
    assert len(done.error_lines()) == 1 and not done.out


@pytest.mark.parametrize("error", TYPE_ERRORS, ids=lambda e: f"{e['dataset']}-{e['measure']}")
def test_type_errors(error):
    dataset, family = error["dataset"], golden_runs.FAMILIES[error["measure_types"]]
    done = run("classify", FOLDER / dataset / "train.csv", FOLDER / dataset / "test.csv", *common(dataset),
               "--metric", f"{family}.{error['measure']}", "-k", 3, code=3)
    assert len(done.error_lines()) == 1 and not done.out


def op_name(op):
    return op["output"].removeprefix("ops/").removesuffix(".csv")


@pytest.mark.parametrize("op", CROSS, ids=op_name)
def test_cross_distances(op):
    p = op["parameters"]
    family = golden_runs.FAMILIES[p.get("measure_types", "MixedMeasures")]
    measure = next((v for key, v in p.items() if key in ("mixed_measure", "numerical_measure", "nominal_measure",
                                                         "divergence")), "MixedEuclideanDistance")
    request, reference = (FOLDER / "ops" / "inputs" / name for name in op["inputs"])
    more = []
    if p.get("only_top_k") == "true":
        more += ["-k", p["k"]]
    if "search_for" in p:
        more += ["--search", p["search_for"]]
    if p.get("compute_similarities") == "true":
        more += ["--similarities"]
    done = run("pairwise", f"{request}.csv", f"{reference}.csv", "--schema", f"{request}.schema.json",
               "--test-schema", f"{reference}.schema.json", "--compat", "rapidminer",
               "--metric", f"{family}.{measure}", *more)
    header, body = rows(done.text)
    want_header, want = golden_runs.read_csv(FOLDER / op["output"])
    # RapidMiner calls the column "distance" or "similarity"; the contract has one name for both.
    assert header[:2] == want_header[:2] == ["request", "document"] and len(header) == 3
    expected = [(int(float(r)), int(float(d)), float(v)) for r, d, v in want]
    got = [(int(float(r)), int(float(d)), float(v)) for r, d, v in body]
    assert len(got) == len(expected)
    if measure in rapidminer.EXACT:
        report([f"line {i}: {b}, expected {a}" for i, (a, b) in enumerate(zip(expected, got))
                if a[:2] != b[:2] or not golden_runs.identical(a[2], b[2])])
        return
    report([f"line {i}: {b}, expected {a}" for i, (a, b) in enumerate(zip(expected, got))
            if not golden_runs.close(a[2], b[2])])
    # Another order, or another pair, is right only among distances tied within the tolerance.
    known = {(r, d): v for r, d, v in expected}
    per_request = collections.defaultdict(list)
    for r, _, v in expected:
        per_request[r].append(v)
    assert collections.Counter(r for r, _, _ in got) == collections.Counter(r for r, _, _ in expected)
    for r, d, v in got:
        if (r, d) in known:
            assert golden_runs.close(known[r, d], v), f"pair {r},{d}: {v}, expected {known[r, d]}"
        else:
            worst = max(per_request[r]) if p.get("search_for") != "farthest" else min(per_request[r])
            assert golden_runs.close(v, worst) or golden_runs.close(v, min(per_request[r])), f"pair {r},{d} is no tie"
    moved = sum(a[:2] != b[:2] and not golden_runs.close(known.get(b[:2], math.nan), a[2])
                for a, b in zip(expected, got))
    assert moved == 0


METHODS = {"Z-transformation": "z", "range transformation": "range", "proportion transformation": "proportion",
           "interquartile range": "interquartile"}


@pytest.mark.parametrize("op", NORMALIZE, ids=op_name)
def test_normalize(op):
    table = FOLDER / "ops" / "inputs" / op["inputs"][0]
    p = op["parameters"]
    bounds = [x for key in ("min", "max") if key in p for x in (f"--{key}", p[key])]
    done = run("normalize", f"{table}.csv", "--schema", f"{table}.schema.json", "--method", METHODS[p["method"]],
               *bounds, "--compat", "rapidminer")
    header, body = rows(done.text)
    want_header, want = golden_runs.read_csv(FOLDER / op["output"])
    assert header == want_header and len(body) == len(want)
    nominal = set(op["nominal_values"])
    problems = []
    for i, (a, b) in enumerate(zip(want, body)):
        for name, x, y in zip(header, a, b):
            same = x == y if name in nominal or "" in (x, y) else golden_runs.identical(float(x), float(y))
            if not same:
                problems.append(f"row {i} {name}: {y}, expected {x}")
    report(problems)
