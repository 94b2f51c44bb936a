#!/usr/bin/env bash
# Runs scikit-learn's own tests, unmodified, of the installed version in zero-change mode (stope.accel), and checks that
# the table in docs/SKLEARN.md says who answered them. scripts/sklearn_tests.sh --write writes that table. It takes the
# package in build/release/python; scripts/build.sh makes it. pytest's summary and PASS / FAIL lines say what happened.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
python=$PWD/.venv/bin/python
folder=$PWD/build/test-logs
mkdir -p "$folder"
cases=$folder/sklearn-cases
rm -f "$cases".*
tests=$("$python" -c 'import os, sklearn; print(os.path.dirname(sklearn.__file__))') || exit 1
export PYTHONPATH=$PWD/build/release/python:$PWD/scripts STOPE_SKLEARN_CASES=$cases
export SKLEARN_TESTS_GLOBAL_RANDOM_SEED=${SKLEARN_TESTS_GLOBAL_RANDOM_SEED:-42} # scikit-learn's own default
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 SKLEARN_RUN_FLOAT32_TESTS=1
files=()
while read -r file; do files+=("$tests/$file"); done < <("$python" scripts/sklearn_table.py --files)
# -c: scikit-learn's tests see no settings of ours. Its conftest.py beside the tests is read, as in its own runs.
"$python" -m pytest -q -c /dev/null --rootdir "$tests" -p sklearn_tests_plugin -p no:cacheprovider -W ignore \
  -n "${STOPE_JOBS:-2}" --pyargs "${files[@]}"
code=$?
[ $code -eq 0 ] || exit $code
"$python" scripts/sklearn_table.py "$@" "$cases".*
