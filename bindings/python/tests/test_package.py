"""The package as a whole: what importing it costs, and what it says of itself."""

import ast
import importlib
import pathlib
import pkgutil
import shutil
import subprocess
import sys

import pytest

import stope

FOLDER = pathlib.Path(stope.__file__).parent


def run_python(code, **environment):
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_loads_no_other_package():
    code = """
import sys
before = set(sys.modules)
import stope
loaded = {name.split('.')[0] for name in set(sys.modules) - before}
print(sorted(loaded & {'numpy', 'scipy', 'sklearn', 'pandas', 'polars', 'pyarrow', 'matplotlib', 'joblib', 'tqdm'}))
"""
    assert run_python(code) == "[]"


def test_every_public_name_is_there():
    missing = []
    for name in stope.__all__:
        try:
            getattr(stope, name)
        except (ImportError, AttributeError) as error:
            missing.append(f"{name}: {error}")
    assert not missing


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="KNeighbours"):
        stope.KNeighbours  # noqa: B018


def test_every_module_can_be_imported_and_says_what_it_is_for():
    for found in pkgutil.iter_modules([str(FOLDER)]):
        if found.name in ("_core", "__main__"):
            continue
        module = importlib.import_module(f"stope.{found.name}")
        assert module.__doc__, found.name


def test_the_version_is_that_of_the_engine():
    header = FOLDER.resolve()
    for parent in pathlib.Path(__file__).resolve().parents:
        header = parent / "include" / "stope" / "version.hpp"
        if header.is_file():
            break
    assert f'#define STOPE_VERSION "{stope.__version__}"' in header.read_text()


def test_public_things_have_docstrings():
    bare = [name for name in stope.__all__ if name != "__version__" and not getattr(stope, name).__doc__]
    assert not bare


def test_the_stub_of_the_module_is_valid_and_complete():
    stub = FOLDER / "_core.pyi"
    if not stub.is_file():
        pytest.skip("the stub is not built")
    text = stub.read_text()
    compile(ast.parse(text), str(stub), "exec")  # compile() sees wrong orders of parameters, too
    names = {node.name for node in ast.parse(text).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    from stope import _core

    assert {name for name in vars(_core) if not name.startswith("__")} <= names


def test_files_are_short():
    for path in [*FOLDER.rglob("*.py"), *pathlib.Path(__file__).parent.glob("*.py")]:
        lines = len(path.read_text().splitlines())
        assert lines <= 500, f"{path.name} has {lines} lines"


def test_without_scikit_learn_the_package_works():
    code = """
import sys
sys.modules['sklearn'] = None
import numpy as np, stope
X = np.arange(12.0).reshape(6, 2)
distances, rows = stope.NearestNeighbors(n_neighbors=1).fit(X).kneighbors(X)
print(rows.ravel().tolist())
"""
    assert run_python(code) == "[0, 1, 2, 3, 4, 5]"


def test_type_checkers_see_every_public_name():
    tree = ast.parse((FOLDER / "__init__.pyi").read_text())
    seen = {alias.asname: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == stope._MODULE_OF


def test_a_strictly_typed_program_passes_mypy(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text('''
import numpy as np
import stope

X = np.zeros((6, 2))
with stope.config_context(threads=1):
    model = stope.NearestNeighbors(n_neighbors=2).fit(X)
    distances, rows = model.kneighbors(X)
version: str = stope.__version__
try:
    stope.load("model.stope")
except stope.StopeError as error:
    print(error)
''')
    package = tmp_path / "site" / "stope"
    shutil.copytree(FOLDER, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--allow-untyped-calls", "--follow-imports=silent",
         "--cache-dir", str(tmp_path / "cache"), str(program)],
        cwd=tmp_path / "site", capture_output=True, text=True, check=False,
    )
    # mypy reports nothing about installed packages. Here the package lies beside the program, so it would.
    assert [line for line in done.stdout.splitlines() if "program.py" in line] == []
    assert "syntax" not in done.stdout
