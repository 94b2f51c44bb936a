#include "discretize/cuda_cuts.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <memory>
#include <span>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "device/auto_gpu.hpp"
#include "device/cuda_plugin.hpp"
#include "device/staging.hpp"
#include "device/staging_threads.hpp"
#include "discretize/column_network.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/gpu_scores.hpp"
#include "discretize/permuted_classes.hpp"
#include "discretize/permuted_memory.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/score.hpp"
#include "discretize/scorer.hpp"
#include "discretize/sort_memory.hpp"
#include "discretize/stage_columns.hpp"
#include "discretize/value_order.hpp"
#include "stope/error.hpp"

namespace stope::discretize {
namespace {

using cuda_abi::Failure;
using device::checked_call;

const cuda_abi::Functions& functions() {
  return *device::plugin().discretize;
}

struct Destroy {
  void operator()(cuda_abi::Session* session) const {
    if (device::cuda_lives()) functions().destroy(session);
  }
};

// The GPU memory that pieces of n_columns columns take: for copies, and sorted and searched
// (discretize/cuda/long_cuts.hpp), under permutations as well (discretize/cuda/permutations.hpp).
std::int64_t memory_of(const cuda_abi::Decisions& decisions, std::int64_t n_columns, std::int64_t value_bytes) {
  const std::int64_t n_rows = decisions.n_rows, values = checked::mul(n_rows, n_columns);
  const std::int64_t on_the_way = checked::add(checked::mul(values, cuda_abi::kSlots * value_bytes), n_rows) +
                                  permuted_bytes(n_rows, n_columns, decisions.n_classes, decisions.n_permutations) +
                                  information_bytes(n_rows, decisions.score);
  if (n_rows <= cuda_abi::kShortRows) return on_the_way;
  return on_the_way + sort_bytes(n_rows, n_columns, value_bytes) + checked::mul(values, 9) +
         search_bytes(n_rows, n_columns, decisions.n_classes);
}

// What each session may take of its GPU's memory.
std::int64_t memory_of_session(const std::vector<int>& gpus, const RunOptions& run) {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const int gpu : gpus) most = std::min(most, device::usable_gpu_memory(gpu, run) / std::ranges::count(gpus, gpu));
  return most;
}

// Labels of a round of permutations: little of the memory, so that columns have the rest.
constexpr std::int64_t kMostRoundBytes = std::int64_t{1} << 26;

std::int64_t round_bytes(std::int64_t of_session, const RunOptions& run) {
  return std::min({kMostRoundBytes, of_session / 8, memory_budget(run) / 8});
}

// Columns of a piece, fewer where the memory is small. All GPUs use the same number, because they take pieces by
// number.
std::int64_t columns_of_piece(const cuda_abi::Decisions& decisions, std::int64_t n_columns, std::int64_t value_bytes,
                              const std::vector<int>& gpus, std::int64_t most, const RunOptions& run) {
  const auto fits = [&](std::int64_t n) {
    const std::int64_t pinned = std::ssize(gpus) * cuda_abi::kSlots * n * decisions.n_rows * value_bytes;
    return memory_of(decisions, n, value_bytes) <= most && (run.memory_limit <= 0 || pinned <= run.memory_limit);
  };
  const std::int64_t bytes = decisions.n_rows * value_bytes;
  std::int64_t n = std::clamp<std::int64_t>(cut_piece_bytes(decisions.n_rows) / bytes, 1, n_columns);
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
  Worker(const DecisionProblem& problem, const std::vector<std::int64_t>& attributes, Buffer<AttributeBest>& best,
         GpuPermutations& permutations, std::vector<std::int64_t>& open, std::int64_t of_piece, const RunOptions& run)
      : problem_(problem),
        attributes_(attributes),
        best_(best),
        permutations_(permutations),
        open_(open),
        of_piece_(of_piece),
        run_(run) {}

  /// Returns the seconds that the GPU worked. After that, highest() is of the permutations of `decisions`.
  double run(int gpu, const cuda_abi::Decisions& decisions, std::int64_t first, std::int64_t step) {
    first_ = first;
    step_ = step;
    score_ = decisions.score;
    cuda_abi::Session* made = nullptr;
    checked_call([&](Failure* failure) { return functions().create(gpu, &decisions, of_piece_, &made, failure); });
    session_.reset(made);
    cuts_.resize(static_cast<std::size_t>(of_piece_));
    send_and_collect();
    highest_.resize(static_cast<std::size_t>(decisions.n_permutations));
    if (highest_.empty()) return gpu_seconds_;
    checked_call([&](Failure* failure) { return functions().highest(session_.get(), highest_.data(), failure); });
    return gpu_seconds_;
  }
  const std::vector<std::int32_t>& highest() const { return highest_; }

 private:
  // Piece `number` of this GPU. The last of all pieces may be shorter.
  std::span<const std::int64_t> piece(std::int64_t number) const {
    const std::int64_t begin = (first_ + number * step_) * of_piece_;
    return std::span(attributes_)
        .subspan(static_cast<std::size_t>(begin),
                 static_cast<std::size_t>(std::min(of_piece_, std::ssize(attributes_) - begin)));
  }
  static int slot_of(std::int64_t number) { return static_cast<int>(number % cuda_abi::kSlots); }

  // While the GPU is at one piece, threads write the next, and this one takes the cuts of the piece before.
  void send_and_collect() {
    const std::int64_t n_pieces = checked::ceil_div(std::ssize(attributes_), of_piece_);
    if (first_ >= n_pieces) return;
    const std::int64_t n = checked::ceil_div(n_pieces - first_, step_);
    const std::int64_t column = bytes_of(problem_.forms[static_cast<std::size_t>(attributes_[0])], problem_.n_rows);
    const device::StagedSizes sizes{.all = ((n - 1) * of_piece_ + std::ssize(piece(n - 1))) * column,
                                    .piece = of_piece_ * column};
    const int threads = device::staging_threads(run_, column * std::ssize(attributes_)) / static_cast<int>(step_);
    device::Staging staging(sizes, std::max(threads, 1), [&](std::int64_t at, std::int64_t bytes, char* to) {
      write_columns(problem_, piece(at / sizes.piece), at % sizes.piece, bytes, to);
    });
    const auto allow = [&](std::int64_t number) {
      if (number < n) staging.allow_next(static_cast<char*>(functions().columns(session_.get(), slot_of(number))));
    };
    allow(0);
    for (std::int64_t number = 0; number < n; ++number) {
      run_.cancel.check();
      staging.fill();
      checked_call([&](Failure* failure) {
        return functions().submit(session_.get(), slot_of(number), std::ssize(piece(number)), failure);
      });
      if (number > 0) collect(number - 1);
      allow(number + 1);
      if (number > 0) settle(piece(number - 1));
    }
    collect(n - 1);
    settle(piece(n - 1));
  }

  void collect(std::int64_t number) {
    double seconds = 0.0;
    checked_call([&](Failure* failure) {
      return functions().collect(session_.get(), slot_of(number), cuts_.data(), &seconds, failure);
    });
    gpu_seconds_ += seconds;
  }

  void settle(std::span<const std::int64_t> attributes) {
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const std::int64_t attribute = attributes[i];
      const cuda_abi::Cut& cut = cuts_[i];
      if (cut.w == cuda_abi::kUndecided) {
        open_.push_back(attribute);
        continue;
      }
      if (permutations_.n > 0) permutations_.as_good[static_cast<std::size_t>(attribute)] += cut.as_good;
      best_[attribute] = {};
      if (cut.w > 0) settle(attribute, cut);
    }
  }

