// A decision problem: the attributes of a table, the class of every row, weights, and the treatment of missing values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "stope/discretize.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::discretize {

/// A condition attribute. Numbers stay in the table's own storage, NaN where missing. Every code of a symbolic
/// attribute is in [0, values.size()). Its missing values are one more value, the last, spelled kMissingValue.
struct Attribute {
  std::string name;
  std::int64_t column = 0;  ///< number in the table
  bool symbolic = false;
  std::variant<Buffer<double>, Buffer<float>, Buffer<std::int32_t>> data;
  Values values;  ///< symbolic attributes only
  bool has_missing = false;

  /// Calls visit(const double* or const float*).
  template <class Visit>
  decltype(auto) with_numbers(const Visit& visit) const {
    if (const auto* real = std::get_if<Buffer<float>>(&data)) return visit(real->data());
    return visit(std::get<Buffer<double>>(data).data());
  }
  const std::int32_t* codes() const { return std::get<Buffer<std::int32_t>>(data).data(); }
  std::int64_t n_values() const { return static_cast<std::int64_t>(values.size()); }
};

/// How an attribute's values lie in memory.
enum class AttributeForm : std::uint8_t { float32, float64, codes };

inline constexpr const char* kMissingValue = "?";

/// What replaces a missing value under MissingPolicy::fill; empty where the attribute has no present value.
struct Fill {
  std::optional<double> number;
  std::int32_t code = kMissingCode;
};

/// Whether the label matters: methods that do not look at it accept any table.
enum class Target { needed, unused };

struct DecisionProblem {
  std::int64_t n_rows = 0;
  std::vector<Attribute> attributes;  ///< the table's features, in their order
  std::vector<AttributeForm> forms;   ///< of each attribute; to read it from wide tables' attributes takes milliseconds
  std::string target;
  Values classes;                 ///< every value of the target's list, also those without a row
  Buffer<std::int32_t> class_of;  ///< class of each row, in [0, classes.size())
  bool weighted = false;
  std::vector<std::int64_t> weights;       ///< weight of each row in kWeightUnit, above 0; empty unless weighted
  std::vector<std::int64_t> class_totals;  ///< rows, or weights, of each class
  std::int64_t total = 0;                  ///< sum of class_totals
  std::vector<std::int64_t> rows;          ///< rows of the table that remain; empty = all of them
  std::vector<Fill> fills;                 ///< under MissingPolicy::fill, one per attribute; else empty

  std::int64_t n_classes() const { return static_cast<std::int64_t>(classes.size()); }
  std::int64_t n_attributes() const { return static_cast<std::int64_t>(attributes.size()); }
  std::int64_t weight(std::int64_t row) const { return weighted ? weights[static_cast<std::size_t>(row)] : 1; }
  bool pure() const;
};

/// Makes the problem that a table with a nominal column of role label poses. Rows of weight 0 are left out. Weights are
/// rounded to multiples of kWeightUnit. It shares the table's memory, except where rows are left out, values are filled
/// in, or a symbolic attribute has missing values.
/// Throws invalid_argument without a nominal label. Throws invalid_data for a missing label, for a weight that is
/// missing, negative or too large, for a table without rows, and under MissingPolicy::error for a missing value (naming
/// attribute and row). Throws unsupported for more than kMostRows rows.
/// If the target is unused, there are no classes, and the label is not checked.
DecisionProblem make_problem(const Table& table, MissingPolicy missing, const RunOptions& run = {},
                             Target target = Target::needed);

/// Cuts know values by name. Throws invalid_data if an attribute has missing values, which are spelled kMissingValue,
/// and also a present value of that name.
void require_telling_names(const Table& table, const DecisionProblem& problem);

}  // namespace stope::discretize
