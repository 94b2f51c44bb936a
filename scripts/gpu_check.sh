#!/usr/bin/env bash
# Everything that needs a GPU: the tests of the CUDA back end, then the same kernels under compute-sanitizer.
#   scripts/gpu_check.sh [BUILD [SUITE...]]
# BUILD is a build folder that has libstope_cuda.so and tests/ (one brought from another machine will do); without it the
# release is built here. Prints one line a suite last; logs in build/gpu-logs. STOPE_CASES sets the number of random tables.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-} wanted=" ${*:2} "
if [ -z "$build" ]; then
  build=build/gcc
  scripts/bootstrap.sh --cuda && STOPE_CUDA=ON scripts/build.sh gcc knn_test rapidminer_goldens_test stope_cuda || exit 1
fi
tests=$build/tests
logs=build/gpu-logs
mkdir -p "$logs"
STOPE_CUDA_PLUGIN=$(realpath "$build/libstope_cuda.so")
export STOPE_CUDA_PLUGIN GTEST_COLOR=no
export STOPE_SHARED=${STOPE_SHARED:-$PWD/../shared}

lines=() failed=0
# suite NAME COMMAND...: one line. A suite in which nothing ran has failed: a GPU was asked for.
suite() {
  local name=$1 log=$logs/$1.log began=$SECONDS code passed skipped result=ok
  shift
  [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
  "$@" >"$log" 2>&1
  code=$?
  passed=$(sed -nE 's/.*\[  PASSED  \] ([0-9]+) tests?\..*/\1/p' "$log" | tail -n 1)
  skipped=$(sed -nE 's/.*\[  SKIPPED \] ([0-9]+) tests?, listed below.*/\1/p' "$log" | tail -n 1)
  if [ $code -ne 0 ] || [ "${passed:-0}" -eq 0 ] || [ "${skipped:-0}" -ne 0 ]; then
    result="FAILED (exit $code)" failed=1
  fi
  lines+=("$(printf '%-12s %-17s %3d passed, %d skipped  (%d s)%s' "$name" "$result" "${passed:-0}" "${skipped:-0}" \
    $((SECONDS - began)) "$(grep -a -m 1 -o 'ERROR SUMMARY:.*\|RACECHECK SUMMARY:.*' "$log" | sed 's/^/  /')")")
  [ "$result" = ok ] || { echo "== $name"; grep -aE -A 6 'Failure|=========|FAILED|Skipped' "$log" | head -n 60; }
}

# Under the sanitizer a launch costs a hundred times as much: every kernel and every selection, few tables.
few='ReferenceCuda.EveryMeasure*:ReferenceCuda.Matrices*:ReferenceCuda.Radius*:FilterCuda.Sizes*:FilterCuda.Leave*:FilterCudaParts.Any*'
few=$few':DifferencesCuda.EveryMeasure*:DifferencesCuda.Groups*:VotesCuda.Random*:DeviceArraysCuda.L*:DeviceArraysCuda.A*'
sanitized() {
  local tool=$1
  shift
  STOPE_ROUNDS=2 timeout "${STOPE_SANITIZER_SECONDS:-600}" "$sanitizer" --tool "$tool" --error-exitcode 9 "$@" \
    "$tests/knn_test" --gtest_filter="$few"
}

suite kernels "$tests/knn_test" --gtest_filter='ReferenceCuda.*'
suite filter "$tests/knn_test" --gtest_filter='*FilterCuda*-*MoreValues*'
suite differences "$tests/knn_test" --gtest_filter='DifferencesCuda.*'
suite votes "$tests/knn_test" --gtest_filter='VotesCuda.*'
suite arrays "$tests/knn_test" --gtest_filter='DeviceArraysCuda.*'
suite search "$tests/knn_test" --gtest_filter='*/cuda:FilterBounds.*:FilterProperty.LargerTables'
suite property "$tests/knn_test" --gtest_filter='FilterProperty.Cuda*'
suite goldens env STOPE_BACKEND=cuda "$tests/rapidminer_goldens_test"
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  suite memcheck sanitized memcheck --leak-check full
  suite racecheck sanitized racecheck --racecheck-report all
  suite initcheck sanitized initcheck
  suite synccheck sanitized synccheck
else
  lines+=("sanitizers   skipped: there is no compute-sanitizer") # not among the wheels; part of the CUDA toolkit
fi
if [ -x "$build/bench/knn_gpu_bench" ] && [ "$wanted" = "  " ]; then
  python3 bench/knn_gpu.py "$build" --results "$logs" >"$logs/bench.log" 2>&1
  lines+=("bench        exit $?, $(grep -c 'exact' "$logs/bench.log") cases, in $logs")
  cat "$logs/bench.log"
fi

printf '%s\n' "${lines[@]}"
exit $failed
