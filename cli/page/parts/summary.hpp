// What stands out, in a few figures and plain sentences, before all else.
#pragma once

#include <string>
#include <vector>

#include "page/findings.hpp"
#include "page/markup.hpp"

namespace stope::cli::page {

void write_summary(Markup& out, const Findings& findings, const std::vector<std::string>& warnings);

}  // namespace stope::cli::page
