#!/usr/bin/env bash
# Builds the Python package in build/release/python and tests its server: scripts/serve.sh [PYTEST ARGUMENT...]
# scripts/page.sh tests the server's page.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
for module in nanobind fastapi uvicorn httpx; do
  if ! $python -c "import $module" 2>/dev/null; then
    echo "SKIP the server: $module is missing (scripts/bootstrap.sh --test installs it into .venv)"
    exit 0
  fi
done
STOPE_PYTHON=ON scripts/build.sh release stope_python
PYTHONPATH=$PWD/build/release/python $python -m pytest -q -rs -n "${STOPE_PYTHON_WORKERS:-2}" --dist worksteal \
  --ignore bindings/python/tests/serve/page bindings/python/tests/serve "$@"
