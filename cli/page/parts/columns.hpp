// The columns of a table: a card each for the most telling ones, with a histogram by class, and a list of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "page/markup.hpp"
#include "page/subject.hpp"
#include "stope/discretize.hpp"

namespace stope::cli::page {

struct ColumnsView {
  std::vector<std::int64_t> order;              ///< of the table's columns: the most telling first
  std::string order_words;                      ///< what decides that order
  std::map<std::int64_t, std::string> remarks;  ///< a sentence on a card: "Best cut: ..."
  std::map<std::int64_t, double> cuts;          ///< where a line divides the histogram
  std::size_t most_cards = 40;
};

/// All columns but the label, in the table's order, without remarks.
ColumnsView plain_view(const Subject& subject);

void write_columns(Markup& out, const Subject& subject, const ColumnsView& view, const RunOptions& run);

/// "numeric", "integer", "date", "nominal".
std::string kind_words(ValueType type);

}  // namespace stope::cli::page
