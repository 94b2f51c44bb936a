// The report of an imputation as JSON and text (stope/impute.hpp).
#include "base/report.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "stope/impute.hpp"

namespace stope {

std::string to_json(const ImputeReport& report) try {
  JsonObject columns;
  for (const ImputedColumn& column : report.columns) {
    columns.object(column.name, JsonObject()
                                    .integer("missing", column.n_missing)
                                    .integer("filled", column.n_filled)
                                    .integer("fallback", column.n_fallback)
                                    .integer("left", column.n_left)
                                    .number("mean_donors", column.mean_donors)
                                    .number("mean_distance", column.mean_distance));
  }
  return JsonObject()
      .backend(report)
      .text("method", report.search.method)
      .text("method_reason", report.search.method_reason)
      .integer("threads", report.threads)
      .integer("rows", report.n_rows)
      .integer("incomplete_rows", report.n_incomplete)
      .integer("first_list", report.first_list)
      .integer("second_search", report.second_search)
      .integer("column_search", report.column_search)
      .integer("pairs", report.search.pairs)
      .integer("evaluated", report.search.evaluated)
      .number("seconds", report.seconds)
      .object("columns", columns)
      .done();
} catch (...) {
  rethrow_as_error();
}

std::string to_text(const ImputeReport& report) try {
  std::string text = report.search.method.empty() ? backend_text(report) : to_text(report.search);
  text += "impute    " + std::to_string(report.n_incomplete) + " of " + counted(report.n_rows, "row") + " in " +
          fixed_text(report.seconds, 3) + " s; lists of " + std::to_string(report.first_list) + ", longer ones for " +
          counted(report.second_search, "row") + ", searches by column for " + counted(report.column_search, "value") +
          "\n";
  return text;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
