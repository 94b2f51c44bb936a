// Chooses the back end of an operator, and implements the public face of operators.
#include "gram/operator.hpp"

#include <chrono>

#include "gram/operator_auto.hpp"
#include "gram/operator_cpu.hpp"
#include "gram/operator_cuda.hpp"
#include "gram/vectors.hpp"

namespace stope {
namespace gram {

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
  explicit Impl(std::unique_ptr<gram::Operator> made) : made_(std::move(made)) {}
  gram::Operator& operator*() const { return *made_; }

  template <class Call>
  void timed(const Call& call) {
    const auto start = std::chrono::steady_clock::now();
    call(*made_);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  GramReport report() const {
    GramReport report = made_->report();
    report.seconds = seconds_;
    return report;
  }

 private:
  std::unique_ptr<gram::Operator> made_;
  double seconds_ = 0.0;
};

GramOperator::GramOperator(const MatrixView& matrix, const GramOptions& options, const RunOptions& run)
    : impl_(std::make_unique<Impl>(gram::make_operator(gram::make_row_source(matrix), options, run))) {}
GramOperator::~GramOperator() = default;
GramOperator::GramOperator(GramOperator&&) noexcept = default;
GramOperator& GramOperator::operator=(GramOperator&&) noexcept = default;

std::int64_t GramOperator::n_rows() const {
  return (**impl_).n_rows();
}
std::int64_t GramOperator::n_columns() const {
  return (**impl_).n_columns();
}
void GramOperator::multiply(std::span<const double> x, std::span<double> y) {
  impl_->timed([&](gram::Operator& by) { by.multiply(x, y); });
}
void GramOperator::multiply_transposed(std::span<const double> y, std::span<double> z) {
  impl_->timed([&](gram::Operator& by) { by.multiply_transposed(y, z); });
}
void GramOperator::gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) {
  impl_->timed([&](gram::Operator& by) { by.gram(x, z, n_vectors); });
}
GramReport GramOperator::report() const {
  return impl_->report();
}

}  // namespace stope
