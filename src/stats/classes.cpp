#include "stats/classes.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "base/memory.hpp"
#include "stats/nominal.hpp"
#include "stats/source.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"
#include "table/column_memory.hpp"

namespace stope::stats {

Classes count_classes(const Column& by, const RunOptions& run) {
  const Buffer<std::int32_t>& codes = by.codes();
  Classes classes;
  classes.begins.assign(by.values.size() + 1, 0);
  for (std::int64_t row = 0; row < codes.size(); ++row) {
    if (codes[row] >= 0) ++classes.begins[static_cast<std::size_t>(codes[row]) + 1];
  }
  for (std::size_t c = 1; c < classes.begins.size(); ++c) classes.begins[c] += classes.begins[c - 1];
  const std::int64_t n = classes.begins.back();
  const std::int64_t bytes = checked::mul(n, std::int64_t{sizeof(std::int64_t)});
  classes.rows = Buffer<std::int64_t>(n, storage_within(bytes, memory_budget(run)));
  return classes;
}

void fill_rows(const Column& by, Classes& classes) {
  if (classes.filled) return;
  const Buffer<std::int32_t>& codes = by.codes();
  prefer_huge_pages(classes.rows.data(), static_cast<std::size_t>(classes.rows.size()) * sizeof(std::int64_t));
  std::vector<std::int64_t> next(classes.begins.begin(), classes.begins.end() - 1);
  for (std::int64_t row = 0; row < codes.size(); ++row) {
    if (codes[row] >= 0) classes.rows[next[static_cast<std::size_t>(codes[row])]++] = row;
  }
  classes.filled = true;
}

bool counts_sparsely(const Column& column, std::size_t n_classes) {
  constexpr std::int64_t kMostDenseCounts = std::int64_t{1} << 16;
  return column.nominal() &&
         static_cast<std::int64_t>(n_classes) >
             kMostDenseCounts / std::max<std::int64_t>(static_cast<std::int64_t>(column.values.size()), 1);
}

void require_room_for_classes(const Table& table, const Column& by, const StatsOptions& options,
                              const RunOptions& run) {
  const auto n_classes = static_cast<std::int64_t>(by.values.size());
  const auto bytes_of = [](std::int64_t n, std::int64_t each) { return checked::mul(n, each); };
  constexpr std::int64_t kAllocation = 16;                                // what the allocator adds
  std::int64_t bytes = bytes_of(table.n_rows, sizeof(std::int64_t)) / 4;  // their rows: beyond a half in a file
  bytes = checked::add(bytes, bytes_of(n_classes, sizeof(ClassStatistics) + sizeof(std::int64_t) * 2 + kAllocation));
  for (const Column& column : table.columns) {
    const auto name = static_cast<std::int64_t>(column.name.size()) + kAllocation;
    std::int64_t each = static_cast<std::int64_t>(sizeof(ColumnStatistics)) + name;
    if (column.nominal()) {
      each += static_cast<std::int64_t>(sizeof(CodeSource) + sizeof(void*));
      const auto n_values = static_cast<std::int64_t>(column.values.size());
      const bool sparse = counts_sparsely(column, by.values.size());
      bytes = checked::add(bytes, sparse ? bytes_of(table.n_rows, sizeof(std::int64_t) + sizeof(std::int32_t))
                                         : bytes_of(n_classes, bytes_of(n_values, sizeof(std::int64_t))));
      each += 2 * kAllocation;
    } else {
      each += static_cast<std::int64_t>(sizeof(Source) + sizeof(void*));
      if (!options.quantiles.empty()) each += kAllocation + bytes_of(std::ssize(options.quantiles), sizeof(double));
      if (options.histogram_bins > 0) {  // the counts, and while they are counted the edges; one value has one bin
        const std::int64_t most = std::min(n_classes, table.n_rows / 2);
        each += kAllocation;
        bytes = checked::add(bytes, bytes_of(most, bytes_of(2 * options.histogram_bins, sizeof(double))));
      }
    }
    bytes = checked::add(bytes, bytes_of(n_classes, each));
  }
  require_memory("the statistics of " + std::to_string(n_classes) + " classes of " +
                     std::to_string(table.columns.size()) + " columns need",
                 bytes, run, {.file = table.source, .option = "by"});
}

const Column& class_column(const Table& table, const std::string& name) {
  const std::int64_t found = table.find(name);
  if (found < 0) {
    std::vector<std::string> known;
    known.reserve(table.columns.size());
    for (const Column& column : table.columns) known.push_back(column.name);
    throw Error(ErrorCode::invalid_argument, "there is no column '" + name + "'" + did_you_mean(name, known),
                {.file = table.source, .option = "by"});
  }
  const Column& column = table.columns[static_cast<std::size_t>(found)];
  if (!column.nominal()) {
    throw Error(ErrorCode::invalid_argument,
                "column '" + name + "' is " + std::string(to_string(column.type)) + ", but classes must be nominal",
                {.file = table.source, .option = "by", .feature = name});
  }
  return column;
}

}  // namespace stope::stats
