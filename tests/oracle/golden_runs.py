"""Reads the recorded runs of the real RapidMiner and compares lists, votes and tables with them.

Measures of + - * / and sqrt must agree to the bit. Those that need log, exp, acos, pow or a matrix inverse must agree
within 1e-9, relative or absolute. Another neighbour or position is then right only where the distances that decide it
are tied within 1e-9, another prediction only where the votes are.
"""

import csv
import functools
import json
import math
import struct
from dataclasses import dataclass

import numpy as np

import rapidminer

FAMILIES = {"MixedMeasures": "Mixed", "NumericalMeasures": "Numerical", "NominalMeasures": "Nominal",
            "BregmanDivergences": "Bregman"}
TOLERANCE = 1e-9


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as source:
        table = list(csv.reader(source))
    return table[0], table[1:]


@dataclass(frozen=True)
class Run:
    """One recorded run: a data set and a measure, for several k and both votes."""
    dataset: str
    task: str
    family: str
    measure: str
    kernel_type: str
    ks: tuple
    weights: tuple
    predictions: str
    neighbors: str

    @property
    def name(self):
        return "-".join(filter(None, (self.dataset, self.family, self.measure, self.kernel_type)))

    @property
    def exact(self):
        return self.measure in rapidminer.EXACT

    @property
    def metric_arguments(self):
        more = ["--metric-param", f"kernel_type={self.kernel_type}"] if self.kernel_type else []
        return ["--metric", f"{self.family}.{self.measure}", *more]


@functools.cache
def manifest(folder):
    return json.loads((folder / "MANIFEST.json").read_text())


@functools.cache
def manifest_ops(folder):
    return json.loads((folder / "MANIFEST_OPS.json").read_text())


def runs(folder):
    return [Run(r["dataset"], r["task"], FAMILIES[r["measure_types"]], r["measure"], r.get("kernel_type", ""),
                tuple(r["k"]), tuple(r["weighted_vote"]), r["predictions"], r["neighbors"])
            for r in manifest(folder)["runs"]]


def expected_neighbors(folder, run):
    """Returns {k: {row: [(train_index, distance), ...]}} in heap-array order."""
    lists = {}
    for k, row, pos, index, distance in read_csv(folder / run.neighbors)[1]:
        entries = lists.setdefault(int(k), {}).setdefault(int(row), [])
        assert int(pos) == len(entries)
        entries.append((int(index), float(distance)))
    return lists


def expected_predictions(folder, run):
    """Returns the header of the confidences and {(k, weighted): [(prediction, [confidence...]), ...]} by row."""
    header, body = read_csv(folder / run.predictions)
    out = {}
    for record in body:
        entries = out.setdefault((int(record[0]), record[1] == "true"), [])
        assert int(record[2]) == len(entries)
        entries.append((record[3], [float(v) for v in record[4:]]))
    return header[4:], out


def close(a, b):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))


def identical(a, b):
    return (math.isnan(a) and math.isnan(b)) or struct.pack("<d", a) == struct.pack("<d", b)


class Data:
    """A recorded data set as the oracle sees it: codes and numbers, training and test."""

    def __init__(self, folder, dataset):
        schema = json.loads((folder / dataset / "schema.json").read_text())
        train, test = schema["train_columns"], schema["test_columns"]
        header, body = read_csv(folder / dataset / "train.csv")
        test_header, test_body = read_csv(folder / dataset / "test.csv")
        self.features = [c for c in train if c["role"] == "regular"]
        label = next(c for c in train if c["role"] == "label")
        self.nominal = ["values" in c for c in self.features]
        self.binominal = [c["type"] == "binominal" for c in self.features]
        self.sizes = [len(c.get("values", ())) for c in self.features]
        self.train = self._encode(header, body)
        self.test = self._encode(test_header, test_body)
        self.classes = label.get("values")
        column = header.index(label["name"])
        texts = [r[column] for r in body]
        self.labels = ([max(self.classes.index(t), 0) if t else 0 for t in texts] if self.classes
                       else [float(t) for t in texts])

    def _encode(self, header, body):
        out = np.full((len(body), len(self.features)), np.nan)
        for j, column in enumerate(self.features):
            at = header.index(column["name"])
            codes = {v: i for i, v in enumerate(column.get("values", ()))}
            for i, record in enumerate(body):
                text = record[at]
                if text == "":
                    continue
                if "values" in column:
                    out[i, j] = codes.get(text, math.nan)
                else:
                    out[i, j] = float(text)
        return out

    def distances(self, run, test_rows=None):
        """Returns measure(training row, query) as a matrix: queries by training rows."""
        queries = self.test if test_rows is None else self.test[test_rows]
        return rapidminer.measure(
            run.family, run.measure, self.train, queries, nominal=self.nominal, binominal=self.binominal,
            sizes=self.sizes, params={"kernel_type": run.kernel_type} if run.kernel_type else None,
            covariance_of=self.train).T


