#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json: scripts/build.sh PRESET [TARGET...]. Quiet unless it fails.
# STOPE_CUDA=AUTO|ON|OFF, if set, says whether the CUDA plug-in is built (cmake/StopeCuda.cmake), STOPE_CUDA_ARCHS for
# which GPUs, and STOPE_FILES whether the plug-in for files is (cmake/StopeFiles.cmake). STOPE_TESTS=ON|OFF, if set, says
# whether the tests are built, and STOPE_TEST_PROGRAMS which of them (cmake/StopeTargets.cmake; all if it is not set).
# STOPE_QUICK, if set, lists what stays unoptimised, and STOPE_JOIN=ON|TESTS|OFF says which sources are compiled several
# at a time. STOPE_JVM=ON|OFF, if set, says whether the JVM binding's library is built; else it is where there is a JDK,
# but not with a sanitizer. STOPE_PYTHON=ON|OFF, if set, says whether the Python package's module is built.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
log=build/$preset.log
mkdir -p build
# Suites that run side by side ask for the same folder: the second waits.
exec 9>"build/$preset.lock"
! command -v flock >/dev/null || flock 9
jvm=${STOPE_JVM:-}
case $preset in
  asan | tsan) ;;
  *) [ -n "$jvm" ] || ! ls "${JAVA_HOME:-/nowhere}"/include/jni.h /usr/lib/jvm/*/include/jni.h >/dev/null 2>&1 || jvm=ON ;;
esac
if ! { cmake --preset "$preset" ${STOPE_CUDA:+-DSTOPE_CUDA="$STOPE_CUDA"} ${STOPE_CUDA_ARCHS:+-DSTOPE_CUDA_ARCHS="$STOPE_CUDA_ARCHS"} \
  ${STOPE_FILES:+-DSTOPE_FILES="$STOPE_FILES"} ${STOPE_TESTS:+-DSTOPE_BUILD_TESTS="$STOPE_TESTS"} \
  -DSTOPE_TEST_PROGRAMS="${STOPE_TEST_PROGRAMS:-}" ${STOPE_QUICK+-DSTOPE_QUICK="$STOPE_QUICK"} ${STOPE_JOIN:+-DSTOPE_JOIN="$STOPE_JOIN"} \
  ${jvm:+-DSTOPE_BUILD_JVM="$jvm"} ${STOPE_PYTHON:+-DSTOPE_BUILD_PYTHON="$STOPE_PYTHON"} &&
  cmake --build "build/$preset" -j "${STOPE_JOBS:-$(nproc)}" ${1:+--target "$@"}; } \
  >"$log" 2>&1 9>&-; then
  grep -m 40 -E -A 4 'error:|Error|FAILED' "$log" >&2 || tail -n 40 "$log" >&2
  echo "build: preset $preset failed; the whole log is $log" >&2
  exit 1
fi
