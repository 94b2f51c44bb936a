// A slow tree by the rule book: it tries every candidate of every attribute, counts every pair of rows, and recurses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "stope/table.hpp"

namespace stope::oracle {

struct TreeCase {
  std::vector<std::vector<double>> columns;  ///< numbers, NaN = missing; or codes
  std::vector<bool> symbolic;
  std::vector<int> classes;
  std::vector<double> weights;  ///< small whole numbers over 8, so that sums are exact
  int n_classes = 0;
  int max_depth = -1;
  int least = 1;
  double min_score = 0.0;
};

struct TreeOracleNode {
  int parent = -1, left = -1, right = -1, depth = 0, n = 0, attribute = -1;
  double cut = 0.0;  ///< a number, or the code
  double score = 0.0;
  std::vector<double> counts;
};

class TreeOracle {
 public:
  explicit TreeOracle(const TreeCase& input) : input_(input) {
    std::vector<int> rows(input.classes.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
    grow(rows, -1, 0);
  }
  const std::vector<TreeOracleNode>& nodes() const { return nodes_; }

 private:
  static bool lower(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; }

  bool goes_right(std::size_t a, double cut, int row) const {
    const double x = input_.columns[a][static_cast<std::size_t>(row)];
    return input_.symbolic[a] ? x == cut : x >= cut;
  }

  // Returns all candidates, lowest first.
  std::vector<double> candidates(std::size_t a, const std::vector<int>& rows) const {
    std::vector<double> values;
    for (const int row : rows) values.push_back(input_.columns[a][static_cast<std::size_t>(row)]);
    std::sort(values.begin(), values.end(), lower);
    if (input_.symbolic[a]) return values;
    std::vector<double> cuts;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const double low = values[i], high = values[i + 1];
      if (!lower(low, high)) continue;
      if (std::isnan(low)) {
        cuts.push_back(-std::numeric_limits<double>::infinity());
        continue;
      }
      long double middle = (static_cast<long double>(low) + static_cast<long double>(high)) / 2;
      auto cut = static_cast<double>(middle);
      if (std::isinf(low) || !(cut > low)) cut = high;
      cuts.push_back(cut);
    }
    return cuts;
  }

  // Returns the weight of the pairs of rows of different classes on different sides; -1 where a side is too small.
  double score(std::size_t a, double cut, const std::vector<int>& rows) const {
    int n_right = 0;
    for (const int row : rows) n_right += goes_right(a, cut, row) ? 1 : 0;
    if (std::min(n_right, static_cast<int>(rows.size()) - n_right) < input_.least) return -1.0;
    double sum = 0.0;
    for (const int i : rows) {
      for (const int j : rows) {
        if (i >= j || input_.classes[static_cast<std::size_t>(i)] == input_.classes[static_cast<std::size_t>(j)])
          continue;
        if (goes_right(a, cut, i) == goes_right(a, cut, j)) continue;
        sum += input_.weights[static_cast<std::size_t>(i)] * input_.weights[static_cast<std::size_t>(j)];
      }
    }
    return sum;
  }

  int grow(const std::vector<int>& rows, int parent, int depth) {
    const int id = static_cast<int>(nodes_.size());
    TreeOracleNode node;
    node.parent = parent;
    node.depth = depth;
    node.n = static_cast<int>(rows.size());
    node.counts.assign(static_cast<std::size_t>(input_.n_classes), 0.0);
    std::set<int> classes;
    for (const int row : rows) {
      const auto r = static_cast<std::size_t>(row);
      classes.insert(input_.classes[r]);
      node.counts[static_cast<std::size_t>(input_.classes[r])] += input_.weights[r];
    }
    if (classes.size() > 1 && depth != input_.max_depth) {
      for (std::size_t a = 0; a < input_.columns.size(); ++a) {
        for (const double cut : candidates(a, rows)) {
          const double value = score(a, cut, rows);
          if (!(value > node.score)) continue;
          node.score = value;
          node.attribute = static_cast<int>(a);
          node.cut = cut;
        }
      }
      if (node.score < input_.min_score) node.attribute = -1;
    }
    if (node.attribute < 0) node.score = 0.0;
    nodes_.push_back(node);
    if (node.attribute < 0) return id;
    std::vector<int> left, right;
    for (const int row : rows)
      (goes_right(static_cast<std::size_t>(node.attribute), node.cut, row) ? right : left).push_back(row);
    const int left_id = grow(left, id, depth + 1);
    const int right_id = grow(right, id, depth + 1);
    nodes_[static_cast<std::size_t>(id)].left = left_id;
    nodes_[static_cast<std::size_t>(id)].right = right_id;
    return id;
  }

  const TreeCase& input_;
  std::vector<TreeOracleNode> nodes_;
};

}  // namespace stope::oracle
