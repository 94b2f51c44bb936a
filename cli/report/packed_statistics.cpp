#include "report/packed_statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace stope::cli {
namespace {

// Adds up what the passes over some columns took.
void add(StatsReport& all, const StatsReport& some) {
  const std::int64_t bytes = all.bytes + some.bytes;
  const int threads = std::max(all.threads, some.threads);
  const double seconds = all.seconds + some.seconds, gpu_seconds = all.gpu_seconds + some.gpu_seconds;
  const double second_pass = all.second_pass_seconds + some.second_pass_seconds;
  all = some;
  all.bytes = bytes;
  all.threads = threads;
  all.seconds = seconds;
  all.gpu_seconds = gpu_seconds;
  all.second_pass_seconds = second_pass;
}

}  // namespace

PackedStatistics::PackedStatistics(std::shared_ptr<const Table> table, const StatsOptions& options,
                                   const RunOptions& run)
    : table_(std::move(table)) {
  for (std::int64_t begin = 0; begin < size(); begin += kPackedColumns) {
    Table some;
    some.n_rows = table_->n_rows;
    some.source = table_->source;
    const auto first = table_->columns.begin() + begin;
    some.columns.assign(first, first + std::min(kPackedColumns, size() - begin));
    const Statistics found = describe(some, options, run);
    add(report_, found.report);
    blocks_.push_back(packed(found.columns));
  }
}

PackedStatistics::Block PackedStatistics::packed(const std::vector<ColumnStatistics>& columns) {
  Block block;
  std::size_t n_quantiles = 0, n_counts = 0;
  for (const ColumnStatistics& s : columns) {
    n_quantiles += s.quantiles.size();
    n_counts += s.histogram ? s.histogram->counts.size() : s.counts.size();
  }
  block.columns.reserve(columns.size());
  block.quantiles.reserve(n_quantiles);
  block.counts.reserve(n_counts);
  for (const ColumnStatistics& s : columns) {
    Packed one{.count = s.count,
               .missing = s.missing,
               .zeros = s.zeros,
               .min_row = s.min_row,
               .max_row = s.max_row,
               .distinct = s.distinct.value_or(-1),
               .min = s.min,
               .max = s.max,
               .sum = s.sum,
               .mean = s.mean,
               .variance = s.variance,
               .deviation = s.deviation,
               .skewness = s.skewness,
               .low = s.histogram ? s.histogram->low : 0.0,
               .high = s.histogram ? s.histogram->high : 0.0,
               .has_histogram = s.histogram.has_value(),
               .n_quantiles = static_cast<std::int32_t>(s.quantiles.size()),
               .quantiles_begin = std::ssize(block.quantiles),
               .counts_begin = std::ssize(block.counts),
               .counts_end = 0};
    block.quantiles.insert(block.quantiles.end(), s.quantiles.begin(), s.quantiles.end());
    const std::vector<std::int64_t>& counts = s.histogram ? s.histogram->counts : s.counts;
    block.counts.insert(block.counts.end(), counts.begin(), counts.end());
    one.counts_end = std::ssize(block.counts);
    block.columns.push_back(one);
  }
  return block;
}

ColumnStatistics PackedStatistics::at(std::int64_t column) const {
  const Block& block = blocks_[static_cast<std::size_t>(column / kPackedColumns)];
  const Packed& one = block.columns[static_cast<std::size_t>(column % kPackedColumns)];
  const Column& described = table_->columns[static_cast<std::size_t>(column)];
  ColumnStatistics s;
  s.name = described.name;
  s.type = described.type;
  s.rows = table_->n_rows;
  s.count = one.count;
  s.missing = one.missing;
  s.zeros = one.zeros;
  s.min = one.min;
  s.max = one.max;
  s.min_row = one.min_row;
  s.max_row = one.max_row;
  s.sum = one.sum;
  s.mean = one.mean;
  s.variance = one.variance;
  s.deviation = one.deviation;
  s.skewness = one.skewness;
  if (one.distinct >= 0) s.distinct = one.distinct;
  const auto quantiles = block.quantiles.begin() + one.quantiles_begin;
  s.quantiles.assign(quantiles, quantiles + one.n_quantiles);
  const std::vector<std::int64_t> counts(block.counts.begin() + one.counts_begin,
                                         block.counts.begin() + one.counts_end);
  if (one.has_histogram) {
    s.histogram = Histogram{one.low, one.high, counts};
  } else {
    s.counts = counts;
  }
  if (described.nominal()) s.values = described.values;
  return s;
}

}  // namespace stope::cli
