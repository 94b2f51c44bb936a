"""One job of every command that writes files, for tests that disturb them: each names its arguments and its outputs. The
inputs are made by `stope` itself, as large as a test wants them."""

import json

from program import run

# Job -> (arguments, outputs). Inputs: t.csv (numbers and nominal values, the label `class`, some missing), n.csv (numbers
# and the target `y`), m.npy (n.csv as an array), g.gram, and models made of them.
JOBS = {
    "classify": (["classify", "t.csv", "t.csv", "--target", "class", "--proba", "-o", "p.csv", "--model-out", "m.stope"],
                 ["p.csv", "m.stope"]),
    "regress": (["regress", "n.csv", "n.csv", "--target", "y", "-o", "p.csv"], ["p.csv"]),
    "knn": (["knn", "m.npy", "m.npy", "-k", 3, "--output-format", "npy", "-o", "out"], ["out.distances.npy", "out.indices.npy"]),
    "evaluate": (["evaluate", "t.csv", "--target", "class", "-k", "1..5", "--cv", 3, "-o", "s.csv"], ["s.csv"]),
    "pairwise": (["pairwise", "n.csv", "n.csv", "--output-format", "npy", "-o", "d.npy"], ["d.npy"]),
    "normalize": (["normalize", "n.csv", "--target", "y", "--method", "z", "-o", "z.csv"], ["z.csv"]),
    "impute": (["impute", "t.csv", "--target", "class", "--metric", "gower", "-o", "i.csv"], ["i.csv"]),
    "pca": (["pca", "n.csv", "--target", "y", "-o", "scores.csv", "--components-out", "c.csv"], ["scores.csv", "c.csv"]),
    "lsq": (["lsq", "n.csv", "--target", "y", "--standard-errors", "-o", "b.csv", "--model-out", "m.stope"], ["b.csv", "m.stope"]),
    "discretize": (["discretize", "t.csv", "--target", "class", "--missing-policy", "value", "--method", "mdlp", "-o", "d.csv"], ["d.csv"]),
    "tree": (["tree", "t.csv", "--target", "class", "--missing-policy", "value", "-o", "tree.txt", "--model-out", "m.stope"],
             ["tree.txt", "m.stope"]),
    "stats": (["stats", "t.csv", "--by", "class", "-o", "s.csv"], ["s.csv"]),
    "report": (["report", "t.csv", "--target", "class", "-o", "r.html"], ["r.html"]),
    "predict": (["predict", "knn.stope", "t.csv", "-o", "p.csv"], ["p.csv"]),
    "chain": (["chain", "z.stope", "lsq.stope", "-o", "c.stope"], ["c.stope"]),
    "convert": (["convert", "t.csv", "t.csv.gz"], ["t.csv.gz"]),
    "convert to ARFF": (["convert", "t.csv", "a.arff"], ["a.arff"]),
    "convert to NPY": (["convert", "n.csv", "a.npy"], ["a.npy"]),
    "convert to Parquet": (["convert", "t.csv", "a.parquet"], ["a.parquet"]),
    "convert to Arrow": (["convert", "t.csv", "a.arrow"], ["a.arrow"]),
    "convert to JSON": (["convert", "t.csv", "a.jsonl"], ["a.jsonl"]),
    "split": (["split", "t.csv", "--target", "class", "--parts", "60,40", "-o", "part{}.csv"], ["part1.csv", "part2.csv"]),
    "gen": (["gen", "mixed", 6, 60, "-o", "gen.csv"], ["gen.csv"]),
    "ata": (["ata", "g.gram", "-o", "z.gram"], ["z.gram"]),
}
if not json.loads(run("device", "--json").text)["files"]["available"]:  # the plug-in for files is not built
    del JOBS["convert to Parquet"], JOBS["convert to Arrow"]


def make_inputs(folder, n_rows=60):
    """Writes the inputs of JOBS into a folder."""
    run("gen", "mixed", 6, n_rows, "--missing-share", "0.02", "-o", "t.csv", cwd=folder)
    run("gen", "linear", 6, n_rows, "-o", "n.csv", cwd=folder)
    run("convert", "n.csv", "m.npy", cwd=folder)
    run("gen", 8, 5 * n_rows, "-o", "g.gram", cwd=folder)
    run("classify", "t.csv", "--target", "class", "--model-out", "knn.stope", "-q", cwd=folder)
    run("normalize", "n.csv", "--target", "y", "--method", "z", "-o", "zz.csv", "--model-out", "z.stope", cwd=folder)
    run("lsq", "zz.csv", "--target", "y", "-o", "bb.csv", "--model-out", "lsq.stope", cwd=folder)
    return folder
