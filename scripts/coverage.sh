#!/usr/bin/env bash
# Measures which lines and branches of src/ and cli/ the tests reach, and writes docs/COVERAGE.md. Run by hand.
#   scripts/coverage.sh            builds the preset "coverage", runs every suite, writes the page
#   scripts/coverage.sh unit cli   builds, runs only these suites, and takes the others' counts from their last runs
#   scripts/coverage.sh --page     writes the page from the last counts
# Suites: unit (every program of tests/, few random cases, the goldens of one back end), cli (tests/cli), arrow (tests/io/arrow).
# scripts/coverage_page.py turns llvm-cov's counts into the page and lists single branches. A test that fails still counts, and is named here.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
build=$top/build/coverage
counts=$build/counts # one file a suite
lanes=${STOPE_JOBS:-$(nproc)}
export STOPE_SHARED=${STOPE_SHARED:-$top/../shared}
python=$top/.venv/bin/python

programs=(base table io device stats normalize knn gram generate discretize tree impute predict eval model jobs cli capi bad_tables
  alloc_fault rapidminer_goldens normalize_goldens)
fakes=(io_fake table_fake knn_fake gram_fake stats_fake discretize_fake tree_fake)
tests=("${programs[@]/%/_test}" "${fakes[@]/%/_test}")

# on_lanes COMMAND: runs a shell function once on every CPU, with the CPU's number, side by side. Counters are not atomic: a
# process on one CPU loses no counts, and a branch that was never taken stays at zero.
on_lanes() {
  local lane
  for ((lane = 0; lane < lanes; ++lane)); do "$1" "$lane" & done
  wait
}

unit_lane() {
  export GTEST_TOTAL_SHARDS=$lanes GTEST_SHARD_INDEX=$1 GTEST_COLOR=no STOPE_CASES=2000 STOPE_EFFORT=23
  local test
  for test in "${tests[@]}"; do
    echo "== $test, part $1"
    taskset -c "$1" "$build/tests/$test" || echo "FAIL $test, part $1: exit code $?"
  done
  [ "$1" -ne 0 ] || "$build/tests/capi_misuse" "$build/tests/capi" || echo "FAIL capi_misuse"
}

# tests/cli/test_moments.py ends programs by kill -9 at chosen times, and they leave no counts.
cli_lane() {
  local files=() file n=0
  for file in tests/cli/test_*.py; do
    [ "$file" = tests/cli/test_moments.py ] || ((n++ % lanes != $1)) || files+=("$file")
  done
  STOPE_BIN=$build/cli/stope taskset -c "$1" "$python" -m pytest -q -rf -p no:cacheprovider "${files[@]}" || true
}

arrow_lane() {
  [ "$1" -ne 0 ] || STOPE_ARROW_BRIDGE=$build/tests/libstope_arrow_bridge.so taskset -c 0 "$python" -m pytest -q -rf -p no:cacheprovider \
    tests/io/arrow || true
}

# Programs add their counts to one raw file a program (%m), so that thousands of runs leave few files.
run_suite() {
  local raw=$build/raw-$1 began=$SECONDS
  rm -rf "$raw"
  mkdir -p "$raw" "$counts"
  LLVM_PROFILE_FILE=$raw/%m.profraw on_lanes "$1_lane" >"$build/$1.log" 2>&1
  llvm-profdata-19 merge -sparse "$raw"/*.profraw -o "$counts/$1.profdata"
  rm -rf "$raw"
  echo "$1: $((SECONDS - began)) s, log build/coverage/$1.log"
  grep -aE '^FAIL |^FAILED |^ERROR |\[  FAILED  \] [^ ]+\.' "$build/$1.log" | sort -u | head -n 40 || true
}

suites=("$@")
if [ "${1:-}" = --page ]; then
  suites=()
else
  [ $# -gt 0 ] || suites=(unit cli arrow)
  scripts/bootstrap.sh --test
  extra=()
  [ -z "$(command -v cargo)" ] || extra=(stope_files)
  STOPE_CUDA=OFF STOPE_JVM=OFF scripts/build.sh coverage stope stope_cli capi_misuse stope_arrow_bridge stope_failing_calls "${extra[@]}" "${tests[@]}"
fi
for suite in "${suites[@]}"; do run_suite "$suite"; done

objects=(-object "$build/cli/stope" -object "$(realpath "$build/libstope.so")" -object "$build/tests/libstope_arrow_bridge.so")
for test in "${tests[@]}"; do objects+=(-object "$build/tests/$test"); done
llvm-profdata-19 merge -sparse "$counts"/*.profdata -o "$build/all.profdata"
llvm-cov-19 export -format=text -skip-functions -skip-expansions -ignore-filename-regex='/(tests|cuda|build)/|^/usr/' \
  -instr-profile "$build/all.profdata" "${objects[@]}" >"$build/coverage.json" 2>"$build/export.log"
measured=()
for file in "$counts"/*.profdata; do measured+=("$(basename "$file" .profdata)"); done
python3 scripts/coverage_page.py "$build/coverage.json" --suites "${measured[@]}"
