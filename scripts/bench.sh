#!/usr/bin/env bash
# Builds the release and runs benchmarks: scripts/bench.sh [NAME...] runs bench/NAME.py, without a name all of them.
# Each script's first lines say what it compares with and where it leaves its numbers.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/bootstrap.sh --test
scripts/release.sh
scripts/build.sh release stope_benchmarks
if [ $# -eq 0 ]; then
  names=(bench/*.py)
else
  names=("${@/%/.py}")
  names=("${names[@]/#/bench/}")
fi
for script in "${names[@]}"; do
  [ -r "$script" ] || { echo "bench: no $script" >&2; exit 2; }
  echo "== $script"
  .venv/bin/python "$script" build/release
done
