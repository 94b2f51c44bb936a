// The terms of every measure: each as its definition has it, and all of them together the distance, with missing and
// nominal values and weights.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "knn/fitted.hpp"
#include "oracle/measure_oracle.hpp"
#include "oracle/random_table.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using oracle::Pair;
using oracle::TableShape;

const std::set<std::string> kOne = {"itakura-saito", "logarithmic-loss", "logistic-loss", "squared-loss"};
const std::set<std::string> kUnit = {"generalized-i", "kl", "itakura-saito", "logarithmic-loss", "logistic-loss"};
const std::set<std::string> kWithoutTerms = {
    "kernel-euclidean", "dtw",         "dice-similarity", "jaccard-similarity", "overlap-similarity",
    "inner-product",    "max-product", "nominal-dice",    "nominal-jaccard",    "kulczynski",
    "rogers-tanimoto",  "russell-rao", "simple-matching"};

bool absent(const Pair& p, std::size_t i) {
  return std::isnan(p.x[i]) || std::isnan(p.y[i]);
}

// |x-y| by the training range, or whether the values differ.
double scaled(const Pair& p, std::size_t i) {
  if (p.nominal[i] || p.range[i] == 0.0) return p.x[i] != p.y[i] ? 1.0 : 0.0;
  return std::fabs(p.x[i] - p.y[i]) / p.range[i];
}

// The term of attribute i before anything is divided; only of an attribute that both rows have.
double numerator(const std::string& name, const Pair& p, std::size_t i) {
  const double x = p.x[i], y = p.y[i], w = p.w[i], d = std::fabs(x - y);
  if (name == "gower") return w * scaled(p, i);
  if (name == "heom") return w * std::pow(scaled(p, i), 2);
  const bool counts_values = p.nominal[i] && (name == "mixed-euclidean" || name == "nan-euclidean");
  if (name == "hamming" || name == "nominal-distance" || counts_values) return x != y ? w : 0.0;
  if (name == "manhattan" || name == "chebyshev" || name == "braycurtis") return w * d;
  if (name == "minkowski") return w * d * d * d;
  if (name == "canberra") return x == 0.0 && y == 0.0 ? 0.0 : w * d / (std::fabs(x) + std::fabs(y));
  if (name == "camberra") return w * (d / std::fabs(x + y));
  if (name == "jaccard" || name == "dice") return (x != 0.0) != (y != 0.0) ? w : 0.0;
  if (name == "generalized-i" || name == "logarithmic-loss") return w * (x * std::log(x / y) - (x - y));
  if (name == "kl") return w * x * std::log2(x / y);
  if (name == "itakura-saito") return w * (x / y - std::log(x / y) - 1.0);
  if (name == "logistic-loss") return w * (x * std::log(x / y) + (1.0 - x) * std::log((1.0 - x) / (1.0 - y)));
  return w * d * d;
}

double total_of(const std::string& name, const Pair& p) {
  double present = 0.0, all = 0.0, sizes = 0.0, both = 0.0, unequal = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    all += p.w[i];
    if (absent(p, i)) continue;
    present += p.w[i];
    sizes += p.w[i] * (std::fabs(p.x[i]) + std::fabs(p.y[i]));
    both += p.x[i] != 0.0 && p.y[i] != 0.0 ? p.w[i] : 0.0;
    unequal += (p.x[i] != 0.0) != (p.y[i] != 0.0) ? p.w[i] : 0.0;
  }
  if (name == "gower" || name == "hamming") return present;
  if (name == "nan-euclidean") return present / all;
  if (name == "braycurtis") return sizes;
  if (name == "jaccard") return both + unequal;
  if (name == "dice") return 2.0 * both + unequal;
  return 1.0;
}

// Terms by definition, for measures that finish a sum.
std::vector<double> terms_of(const std::string& name, const Pair& p) {
  std::vector<double> terms;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double missing = name == "heom" ? p.w[i] : 0.0;
    const double whole = total_of(name, p);
    terms.push_back(absent(p, i) ? missing : numerator(name, p, i) / (whole == 0.0 ? 1.0 : whole));
  }
  if (name != "chebyshev") return terms;
  const auto largest = std::max_element(terms.begin(), terms.end());
  for (auto at = terms.begin(); at != terms.end(); ++at) *at = at == largest ? *at : 0.0;
  return terms;
}

