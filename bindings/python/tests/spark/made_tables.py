"""Tables with everything that may go wrong between partitions, the same models on one machine, and one hash of both."""

import datetime
import hashlib

import numpy as np
import pyarrow as pa

import stope
from stope import _core

N_TRAIN = 120
N_ROWS = 331

# What fits each kind of model, and whether it takes nominal columns and missing values.
KINDS = {
    "classify": ({"n_neighbors": "3", "metric": "gower"}, "class", "mixed"),
    "regress": ({"n_neighbors": "4", "metric": "gower", "weights": "distance"}, "amount", "mixed"),
    "neighbors": ({"n_neighbors": "5", "metric": "gower"}, None, "mixed"),
    "tree": ({"missing": "value"}, "class", "mixed"),
    "pca": ({"n_components": "2"}, None, "numbers"),
    "lsq": ({}, "amount", "numbers"),
    "normalize": ({"method": "range"}, None, "mixed"),
    "cuts": ({"missing": "value"}, "class", "mixed"),
}


def made_table(n_rows, seed, unseen=(), missing=True):
    """Ties, NaN beside null, both zeros, float32 and whole numbers, values that no training row has."""
    rng = np.random.default_rng(seed)
    halves = rng.integers(-2, 3, n_rows) / 2.0
    halves[halves == 0] = np.where(rng.random((halves == 0).sum()) < 0.5, 0.0, -0.0)
    thirds = (rng.integers(0, 4, n_rows) / 3.0).astype(np.float32)
    whole = rng.integers(-3, 4, n_rows).astype(np.int32)
    colors = np.array(["red", "green", "Blue", "", "ä", *unseen], dtype=object)
    colors = colors[rng.integers(0, len(colors), n_rows)]
    nothing = np.zeros(n_rows, dtype=bool)
    lacks = [rng.random(n_rows) < 0.1 if missing else nothing for _ in range(4)]
    if missing:
        halves[rng.random(n_rows) < 0.1] = np.nan
    return pa.table({
        "id": np.arange(n_rows, dtype=np.int64),
        "halves": pa.array(halves, mask=lacks[0]),
        "thirds": pa.array(thirds, mask=lacks[1]),
        "whole": pa.array(whole, mask=lacks[2]),
        "color": pa.array(colors, pa.string(), mask=lacks[3]),
    })


def made_model(kind):
    """A model of that kind, fitted on this machine."""
    options, label, columns = KINDS[kind]
    table = made_table(N_TRAIN, 1, missing=columns == "mixed")
    rng = np.random.default_rng(2)
    names = ["halves", "thirds", "whole"] + (["color"] if columns == "mixed" else [])
    table = table.select(names)
    if label == "class":
        classes = np.array(["no", "yes", "?"], dtype=object)
        table = table.append_column("class", pa.array(classes[rng.integers(0, 3, N_TRAIN)]))
    if label == "amount":
        table = table.append_column("amount", pa.array(rng.integers(0, 9, N_TRAIN) / 4.0))
    train = stope.Table(table).with_roles(label=label)._core_table
    return stope.Model(_core.fit_model(kind, train, options, {}, _core.Run(1, 0, "cpu", None)).model)


def made_rows(kind, n_rows=N_ROWS):
    """Rows for such a model. A fifth of the keys has most of the rows, so that partitions are skewed or empty."""
    rows = made_table(n_rows, 3, unseen=("purple", "RED"), missing=KINDS[kind][2] == "mixed")
    key = np.where(np.arange(n_rows) % 10 < 8, 0, np.arange(n_rows) % 3)
    return rows.append_column("key", pa.array(key))


def local_answers(model, rows):
    """What the model says on this machine of rows of Arrow, through the package's public functions."""
    if model.gives == "classes":
        confidences = model.predict_proba(rows)
        answers = {"prediction": pa.array(model.predict(rows), pa.string())}
        for place, name in enumerate(model.classes_):
            answers[f"confidence({name})"] = _nullable(confidences[:, place])
        return pa.table(answers)
    if model.gives == "numbers":
        return pa.table({"prediction": _nullable(model.predict(rows))})
    if model.gives == "neighbors":
        distances, indices = model.kneighbors(rows)
        return pa.table({"train_index": pa.array(indices.tolist(), pa.list_(pa.int64())),
                         "distance": pa.array(distances.tolist(), pa.list_(pa.float64()))})
    made = model.transform(rows)
    if isinstance(made, np.ndarray):
        names = [f"pc{place}" for place in range(1, made.shape[1] + 1)]
        return pa.table({name: _nullable(made[:, place]) for place, name in enumerate(names)})
    names = [name for name in made if model.kind != "normalisation" or name != "color"]
    return pa.table({name: pa.array(list(made[name]), pa.string()) if made.categories(name) is not None
                     else _nullable(made[name]) for name in names})


def _nullable(values):
    values = np.asarray(values, dtype=np.float64)
    return pa.array(values, mask=np.isnan(values))


def digest(table):
    """One hash of a table's names and values; every bit of a number counts, and NaN is no null."""
    return hashlib.sha256(repr(table.to_pydict()).encode()).hexdigest()


def spark_digest(frame, names):
    """The hash of a DataFrame's columns in the order of its ids."""
    return digest(frame.toArrow().sort_by("id").select(names))


def typed_rows(n_rows=40):
    """Columns of the types that Spark has and NumPy has not."""
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 5, n_rows).tolist()
    start = datetime.datetime(2024, 2, 28, 23, 30, tzinfo=datetime.timezone.utc)
    return pa.table({
        "id": np.arange(n_rows, dtype=np.int64),
        "price": pa.array([None if n == 4 else f"{n}.25" for n in numbers]).cast(pa.decimal128(10, 2)),
        "day": pa.array([start.date() + datetime.timedelta(days=n) for n in numbers]),
        "moment": pa.array([start + datetime.timedelta(minutes=7 * n) for n in numbers], pa.timestamp("us", "UTC")),
        "clock": pa.array([start.replace(tzinfo=None, second=n) for n in numbers], pa.timestamp("us")),
        "flag": pa.array([None if n == 3 else n % 2 == 0 for n in numbers]),
        "small": pa.array(numbers, pa.int8()),
        "large": pa.array([n * 2**50 for n in numbers], pa.int64()),
    })
