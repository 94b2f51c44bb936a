// Prints statistics of columns for people, as CSV and as JSON.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "report/packed_statistics.hpp"
#include "report/session.hpp"
#include "stope/io.hpp"
#include "stope/stats.hpp"

namespace stope::cli {

/// The most columns, and classes of rows, that a table for people shows unless all are asked for.
inline constexpr std::size_t kMostShown = 100;

/// A table for a terminal, followed by one for every class of rows. The statistics are those of the columns that it
/// shows, or of all.
std::string statistics_text(const std::string& name, const Table& table, const Statistics& statistics,
                            const StatsOptions& options, bool all);

/// Writes one row per column; with classes, one row per class and column, the class in front. The format is csv, tsv,
/// json or jsonl. Behind the other numbers it has the quantiles, q0.25 and so on.
void write_rows(OutputFile& file, const std::string& format, const Table& table, const Statistics& statistics,
                const std::vector<double>& quantiles);

void write_rows(OutputFile& file, const std::string& format, const PackedStatistics& statistics,
                const std::vector<double>& quantiles);

/// Adds "columns" and "classes". Their elements are made when they are printed: a table can have millions of columns.
void add_json(Session& session, const std::shared_ptr<const Table>& table,
              const std::shared_ptr<const Statistics>& statistics, const std::vector<double>& quantiles);
void add_json(Session& session, const std::shared_ptr<const PackedStatistics>& statistics,
              const std::vector<double>& quantiles);

}  // namespace stope::cli
