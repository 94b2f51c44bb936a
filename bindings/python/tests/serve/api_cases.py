"""Tables, kinds and options that the API's tests go through, and the engine's own answers to them in this process."""

import io

import numpy as np
import pyarrow as pa

from stope import _core

CSV = {"Content-Type": "text/csv"}

# A table with numbers, words, missing values and a label of each sort, as CSV.
_RANDOM = np.random.default_rng(24)
_N = 120


def _csv():
    lines = ["id,a,b,colour,size,class,price"]
    for row in range(_N):
        a, b = _RANDOM.normal(), _RANDOM.uniform(-1e6, 1e6)
        colour, size = _RANDOM.choice(["red", "green", "blue", ""]), _RANDOM.integers(1, 6)
        group = "yes" if a + (colour == "red") > 0.3 else "no"
        lines.append(f"r{row},{a!r},{'' if row % 17 == 5 else repr(b)},{colour},{size},{group},{a * 3 + b / 1e6!r}")
    return "\n".join(lines) + "\n"


MIXED = _csv()


def read(text, tmp_path, **options):
    """The table that the engine reads from the same text."""
    path = tmp_path / "table.csv"
    path.write_text(text)
    return _core.read_table(str(path), options, _core.Run(1))


# kind, roles of the table, options of the fit.
MODELS = [
    ("neighbors", {"ignore": "id,class,price"}, {"metric": "gower", "n_neighbors": "3"}),
    ("classify", {"target": "class", "ignore": "id,price"}, {"metric": "gower", "n_neighbors": "5", "weights": "distance"}),
    ("classify", {"target": "class", "ignore": "id,price,colour,b"}, {"metric": "minkowski", "metric.p": "3"}),
    ("regress", {"target": "price", "ignore": "id,class"}, {"metric": "heom", "n_neighbors": "4"}),
    ("pca", {"ignore": "id,class,price,colour"}, {"n_components": "2", "missing": "mean"}),
    ("lsq", {"target": "price", "ignore": "id,class,colour"}, {"alpha": "0.5", "missing": "mean"}),
    ("tree", {"target": "class", "ignore": "id,price"}, {"max_depth": "4", "missing": "value"}),
    ("cuts", {"target": "class", "ignore": "id,price,colour"}, {"missing": "value"}),
    ("normalize", {"ignore": "id,class,price,colour"}, {"method": "z"}),
    ("impute", {"ignore": "id,class,price"}, {"n_neighbors": "3", "strategy": "median", "normalize": "range"}),
]

# job, roles, options.
JOBS = [
    ("stats", {}, {}), ("stats", {}, {"by": "class"}), ("stats", {}, {"extremes": "true"}),
    ("stats", {}, {"quantiles": "0.25,0.5"}), ("correlation", {}, {}), ("correlation", {}, {"method": "spearman"}),
    ("histogram", {"ignore": "id"}, {"bins": "7"}), ("value_counts", {"ignore": "id"}, {}),
    ("best_cuts", {"target": "class", "ignore": "id,colour"}, {"missing": "value"}),
    ("find_cuts", {"target": "class", "ignore": "id,colour"}, {"missing": "value"}),
    ("evaluate", {"target": "class", "ignore": "id,price"}, {"metric": "gower", "n_neighbors": "1,3,5"}),
    ("confusion", {"target": "class", "ignore": "id,price"}, {"metric": "gower", "n_neighbors": "3"}),
    ("feature_ranges", {"ignore": "id"}, {}),
    ("pairwise", {"ignore": "id,class,price"}, {"metric": "gower", "n_neighbors": "2"}),
]


def with_roles(table, roles):
    """The engine's table with the roles of a query."""
    words = {"target": "label", "id": "id", "sample_weight": "weight", "ignore": "ignore"}
    pairs = [(table.find(name), words[option]) for option, names in roles.items() for name in names.split(",")]
    return table.with_roles(pairs)


def facts(table):
    """All that a table says, bit for bit; names in place of codes, whose numbers are nobody's business."""
    found = []
    for index in range(table.n_columns):
        column = table.column(index)
        if column.is_nominal:
            names = column.values.names() + [None]
            found.append((column.name, [names[code] for code in column.array()]))
        else:
            bits = np.ascontiguousarray(column.array(), np.float64).view(np.uint64)
            found.append((column.name, [None if np.isnan(v) else b for v, b in zip(column.array(), bits.tolist())]))
    return found


def facts_of_arrow(content):
    """The same of an answer in Arrow IPC."""
    table = pa.ipc.open_stream(io.BytesIO(content)).read_all()
    core = _core.Table.of_arrow(table.__arrow_c_stream__(), run=_core.Run(1))
    return facts(core)
