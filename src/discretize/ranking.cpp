// best_cuts(): ranks attributes by their best cut (stope/discretize.hpp).
#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "base/thread_pool.hpp"
#include "discretize/best_cut.hpp"
#include "discretize/problem.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using discretize::AttributeBest;
using discretize::BestCutRun;
using discretize::DecisionProblem;

// Sorts by descending worth; equal ones stay in column order.
void sort_by_worth(const Buffer<AttributeBest>& best, std::vector<std::int64_t>& order) {
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    if (best[b].worth < best[a].worth) return true;
    return !(best[a].worth < best[b].worth) && a < b;
  });
}

BestCut describe_cut(const DecisionProblem& problem, const AttributeBest& best, std::int64_t index,
                     Criterion criterion) {
  const discretize::Attribute& attribute = problem.attributes[static_cast<std::size_t>(index)];
  BestCut cut;
  cut.attribute = index;
  cut.name = attribute.name;
  cut.symbolic = attribute.symbolic;
  if (criterion != Criterion::discernibility) {
    cut.score = best.worth.gain;
  } else if (problem.weighted) {
    cut.score = discretize::to_double(best.worth.w) * discretize::kWeightUnit * discretize::kWeightUnit;
  } else {
    cut.pairs = static_cast<std::int64_t>(best.worth.w);
    cut.score = static_cast<double>(*cut.pairs);
  }
  if (!best.found) return cut;
  if (attribute.symbolic) {
    cut.value = attribute.values[static_cast<std::size_t>(best.value)];
  } else {
    cut.cut = best.cut;
  }
  return cut;
}

// Benjamini and Hochberg: the smallest of m p_(j) / j over the ranks j from an attribute's own rank on.
void add_q_values(std::vector<BestCut>& cuts) {
  std::vector<std::size_t> order(cuts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto p_value = [&](std::size_t i) { return cuts[i].p_value.value_or(1.0); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_value(a) < p_value(b); });
  double smallest = 1.0;
  for (std::size_t j = order.size(); j > 0; --j) {
    const std::size_t i = order[j - 1];
    smallest = std::min(smallest, p_value(i) * static_cast<double>(order.size()) / static_cast<double>(j));
    cuts[i].q_value = smallest;
  }
}

}  // namespace

BestCuts best_cuts(const Table& table, const BestCutOptions& options, const RunOptions& run) try {
  if (options.n_permutations < 0) {
    throw Error(ErrorCode::invalid_argument,
                "the number of permutations is " + std::to_string(options.n_permutations) + ", less than 0",
                {.option = "n_permutations"});
  }
  const RunningJob running(run);
  const auto start = std::chrono::steady_clock::now();
  const DecisionProblem problem = discretize::make_problem(table, options.missing, run);
  const BestCutRun found =
      discretize::best_cut_of_each(problem, options.criterion, options.n_permutations, options.seed, run);
  std::vector<std::int64_t> order(static_cast<std::size_t>(found.best.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (options.order == AttributeOrder::score) sort_by_worth(found.best, order);
  BestCuts result;
  result.cuts.resize(order.size());
  const auto p_value = [&](std::int64_t as_good) {
    return static_cast<double>(as_good + 1) / static_cast<double>(options.n_permutations + 1);
  };
  constexpr std::size_t kAtOnce = 256;
  ThreadPool pool(run.threads);
  pool.parallel_for(static_cast<std::int64_t>((order.size() + kAtOnce - 1) / kAtOnce), run.cancel,
                    [&](std::int64_t task, int) {
                      const std::size_t begin = static_cast<std::size_t>(task) * kAtOnce;
                      for (std::size_t i = begin; i < std::min(order.size(), begin + kAtOnce); ++i) {
                        const std::int64_t a = order[i];
                        BestCut& cut = result.cuts[i];
                        cut = describe_cut(problem, found.best[a], a, options.criterion);
                        if (options.n_permutations == 0) continue;
                        cut.p_value = p_value(found.counts.as_good[static_cast<std::size_t>(a)]);
                        cut.family_p_value = p_value(found.counts.any_as_good[static_cast<std::size_t>(a)]);
                      }
                    });
  if (options.n_permutations > 0) add_q_values(result.cuts);
  result.classes = problem.classes;
  result.report = {found.report, problem.n_rows, problem.n_attributes(), problem.class_totals, found.gpu_seconds};
  result.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  hand_report(run, "cuts", result.report);
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
