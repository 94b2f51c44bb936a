#!/usr/bin/env bash
# Random cases on a GPU against the processor's reference, bit for bit, as many as fit: processes side by side, each with
# seeds of its own, since most of a small case's time goes into making memory and streams.
#   scripts/gpu_stress.sh BUILD [SECONDS [PROCESSES]]        60 seconds, as many processes as cores
# Cases are those of FilterProperty.Cuda* (tables that aim at the bounds, tile overrides, memory budgets, one and two
# sessions) and of ReferenceCuda.EveryMeasure* (all measures), taken in turns. Prints one line: how many cases were run.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:?the build folder}") seconds=${2:-60} processes=${3:-$(nproc)}
export STOPE_CUDA_PLUGIN=${STOPE_CUDA_PLUGIN:-$build/libstope_cuda.so} GTEST_COLOR=no
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cases=250 rounds=2 # of a batch: seconds, so that the last one ends soon after the time is up

# worker NUMBER: batches until the time is up; a line a batch in $work/NUMBER.done, the log of a failure in $work/NUMBER.failed.
worker() {
  local batch=0 filter=FilterProperty.Cuda* seed log=$work/$1.log
  while [ $SECONDS -lt "$seconds" ]; do
    seed=$((1 + 100000000 * $1 + 100000 * batch))
    filter='FilterProperty.Cuda*'
    [ $((batch % 4)) -eq 3 ] && filter='ReferenceCuda.EveryMeasure*'
    if STOPE_SEED=$seed STOPE_CASES=$((4 * cases)) STOPE_ROUNDS=$rounds timeout $((seconds + 120)) \
      "$build/tests/knn_test" --gtest_filter="$filter" >"$log" 2>&1 && grep -q 'PASSED.* 1 test' "$log"; then
      echo "$filter" >>"$work/$1.done"
    else
      echo "STOPE_SEED=$seed $filter" >"$work/$1.failed"
      grep -A 8 -E 'Failure|Skipped' "$log" | head -n 20 >>"$work/$1.failed"
      return
    fi
    batch=$((batch + 1))
  done
}

for ((i = 0; i < processes; ++i)); do worker "$i" & done
wait
touch "$work/none.done"
property=$(cat "$work"/*.done | grep -c FilterProperty)
every=$(cat "$work"/*.done | grep -c ReferenceCuda)
failed=$(find "$work" -name '*.failed' | wc -l)
cat "$work"/*.failed 2>/dev/null
echo "stress: $((property * cases)) random tables, $((every * rounds)) rounds of every measure," \
  "$processes processes, $SECONDS s, $failed failed"
[ "$failed" -eq 0 ] && [ $((property + every)) -gt 0 ]