// What the terms add up to, for a distance d.
double whole_of(const std::string& formula, double d) {
  if (formula == "distance^2") return d * d;
  if (formula == "distance^p") return d * d * d;
  if (formula == "1 - cos(distance)") return 1.0 - std::cos(d);
  if (formula == "1 + distance") return 1.0 + d;
  if (formula == "sin(distance / 2)^2") return std::pow(std::sin(d / 2.0), 2);
  EXPECT_EQ(formula, "distance");
  return d;
}

TableShape shape_for(const MetricInfo& info, Random& random) {
  const std::string name(info.name);
  TableShape shape;
  shape.n_rows = 12;
  shape.values = kUnit.contains(name) ? TableShape::Values::open_unit : TableShape::Values::few;
  if (name == "haversine" || name == "mahalanobis" || name.starts_with("correlation")) {
    shape.values = TableShape::Values::uniform;
  }
  const bool whole = name == "mahalanobis" || !info.allows_missing;
  shape.missing = whole ? 0.0 : 0.2;
  shape.n_numeric = kOne.contains(name) ? 1 : name == "haversine" ? 2 : 4;
  if (info.accepts == Accepts::nominal) shape.n_numeric = 0;
  shape.n_nominal = info.accepts == Accepts::numeric ? 0 : 1 + static_cast<int>(random.below(3));
  return shape;
}

TEST(Terms, OfEveryMeasureAreThoseOfItsDefinitionAndAddUpToTheDistance) {
  const std::set<std::string> without_definition = {
      "cosine", "cosine-similarity", "correlation", "correlation-similarity", "haversine", "mahalanobis"};
  Random random(11);
  for (const MetricInfo& info : metrics()) {
    const std::string name(info.name);
    for (int round = 0; round < 20; ++round) {
      const TableShape shape = shape_for(info, random);
      const Table train = oracle::random_table(random, shape), query = oracle::random_table(random, shape);
      KnnOptions options{.metric = {name, {}}};
      if (name == "minkowski") options.metric.params["p"] = "3";
      const bool weighted = round % 2 == 1 && name != "dtw" && name != "haversine" && name != "mahalanobis";
      for (std::size_t c = 0; weighted && c < train.columns.size(); ++c) {
        options.feature_weights.push_back(0.5 * static_cast<double>(1 + random.below(4)));
      }
      const KnnIndex index = KnnIndex::fit(train, options);
      const knn::Fitted& fitted = index.fitted();
      std::vector<double> terms(static_cast<std::size_t>(fitted.width())), row(terms.size());
      for (std::int64_t i = 0; i < train.n_rows; ++i) {
        const Pair pair = oracle::pair_of(train, i, query, i, options.feature_weights, true);
        const char* const formula =
            fitted.kernel().split(fitted.rows() + i * fitted.width(), pair.y.data(), terms.data());
        ASSERT_EQ(formula == nullptr, kWithoutTerms.contains(name)) << name;
        if (formula == nullptr) continue;
        const double distance = oracle::distance(name, train, i, query, i, options.feature_weights);
        if (!std::isfinite(distance)) continue;
        const std::string what = name + " round " + std::to_string(round) + " row " + std::to_string(i);
        const double sum = std::accumulate(terms.begin(), terms.end(), 0.0), expected = whole_of(formula, distance);
        // Angles near 0, and cosines of rows without direction, have no terms to compare.
        if (name.starts_with("cosine") && sum == 0.0) continue;
        ASSERT_NEAR(sum, expected, 1e-9 * std::max(1.0, std::fabs(expected))) << what;
        if (without_definition.contains(name)) continue;
        const std::vector<double> by_definition = terms_of(name, pair);
        for (std::size_t a = 0; a < terms.size(); ++a) {
          ASSERT_NEAR(terms[a], by_definition[a], 1e-9 * std::max(1.0, std::fabs(by_definition[a])))
              << what << " " << a;
        }
      }
    }
  }
}

TEST(Terms, OfCosineBelongToTheAttributesThatTurnTheRow) {
  Table train;
  train.n_rows = 1;
  train.columns = {make_numeric("a", {3.0}), make_numeric("b", {4.0})};
  const KnnIndex index = KnnIndex::fit(train, {.metric = {"cosine", {}}});
  const double query[] = {4.0, 3.0};
  double terms[2] = {};
  index.fitted().kernel().split(index.fitted().rows(), query, terms);
  EXPECT_NEAR(terms[0], 0.5 * 0.04, 1e-15);  // (0.6 - 0.8)^2 / 2
  EXPECT_NEAR(terms[0] + terms[1], 1.0 - 24.0 / 25.0, 1e-15);
}

}  // namespace
}  // namespace stope
