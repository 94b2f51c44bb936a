// Sends rows of other tables down a tree (stope/tree.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "base/thread_pool.hpp"
#include "stope/error.hpp"
#include "stope/tree.hpp"
#include "table/check_table.hpp"
#include "table/encode.hpp"
#include "table/match.hpp"

namespace stope {
namespace {

constexpr std::int64_t kRowsAtOnce = 1024;

// The attributes that a tree tests, found in a table, and what each of them does with a missing value.
class Rows {
 public:
  Rows(const DecisionTree& tree, const std::vector<std::int64_t>& tested, const Table& table)
      : tree_(tree), tested_(tested), table_(table), place_(tree.attributes().size(), -1) {
    std::vector<FeatureSpec> specs;
    for (const std::int64_t a : tested) {
      const TreeAttribute& attribute = tree.attributes()[static_cast<std::size_t>(a)];
      place_[static_cast<std::size_t>(a)] = static_cast<std::int64_t>(specs.size());
      specs.push_back({attribute.name, attribute.type, known_values(attribute)});
    }
    columns_ = match_columns(specs, table, Compat::none);
  }

  // Finds the leaves of rows [begin, end).
  void apply(std::int64_t begin, std::int64_t end, std::vector<double>& strip, std::int64_t* leaves) const {
    const auto width = static_cast<std::int64_t>(columns_.size());
    strip.resize(static_cast<std::size_t>((end - begin) * width));
    encode_rows(columns_, begin, end, strip.data());
    for (std::int64_t row = begin; row < end; ++row) {
      double* const values = strip.data() + (row - begin) * width;
      leaves[row - begin] = settle_missing(values, row) ? leaf_of(values) : -1;
    }
  }

 private:
  // A "?" that stands for missing training values is not a value that another table may have.
  static Values known_values(const TreeAttribute& attribute) {
    if (!attribute.symbolic() || !attribute.has_missing) return attribute.values;
    return std::vector<std::string>(attribute.values.begin(), attribute.values.end() - 1);
  }

  // Replaces missing values. Returns false if the row gets no prediction.
  bool settle_missing(double* values, std::int64_t row) const {
    for (std::size_t i = 0; i < tested_.size(); ++i) {
      if (!std::isnan(values[i])) continue;
      const TreeAttribute& attribute = tree_.attributes()[static_cast<std::size_t>(tested_[i])];
      switch (tree_.options().missing) {
        case MissingPolicy::error: refuse(attribute, row);
        case MissingPolicy::drop: return false;
        case MissingPolicy::fill:
          if (attribute.fill) values[i] = *attribute.fill;
          break;
        case MissingPolicy::value:
          // The code of the missing training values. If there were none, it equals no code of the tree.
          if (attribute.symbolic()) {
            values[i] = static_cast<double>(attribute.values.size()) - (attribute.has_missing ? 1.0 : 0.0);
          }
          break;
      }
    }
    return true;
  }

  [[noreturn]] void refuse(const TreeAttribute& attribute, std::int64_t row) const {
    throw Error(ErrorCode::invalid_data,
                "row " + std::to_string(row) + ": '" + attribute.name +
                    "' is missing, and the tree was grown without missing values",
                {.file = table_.source, .option = "missing", .feature = attribute.name, .row = row});
  }

  std::int64_t leaf_of(const double* values) const {
    std::int64_t at = 0;
    for (;;) {
      const TreeNode& node = tree_.nodes()[static_cast<std::size_t>(at)];
      if (node.leaf()) return at;
      const double x = values[place_[static_cast<std::size_t>(node.attribute)]];
      const bool symbolic = tree_.attributes()[static_cast<std::size_t>(node.attribute)].symbolic();
      at = (symbolic ? x == static_cast<double>(node.value) : x >= node.cut) ? node.right : node.left;
    }
  }

  const DecisionTree& tree_;
  const std::vector<std::int64_t>& tested_;
  const Table& table_;
  std::vector<std::int64_t> place_;  // place of an attribute among the tested ones
  std::vector<MatchedColumn> columns_;
};

}  // namespace

std::vector<std::int64_t> DecisionTree::apply(const Table& table, const RunOptions& run) const try {
  check_shape(table);
  std::vector<std::int64_t> leaves(static_cast<std::size_t>(table.n_rows), 0);
  const std::vector<std::int64_t> attributes = tested();
  const Rows rows(*this, attributes, table);
  ThreadPool pool(run.threads);
  std::vector<std::vector<double>> strips(static_cast<std::size_t>(pool.size()));
  const JobTime time(run);
  PhaseProgress progress(run, "predict", table.n_rows);
  pool.parallel_for(
      checked::ceil_div(table.n_rows, kRowsAtOnce), run.cancel,
      [&](std::int64_t task, int worker) {
        const std::int64_t begin = task * kRowsAtOnce, end = std::min(begin + kRowsAtOnce, table.n_rows);
        rows.apply(begin, end, strips[static_cast<std::size_t>(worker)], leaves.data() + begin);
        progress.add(end - begin);
      },
      &progress);
  time.hand("predict", pool.size());
  return leaves;
} catch (...) {
  rethrow_as_error();
}

Classification DecisionTree::predict(const Table& table, const RunOptions& run) const try {
  return classes_of(apply(table, run));
} catch (...) {
  rethrow_as_error();
}

Classification DecisionTree::classes_of(std::span<const std::int64_t> leaves, Confidences confidences) const try {
  const std::size_t n_classes = confidences == Confidences::all ? classes_.size() : 0;
  Classification result;
  result.classes = classes_;
  result.codes.assign(leaves.size(), kMissingCode);
  result.confidences.assign(static_cast<std::size_t>(checked::mul(static_cast<std::int64_t>(leaves.size()),
                                                                  static_cast<std::int64_t>(n_classes))),
                            0.0);
  for (std::size_t row = 0; row < leaves.size(); ++row) {
    if (leaves[row] == -1) continue;
    if (leaves[row] < 0 || leaves[row] >= std::ssize(nodes_)) {
      throw Error(ErrorCode::invalid_argument,
                  "the leaf of row " + std::to_string(row) + " is " + std::to_string(leaves[row]) + ": the tree has " +
                      std::to_string(nodes_.size()) + " nodes",
                  {.option = "leaves", .row = static_cast<std::int64_t>(row)});
    }
    result.codes[row] = nodes_[static_cast<std::size_t>(leaves[row])].majority;
    const double* const here = counts(leaves[row]);
    double sum = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) sum += here[k];
    for (std::size_t k = 0; k < n_classes; ++k) result.confidences[row * n_classes + k] = here[k] / sum;
  }
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
