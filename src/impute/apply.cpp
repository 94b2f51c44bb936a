#include "impute/apply.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <string>

#include "base/counted.hpp"
#include "base/name_index.hpp"
#include "base/progress.hpp"
#include "impute/donors.hpp"
#include "impute/result.hpp"
#include "impute/value.hpp"
#include "stope/warning.hpp"
#include "table/check_table.hpp"

namespace stope::impute {
namespace {

// Values of a block, at most: with five donors each, their lists take 40 MB.
constexpr std::int64_t kMostCells = std::int64_t{1} << 18;
constexpr std::int64_t kPollMask = (std::int64_t{1} << 20) - 1;

class Filling {
 public:
  Filling(const Fitted& fitted, const Table& table, const RunOptions& run, const FilledSink& filled,
          ImputeReport& report)
      : fitted_(fitted), table_(table), run_(run), filled_(filled), report_(report), result_(fitted, table) {}

  Table fill() {
    const auto start = std::chrono::steady_clock::now();
    const RunningJob running(run_);
    count_missing();
    result_.copy_columns(n_missing_, run_);
    sums_.resize(n_missing_.size());
    memory_left_ = std::max<std::int64_t>(memory_budget(run_) - result_.bytes_in_memory(), 1);
    Receivers block;
    for (std::int64_t row = 0; row < table_.n_rows; ++row) {
      if ((row & kPollMask) == 0) run_.cancel.check();
      if (!incomplete_[static_cast<std::size_t>(row)]) continue;
      add(row, block);
      if (block.n_cells() < kMostCells && block.n_rows() < most_rows() && block.n_cells() < most_cells()) continue;
      fill_block(block);
      block = {};
    }
    if (block.n_rows() > 0) fill_block(block);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    finish(seconds.count());
    return result_.take();
  }

 private:
  struct Sums {
    double donors = 0.0, distances = 0.0;
  };

  void count_missing() {
    const auto n_columns = std::ssize(fitted_.columns());
    n_missing_.assign(static_cast<std::size_t>(n_columns), 0);
    incomplete_.assign(static_cast<std::size_t>(table_.n_rows), false);
    for (std::int64_t i = 0; i < n_columns; ++i) {
      const Column* const column = result_.given(i);
      if (column == nullptr) continue;
      for (std::int64_t row = 0; row < table_.n_rows; ++row) {
        if ((row & kPollMask) == 0) run_.cancel.check();
        if (!column->missing(row)) continue;
        ++n_missing_[static_cast<std::size_t>(i)];
        incomplete_[static_cast<std::size_t>(row)] = true;
      }
    }
    for (std::size_t i = 0; i < n_missing_.size(); ++i) {
      report_.columns.push_back({.name = fitted_.names()[i], .n_missing = n_missing_[i]});
    }
    report_.n_rows = table_.n_rows;
    report_.n_incomplete = std::count(incomplete_.begin(), incomplete_.end(), true);
  }

  void add(std::int64_t row, Receivers& block) const {
    block.rows.push_back(row);
    for (std::size_t i = 0; i < n_missing_.size(); ++i) {
      if (n_missing_[i] == 0 || !result_.given(static_cast<std::int64_t>(i))->missing(row)) continue;
      block.columns.push_back(static_cast<std::int32_t>(i));
    }
    block.offsets.push_back(block.n_cells());
  }

  // A block takes at most an eighth of the memory for its lists, and as much for its rows. One row is always there.
  std::int64_t most_cells() const {
    return memory_left_ / 8 / bytes_of_list(std::min(fitted_.options().n_neighbors, fitted_.train().n_rows));
  }
  std::int64_t most_rows() const {
    const std::int64_t row_bytes = 2 * (std::ssize(fitted_.features()) + 1) * std::int64_t{sizeof(double)};
    return memory_left_ / 8 / row_bytes;
  }

  // The receivers' features alone, as the index takes them.
  Table rows_of(const Receivers& block, const RunOptions& run) const {
    Table features;
    features.n_rows = table_.n_rows;
    features.source = table_.source;
    NameIndex places(table_.columns.size());
    for (const Column& column : table_.columns) places.add(column.name);
    features.columns.reserve(fitted_.features().size());
    for (const FeatureSpec& feature : fitted_.features()) {
      Column column = table_.columns[static_cast<std::size_t>(places.find(feature.name))];
      column.role = Role::regular;
      features.columns.push_back(std::move(column));
    }
    return fitted_.normalized(features.take(block.rows), run);
  }

