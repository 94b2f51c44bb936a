"""Prints what the package and one of its extras require, one a line: requirements.py PYPROJECT EXTRA."""

import sys
import tomllib

with open(sys.argv[1], "rb") as file:
    project = tomllib.load(file)["project"]
print(*project["dependencies"], *project["optional-dependencies"][sys.argv[2]], sep="\n")
