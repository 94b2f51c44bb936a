#!/usr/bin/env bash
# Tests the server's page and the report's in a headless Chromium: scripts/page.sh [PYTEST ARGUMENT...]
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
for module in nanobind fastapi uvicorn playwright; do
  if ! $python -c "import $module" 2>/dev/null; then
    echo "SKIP the page: $module is missing (scripts/bootstrap.sh --verify installs it into .venv)"
    exit 0
  fi
done
if ! command -v chromium >/dev/null; then
  echo "SKIP the page: chromium is missing (scripts/bootstrap.sh --verify installs it)"
  exit 0
fi
STOPE_PYTHON=ON scripts/build.sh release stope_python stope_cli
PYTHONPATH=$PWD/build/release/python $python -m pytest -q -rs bindings/python/tests/serve/page "$@"
$python -m pytest -q -rs tests/page "$@"