  void settle(std::int64_t attribute, const cuda_abi::Cut& cut) {
    AttributeBest& best = best_[attribute];
    const double at = cut_between(cut.low, cut.high);
    if (score_ == cuda_abi::Score::pairs) {
      best.worth.w = cut.w;
    } else {
      const auto gain = std::bit_cast<double>(cut.w);
      const Attribute& column = problem_.attributes[static_cast<std::size_t>(attribute)];
      if (gain <= kMostRoundedGain && !gain_is_real(problem_, column, at)) return;
      best.worth.gain = gain;
    }
    best.found = true;
    best.cut = at;
  }

  const DecisionProblem& problem_;
  const std::vector<std::int64_t>& attributes_;
  Buffer<AttributeBest>& best_;
  GpuPermutations& permutations_;
  std::vector<std::int64_t>& open_;
  const std::int64_t of_piece_;
  const RunOptions& run_;
  std::int64_t first_ = 0, step_ = 1;
  cuda_abi::Score score_ = cuda_abi::Score::pairs;
  double gpu_seconds_ = 0.0;
  std::unique_ptr<cuda_abi::Session, Destroy> session_;
  std::vector<cuda_abi::Cut> cuts_;
  std::vector<std::int32_t> highest_;
};

// The numeric attributes, by type, and those that GPUs leave open.
struct Sorts {
  std::vector<std::int64_t> open = {}, floats = {}, doubles = {};

  explicit Sorts(const DecisionProblem& problem) {
    for (const AttributeForm form : {AttributeForm::codes, AttributeForm::float32, AttributeForm::float64}) {
      auto& of = form == AttributeForm::codes ? open : form == AttributeForm::float32 ? floats : doubles;
      of.reserve(static_cast<std::size_t>(std::ranges::count(problem.forms, form)));
      for (std::size_t a = 0; a < problem.forms.size(); ++a) {
        if (problem.forms[a] == form) of.push_back(static_cast<std::int64_t>(a));
      }
    }
  }
};

