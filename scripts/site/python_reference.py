#!/usr/bin/env python3
"""Makes the pages of the Python reference: python_reference.py PROJECT FOLDER.

The names come from the table in stope/__init__.py, so that no public name is forgotten. mkdocstrings fills the pages in
from the docstrings; nothing is imported.
"""

import ast
import pathlib
import sys

# page -> (title, what is on it, its modules). A module of the package that stands in no row stops the build.
PAGES = {
    "neighbors": ("Nearest neighbours", "Classification, regression and search.", ["neighbors"]),
    "impute": ("Imputation", "Missing values become those of the nearest rows.", ["impute"]),
    "pairwise": ("Distances", "All distances between the rows of two tables.", ["pairwise"]),
    "tree": ("Trees", "Decision trees by local discretisation.", ["tree"]),
    "discretize": ("Discretisation", "Cuts that keep classes apart.", ["discretize"]),
    "decomposition": ("Decomposition", "Principal components and truncated SVD.", ["decomposition"]),
    "linear_model": ("Linear models", "Least squares and ridge regression.", ["linear_model"]),
    "stats": ("Statistics and the gram operator", "Statistics of columns, and Aᵀ(Ax).", ["stats", "gram"]),
    "io": ("Tables and files", "Tables from files, and models in files.", ["io", "table"]),
    "run": ("Settings, reports, errors", "How a job runs, what it tells, and what it raises.", ["_config", "_run", "errors"]),
}
WHOLE = {  # modules that are used by their own name
    "plot": ("Pictures", "`stope.plot` draws with Matplotlib, which is imported at the first call."),
    "accel": ("Zero-change mode", "`stope.accel` lets stope answer for scikit-learn."),
}


def places(init):
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "_PLACES":
            return ast.literal_eval(node.value)
    raise SystemExit(f"{init}: no _PLACES")


def exported(path):
    """The names of a module's __all__."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    return []


def main():
    project, folder = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
    package = project / "bindings/python/stope"
    folder = folder / "reference/python"
    folder.mkdir(parents=True, exist_ok=True)
    names = places(package / "__init__.py")
    names["errors"] = exported(package / "errors.py")
    forgotten = set(names) - {module for _, _, modules in PAGES.values() for module in modules}
    if forgotten - set(WHOLE):
        raise SystemExit(f"no page of the Python reference has {', '.join(sorted(forgotten))}: add it to PAGES")
    index = ["# Python\n", "Parameters, attributes and defaults have scikit-learn's names. `import stope` loads a module when its "
             "first name is used.\n", "| page | names |\n|---|---|"]
    count = 0
    for page, (title, summary, modules) in PAGES.items():
        out, links = [f"# {title}\n", summary + "\n"], []
        for module in modules:
            if not (package / f"{module}.py").exists():
                print(f"Python reference: there is no stope/{module}.py for {', '.join(names[module])}")
                continue
            for name in names[module]:
                out.append(f"::: stope.{module}.{name}\n")
                links.append(f"[`{name}`][stope.{module}.{name}]")
        count += len(links)
        (folder / f"{page}.md").write_text("\n".join(out), encoding="utf-8")
        index.append(f"| [{title}]({page}.md) | {', '.join(links)} |")
    for module, (title, summary) in WHOLE.items():
        path = package / f"{module}.py"
        path = path if path.exists() else package / module / "__init__.py"
        if not path.exists():
            continue
        links = [f"[`{name}`][stope.{module}.{name}]" for name in exported(path)]
        out = [f"# {title}\n", summary + "\n"] + [f"::: stope.{module}.{name}\n" for name in exported(path)]
        count += len(links)
        (folder / f"{module}.md").write_text("\n".join(out), encoding="utf-8")
        index.append(f"| [{title}]({module}.md) | {', '.join(links)} |")
    (folder / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    print(f"Python reference: {count} names")


if __name__ == "__main__":
    main()
