"""Recorded results of other programs, and the command line's, through the package: bit for bit the same.

The reference results are in $STOPE_SHARED/goldens. The engine's RapidMiner rules, which no estimator has, are tested in
the native module; the estimators are compared with the command line under the rules of their own.
"""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import stope
from command_line import stope as command_line
from numpy.testing import assert_array_equal
from stope import _core
from stope.errors import UnsupportedError

SHARED = Path(os.environ.get("STOPE_SHARED") or Path(__file__).parents[4] / "shared") / "goldens"
FOLDER = SHARED / "rapidminer"
DISCRETISE = SHARED / "discretise" / "small"
HERE = (FOLDER / "MANIFEST.json").exists()

pytestmark = pytest.mark.skipif(not HERE, reason=f"there are no reference results in {SHARED}; STOPE_SHARED names them")


def manifest(name, key):
    return json.loads((FOLDER / name).read_text())[key] if HERE else []


RUNS = manifest("MANIFEST.json", "runs")
ERRORS = manifest("MANIFEST.json", "expected_errors") + manifest("MANIFEST_OPS.json", "knn_type_errors")
CROSS = [run for run in manifest("MANIFEST_OPS.json", "runs") if run["operator"] == "cross_distances"]
DATASETS = {run["dataset"]: run["task"] for run in RUNS}
# RapidMiner computes these with logarithms, roots or arcs whose last bit is the C library's.
WITHIN_TOLERANCE = {
    "CosineSimilarity", "KernelEuclideanDistance", "GeneralizedIDivergence", "KLDivergence", "ItakuraSaitoDistance",
    "LogarithmicLoss", "LogisticLoss", "MahalanobisDistance",
}


def records(text):
    return list(csv.reader(io.StringIO(text)))[1:]


def recorded(name):
    return records((FOLDER / name).read_text())


def native(path, schema, part):
    return _core.read_table(str(path), {"schema": str(schema), "schema_part": part}, _core.Run())


def part(dataset, name):
    return native(FOLDER / dataset / f"{name}.csv", FOLDER / dataset / "schema.json", name)


def engine_metric(run):
    name = run["measure_types"].replace("Measures", "").replace("Divergences", "") + "." + run["measure"]
    kernel = run.get("kernel_type")
    return name, {"kernel_type": kernel} if kernel else {}


def metric_arguments(run):
    name, params = engine_metric(run)
    return ["--metric", name, *(word for item in params.items() for word in ("--metric-param", "=".join(item)))]


def label_of(table):
    columns = [table.column(i) for i in range(table.n_columns)]
    return next(column for column in columns if column.role == "label")


def fitted(run):
    """The index of a recorded run, its predictor, and the test rows."""
    train, (name, params) = part(run["dataset"], "train"), engine_metric(run)
    index = _core.KnnIndex.fit(train, name, params, compat="rapidminer", run=_core.Run())
    kind = _core.KnnRegressor if run["task"] == "regression" else _core.KnnClassifier
    return index, kind.fit(index, label_of(train)), label_of(train), part(run["dataset"], "test")


def lists_of(index, test, k):
    """(row, position, training row, distance) of every neighbour; no position has the row -1."""
    distances, rows = index.kneighbors(test, k, run=_core.Run())
    return [
        (query, position, int(rows[query, position]), float(distances[query, position]))
        for query, position in np.argwhere(rows >= 0).tolist()
    ]


def predictions_of(predictor, label, test, k, weights):
    """One record for each row: the prediction, and confidences."""
    if isinstance(predictor, _core.KnnRegressor):
        return [(float(mean),) for mean in predictor.predict(test, k, weights, run=_core.Run())]
    codes, confidences = predictor.predict(test, k, weights, run=_core.Run())
    names = label.values.names()
    return [
        (names[code] if code >= 0 else "?", *map(float, row)) for code, row in zip(codes.tolist(), confidences.tolist())
    ]


def as_read(record, n_text):
    return (*record[:n_text], *map(float, record[n_text:]))


def same(a, b):
    """Equal bit for bit; NaN equals NaN, and -0.0 is not 0.0."""
    if isinstance(a, float) and isinstance(b, float):
        return (a != a and b != b) or (a == b and np.signbit(a) == np.signbit(b))
    return a == b


def assert_same(ours, theirs):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert len(a) == len(b) and all(map(same, a, b)), (a, b)


def run_name(run):
    return f"{run['dataset']}-{run['measure']}-{run.get('kernel_type', '')}"


