#!/usr/bin/env bash
# Runs the long tests for a time: scripts/soak.sh [MINUTES [FILE]]; the default is 60 minutes. It fuzzes every target in
# turn and the bodies that the server reads, ends commands at random moments by kill -9 and signals, compares random cases
# with the reference, looks for leaks and runs the large tests (STOPE_LARGE). The figures go to FILE, by default
# bench/results/soak_CPU_DATE.json; where something failed, the file says what, and the script fails. scripts/soak.py has
# the parts and their shares of the time.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/bootstrap.sh --test
scripts/release.sh --tests
STOPE_PYTHON=ON scripts/build.sh release stope_python
scripts/build.sh asan fuzz/all stope_cli alloc_fault_test
export STOPE_SHARED=${STOPE_SHARED:-$PWD/../shared}
exec .venv/bin/python scripts/soak.py "$@"
