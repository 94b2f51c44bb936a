#!/usr/bin/env bash
# Compares random cases on a GPU with the reference on the CPU, bit for bit, as many as the time allows. Small cases
# spend most of their time on making memory and streams. So many threads run at once, but few processes, since these
# take turns on the GPU.
#   scripts/gpu_stress.sh BUILD [SECONDS [PROCESSES [THREADS]]]        60 seconds, 2 processes of half the cores each
# The cases are those of FilterProperty.Cuda* (tables that aim at the bounds, tile overrides, memory budgets, one and
# two sessions) and of EveryMeasureCuda (all measures), in turn. Prints one line: how many cases ran.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/gpus.sh
build=$(realpath "${1:?the build folder}") seconds=${2:-60} processes=${3:-$((2 * n_gpus))}
threads=${4:-$((($(nproc) + processes - 1) / processes))}
export STOPE_CUDA_PLUGIN=${STOPE_CUDA_PLUGIN:-$build/libstope_cuda.so} GTEST_COLOR=no STOPE_THREADS=$threads
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cases=2048 rounds=4 # of a batch: seconds, so that the last one ends soon after the time is up

# worker NUMBER: runs batches until the time is up. It writes one line per batch to $work/NUMBER.done (what, and how
# many cases), and the log of a failure to $work/NUMBER.failed.
worker() {
  local batch=0 filter seed passed log=$work/$1.log
  while [ $SECONDS -lt "$seconds" ]; do
    seed=$((1 + 100000000 * $1 + 100000 * batch))
    filter='FilterProperty.Cuda*'
    [ $((batch % 4)) -eq 3 ] && filter='EveryMeasureCuda.Has*'
    if CUDA_VISIBLE_DEVICES=$(gpus_from "$1") STOPE_SEED=$seed STOPE_CASES=$((4 * cases)) STOPE_ROUNDS=$rounds \
      timeout $((seconds + 120)) "$build/tests/knn_test" --gtest_filter="$filter" >"$log" 2>&1 && ! grep -q 'SKIPPED' "$log"; then
      passed=$(sed -nE 's/.*\[  PASSED  \] ([0-9]+) tests?\..*/\1/p' "$log")
      [[ $filter == Every* ]] && echo "measures $((passed * rounds))" || echo "tables $((passed * cases))"
    else
      echo "STOPE_SEED=$seed $filter" >"$work/$1.failed"
      grep -A 8 -E 'Failure|Skipped' "$log" | head -n 20 >>"$work/$1.failed"
      return
    fi
    batch=$((batch + 1))
  done >"$work/$1.done"
}

for ((i = 0; i < processes; ++i)); do worker "$i" & done
wait
count() { cat "$work"/*.done | awk -v what="$1" '$1 == what { n += $2 } END { print n + 0 }'; }
tables=$(count tables) measures=$(count measures)
failed=$(find "$work" -name '*.failed' | wc -l)
cat "$work"/*.failed 2>/dev/null
echo "$((tables + measures)) random cases ($tables tables, $measures of every measure)," \
  "$processes processes of $threads threads, $SECONDS s, $failed failed"
[ "$failed" -eq 0 ] && [ $((tables + measures)) -gt 0 ]
