// Tables for benchmarks, made on all cores: the same words give the same table on every machine, with any number of
// threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stope/table.hpp"

namespace stope::bench {

/// What a table is like. Numeric columns come first, then the nominal ones.
struct TableKind {
  /// The numeric columns: uniform [0, 1) | decimals (the same with five digits, float64) | normal | latent (16
  /// hidden dimensions) | clusters (a thousand) | bytes (0 to 255).
  std::string numeric = "uniform";
  std::int64_t n_columns = 0;
  std::int64_t n_nominal = 0;  ///< of the columns, with n_values values each
  std::int64_t n_values = 8;
  double missing = 0.0;  ///< share of the values that are missing
};

/// Makes tables of one kind: of "latent" and "clusters" they share what is hidden.
class TableMaker {
 public:
  /// Throws invalid_argument for a kind that there is not.
  explicit TableMaker(const TableKind& kind);

  /// float32 values, as most tables have, where nothing else is said. Tables of other seeds have other rows.
  Table table(std::int64_t n_rows, std::uint64_t seed) const;

 private:
  void fill(Table& table, std::int64_t begin, std::int64_t end, std::uint64_t seed) const;
  void lose(Column& column, std::int64_t begin, std::int64_t end, Random& random) const;
  void fill_hidden(Table& table, std::int64_t begin, std::int64_t end, std::uint64_t seed) const;

  TableKind kind_;
  std::vector<double> basis_;  // of "latent" 16 directions, of "clusters" 1,000 centres
};

}  // namespace stope::bench
