// Work is counted over the operator's life. A matrix that is multiplied once stays on the CPU. One that is multiplied
// again and again moves to a GPU as soon as the products so far would have paid for the copy. Nobody knows how many
// will follow; this takes at most about twice the time of the better choice. Both sides have the same bits.
#include "gram/operator_auto.hpp"

#include <algorithm>
#include <cmath>

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

std::string text(double seconds) {
  return seconds < 1e-3 ? "under 1 ms" : std::to_string(std::llround(1e3 * seconds)) + " ms";
}

class AutoOperator final : public Operator {
 public:
  AutoOperator(std::shared_ptr<const RowSource> rows, const GramOptions& options, const RunOptions& run,
               std::int64_t n_expected)
      : rows_(std::move(rows)),
        options_(options),
        run_(run),
        backend_(device::choose_cpu_backend("")),
        n_expected_(n_expected),
        processor_(make_cpu_operator(rows_, options, run, backend_)),
        threads_(processor_->report().threads) {
    size_.n_rows = rows_->n_rows();
    size_.n_columns = rows_->n_columns();
    size_.element_bytes = bytes_of(rows_->dtype());
  }

  std::int64_t n_rows() const override { return rows_->n_rows(); }
  std::int64_t n_columns() const override { return rows_->n_columns(); }
  void multiply(std::span<const double> x, std::span<double> y) override {
    pass(1, [&](Operator& by) { by.multiply(x, y); });
  }
  void multiply_transposed(std::span<const double> y, std::span<double> z) override {
    pass(1, [&](Operator& by) { by.multiply_transposed(y, z); });
  }
  void gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) override {
    pass(n_vectors, [&](Operator& by) { by.gram(x, z, n_vectors); });
  }

  GramReport report() const override {
    GramReport report = (gpu_ ? gpu_ : processor_)->report();
    if (!reason_.empty()) report.reason = reason_;
    if (gpu_) {
      const GramReport before = processor_->report();
      report.passes += before.passes;
      report.bytes += before.bytes;
    }
    return report;
  }

 private:
  template <class Work>
  void pass(std::int64_t n_vectors, const Work& work) {
    n_vectors_ += n_vectors;
    most_at_once_ = std::max(most_at_once_, n_vectors);
    if ((gpu_ || pays()) && tried(work)) return;
    work(*processor_);
  }

  // Seconds of all products so far, or of those that the caller announced if they are more.
  double processor_total() const {
    const auto passes = static_cast<double>(std::max(n_vectors_, n_expected_)) / static_cast<double>(most_at_once_);
    return passes * processor_seconds(size_, backend_.backend, threads_, most_at_once_);
  }

  bool pays() {
    const double here = processor_total();
    if (given_up_ || (here < kWorthALook && !device::cuda_was_used())) return false;
    if (device::cuda().functions == nullptr) return false;
    RunOptions named = run_;
    named.device = "cuda";
    choice_ = device::choose_backend(named);
    const GpuInfo& gpu = device::cuda().gpus[static_cast<std::size_t>(choice_.gpus.front())];
    const double bytes = static_cast<double>(size_.n_rows) * static_cast<double>(size_.n_columns * size_.element_bytes);
    const double room = kShareForRows * static_cast<double>(gpu.memory_total);
    size_.resident = bytes <= (run_.memory_limit > 0 ? std::min(room, static_cast<double>(run_.memory_limit)) : room);
    size_.started = device::cuda_was_used();
    const double load = gpu_load_seconds(size_, gpu.arch);
    const double there = gpu_seconds(size_, gpu.arch, std::max(n_vectors_, n_expected_));
    reason_ = "auto: products for about " + text(here) + " on the processor, " + text(load + there) + " on the GPU";
    if (!gpu_pays(here, load, there)) return false;
    reason_ += ": " + gpu.name + ", " + gpu.arch;
    return true;
  }

  // Gives up a GPU that fails if nobody asked for it. The CPU then continues, from this product on.
  template <class Work>
  bool tried(const Work& work) {
    try {
      if (!gpu_) gpu_ = make_cuda_operator(rows_, options_, run_, choice_);
      work(*gpu_);
      return true;
    } catch (const Error& error) {
      reason_ = device::give_up_gpu(error, false);
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
  std::unique_ptr<Operator> processor_, gpu_;
  const int threads_;
  OperatorSize size_;
  std::int64_t n_vectors_ = 0, most_at_once_ = 1;
  device::BackendChoice choice_;
  std::string reason_;
  bool given_up_ = false;
};

}  // namespace

std::unique_ptr<Operator> make_auto_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                             const RunOptions& run, std::int64_t n_expected) {
  return std::make_unique<AutoOperator>(std::move(rows), options, run, n_expected);
}

}  // namespace stope::gram
