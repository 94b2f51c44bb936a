#include "discretize/cuda_sets.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <span>

#include "device/cuda_plugin.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/cuda_cuts.hpp"
#include "discretize/cuda_pieces.hpp"
#include "discretize/gpu_scores.hpp"
#include "discretize/present_classes.hpp"
#include "discretize/scorer.hpp"
#include "discretize/value_order.hpp"

namespace stope::discretize {
namespace {

using cuda_abi::Failure;
using device::checked_call;

double cut_of(const Attribute& attribute, std::uint32_t low_row, std::uint32_t high_row) {
  return attribute.with_numbers(
      [&](const auto* x) { return cut_between(static_cast<double>(x[low_row]), static_cast<double>(x[high_row])); });
}

// Cuts sorted attributes. Returns those that it leaves open.
std::vector<std::int64_t> cut_by_mdlp(const DecisionProblem& problem, cuda_abi::Session& session,
                                      const std::vector<std::int64_t>& sorted, CutSet& cuts) {
  std::vector<std::int32_t> n_cuts(sorted.size());
  const cuda_abi::SetCut* found = nullptr;
  std::int64_t n_found = 0;
  double seconds = 0.0;
  checked_call([&](Failure* failure) {
    return cut_functions().cut_sorted(&session, n_cuts.data(), &found, &n_found, &seconds, failure);
  });
  std::vector<std::int64_t> open;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto a = static_cast<std::size_t>(sorted[i]);
    cuts[a] = {problem.attributes[a].name, false, {}, {}};
    if (n_cuts[i] == cuda_abi::kUndecided) open.push_back(sorted[i]);
  }
  for (const cuda_abi::SetCut& one : std::span(found, static_cast<std::size_t>(n_found))) {
    if (one.column < 0) continue;
    const auto a = static_cast<std::size_t>(sorted[static_cast<std::size_t>(one.column)]);
    cuts[a].numbers.push_back(cut_of(problem.attributes[a], one.low_row, one.high_row));
  }
  for (const std::int64_t a : sorted) std::ranges::sort(cuts[static_cast<std::size_t>(a)].numbers);
  return open;
}

void settle(const DecisionProblem& problem, std::int64_t attribute, Criterion criterion,
            const cuda_abi::WeightedCut& cut, AttributeBest& best) {
  best = {};
  if (cut.worth == 0 && cut.high_worth == 0) return;
  const Attribute& column = problem.attributes[static_cast<std::size_t>(attribute)];
  best.cut = cut_of(column, cut.low_row, cut.high_row);
  if (criterion == Criterion::discernibility) {
    best.worth.w = static_cast<Int128>(cut.high_worth) << 64 | static_cast<Int128>(cut.worth);
  } else {
    best.worth.gain = std::bit_cast<double>(cut.worth);
    if (best.worth.gain <= kMostRoundedWeightedGain && !gain_is_real(problem, column, best.cut)) {
      best = {};
      return;
    }
  }
  best.found = true;
}

cuda_abi::Decisions decisions_of(const DecisionProblem& problem, const PresentClasses& classes) {
  return {.classes = classes.of_row.data(),
          .totals = classes.totals.data(),
          .n_rows = classes.n_rows(),
          .n_classes = classes.n(),
          .type = cuda_abi::Type::float32,
          .weights = problem.weighted ? problem.weights.data() : nullptr};
}

}  // namespace

const char* why_no_mdlp_on_gpu(const DecisionProblem& problem) {
  return problem.pure() ? "there is one class, and nothing to cut" : why_not_on_gpu(problem, Criterion::entropy, 0);
}

std::vector<std::int64_t> mdlp_on_gpus(const DecisionProblem& problem, const std::vector<int>& gpus,
                                       const RunOptions& run, CutSet& cuts) {
  device::note_cuda_use();
  const AttributeSorts sorts(problem);
  const PresentClasses classes(problem);
  cuda_abi::Decisions decisions = decisions_of(problem, classes);
  decisions.score = cuda_abi::Score::entropy;
  decisions.wanted = cuda_abi::Wanted::mdlp;
  std::vector<std::int64_t> open = sorts.open;
  std::mutex mutex;
  search_sorted(problem, sorts, decisions, gpus, run, [&](cuda_abi::Session& session, const auto& sorted) {
    const std::vector<std::int64_t> more = cut_by_mdlp(problem, session, sorted, cuts);
    const std::scoped_lock lock(mutex);
    open.insert(open.end(), more.begin(), more.end());
  });
  return open;
}

std::vector<std::int64_t> weighted_cuts_on_gpus(const DecisionProblem& problem, Criterion criterion,
                                                const std::vector<int>& gpus, const RunOptions& run,
                                                Buffer<AttributeBest>& best, double& gpu_seconds) {
  device::note_cuda_use();
  const AttributeSorts sorts(problem);
  const PresentClasses classes(problem);
  cuda_abi::Decisions decisions = decisions_of(problem, classes);
  decisions.score = score_of(criterion);
  decisions.wanted = cuda_abi::Wanted::weighted_cut;
  std::mutex mutex;
  search_sorted(problem, sorts, decisions, gpus, run, [&](cuda_abi::Session& session, const auto& sorted) {
    std::vector<cuda_abi::WeightedCut> found(sorted.size());
    double seconds = 0.0;
    checked_call(
        [&](Failure* failure) { return cut_functions().weighted_cuts(&session, found.data(), &seconds, failure); });
    for (std::size_t i = 0; i < sorted.size(); ++i) settle(problem, sorted[i], criterion, found[i], best[sorted[i]]);
    const std::scoped_lock lock(mutex);
    gpu_seconds += seconds;
  });
  return sorts.open;
}

}  // namespace stope::discretize
