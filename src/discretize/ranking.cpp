// best_cuts(): every attribute by its best cut (stope/discretize.hpp).
#include <algorithm>
#include <chrono>
#include <numeric>

#include "discretize/best_cut.hpp"
#include "discretize/problem.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using discretize::AttributeBest;
using discretize::BestCutRun;
using discretize::DecisionProblem;

// Descending worth, equal ones in column order.
std::vector<std::size_t> by_worth(const std::vector<AttributeBest>& best) {
  std::vector<std::size_t> order(best.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return best[b].worth < best[a].worth; });
  return order;
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

// Benjamini and Hochberg: the smallest of m p_(j) / j over the ranks j from an attribute's own on.
void add_q_values(std::vector<BestCut>& cuts) {
  std::vector<std::size_t> order(cuts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return *cuts[a].p_value < *cuts[b].p_value; });
  double smallest = 1.0;
  for (std::size_t j = order.size(); j > 0; --j) {
    BestCut& cut = cuts[order[j - 1]];
    smallest = std::min(smallest, *cut.p_value * static_cast<double>(order.size()) / static_cast<double>(j));
    cut.q_value = smallest;
  }
}

}  // namespace

BestCuts best_cuts(const Table& table, const BestCutOptions& options, const RunOptions& run) {
  if (options.n_permutations < 0) {
    throw Error(ErrorCode::invalid_argument,
                "the number of permutations is " + std::to_string(options.n_permutations) + ", less than 0");
  }
  const auto start = std::chrono::steady_clock::now();
  const DecisionProblem problem = discretize::make_problem(table, options.missing, run);
  const BestCutRun found =
      discretize::best_cut_of_each(problem, options.criterion, options.n_permutations, options.seed, run);
  BestCuts result;
  result.cuts.reserve(found.best.size());
  const auto p_value = [&](std::int64_t as_good) {
    return static_cast<double>(as_good + 1) / static_cast<double>(options.n_permutations + 1);
  };
  for (std::size_t a = 0; a < found.best.size(); ++a) {
    result.cuts.push_back(describe_cut(problem, found.best[a], static_cast<std::int64_t>(a), options.criterion));
    if (options.n_permutations == 0) continue;
    result.cuts.back().p_value = p_value(found.counts.as_good[a]);
    result.cuts.back().family_p_value = p_value(found.counts.any_as_good[a]);
  }
  if (options.n_permutations > 0) add_q_values(result.cuts);
  if (options.order == AttributeOrder::score) {
    std::vector<BestCut> sorted;
    sorted.reserve(result.cuts.size());
    for (const std::size_t a : by_worth(found.best)) sorted.push_back(std::move(result.cuts[a]));
    result.cuts = std::move(sorted);
  }
  result.classes = problem.classes;
  result.report = {found.backend,
                   found.reason,
                   found.threads,
                   problem.n_rows,
                   problem.n_attributes(),
                   problem.class_totals,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  return result;
}

}  // namespace stope
