#!/usr/bin/env bash
# Runs every functional suite once, on the release that make demo builds; scripts/test.sh [SUITE...] runs only those
# named. Prints one line per suite and, last, 'N passed, N failed, N skipped'. Logs: build/test-logs/SUITE.log.
# scripts/verify.sh has what else a change must pass (another compiler, sanitizers, clang-tidy, fuzzing).
set -uo pipefail
. "$(dirname "$0")/suites.sh"

# STOPE_CASES: the number of random tables on which every fast path must return the reference's bits; each test of them
# takes 20 s. The suite of random cases tries others in every commit.
suite_unit() { STOPE_CASES=20000 ctest --test-dir build/release -V --no-tests=error -E '_goldens'; }

# Random cases that no other run has had: the commit's hash says where they begin, and STOPE_SEED repeats them.
seed=${STOPE_SEED:-$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1)))}
suite_seed() {
  STOPE_SEED=$seed STOPE_CASES=10000 build/release/tests/knn_test --gtest_filter='FilterProperty.EveryFast*' &&
    STOPE_SEED=$seed STOPE_BIN=$program $python -m pytest -q -rs -n "$STOPE_JOBS" tests/cli/test_columnar_damage.py
}

# Compares with reference results of other programs, on every back end of this machine.
suite_goldens() { ctest --test-dir build/release -V --no-tests=error -R '_goldens'; }

suite_cli() { STOPE_BIN=$program $python -m pytest -q -rs -n "$STOPE_JOBS" --dist worksteal tests/cli; }

# The Arrow C data interface against another implementation.
suite_arrow() {
  STOPE_ARROW_BRIDGE=$top/build/release/tests/libstope_arrow_bridge.so $python -m pytest -q -rs -n "$STOPE_JOBS" tests/io/arrow
}

# The Python package, against scikit-learn and NumPy.
suite_python() { scripts/python.sh; }

# The server, its own process and in this one. scripts/page.sh tests its page in a browser.
suite_serve() { scripts/serve.sh; }

suite_readme() { python3 scripts/check_readme.py --program "$program"; }

suite_install() {
  local prefix code
  prefix=$(mktemp -d)
  cmake --install build/release --prefix "$prefix" >/dev/null && scripts/check_install.sh "$prefix" build/example
  code=$?
  rm -rf "$prefix"
  return $code
}

# The JVM binding, against the reference results, too.
suite_jvm() { scripts/jvm.sh; }

# The RapidMiner extension; in a real RapidMiner where RAPIDMINER_HOME names one.
suite_rapidminer() { scripts/rapidminer.sh && scripts/rapidminer_check.sh; }

# The WEKA package, against WEKA's own IBk, and installed by WEKA's package manager.
suite_weka() { scripts/weka.sh && scripts/weka_check.sh; }

scripts/bootstrap.sh --test || exit 1
prepare "release, with tests" scripts/release.sh --tests || exit 1
run_suites "$@" -- \
  "unit:unit tests" \
  "goldens:reference results" \
  "cli:command line" \
  { "jvm:JVM binding" "rapidminer:RapidMiner extension" "weka:WEKA package" / \
    "seed:random cases, STOPE_SEED=$seed" "arrow:Arrow, against pyarrow" "readme:README examples" "install:install, C++ and C examples" } \
  "python:Python package" \
  "serve:server"