// A round of permutations, or the search without any.
class Round {
 public:
  Round(const DecisionProblem& problem, Criterion criterion, const PresentClasses& classes,
        const PermutedClasses& permuted, const std::vector<int>& gpus, std::int64_t of_session, const RunOptions& run)
      : problem_(problem),
        gpus_(gpus),
        of_session_(of_session),
        run_(run),
        decisions_{.classes = classes.of_row.data(),
                   .totals = classes.totals.data(),
                   .n_rows = classes.n_rows(),
                   .n_classes = classes.n(),
                   .type = cuda_abi::Type::float32,
                   .permuted = permuted.in_round() > 0 ? permuted.data() : nullptr,
                   .n_permutations = permuted.in_round(),
                   .score = score_of(criterion)},
        highest_(gpus.size(), std::vector<std::int32_t>(static_cast<std::size_t>(permuted.in_round()))) {}

  /// Searches the attributes of one type. Those that are left open are added to `open`.
  void search(const std::vector<std::int64_t>& attributes, cuda_abi::Type type, Buffer<AttributeBest>& best,
              GpuPermutations& permutations, std::vector<std::int64_t>& open, double& gpu_seconds) {
    if (attributes.empty()) return;
    decisions_.type = type;
    const std::int64_t value_bytes = type == cuda_abi::Type::float32 ? 4 : 8;
    const std::int64_t of_piece =
        columns_of_piece(decisions_, std::ssize(attributes), value_bytes, gpus_, of_session_, run_);
    const auto n = static_cast<std::int64_t>(gpus_.size());
    std::vector<std::vector<std::int64_t>> opened(gpus_.size());
    std::vector<double> seconds(gpus_.size(), 0.0);
    ThreadPool pool(static_cast<int>(n));
    pool.parallel_for(n, run_.cancel, [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      Worker worker(problem_, attributes, best, permutations, opened[at], of_piece, run_);
      seconds[at] = worker.run(gpus_[at], decisions_, i, n);
      std::ranges::transform(highest_[at], worker.highest(), highest_[at].begin(), std::ranges::max);
    });
    for (const double of_gpu : seconds) gpu_seconds += of_gpu;
    for (const auto& more : opened) open.insert(open.end(), more.begin(), more.end());
  }

  /// Adds the highest W of this round's permutations.
  void add_highest(GpuPermutations& permutations) const {
    std::vector<std::int32_t> highest = highest_[0];
    for (const auto& other : highest_) std::ranges::transform(highest, other, highest.begin(), std::ranges::max);
    permutations.highest.insert(permutations.highest.end(), highest.begin(), highest.end());
  }

 private:
  const DecisionProblem& problem_;
  const std::vector<int>& gpus_;
  const std::int64_t of_session_;
  const RunOptions& run_;
  cuda_abi::Decisions decisions_;
  std::vector<std::vector<std::int32_t>> highest_;  // of each GPU
};

}  // namespace

const char* why_not_on_gpu(const DecisionProblem& problem, Criterion criterion, std::int64_t n_permutations) {
  if (criterion != Criterion::discernibility && n_permutations > 0)
    return "GPUs try permutations by discernibility only";
  if (problem.weighted) return "GPUs look for cuts without weights only";
  if (problem.n_rows > kMostGpuRows) return "GPUs look for cuts in fewer than 2^30 rows";
  if (n_permutations > 0 && problem.n_rows > kMostPermutedRows) return "GPUs try permutations of up to 65,535 rows";
  return n_present_classes(problem) > kMostGpuClasses ? "GPUs take up to 256 classes" : nullptr;
}

std::vector<std::int64_t> best_cuts_on_gpus(const DecisionProblem& problem, Criterion criterion,
                                            const std::vector<int>& gpus, const RunOptions& run,
                                            Buffer<AttributeBest>& best, GpuPermutations& permutations,
                                            double& gpu_seconds) {
  const Sorts sorts(problem);
  if (permutations.n > 0) permutations.as_good.assign(static_cast<std::size_t>(problem.n_attributes()), 0);
  if (problem.pure()) {  // no cut separates anything, under no permutation
    permutations.highest.assign(static_cast<std::size_t>(permutations.n), 0);
    for (const auto* attributes : {&sorts.floats, &sorts.doubles}) {
      for (const std::int64_t a : *attributes) {
        best[a] = {};
        if (permutations.n > 0) permutations.as_good[static_cast<std::size_t>(a)] = permutations.n;
      }
    }
    return sorts.open;
  }
  device::note_cuda_use();
  const PresentClasses classes(problem);
  const std::int64_t of_session = memory_of_session(gpus, run);
  // To look for the memory budget takes as long as a small search.
  const std::int64_t of_round = permutations.n > 0 ? round_bytes(of_session, run) : 0;
  PermutedClasses permuted(problem, classes, permutations.n, permutations.seed, of_round, run.cancel);
  std::vector<std::int64_t> open;
  do {
    permuted.next();
    open = sorts.open;
    Round round(problem, criterion, classes, permuted, gpus, of_session, run);
    round.search(sorts.floats, cuda_abi::Type::float32, best, permutations, open, gpu_seconds);
    round.search(sorts.doubles, cuda_abi::Type::float64, best, permutations, open, gpu_seconds);
    round.add_highest(permutations);
  } while (permuted.left() > 0);
  return open;
}

}  // namespace stope::discretize
