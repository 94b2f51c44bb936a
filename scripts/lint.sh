#!/usr/bin/env bash
# Runs clang-tidy over src/, cli/ and bindings/ on all cores. Files that passed with the same content (headers included) are
# skipped. The host code of the CUDA plug-in is checked if there is a CUDA compiler (scripts/bootstrap.sh --cuda gets
# one), and the plug-in for files if cargo has clippy and fmt.
set -euo pipefail
cd "$(dirname "$0")/.."
# It has its own build folder, configured for clang: gcc's warning options are errors to clang-tidy.
mkdir -p build
jvm=OFF
! ls "${JAVA_HOME:-/nowhere}"/include/jni.h /usr/lib/jvm/*/include/jni.h >/dev/null 2>&1 || jvm=ON
python=OFF
! .venv/bin/python -c 'import nanobind' 2>/dev/null || python=ON
cmake --preset lint -DSTOPE_BUILD_JVM=$jvm -DSTOPE_BUILD_PYTHON=$python >build/lint-configure.log 2>&1 || { cat build/lint-configure.log >&2; exit 1; }
if command -v cargo-clippy >/dev/null && command -v cargo-fmt >/dev/null; then
  (cd plugins/files && cargo fmt --check && cargo clippy --quiet --profile quick --locked --target-dir ../../build/cargo -- -D warnings)
fi
exec python3 scripts/tidy.py --build build/lint --cache build/tidy-passed "$@"
