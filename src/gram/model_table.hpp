// Fitted models as tables, the form in which they are written and read (docs/FORMATS.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/name_index.hpp"
#include "base/thread_pool.hpp"
#include "gram/numeric_columns.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::gram {

/// Makes a nominal column of those words, one per row. A null pointer is a missing value.
Column word_column(std::string name, const std::vector<const std::string*>& words);

/// Reads a model's table. Every error is invalid_data and says what was expected.
class ModelReader {
 public:
  explicit ModelReader(const Table& table) : table_(table) { table.validate(); }
  [[noreturn]] void fail(const std::string& what) const;
  /// Returns the column of that name and kind.
  const Column& words(const std::string& name) const;
  const Column& numbers(const std::string& name) const;
  /// Fails if a column holds words.
  void check_numbers(const Column& column) const;
  /// Returns the word of a row; fails if it is missing.
  const std::string& word(const Column& column, std::int64_t row) const;
  /// Returns the word of a row, which no row that was asked for before has, even if the list of values names it twice.
  /// Copies of all of them then take no more memory than the file has bytes.
  const std::string& name(const Column& column, std::int64_t row);
  /// Returns the finite number of a row; fails if it is missing.
  double number(const Column& column, std::int64_t row) const;

 private:
  const Table& table_;
  NameIndex named_;  // what name() has returned
};

/// Returns the columns of `table` that have a model's attribute names, ready for panels. The caller sets shift and
/// factor.
NumericColumns matched_columns(const Table& table, const std::vector<std::string>& names, MissingValues missing,
                               ThreadPool& pool, const CancelToken& cancel);

/// Threads that are worth starting for the products of a table's rows with that many vectors.
int threads_for_products(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_vectors, const RunOptions& run);

}  // namespace stope::gram
