// The page of stope report: which sections there are, and in which order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "page/findings.hpp"
#include "stope/run.hpp"

namespace stope::cli::page {

struct ReportOptions {
  std::size_t most_cards = 40;
  std::string command;  ///< that makes the page again
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, double>> seconds;  ///< of each part; empty unless asked for
};

std::string report_page(const Findings& findings, const ReportOptions& options, const RunOptions& run);

/// "stope 0.1.0", as the last line of every page has it.
std::string made_by();

}  // namespace stope::cli::page
