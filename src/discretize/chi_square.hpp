// The chi-square distribution, with the same bits on every machine.
#pragma once

namespace stope::discretize {

/// P(X <= x) for X of chi-square distribution, degrees >= 1 a whole number, x >= 0. It is computed by the series of the
/// incomplete gamma function, whose terms are all positive.
double chi_square_below(double x, double degrees);

/// The x with chi_square_below(x) = share, 0 < share < 1. It is found by halving, down to the last bits.
double chi_square_quantile(double share, double degrees);

}  // namespace stope::discretize