@functools.cache
def data(folder, dataset):
    return Data(folder, dataset)


def boundary_tied(folder, run, row, k):
    """True where the k-th and the (k+1)-th distance of a test row are tied, or any two of the k nearest."""
    d = np.sort(data(folder, run.dataset).distances(run, [row])[0])[:k + 1]
    return any(close(a, b) for a, b in zip(d[:-1], d[1:]))


def history_tied(folder, run, row, k):
    """True where two of the distances that ever entered the heap are tied: they may leave it in another order."""
    heap, entered = rapidminer.Heap(k), []
    for index, distance in enumerate(data(folder, run.dataset).distances(run, [row])[0]):
        heap.offer(float(distance), index)
        if any(i == index for _, _, i in heap.items):
            entered.append(float(distance))
    entered.sort(key=rapidminer.order_key)
    return any(close(a, b) for a, b in zip(entered[:-1], entered[1:]))


def compare_neighbors(folder, run, k, row, expected, got):
    """Returns None if the list is right, else what is wrong."""
    where = f"{run.name} k={k} row={row}"
    if len(expected) != len(got):
        return f"{where}: {len(got)} neighbours, expected {len(expected)}"
    if run.exact:
        for pos, (want, have) in enumerate(zip(expected, got)):
            if want[0] != have[0] or not identical(want[1], have[1]):
                return f"{where} pos={pos}: {have}, expected {want}"
        return None
    order = sorted((d for _, d in expected), key=rapidminer.order_key)
    for want, have in zip(order, sorted((d for _, d in got), key=rapidminer.order_key)):
        if not close(want, have):
            return f"{where}: sorted distances differ: {have!r}, expected {want!r}"
    known = dict(expected)
    for index, distance in got:
        if index in known and not close(known[index], distance):
            return f"{where}: distance of {index} is {distance!r}, expected {known[index]!r}"
    if [i for i, _ in expected] == [i for i, _ in got]:
        return None
    other_order = {i for i, _ in expected} == {i for i, _ in got} and history_tied(folder, run, row, k)
    if not other_order and not boundary_tied(folder, run, row, k):
        return f"{where}: other neighbours without a tie: {got}, expected {expected}"
    truth = data(folder, run.dataset).distances(run, [row])[0]
    for index, distance in got:
        if not close(float(truth[index]), distance):
            return f"{where}: distance of {index} is {distance!r}, expected {float(truth[index])!r}"
    return None


def compare_prediction(run, k, weighted, row, expected, got):
    """Checks one row's (prediction, confidences); returns None if they are right, else what is wrong."""
    where = f"{run.name} k={k} weighted={weighted} row={row}"
    if run.task == "regression":
        want, have = float(expected[0]), float(got[0])
        if identical(want, have) if run.exact else close(want, have):
            return None
        return f"{where}: {have!r}, expected {want!r}"
    same = identical if run.exact else close
    if len(expected[1]) != len(got[1]):
        return f"{where}: {len(got[1])} confidences, expected {len(expected[1])}"
    agree = all(same(a, b) for a, b in zip(expected[1], got[1]))
    if agree and expected[0] == got[0]:
        return None
    if agree and not run.exact:
        best = [c for c in expected[1] if not math.isnan(c)]
        if sum(close(c, max(best)) for c in best) > 1:
            return None
    return f"{where}: {got}, expected {expected}"