@pytest.mark.parametrize("run", [run for run in RUNS if run["measure"] not in WITHIN_TOLERANCE], ids=run_name)
def test_recorded_neighbours_and_predictions_come_out(run):
    index, predictor, label, test = fitted(run)
    wanted = {}
    for k, row, position, neighbor, distance in recorded(run["neighbors"]):
        wanted.setdefault(int(k), []).append((int(row), int(position), int(neighbor), float(distance)))
    for k, lists in wanted.items():
        rows = {entry[0] for entry in lists}
        assert_same([entry for entry in lists_of(index, test, k) if entry[0] in rows], lists)
    n_text = 0 if run["task"] == "regression" else 1
    answers = {}
    for k, weighted, row, *record in recorded(run["predictions"]):
        weights = "distance" if weighted == "true" else "uniform"
        if (k, weights) not in answers:
            answers[k, weights] = predictions_of(predictor, label, test, int(k), weights)
        assert_same([answers[k, weights][int(row)]], [as_read(record, n_text)])


@pytest.mark.parametrize("run", RUNS, ids=run_name)
def test_the_native_module_answers_as_the_command_line(run):
    index, predictor, label, test = fitted(run)
    folder, k = FOLDER / run["dataset"], run["k"][-1]
    common = [
        folder / "train.csv", folder / "test.csv", "--schema", folder / "schema.json", "--compat", "rapidminer",
        *metric_arguments(run), "-k", k,
    ]
    lists = [(int(a), int(b), int(c), float(d)) for a, b, c, d in records(command_line("knn", *common))]
    assert_same(lists_of(index, test, k), lists)
    common += ["--weights", "distance"]
    if run["task"] == "regression":
        theirs = [as_read(record[1:], 0) for record in records(command_line("regress", *common))]
    else:
        theirs = [as_read(record[1:], 1) for record in records(command_line("classify", *common, "--proba"))]
    assert_same(predictions_of(predictor, label, test, k, "distance"), theirs)


@pytest.mark.parametrize("run", ERRORS, ids=run_name)
def test_what_rapidminer_refuses_is_refused(run):
    name, params = engine_metric(run)
    with pytest.raises(UnsupportedError):
        index = _core.KnnIndex.fit(part(run["dataset"], "train"), name, params, compat="rapidminer", run=_core.Run())
        index.kneighbors(part(run["dataset"], "test"), 3, run=_core.Run())


@pytest.mark.parametrize("run", CROSS, ids=lambda run: run["output"].split("/")[-1])
def test_recorded_cross_distances_come_out(run):
    parameters, inputs = run["parameters"], FOLDER / "ops" / "inputs"
    measure = "MixedEuclideanDistance"
    for key in ("divergence", "nominal_measure", "numerical_measure", "mixed_measure"):
        measure = parameters.get(key, measure)
    request, reference = (native(inputs / f"{n}.csv", inputs / f"{n}.schema.json", "train") for n in run["inputs"])
    metric, params = engine_metric({"measure_types": parameters.get("measure_types", "MixedMeasures"), "measure": measure})
    rows, others, distances = _core.distance_pairs(
        request, reference, n_neighbors=int(parameters["k"]) if parameters.get("only_top_k") == "true" else 0,
        search_for=parameters.get("search_for", "nearest"), metric=metric, params=params, compat="rapidminer",
        similarities=parameters.get("compute_similarities") == "true", run=_core.Run(),
    )
    wanted = recorded(run["output"])
    if measure in WITHIN_TOLERANCE:
        np.testing.assert_allclose(distances, [float(record[2]) for record in wanted], rtol=1e-9, atol=1e-9)
        return
    ours = zip((rows + 1).tolist(), (others + 1).tolist(), distances.tolist())
    assert_same(list(ours), [(float(a), float(b), float(c)) for a, b, c in wanted])


class Dataset:
    """A recorded table without its schema's order of values: the label's classes are sorted, as estimators sort them."""

    def __init__(self, name):
        self.folder = FOLDER / name
        schema = json.loads((self.folder / "schema.json").read_text())
        columns = schema["train_columns"]
        self.features = [c["name"] for c in columns if c["role"] == "regular"]
        self.nominal = [c["name"] for c in columns if c["nominal"]]
        self.label = next(c["name"] for c in columns if c["role"] == "label")
        self.mixed = any(name in self.features for name in self.nominal)
        numeric = [c["name"] for c in columns if not c["nominal"]]
        self.ignored = [c["name"] for c in columns if c["role"] not in ("regular", "label")]
        self.options = {"nominal": self.nominal, "numeric": numeric, "target": self.label}
        self.arguments = ["--target", self.label]
        for option, names in (("--nominal", self.nominal), ("--numeric", numeric), ("--ignore", self.ignored)):
            if names:
                self.arguments += [option, ",".join(names)]
        self.train, self.test = self.frame("train"), self.frame("test")

    def frame(self, part):
        return stope.read_table(self.folder / f"{part}.csv", unknown_columns="skip", **self.options).to_pandas()

    def command(self, name, metric, *arguments):
        return records(command_line(
            name, self.folder / "train.csv", self.folder / "test.csv", *self.arguments, "--metric", metric, *arguments
        ))

    def doors(self, frame):
        """The features as every kind of X: name and X."""
        plain = frame[self.features]
        table = stope.Table.from_pandas(plain)
        yield "pandas", plain
        yield "polars", table.to_polars()
        yield "arrow", table.to_arrow()
        yield "stope", table
        if self.mixed:
            yield "objects", plain.astype(object).to_numpy()
        else:
            yield "numpy", plain.to_numpy()
            yield "numpy in Fortran order", np.asfortranarray(plain.to_numpy())


