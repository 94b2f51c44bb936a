#include "discretize/cuda_cuts.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <span>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/sort_memory.hpp"
#include "discretize/stage_columns.hpp"
#include "discretize/value_order.hpp"
#include "stope/error.hpp"

namespace stope::discretize {
namespace {

using cuda_abi::Failure;
using device::checked_call;

// Large enough to hide launches, small enough for copies and computation to overlap. Pinned memory takes long to
// allocate; only the sort of long columns is worth more of it.
constexpr std::int64_t piece_bytes(std::int64_t n_rows) {
  return std::int64_t{n_rows <= cuda_abi::kShortRows ? 4 : 16} << 20;
}

const cuda_abi::Functions& functions() {
  return *device::plugin().discretize;
}

struct Destroy {
  void operator()(cuda_abi::Session* session) const {
    if (device::cuda_lives()) functions().destroy(session);
  }
};

// The GPU memory that pieces of n_columns columns take: for copies, and sorted and searched
// (discretize/cuda/long_cuts.hpp).
std::int64_t memory_of(const cuda_abi::Decisions& decisions, std::int64_t n_columns, std::int64_t value_bytes) {
  const std::int64_t n_rows = decisions.n_rows, values = checked::mul(n_rows, n_columns);
  const std::int64_t on_the_way = checked::add(checked::mul(values, cuda_abi::kSlots * value_bytes), n_rows);
  if (n_rows <= cuda_abi::kShortRows) return on_the_way;
  return on_the_way + sort_bytes(n_rows, n_columns, value_bytes) + checked::mul(values, 9) +
         search_bytes(n_rows, n_columns, decisions.n_classes);
}

// Columns of a piece, fewer where the memory is small. All GPUs use the same number, because they take pieces by
// number.
std::int64_t columns_of_piece(const cuda_abi::Decisions& decisions, std::int64_t n_columns, std::int64_t value_bytes,
                              const std::vector<int>& gpus, const RunOptions& run) {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const int gpu : gpus) most = std::min(most, device::usable_gpu_memory(gpu, run) / std::ranges::count(gpus, gpu));
  const auto fits = [&](std::int64_t n) {
    const std::int64_t pinned = std::ssize(gpus) * cuda_abi::kSlots * n * decisions.n_rows * value_bytes;
    return memory_of(decisions, n, value_bytes) <= most && (run.memory_limit <= 0 || pinned <= run.memory_limit);
  };
  const std::int64_t bytes = decisions.n_rows * value_bytes;
  std::int64_t n = std::clamp<std::int64_t>(piece_bytes(decisions.n_rows) / bytes, 1, n_columns);
  while (!fits(n) && n > 1) n /= 2;
  if (fits(n)) return n;
  throw Error(ErrorCode::out_of_memory, "the best cut of a column of " + std::to_string(decisions.n_rows) +
                                            " rows takes " + std::to_string(memory_of(decisions, 1, value_bytes)) +
                                            " bytes of GPU memory, but only " + std::to_string(most) +
                                            " can be used; device cpu takes less");
}

// Attributes of one type. Each GPU takes every n-th piece of them.
class Worker {
 public:
  Worker(const DecisionProblem& problem, const std::vector<std::int64_t>& attributes, std::vector<AttributeBest>& best,
         std::vector<std::int64_t>& open, std::int64_t of_piece, const RunOptions& run)
      : problem_(problem), attributes_(attributes), best_(best), open_(open), of_piece_(of_piece), run_(run) {}

  /// Returns the seconds that the GPU worked.
  double run(int gpu, const cuda_abi::Decisions& decisions, std::int64_t first, std::int64_t step) {
    const auto n = static_cast<std::int64_t>(attributes_.size());
    const std::int64_t bytes = bytes_of(problem_.attributes[static_cast<std::size_t>(attributes_[0])], problem_.n_rows);
    pool_ = std::make_unique<ThreadPool>(std::max(staging_threads(run_, bytes * n) / static_cast<int>(step), 1));
    cuda_abi::Session* made = nullptr;
    checked_call([&](Failure* failure) { return functions().create(gpu, &decisions, of_piece_, &made, failure); });
    session_.reset(made);
    cuts_.resize(static_cast<std::size_t>(of_piece_));
    const std::int64_t n_pieces = (n + of_piece_ - 1) / of_piece_;
    std::int64_t submitted = first;
    for (std::int64_t collected = first; collected < n_pieces; collected += step) {
      for (; submitted < n_pieces && submitted < collected + cuda_abi::kSlots * step; submitted += step) {
        run_.cancel.check();
        submit(submitted, slot_of(submitted, first, step));
      }
      collect(collected, slot_of(collected, first, step));
    }
    return gpu_seconds_;
  }

