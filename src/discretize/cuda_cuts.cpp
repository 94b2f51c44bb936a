#include "discretize/cuda_cuts.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <span>

#include "base/thread_pool.hpp"
#include "device/cuda_plugin.hpp"
#include "discretize/column_network.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/cuda_pieces.hpp"
#include "discretize/cuda_sets.hpp"
#include "discretize/gpu_scores.hpp"
#include "discretize/permuted_classes.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/score.hpp"
#include "discretize/scorer.hpp"
#include "discretize/value_order.hpp"
#include "stope/error.hpp"

namespace stope::discretize {
namespace {

using cuda_abi::Failure;
using device::checked_call;

// Labels of a round of permutations: little of the memory, so that columns have the rest.
constexpr std::int64_t kMostRoundBytes = std::int64_t{1} << 26;

std::int64_t round_bytes(std::int64_t of_session, const RunOptions& run) {
  return std::min({kMostRoundBytes, of_session / 8, memory_budget(run) / 8});
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
    score_ = decisions.score;
    session_ = make_session(gpu, decisions, of_piece_);
    cuts_.resize(static_cast<std::size_t>(of_piece_));
    send_pieces(
        problem_, {attributes_, of_piece_, first, step}, *session_, run_, [&](int slot) { collect(slot); },
        [&](std::span<const std::int64_t> piece) { settle(piece); });
    highest_.resize(static_cast<std::size_t>(decisions.n_permutations));
    if (highest_.empty()) return gpu_seconds_;
    checked_call([&](Failure* failure) { return cut_functions().highest(session_.get(), highest_.data(), failure); });
    return gpu_seconds_;
  }
  const std::vector<std::int32_t>& highest() const { return highest_; }

 private:
  void collect(int slot) {
    double seconds = 0.0;
    checked_call([&](Failure* failure) {
      return cut_functions().collect(session_.get(), slot, cuts_.data(), &seconds, failure);
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
  cuda_abi::Score score_ = cuda_abi::Score::pairs;
  double gpu_seconds_ = 0.0;
  CutSession session_;
  std::vector<cuda_abi::Cut> cuts_;
  std::vector<std::int32_t> highest_;
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
    const std::int64_t of_piece = columns_of_piece(decisions_, std::ssize(attributes), gpus_, of_session_, run_);
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
  if (problem.weighted && n_permutations > 0) return "GPUs try permutations without weights only";
  if (problem.n_rows > kMostGpuRows) return "GPUs look for cuts in fewer than 2^30 rows";
  if (n_permutations > 0 && problem.n_rows > kMostPermutedRows) return "GPUs try permutations of up to 65,535 rows";
  return n_present_classes(problem) > kMostGpuClasses ? "GPUs take up to 256 classes" : nullptr;
}

std::vector<std::int64_t> best_cuts_on_gpus(const DecisionProblem& problem, Criterion criterion,
                                            const std::vector<int>& gpus, const RunOptions& run,
                                            Buffer<AttributeBest>& best, GpuPermutations& permutations,
                                            double& gpu_seconds) {
  const AttributeSorts sorts(problem);
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
  if (problem.weighted) return weighted_cuts_on_gpus(problem, criterion, gpus, run, best, gpu_seconds);
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
