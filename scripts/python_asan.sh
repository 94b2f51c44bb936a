#!/usr/bin/env bash
# Runs the Python package's tests with a native module that the address and undefined-behaviour sanitizers watch:
# scripts/python_asan.sh [PYTEST ARGUMENT...]. The interpreter itself is not sanitized: its leaks are not asked for.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
if ! $python -c 'import nanobind' 2>/dev/null; then
  echo "SKIP the sanitized Python package: nanobind is missing (scripts/bootstrap.sh --test installs it into .venv)"
  exit 0
fi
STOPE_PYTHON=ON scripts/build.sh asan stope_python
# The runtime must come first in the process, and it looks for the functions of libstdc++ that it wraps.
runtime=$(clang++-19 -print-file-name=libclang_rt.asan-x86_64.so)
[ -f "$runtime" ] || runtime=$(clang++-19 -print-file-name=libclang_rt.asan.so)
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc # Python's own allocator would hide errors in its memory
# Tests of growing memory measure what the sanitizer keeps for itself. scikit-learn's checks call the native module as
# our own tests do, which is enough here. The reference results run in C++ with the same sanitizers. Pictures and types
# need no native code. The stub is made from the release module alone, so its test runs there.
tests=bindings/python/tests
PYTHONPATH=$PWD/build/asan/python LD_PRELOAD="$runtime:$(g++ -print-file-name=libstdc++.so.6)" \
  $python -m pytest -q -rs -n "${STOPE_PYTHON_WORKERS:-2}" --dist worksteal \
  -k 'not scikit_learns_checks_pass and not every_check_of_scikit_learn' --ignore $tests/serve --ignore $tests/spark \
  --ignore $tests/test_leaks.py --ignore $tests/test_goldens.py --ignore $tests/test_plot.py \
  --deselect $tests/test_package.py::test_a_strictly_typed_program_passes_mypy \
  --deselect $tests/test_run.py::test_a_thousand_fits_hold_no_memory \
  --deselect $tests/test_package.py::test_the_stub_of_the_module_is_valid_and_complete \
  --deselect $tests/test_decomposition.py::test_many_fits_leave_no_memory_behind $tests "$@"
