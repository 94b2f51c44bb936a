// Statistics of columns for people, as CSV and as JSON.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "report/session.hpp"
#include "stope/io.hpp"
#include "stope/stats.hpp"

namespace stope::cli {

/// Columns, and classes of rows, that a table for people has unless it is asked for all.
inline constexpr std::size_t kMostShown = 100;

/// A table for a terminal; one for every class of rows behind it.
std::string statistics_text(const std::string& name, const Table& table, const Statistics& statistics,
                            const std::string& by, bool all);

/// One row a column; with classes one row a class and column, the class in front.
void write_csv(OutputFile& file, const Table& table, const Statistics& statistics);

/// Adds "columns" and "classes", which are printed one after the other: a table can have millions.
void add_json(Session& session, const std::shared_ptr<const Table>& table,
              const std::shared_ptr<const Statistics>& statistics);

}  // namespace stope::cli
