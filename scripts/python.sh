#!/usr/bin/env bash
# Builds the Python package in build/release/python and runs its tests: scripts/python.sh [PYTEST ARGUMENT...]
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
if ! $python -c 'import nanobind' 2>/dev/null; then
  echo "SKIP the Python package: nanobind is missing (scripts/bootstrap.sh --test installs it into .venv)"
  exit 0
fi
fake=stope_fake_cuda  # for tests of arrays in a GPU's memory
[ "${STOPE_TESTS:-ON}" = ON ] || fake=
STOPE_PYTHON=ON scripts/build.sh release stope_python stope_python_stub $fake
$python scripts/check_wheel.py build/release/python/stope/_core*.so
PYTHONPATH=$PWD/build/release/python $python -m pytest -q -rs -n "${STOPE_PYTHON_WORKERS:-2}" --dist worksteal \
  --ignore bindings/python/tests/serve --ignore bindings/python/tests/spark bindings/python/tests "$@"
