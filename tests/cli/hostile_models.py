"""Makers of small model files that ask for much, with checksums that are right. See hostile_files.py."""

import math

from hostile_files import COLUMN, case, table, written
from model_bytes import codes, doubles, model_bytes

NAN = math.nan


def model(folder, kind, options, tables, *names, command=("predict",)):
    columns = ("columns", 0, [doubles(name, []) for name in names or ("x0", "x1")])
    written(folder, "h.stope", model_bytes(kind, options, [columns, *tables]))
    table(folder)
    return [*command, "h.stope", *([] if command[0] == "info" else ["t.csv", "-o", "o.csv"])]


LONG = "x" * 1_000_000


def components(attribute_codes, names, n_components=1):
    n = len(attribute_codes)
    kinds = ["explained_variance", "explained_variance_ratio", "singular_value", "noise_variance", "attribute"]
    columns = [codes("kind", [0, 1, 2, 3] + [4] * n, kinds), codes("name", [-1] * 4 + attribute_codes, names),
               doubles("mean", [NAN] * 4 + [0] * n), doubles("scale", [NAN] * 4 + [1] * n)]
    columns += [doubles(f"pc{i + 1}", [1, 0.5, 1, 0] + [1] * n) for i in range(n_components)]
    return [("missing", "error"), ("whiten", "no"), ("rows", "3")], ("components", 4 + n, columns)


@case("pca", 2000, "one_long_name_of_all_components")
def one_name_of_components(folder, n):
    options, made = components([0] * n, [LONG])
    return model(folder, "pca", options, [made])


@case("pca", 50_000)
def many_components(folder, n):
    options, made = components([0, 1], ["x0", "x1"], n)
    return model(folder, "pca", options, [made]), 2 * n * COLUMN


@case("pca", 100_000)
def many_options(folder, n):
    return model(folder, "pca", [(f"o{i}", "") for i in range(n)], [], command=("info",)), 400 * n


@case("pca", 50_000)
def many_tables(folder, n):
    return model(folder, "pca", [], [(f"t{i}", 0, []) for i in range(n)], command=("info",)), 600 * n


@case("pca", 50_000)
def many_columns(folder, n):
    return model(folder, "pca", [], [], *[f"c{i}" for i in range(n)], command=("info",)), n * COLUMN


@case("least squares", 2000)
def one_long_name_of_all_coefficients(folder, n):
    columns = [codes("kind", [0] + [1] * n, ["intercept", "attribute"]), codes("name", [-1] + [0] * n, [LONG]),
               doubles("coefficient", [1] * (n + 1)), doubles("mean", [0] * (n + 1))]
    return model(folder, "least squares", [("missing", "error")], [("coefficients", n + 1, columns)])


NORMALISE = [("normalize", "z"), ("compat", "none")]


def normalisation(name_codes, names):
    n = len(name_codes)
    rest = [doubles(name, [value] * n) for name, value in
            (("shift", 0), ("scale", 1), ("factor", 1), ("offset", 0), ("constant", NAN))]
    return "normalization", n, [codes("name", name_codes, names), *rest]


@case("normalization", 2000)
def one_long_name_of_all_transforms(folder, n):
    return model(folder, "normalization", NORMALISE, [normalisation([0] * n, [LONG])])


@case("normalization", 100_000)
def transforms_of_columns_that_are_not_there(folder, n):
    return model(folder, "normalization", NORMALISE, [normalisation(list(range(n)), [f"f{i}" for i in range(n)])]), 200 * n


CUTS = [("style", "codes"), ("missing", "error")]


@case("cuts model", 2000)
def two_long_names_of_cuts_in_turn(folder, n):
    columns = [codes("name", [i % 2 for i in range(n)], [LONG, LONG + "y"]), doubles("number", range(n)), codes("value", [-1] * n, [])]
    return model(folder, "cuts", CUTS, [("cuts", n, columns)])


@case("cuts model", 2000)
def one_long_value_of_all_cuts(folder, n):
    columns = [codes("name", [0] * n, ["x0"]), doubles("number", [NAN] * n), codes("value", [0] * n, [LONG])]
    return model(folder, "cuts", CUTS, [("cuts", n, columns)])


@case("cuts model", 50_000)
def cuts_of_a_long_name(folder, n):
    columns = [codes("name", [0] * n, ["x" * (20 * n)]), doubles("number", range(n)), codes("value", [-1] * n, [])]
    return model(folder, "cuts", CUTS, [("cuts", n, columns)])


IMPUTE = [("metric", "mixed-euclidean"), ("n_neighbors", "1"), ("weights", "uniform"), ("strategy", "mean"), ("indicators", "none"),
          ("normalize", "none"), ("normalize.compat", "none"), ("normalize.min", "0"), ("normalize.max", "1")]


