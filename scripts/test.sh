#!/usr/bin/env bash
# Everything a change must pass, from a cold start; .ci/run calls it. scripts/test.sh [SUITE...] runs only those named.
# Prints one line a suite and, last, 'N passed, N failed, N skipped'. Logs: build/test-logs/SUITE.log.
set -uo pipefail
cd "$(dirname "$0")/.."
top=$PWD
logs=build/test-logs
mkdir -p "$logs"
export STOPE_SHARED=${STOPE_SHARED:-$top/../shared}
export STOPE_JOBS=${STOPE_JOBS:-$(nproc)}
export CTEST_PARALLEL_LEVEL=$STOPE_JOBS
export GTEST_COLOR=no
export CCACHE_DEPEND=1 # on a fresh machine every file misses: then ccache need not preprocess it first
symbolizer=/usr/lib/llvm-19/bin/llvm-symbolizer
export ASAN_SYMBOLIZER_PATH=$symbolizer TSAN_SYMBOLIZER_PATH=$symbolizer
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
python=.venv/bin/python
program=$top/build/demo/cli/stope  # built as users get it

# --- the suites: each writes to its log; its exit code decides, the counts are read from the log -------------------

suite_checks() {
  local failed=0
  check() { "$@" && echo "PASS $*" || { echo "FAIL $*"; failed=1; }; }
  check scripts/format.sh --check
  check python3 scripts/check_includes.py --self-test
  check python3 scripts/check_includes.py
  check python3 scripts/check_docs.py
  [ ! -x scripts/check_device_headers.sh ] || check scripts/check_device_headers.sh
  return $failed
}

suite_lint() { scripts/lint.sh && echo "PASS clang-tidy" || { echo "FAIL clang-tidy"; return 1; }; }

# Unit tests with gcc here and with clang under the sanitizers; the program that ships (clang) is tested end to end.
# STOPE_CASES: random tables on which every fast path must return the reference's bits, half a minute each. The goldens
# run on every back end once; under the sanitizers on the best one only (rapidminer_goldens_test), which also repeat
# less (tests/effort.hpp). The CUDA plug-in is always compiled here; its tests are skipped where there is no GPU
# (scripts/gpu_check.sh runs them all).
suite_gcc() {
  STOPE_CUDA=ON scripts/build.sh gcc && STOPE_CASES=30000 ctest --test-dir build/gcc -V --no-tests=error &&
    STOPE_BIN=$top/build/gcc/cli/stope $python -m pytest -q -rs tests/cli/test_trouble.py -k plugin # the fake one is here
}
sanitized() {
  scripts/build.sh "$1" &&
    STOPE_CASES=$2 ctest --test-dir "build/$1" -V --no-tests=error -E 'rapidminer_goldens_(scalar|avx|cuda)'
}
suite_asan() { sanitized asan 4000; }
suite_tsan() { sanitized tsan 1000; }

build_demo() {
  if scripts/has_nvidia_driver.sh; then STOPE_CUDA=ON scripts/build.sh demo; else STOPE_CUDA=OFF scripts/build.sh demo; fi
}
suite_cli() { build_demo && STOPE_BIN=$program $python -m pytest -q -rs -n "$STOPE_JOBS" --dist worksteal tests/cli; }
# Bad input once more, where a wrong read or an overflow cannot pass unseen.
suite_cli_asan() {
  scripts/build.sh asan && STOPE_BIN=$top/build/asan/cli/stope $python -m pytest -q -rs -n "$STOPE_JOBS" tests/cli/test_bad_inputs.py
}

suite_fuzz() { scripts/fuzz.sh 10; }

suite_install() {
  local prefix
  prefix=$(mktemp -d)
  build_demo && cmake --install build/demo --prefix "$prefix" >/dev/null &&
    scripts/check_install.sh "$prefix" build/example
  local code=$?
  rm -rf "$prefix"
  return $code
}

suite_readme() { build_demo && python3 scripts/check_readme.py --program "$program"; }

# --- running and counting --------------------------------------------------------------------------------------------

