// The values of nominal columns: those known beforehand, and the order and codes that a table gives them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "io/csv/dictionary.hpp"
#include "io/csv/plan.hpp"
#include "stope/io.hpp"
#include "stope/table.hpp"

namespace stope::io::csv {

/// Adds the values that are known before the file is parsed.
void add_known_values(Dictionary& dictionary, const ColumnPlan& plan);

/// Whether a column without a declared type holds truth values: one or two, in any case.
bool is_truth_list(const Values& values);

/// Codes of the dictionary in the order of the table's values.
void order_codes(const Dictionary& dictionary, NominalOrder order, std::vector<std::int32_t>& codes);

/// Codes that one of several dictionaries has given.
struct CodedRows {
  std::size_t dictionary;
  std::span<std::int32_t> codes;
};

/// Rows that have kept their texts (row_texts.hpp), and the codes of all rows.
struct KeptRows {
  std::span<const std::string_view> texts;  ///< of all rows, without data for those that have a code; or of none
  std::span<std::int32_t> codes;
};

/// Makes one list of the values of several dictionaries, some of them null, and of kept rows, and changes the codes of
/// all rows to its.
Values join_dictionaries(const std::vector<const Dictionary*>& dictionaries, NominalOrder order,
                         const CancelToken& cancel, const std::vector<CodedRows>& rows, const KeptRows& kept = {});

}  // namespace stope::io::csv
