// The columns of a table that a job describes: where their values lie, and what is to be filled in.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "stats/nominal.hpp"
#include "stats/source.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

inline Source source_of(const Column& column) {
  if (const auto* floats = std::get_if<Buffer<float>>(&column.data)) {
    return {floats->data(), ElementType::float32, floats->size(), 1, nullptr};
  }
  const auto& doubles = std::get<Buffer<double>>(column.data);
  return {doubles.data(), ElementType::float64, doubles.size(), 1, nullptr};
}

/// The columns of a table, each with its statistics or the statistics of one class of its rows.
class Collected {
 public:
  /// `only`: a code that all rows are known to have, or -1.
  void add(const Column& column, const std::int64_t* rows, std::int64_t n, bool sparse, std::int32_t only,
           ColumnStatistics& statistics) {
    statistics.name = column.name;
    statistics.type = column.type;
    statistics.rows = n;
    if (column.nominal()) {
      if (rows == nullptr) statistics.values = column.values;
      codes_.push_back({&column, n, rows, sparse, only});
      nominal_.push_back(&statistics);
    } else {
      Source source = source_of(column);
      source.n = n;
      source.rows = rows;
      sources_.push_back(source);
      numeric_.push_back(&statistics);
    }
  }
  /// `job` fills the statistics in: numeric<double>(sources, nullptr, statistics) and nominal(sources, statistics).
  template <class Job>
  void run(Job& job) {
    job.template numeric<double>(sources_, nullptr, numeric_);
    job.nominal(codes_, nominal_);
  }

 private:
  std::vector<Source> sources_;
  std::vector<CodeSource> codes_;
  std::vector<ColumnStatistics*> numeric_, nominal_;
};

}  // namespace stope::stats
