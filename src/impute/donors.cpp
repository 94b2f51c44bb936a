#include "impute/donors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

namespace stope::impute {
namespace {

// A column that a smaller share of the training rows has would make the lists of all others long. It is searched for by
// itself at once.
constexpr double kRare = 0.2;
// How much longer the lists of the second search are.
constexpr std::int64_t kLonger = 4;

// How many neighbours a list needs for k donors among them, all but rarely, where a share of all rows has the column.
// The row itself is often there.
std::int64_t list_width(std::int64_t k, double share) {
  const double spare = 3.0 * std::sqrt(static_cast<double>(k) * (1.0 - share));
  return static_cast<std::int64_t>(std::ceil((static_cast<double>(k) + spare) / share)) + 1;
}

class DonorSearch {
 public:
  DonorSearch(const Fitted& fitted, const Receivers& receivers, const Table& rows, DonorCounts& counts)
      : fitted_(fitted), receivers_(receivers), rows_(rows), counts_(counts) {
    const std::int64_t n_train = fitted.train().n_rows, n_cells = receivers.n_cells();
    lists_.width = std::min(fitted.options().n_neighbors, n_train);
    lists_.counts.assign(static_cast<std::size_t>(n_cells), 0);
    lists_.rows.resize(static_cast<std::size_t>(n_cells * lists_.width));
    lists_.distances.resize(static_cast<std::size_t>(n_cells * lists_.width));
    open_.assign(static_cast<std::size_t>(n_cells), 1);
  }

  DonorLists find(const RunOptions& first, const RunOptions& rest) {
    const std::int64_t n_train = fitted_.train().n_rows;
    std::int64_t width = std::min(first_width(), n_train);
    if (width > 0) {
      counts_.first_list = std::max(counts_.first_list, width);
      search_all(width, rows_with([&](std::int64_t column) { return is_common(column); }), first);
      if (width < n_train) {
        const std::vector<std::int64_t> short_rows = rows_with([&](std::int64_t column) { return is_common(column); });
        width = width > n_train / kLonger ? n_train : kLonger * width;
        if (!short_rows.empty()) search_all(width, short_rows, rest);
        counts_.second_search += std::ssize(short_rows);
      }
    }
    search_columns(rest);
    return std::move(lists_);
  }

 private:
  std::int64_t n_present(std::int64_t column) const {
    return fitted_.columns()[static_cast<std::size_t>(column)].n_present;
  }
  bool is_common(std::int64_t column) const {
    return static_cast<double>(n_present(column)) >= kRare * static_cast<double>(fitted_.train().n_rows);
  }
  std::int64_t wanted(std::int64_t column) const { return std::min(lists_.width, n_present(column)); }

  std::int64_t first_width() const {
    const auto n_columns = std::ssize(fitted_.columns());
    std::vector<char> asked(static_cast<std::size_t>(n_columns), 0);
    for (const std::int32_t column : receivers_.columns) asked[static_cast<std::size_t>(column)] = 1;
    std::int64_t width = 0;
    for (std::int64_t column = 0; column < n_columns; ++column) {
      if (asked[static_cast<std::size_t>(column)] == 0 || !is_common(column)) continue;
      const double share = static_cast<double>(n_present(column)) / static_cast<double>(fitted_.train().n_rows);
      width = std::max(width, list_width(lists_.width, share));
    }
    return width;
  }

  // The receivers with an open cell of a column that `counts`.
  template <class Counts>
  std::vector<std::int64_t> rows_with(const Counts& counts) const {
    std::vector<std::int64_t> found;
    for (std::int64_t row = 0; row < receivers_.n_rows(); ++row) {
      const auto begin = receivers_.offsets[static_cast<std::size_t>(row)];
      const auto end = receivers_.offsets[static_cast<std::size_t>(row) + 1];
      for (std::int64_t cell = begin; cell < end; ++cell) {
        const auto at = static_cast<std::size_t>(cell);
        if (open_[at] == 0 || !counts(receivers_.columns[at])) continue;
        found.push_back(row);
        break;
      }
    }
    return found;
  }

  template <class Take>
  void search(const std::vector<std::int64_t>& which, const SearchOptions& options, const RunOptions& run,
              const Take& take) {
    const bool all = std::ssize(which) == receivers_.n_rows();
    const Table some = all ? Table{} : rows_.take(which);
    const SearchReport report =
        fitted_.index().kneighbors(all ? rows_ : some, options, run, [&](const Neighbors& block) {
          for (std::int64_t query = 0; query < block.n_queries(); ++query) {
            const std::int64_t begin = block.offsets[static_cast<std::size_t>(query)];
            const std::int64_t end = block.offsets[static_cast<std::size_t>(query) + 1];
            take(block.first_query + query, block.indices.data() + begin, block.distances.data() + begin, end - begin);
          }
        });
    if (report.pairs >= counts_.search.pairs) counts_.search = report;
  }