  void fill_block(const Receivers& block) {
    RunOptions rest = silent(run_);
    rest.memory_limit = std::max<std::int64_t>(memory_left_ / 2, 1);
    RunOptions first = rest;
    first.progress = [&](std::string_view phase, std::int64_t done, std::int64_t total) {
      if (phase != "search") {
        tell_progress(run_, phase, done, total);
      } else if (done < total) {  // the rest of the block's work comes after its search
        tell_progress(run_, "impute", n_done_ + block.n_rows() * done / total, report_.n_incomplete);
      }
    };
    const DonorLists lists = find_donors(fitted_, block, rows_of(block, rest), first, rest, counts_);
    for (std::int64_t i = 0; i < block.n_rows(); ++i) {
      if ((i & kPollMask) == 0) run_.cancel.check();
      const auto at = static_cast<std::size_t>(i);
      for (std::int64_t cell = block.offsets[at]; cell < block.offsets[at + 1]; ++cell) {
        fill_cell(block.rows[at], block.columns[static_cast<std::size_t>(cell)], cell, lists);
      }
    }
    n_done_ += block.n_rows();
    tell_progress(run_, "impute", n_done_, report_.n_incomplete);
  }

  void fill_cell(std::int64_t row, std::int64_t filled, std::int64_t cell, const DonorLists& lists) {
    const FilledColumn& known = fitted_.columns()[static_cast<std::size_t>(filled)];
    ImputedColumn& told = report_.columns[static_cast<std::size_t>(filled)];
    const auto n = static_cast<std::size_t>(lists.counts[static_cast<std::size_t>(cell)]);
    const auto first = static_cast<std::size_t>(cell * lists.width);
    std::span<const std::int64_t> donors(lists.rows.data() + first, n);
    std::span<const double> distances(lists.distances.data() + first, n);
    double value = value_of(fitted_.column(known), donors, distances, fitted_.options(), scratch_);
    const bool opposite_infinities = std::isnan(value) && !donors.empty() && scratch_.total > 0.0;
    if (std::isnan(value) && !opposite_infinities) {
      donors = {};
      distances = {};
      value = known.fallback;
    }
    if (std::isnan(value)) {
      ++told.n_left;
    } else if (donors.empty()) {
      ++told.n_fallback;
    } else {
      ++told.n_filled;
      Sums& sums = sums_[static_cast<std::size_t>(filled)];
      double total = 0.0;
      for (const double distance : distances) total += distance;
      sums.donors += static_cast<double>(n);
      sums.distances += total / static_cast<double>(n);
    }
    value = result_.put(filled, row, value);
    if (filled_) filled_({&result_.column(filled), row, value, donors, distances});
  }

  void finish(double seconds) {
    for (std::size_t i = 0; i < report_.columns.size(); ++i) {
      ImputedColumn& told = report_.columns[i];
      told.mean_donors = sums_[i].donors / static_cast<double>(told.n_filled);
      told.mean_distance = sums_[i].distances / static_cast<double>(told.n_filled);
    }
    warn_of_left();
    report_.first_list = counts_.first_list;
    report_.second_search = counts_.second_search;
    report_.column_search = counts_.column_search;
    report_.search = counts_.search;
    static_cast<BackendReport&>(report_) = counts_.search;
    report_.seconds = seconds;
    if (report_.backend.empty()) report_.backend = "scalar";
  }

  void warn_of_left() const {
    std::int64_t n_columns = 0, n_values = 0;
    std::string first;
    for (const ImputedColumn& column : report_.columns) {
      if (column.n_left == 0) continue;
      if (n_columns == 0) first = column.name;
      ++n_columns;
      n_values += column.n_left;
    }
    if (n_columns == 0 || !run_.warn) return;
    const std::string which =
        n_columns == 1 ? "column '" + first + "'" : std::to_string(n_columns) + " columns ('" + first + "', ...)";
    run_.warn(warning::kLeftMissing, counted(n_values, "value") + " of " + which +
                                         " stayed missing: the rows that were fitted have no value to take");
  }

  const Fitted& fitted_;
  const Table& table_;
  const RunOptions& run_;
  const FilledSink& filled_;
  ImputeReport& report_;
  ResultTable result_;
  std::vector<std::int64_t> n_missing_;  // per filled column
  std::vector<bool> incomplete_;         // per row
  std::vector<Sums> sums_;               // per filled column, row by row
  std::int64_t memory_left_ = 1, n_done_ = 0;
  DonorCounts counts_;
  ValueScratch scratch_;
};

}  // namespace

Table fill(const Fitted& fitted, const Table& table, const RunOptions& run, const FilledSink& filled,
           ImputeReport& report) {
  check_shape(table);
  return Filling(fitted, table, run, filled, report).fill();
}

}  // namespace stope::impute