sum() { awk '{n += $1} END {print n + 0}'; }

# count LOG: "passed failed skipped" from what GoogleTest, pytest and our own PASS / FAIL / SKIP lines say.
count() {
  local passed failed skipped
  passed=$( (sed -nE 's/.*\[  PASSED  \] ([0-9]+) tests?\..*/\1/p; s/^(.*[ =])?([0-9]+) passed.* in [0-9.]+s.*/\2/p' "$1"
    grep -aE '^PASS ' "$1" | sed 's/.*/1/') | sum)
  failed=$( (sed -nE 's/.*\[  FAILED  \] ([0-9]+) tests?, listed below.*/\1/p; s/^(.*[ =])?([0-9]+) failed.* in [0-9.]+s.*/\2/p
    s/^(.*[ =])?([0-9]+) errors? in [0-9.]+s.*/\2/p' "$1"
    grep -aE '^FAIL ' "$1" | sed 's/.*/1/') | sum)
  skipped=$( (sed -nE 's/.*\[  SKIPPED \] ([0-9]+) tests?, listed below.*/\1/p; s/^(.*[ =])?([0-9]+) skipped.* in [0-9.]+s.*/\2/p' "$1"
    grep -aE '^SKIP ' "$1" | sed 's/.*/1/') | sum)
  echo "$passed $failed $skipped"
}

# what_failed LOG: each thing once, without ctest's numbers and GoogleTest's times; the end of a log that names none.
what_failed() {
  local lines
  lines=$(grep -aE '^FAIL |\[  FAILED  \] [^ ]+\.|^FAILED |^ERROR |error: |ERROR: |WARNING: Thr|SUMMARY: |: Failure$|\*\*\*' "$1" |
    sed -E 's/^[0-9]+: //; s/ \([0-9]+ ms\)$//' | awk '!seen[$0]++')
  [ -n "$lines" ] || lines=$(tail -n 20 "$1")
  head -n 30 <<<"$lines"
}

total_passed=0 total_failed=0 total_skipped=0
lines=()
run() {
  local name=$1 title=$2 began=$SECONDS code passed failed skipped
  "suite_$name" >"$logs/$name.log" 2>&1
  code=$?
  read -r passed failed skipped < <(count "$logs/$name.log")
  # A build that breaks or a program that dies reports no failed test: the suite itself then counts as one.
  [ $code -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
  [ $code -ne 0 ] || [ $((passed + failed + skipped)) -gt 0 ] || { failed=1; echo "FAIL no test ran" >>"$logs/$name.log"; }
  total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed)) total_skipped=$((total_skipped + skipped))
  local line
  line=$(printf '%-34s %5d passed, %d failed, %d skipped  (%d s)' "$title:" "$passed" "$failed" "$skipped" $((SECONDS - began)))
  lines+=("$line")
  echo "$line"
  [ "$failed" -eq 0 ] || what_failed "$logs/$name.log" | sed "s/^/    /"
}

suites=(
  "checks:format, includes"
  "lint:clang-tidy"
  "gcc:unit tests, gcc release"
  "asan:unit tests, address + undefined"
  "tsan:unit tests, threads"
  "cli:command line"
  "cli_asan:command line, sanitized"
  "fuzz:fuzz, 10 s a target"
  "install:install, C++ example"
  "readme:README examples"
)

scripts/bootstrap.sh --test || exit 1
for entry in "${suites[@]}"; do
  name=${entry%%:*}
  [ $# -gt 0 ] && [[ " $* " != *" $name "* ]] && continue
  run "$name" "${entry#*:}"
done

echo
printf '%s\n' "${lines[@]}"
if scripts/has_nvidia_driver.sh; then
  echo "CUDA: plug-in compiled, tests run as far as they are above; scripts/gpu_check.sh runs all, with compute-sanitizer"
else
  echo "CUDA: plug-in compiled, its tests skipped (no NVIDIA driver); scripts/gpu_check.sh runs them on a machine with a GPU"
fi
echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
[ "$total_failed" -eq 0 ]
