#!/usr/bin/env bash
# Runs what a change must pass in addition to make test; scripts/verify.sh [SUITE...] runs only the suites named. They
# are formatting and the project's own rules, clang-tidy, gcc with the CUDA plug-in, the sanitizers, and fuzzing. Prints
# as scripts/test.sh does.
set -uo pipefail
. "$(dirname "$0")/suites.sh"
symbolizer=/usr/lib/llvm-19/bin/llvm-symbolizer
export ASAN_SYMBOLIZER_PATH=$symbolizer TSAN_SYMBOLIZER_PATH=$symbolizer
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1

suite_checks() {
  local failed=0
  check() { "$@" && echo "PASS $*" || { echo "FAIL $*"; failed=1; }; }
  check scripts/format.sh --check
  check python3 scripts/check_includes.py --self-test
  check python3 scripts/check_includes.py
  check python3 scripts/check_docs.py --self-test
  check python3 scripts/check_docs.py
  check python3 scripts/check_guards.py
  check python3 scripts/check_abi.py --self-test
  check python3 scripts/check_abi.py
  check scripts/check_device_headers.sh
  return $failed
}

suite_lint() { scripts/lint.sh && echo "PASS clang-tidy" || { echo "FAIL clang-tidy"; return 1; }; }

# Make test has run every case on clang's release. Here the same tests see other code: fewer random tables are enough
# (STOPE_CASES), tests repeat less (STOPE_EFFORT, tests/effort.hpp), and the goldens run on the best back end only.
unit_tests() { STOPE_CASES=$2 ctest --test-dir "build/$1" -V --no-tests=error -E 'rapidminer_goldens_(scalar|avx|cuda)'; }
# gcc proves that every source names the headers it uses, and compiles the CUDA plug-in and the benchmarks. Only tests
# of what another compiler is most likely to compute or to read in another way run.
by_the_compiler='^(io|knn|gram|stats|discretize|tree|normalize|.*_goldens|exact_math.*)_test$'
suite_gcc() {
  # Turing and Hopper, between them, compile every branch of the device code but one instruction of Ampere.
  STOPE_CUDA=ON STOPE_CUDA_ARCHS='75-real;90a-real' STOPE_PYTHON=ON STOPE_QUICK='cli;cuda;files' STOPE_JOIN=TESTS \
    STOPE_TEST_PROGRAMS=$by_the_compiler build gcc all stope_benchmarks && STOPE_EFFORT=42 unit_tests gcc 1500
}
suite_asan() { build asan && unit_tests asan 1000; }
# Under the thread sanitizer long tests of one thread do not run, nor those that damage every byte of a model, nor
# programs whose threads are all started by code that the others test: goldens, bad tables, generators, the command line.
in_threads='^(base|device|table|io|knn|gram|stats|normalize|discretize|tree|impute|predict|eval|model|jobs|capi|[a-z]+_fake)_test$'
in_one_thread='Score.*:CsvKernels.*:RankTexts.*:JsonMembers.*:OptionRanges.*:PlainPairs.*:EncodeKernels.*:ExactMath.*'
in_one_thread+=':ModelTest.ChangesUnder*:ModelTest.EveryFlipped*:Exact/SpecialPairs.HaveTheOracles*:Gram.RowsOfMoreThan*'
in_one_thread+=':FilterBounds.ValuesOnTheGrid*:*.AutoTakes*GpuThatPays*'
suite_tsan() { STOPE_TEST_PROGRAMS=$in_threads build tsan && GTEST_FILTER=-$in_one_thread unit_tests tsan 500; }
# Runs bad input once more, where a wrong read or an overflow is sure to be seen.
suite_cli_asan() {
  scripts/build.sh asan && STOPE_BIN=$top/build/asan/cli/stope $python -m pytest -q -rs -n "$STOPE_JOBS" tests/cli/test_bad_inputs.py
}

# The Python package as it is published. It is built from the objects of gcc's suite, which ccache knows.
suite_wheels() { scripts/python_wheels.sh; }
# The Python package's tests once more, with a sanitized module.
suite_python_asan() { scripts/python_asan.sh; }

# The documentation site, strict: references, pictures, a notebook that runs, links. Nothing in it comes from a network.
suite_site() { scripts/site.sh; }

# scikit-learn's own tests, with stope.accel answering; it takes the package that make built.
suite_sklearn() { scripts/sklearn_tests.sh; }

# Spark: sessions of every mode, on this machine.
suite_spark() { scripts/spark.sh; }
# The server's page, in a headless browser.
suite_page() { scripts/page.sh; }
# The Orange add-on, without a screen.
suite_orange() { scripts/orange.sh; }

suite_fuzz() { scripts/fuzz.sh 5; }

scripts/bootstrap.sh --verify || exit 1
run_suites "$@" -- \
  { "checks:format, includes, ABI, docs" / "lint:clang-tidy" } \
  "gcc:unit tests, gcc, CUDA plug-in" \
  "asan:unit tests, address + undefined" \
  "tsan:unit tests, threads" \
  "cli_asan:command line, sanitized" \
  "python_asan:Python package, sanitized" \
  "sklearn:scikit-learn's own tests" \
  { "wheels:Python, source and wheels" "site:documentation site" "page:page of the server" / \
    "orange:Orange add-on" "spark:Spark" } \
  "fuzz:fuzz, 5 s a target"
