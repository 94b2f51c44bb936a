#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json: scripts/build.sh PRESET [TARGET...]. Quiet unless it fails.
# STOPE_CUDA=AUTO|ON|OFF, if set, says whether the CUDA plug-in is built (cmake/StopeCuda.cmake). STOPE_TESTS=ON|OFF, if
# set, says whether the tests are built.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
log=build/$preset.log
mkdir -p build
if ! { cmake --preset "$preset" ${STOPE_CUDA:+-DSTOPE_CUDA="$STOPE_CUDA"} ${STOPE_TESTS:+-DSTOPE_BUILD_TESTS="$STOPE_TESTS"} &&
  cmake --build "build/$preset" -j "${STOPE_JOBS:-$(nproc)}" ${1:+--target "$@"}; } \
  >"$log" 2>&1; then
  grep -m 40 -E -A 4 'error:|Error|FAILED' "$log" >&2 || tail -n 40 "$log" >&2
  echo "build: preset $preset failed; the whole log is $log" >&2
  exit 1
fi
