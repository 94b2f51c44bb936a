#!/usr/bin/env bash
# Compiles the headers with formulas for host and device as device code, with clang alone: no CUDA toolkit is needed.
#   scripts/check_device_headers.sh [HEADER...]     default: the list below
# It finds what a CUDA compiler would refuse: a call of a host function (std::sqrt, a helper without STOPE_HD), an
# exception, a table that the device cannot read. Templates are checked as far as the headers instantiate them.
# STOPE_CLANG names the compiler (default clang++-19).
set -euo pipefail
cd "$(dirname "$0")/.."
clang=${STOPE_CLANG:-clang++-19}
command -v "$clang" >/dev/null || { echo "check_device_headers: no $clang; run scripts/bootstrap.sh" >&2; exit 2; }
if [ $# -gt 0 ]; then
  headers=("$@")
else
  shopt -s nullglob
  headers=(src/base/exact_math.hpp src/knn/vote/rule.hpp src/knn/measure/formulas/*.hpp
           src/discretize/value_order.hpp src/discretize/score.hpp)
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# __host__ is empty on purpose. In a function for both sides clang reports a call of a host function only if it emits
# the function; in a device function it reports the call at once, used or not.
cat >"$work/preamble.cuh" <<'PREAMBLE'
#define __host__
#define __device__ __attribute__((device))
__device__ inline double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
__device__ inline double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
__device__ inline double __ddiv_rn(double a, double b) { return __nvvm_div_rn_d(a, b); }
__device__ inline double __dsqrt_rn(double a) { return __nvvm_sqrt_rn_d(a); }
PREAMBLE

# device_code NAME FLAGS...: compiles $work/NAME.cu to $work/NAME.ptx.
device_code() {
  local name=$1
  shift
  if ! "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_90 -nocudainc -nocudalib -S -std=c++20 -Wall -Wextra \
    -Werror -Iinclude -Isrc -include "$work/preamble.cuh" "$@" -o "$work/$name.ptx" "$work/$name.cu" 2>"$work/log"; then
    cat "$work/log" >&2
    echo "check_device_headers: does not compile for the device ($name.cu of ${#headers[@]} headers)" >&2
    exit 1
  fi
}

for header in "${headers[@]}"; do
  [ -f "$header" ] || { echo "check_device_headers: no such file: $header" >&2; exit 2; }
  printf '#include "%s"\n' "$(realpath "$header")"
done >"$work/headers.cu"
# Inline functions that nothing calls reach the code generator only with -femit-all-decls and without the optimiser.
device_code headers -O1 -ffp-contract=off -Xclang -femit-all-decls -Xclang -disable-llvm-passes

# stope::math must keep its bits under any flags (promise 1): nothing may fuse even if the compiler is told to.
cat >"$work/math.cu" <<'MATH'
#include "base/exact_math.hpp"
__device__ void every_function(double x, double y, double* out) {
  out[0] = stope::math::log(x), out[1] = stope::math::exp(x), out[2] = stope::math::pow(x, y);
  out[3] = stope::math::sin(x), out[4] = stope::math::cos(x);
  out[5] = stope::math::asin(x), out[6] = stope::math::acos(x);
}
MATH
device_code math -O3 -ffp-contract=fast
if ! grep -q 'mul\.rn\.f64' "$work/math.ptx" || grep -q 'fma\.' "$work/math.ptx"; then
  echo "check_device_headers: the device code of stope::math holds fused multiply-adds" >&2
  exit 1
fi
echo "check_device_headers: ${#headers[@]} headers compile for the device"
