// A kind of generated table: its columns, and how one row is drawn. Each kind has one file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stope/generate.hpp"

namespace stope::generate {

/// The values of one row: numbers, or the codes of nominal columns; NaN and kMissingCode are missing.
struct Row {
  std::vector<double> values;
};

class Kind {
 public:
  virtual ~Kind() = default;
  /// Columns without rows: names, types, value lists.
  virtual std::vector<Column> columns() const = 0;
  /// Draws row number `row`.
  virtual void draw(std::int64_t row, Random& random, Row& to) const = 0;
};

/// Standard normal (Marsaglia's polar method) from functions that give the same bits on every machine.
double normal(Random& random);
/// Rounds to four decimals, so that a short text is exact; never gives a negative zero. Every number of a table is
/// rounded so.
double rounded(double value);
/// The random generator of a row, a column, or anything else that has a number.
Random generator(std::uint64_t seed, std::uint64_t stream, std::int64_t number);

/// Numeric columns x1, x2, ...
std::vector<Column> numeric_columns(std::int64_t n);
/// "prefix0", "prefix1", ...
std::vector<std::string> names(const std::string& prefix, std::int64_t n);
Column nominal_column(const std::string& name, Values values);

/// An option's value, or the kind's default if the user gave none.
inline double or_default(double given, double otherwise) {
  return given < 0.0 ? otherwise : given;
}
inline std::int64_t or_default(std::int64_t given, std::int64_t otherwise) {
  return given == 0 ? otherwise : given;
}

/// Which options a kind has in addition to its sizes.
struct Takes {
  bool classes = false, missing = false, noise = false;
};

struct KindRow {
  const char* name;
  const char* summary;
  Takes takes;
  std::int64_t bytes_a_column;  // kept besides the column itself; of blobs: for each class
  std::unique_ptr<Kind> (*make)(const GenerateOptions& options);
};

std::unique_ptr<Kind> make_blobs(const GenerateOptions& options);
std::unique_ptr<Kind> make_mixed(const GenerateOptions& options);
std::unique_ptr<Kind> make_rules(const GenerateOptions& options);
std::unique_ptr<Kind> make_linear(const GenerateOptions& options);
std::unique_ptr<Kind> make_wide(const GenerateOptions& options);
std::unique_ptr<Kind> make_fvecs(const GenerateOptions& options);

}  // namespace stope::generate
