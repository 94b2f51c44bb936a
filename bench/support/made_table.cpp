#include "support/made_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/thread_pool.hpp"
#include "stope/error.hpp"

namespace stope::bench {
namespace {

constexpr std::int64_t kHidden = 16, kClusters = 1000;
constexpr std::int64_t kRowsPerTask = 4096;

double normal(Random& random) {
  return std::sqrt(-2.0 * std::log(1.0 - random.uniform())) * std::cos(6.283185307179586 * random.uniform());
}

/// Calls `take` with a function that draws one value of an independent kind, so that the kind is checked once per
/// column.
template <class Take>
void with_draw(const std::string& kind, const Take& take) {
  if (kind == "normal") {
    take([](Random& random) { return normal(random); });
  } else if (kind == "bytes") {
    take([](Random& random) { return static_cast<double>(random.next() >> 56); });
  } else if (kind == "decimals") {
    take([](Random& random) { return static_cast<double>(random.below(100'000)) / 1e5; });
  } else {
    take([](Random& random) { return random.uniform(); });
  }
}

// A generator's states are a fixed distance apart, so neighbouring seeds would give the same numbers a little later. A
// first generator therefore makes a seed far from all others.
Random generator(std::uint64_t seed, std::int64_t begin) {
  return Random(Random(seed * 0x1000003 + static_cast<std::uint64_t>(begin)).next());
}

/// Calls `take` with the values of a numeric column.
template <class Take>
void with_numbers(Column& column, const Take& take) {
  if (auto* singles = std::get_if<Buffer<float>>(&column.data)) {
    take(singles->data());
  } else {
    take(std::get<Buffer<double>>(column.data).data());
  }
}

}  // namespace

TableMaker::TableMaker(const TableKind& kind) : kind_(kind) {
  constexpr std::array kKinds{"uniform", "decimals", "normal", "latent", "clusters", "bytes"};
  if (std::find(kKinds.begin(), kKinds.end(), kind.numeric) == kKinds.end()) {
    throw Error(ErrorCode::invalid_argument, "no kind of data '" + kind.numeric + "'");
  }
  if (kind.n_nominal < 0 || kind.n_nominal > kind.n_columns) {
    throw Error(ErrorCode::invalid_argument, "more nominal columns than columns");
  }
  Random random(7);
  const std::int64_t of = kind.numeric == "latent" ? kHidden : kind.numeric == "clusters" ? kClusters : 0;
  for (std::int64_t i = 0; i < of * kind.n_columns; ++i) basis_.push_back(normal(random));
}

Table TableMaker::table(std::int64_t n_rows, std::uint64_t seed) const {
  Table table;
  table.n_rows = n_rows;
  const std::int64_t n_numeric = kind_.n_columns - kind_.n_nominal;
  std::vector<std::string> values;
  for (std::int64_t v = 0; v < kind_.n_values; ++v) values.push_back("v" + std::to_string(v));
  for (std::int64_t c = 0; c < kind_.n_columns; ++c) {
    Column column;
    if (c >= n_numeric) {
      column = {"s" + std::to_string(c - n_numeric), ValueType::nominal, Role::regular, Buffer<std::int32_t>(n_rows),
                values};
    } else if (kind_.numeric == "decimals") {  // writing and reading must not change them
      column = {"x" + std::to_string(c), ValueType::real, Role::regular, Buffer<double>(n_rows), {}};
    } else {
      column = {"x" + std::to_string(c), ValueType::real, Role::regular, Buffer<float>(n_rows), {}};
    }
    table.columns.push_back(std::move(column));
  }
  ThreadPool pool(0);
  pool.parallel_for((n_rows + kRowsPerTask - 1) / kRowsPerTask, {}, [&](std::int64_t task, int) {
    const std::int64_t begin = task * kRowsPerTask;
    fill(table, begin, std::min(begin + kRowsPerTask, n_rows), seed);
  });
  return table;
}

void TableMaker::fill(Table& table, std::int64_t begin, std::int64_t end, std::uint64_t seed) const {
  if (!basis_.empty()) fill_hidden(table, begin, end, seed);
  Random random = generator(seed, begin);
  for (Column& column : table.columns) {
    if (column.nominal()) {
      auto& codes = std::get<Buffer<std::int32_t>>(column.data);
      for (std::int64_t row = begin; row < end; ++row) {
        codes[row] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(kind_.n_values)));
      }
    } else if (basis_.empty()) {
      with_draw(kind_.numeric, [&](const auto& draw) {
        with_numbers(column, [&]<class T>(T* values) {
          for (std::int64_t row = begin; row < end; ++row) values[row] = static_cast<T>(draw(random));
        });
      });
    }
    if (kind_.missing > 0.0) lose(column, begin, end, random);
  }
}

void TableMaker::lose(Column& column, std::int64_t begin, std::int64_t end, Random& random) const {
  const auto lose_some = [&](auto* values, auto nothing) {
    for (std::int64_t row = begin; row < end; ++row) {
      if (random.uniform() < kind_.missing) values[row] = nothing;
    }
  };
  if (column.nominal()) {
    lose_some(std::get<Buffer<std::int32_t>>(column.data).data(), kMissingCode);
  } else {
    with_numbers(column, [&]<class T>(T* values) { lose_some(values, std::numeric_limits<T>::quiet_NaN()); });
  }
}

// Fills rows that lie near a thousand centres, or near 16 directions.
void TableMaker::fill_hidden(Table& table, std::int64_t begin, std::int64_t end, std::uint64_t seed) const {
  Random random = generator(~seed, begin);
  const std::int64_t n_numeric = kind_.n_columns - kind_.n_nominal;
  const bool clusters = kind_.numeric == "clusters";
  std::vector<double> values(static_cast<std::size_t>(n_numeric));
  const auto add = [&](std::int64_t of, double weight) {
    for (std::int64_t c = 0; c < n_numeric; ++c) {
      values[static_cast<std::size_t>(c)] += weight * basis_[static_cast<std::size_t>(of * kind_.n_columns + c)];
    }
  };
  for (std::int64_t row = begin; row < end; ++row) {
    for (double& value : values) value = (clusters ? 0.1 : 0.01) * normal(random);
    if (clusters) {
      add(static_cast<std::int64_t>(random.below(kClusters)), 1.0);
    } else {
      for (std::int64_t h = 0; h < kHidden; ++h) add(h, normal(random));
    }
    for (std::int64_t c = 0; c < n_numeric; ++c) {
      with_numbers(table.columns[static_cast<std::size_t>(c)],
                   [&]<class T>(T* column) { column[row] = static_cast<T>(values[static_cast<std::size_t>(c)]); });
    }
  }
}

}  // namespace stope::bench
