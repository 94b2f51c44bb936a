// Supervised discretisation: the best cut of every attribute, coded tables, and the methods for sets of cuts, which
// stope/find_cuts.hpp finds.
//
//   const BestCuts ranking = best_cuts(table);  // every attribute by its best cut
//   const Table coded = apply_cuts(other, cuts);
//
// The classes are the values of the column of role label.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/backend_report.hpp"
#include "stope/cuts.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// What a missing value of an attribute means. error: the table is refused. value: it is a value of its own, below all
/// numbers, or one more symbolic value "?". drop: the row is left out. fill: the mean of the attribute's numbers stands
/// in, or its most frequent value (the first of equally frequent ones).
enum class MissingPolicy { error, value, drop, fill };
MissingPolicy missing_policy(std::string_view name);  ///< throws invalid_argument for any other name
std::string_view to_string(MissingPolicy policy) noexcept;

/// What a split is worth. discernibility: how many pairs of rows of different classes it separates (an exact integer).
/// gini: how much impurity it removes. entropy: how many bits of uncertainty about the class it removes.
enum class Criterion { discernibility, gini, entropy };
Criterion criterion(std::string_view name);
std::string_view to_string(Criterion criterion) noexcept;

enum class AttributeOrder { score, column };
AttributeOrder attribute_order(std::string_view name);
std::string_view to_string(AttributeOrder order) noexcept;

struct BestCutOptions {
  Criterion criterion = Criterion::discernibility;
  MissingPolicy missing = MissingPolicy::error;
  AttributeOrder order = AttributeOrder::score;  ///< score: the highest first, equal ones in column order
  std::int64_t n_permutations = 0;               ///< permutations of the labels, for p- and q-values; 0 = none
  std::uint64_t seed = 0;
};

/// The best cut of one attribute: the lowest of equally good cuts, the first of equally good symbolic values.
struct BestCut {
  std::int64_t attribute = 0;  ///< counted from 0 among the table's features
  std::string name;
  bool symbolic = false;
  double score = 0.0;                 ///< 0 where no cut separates anything
  std::optional<std::int64_t> pairs;  ///< discernibility without weights: the score, exactly
  std::optional<double> cut;          ///< numeric attribute: rows with x >= cut go right
  std::optional<std::string> value;   ///< symbolic attribute: rows with this value go right
  std::optional<double> p_value;      ///< (b + 1) / (B + 1): b of B permutations score as high on this attribute
  std::optional<double>
      family_p_value;             ///< like p_value, but b counts permutations in which any attribute scores as high
  std::optional<double> q_value;  ///< by Benjamini and Hochberg, over all attributes
};

struct DiscretizeReport : BackendReport {
  std::int64_t n_rows = 0, n_attributes = 0;
  std::vector<std::int64_t> class_counts;  ///< rows (or weight in units of 2^-20) of each class
  double gpu_seconds = 0.0;                ///< work of all GPUs together, without copies
};

/// The report as one JSON object, as --json prints it, and as lines for people, as --explain does.
std::string to_json(const DiscretizeReport& report);
std::string to_text(const DiscretizeReport& report);

struct BestCuts {
  std::vector<BestCut> cuts;
  Values classes;
  DiscretizeReport report;
};

/// The best cut of every feature of a table whose label is nominal. Rules, ties and the formulas of the criteria:
/// docs/NUMERICS.md. Sorts every column once, also for permutations. Throws invalid_argument without a nominal label
/// and for n_permutations < 0; invalid_data for a missing label, for a missing value under MissingPolicy::error, for
/// bad weights and a table of no rows.
BestCuts best_cuts(const Table& table, const BestCutOptions& options = {}, const RunOptions& run = {});

/// How cuts are found. md_global: always the cut that separates most of the pairs that no cut separates yet, until no
/// pair can be separated. md_local: the cuts of a decision tree (stope/tree.hpp). mdlp: Fayyad and Irani's method.
/// chimerge: Kerber's method. equal_width, equal_frequency: bins that ignore the classes. All but md_global and
/// md_local take each numeric attribute by itself, skip missing values, and leave symbolic attributes as they are:
/// every value is cut off from the others.
enum class DiscretizeMethod { md_global, md_local, mdlp, chimerge, equal_width, equal_frequency };
DiscretizeMethod discretize_method(std::string_view name);  ///< "md-global", ...
std::string_view to_string(DiscretizeMethod method) noexcept;

struct DiscretizeOptions {
  DiscretizeMethod method = DiscretizeMethod::md_global;
  MissingPolicy missing = MissingPolicy::error;
  std::int64_t n_bins = 5;         ///< equal_width, equal_frequency: bins, at most
  std::int64_t max_cuts = 0;       ///< md_global: at most this many; 0 = as many as are needed
  double confidence = 0.9;         ///< chimerge: neighbours stay apart if they differ at this level
  std::int64_t min_intervals = 3;  ///< chimerge: it merges no further than to this many intervals
};

/// How the values of a coded table are spelled. codes: s1, s2, ... labels: what they stand for: (-inf,2.5), [2.5,+inf),
/// =red, other. Numbers are the shortest that read back as the same.
enum class CodeStyle { codes, labels };
CodeStyle code_style(std::string_view name);
std::string_view to_string(CodeStyle style) noexcept;

struct ApplyOptions {
  /// value: a missing number falls into the first interval, and a missing symbolic value is "?". fill: means and most
  /// frequent values are those of the coded table.
  MissingPolicy missing = MissingPolicy::error;
  CodeStyle style = CodeStyle::codes;
};

/// Codes every attribute of the set (stope/cuts.hpp), matched by name. Other features are left out, and all other
/// columns stay. Values that the set does not name, seen before or not, get the last code. Throws invalid_data for an
/// attribute that the table lacks or has with another type, and for a missing value under MissingPolicy::error.
Table apply_cuts(const Table& table, const CutSet& cuts, const ApplyOptions& options = {}, const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
