// One pass over A on GPUs. Each GPU has some groups of rows and returns the sums of blocks of them. The aligned tree
// (gram/shape.hpp) joins the blocks, so that the number of GPUs changes no bit.
#include "gram/operator_cuda.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/checked.hpp"
#include "gram/gpu_rows.hpp"
#include "gram/shape.hpp"
#include "gram/vectors.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

// Blocks of groups that are divided among several GPUs: enough to share the work evenly, few enough for the CPU to add
// up.
constexpr std::int64_t kBlocks = 64;

std::vector<GroupRange> share_groups(std::int64_t n_groups, std::int64_t n_gpus) {
  const auto power = [](std::int64_t n) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  };
  const std::int64_t block = n_gpus == 1 ? power(n_groups) : power(checked::ceil_div(n_groups, kBlocks));
  const std::int64_t blocks = checked::ceil_div(n_groups, block);
  std::vector<GroupRange> shares;
  for (std::int64_t gpu = 0; gpu < n_gpus; ++gpu) {
    const std::int64_t first = blocks * gpu / n_gpus * block;
    const std::int64_t end = std::min(n_groups, blocks * (gpu + 1) / n_gpus * block);
    if (first < end) shares.push_back({first, end, block});
  }
  return shares;
}

class CudaOperator final : public Operator {
 public:
  CudaOperator(std::shared_ptr<const RowSource> rows, const GramOptions& options, const RunOptions& run,
               const device::BackendChoice& backend)
      : rows_(std::move(rows)),
        run_(run),
        backend_(backend),
        n_columns_(rows_->n_columns()),
        padded_(padded_columns(n_columns_)),
        n_groups_(gram::n_groups(rows_->n_rows(), n_columns_)),
        scale_(options.scale),
        threads_(run.threads > 0 ? run.threads : available_threads()) {
    const std::vector<GroupRange> shares = share_groups(n_groups_, static_cast<std::int64_t>(backend.gpus.size()));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      gpus_.push_back(std::make_unique<GpuRows>(backend.gpus[i], *rows_, shares[i],
                                                options.shift.empty() ? nullptr : options.shift.data(), 1, run));
    }
  }

  std::int64_t n_rows() const override { return rows_->n_rows(); }
  std::int64_t n_columns() const override { return n_columns_; }

  void multiply(std::span<const double> x, std::span<double> y) override {
    check_vector("x", x.size(), n_columns_, 1);
    check_vector("y", y.size(), n_rows(), 1);
    const std::vector<double> scaled = scaled_copy(x);
    const auto job_of = [&](const GpuRows&) {
      return cuda_abi::Job{cuda_abi::Mode::multiply, 1, scaled.data(), nullptr};
    };
    pass(job_of, [&](GpuRows& gpu, double*) { gpu.finish(y.data() + gpu.first_row(), nullptr); });
    for (double& value : y) value = finished(value);
  }

  void multiply_transposed(std::span<const double> y, std::span<double> z) override {
    check_vector("y", y.size(), n_rows(), 1);
    check_vector("z", z.size(), n_columns_, 1);
    const auto job_of = [&](const GpuRows& gpu) {
      return cuda_abi::Job{cuda_abi::Mode::transposed, 1, nullptr, y.data() + gpu.first_row()};
    };
    pass(job_of, [](GpuRows& gpu, double* sums) { gpu.finish(nullptr, sums); });
    write_z(z.data());
  }

  // Makes one pass per vector.
  void gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) override {
    check_vector("x", x.size(), n_columns_, n_vectors);
    check_vector("z", z.size(), n_columns_, n_vectors);
    for (std::int64_t v = 0; v < n_vectors; ++v) {
      const auto at = static_cast<std::size_t>(v * n_columns_);
      const std::vector<double> scaled = scaled_copy(x.subspan(at, static_cast<std::size_t>(n_columns_)));
      gram_of(scaled.data());
      write_z(z.data() + at);
    }
  }

  GramReport report() const override {
    GramReport report;
    report.backend = backend_.name;
    report.reason = backend_.reason;
    const bool resident = std::all_of(gpus_.begin(), gpus_.end(), [](const auto& gpu) { return gpu->resident(); });
    report.method = std::string(resident ? "rows stay on the GPU" : "rows are copied with every pass") + "; " +
                    std::to_string(gpus_.size()) + " sessions, " + std::to_string(n_groups_) + " groups";
    report.threads = threads_;
    report.passes = passes_;
    report.bytes = passes_ * n_rows() * n_columns_ * size_of(rows_->dtype());
    return report;
  }

 private:
  std::vector<double> scaled_copy(std::span<const double> x) const {
    std::vector<double> copy(x.begin(), x.end());
    for (std::size_t c = 0; c < scale_.size(); ++c) copy[c] *= scale_[c];
    return copy;
  }

  void gram_of(const double* x) {
    const auto job_of = [&](const GpuRows&) { return cuda_abi::Job{cuda_abi::Mode::gram, 1, x, nullptr}; };
    const bool replays =
        // With several GPUs, each would be waited for before the next begins.
        gpus_.size() == 1 && gpus_.front()->loaded();
    if (!replays) {
      pass(job_of, [](GpuRows& gpu, double* sums) { gpu.finish(nullptr, sums); });
      return;
    }
    run_.cancel.check();
    reserve_sums();
    gpus_.front()->replay(x, sums_.data());
    ++passes_;
  }

  void reserve_sums() {
    std::int64_t blocks = 0;
    for (const auto& gpu : gpus_) blocks += gpu->groups().n_blocks();
    if (sums_.size() < blocks * padded_) sums_ = Buffer<double>(checked::mul(blocks, padded_));
  }

  // All GPUs work at the same time: parts are queued on each in turn, and only then is any GPU waited for.
  template <class JobOf, class Finish>
  void pass(const JobOf& job_of, const Finish& finish) {
    reserve_sums();
    std::int64_t most_parts = 0;
    for (const auto& gpu : gpus_) {
      gpu->begin(job_of(*gpu));
      most_parts = std::max(most_parts, gpu->n_parts());
    }
    for (std::int64_t part = 0; part < most_parts; ++part) {
      for (const auto& gpu : gpus_) {
        run_.cancel.check();
        if (part < gpu->n_parts()) gpu->run(part, run_);
      }
    }
    double* to = sums_.data();
    for (const auto& gpu : gpus_) {
      finish(*gpu, to);
      to += gpu->groups().n_blocks() * padded_;
    }
    ++passes_;
  }

  // Adds the blocks of all GPUs, whose ranges follow one another, by the aligned tree.
  void write_z(double* z) {
    const std::int64_t block = gpus_.front()->groups().block, n = checked::ceil_div(n_groups_, block);
    for (std::int64_t step = 1; step < n; step *= 2) {
      for (std::int64_t i = 0; i + step < n; i += 2 * step) {
        double* const to = sums_.data() + i * padded_;
        const double* const from = to + step * padded_;
        for (std::int64_t c = 0; c < n_columns_; ++c) to[c] += from[c];
      }
    }
    for (std::int64_t c = 0; c < n_columns_; ++c) {
      const double sum = sums_[c];
      z[c] = finished(scale_.empty() ? sum : sum * scale_[static_cast<std::size_t>(c)]);
    }
  }

  std::shared_ptr<const RowSource> rows_;
  const RunOptions run_;
  const device::BackendChoice backend_;
  const std::int64_t n_columns_, padded_, n_groups_;
  const std::vector<double> scale_;
  const int threads_;  // that write rows to pinned memory, at most
  std::vector<std::unique_ptr<GpuRows>> gpus_;
  Buffer<double> sums_;  // [block][padded column]
  std::int64_t passes_ = 0;
};

}  // namespace

std::unique_ptr<Operator> make_cuda_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                             const RunOptions& run, const device::BackendChoice& backend) {
  return std::make_unique<CudaOperator>(std::move(rows), options, run, backend);
}

}  // namespace stope::gram
