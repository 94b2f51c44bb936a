// Missing values filled in from the nearest rows that have them.
//
//   const Imputer imputer = Imputer::fit(train, {.n_neighbors = 5, .normalize = {.method = Normalization::range}});
//   Table filled = imputer.apply(train), others = imputer.apply(other);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stope/backend_report.hpp"
#include "stope/knn_report.hpp"
#include "stope/metric.hpp"
#include "stope/normalize.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"
#include "stope/vote.hpp"

namespace stope::impute {
class Fitted;  // the donors and their index (src/impute/fitted.hpp)
}  // namespace stope::impute

#pragma GCC visibility push(default)
namespace stope {

/// What a number is filled in with: the mean or the median of its donors. The median of an even number of donors is the
/// mean of the two in the middle. With weights it is the value at which half of the weight is reached.
enum class ImputeStrategy { mean, median };
ImputeStrategy impute_strategy(std::string_view name);  ///< throws invalid_argument for any other name
std::string_view to_string(ImputeStrategy strategy) noexcept;

/// Whether a column missing(x) of 0 and 1 follows for every column x in which the fitted table lacks a value.
enum class Indicators { none, append };
Indicators indicators(std::string_view name);  ///< throws invalid_argument for any other name
std::string_view to_string(Indicators indicators) noexcept;

struct ImputeOptions {
  std::int64_t n_neighbors = 5;  ///< donors of a value; fewer, where fewer rows have it
  VoteWeights weights = VoteWeights::uniform;
  ImputeStrategy strategy = ImputeStrategy::mean;
  Metric metric = {.name = "nan-euclidean"};  ///< any that takes missing values (MetricInfo::allows_missing)
  std::vector<double> feature_weights = {};   ///< as KnnOptions::feature_weights
  NormalizeOptions normalize = {};            ///< for the distances alone: what is filled in has the column's unit
  /// Names of the columns that are filled in, whatever their role. Empty: all features.
  std::vector<std::string> columns = {};
  Indicators indicators = Indicators::none;
};

/// What was filled in, by column. A mean of nothing is NaN.
struct ImputedColumn {
  std::string name;
  std::int64_t n_missing = 0;   ///< before
  std::int64_t n_filled = 0;    ///< with donors
  std::int64_t n_fallback = 0;  ///< without: by the fallback of the column
  std::int64_t n_left = 0;      ///< still missing: the fitted table has no value, or opposite infinities met
  double mean_donors = 0.0;     ///< donors of a value that has some
  double mean_distance = 0.0;   ///< mean distance of these donors, over the values
};

struct ImputeReport : BackendReport {
  std::int64_t n_rows = 0;         ///< rows of the table
  std::int64_t n_incomplete = 0;   ///< rows that lacked one of the columns
  std::int64_t first_list = 0;     ///< length of the lists that serve all columns
  std::int64_t second_search = 0;  ///< rows that needed longer lists
  std::int64_t column_search = 0;  ///< values that needed a search among the rows that have the column
  std::vector<ImputedColumn> columns;
  SearchReport search;  ///< of the largest search
};

/// The report as one JSON object, as --json prints it, and as lines for people, as --explain does.
std::string to_json(const ImputeReport& report);
std::string to_text(const ImputeReport& report);

/// One value that was filled in. The donors are training rows, nearest first; none where the fallback was taken.
struct FilledCell {
  const Column* column = nullptr;  ///< the result's column, filled down to this row
  std::int64_t row = 0;
  double value = 0.0;  ///< the number, or the code in the column's values; NaN if it is still missing
  std::span<const std::int64_t> donors = {};
  std::span<const double> distances = {};
};

/// Receives every value that was missing, row by row, each in the order of the columns. Called by the thread that
/// called the job.
using FilledSink = std::function<void(const FilledCell&)>;

/// Fitted donors. Copies share them; applying is const and safe from several threads at once.
class Imputer {
 public:
  /// Keeps the rows of `train` as donors. A column's fallback is the mean or the median of its numbers, or its most
  /// frequent value (of equally frequent ones the first in value order). Label, id and weight columns are no features,
  /// and are filled in only if `columns` names them. Throws unsupported for a measure that takes no missing value, and
  /// what KnnIndex::fit and Normalizer::fit throw; invalid_argument for n_neighbors below 1, and for a name that is no
  /// column. Cost: one pass over the table, or one normalisation; 8 bytes a value of the features.
  static Imputer fit(const Table& train, const ImputeOptions& options = {}, const RunOptions& run = {});

  /// Fills the missing values of a table. Columns are matched by name, nominal values by their names; a filled column
  /// that the table lacks is skipped unless it is a feature. Columns without a missing value are shared, others are
  /// copied; integers stay integers where all that was filled in is whole. Dates are rounded to whole units.
  ///
  /// The donors of a value are the n_neighbors nearest training rows that have the column, by (distance, row), among
  /// those at a distance that is a number. Where there are none, the fallback is taken. Nominal columns take the value
  /// with the most weight, the first in value order if several have it. Under VoteWeights::distance a donor weighs 1/d;
  /// donors at distance zero share all the weight, and a negative distance is an error.
  ///
  /// O(rows with missing values x training rows x features): one search serves all columns, and rows whose list held
  /// too few donors of a column take another one. Throws invalid_data for a missing or mistyped feature.
  Table apply(const Table& table, const RunOptions& run = {}, ImputeReport* report = nullptr,
              const FilledSink& filled = {}) const;

  const ImputeOptions& options() const;
  /// The fitted table: features, and what else is filled in, as they were given.
  const Table& train() const;
  /// Names of the columns that are filled in, in the table's order.
  const std::vector<std::string>& columns() const;

 private:
  const impute::Fitted& fitted() const;
  std::shared_ptr<const impute::Fitted> fitted_;
};

}  // namespace stope
#pragma GCC visibility pop
