#!/usr/bin/env bash
# Builds the Python package in build/release/python and tests stope.spark: scripts/spark.sh [PYTEST ARGUMENT...]
# STOPE_SPARK_MODES: which kinds of sessions, by default "local cluster2 cluster3 connect pretended gpus".
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
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
run() {
  local mode=$1
  STOPE_SPARK=$mode PYTHONPATH=$PWD/build/release/python $python -m pytest -q -rs -p no:cacheprovider \
    bindings/python/tests/spark "${@:2}" >"$logs/$mode" 2>&1
}
# A session waits for its JVMs half of the time, so two run at once.
failed=0 running=0
for mode in ${STOPE_SPARK_MODES:-local cluster2 cluster3 connect pretended gpus}; do
  if [ $running = 2 ]; then
    wait -n || failed=1
    running=1
  fi
  run "$mode" "$@" &
  running=$((running + 1))
done
while [ $running -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
for log in "$logs"/*; do
  echo "Spark: ${log##*/}"
  cat "$log"
done
exit $failed
