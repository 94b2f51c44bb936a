// What a report is about: a table, its statistics, its label and classes, and which columns serve no model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "page/classes.hpp"
#include "stope/run.hpp"
#include "stope/stats.hpp"
#include "stope/table.hpp"

namespace stope::cli::page {

/// A column that no model of the report uses, and why: "nearly every row has a value of its own".
struct LeftOut {
  std::string name, why;
};

struct Subject {
  std::string name;  ///< of the file
  Table table;       ///< the rows that have a label, or all rows where there is no label
  Table learnable;   ///< the same without the columns left out
  Statistics statistics;
  std::vector<LeftOut> left_out;
  std::int64_t n_without_label = 0;  ///< rows left out
  std::int64_t label = -1;           ///< column; -1 = none
  ClassList classes;                 ///< one group without a name unless the label is nominal

  const Column* label_column() const { return label < 0 ? nullptr : &table.columns[static_cast<std::size_t>(label)]; }
  bool classifies() const { return label >= 0 && label_column()->nominal(); }
  bool regresses() const { return label >= 0 && !label_column()->nominal(); }
  const ColumnStatistics& of(std::int64_t column) const { return statistics.columns[static_cast<std::size_t>(column)]; }
};

Subject subject_of(std::string name, Table table, const RunOptions& run);

/// Rows of a table that a costly part looks at.
struct Sample {
  Table table;
  std::int64_t n_all = 0;  ///< rows that there are
  bool whole() const { return table.n_rows == n_all; }
};

/// At most `most` rows of the subject's learnable table, drawn by the seed, with the classes in their proportions.
Sample sample_of(const Subject& subject, std::int64_t most, std::uint64_t seed);
/// "all 150 rows", "a sample of 20,000 of the 1,000,000 rows (seed 0)".
std::string rows_words(const Sample& sample, std::uint64_t seed);

}  // namespace stope::cli::page
