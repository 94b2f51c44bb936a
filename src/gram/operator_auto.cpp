// Work is counted over the operator's life. A matrix that is multiplied once stays on the CPU. One that is multiplied
// again and again moves to a GPU as soon as the products so far would have paid for the copy. Nobody knows how many
// will follow; this takes at most about twice the time of the better choice. Both sides have the same bits.
#include "gram/operator_auto.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "gram/auto_device.hpp"
#include "gram/operator_cpu.hpp"
#include "gram/operator_cuda.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

// The share of the GPU's memory that rows may take. The driver and the sums need the rest.
constexpr double kShareForRows = 0.8;

class AutoOperator final : public Operator {
 public:
  AutoOperator(std::shared_ptr<const RowSource> rows, const GramOptions& options, const RunOptions& run,
               std::int64_t n_expected)
      : rows_(std::move(rows)),
        options_(options),
        run_(run),
        backend_(device::choose_cpu_backend("")),
        n_expected_(n_expected),
        cpu_(make_cpu_operator(rows_, options, run, backend_)),
        threads_(cpu_->report().threads) {
    size_.n_rows = rows_->n_rows();
    size_.n_columns = rows_->n_columns();
    size_.element_bytes = size_of(rows_->dtype());
  }

  std::int64_t n_rows() const override { return rows_->n_rows(); }
  std::int64_t n_columns() const override { return rows_->n_columns(); }
  void multiply(std::span<const double> x, std::span<double> y) override {
    pass(1, 1, [&](Operator& by) { by.multiply(x, y); });
  }
  void multiply_transposed(std::span<const double> y, std::span<double> z) override {
    pass(1, 1, [&](Operator& by) { by.multiply_transposed(y, z); });
  }
  void gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) override {
    pass(n_vectors, n_vectors, [&](Operator& by) { by.gram(x, z, n_vectors); });
  }

  void residual(std::span<const double> x, const Target& target, std::span<double> z, std::span<double> r) override {
    pass(2, 1, [&](Operator& by) { by.residual(x, target, z, r); });
  }
  void outer(std::span<const double> y, std::span<double> z, std::span<double> image) override {
    pass(2, 1, [&](Operator& by) { by.outer(y, z, image); });
  }

  GramReport report() const override {
    GramReport report = (gpu_ ? gpu_ : cpu_)->report();
    report.device_reason = given_up_ ? why_given_up_ : decision_.reason();
    if (gpu_) {
      const GramReport before = cpu_->report();
      report.passes += before.passes;
      report.bytes += before.bytes;
    }
    return report;
  }

 private:
  template <class Work>
  void pass(std::int64_t n_vectors, std::int64_t n_at_once, const Work& work) {
    n_vectors_ += n_vectors;
    most_at_once_ = std::max(most_at_once_, n_at_once);
    if ((gpu_ || pays()) && tried(work)) return;
    work(*cpu_);
  }

  // Seconds of all products so far, or of those that the caller announced if they are more.
  double cpu_total() const {
    const auto passes = static_cast<double>(std::max(n_vectors_, n_expected_)) / static_cast<double>(most_at_once_);
    return passes * cpu_seconds(size_, backend_.backend, threads_, most_at_once_);
  }
  double gpu_total(const GpuInfo& gpu) {
    const double bytes = static_cast<double>(size_.n_rows) * static_cast<double>(size_.n_columns * size_.element_bytes);
    const double room = kShareForRows * static_cast<double>(gpu.memory_total);
    size_.resident = bytes <= (run_.memory_limit > 0 ? std::min(room, static_cast<double>(run_.memory_limit)) : room);
    return gpu_load_seconds(size_) + gpu_seconds(size_, std::max(n_vectors_, n_expected_));
  }

  bool pays() {
    if (given_up_) return false;
    const double on_cpu = cpu_total();
    decision_ =
        device::decide({on_cpu, 0.0}, [&](const GpuInfo& gpu) -> device::Offer { return {on_cpu, gpu_total(gpu)}; });
    return decision_.gpu != nullptr;
  }

  // Gives up a GPU that fails if nobody asked for it. The CPU then continues, from this product on.
  template <class Work>
  bool tried(const Work& work) {
    try {
      if (!gpu_) gpu_ = make_cuda_operator(rows_, options_, run_, choice_of(decision_, backend_));
      work(*gpu_);
      return true;
    } catch (const Error& error) {
      why_given_up_ = device::give_up_gpu(error, false);
      given_up_ = true;
      gpu_.reset();
      return false;
    }
  }

  std::shared_ptr<const RowSource> rows_;
  const GramOptions options_;
  const RunOptions run_;
  const device::BackendChoice backend_;
  const std::int64_t n_expected_;
  std::unique_ptr<Operator> cpu_, gpu_;
  const int threads_;
  OperatorSize size_;
  std::int64_t n_vectors_ = 0, most_at_once_ = 1;
  device::Decision decision_ = device::decide_for_cpu("nothing was multiplied yet");
  std::string why_given_up_;
  bool given_up_ = false;
};

}  // namespace

std::unique_ptr<Operator> make_auto_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                             const RunOptions& run, std::int64_t n_expected) {
  return std::make_unique<AutoOperator>(std::move(rows), options, run, n_expected);
}

}  // namespace stope::gram
