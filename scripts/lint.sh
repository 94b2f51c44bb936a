#!/usr/bin/env bash
# clang-tidy over src/ and cli/ on all cores. Files that passed with the same content (headers included) are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
# A build folder of its own, configured for clang: gcc's warning options are errors to clang-tidy.
mkdir -p build
cmake --preset lint >build/lint-configure.log 2>&1 || { cat build/lint-configure.log >&2; exit 1; }
exec python3 scripts/tidy.py --build build/lint --cache build/tidy-passed "$@"
