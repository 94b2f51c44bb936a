// Elementary functions with the same bits on every machine, compiler and device, and an error below 0.55 ulp.
//
// One platform's libm may round differently from another's, and CUDA's from both. A distance that calls it would break
// promises 1 and 2. These functions use only + - * / and square root of IEEE doubles, and integer arithmetic.
// docs/numerics/elementary.md has the methods and their errors. NaN results are always the bits 0x7ff8000000000000;
// errno and the floating-point flags mean nothing.
//
//   double log(double x)            natural logarithm
//   double exp(double x)
//   double pow(double x, double y)  special cases as in C99
//   double sin(double x)            radians, any finite x
//   double cos(double x)
//   double asin(double x)           NaN outside [-1, 1]
//   double acos(double x)
#pragma once

#include "base/exact_math/asin.hpp"    // IWYU pragma: export
#include "base/exact_math/exp.hpp"     // IWYU pragma: export
#include "base/exact_math/log.hpp"     // IWYU pragma: export
#include "base/exact_math/pow.hpp"     // IWYU pragma: export
#include "base/exact_math/sincos.hpp"  // IWYU pragma: export