METRICS = ["mixed-euclidean", "gower", "heom", "euclidean", "manhattan", "nan_euclidean"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", DATASETS)
def test_estimators_answer_as_the_command_line_whatever_x_is(name, metric):
    data = Dataset(name)
    if data.mixed and metric in METRICS[3:]:
        pytest.skip(f"{metric} takes numbers only")
    k = min(5, len(data.train))
    regression = DATASETS[name] == "regression"
    theirs = [(int(a), int(b), int(c), float(d)) for a, b, c, d in data.command("knn", metric, "-k", k)]
    command = ("regress",) if regression else ("classify", "--proba")
    # A row whose distances are all NaN has neighbours without weight, which the estimator refuses as scikit-learn does.
    weights = "uniform" if any(distance != distance for *_, distance in theirs) else "distance"
    votes = data.command(command[0], metric, "-k", k, "--weights", weights, *command[1:])
    kind = stope.KNeighborsRegressor if regression else stope.KNeighborsClassifier
    estimator = kind(n_neighbors=k, weights=weights, metric=metric, missing="skip")
    y = data.train[data.label]
    for (door, X), (_, queries) in zip(data.doors(data.train), data.doors(data.test)):
        estimator.fit(X, y if regression else y.astype(str))
        distances, rows = estimator.kneighbors(queries)
        ours = [(i, j, int(rows[i, j]), float(distances[i, j])) for i in range(len(rows)) for j in range(k)]
        assert_same(ours, theirs)
        predicted = estimator.predict(queries)
        if regression:
            assert_same([(float(value),) for value in predicted], [as_read(record[1:], 0) for record in votes])
        else:
            proba = estimator.predict_proba(queries).tolist()
            assert_same([(a, *b) for a, b in zip(predicted, proba)], [as_read(record[1:], 1) for record in votes]), door


@pytest.mark.parametrize("metric", METRICS[:3])
@pytest.mark.parametrize("name", ["golf", "labor", "synth_mixed", "iris", "synth_missing"])
def test_pairwise_distances_are_the_command_lines_whatever_x_is(name, metric):
    data = Dataset(name)
    wanted = None
    for (_, X), (_, Y) in zip(data.doors(data.test), data.doors(data.train)):
        D = stope.pairwise_distances(X, Y, metric=metric, missing="skip")
        if wanted is None:
            wanted = np.array([float(record[2]) for record in data_pairs(data, metric)]).reshape(D.shape)
        assert_array_equal(D.view(np.int64), wanted.view(np.int64))


def data_pairs(data, metric):
    return records(command_line(
        "pairwise", data.folder / "test.csv", data.folder / "train.csv", *data.arguments, "--metric", metric
    ))


SMALL = ["iris", "wine", "diabetes", "heart.statlog", "sonar"]


def small(name):
    frame = pd.read_csv(DISCRETISE / f"{name}.csv")
    return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str)


def cuts_by_feature(cuts):
    return {feature: cuts[feature].tolist() for feature in range(len(cuts)) if len(cuts[feature])}


@pytest.mark.parametrize("name", SMALL)
def test_trees_are_the_recorded_ones(name):
    X, y = small(name)
    nodes = json.loads((DISCRETISE / f"{name}.tree.json").read_text())["nodes"]
    tree = stope.LocalDiscretizationTreeClassifier().fit(X, y).tree_
    assert tree.node_count == len(nodes)
    inner = [node for node in nodes if "cut" in node]
    ours = np.flatnonzero(tree.feature >= 0)
    assert tree.feature[ours].tolist() == [node["attr"] for node in inner]
    assert tree.threshold[ours].tolist() == [node["cut"] for node in inner]
    assert tree.score[ours].tolist() == [node["score"] for node in inner]


@pytest.mark.parametrize("name", SMALL)
def test_global_cuts_are_the_recorded_ones(name):
    X, y = small(name)
    wanted = {}
    for _, feature, cut, _ in records((DISCRETISE / f"{name}.md_global.csv").read_text()):
        wanted.setdefault(int(feature), []).append(float(cut))
    for given in (X, X.to_numpy(), np.asfortranarray(X.to_numpy())):
        found = cuts_by_feature(stope.SupervisedDiscretizer("md-global").fit(given, y).cuts_)
        assert found == {feature: sorted(cuts) for feature, cuts in wanted.items()}
