#include "gram/dense.hpp"

#include <cmath>
#include <memory>
#include <string_view>

#include "base/progress.hpp"

namespace stope::gram {
namespace {

// What a decomposition on this thread does now and then: it polls the cancel token, and tells.
class Watch {
 public:
  explicit Watch(const CancelToken& cancel) : cancel_(cancel), outer_(current) { current = this; }
  virtual ~Watch() { current = outer_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void poll() {
    if (stopped_) return;  // what is on its way out runs destructors, which must not throw
    if (cancel_.cancelled()) {
      stopped_ = true;
      cancel_.check();
    }
    constexpr std::int64_t kTell = 16;  // a few columns
    if (++n_polls_ % kTell != 0) return;
    stopped_ = true;  // unless the callback returns
    tell();
    stopped_ = false;
  }

  static inline thread_local Watch* current = nullptr;

 private:
  virtual void tell() {}

  const CancelToken& cancel_;
  Watch* outer_;
  bool stopped_ = false;
  std::int64_t n_polls_ = 0;
};

// A poll may throw, and not every place of Eigen's can bear that: its matrices free their memory before they ask for
// more, and JacobiSVD makes members anew where they lie. Taking a block of a matrix is a safe place: nothing is being
// allocated, made or destroyed there. Every step takes one.
inline void poll_in_eigen(std::string_view function) {
  if (function == "Block" && Watch::current != nullptr) Watch::current->poll();
}

}  // namespace
}  // namespace stope::gram

// Eigen polls nothing, and a decomposition takes minutes. But it makes assertions at every step: before every column
// and every rotation. They hold here, so the polls take their place.
#define eigen_assert(condition) ::stope::gram::poll_in_eigen(__func__)
// Eigen asks the CPU for the sizes of its caches, and blocks its sums by them. With fixed sizes and one thread, its
// results depend on the matrix alone. This file is compiled with hidden symbols, and its Eigen has a name of its own:
// another copy in the same program, compiled in another way, cannot take the place of these functions.
#define Eigen StopeEigen
#define EIGEN_NO_CPUID
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_MPL2_ONLY
#include <Eigen/Dense>
#include <algorithm>
#include <limits>

#include "stope/error.hpp"

namespace stope::gram {
namespace {

using Matrix = Eigen::MatrixXd;
using MatrixMap = Eigen::Map<Matrix>;
using ConstMatrixMap = Eigen::Map<const Matrix>;

constexpr double kNotYet = std::numeric_limits<double>::quiet_NaN();

// The solver, with a view of how far it is. Coefficients of reflections are final up to the column being reduced; those
// behind are its work space. There is no subdiagonal before all columns are reduced. Then eigenvalues settle from the
// last to the first: the entry beside one becomes zero.
class Solver : public Eigen::SelfAdjointEigenSolver<Matrix> {
 public:
  explicit Solver(std::int64_t n) : SelfAdjointEigenSolver(n) {
    m_hcoeffs.setConstant(kNotYet);
    before_.assign(static_cast<std::size_t>(m_hcoeffs.size()), kNotYet);
    m_subdiag.setConstant(kNotYet);
  }
  std::int64_t size() const { return m_subdiag.size(); }
  bool is_tridiagonal() const { return !std::isnan(m_subdiag.data()[0]); }
  /// Columns that were reduced at the call before; 0 where nothing has changed since.
  std::int64_t n_reduced() {
    const double* const now = m_hcoeffs.data();
    const auto changed = std::mismatch(before_.begin(), before_.end(), now).first;
    if (changed == before_.end()) return 0;  // the same column is under way
    const std::int64_t n = changed - before_.begin();
    std::copy_n(now, before_.size(), before_.begin());
    return n;
  }
  bool is_settled(std::int64_t value) const { return m_subdiag.data()[value] == 0.0; }

 private:
  std::vector<double> before_;  // the coefficients
};

class EigenWatch final : public Watch {
 public:
  EigenWatch(Solver& solver, const CancelToken& cancel, const RunOptions* told)
      : Watch(cancel), solver_(solver), told_(told) {
    if (told_ != nullptr) phase_ = std::make_unique<PhaseProgress>(*told_, "tridiagonal form", solver_.size());
  }
  void finish() {
    if (!phase_) return;
    if (!settling_) settle();
    tell_done(solver_.size());
  }

