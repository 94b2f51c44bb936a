// The chi-square distribution, the same bits on every machine.
#pragma once

namespace stope::discretize {

/// P(X <= x) for X of chi-square distribution, degrees >= 1 a whole number, x >= 0. By the series of the incomplete
/// gamma function, all of whose terms are positive.
double chi_square_below(double x, double degrees);

/// The x with chi_square_below(x) = share, 0 < share < 1, to the last bits: found by halving.
double chi_square_quantile(double share, double degrees);

}  // namespace stope::discretize
