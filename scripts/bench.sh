#!/usr/bin/env bash
# Builds the release and runs the benchmarks: scripts/bench.sh [NAME...], all of bench/ without a name.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/bootstrap.sh --test
scripts/build.sh release
if [ $# -eq 0 ]; then
  mapfile -t programs < <(find build/release/bench -maxdepth 1 -type f -executable | sort)
else
  programs=("${@/#/build/release/bench/}")
fi
[ ${#programs[@]} -gt 0 ] || { echo "bench: build/release/bench holds no program" >&2; exit 1; }
for program in "${programs[@]}"; do
  echo "== $(basename "$program")"
  "$program"
done