 private:
  static int slot_of(std::int64_t piece, std::int64_t first, std::int64_t step) {
    return static_cast<int>((piece - first) / step % cuda_abi::kSlots);
  }
  std::int64_t begin_of(std::int64_t piece) const { return piece * of_piece_; }
  std::int64_t end_of(std::int64_t piece) const {
    return std::min(begin_of(piece) + of_piece_, static_cast<std::int64_t>(attributes_.size()));
  }

  void submit(std::int64_t piece, int slot) {
    const std::int64_t n = end_of(piece) - begin_of(piece);
    stage_columns(
        problem_,
        std::span(attributes_).subspan(static_cast<std::size_t>(begin_of(piece)), static_cast<std::size_t>(n)), *pool_,
        functions().columns(session_.get(), slot));
    checked_call([&](Failure* failure) { return functions().submit(session_.get(), slot, n, failure); });
  }

  void collect(std::int64_t piece, int slot) {
    double seconds = 0.0;
    checked_call(
        [&](Failure* failure) { return functions().collect(session_.get(), slot, cuts_.data(), &seconds, failure); });
    gpu_seconds_ += seconds;
    for (std::int64_t i = begin_of(piece); i < end_of(piece); ++i) {
      const std::int64_t attribute = attributes_[static_cast<std::size_t>(i)];
      const cuda_abi::Cut& cut = cuts_[static_cast<std::size_t>(i - begin_of(piece))];
      if (cut.w == cuda_abi::kUndecided) {
        open_.push_back(attribute);
      } else if (cut.w > 0) {
        AttributeBest& best = best_[static_cast<std::size_t>(attribute)];
        best.found = true;
        best.worth.w = cut.w;
        best.cut = cut_between(cut.low, cut.high);
      }
    }
  }

  const DecisionProblem& problem_;
  const std::vector<std::int64_t>& attributes_;
  std::vector<AttributeBest>& best_;
  std::vector<std::int64_t>& open_;
  const std::int64_t of_piece_;
  const RunOptions& run_;
  double gpu_seconds_ = 0.0;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<cuda_abi::Session, Destroy> session_;
  std::vector<cuda_abi::Cut> cuts_;
};

}  // namespace

const char* why_not_on_gpu(const DecisionProblem& problem, Criterion criterion, std::int64_t n_permutations) {
  if (criterion != Criterion::discernibility) return "GPUs look for cuts by discernibility only";
  if (problem.weighted) return "GPUs look for cuts without weights only";
  if (problem.n_rows > kMostGpuRows) return "GPUs look for cuts in fewer than 2^30 rows";
  if (n_permutations > 0) return "only the CPU computes permutations";
  return n_present_classes(problem) > kMostGpuClasses ? "GPUs take up to 256 classes" : nullptr;
}

std::vector<std::int64_t> best_cuts_on_gpus(const DecisionProblem& problem, const std::vector<int>& gpus,
                                            const RunOptions& run, std::vector<AttributeBest>& best,
                                            double& gpu_seconds) {
  std::vector<std::int64_t> open, floats, doubles;
  for (std::int64_t a = 0; a < problem.n_attributes(); ++a) {
    const Attribute& attribute = problem.attributes[static_cast<std::size_t>(a)];
    const bool is_float = std::holds_alternative<Buffer<float>>(attribute.data);
    (attribute.symbolic ? open : is_float ? floats : doubles).push_back(a);
  }
  if (problem.pure()) return open;  // no cut separates anything
  device::note_cuda_use();
  const PresentClasses classes(problem);
  const auto n = static_cast<std::int64_t>(gpus.size());
  std::vector<std::vector<std::int64_t>> opened(gpus.size());
  std::vector<double> seconds(gpus.size(), 0.0);
  ThreadPool pool(static_cast<int>(n));
  for (const auto& of_type : {std::pair{&floats, cuda_abi::Type::float32}, {&doubles, cuda_abi::Type::float64}}) {
    const std::vector<std::int64_t>& attributes = *of_type.first;
    if (attributes.empty()) continue;
    const cuda_abi::Decisions decisions = {classes.of_row.data(), classes.totals.data(), classes.n_rows(), classes.n(),
                                           of_type.second};
    const std::int64_t value_bytes = of_type.second == cuda_abi::Type::float32 ? 4 : 8;
    const std::int64_t of_piece = columns_of_piece(decisions, std::ssize(attributes), value_bytes, gpus, run);
    pool.parallel_for(n, run.cancel, [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      seconds[at] += Worker(problem, attributes, best, opened[at], of_piece, run).run(gpus[at], decisions, i, n);
    });
  }
  for (const double of_gpu : seconds) gpu_seconds += of_gpu;
  for (const auto& more : opened) open.insert(open.end(), more.begin(), more.end());
  return open;
}

}  // namespace stope::discretize