  // One search for the open cells of some rows, whatever their columns.
  void search_all(std::int64_t width, const std::vector<std::int64_t>& which, const RunOptions& run) {
    if (which.empty()) return;
    const bool every_row = width == fitted_.train().n_rows;
    search(which, {.n_neighbors = width}, run,
           [&](std::int64_t query, const std::int64_t* rows, const double* distances, std::int64_t n) {
             const auto row = static_cast<std::size_t>(which[static_cast<std::size_t>(query)]);
             // Rows without a distance come last: a list that has one holds every row that has a distance.
             const bool whole = every_row || std::isnan(distances[n - 1]);
             for (std::int64_t cell = receivers_.offsets[row]; cell < receivers_.offsets[row + 1]; ++cell) {
               if (open_[static_cast<std::size_t>(cell)] != 0) take_donors(cell, rows, distances, n, whole);
             }
           });
  }

  // Takes the first donors of a cell out of a list. The cell stays open if there may be others.
  void take_donors(std::int64_t cell, const std::int64_t* rows, const double* distances, std::int64_t n, bool whole) {
    const auto at = static_cast<std::size_t>(cell);
    const std::int32_t place = receivers_.columns[at];
    const FilledColumn& column = fitted_.columns()[static_cast<std::size_t>(place)];
    const std::int64_t most = wanted(place), first = cell * lists_.width;
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < n && found < most && !std::isnan(distances[i]); ++i) {
      if (!column.has(rows[i])) continue;
      lists_.rows[static_cast<std::size_t>(first + found)] = rows[i];
      lists_.distances[static_cast<std::size_t>(first + found)] = distances[i];
      ++found;
    }
    lists_.counts[at] = found;
    if (found == most || whole) open_[at] = 0;
  }

  // Searches for what is still open among the rows that have the column. Columns that the same rows have share a
  // search.
  void search_columns(const RunOptions& run) {
    std::map<std::vector<std::uint64_t>, std::vector<std::int64_t>> groups;  // the columns of each mask
    std::vector<char> asked(fitted_.columns().size(), 0);
    for (std::int64_t cell = 0; cell < receivers_.n_cells(); ++cell) {
      const auto column = static_cast<std::size_t>(receivers_.columns[static_cast<std::size_t>(cell)]);
      if (open_[static_cast<std::size_t>(cell)] == 0 || std::exchange(asked[column], 1) != 0) continue;
      groups[fitted_.columns()[column].present].push_back(static_cast<std::int64_t>(column));
    }
    for (const auto& [present, columns] : groups) {
      if (n_present(columns.front()) > 0) search_group(columns, run);
    }
  }

  void search_group(const std::vector<std::int64_t>& columns, const RunOptions& run) {
    std::vector<char> mine(fitted_.columns().size(), 0);
    for (const std::int64_t column : columns) mine[static_cast<std::size_t>(column)] = 1;
    const auto counts = [&](std::int64_t column) { return mine[static_cast<std::size_t>(column)] != 0; };
    const std::vector<std::int64_t> which = rows_with(counts);
    // Rows of one group are no neighbours: the queries and the training rows without the column are that group.
    const FilledColumn& filled = fitted_.columns()[static_cast<std::size_t>(columns.front())];
    const std::int64_t n_train = fitted_.train().n_rows;
    Buffer<std::int32_t> absent(n_train);
    for (std::int64_t row = 0; row < n_train; ++row) absent[row] = filled.has(row) ? kMissingCode : 0;
    const SearchOptions options{
        .n_neighbors = wanted(columns.front()),
        .exclude_train = column_of("absent", std::move(absent), {"absent"}),
        .exclude_query = make_nominal("absent", std::vector<std::int32_t>(which.size(), 0), {"absent"})};
    search(which, options, run,
           [&](std::int64_t query, const std::int64_t* rows, const double* distances, std::int64_t n) {
             const auto row = static_cast<std::size_t>(which[static_cast<std::size_t>(query)]);
             for (std::int64_t cell = receivers_.offsets[row]; cell < receivers_.offsets[row + 1]; ++cell) {
               const auto at = static_cast<std::size_t>(cell);
               if (open_[at] == 0 || !counts(receivers_.columns[at])) continue;
               take_donors(cell, rows, distances, n, true);
               ++counts_.column_search;
             }
           });
  }

  const Fitted& fitted_;
  const Receivers& receivers_;
  const Table& rows_;
  DonorCounts& counts_;
  DonorLists lists_;
  std::vector<char> open_;  // per cell: whether it needs more donors than were found
};

}  // namespace

DonorLists find_donors(const Fitted& fitted, const Receivers& receivers, const Table& rows, const RunOptions& first,
                       const RunOptions& rest, DonorCounts& counts) {
  return DonorSearch(fitted, receivers, rows, counts).find(first, rest);
}

}  // namespace stope::impute
