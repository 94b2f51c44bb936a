// Synthetic tables for examples, tests and benchmarks: the same seed gives the same values on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

struct GenerateOptions {
  std::string kind = "blobs";
  std::int64_t n_columns = 0;  ///< features; a label or target is one more column, the last
  std::int64_t n_rows = 0;
  std::uint64_t seed = 0;
  std::int64_t n_classes = 0;  ///< 0 = the kind's default
  double missing = -1.0;       ///< share of missing values, below 1; negative = the kind's default
  double noise = -1.0;         ///< its meaning depends on the kind; negative = the kind's default
};

struct GeneratedKind {
  std::string name, summary;
};

/// All kinds, each with one line of explanation.
std::vector<GeneratedKind> generated_kinds();

/// Rows of one kind of table. A row depends on the options and its number alone, so that a table of any size can be
/// made part by part.
class TableGenerator {
 public:
  /// Throws invalid_argument for an unknown kind (naming the nearest one), sizes below 1, shares outside [0, 1) and
  /// options that the kind does not have; out_of_memory where the columns alone exceed the run's limit.
  explicit TableGenerator(const GenerateOptions& options, const RunOptions& run = {});
  ~TableGenerator();
  TableGenerator(TableGenerator&&) noexcept;

  /// The rows [first, first + n). Numbers have four decimals; every part has the same columns.
  Table rows(std::int64_t first, std::int64_t n, const RunOptions& run = {}) const;

 private:
  class [[gnu::visibility("hidden")]] Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stope
#pragma GCC visibility pop