@case("impute", 2000)
def one_long_name_of_all_that_is_filled(folder, n):
    train = ("train", 2, [doubles("x0", [1, 2]), doubles("x1", [1, NAN])])
    return model(folder, "impute", IMPUTE, [train, ("filled", n, [codes("name", [0] * n, [LONG])])])


@case("impute", 20_000)
def gaps_in_many_columns(folder, n):
    names = [f"f{i}" for i in range(n)]
    train = ("train", 2, [doubles(name, [1, NAN]) for name in names])
    return model(folder, "impute", IMPUTE, [train, ("filled", n, [codes("name", list(range(n)), names)])], *names), 5 * n * COLUMN


NEIGHBORS = [("metric", "mixed-euclidean"), ("compat", "none"), ("n_neighbors", "1"), ("weights", "uniform"), ("normalize", "none")]


@case("neighbors", 100_000)
def parameters_that_no_measure_has(folder, n):
    train = ("train", 2, [doubles("x0", [1, 2])])
    return model(folder, "neighbors", NEIGHBORS + [(f"metric.p{i}", "1") for i in range(n)], [train, normalisation([], [])]), 600 * n


def tree(classes, nodes, attribute_names=("x0",), attribute_codes=(0,), class_codes=None, values=(), value_codes=(), options=()):
    """Nodes are pairs of parent and attribute, in preorder; attribute -1 is a leaf."""
    class_codes = list(range(len(classes))) if class_codes is None else class_codes
    n, k = len(nodes), len(attribute_codes)
    attributes = [codes("name", list(attribute_codes), list(attribute_names))]
    attributes += [doubles(name, [value] * k) for name, value in (("type", 0), ("n_values", 0), ("has_missing", 0), ("fill", NAN))]
    columns = [doubles("parent", [parent for parent, _ in nodes]), doubles("n_rows", [1] * n), doubles("attribute", [a for _, a in nodes])]
    columns += [doubles(name, [0] * n) for name in ("value", "cut", "score", "pairs_high", "pairs_low", "majority")]
    columns += [doubles(f"count {i}", [1] * n) for i in range(len(class_codes))]
    return [("criterion", "gini"), ("missing", "error"), ("leaves", "1"), ("depth", "0"), *options], [
        ("attributes", k, attributes), ("values", len(value_codes), [codes("value", list(value_codes), list(values))]),
        ("classes", len(class_codes), [codes("class", class_codes, list(classes))]),
        ("target", 1, [codes("target", [0], ["y"])]), ("nodes", n, columns)]


@case("tree", 2000)
def one_long_name_of_all_attributes(folder, n):
    return model(folder, "tree", *tree("pq", [(-1, -1)], [LONG], [0] * n))


@case("tree", 2000)
def one_long_name_of_all_classes(folder, n):
    return model(folder, "tree", *tree([LONG], [(-1, -1)], class_codes=[0] * n)), n * COLUMN


@case("tree", 2000)
def one_long_value_of_all_attributes(folder, n):
    return model(folder, "tree", *tree("pq", [(-1, -1)], values=[LONG], value_codes=[0] * n))


@case("tree", 20_000)
def many_classes(folder, n):
    return model(folder, "tree", *tree([f"c{i}" for i in range(n)], [(-1, -1)])), n * COLUMN


@case("tree", 40_000)
def weights_of_classes(folder, n):
    return model(folder, "tree", *tree("pq", [(-1, -1)], options=[(f"class_weight.c{i}", "1") for i in range(n)])), 600 * n


@case("tree", 15_000)
def a_tree_as_deep_as_it_has_leaves(folder, n):
    nodes = []
    for i in range(n):
        nodes += [(2 * i - 2 if i > 0 else -1, i), (2 * i, -1)]
    nodes.append((2 * n - 2, -1))
    names = ["x0", "x1", *(f"f{i}" for i in range(2, n))]
    made = model(folder, "tree", *tree("pq", nodes, names, range(n)), *names)
    written(folder, "t.csv", ",".join(names) + "\n" + ",".join("1" * n) + "\n" + ",".join("1" * n) + "\n")
    return [*made, "--explain"], 5 * n * COLUMN


@case("chain", 20_000)
def steps_of_many_columns(folder, n):
    names = ["x0", "x1", *(f"f{i}" for i in range(2, n))]
    options, tables = [("steps", "3")], []
    transforms = normalisation(list(range(n)), names)
    pca_options, made = components([0, 1], ["x0", "x1"])
    for step, (kind, its, (name, *rest)) in enumerate([("normalization", NORMALISE, transforms)] * 2 + [("pca", pca_options, made)], 1):
        options += [(f"{step}.kind", kind)] + [(f"{step}.{key}", value) for key, value in its]
        tables += [(f"{step}.columns", 0, [doubles(one, []) for one in names]), (f"{step}.{name}", *rest)]
    return model(folder, "chain", options, tables, *names), 8 * n * COLUMN
