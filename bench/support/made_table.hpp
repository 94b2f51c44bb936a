// Tables for benchmarks, made on all cores: equal options give equal tables on every machine, with any number of
// threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stope/table.hpp"

namespace stope::bench {

/// The kind of a table. Numeric columns come first, then nominal ones.
struct TableKind {
  /// The numeric columns: uniform [0, 1) | decimals (the same with five digits, float64) | normal | latent (16
  /// hidden dimensions) | clusters (a thousand) | bytes (0 to 255).
  std::string numeric = "uniform";
  std::int64_t n_columns = 0;
  std::int64_t n_nominal = 0;  ///< nominal columns, with n_values values each
  std::int64_t n_values = 8;
  double missing = 0.0;  ///< share of the values that are missing
};

/// Makes tables of one kind. Those of "latent" and "clusters" share their hidden directions or centres.
class TableMaker {
 public:
  /// Throws invalid_argument for an unknown kind.
  explicit TableMaker(const TableKind& kind);

  /// Values are float32, as in most tables, unless the kind says otherwise. Other seeds give other rows.
  Table table(std::int64_t n_rows, std::uint64_t seed) const;

 private:
  void fill(Table& table, std::int64_t begin, std::int64_t end, std::uint64_t seed) const;
  void lose(Column& column, std::int64_t begin, std::int64_t end, Random& random) const;
  void fill_hidden(Table& table, std::int64_t begin, std::int64_t end, std::uint64_t seed) const;

  TableKind kind_;
  std::vector<double> basis_;  // latent: 16 directions; clusters: 1,000 centres
};

}  // namespace stope::bench
