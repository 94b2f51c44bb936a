#!/usr/bin/env bash
# Builds the Python package in build/release/python and tests stope.spark: scripts/spark.sh [PYTEST ARGUMENT...]
# STOPE_SPARK_MODES: which kinds of sessions, by default "local cluster2 cluster3 connect".
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
for module in nanobind pyspark pyarrow; do
  if ! $python -c "import $module" 2>/dev/null; then
    echo "SKIP Spark: $module is missing (scripts/bootstrap.sh --verify installs it into .venv)"
    exit 0
  fi
done
if ! java -version >/dev/null 2>&1; then
  echo "SKIP Spark: there is no java (scripts/bootstrap.sh --verify installs it)"
  exit 0
fi
STOPE_PYTHON=ON scripts/build.sh release stope_python
failed=0
for mode in ${STOPE_SPARK_MODES:-local cluster2 cluster3 connect}; do
  echo "Spark: $mode"
  STOPE_SPARK=$mode PYTHONPATH=$PWD/build/release/python $python -m pytest -q -rs bindings/python/tests/spark "$@" || failed=1
done
exit $failed