 private:
  void tell_done(std::int64_t n) {
    if (phase_) phase_->reach(n);
  }
  void settle() {
    tell_done(solver_.size());
    phase_.reset();
    phase_ = std::make_unique<PhaseProgress>(*told_, "eigenvalues", solver_.size());
    settling_ = true;
    n_done_ = 0;
  }
  void tell() override {
    if (!phase_) return;
    const std::int64_t n = solver_.size();
    if (!settling_ && solver_.is_tridiagonal()) settle();
    if (settling_) {
      while (n_done_ < n && solver_.is_settled(n - 1 - n_done_)) ++n_done_;
    } else {
      n_done_ = std::max(n_done_, std::min(solver_.n_reduced(), n));
    }
    phase_->reach(n_done_);
  }

  Solver& solver_;
  const RunOptions* told_;
  std::unique_ptr<PhaseProgress> phase_;
  bool settling_ = false;
  std::int64_t n_done_ = 0;
};

}  // namespace

void symmetric_eigen(std::int64_t n, double* matrix, std::vector<double>& values, const CancelToken& cancel,
                     const RunOptions* told) {
  values.assign(static_cast<std::size_t>(n), 0.0);
  if (n == 0) return;
  MatrixMap map(matrix, n, n);
  Solver solver(n);
  {
    EigenWatch watch(solver, cancel, n > 1 ? told : nullptr);
    solver.compute(map);
    watch.finish();
  }
  if (solver.info() != Eigen::Success) {
    throw Error(ErrorCode::internal,
                "the eigenvalues of a " + std::to_string(n) + " x " + std::to_string(n) + " matrix did not converge");
  }
  for (std::int64_t i = 0; i < n; ++i) {
    values[static_cast<std::size_t>(i)] = solver.eigenvalues()[n - 1 - i];
    map.col(i) = solver.eigenvectors().col(n - 1 - i);
  }
}

void upper_triangle(std::int64_t m, std::int64_t n, double* columns, double* r, const CancelToken& cancel) {
  const Watch watch(cancel);
  MatrixMap map(columns, m, n);
  Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(map);
  MatrixMap out(r, n, n);
  out.setZero();
  const std::int64_t rows = std::min(m, n);
  out.topRows(rows) = map.topRows(rows).triangularView<Eigen::Upper>();
}

void right_singular_vectors(std::int64_t n, const double* matrix, std::vector<double>& values, double* vectors,
                            const CancelToken& cancel) {
  values.assign(static_cast<std::size_t>(n), 0.0);
  if (n == 0) return;
  const Watch watch(cancel);
  const ConstMatrixMap map(matrix, n, n);
  const Eigen::BDCSVD<Matrix> svd(map, Eigen::ComputeFullV);
  if (svd.info() != Eigen::Success) {
    throw Error(ErrorCode::internal, "the singular values of a " + std::to_string(n) + " x " + std::to_string(n) +
                                         " matrix did not converge");
  }
  for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = svd.singularValues()[i];
  MatrixMap(vectors, n, n) = svd.matrixV();
}

double cholesky(std::int64_t n, double* matrix, const CancelToken& cancel) {
  const Watch watch(cancel);
  MatrixMap map(matrix, n, n);
  const Eigen::LLT<Eigen::Ref<Matrix>> factorisation(map);
  if (factorisation.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
  Matrix inverse = Matrix::Identity(n, n);
  map.triangularView<Eigen::Lower>().solveInPlace(inverse);
  return inverse.squaredNorm();
}

void solve_cholesky(std::int64_t n, const double* factor, double* x) {
  const ConstMatrixMap map(factor, n, n);
  Eigen::Map<Eigen::VectorXd> vector(x, n);
  map.triangularView<Eigen::Lower>().solveInPlace(vector);
  map.triangularView<Eigen::Lower>().transpose().solveInPlace(vector);
}

}  // namespace stope::gram
