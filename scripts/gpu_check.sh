#!/usr/bin/env bash
# Runs everything that needs a GPU: the tests of the CUDA back end, every kernel under compute-sanitizer, random cases,
# and last, alone, the benchmarks. Tests run at the same time on all GPUs, but only a few on each, since processes take
# turns on a GPU.
#   scripts/gpu_check.sh [BUILD [SUITE...]]
# BUILD is a build folder with libstope_cuda.so, libstope_cuda_watched.so and tests/, possibly from another machine;
# without it the release is built here. At the end it prints one line per suite, always in the same order. Logs are in
# build/gpu-logs. STOPE_JOBS is the number of processes on a GPU. STOPE_RANDOM_SECONDS limits random cases,
# STOPE_SUITE_SECONDS a process. STOPE_CUDA_AS=75 or 80 runs the kernels of Turing or Ampere on a Hopper GPU, by BUILD's
# libstope_cuda_as_75.so or _80.so (targets stope_cuda_as_75 and stope_cuda_as_80).
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-} wanted=" ${*:2} "
if [ -z "$build" ]; then
  build=build/gcc
  scripts/bootstrap.sh --cuda &&
    STOPE_CUDA=ON STOPE_CUDA_ARCHS=${STOPE_CUDA_ARCHS:-80-real;90a-real} STOPE_QUICK='' scripts/build.sh gcc knn_test gram_test stats_test discretize_test tree_test rapidminer_goldens_test \
      stope_cli stope_cuda stope_cuda_watched ${STOPE_CUDA_AS:+stope_cuda_as_$STOPE_CUDA_AS} || exit 1
fi
build=$(realpath "$build")
logs=$PWD/build/gpu-logs
rm -rf "$logs" && mkdir -p "$logs"
plugin=$build/libstope_cuda.so watched=$build/libstope_cuda_watched.so as=${STOPE_CUDA_AS:-}
[ -z "$as" ] || plugin=$build/libstope_cuda_as_$as.so watched=$plugin
[ -f "$plugin" ] || { echo "there is no $plugin" >&2; exit 2; }
export GTEST_COLOR=no STOPE_CUDA_PLUGIN=$plugin STOPE_SHARED=${STOPE_SHARED:-$PWD/../shared}
. scripts/gpus.sh
jobs=$((${STOPE_JOBS:-4} * n_gpus)) knn=$build/tests/knn_test

# is_wanted SUITE: whether the command line names it, or names none.
is_wanted() { [ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]]; }

# suite NAME PROCESSES COMMAND...: queues a suite; GoogleTest deals the tests out to the processes.
names=() tasks=()
declare -A command_of processes_of
suite() {
  is_wanted "$1" || return 0
  names+=("$1") processes_of[$1]=$2 command_of[$1]=$(printf '%q ' "${@:3}")
  for ((i = 0; i < $2; ++i)); do tasks+=("$1 $i"); done
}

# task NAME NUMBER GPU: runs one process of a suite; that GPU is its first. Its log, exit code and time stay in files,
# and a line on stderr says at once that it is done.
task() {
  local log=$logs/$1.$2 began=$SECONDS
  CUDA_VISIBLE_DEVICES=$(gpus_from "$3") GTEST_TOTAL_SHARDS=${processes_of[$1]} GTEST_SHARD_INDEX=$2 \
    STOPE_CUDA_KERNELS=$logs/$1.kernels timeout "${STOPE_SUITE_SECONDS:-3600}" bash -c "${command_of[$1]}" >"$log.log" 2>&1
  echo $? >"$log.code"
  echo $((SECONDS - began)) >"$log.seconds"
  echo "$1 $2: exit $(cat "$log.code"), $(cat "$log.seconds") s" >&2
}

