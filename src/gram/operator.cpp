// Chooses the back end of an operator, and implements the public face of operators.
#include "gram/operator.hpp"

#include <algorithm>
#include <chrono>

#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "gram/operator_auto.hpp"
#include "gram/operator_cpu.hpp"
#include "gram/operator_cuda.hpp"
#include "gram/vectors.hpp"

namespace stope {
namespace gram {

void Operator::residual(std::span<const double> x, const Target& target, std::span<double> z, std::span<double> r) {
  std::vector<double> y(static_cast<std::size_t>(n_rows()));
  multiply(x, y);
  subtract_from(target, 0, y);
  std::copy_n(y.begin(), r.size(), r.begin());
  multiply_transposed(y, z);
}

void Operator::outer(std::span<const double> y, std::span<double> z, std::span<double> image) {
  multiply_transposed(y, z);
  multiply(z, image);
}

std::unique_ptr<Operator> make_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                        const RunOptions& run, std::int64_t n_expected) {
  check_options(options, rows->n_columns());
  if (device::is_automatic(run)) return make_auto_operator(std::move(rows), options, run, n_expected);
  const device::BackendChoice backend = device::choose_backend(run);
  if (backend.backend == device::Backend::cuda) return make_cuda_operator(std::move(rows), options, run, backend);
  return make_cpu_operator(std::move(rows), options, run, backend);
}

}  // namespace gram

class GramOperator::Impl {
 public:
  Impl(std::unique_ptr<gram::Operator> made, const RunOptions& run) : made_(std::move(made)), run_(run) {}
  gram::Operator& operator*() const { return *made_; }

  template <class Call>
  void timed(const Call& call) {
    const auto start = std::chrono::steady_clock::now();
    PhaseProgress phase(run_, "multiply", 0, n_tasks_);
    call(*made_);
    n_tasks_ = phase.done();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  GramReport report() const {
    GramReport report = made_->report();
    report.seconds = seconds_;
    return report;
  }

 private:
  std::unique_ptr<gram::Operator> made_;
  RunOptions run_;
  double seconds_ = 0.0;
  std::int64_t n_tasks_ = 0;  // of the products before, for progress
};

GramOperator::GramOperator(const ArrayView& matrix, const GramOptions& options, const RunOptions& run) try
    : impl_(std::make_unique<Impl>(
          gram::make_operator(gram::make_row_source(matrix, gram::Reads::afterwards, run), options, run), run)) {
} catch (...) {
  rethrow_as_error();
}
GramOperator::~GramOperator() = default;
GramOperator::GramOperator(GramOperator&&) noexcept = default;
GramOperator& GramOperator::operator=(GramOperator&&) noexcept = default;

std::int64_t GramOperator::n_rows() const {
  return (**impl_).n_rows();
}
std::int64_t GramOperator::n_columns() const {
  return (**impl_).n_columns();
}
void GramOperator::multiply(std::span<const double> x, std::span<double> y) try {
  impl_->timed([&](gram::Operator& by) { by.multiply(x, y); });
} catch (...) {
  rethrow_as_error();
}
void GramOperator::multiply_transposed(std::span<const double> y, std::span<double> z) try {
  impl_->timed([&](gram::Operator& by) { by.multiply_transposed(y, z); });
} catch (...) {
  rethrow_as_error();
}
void GramOperator::gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) try {
  impl_->timed([&](gram::Operator& by) { by.gram(x, z, n_vectors); });
} catch (...) {
  rethrow_as_error();
}
GramReport GramOperator::report() const try { return impl_->report(); } catch (...) {
  rethrow_as_error();
}

}  // namespace stope
