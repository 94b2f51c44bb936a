#include "impute/value.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/number_text.hpp"
#include "knn/vote/rule.hpp"
#include "stope/error.hpp"

namespace stope::impute {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// The weights of a vote (knn/vote/rule.hpp), and their sum in the order of the donors.
double weigh(std::span<const std::int64_t> donors, std::span<const double> distances, VoteWeights weights,
             std::vector<double>& out) {
  const knn::VoteRule rule = weights == VoteWeights::uniform ? knn::VoteRule::uniform : knn::VoteRule::inverse_distance;
  const auto n = std::ssize(donors);
  const knn::NeighborView<std::int64_t> view{distances.data(), donors.data(), n, n};
  if (const std::int64_t at = knn::first_without_weight(rule, view); at >= 0) {
    throw Error(ErrorCode::invalid_argument,
                "a donor has the distance " + number_text(distances[static_cast<std::size_t>(at)]) +
                    ", and weights by distance need distances of 0 or more",
                {.option = "weights"});
  }
  const knn::NeighborWeights of_list(rule, view);
  out.resize(donors.size());
  double total = 0.0;
  for (std::int64_t i = 0; i < n; ++i) total += out[static_cast<std::size_t>(i)] = of_list.of(view, i);
  if (total < std::numeric_limits<double>::infinity()) return total;
  total = 0.0;  // 1/d of several tiny distances: only the weights' proportions count
  for (double& weight : out) total += weight *= 0x1p-200;
  return total;
}

double mean_of(const Column& column, std::span<const std::int64_t> donors, const std::vector<double>& weights,
               double total) {
  double sum = 0.0;
  bool finite = true;
  for (std::size_t i = 0; i < donors.size(); ++i) {
    if (weights[i] == 0.0) continue;  // a donor without weight must not turn an infinity into NaN
    const double value = column.at(donors[i]);
    finite = finite && std::isfinite(value);
    sum += weights[i] * value;
  }
  if (std::isfinite(sum) || !finite) return sum / total;
  double mean = 0.0;  // the sum of large numbers overflowed, and their mean need not
  for (std::size_t i = 0; i < donors.size(); ++i) mean += weights[i] / total * column.at(donors[i]);
  return mean;
}

// The value at which half of the weight is reached; where that is exactly at the end of one, the mean of it and the
// next. Equal values are ordered by their place in the list, so that the sum of weights has one order.
double median_of(const Column& column, std::span<const std::int64_t> donors, const std::vector<double>& weights,
                 double total, std::vector<std::int64_t>& order) {
  order.clear();
  for (std::size_t i = 0; i < donors.size(); ++i) {
    if (weights[i] > 0.0) order.push_back(static_cast<std::int64_t>(i));
  }
  const auto value = [&](std::int64_t i) { return column.at(donors[static_cast<std::size_t>(i)]); };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return value(a) < value(b); });
  double reached = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    reached += weights[static_cast<std::size_t>(order[i])];
    if (2.0 * reached < total && i + 1 < order.size()) continue;
    const double low = value(order[i]);
    if (2.0 * reached > total || i + 1 == order.size()) return low;
    const double high = value(order[i + 1]);
    return low == high ? low : std::midpoint(low, high);
  }
  return kNoValue;
}

// The code of the most weight, the first of equal ones. The weights of a code are added in the order of the donors.
double winner_of(const Column& column, std::span<const std::int64_t> donors, const std::vector<double>& weights,
                 std::vector<std::int64_t>& order) {
  order.resize(donors.size());
  std::iota(order.begin(), order.end(), 0);
  const auto code = [&](std::int64_t i) { return column.codes()[donors[static_cast<std::size_t>(i)]]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return code(a) < code(b); });
  std::int32_t winner = kMissingCode;
  double most = 0.0;
  for (std::size_t i = 0; i < order.size();) {
    const std::int32_t mine = code(order[i]);
    double votes = 0.0;
    for (; i < order.size() && code(order[i]) == mine; ++i) votes += weights[static_cast<std::size_t>(order[i])];
    if (!(votes > most)) continue;
    most = votes;
    winner = mine;
  }
  return static_cast<double>(winner);
}

}  // namespace

double value_of(const Column& column, std::span<const std::int64_t> donors, std::span<const double> distances,
                const ImputeOptions& options, ValueScratch& scratch) {
  scratch.total = 0.0;
  if (donors.empty()) return kNoValue;
  const double total = scratch.total = weigh(donors, distances, options.weights, scratch.weights);
  if (!(total > 0.0)) return kNoValue;
  if (column.nominal()) return winner_of(column, donors, scratch.weights, scratch.order);
  if (options.strategy == ImputeStrategy::mean) return mean_of(column, donors, scratch.weights, total);
  return median_of(column, donors, scratch.weights, total, scratch.order);
}

}  // namespace stope::impute
