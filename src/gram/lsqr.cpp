// C. C. Paige, M. A. Saunders: LSQR, ACM Transactions on Mathematical Software 8 (1982). The names are the paper's.
#include "gram/lsqr.hpp"

#include <cmath>

#include "base/progress.hpp"
#include "gram/orthogonal.hpp"

namespace stope::gram {
namespace {

double length_of(const std::vector<double>& v) {
  return norm(v.data(), static_cast<std::int64_t>(v.size()));
}

void divide(std::vector<double>& v, double by) {
  for (double& x : v) x /= by;
}

}  // namespace

LsqrResult lsqr(const LsqrProblem& problem, const std::vector<double>& b, double tolerance, std::int64_t max_steps,
                const RunOptions& run) {
  LsqrResult result;
  result.x.assign(static_cast<std::size_t>(problem.n_columns), 0.0);
  std::vector<double> u = b, v(result.x.size()), image(u.size()), back(v.size());
  double beta = length_of(u);
  const double length_b = beta;
  result.converged = true;
  if (beta == 0.0) return result;
  divide(u, beta);
  problem.multiply_transposed(u, v);
  double alpha = length_of(v);
  if (alpha == 0.0) return result;
  divide(v, alpha);
  std::vector<double> w = v;
  double phi_bar = beta, rho_bar = alpha, squares = 0.0;
  while (result.steps < max_steps) {
    run.cancel.check();
    ++result.steps;
    tell_progress(run, "steps", result.steps, 0);  // how many are needed is not known
    // The next step of the bidiagonalisation: beta u = A v - alpha u, alpha v = A^T u - beta v.
    problem.multiply(v, image);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = image[i] - alpha * u[i];
    beta = length_of(u);
    squares += alpha * alpha + beta * beta;  // the squared Frobenius norm of what was seen of A
    if (beta > 0.0) divide(u, beta);
    problem.multiply_transposed(u, back);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = back[i] - beta * v[i];
    alpha = length_of(v);
    if (alpha > 0.0) divide(v, alpha);
    // The next plane rotation of its QR factorisation.
    const double rho = std::hypot(rho_bar, beta), c = rho_bar / rho, s = beta / rho;
    const double theta = s * alpha, phi = c * phi_bar;
    rho_bar = -c * alpha;
    phi_bar = s * phi_bar;
    for (std::size_t i = 0; i < w.size(); ++i) {
      result.x[i] += phi / rho * w[i];
      w[i] = v[i] - theta / rho * w[i];
    }
    // |r| = phi_bar and |A^T r| = phi_bar alpha |c|: the angle needs no products.
    result.angle = alpha * std::fabs(c) / std::sqrt(squares);
    if (phi_bar <= tolerance * length_b) result.angle = std::min(result.angle, phi_bar / length_b);
    if (result.angle <= tolerance) return result;
  }
  result.converged = false;
  return result;
}

}  // namespace stope::gram
