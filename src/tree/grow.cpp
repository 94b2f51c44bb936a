// Chooses the implementation that grows (tree/grow.hpp).
#include "tree/grow.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/thread_pool.hpp"
#include "device/auto_gpu.hpp"
#include "device/backend.hpp"
#include "discretize/auto_device.hpp"
#include "discretize/column_network.hpp"
#include "discretize/stage_columns.hpp"
#include "stope/error.hpp"
#include "tree/cuda_abi.hpp"
#include "tree/grow_cuda.hpp"

namespace stope::tree {
namespace {

// Measured: bench/discretize_gpu.py ("processor" and "call"; 16 threads with AVX-512, an H200), rounded.

// Seconds that threads take to sort a column's values and to split it level after level, one thread per column. Gains
// take longer than W: 2.3 to 6.5 times by Gini, 1.9 to 3.9 times by entropy of 2 to 5 classes; more classes are a
// guess.
double growth_seconds(std::int64_t n_rows, std::int64_t n_columns, Criterion criterion, std::int64_t n_classes,
                      int threads) {
  const double times = criterion == Criterion::discernibility ? 1.0
                       : criterion == Criterion::gini         ? 4.0
                                                              : 2.5 + 0.05 * static_cast<double>(n_classes);
  const double value =
      times * (n_rows <= discretize::kNetworkRows ? 75e-9 : 25e-9 * std::log2(static_cast<double>(n_rows)));
  return value * static_cast<double>(n_rows) * static_cast<double>(n_columns) /
         static_cast<double>(std::min<std::int64_t>(threads, n_columns));
}

// Seconds that a GPU takes to grow a tree, level after level: little depends on the table but whether it is short.
double gpu_growth_seconds(std::int64_t n_rows) {
  return n_rows <= cuda_abi::kShortRows ? 1e-3 : 5e-3;
}

// Seconds per row of a long table that the CPU works even where a GPU grows the tree: it makes the nodes.
constexpr double kRowSeconds = 100e-9;

// Decides under --device auto. `why_not` says what GPUs lack for the job, or is null.
device::Decision decide(const discretize::DecisionProblem& problem, const GrowOptions& options, const char* why_not,
                        const RunOptions& run) {
  if (why_not != nullptr) return device::decide_for_cpu(why_not);
  std::int64_t bytes = 0;
  for (const auto form : problem.forms) bytes += discretize::bytes_of(form, problem.n_rows);
  const std::int64_t n_columns = problem.n_attributes();
  if (n_columns == 0 || problem.pure() || options.max_depth == 0) return device::decide_for_cpu("the tree is one leaf");
  const int threads = run.threads > 0 ? run.threads : available_threads();
  const double rows = kRowSeconds * static_cast<double>(problem.n_rows);
  return device::decide(
      {growth_seconds(problem.n_rows, n_columns, options.criterion, problem.n_classes(), threads) + rows,
       discretize::gpu_call_seconds(bytes, problem.n_rows) + gpu_growth_seconds(problem.n_rows) + rows});
}

Grown with_backend(Grown grown, const device::BackendChoice& by, const std::string& device_reason) {
  grown.report.backend = by.name;
  grown.report.reason = by.reason;
  grown.report.device_reason = device_reason;
  return grown;
}

}  // namespace

Grown grow(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run) {
  const device::BackendChoice choice = device::choose_backend(run);
  const bool named = choice.backend == device::Backend::cuda;
  const char* const why_not = why_not_on_gpu(problem);
  if (named && why_not != nullptr) {
    throw Error(ErrorCode::unsupported, std::string(why_not) + ": device auto or cpu computes it",
                {.option = "device"});
  }
  const device::BackendChoice chosen =
      device::is_automatic(run) ? choice_of(decide(problem, options, why_not, run), choice) : choice;
  std::string device_reason = chosen.device_reason;
  if (!chosen.gpus.empty()) {
    try {
      return with_backend(grow_cuda(problem, options, run, chosen.gpus), chosen, device_reason);
    } catch (const Error& error) {
      device_reason = device::give_up_gpu(error, named);
    }
  }
  return with_backend(grow_cpu(problem, options, run), choice, device_reason);
}

}  // namespace stope::tree
