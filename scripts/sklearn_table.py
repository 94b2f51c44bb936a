"""Makes the table of docs/SKLEARN.md that says who answered scikit-learn's tests in zero-change mode.

sklearn_table.py --files            prints the files of tests, relative to scikit-learn's folder
sklearn_table.py CASES...           checks the table against the JSON lines of sklearn_tests_plugin.py
sklearn_table.py --write CASES...   writes it
"""

import argparse
import json
import pathlib
import sys
from collections import Counter

# A file, and the least share of its cases that stope must answer by itself, in per cent of those that call it.
FILES = {
    "neighbors/tests/test_neighbors.py": 90,
    "neighbors/tests/test_graph.py": 0,
    "neighbors/tests/test_neighbors_pipeline.py": 0,
    "impute/tests/test_knn.py": 0,
    "metrics/tests/test_pairwise.py": 0,
    "decomposition/tests/test_pca.py": 0,
    "linear_model/tests/test_ridge.py": 0,
}
DOC = pathlib.Path(__file__).parents[1] / "docs" / "SKLEARN.md"
BEGIN, END = "<!-- table of scikit-learn's tests: begin -->\n", "<!-- table of scikit-learn's tests: end -->\n"


def read(paths):
    cases = []
    for path in paths:
        cases += [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    return cases


def row(name, cases):
    calling = [case for case in cases if case["answered"] or case["left"]]
    whole = [case for case in calling if not case["left"]]
    part = [case for case in calling if case["answered"] and case["left"]]
    share = 100 * len(whole) / len(calling) if calling else 100.0
    cells = [len(cases), len(calling), len(whole), len(part), len(calling) - len(whole) - len(part)]
    return share, f"| {name} | " + " | ".join(f"{cell:,}" for cell in cells) + f" | {share:.0f} % |\n"


def table(cases):
    """The lines of the table, and the complaints about too small shares."""
    import sklearn

    lines = [
        f"scikit-learn {sklearn.__version__}; every case passes, is skipped, or fails where scikit-learn expects it.\n\n",
        "| file | cases | calling | answered by stope | in part | by scikit-learn | share of stope |\n",
        "|---|---|---|---|---|---|---|\n",
    ]
    complaints = []
    for name, least in FILES.items():
        share, line = row(name, [case for case in cases if case["file"] == name])
        lines.append(line)
        if share < least:
            complaints.append(f"{name}: stope answers {share:.1f} % of the calling cases; at least {least} % are due")
    return "".join(lines), complaints


def reasons(cases):
    """Why cases were left, most frequent first: for people who want a greater share."""
    count = Counter((case["file"], reason) for case in cases for reason in case["left"])
    return "".join(f"{n:5} {file}: {reason}\n" for (file, reason), n in count.most_common(60))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    if options.files:
        print("\n".join(FILES))
        return 0
    cases = read(options.cases)
    if options.reasons:
        print(reasons(cases), end="")
        return 0
    made, complaints = table(cases)
    text = DOC.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    stands, _, after = rest.partition(END)
    if options.write:
        DOC.write_text(before + BEGIN + made + END + after, encoding="utf-8")
    elif stands != made:
        complaints.append("docs/SKLEARN.md has another table: scripts/sklearn_tests.sh --write writes it")
        sys.stdout.write(made)
    for complaint in complaints:
        print("FAIL", complaint)
    if not complaints:
        print("PASS docs/SKLEARN.md says who answered")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
