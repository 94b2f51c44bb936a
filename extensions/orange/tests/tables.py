"""Tables for the tests: Orange's own, and some with everything that makes trouble."""

import numpy as np
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, StringVariable, Table, TimeVariable


def mixed_table(n_rows=60, seed=1, missing=0.1, weights=False):
    """Two numeric, one time and two discrete attributes, a discrete class, a text and a numeric meta."""
    rng = np.random.default_rng(seed)
    domain = Domain(
        [
            ContinuousVariable("a"), TimeVariable("when", have_date=1),
            DiscreteVariable("color", ("red", "green", "blue")), ContinuousVariable("b"),
            DiscreteVariable("size", ("L", "M", "S")),
        ],
        DiscreteVariable("class", ("no", "yes", "maybe")),
        [StringVariable("name"), ContinuousVariable("note")],
    )
    X = np.column_stack([
        rng.integers(0, 6, n_rows), rng.integers(0, 5, n_rows) * 86400.0, rng.integers(0, 3, n_rows),
        np.round(rng.normal(size=n_rows), 1), rng.integers(0, 3, n_rows),
    ]).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    y = rng.integers(0, 3, n_rows).astype(float)
    metas = np.array([[f"row {i % 7}", float(i)] for i in range(n_rows)], dtype=object)
    W = rng.integers(1, 4, n_rows).astype(float) if weights else None
    return Table.from_numpy(domain, X, y, metas, W)


def numeric_class(table):
    """The same attributes with a number to predict."""
    domain = Domain(table.domain.attributes, ContinuousVariable("y"))
    return Table.from_numpy(domain, table.X, np.round(np.random.default_rng(2).normal(size=len(table)), 2))


def without_class(table):
    return table.transform(Domain(table.domain.attributes))


def with_missing_classes(table, rows):
    """A copy in which these rows have no class."""
    copied = table.copy()
    with copied.unlocked(copied.Y):
        copied.Y[rows] = np.nan
    return copied


def odd_tables():
    """Tables that make trouble, by what is odd about them."""
    mixed, iris = mixed_table(), Table("iris")
    alone = DiscreteVariable("class", ("only",))
    empty = mixed_table(20, missing=1)
    return {
        "no rows": mixed[:0],
        "one row": mixed[:1],
        "no attributes": mixed.transform(Domain([], mixed.domain.class_vars, mixed.domain.metas)),
        "no class": without_class(mixed),
        "two classes": Table.from_numpy(Domain(iris.domain.attributes[:2], iris.domain.class_vars + (alone,)),
                                        iris.X[:, :2], np.column_stack([iris.Y, np.zeros(150)])),
        "a class of one value": Table.from_numpy(Domain(iris.domain.attributes, alone), iris.X, np.zeros(150)),
        "a class of no value": Table.from_numpy(Domain(iris.domain.attributes, DiscreteVariable("class")), iris.X,
                                                np.full(150, np.nan)),
        "no row with a class": with_missing_classes(mixed, slice(None)),
        "a numeric class": numeric_class(mixed),
        "a time as class": mixed.transform(Domain(mixed.domain.attributes[:1], mixed.domain["when"])),
        "all values missing": empty,
        "sparse": iris.to_sparse(),
        "an infinite value": Table.from_numpy(iris.domain, np.where(iris.X == 5.1, np.inf, iris.X), iris.Y),
        "weights": mixed_table(weights=True),
        "text and numbers as metas only": mixed.transform(Domain([], None, mixed.domain.metas)),
        "odd names": iris.transform(Domain(
            [var.renamed(name) for var, name in zip(iris.domain.attributes, ("weight", "class", "<b>ä\n", " "))],
            iris.domain.class_var)),
    }
