"""What an installed package must do: be imported, know its version, and answer. Run by scripts/python_wheels.sh."""
import importlib.metadata
import pathlib
import sys

import numpy

import stope

if stope.__version__ != importlib.metadata.version("stope"):
    sys.exit(f"the module is {stope.__version__}, the package {importlib.metadata.version('stope')}")
folder = pathlib.Path(stope.__file__).parent
for name in ("_core.pyi", "py.typed"):
    if not (folder / name).is_file():
        sys.exit(f"{folder} lacks {name}")

X = numpy.random.default_rng(0).normal(size=(50, 3))
distances, rows = stope.NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X)
if not (rows[:, 0] == range(50)).all() or distances[:, 0].any():
    sys.exit("a row is not its own nearest neighbour")
try:
    stope.NearestNeighbors(n_neighbors=0).fit(X).kneighbors(X)
except ValueError as error:  # an exception crosses the border of the module
    print(f"stope {stope.__version__}: {error}")
else:
    sys.exit("n_neighbors=0 was taken")
