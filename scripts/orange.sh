#!/usr/bin/env bash
# Builds the Python package in build/release/python and tests the Orange add-on: scripts/orange.sh [PYTEST ARGUMENT...]
# The tests need no screen. Orange and Qt are in an environment of their own, build/orange-env, made from
# requirements-orange.txt; after a change of that file it is made anew.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
env=build/orange-env
if ! .venv/bin/python -c 'import nanobind' 2>/dev/null; then
  echo "SKIP the Orange add-on: nanobind is missing (scripts/bootstrap.sh --test installs it into .venv)"
  exit 0
fi
if ! .venv/bin/python -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))'; then
  echo "SKIP the Orange add-on: the packages of requirements-orange.txt are for Python 3.10 to 3.13"
  exit 0
fi
if ! cmp -s requirements-orange.txt $env/requirements-orange.txt; then
  rm -rf $env
  .venv/bin/python -m venv $env
  $env/bin/pip install -q --disable-pip-version-check --no-deps --no-compile -r requirements-orange.txt
  cp requirements-orange.txt $env/
fi
if ! missing=$($env/bin/python -c 'import PyQt5.QtWidgets, PyQt5.QtWebEngineWidgets' 2>&1); then
  echo "SKIP the Orange add-on: Qt cannot be loaded (scripts/bootstrap.sh --verify installs what it needs): ${missing##*$'\n'}"
  exit 0
fi
STOPE_PYTHON=ON scripts/build.sh release stope_python
PYTHONPATH=$top/build/release/python:$top/extensions/orange OPENBLAS_NUM_THREADS=1 \
  $env/bin/python -m pytest -q -rs -W ignore -p no:cacheprovider extensions/orange/tests "$@"