# run_all PROCESSES: runs what is queued, so many processes at once.
run_all() {
  local running=0 started=0 each
  for each in "${tasks[@]}"; do
    [ $running -lt "$1" ] || { wait -n; running=$((running - 1)); }
    task ${each% *} ${each#* } $started &
    running=$((running + 1)) started=$((started + 1))
  done
  wait
  tasks=()
}

# sum_of EXPRESSION FILE: the sum of the numbers that the sed expression finds.
sum_of() { sed -nE "$1" "$2" | awk '{ n += $1 } END { print n + 0 }'; }

# missed_kernels FILE: the kernels that no process launched (tests/device/watched_plugin.cpp).
missed_kernels() {
  comm -23 <(sed -n 's/^missed //p' "$1" | sort -u) <(sed -n 's/^launched //p' "$1" | sort -u)
}

lines=() failed=0
# report NAME: prints the suite's line, and what failed. A suite in which nothing ran has failed: a GPU was asked for.
report() {
  local name=$1 log=$logs/$1.log result=ok found="" codes seconds passed skipped
  cat "$logs/$name".[0-9]*.log >"$log"
  codes=$(sort -n "$logs/$name".*.code | tail -n 1) seconds=$(sort -n "$logs/$name".*.seconds | tail -n 1)
  passed=$(sum_of 's/.*\[  PASSED  \] ([0-9]+) tests?\..*/\1/p' "$log")
  skipped=$(sum_of 's/.*\[  SKIPPED \] ([0-9]+) tests?, listed below.*/\1/p' "$log")
  # Turing lacks what some tests are about.
  [[ $codes == 0 && $passed -gt 0 && ($skipped == 0 || $as == 75) ]] || result="FAILED (exit $codes)"
  if [[ $name == *check ]]; then
    found=", $(sum_of 's/.* SUMMARY: ([0-9]+) (error|hazard).*/\1/p' "$log") reports"
    missed_kernels "$logs/$name.kernels" >"$logs/$name.missed"
    found+=", $(sed 's/^[a-z]* //' "$logs/$name.kernels" | sort -u | wc -l) kernels, $(wc -l <"$logs/$name.missed") missed"
    # Only Hopper runs all kernels.
    if [ -s "$logs/$name.missed" ] && [ "$capability$as" = 9.0 ]; then
      result="FAILED (kernels)"
      echo "== $name did not run"
      cat "$logs/$name.missed"
    fi
  fi
  [ "$result" = ok ] || failed=1
  [ "$codes" = 0 ] || { echo "== $name"; grep -avE 'SUMMARY|COMPUTE-SANITIZER' "$log" | grep -aE -A 6 'Failure|=========|FAILED|Skipped' |
    head -n 60; }
  lines+=("$(printf '%-12s %-17s %3d passed, %d skipped%s  (%d s)' "$name" "$result" "$passed" "$skipped" "$found" \
    "$seconds")")
  # What each search's answer hashes to (tests/knn/gpu/hash_of_lists.hpp).
  while read -r found; do lines+=("             $found"); done < <(grep -ah '^hash ' "$log")
}

# Under the sanitizer a launch costs a hundred times as much, so every kernel runs on few tables
# (tests/*/kernels_cuda_test.cpp and the tests called EveryKernel). Each process runs its share of every program.
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
programs=("$knn" "$build/tests/gram_test" "$build/tests/stats_test" "$build/tests/discretize_test" "$build/tests/tree_test")
cases='KernelsCuda.*:ScansOf*:DistancesOf*:SearchesThroughBoxesCuda.*:EveryMeasureCuda.Matrices*:VotesCuda.Random*'
cases+=':DeviceArraysCuda.L*:DeviceArraysCuda.A*:DevicePredictionsCuda.P*:FitFromGpuCuda.P*:FitFromGpuCuda.L*'
cases+=':GramKernelsCuda.*:OnGpu.EveryKernel*:CutsOnGpu.EveryKernel:GainsOnGpu.EveryKernel:SetsOnGpu.EveryKernel:WeightedCutsOnGpu.EveryKernel:PermutationsOnGpu.EveryKernel:TreesOnGpu.EveryKernel:GainTreesOnGpu.EveryKernel'
# Kept memory would hide leaks, bytes behind a block's end, and bytes that nobody wrote.
# sanitized TOOL CASES [OPTION...]: with fewer tests than processes, some processes never use CUDA.
sanitized() {
  suite "$1" 8 env STOPE_ROUNDS=2 STOPE_GPU_KEPT=none STOPE_CUDA_PLUGIN="$watched" bash -c \
    'code=0; for program in '"${programs[*]@Q}"'; do "${@:2}" "$program" --gtest_filter="$1" || code=$?; done; exit $code' - "$2" \
    timeout "${STOPE_SANITIZER_SECONDS:-600}" "$sanitizer" --tool "$1" --error-exitcode 9 --require-cuda-init no "${@:3}"
}

suite kernels 6 "$knn" --gtest_filter='ReferenceCuda.*:EveryMeasureCuda.*:KernelsCuda.*:ScansOf*:DistancesOf*:SearchesThroughBoxesCuda.*'
suite boxes 4 "$knn" --gtest_filter='BoxesCuda.*:BoxesOverBoxes.*'
suite filter 10 "$knn" --gtest_filter='*FilterCuda*-*MoreValues*'
if [ "$capability$as" = 9.0 ]; then # no other GPU leaves tiles out
  suite clusters 3 "$knn" --gtest_filter='ClustersCuda.*'
fi
suite differences 3 "$knn" --gtest_filter='DifferencesCuda.*'
suite varied 4 "$knn" --gtest_filter='VariedListsCuda*:*/VariedListsCuda*'
suite votes 2 "$knn" --gtest_filter='VotesCuda.*'
suite arrays 2 "$knn" --gtest_filter='DeviceArraysCuda.*:DevicePredictionsCuda.*:FitFromGpuCuda.*:UuidCuda.*'
suite repeat 3 "$knn" --gtest_filter='RepeatCuda.*:GridCuda.*'
suite failing 4 "$knn" --gtest_filter='FailingKernelCuda.*'
suite search 5 "$knn" --gtest_filter='*/cuda:FilterBounds.*:FilterProperty.LargerTables'
suite gram 4 "$build/tests/gram_test" --gtest_filter='Gram.*:GramKernelsCuda.*'
suite stats 5 "$build/tests/stats_test" --gtest_filter='OnGpu.*'
suite discretize 10 "$build/tests/discretize_test" --gtest_filter='*CutsOnGpu.*:GainsOnGpu.*:SetsOnGpu.*:PermutationsOnGpu.*'
suite trees 10 "$build/tests/tree_test" --gtest_filter='*TreesOnGpu.*'
suite goldens 1 env STOPE_BACKEND=cuda "$build/tests/rapidminer_goldens_test" \
  --gtest_filter='-*Classification*DynamicTimeWarping*' # slow, and in another test's lists
run_all "$jobs"
if [ -x "$sanitizer" ]; then
  sanitized memcheck "$cases:*EveryAllocationFailsOnce" --leak-check full
  sanitized racecheck "$cases" --racecheck-report all
  sanitized initcheck "$cases"
  # The blocks of a team have more cuda::barriers than the tool expects; far larger numbers exhaust its memory.
  sanitized synccheck "$cases" --num-cuda-barriers 256
fi

run_all "$((2 * jobs))"  # of which some wait for the tool's own processes
for name in "${names[@]}"; do report "$name"; done
[ -x "$sanitizer" ] || lines+=("sanitizers   skipped: there is no compute-sanitizer") # not a wheel; of the CUDA toolkit

if is_wanted lost && [ -x "$build/cli/stope" ]; then
  scripts/gpu_lost.sh "$build" >"$logs/lost.log" 2>&1 && result=ok || result=FAILED failed=1
  [ $result = ok ] || cat "$logs/lost.log"
  lines+=("$(printf '%-12s %-17s %s' lost $result "$(tail -n 1 "$logs/lost.log")")")
fi
if is_wanted random; then
  scripts/gpu_stress.sh "$build" "${STOPE_RANDOM_SECONDS:-150}" >"$logs/random.log" 2>&1 && result=ok || result=FAILED failed=1
  [ $result = ok ] || cat "$logs/random.log"
  lines+=("$(printf '%-12s %-17s %s' random $result "$(tail -n 1 "$logs/random.log")")")
fi
if is_wanted bench && [ -x "$build/bench/knn_gpu_bench" ]; then
  python3 bench/knn_gpu.py "$build" --results "$logs" >"$logs/bench.log" 2>&1
  lines+=("bench        exit $?, $(grep -c 'exact' "$logs/bench.log") cases, in $logs")
  cat "$logs/bench.log"
fi

printf '%s\n' "${lines[@]}"
exit $failed
